"""The cases: each yields titles with contestants, the first of which the others are compared with."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from airdrop import airdrop
from contestants import (
    Measured, Path, WaftReceiver, end, environment, forgotten, reference, references, rsync, scp, tar, together, waft)
from delivery import delivery
from group import group
from inbox import stranger, verify
from localsend import localsend
from nearby import appears, code, leaves, named, reached
from web import web

GIB = 1 << 30


def large(places):
    """One file of 1 GiB of random bytes, to memory and to the disk; the processor time of both sides beside the C loop's.

    The C loop with a digest does what is promised of the bytes alone: it reads, encrypts, sends, decrypts, digests and
    writes them. Beside its processor time stands what Waft adds."""
    path = places.file("large.bin", GIB // places.divisor)
    for title, base in [("1 GiB to tmpfs", places.memory), ("1 GiB to the disk", places.disk)]:
        yield title, {
            "waft": waft(places, base, [path]), "C loop": reference(places, base, path),
            "C loop with SHA-256": reference(places, base, path, digest=True),
            "C loop without TLS": reference(places, base, path, plain=True),
            "scp": scp(places, base, [path]), "rsync -W": rsync(places, base, [path]),
        }


def protected(places):
    """One file of 1 GiB to memory, sealed as the class unlessOpen and not; and 10,000 small ones to the disk."""
    path = places.file("large.bin", GIB // places.divisor)
    yield "1 GiB to tmpfs, sealed", {
        "sealed": waft(places, places.memory, [path], seals=True), "not sealed": waft(places, places.memory, [path])}
    many = places.tree("small", 20, 10_000 // places.divisor, 10_000)
    yield "10,000 files of 10 KB, sealed", {
        "sealed": waft(places, places.disk, [many], seals=True), "not sealed": waft(places, places.disk, [many])}


def small(places):
    """10,000 files of 10 KB in 20 folders, to the disk."""
    path = places.tree("small", 20, 10_000 // places.divisor, 10_000)
    yield "10,000 files of 10 KB", {
        "waft": waft(places, places.disk, [path]), "tar | ssh tar": tar(places, places.disk, path),
        "rsync -W": rsync(places, places.disk, [path]),
    }


def tiny(places):
    """100,000 files of 1 KB in 100 folders, to the disk."""
    path = places.tree("tiny", 100, 100_000 // places.divisor, 1_000)
    yield "100,000 files of 1 KB", {
        "waft": waft(places, places.disk, [path]), "tar | ssh tar": tar(places, places.disk, path),
    }


def single(places):
    """10,000 files of 10 KB that are named one by one, to the disk: as many items, each for itself."""
    path = places.tree("single", 1, 10_000 // places.divisor, 10_000)
    folder = os.path.join(path, "folder-000")
    items = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    yield "10,000 files of 10 KB, named one by one", {
        "waft": waft(places, places.disk, items), "scp": scp(places, places.disk, items),
        "rsync -W": rsync(places, places.disk, items),
    }


def uncached(places):
    """Files that are read from the disk and not from memory, to tmpfs: 1 GiB, and 100,000 files of 1 KB."""
    large = places.file("large.bin", GIB // places.divisor)
    yield "1 GiB, not in memory", {
        "waft": forgotten(large, waft(places, places.memory, [large])),
        "scp": forgotten(large, scp(places, places.memory, [large])),
    }
    many = places.tree("tiny", 100, 100_000 // places.divisor, 1_000)
    yield "100,000 files of 1 KB, not in memory", {
        "waft": forgotten(many, waft(places, places.memory, [many])),
        "tar | ssh tar": forgotten(many, tar(places, places.memory, many)),
    }


def _fan_out(places, receivers, path):
    def measure():
        os.sync()
        running = [WaftReceiver(places, places.memory) for _ in range(receivers)]
        threads = [receiver.drain() for receiver in running]
        words = [places.waft, "send", path, "--quiet"]
        for receiver in running:
            words += ["--to", f"127.0.0.1:{receiver.port}"]
        places.warm(places.memory, [path], receivers)
        began = time.monotonic()
        figures = Measured(words, env=environment(places.sender)).usage("sender")
        figures["wall"] = time.monotonic() - began
        figures.update(together([receiver.measured.usage("receiver") for receiver in running]))
        for receiver, thread in zip(running, threads):
            thread.join()
            receiver.remove()
        return figures
    return measure


def four(places):
    """100 files of 10 MB to four receivers at once; and four C loops with as many bytes at once."""
    path = places.tree("hundred", 1, 100 // places.divisor, 10_000_000)
    whole = places.file("hundred.bin", 1_000_000_000 // places.divisor)
    yield "100 files of 10 MB to four receivers", {
        "waft": _fan_out(places, 4, path), "four C loops at once": references(places, places.memory, whole, 4),
    }


def twenty(places):
    """20 senders of 50 MB, which are contacts, to one receiver."""
    path = places.file("fifty.bin", 50_000_000 // places.divisor)

    def measure():
        os.sync()
        homes = [places.home("sender") for _ in range(20)]
        receiver = WaftReceiver(places, places.memory, once=False, contacts=homes)
        thread = receiver.drain()
        words = [places.waft, "send", path, "--quiet", "--to", f"127.0.0.1:{receiver.port}"]
        places.warm(places.memory, [path], 20)
        began = time.monotonic()
        senders = [Measured(words, env=environment(home)) for home in homes]
        figures = together([sender.usage("sender") for sender in senders])
        figures["wall"] = time.monotonic() - began
        receiver.process.send_signal(signal.SIGINT)
        figures.update(receiver.measured.usage("receiver", ends_with=130))
        thread.join()
        receiver.remove()
        return figures

    yield "20 senders of 50 MB to one receiver", {
        "waft": measure, "20 C loops at once": references(places, places.memory, path, 20),
        "with SHA-256": references(places, places.memory, path, 20, digest=True)}


def cold(places):
    """1 KB to a known address, the program's start included; and the start alone."""
    path = places.file("one.bin", 1_000)

    def start():
        began = time.monotonic()
        figures = Measured([places.waft, "--version"], stdout=subprocess.DEVNULL).usage("sender")
        return {"wall": time.monotonic() - began, **figures}

    yield "1 KB, cold", {"waft": waft(places, places.disk, [path]), "waft --version": start,
                         "scp": scp(places, places.disk, [path])}


