"""record.py CHECKOUT LAB FOLDER: plays a first transfer on two hosts of a lab, and prints it as an animated SVG."""

import os
import sys
import time

from picture import Picture
from terminal import Terminal

COLUMNS, ROWS = 86, 9
FILE = "report.pdf"
TIMEOUT = 30


class Play:
    """The two terminals, and the moments at which one of them changed."""

    def __init__(self, checkout, lab, folder):
        self.terminals = {}
        for host in ["study", "kitchen"]:
            home = os.path.join(folder, host)
            os.makedirs(f"{home}/.local/state/waft", mode=0o700)
            # Its long suggestion of data protection comes once, and not in this picture.
            open(f"{home}/.local/state/waft/protection-suggested", "w").close()
            launch = [f"{checkout}/Scripts/lab", "run", lab, host, "env", "-u", "WAFT_HOME", f"HOME={home}",
                      f"WAFT_NAME={host}", "TERM=xterm", "LC_ALL=C.UTF-8", "XDG_RUNTIME_DIR=",
                      os.environ.get("PROGRAMS", f"{checkout}/.build/release") + "/waft"]
            self.terminals[host] = Terminal(host, launch, home, COLUMNS, ROWS)
        with open(os.path.join(folder, "study", FILE), "wb") as file:
            file.write(b"%PDF-1.4\n" + bytes(1_300_000 - 9))
        # Seconds of the picture. Pauses of the programs are drawn shorter than they are.
        self.now = 0.0
        self.picture = Picture(COLUMNS, ROWS, folder)
        for terminal in self.terminals.values():
            terminal.prompt()
        self.show()

    def show(self, pause=0.0):
        self.picture.show(self.now, {host: terminal.lines() for host, terminal in self.terminals.items()})
        self.now += pause

    def enter(self, host, *words):
        """Types a command letter by letter, and starts it."""
        terminal = self.terminals[host]
        for letter in "waft " + " ".join(words):
            terminal.draw(letter)
            self.show(0.05)
        terminal.draw("\r\n")
        self.show(0.3)
        terminal.start(*words)

    def answer(self, host, text):
        self.show(1.2)
        self.terminals[host].type(text)

    def until(self, host, text):
        """Plays until a terminal shows a text; with None until its program ends."""
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            for each in self.terminals.values():
                before = each.lines()
                goes_on = each.read(0.02)
                if each.lines() != before:
                    self.show(0.08)
                if each.host == host and (text in each.output if text else not goes_on):
                    self.show(0.8)
                    return
        raise SystemExit(f"record: {host} did not show {text!r}: {self.terminals[host].output!r}")


def main(checkout, lab, folder):
    play = Play(checkout, lab, folder)
    play.show(0.6)
    play.enter("kitchen", "receive")
    play.until("kitchen", "--to kitchen")
    play.enter("study", "send", FILE, "--to", "kitchen")
    play.until("kitchen", "[y/n] ")
    play.answer("kitchen", "y\n")
    play.until("study", None)
    play.terminals["study"].prompt()
    play.until("kitchen", f"{FILE}  1.3 MB from")
    play.show(4)
    play.terminals["kitchen"].type("\x03")
    sys.stdout.write(play.picture.text(play.now))


main(*sys.argv[1:])
