"""LocalSend: each way with localsendd, an implementation by others."""

import os
import subprocess
import sys
import time

from contestants import Measured, end, environment

BYTES = 1 << 30
LAB = f"bench-localsend-{os.getpid()}"


class Daemon:
    """localsendd on the study of a lab, under the name py, for all runs."""

    def __init__(self, places, programs):
        self.places, self.programs = places, programs
        self.lab = os.path.join(places.root, "Scripts/lab")
        places.on_close(lambda: subprocess.run([self.lab, "down", LAB]))
        subprocess.run([self.lab, "up", LAB, "--hosts", "kitchen,study", "--avahi", "none"], check=True)
        # It asks the system for the address towards the Internet.
        subprocess.run(self.on("study", *"ip route add default dev eth0".split()), check=True)
        home, self.arrived = places.home("py"), places.home("arrived", places.memory)
        self.socket = os.path.join(home, "sock")
        folders = {name: home for name in ["HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"]}
        words = ["--alias", "py", "--download-dir", self.arrived, "--socket", self.socket, "--encryption", "--unattended"]
        process = subprocess.Popen(self.on("study", os.path.join(programs, "localsendd"), *words),
                                   env={**os.environ, **folders}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        places.on_close(lambda: end(process))
        while self.control("status").returncode != 0:
            time.sleep(0.05)

    def on(self, host, *words):
        return [self.lab, "run", LAB, host, *words]

    def control(self, *words):
        return subprocess.run(self.on("study", os.path.join(self.programs, "localsendctl"), "--socket", self.socket, *words),
                              capture_output=True, text=True)

    def find(self, name):
        while name not in self.control("devices", "--scan", "--wait-for", "0.2").stdout:
            pass


def localsend(places):
    """1 GiB by LocalSend, each way with localsendd, between two namespaces (as root)."""
    programs = os.path.join(os.environ.get("WAFT_INTEROP", os.path.join(places.root, ".build/interop")), "localsend/bin")
    if os.geteuid() != 0 or not os.access(os.path.join(programs, "localsendd"), os.X_OK):
        return print("\nlocalsend: NOT MEASURED: it needs root, and localsendd as Scripts/setup-interop installs it",
                     file=sys.stderr)
    daemon = Daemon(places, programs)
    path = places.file("localsend.bin", BYTES // places.divisor)

    def to_localsendd():
        surroundings = {**environment(places.sender), "WAFT_DISCOVERY": "true"}
        words = daemon.on("kitchen", places.waft, "send", path, "--to", "py", "--quiet")
        began = time.monotonic()
        figures = Measured(words, env=surroundings).usage("sender")
        figures["wall"] = time.monotonic() - began
        arrived = os.path.join(daemon.arrived, os.path.basename(path))
        if os.path.getsize(arrived) != BYTES // places.divisor:
            raise SystemExit("bench: it did not arrive")
        os.unlink(arrived)
        return figures

    def from_localsendd():
        home = places.home("receiver", places.memory)
        surroundings = {**environment(home), "WAFT_DISCOVERY": "true"}
        words = [places.waft, "receive", "--accept", "everyone", "--name", "Kitchen", "--once", "--json"]
        receiver = Measured(daemon.on("kitchen", *words), env=surroundings, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
        daemon.find("Kitchen")
        began = time.monotonic()
        sent = daemon.control("send", path, "--to", "Kitchen", "--wait", "--quiet")
        if sent.returncode != 0:
            raise SystemExit(f"bench: it was not sent: {sent.stdout}{sent.stderr}")
        figures = {"wall": time.monotonic() - began, **receiver.usage("receiver")}
        places.discard(home)
        return figures

    yield "1 GiB by LocalSend", {"localsendd to waft": from_localsendd, "waft to localsendd": to_localsendd}
