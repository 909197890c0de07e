"""The page for guests: each way with curl, beside Waft's own protocol."""

import json
import os
import subprocess
import sys
import threading
import time

from contestants import Measured, Path, environment, waft
from lab import Lab

BYTES = 1 << 30


class Page:
    """`waft web` in the kitchen, which takes everything."""

    def __init__(self, lab, places, *items):
        self.places, self.home = places, places.home("page", places.memory)
        words = lab.on("kitchen", places.waft, "web", "--json", *items)
        self.measured = Measured(words, env={**environment(self.home), "WAFT_ACCEPT": "everyone"},
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        page = json.loads(self.measured.process.stdout.readline())
        self.address = page["address"] + "u/" + page["url"].rpartition("/")[2] + "/"
        self.events = threading.Thread(target=self.measured.process.stdout.read, daemon=True)
        self.events.start()
        with open(f"/proc/{self.measured.process.pid}/task/{self.measured.process.pid}/children") as file:
            self.program = int(file.read())
        self.memory, self.is_over = 0, threading.Event()
        self.watch = threading.Thread(target=self.look)
        self.watch.start()

    def look(self):
        """Notes the memory that is private to the program, in KiB."""
        while not self.is_over.wait(0.05):
            with open(f"/proc/{self.program}/status") as file:
                self.memory = max(self.memory, *(int(line.split()[1]) for line in file if line.startswith("RssAnon")))

    def figures(self, began):
        figures = {"wall": time.monotonic() - began, "memory": self.memory / 1024}
        self.is_over.set()
        self.watch.join()
        os.kill(self.program, 15)
        figures.update(self.measured.usage("receiver"))
        self.events.join()
        self.measured.process.stdout.close()
        return figures


def web(places):
    """1 GiB by the page for guests, each way with curl, and by Waft's own protocol, between two namespaces (as root)."""
    if os.geteuid() != 0:
        return print("\nweb: NOT MEASURED: it needs root", file=sys.stderr)
    lab, size = Lab(places, "web"), BYTES // places.divisor
    path = places.file("large.bin", size)
    arrived = os.path.join(places.memory, "fetched")

    def curl(*words):
        """A guest who trusts any certificate: one of these pages has no other."""
        return Measured(lab.on("study", "curl", "--insecure", "--silent", "--fail", *words), stdout=subprocess.DEVNULL)

    def transfer(page, guest, file):
        """The figures of one transfer, of which a whole file must come."""
        began = time.monotonic()
        used = guest().usage("sender")
        figures = {**page.figures(began), **used}
        if os.path.getsize(file(page)) != size:
            raise SystemExit("bench: it did not arrive")
        os.unlink(file(page))
        places.discard(page.home)
        return figures

    def upload():
        os.sync()
        page = Page(lab, places)
        places.warm(places.memory, [path])
        return transfer(page, lambda: curl("-T", path, page.address),
                        lambda page: os.path.join(page.home, "Documents/Inbox/large.bin"))

    def download():
        os.sync()
        page = Page(lab, places, path)
        places.warm(places.memory, [path])
        return transfer(page, lambda: curl("-o", arrived, page.address + "1"), lambda page: arrived)

    own = Path(sending=lab.on("study"), receiving=lab.on("kitchen"), address=lab.ADDRESSES["kitchen"])
    yield "1 GiB by the page for guests", {
        "waft to waft": waft(places, places.memory, [path], path=own), "curl -T to the page": upload,
        "the page to curl -o": download}
