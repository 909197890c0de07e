"""LocalSend: each way with localsendd, an implementation by others."""

import os
import subprocess
import sys
import time

from contestants import Measured, end, environment
from lab import Lab

BYTES = 1 << 30


class Daemon:
    """localsendd on a host, under the host's name."""

    def __init__(self, lab, host, places, programs):
        self.lab, self.host, self.programs = lab, host, programs
        home = places.home(f"{host}-py")
        self.arrived = places.home(f"{host}-arrived", places.memory)
        self.socket = os.path.join(home, "sock")
        folders = {name: home for name in ["HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"]}
        words = ["--alias", host, "--download-dir", self.arrived, "--socket", self.socket, "--encryption", "--unattended"]
        self.process = subprocess.Popen(
            lab.on(host, os.path.join(programs, "localsendd"), *words), env={**os.environ, **folders},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        places.on_close(self.end)
        while self.control("status").returncode != 0:
            time.sleep(0.05)

    def end(self):
        end(self.process)

    def control(self, *words):
        program = os.path.join(self.programs, "localsendctl")
        return subprocess.run(self.lab.on(self.host, program, "--socket", self.socket, *words), capture_output=True, text=True)

    def send(self, path, to):
        """The seconds that it takes, once the other one is found."""
        while to not in self.control("devices", "--scan", "--wait-for", "0.2").stdout:
            pass
        began = time.monotonic()
        sent = self.control("send", path, "--to", to, "--wait", "--quiet")
        if sent.returncode != 0:
            raise SystemExit(f"bench: it was not sent: {sent.stdout}{sent.stderr}")
        return time.monotonic() - began

    def check(self, path, size):
        """Removes what has arrived."""
        arrived = os.path.join(self.arrived, os.path.basename(path))
        if os.path.getsize(arrived) != size:
            raise SystemExit("bench: it did not arrive")
        os.unlink(arrived)


def localsend(places):
    """1 GiB by LocalSend, each way with localsendd, and localsendd with itself, between two namespaces (as root)."""
    programs = os.path.join(os.environ.get("WAFT_INTEROP", os.path.join(places.root, ".build/interop")), "localsend/bin")
    if os.geteuid() != 0 or not os.access(os.path.join(programs, "localsendd"), os.X_OK):
        return print("\nlocalsend: NOT MEASURED: it needs root, and localsendd as Scripts/setup-interop installs it",
                     file=sys.stderr)
    lab, size = Lab(places, "localsend"), BYTES // places.divisor
    study = Daemon(lab, "study", places, programs)
    path = places.file("localsend.bin", size)

    def from_waft():
        surroundings = {**environment(places.sender), "WAFT_DISCOVERY": "true"}
        to = lab.ADDRESSES["study"] + ":53317"
        began = time.monotonic()
        figures = Measured(lab.on("kitchen", places.waft, "send", path, "--to", to, "--quiet"), env=surroundings).usage("sender")
        figures["wall"] = time.monotonic() - began
        study.check(path, size)
        return figures

    def to_waft():
        home = places.home("receiver", places.memory)
        surroundings = {**environment(home), "WAFT_DISCOVERY": "true"}
        words = [places.waft, "receive", "--accept", "everyone", "--name", "waft", "--once", "--json"]
        receiver = Measured(lab.on("kitchen", *words), env=surroundings, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
        figures = {"wall": study.send(path, "waft"), **receiver.usage("receiver")}
        places.discard(home)
        return figures

    def others():
        kitchen = Daemon(lab, "kitchen", places, programs)
        figures = {"wall": kitchen.send(path, "study")}
        kitchen.end()
        study.check(path, size)
        return figures

    yield "1 GiB by LocalSend", {
        "localsendd to localsendd": others, "localsendd to waft": to_waft, "waft to localsendd": from_waft}
