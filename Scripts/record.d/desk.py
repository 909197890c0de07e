"""desk.py CHECKOUT LAB WORK FOLDER: pictures of the desk of the study, whose neighbours are the kitchen, a laptop and a workshop:
each view, on a phone and on a desk, in light and dark. They are named VIEW-WIDTH-SCHEME.png."""

import json
import os
import subprocess
import sys
import time

import contents
from window import SCHEMES, SIZES, Browser, Lines

# Names, and types for machine.sh. The loft is away.
HOSTS = {"study": ("Study", 3), "kitchen": ("Kitchen", 3), "laptop": ("Blue laptop", 9), "workshop": ("Workshop", 23), "loft": ("Loft", 3)}
LAPTOP = HOSTS["laptop"][0]


class Stage:
    def __init__(self, checkout, lab, work, folder):
        self.lab = [f"{checkout}/Scripts/lab"]
        self.name, self.work, self.folder = lab, work, folder
        self.programs = os.environ.get("PROGRAMS", f"{checkout}/.build/release")
        self.file = contents.make(f"{work}/files")
        for host, (name, chassis) in HOSTS.items():
            subprocess.run(self.on(host, f"{checkout}/Scripts/record.d/machine.sh", str(chassis)), check=True)
            self.run(host, "config", "set", "name", name)
        self.running = [self.start(host, "waftd", "--json") for host in HOSTS if host != "loft"]
        for receiver in self.running:
            receiver.event("ready")
        self.desk = self.start("study", "waft", "desk", "--no-open", "--json")
        self.running.append(self.desk)
        browser = f"{checkout}/Tests/Browsers/browser.py"
        self.browser = Browser(self.on("study", "python3", "-B", browser, "chromium", f"{work}/browser"))
        self.browser.read()

    def on(self, host, *words):
        return [*self.lab, "run", self.name, host, *words]

    def program(self, host, name, *words):
        return self.on(host, "env", "WAFT_HOME=/home/me", "DISPLAY=:0", "chroot", "/run/root", f"{self.programs}/{name}", *words)

    def start(self, host, name, *words):
        return Lines(self.program(host, name, *words), stderr=subprocess.DEVNULL)

    def run(self, host, *words):
        """The lines of a verb."""
        done = subprocess.run(self.program(host, "waft", *words, "--json"), stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"record: {host}: waft {' '.join(words)}: {done.stdout}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def send(self, host, *names, to="Study", options=()):
        self.run(host, "send", *map(self.file, names), "--to", to, *options)

    def key(self, host):
        return self.run(host, "contacts", "me")[0]["id"]

    def link(self, host, rate):
        subprocess.run([*self.lab, "rate", self.name, host, rate], check=True)

    # The window.

    def view(self, name, code="true"):
        self.browser.window(1280, 800, False)
        self.browser.script(f"location.hash = '#{name}'")
        self.browser.wait(f"document.querySelector('main').classList.contains('{name}') && ({code})")

    def pictures(self, name, at=""):
        """The pictures of what is there now. `at` is what is to be in the middle of the window."""
        # The wide window first: a tick stays for seconds only.
        for width, height, phone in reversed(SIZES):
            self.browser.window(width, height, phone)
            for scheme in SCHEMES:
                self.browser.scheme(scheme)
                self.browser.script(
                    "const at = arguments[0] && document.querySelector(arguments[0]); document.activeElement.blur();"
                    "at ? at.scrollIntoView({block: 'center'}) : scrollTo(0, 0)", at)
                time.sleep(0.4)
                self.browser.picture(f"{self.folder}/{name}-{width}-{scheme}.png")
        self.browser.window(1280, 800, False)

    # What happened before.

    def befriend(self):
        study = self.key("study")
        for host in ["kitchen", "laptop"]:
            self.run("study", "contacts", "allow", self.key(host), "--name", HOSTS[host][0], "--policy", "accept")
            self.run(host, "contacts", "allow", study, "--name", "Study", "--policy", "accept")
        self.run("study", "contacts", "allow", self.key("loft"), "--name", "Loft")
        for host in ["study", "kitchen", "laptop", "workshop"]:
            self.run(host, "visible", "everyone", *(["--for", "10m"] if host == "study" else []))

    def fill(self):
        """The Inbox, the outbox and the handlers of the study."""
        script = f"{self.work}/album.sh"
        with open(script, "w") as file:
            file.write('#!/bin/sh\necho "Added to the album: $WAFT_NAME"\n')
        os.chmod(script, 0o755)
        self.run("study", "handlers", "add", "--name", "Photo album", "--type", "public.image", "--run", script)
        self.run("study", "handlers", "add", "--name", "Torrents", "--scheme", "magnet", "--run", script, "--network")
        self.send("kitchen", "Shelves.csv", "Apple cake.md", "Letters.zip", "Invitation.jpg", "Garden plan")
        self.send("laptop", "Tickets.pdf", "Choir practice.flac", "Minutes of Tuesday.txt")
        self.run("kitchen", "send", "--url", "https://example.org/walks/coast", "--to", "Study")
        self.send("laptop", *list(contents.LANDSCAPES)[:6])
        self.send("study", "Vineyard.jpg", "Dunes.jpg", to="Kitchen")
        self.send("study", "Garden plan", to=LAPTOP)
        self.send("study", "Tickets.pdf", to="Loft", options=["--queue"])

    # The views.

    def room(self):
        self.view("room", "document.querySelectorAll('.peer').length > 4")
        self.pictures("room")

    def sheet(self):
        self.view("settings")
        self.browser.drop(*map(self.file, ["Coast at dusk.jpg", "Tickets.pdf"]))
        self.browser.wait("document.querySelectorAll('#sheet-items > li').length > 1")
        self.browser.script("[...document.querySelectorAll('#sheet-peers label')].find(l => /Kitchen/.test(l.innerText)).click()")
        self.browser.wait("document.querySelector('#sheet-more button')")
        self.pictures("sheet")

    def questions(self):
        self.run("study", "contacts", "set", LAPTOP, "--policy", "ask")
        sending = [self.start("laptop", "waft", "send", *map(self.file, ["Fjord.jpg", "Heath.jpg", "Harbour walk.mp4"]), "--to", "Study",
                              "--subject", "From the coast", "--json")]
        self.view("room", "document.querySelector('#question').open")
        self.browser.wait("document.querySelector('.offer img')?.naturalWidth")
        # The second question waits behind the first.
        sending.append(self.start("workshop", "waft", "send", self.file("Shelves.csv"), "--to", "Study", "--json"))
        sending[1].event("offered")
        self.pictures("question")
        self.browser.script("document.querySelector('.offer details').open = true")
        self.pictures("answers")
        return sending

    def transfers(self):
        """Both ways, from the question and from the sheet."""
        self.link("laptop", "14mbit")
        self.link("study", "14mbit")
        self.browser.click("#question [data-key=accept]")
        # The next question is put aside.
        self.browser.wait("document.querySelector('#question .ready h2')?.innerText.includes('Workshop')")
        self.browser.press("Escape")
        self.view("settings")
        self.browser.drop(self.file("Harbour walk.mp4"), self.file("Morning mist.jpg"))
        self.browser.script("[...document.querySelectorAll('#sheet-peers label')].find(l => /Kitchen/.test(l.innerText)).click()")
        self.browser.click("#sheet-go")
        self.view("room", "[...document.querySelectorAll('.ring .done')].filter(d => d.getAttribute('stroke-dashoffset') < 80).length > 1")
        self.pictures("rings")
        self.view("transfers", "[...document.querySelectorAll('progress')].filter(p => p.value > 0.2).length > 1")
        self.pictures("transfers")
        self.view("room")
        self.link("laptop", "40mbit")
        self.browser.wait("document.querySelector('.toast img')?.naturalWidth")
        self.pictures("arrival")
        self.view("transfers")
        self.link("study", "40mbit")
        self.browser.wait("[...document.querySelectorAll('progress')].every(p => p.hidden)")
        self.pictures("transfers-over")
        for host in ["laptop", "study"]:
            self.link(host, "off")
        self.browser.click("#asking")
        self.browser.wait("document.querySelector('#question .ready')")
        self.browser.click("#question [data-key=decline]")
        self.browser.wait("!document.querySelector('#question').open")

    def inbox(self):
        self.view("inbox", "document.querySelectorAll('.option img').length > 8 && "
                  "[...document.querySelectorAll('.option img')].every(i => i.naturalWidth)")
        # The pointer marks what it is on.
        self.browser.click("h1")
        self.browser.script("for (const toast of document.querySelectorAll('.toast')) toast.remove()")
        time.sleep(2)
        self.pictures("inbox")
        self.browser.click("button.filters")
        self.browser.script("document.querySelector('details.used').open = true")
        self.pictures("inbox-used")
        self.browser.script("document.querySelector('#filters').hidePopover()")
        self.browser.script("[...document.querySelectorAll('.option')].find(o => /Coast/.test(o.innerText)).querySelector('.thumb').click()")
        self.browser.wait("document.querySelector('#preview img')?.naturalWidth")
        self.pictures("preview")
        self.browser.script("document.querySelector('#preview').close(); document.querySelector('main > .head > .round').click()")
        self.pictures("inbox-list")

    def pairing(self):
        self.view("contacts", "document.querySelectorAll('main .card').length > 1")
        self.pictures("contacts")
        other = self.start("workshop", "waft", "pair", "--accept", "--answer-fd", "0", "--json")
        other.event("open")
        self.browser.click("[data-key=pairAny]")
        self.browser.wait("[...document.querySelectorAll('#ask .choice')].some(b => /Workshop/.test(b.innerText))")
        self.browser.script("[...document.querySelectorAll('#ask .choice')].find(b => /Workshop/.test(b.innerText)).click()")
        self.browser.wait("document.querySelector('#ask .digits')")
        self.pictures("pairing")
        other.process.stdin.write("y\n")
        other.process.stdin.flush()
        self.browser.click("#ask .ready [data-key=yes]")
        self.browser.wait("document.querySelector('#ask .good')")
        self.browser.script("document.querySelector('#ask').close()")
        other.end()

    def rest(self):
        self.view("history", "document.querySelectorAll('.things li').length > 5")
        self.pictures("history")
        self.view("handlers", "document.querySelectorAll('.card').length > 3")
        self.browser.type("#who", "Holiday.jpg")
        self.browser.script("document.querySelector('#who').form.requestSubmit()")
        self.browser.wait("document.querySelector('.answer ol')")
        self.pictures("handlers")
        self.view("settings", "document.querySelectorAll('.setting').length > 6")
        self.pictures("settings")
        self.browser.script("location.hash = '#settings/all'")
        self.browser.wait("document.querySelectorAll('.setting').length > 30")
        self.pictures("settings-all")

    def take(self):
        self.befriend()
        self.fill()
        url = self.desk.event("desk")["url"]
        self.browser.window(1280, 800, False)
        self.browser.open(url)
        self.browser.wait("document.documentElement.classList.contains('ready')")
        self.room()
        self.sheet()
        self.browser.script("document.querySelector('#sheet').close()")
        sending = self.questions()
        self.transfers()
        self.inbox()
        self.rest()
        self.pairing()
        for program in sending:
            program.process.terminate()
            program.end()

    def end(self):
        self.browser.end()
        for program in reversed(self.running):
            program.process.terminate()
            program.end()


def main(checkout, lab, work, folder):
    os.makedirs(folder, exist_ok=True)
    stage = Stage(checkout, lab, work, os.path.abspath(folder))
    try:
        stage.take()
    finally:
        stage.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
