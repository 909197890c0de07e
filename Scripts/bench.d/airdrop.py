"""AirDrop: each way with OpenDrop, an implementation by others, and from a sender that costs nothing."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

from contestants import Measured, end, environment

BYTES = 200_000_000
LAB = f"bench-airdrop-{os.getpid()}"


class Hosts:
    """Two hosts of a lab with link-local addresses only, for OpenDrop knows no others."""

    def __init__(self, places):
        self.places = places
        self.lab = os.path.join(places.root, "Scripts/lab")
        subprocess.run([self.lab, "up", LAB, "--hosts", "kitchen,study", "--avahi", "none"], check=True)
        places.on_close(lambda: subprocess.run([self.lab, "down", LAB]))
        for host in ["kitchen", "study"]:
            for words in ["-4 addr flush dev eth0", "-6 addr flush dev eth0 scope global"]:
                subprocess.run(self.on(host, "ip", *words.split()), check=True)
        # OpenDrop keeps its keys and its found peers in its home.
        self.home = places.home("opendrop")

    def on(self, host, *words):
        return [self.lab, "run", LAB, host, *words]

    def find(self, opendrop, name):
        report = os.path.join(self.home, ".opendrop/discover.last.json")
        for _ in range(10):
            words = ["timeout", "--foreground", "-s", "INT", "4", opendrop, "find", "-i", "eth0"]
            subprocess.run(self.on("study", *words), env={**os.environ, "HOME": self.home}, capture_output=True)
            if os.path.exists(report):
                with open(report) as file:
                    if f'"name": "{name}"' in file.read():
                        return
        raise SystemExit(f"bench: OpenDrop does not find {name}")


class Receiver:
    """waft receive on the kitchen, found by AirDrop, for one transfer."""

    def __init__(self, hosts):
        self.places, self.hosts = hosts.places, hosts
        self.home = hosts.places.home("receiver", hosts.places.memory)
        self.surroundings = {**environment(self.home), "WAFT_DISCOVERY": "true"}
        words = [hosts.places.waft, "receive", "--accept", "everyone", "--name", "Kitchen", "--once", "--json"]
        self.measured = Measured(hosts.on("kitchen", *words), env=self.surroundings, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL)
        output = self.measured.process.stdout
        output.readline()
        threading.Thread(target=output.read, daemon=True).start()

    def port(self):
        """The port on which it listens for AirDrop, once it does."""
        while True:
            words = self.hosts.on("kitchen", self.places.waft, "status", "--json")
            status = subprocess.run(words, env=self.surroundings, capture_output=True, text=True)
            port = re.search(r"published as .*port (\d+)", json.loads(status.stdout).get("dialects", {}).get("airdrop", ""))
            if port:
                return port[1]
            time.sleep(0.05)

    def figures(self, measured, began):
        figures = measured.usage("sender")
        figures["wall"] = time.monotonic() - began
        figures.update(self.measured.usage("receiver"))
        shutil.rmtree(self.home, ignore_errors=True)
        return figures


def airdrop(places):
    """200 MB of random bytes by AirDrop, each way with OpenDrop, between two namespaces (as root)."""
    folder = os.environ.get("WAFT_INTEROP", os.path.join(places.root, ".build/interop"))
    opendrop = os.path.join(folder, "bin/opendrop")
    if os.geteuid() != 0 or not os.access(opendrop, os.X_OK):
        return print("\nairdrop: NOT MEASURED: it needs root, and OpenDrop as Scripts/setup-interop installs it",
                     file=sys.stderr)
    hosts = Hosts(places)
    path = os.path.join(places.memory, "airdrop.bin")

    def new_file():
        with open(path, "wb") as file:
            file.write(os.urandom(BYTES // places.divisor))

    def sent_by_opendrop(name="Bob"):
        words = hosts.on("study", opendrop, "send", "-i", "eth0", "-r", name, "-f", path)
        return Measured(words, env={**os.environ, "HOME": hosts.home}, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)

    # One for all runs: its port is not free again at once.
    arrived = places.home("arrived", places.memory)
    bob = subprocess.Popen(hosts.on("kitchen", opendrop, "receive", "-i", "eth0", "-n", "Bob"), cwd=arrived,
                           env={**os.environ, "HOME": places.home("bob")}, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    places.on_close(lambda: end(bob))

    def to_opendrop(send):
        def measure():
            new_file()
            hosts.find(opendrop, "Bob")
            began = time.monotonic()
            figures = send().usage("sender")
            figures["wall"] = time.monotonic() - began
            # Its exit code is always 0.
            if os.path.getsize(os.path.join(arrived, "airdrop.bin")) != BYTES // places.divisor:
                raise SystemExit("bench: it did not arrive")
            os.unlink(os.path.join(arrived, "airdrop.bin"))
            return figures
        return measure

    def sent_by_waft():
        surroundings = {**environment(places.sender), "WAFT_DISCOVERY": "true"}
        return Measured(hosts.on("study", places.waft, "send", path, "--to", "Bob", "--quiet"), env=surroundings)

    def from_opendrop():
        new_file()
        receiver = Receiver(hosts)
        hosts.find(opendrop, "Kitchen")
        began = time.monotonic()
        return receiver.figures(sent_by_opendrop("Kitchen"), began)

    def from_plain_sender():
        new_file()
        receiver = Receiver(hosts)
        program = os.path.join(places.root, "Scripts/bench.d/plain-airdrop")
        words = hosts.on("kitchen", sys.executable, program, "localhost", receiver.port(), path)
        began = time.monotonic()
        return receiver.figures(Measured(words), began)

    yield "200 MB by AirDrop", {
        "OpenDrop to OpenDrop": to_opendrop(sent_by_opendrop), "OpenDrop to waft": from_opendrop,
        "waft to OpenDrop": to_opendrop(sent_by_waft), "plain sender to waft": from_plain_sender,
    }