def _hosts(places, case, rate=None):
    """Two network namespaces with a link between them, removed at the end; without root prints a line and returns None.

    Returns the names of the two; the second is 10.77.0.2. A rate, such as 1gbit, is that of the first one's link."""
    if os.geteuid() != 0:
        return print(f"\n{case}: not measured, it needs root to make network namespaces")
    names = [f"waft-bench-{os.getpid()}-{case}-{side}" for side in "ab"]

    def ip(*words):
        subprocess.run(["ip", *words], check=True)

    for name in names:
        ip("netns", "add", name)
        places.on_close(lambda name=name: subprocess.run(["ip", "netns", "del", name]))
    ip("link", "add", "bench-a", "netns", names[0], "type", "veth", "peer", "name", "bench-b", "netns", names[1])
    for number, (name, side) in enumerate(zip(names, "ab")):
        ip("-n", name, "link", "set", "lo", "up")
        ip("-n", name, "link", "set", f"bench-{side}", "up")
        ip("-n", name, "address", "add", f"10.77.0.{number + 1}/24", "dev", f"bench-{side}")
    if rate:
        subprocess.run(["tc", "-n", names[0], "qdisc", "add", "dev", "bench-a", "root", "tbf", "rate", rate,
                        "burst", "256kb", "latency", "20ms"], check=True)
    return names


def link(places):
    """256 MiB between two namespaces (as root), on a link as fast as it gets and on one of 1 Gbit/s."""
    path = places.file("link.bin", GIB // 4 // places.divisor)
    for rate in [None, "1gbit"]:
        names = _hosts(places, f"link{rate or ''}", rate)
        if not names:
            return
        sending, receiving = (["ip", "netns", "exec", name] for name in names)
        between = Path(sending, receiving, "10.77.0.2")
        yield f"256 MiB over a link{' of 1 Gbit/s' if rate else ''}", {
            "waft": waft(places, places.memory, [path], between),
            "C loop": reference(places, places.memory, path, between),
        }


def idle(places):
    """A daemon with nothing to do, on loopback: wake-ups and private memory over ten seconds."""
    def measure():
        home = places.home("idle")
        process = subprocess.Popen([places.waftd, "--port", "0"], env=environment(home), stderr=subprocess.DEVNULL)
        time.sleep(2)

        def switches():
            found = {}
            for task in os.listdir(f"/proc/{process.pid}/task"):
                with open(f"/proc/{process.pid}/task/{task}/status") as file:
                    found[task] = int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M)[1])
            return found

        before, seconds = switches(), 10
        time.sleep(seconds)
        # Threads start and end. An ended thread has woken at least once, a new one as often as it counts.
        after = switches()
        woken = sum(count - before.get(task, 0) for task, count in after.items()) + len(before.keys() - after.keys())
        with open(f"/proc/{process.pid}/status") as file:
            memory = int(re.search(r"RssAnon:\s+(\d+)", file.read())[1]) / 1024
        end(process)
        return {"wakeups": woken / seconds, "memory": memory}

    yield "idle daemon", {"waftd": measure}


