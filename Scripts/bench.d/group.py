"""One to many: a group, beside one receiver, the star (--no-relay) and udpcast, in one run, on hosts of Scripts/lab."""

import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time

from contestants import environment

MEGABYTE = 1_000_000
PORT = "9238"


class Room:
    """A sender, and receivers that accept what it sends, behind one bridge. The group @lab of the sender has them all.

    A rate, such as 100mbit, is that of each host's cable in both directions; the bridge has none."""

    def __init__(self, places, name, receivers, rate=None):
        self.places, self.rate, self.name = places, rate, f"bench-{name}-{os.getpid()}"
        self.program = os.path.join(places.root, "Scripts/lab")
        self.sender, self.names = "h00", [f"h{number:02}" for number in range(1, receivers + 1)]
        self.home, self.running = places.home(name, places.memory), {}
        places.on_close(self.close)
        hosts = [self.sender, *self.names]
        subprocess.run([self.program, "up", self.name, "--hosts", ",".join(hosts), "--avahi", "none"], check=True)
        if rate:
            for host in hosts:
                self.limit(host, rate)
        me = self.key(self.sender)
        for host in self.names:
            self.waft(self.sender, "contacts", "allow", self.key(host), "--name", host)
            self.waft(host, "contacts", "allow", me, "--name", self.sender, "--policy", "accept")
            self.start(host)
            self.waft(self.sender, "peers", "add", host, f"{self.address(host)}:{PORT}")
        self.waft(self.sender, "contacts", "group", "lab", "add", *self.names)

    def close(self):
        for process in self.running.values():
            process.kill()
            process.wait()
        subprocess.run([self.program, "down", self.name], stderr=subprocess.DEVNULL)

    # Hosts

    def address(self, host):
        return f"192.168.77.{int(host[1:]) + 1}"

    def at(self, host, *words):
        """The words that run a program on a host, without a shell between."""
        with open(f"/run/waft-lab/{self.name}/{host}.holder") as file:
            return ["nsenter", "--target", file.read().strip(), "--net", "--mount", "--uts", "--", *words]

    def place(self, host):
        return os.path.join(self.home, host)

    def waft(self, host, *words):
        return subprocess.run(self.at(host, self.places.waft, *words), env=environment(self.place(host)), check=True,
                              capture_output=True).stdout

    def key(self, host):
        return json.loads(self.waft(host, "contacts", "me", "--json").splitlines()[0])["id"]

    def limit(self, host, rate):
        """Sets the rate of a host's cable, in both directions. TCP bounds what it puts into its own host's queue, so that one
        loses nothing; the bridge's queue does."""
        for space, device, latency in [(host, "eth0", "400ms"), (".wire", self.socket(host), "100ms")]:
            subprocess.run(["tc", "-n", f"waft-lab.{self.name}.{space}", "qdisc", "replace", "dev", device, "root", "tbf",
                            "rate", rate, "burst", "64kb", "latency", latency], check=True)

    def socket(self, host):
        """The bridge's end of a host's cable."""
        return f"p{int(host[1:]) + 1}-0"

    def plug(self, host, state):
        subprocess.run(["ip", "-n", f"waft-lab.{self.name}..wire", "link", "set", self.socket(host), state], check=True)

    def counter(self, host, way):
        """Bytes that a host has sent (tx) or received (rx) by its cable."""
        return int(subprocess.run(self.at(host, "cat", f"/sys/class/net/eth0/statistics/{way}_bytes"), check=True,
                                  capture_output=True).stdout)

    # Receivers

    def start(self, host, **variables):
        """Starts a receiver, and waits until it is ready."""
        words = self.at(host, self.places.waft, "receive", "--accept", "ask", "--port", PORT, "--json")
        process = subprocess.Popen(words, env={**environment(self.place(host)), **variables}, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        process.stdout.readline()
        threading.Thread(target=process.stdout.read, daemon=True).start()
        self.running[host] = process

    def dial(self, host, way):
        """Lets what a host sends to new connections to receivers be lost (INSERT), or not (DELETE): it dials no other one."""
        for table in ["iptables", "ip6tables"]:
            subprocess.run(self.at(host, table, "-w", f"--{way.lower()}", "OUTPUT", "-p", "tcp", "--syn", "--dport", PORT,
                                   "-j", "DROP"), check=True)

    def stop(self, host, how=signal.SIGTERM):
        self.running[host].send_signal(how)
        self.running[host].wait()

    def restart(self, host, **variables):
        self.stop(host)
        self.start(host, **variables)

    def inbox(self, host):
        return os.path.join(self.place(host), "Documents/Inbox")

    def empty(self):
        for host in self.names:
            for entry in os.scandir(self.inbox(host)):
                if not entry.name.startswith("."):
                    os.unlink(entry.path)


def private(pid):
    """MiB of private memory; 0 for a process that is gone."""
    try:
        with open(f"/proc/{pid}/status") as file:
            found = re.search(r"RssAnon:\s+(\d+)", file.read())
            return int(found[1]) / 1024 if found else 0
    except OSError:
        return 0


class Fault:
    """Something that happens to one receiver: before the sending, in its middle, and when all others have everything."""

    def __init__(self, before=None, middle=None, after=None, ends=None, fails=False, parts=False):
        nothing = lambda room, host: None
        self.before, self.middle, self.after = before or nothing, middle or nothing, after or nothing
        # What makes the host as it was before. Whether the host gets nothing in the end. Whether the one after it gets
        # the rest on a stream of its own, too.
        self.ends, self.fails, self.parts = ends or nothing, fails, parts


def liar(room):
    """The variables of a relay that changes one byte, in the middle of what it passes on."""
    library = os.path.join(room.places.disk, "liar.so")
    if not os.path.exists(library):
        source = os.path.join(room.places.root, "Scripts/bench.d/liar.c")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-lssl"], check=True)
    return {"LD_PRELOAD": library, "LIE_AT": str((room.size >> 17) + 1)}


FAULTS = {
    "one killed": Fault(middle=lambda room, host: room.stop(host, signal.SIGKILL),
                        after=lambda room, host: room.start(host)),
    "one cable out": Fault(middle=lambda room, host: room.plug(host, "down"),
                           after=lambda room, host: room.plug(host, "up")),
    "one at a tenth of the rate": Fault(before=lambda room, host: room.limit(host, "10mbit"),
                                        ends=lambda room, host: room.limit(host, room.rate)),
    "one with relay = never": Fault(before=lambda room, host: room.restart(host, WAFT_RELAY="never"),
                                    ends=lambda room, host: room.restart(host)),
    "one declines": Fault(before=lambda room, host: room.waft(host, "contacts", "set", room.sender, "--policy", "decline"),
                          ends=lambda room, host: room.waft(host, "contacts", "set", room.sender, "--policy", "accept"),
                          fails=True),
    "a relay that lies in one byte": Fault(before=lambda room, host: room.restart(host, **liar(room)),
                                           ends=lambda room, host: room.restart(host), parts=True),
    "one that reaches no other": Fault(before=lambda room, host: room.dial(host, "INSERT"),
                                       ends=lambda room, host: room.dial(host, "DELETE")),
}


def sending(room, size, *words, to=None, fault=None):
    """One sending, of contents that nobody has yet. `wall` is until all but the faulty ones have everything, and `all` until
    the sender ends; `times` is what left the sender, in sizes of the contents."""
    def measure():
        path = os.path.join(room.places.memory, "group.bin")
        with open(path, "wb") as file:
            for _ in range(0, size, MEGABYTE):
                file.write(os.urandom(min(MEGABYTE, size - file.tell())))
        victim, room.size = room.names[len(room.names) // 2] if fault else None, size
        parted = room.names[room.names.index(victim) + 1] if fault and fault.parts else None
        waiting = set(to or room.names) - {victim, parted}
        if fault:
            fault.before(room, victim)
        sent, got = room.counter(room.sender, "tx"), victim and room.counter(victim, "rx")
        targets = [word for host in to for word in ("--to", host)] if to else ["--to", "@lab"]
        began = time.monotonic()
        process = subprocess.Popen(room.at(room.sender, room.places.waft, "send", path, *targets, *words, "--json"),
                                   env=environment(room.place(room.sender)), stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        peaks, isOver = {"sender": 0.0, "receiver": 0.0}, threading.Event()

        def watch():
            struck = False
            while not isOver.wait(0.05):
                peaks["sender"] = max(peaks["sender"], private(process.pid))
                peaks["receiver"] = max(peaks["receiver"], *(private(one.pid) for one in room.running.values()))
                if fault and not struck and room.counter(victim, "rx") - got > size / 2:
                    struck = True
                    fault.middle(room, victim)
        watcher = threading.Thread(target=watch)
        watcher.start()
        wall, reasons = None, set()
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "failed":
                reasons.add(event["reason"])
            if event["event"] == "stored":
                waiting.discard(event["peer"]["contact"])
                if not waiting and wall is None:
                    wall = time.monotonic() - began
                    if fault:
                        fault.after(room, victim)
        code = process.wait()
        whole = time.monotonic() - began
        isOver.set()
        watcher.join()
        times = (room.counter(room.sender, "tx") - sent) / size
        if fault:
            fault.ends(room, victim)
        if waiting or (code != 0) != (fault is not None and fault.fails):
            raise SystemExit(f"bench: waft send ended with {code}, without: {' '.join(sorted(waiting)) or 'nobody'}; "
                             + "; ".join(sorted(reasons)))
        room.empty()
        return {"wall": wall, "all": whole, "times": times, "sender_private": peaks["sender"],
                "receiver_private": peaks["receiver"]}
    return measure


def udpcast(room, size):
    """One multicast of udpcast: no cipher, no names, no receipts. Its sender may use the whole rate of the cable."""
    def measure():
        path = room.places.file(f"udpcast-{size}.bin", size)
        out = room.places.fresh(room.places.memory, "udpcast")
        receivers = [subprocess.Popen(
            room.at(host, "udp-receiver", "--nokbd", "--interface", "eth0", "--file", os.path.join(out, host)),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for host in room.names]
        sent = room.counter(room.sender, "tx")
        began = time.monotonic()
        subprocess.run(room.at(room.sender, "udp-sender", "--nokbd", "--interface", "eth0", "--file", path, "--full-duplex",
                               "--min-receivers", str(len(receivers)), "--max-bitrate", "92m"),
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        wall = time.monotonic() - began
        whole = [receiver.wait() == 0 for receiver in receivers]
        times = (room.counter(room.sender, "tx") - sent) / size
        shutil.rmtree(out)
        if not all(whole):
            raise SystemExit("bench: a receiver of udpcast failed")
        return {"wall": wall, "times": times}
    return measure


def group(places):
    """One to many: 23 receivers at 100 Mbit/s, with and without faults, beside one receiver, the star and udpcast."""
    if os.geteuid() != 0:
        return print("\ngroup: not measured, it needs root to make network namespaces")
    if not shutil.which("udp-sender"):
        raise FileNotFoundError(2, "not installed", "udp-sender")
    room = Room(places, "group", 23, "100mbit")
    for size in [20 * MEGABYTE, 100 * MEGABYTE]:
        size //= places.divisor
        contestants = {
            "one receiver": sending(room, size, to=room.names[:1]),
            # So many leave the processors time; all of them together may not.
            "8 receivers": sending(room, size, to=room.names[:8]), "16 receivers": sending(room, size, to=room.names[:16]),
            "23 receivers": sending(room, size), "udpcast": udpcast(room, size)}
        if size <= 20 * MEGABYTE:
            contestants["23, each by itself (--no-relay)"] = sending(room, size, "--no-relay")
        yield f"{size // MEGABYTE} MB at 100 Mbit/s", contestants
    size = 40 * MEGABYTE // places.divisor
    yield f"{size // MEGABYTE} MB to 23 receivers at 100 Mbit/s, the others beside a fault", {
        "without a fault": sending(room, size),
        **{name: sending(room, size, fault=fault) for name, fault in FAULTS.items()}}
    room.close()
    room, size = Room(places, "fast", 4), (1 << 30) // places.divisor
    yield f"{size >> 20} MiB to four receivers, cables without a bound", {
        "each by itself (--no-relay)": sending(room, size, "--no-relay"), "as a group": sending(room, size)}
