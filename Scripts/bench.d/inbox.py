"""The cost of an Inbox that holds much: its verification, and the next transfer of a stranger who has filled it."""

import json
import os
import signal
import subprocess
import threading
import time

from contestants import Measured, WaftReceiver, environment


def _filled(places, count, size):
    """A home whose Inbox has that many items of one stranger, each sent by its name."""
    receiver = WaftReceiver(places, places.disk, once=False)
    thread = receiver.drain()
    if count:
        folder = os.path.join(places.tree(f"items-{count}-{size}", 1, count, size), "folder-000")
        items = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        subprocess.run([places.waft, "send", *items, "--quiet", "--to", f"127.0.0.1:{receiver.port}"],
                       env=environment(places.sender), check=True)
    receiver.process.send_signal(signal.SIGINT)
    receiver.measured.usage("receiver", ends_with=130)
    thread.join()
    return receiver.home


def verify(places):
    """`waft inbox verify` of 10,000 items of 10 KB in the kernel's cache, beside sha256sum of the same files."""
    home = _filled(places, 10_000 // places.divisor, 10_000)
    inbox = os.path.join(home, "Documents", "Inbox")
    files = [os.path.join(inbox, name) for name in sorted(os.listdir(inbox)) if not name.startswith(".")]

    def cached(words, surroundings):
        def measure():
            os.sync()
            for path in files:
                with open(path, "rb") as file:
                    file.read()
            began = time.monotonic()
            figures = Measured(words, env=surroundings, stdout=subprocess.DEVNULL).usage("sender")
            return {"wall": time.monotonic() - began, **figures}
        return measure

    yield f"{len(files):,} items of 10 KB, compared with those that arrived", {
        "sha256sum": cached(["sha256sum", *files], os.environ),
        "waft inbox verify": cached([places.waft, "inbox", "verify"], environment(home)),
    }


def stranger(places):
    """Processor time of one more transfer of a stranger, who has 5,000 items in the Inbox, or none."""
    count, repeats = 5_000 // places.divisor, 40
    item = os.path.join(places.disk, "next.bin")

    def after(count, words):
        home = _filled(places, count, 100)

        def measure():
            own = environment(home)
            daemon = subprocess.Popen([places.waft, "receive", "--accept", "everyone", "--port", "0", "--json"],
                                      env=own, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            address = f"127.0.0.1:{json.loads(daemon.stdout.readline())['port']}"
            threading.Thread(target=daemon.stdout.read, daemon=True).start()

            def send():
                contents = os.urandom(1_000)
                with open(item, "wb") as file:
                    file.write(contents)
                # A pipe: the size of a file that is standard input is known.
                subprocess.run([places.waft, "send", *words, "--quiet", "--to", address],
                               env=environment(places.sender), input=contents, check=True)

            send()
            before = _processor(daemon.pid)
            for _ in range(repeats):
                send()
            used = _processor(daemon.pid) - before
            daemon.send_signal(signal.SIGINT)
            daemon.wait()
            return {"processor_ms": used / repeats * 1_000}
        return measure

    for title, words in [("a file", [item]), ("standard input", ["-", "--name", "next.bin"])]:
        yield f"{title} of 1 KB by a stranger", {
            "with no earlier items": after(0, words),
            f"with {count:,} earlier items": after(count, words),
        }


def _processor(process):
    """Seconds of processor time that a process has used."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