def calls(places):
    """System calls a GB, counted by strace on either side (its walls say nothing)."""
    path = places.file("large.bin", GIB // places.divisor)

    def counted(words_of_run):
        def measure():
            with tempfile.NamedTemporaryFile(mode="r", suffix=".strace") as file:
                words_of_run(["strace", "-f", "-c", "-o", file.name])
                total = [line for line in file.read().splitlines() if line.endswith(" total")]
            # Share, seconds, microseconds a call, calls, and errors where there were any.
            return {"calls": float(total[0].split()[3]) * places.divisor}
        return measure

    def sending(prefix):
        waft(places, places.memory, [path], Path(sending=prefix))()

    def receiving(prefix):
        receiver = WaftReceiver(places, places.memory, prefix=prefix)
        thread = receiver.drain()
        words = [places.waft, "send", path, "--to", f"127.0.0.1:{receiver.port}", "--quiet"]
        subprocess.run(words, env=environment(places.sender), check=True)
        receiver.measured.usage("receiver")
        thread.join()
        receiver.remove()

    yield "system calls of 1 GiB", {"waft send": counted(sending), "waft receive": counted(receiving)}


def crowd(places):
    """256 MiB by a contact, beside strangers that use all resources that they can get, and without strangers."""
    path = places.file("crowd.bin", GIB // 4 // places.divisor)
    stranger = os.path.join(places.root, "Tests/Stranger/stranger.py")

    def beside(visibility, role=None, count=512, standing="begun"):
        def measure():
            home = places.home("kitchen", places.memory)
            own, contacts = environment(home), [places.waft, "contacts"]
            me = subprocess.run(contacts + ["me", "--json"], env=environment(places.sender), check=True,
                                capture_output=True)
            subprocess.run(contacts + ["allow", json.loads(me.stdout)["id"], "--name", "study", "--policy", "accept"],
                           env=own, check=True, stdout=subprocess.DEVNULL)
            subprocess.run([places.waft, "visible", visibility], env=own, check=True, stdout=subprocess.DEVNULL)
            daemon = subprocess.Popen([places.waftd, "--port", "0", "--json"], env=own, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL)
            address = f"127.0.0.1:{json.loads(daemon.stdout.readline())['port']}"
            threading.Thread(target=daemon.stdout.read, daemon=True).start()
            attack = None
            if role:
                # Strangers are other machines: their own processor time does not count.
                words = ["nice", "-n", "19", "python3", "-B", stranger, role, os.path.join(home, "stranger"), address,
                         str(count)]
                attack = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                next(line for line in attack.stdout if standing in line.decode())
            began = time.monotonic()
            figures = Measured([places.waft, "send", path, "--quiet", "--to", address],
                               env=environment(places.sender)).usage("sender")
            figures["wall"] = time.monotonic() - began
            with open(f"/proc/{daemon.pid}/status") as file:
                figures["memory"] = int(re.search(r"RssAnon:\s+(\d+)", file.read())[1]) / 1024
            for process in [attack, daemon]:
                if process:
                    end(process)
            places.discard(home)
            return figures
        return measure

    yield "256 MiB by a contact, beside 512 strangers that may not offer", {
        "alone": beside("contacts"), "beside the largest offers": beside("contacts", "hoard"),
        "beside connections that are never idle": beside("contacts", "occupy"),
    }
    yield "256 MiB by a contact, beside strangers that may offer", {
        "alone": beside("everyone"), "beside the largest offers": beside("everyone", "hoard"),
        "beside four offers of 10,000 items": beside("everyone", "items", 4, "busy"),
    }


def curves(places):
    """Whether the cost is linear: in bytes, in files, in receivers."""
    for size in [256, 512, 1024, 2048]:
        path = places.file(f"curve-{size}.bin", (size << 20) // places.divisor)
        yield f"{size} MiB to tmpfs", {"waft": waft(places, places.memory, [path])}
        os.unlink(path)
    for files in [1_000, 4_000, 16_000, 64_000]:
        path = places.tree(f"curve-{files}", 10, files // places.divisor, 1_000)
        yield f"{files} files of 1 KB", {"waft": waft(places, places.disk, [path])}
        shutil.rmtree(path)
    path = places.file("fifty.bin", 50_000_000 // places.divisor)
    for receivers in [1, 2, 4, 8]:
        yield f"50 MB to {receivers} receivers", {"waft": _fan_out(places, receivers, path)}


CASES = {case.__name__: case for case in [
    large, protected, small, tiny, single, uncached, four, twenty, group, cold, link, named, code, appears, leaves, reached, delivery,
    idle, calls, airdrop, localsend, web, crowd, verify, stranger, curves]}
