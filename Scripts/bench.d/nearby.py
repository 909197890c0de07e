"""The network around: how soon a peer is found by name, is listed, leaves the list, and can be reached."""

import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

from contestants import Measured, end, environment, scp
from lab import Lab

# Sendings in a row.
ROW = 8
# The longest wait for a killed peer to leave a list.
LONGEST = 60
# Prints the time of the first answer on the link that tells of a Waft service, by the clock of all processes.
RECORD = """
import socket, struct, time
heard = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for option in [socket.SO_REUSEADDR, socket.SO_REUSEPORT]: heard.setsockopt(socket.SOL_SOCKET, option, 1)
heard.bind(("224.0.0.251", 5353))
group = socket.inet_aton("224.0.0.251") + socket.inet_aton("192.168.77.2")
heard.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
print("listening", flush=True)
while True:
    bytes = heard.recv(9000)
    if bytes[2] & 0x80 and b"\\x05_waft" in bytes: print(time.monotonic(), flush=True)
"""


def _is_root(case):
    if os.geteuid() != 0:
        print(f"\n{case}: NOT MEASURED: it needs root to make network namespaces", file=sys.stderr)
    return os.geteuid() == 0


def _found(home):
    return {**environment(home), "WAFT_DISCOVERY": "true"}


class Reader:
    """A program whose lines of JSON are awaited, and the times at which they came."""

    def __init__(self, places, words, surroundings):
        self.process = subprocess.Popen(words, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        places.on_close(self.end)
        self.lines, self.news = [], threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append((time.monotonic(), json.loads(line)))
                self.news.notify_all()

    def when(self, began, is_meant, within=30):
        """The time of the first such line since then, which is awaited for some seconds; None if none comes."""
        def first():
            return next((at for at, line in self.lines if at >= began and is_meant(line)), None)
        with self.news:
            self.news.wait_for(first, timeout=within)
            return first()

    def end(self, kind=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(kind)
            self.process.wait()


def _receiver(places, lab, home, *words):
    words = lab.at("kitchen", places.waft, "receive", "--accept", "everyone", "--name", "kitchen", "--json", *words)
    return Reader(places, words, _found(home))


def _is_kitchen(line):
    return line.get("event") == "found" and line.get("name") == "kitchen"


def _is_lost(line):
    return line.get("event") == "lost"


def named(places):
    """1 KB by the peer's name, eight in a row, without avahi-daemon and with it, between two namespaces (as root)."""
    if not _is_root("named"):
        return
    for avahi, words in [("none", "without avahi-daemon"), ("all", "with avahi-daemon")]:
        lab = Lab(places, f"named-{avahi}", avahi)
        receiver = _receiver(places, lab, places.home("kitchen"))
        receiver.when(0, lambda line: line.get("event") == "ready")
        stranger, contact = places.home("stranger"), places.home("contact")
        key = receiver.lines[0][1]["id"]
        subprocess.run([places.waft, "contacts", "allow", key, "--name", "kitchen"], env=environment(contact), check=True,
                       stdout=subprocess.DEVNULL)
        path = places.file("named.bin", 1_000)

        def row(home):
            sending = lab.at("study", places.waft, "send", path, "--quiet", "--to", "kitchen")

            def once():
                # A stored file is not sent again, so this one is new.
                with open(path, "wb") as file:
                    file.write(os.urandom(1_000))
                began = time.monotonic()
                figures = Measured(sending, env=_found(home)).usage("sender")
                return {"wall": time.monotonic() - began, **figures}

            def measure():
                # Nothing has been asked or answered lately.
                time.sleep(2)
                runs = [once() for _ in range(ROW)]
                middle = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
                return {**middle, "first": runs[0]["wall"]}

            once()
            return measure

        yield f"1 KB by name, {words}, the median of {ROW} in a row", {
            "to a stranger": row(stranger), "to a contact": row(contact)}
        receiver.end()


def code(places):
    """1 KB by a spoken code between two namespaces (as root), from the command that types it; also by magic-wormhole."""
    if not _is_root("code"):
        return
    lab = Lab(places, "code", "none")
    path = places.file("code.bin", 1_000)

    def typed(showing, typing, env_here, env_there, shown):
        """One transfer: the seconds until the code is shown, and from its typing until both commands have ended."""
        with open(path, "wb") as file:
            file.write(os.urandom(1_000))
        began = time.monotonic()
        sending = subprocess.Popen(showing, env=env_here, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        word = next(found for line in sending.stdout if (found := shown(line)))
        at = time.monotonic()
        # A person reads it out meanwhile; and an address may ask five times in a minute.
        time.sleep(13)
        begun = time.monotonic()
        subprocess.run(typing + [word], env=env_there, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stored = time.monotonic()
        sending.stdout.read()
        if sending.wait() != 0:
            raise SystemExit("bench: a transfer by a code failed")
        return {"wall": stored - begun, "shown": at - began, "both": time.monotonic() - begun}

    def waft(here, there):
        return lambda: typed(
            lab.at("study", places.waft, "send", path, "--code"), lab.at("kitchen", places.waft, "receive"),
            _found(here), _found(there), lambda line: line.strip() if line[:1].isdigit() else None)

    rows = {"waft, no receiver runs": waft(places.home("code-study"), places.home("code-kitchen"))}
    daemons = []
    for host in ["study", "kitchen"]:
        home = places.home(f"code-{host}-daemon")
        daemons.append(home)
        daemon = Reader(places, lab.at(host, places.waftd, "--json"), _found(home))
        daemon.when(0, lambda line: line.get("event") == "ready")
    rows["waft, waftd runs at both"] = waft(*daemons)
    rows["scp on loopback, with an account and a key"] = scp(places, places.memory, [path])
    wormhole = os.environ.get("WORMHOLE") or shutil.which("wormhole")
    if wormhole:
        mailbox = subprocess.Popen(
            lab.at("study", os.path.join(os.path.dirname(wormhole), "twist"), "wormhole-mailbox", "--port", "tcp:4000"),
            cwd=places.home("mailbox"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        places.on_close(lambda: end(mailbox))
        next(line for line in mailbox.stdout if "Starting reactor" in line)
        words = [wormhole, "--relay-url", "ws://192.168.77.2:4000/v1", "--transit-helper", ""]
        # Its receiver does not replace a file.
        def receive():
            target = places.home("wormhole-kitchen")
            return lab.at("kitchen", *words, "receive", "--accept-file", "--hide-progress", "-o",
                          os.path.join(target, f"{time.monotonic_ns()}"))
        rows["magic-wormhole, its mailbox at the sender"] = lambda: typed(
            lab.at("study", *words, "send", "--hide-progress", path), receive(), os.environ, os.environ,
            lambda line: line.split(":")[1].strip() if line.startswith("Wormhole code is") else None)
    else:
        print("\ncode: magic-wormhole: NOT MEASURED: it is not installed; WORMHOLE names its program", file=sys.stderr)
    yield "1 KB by a spoken code, from its typing to the end of the command", rows


def appears(places):
    """From the start of a peer, or from its visibility, to its name in an open list, between two namespaces (as root)."""
    if not _is_root("appears"):
        return
    for avahi, words in [("none", "without avahi-daemon"), ("all", "with avahi-daemon")]:
        lab = Lab(places, f"appears-{avahi}", avahi)
        watch = Reader(places, lab.at("study", places.waft, "peers", "--watch", "--json"), _found(places.home("study")))
        recorder = subprocess.Popen(lab.at("study", "python3", "-c", RECORD), stdout=subprocess.PIPE, text=True)
        places.on_close(lambda: end(recorder))
        recorder.stdout.readline()
        records = []
        threading.Thread(target=lambda: records.extend(map(float, recorder.stdout)), daemon=True).start()

        def figures(began):
            at = watch.when(began, _is_kitchen)
            if not at:
                raise SystemExit("bench: the peer was not listed")
            # A question that is repeated may be before the record.
            while not (record := next((each for each in records if each > began), None)):
                time.sleep(0.01)
            return {"wall": at - began, "record": record - began}

        def starts():
            time.sleep(2)
            began = time.monotonic()
            receiver = _receiver(places, lab, places.home("kitchen"))
            found = figures(began)
            began = time.monotonic()
            receiver.end()
            watch.when(began, _is_lost)
            return found

        def becomes_visible():
            home = places.home("kitchen")
            daemon = Reader(places, lab.at("kitchen", places.waftd, "--json", "--name", "kitchen"), _found(home))
            daemon.when(0, lambda line: line.get("event") == "ready")
            time.sleep(5)
            began = time.monotonic()
            subprocess.run(lab.at("kitchen", places.waft, "visible", "everyone"), env=_found(home), check=True,
                           stdout=subprocess.DEVNULL)
            found = figures(began)
            began = time.monotonic()
            daemon.end()
            watch.when(began, _is_lost)
            return found

        time.sleep(5)
        yield f"until a name is in an open list, {words}", {"a peer starts": starts, "it becomes visible": becomes_visible}
        watch.end()
        end(recorder)


def leaves(places):
    """From the death of a peer until it leaves an open list, between two namespaces (as root)."""
    if not _is_root("leaves"):
        return
    lab = Lab(places, "leaves")
    watch = Reader(places, lab.at("study", places.waft, "peers", "--watch", "--json"), _found(places.home("study")))

    def measure():
        began = time.monotonic()
        receiver = _receiver(places, lab, places.home("kitchen"))
        watch.when(began, _is_kitchen)
        time.sleep(5 + 5 * random.random())
        began = time.monotonic()
        receiver.end(signal.SIGKILL)
        return {"wall": (watch.when(began, _is_lost, LONGEST) or began + LONGEST) - began}

    yield f"until a killed peer leaves an open list ({LONGEST} s: it had not left)", {"waft peers --watch": measure}


def _is_open(process, port):
    """Whether a process's network has a listening socket at a port, without a connection to it."""
    with open(f"/proc/{process.pid}/net/tcp6") as file:
        return any(words[1].endswith(f":{port:04X}") and words[3] == "0A" for words in map(str.split, file))


def reached(places):
    """From the start of `waft receive` until its port is open, and until its first line (as root)."""
    if not _is_root("reached"):
        return
    lab = Lab(places, "reached")

    def started(discovery):
        def measure():
            surroundings = {**environment(places.home("kitchen")), "WAFT_DISCOVERY": discovery}
            words = lab.at("kitchen", places.waft, "receive", "--accept", "everyone", "--port", "9238", "--json")
            began = time.monotonic()
            receiver = Reader(places, words, surroundings)
            while not _is_open(receiver.process, 9238):
                time.sleep(0.001)
            opened = time.monotonic() - began
            line = receiver.when(began, lambda line: line.get("event") == "ready") - began
            receiver.end()
            return {"wall": line, "port": opened}
        return measure

    yield "until a receiver can be reached", {"announced": started("true"), "without discovery": started("false")}
