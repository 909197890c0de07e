"""The fault harness. Scripts/soak starts it, and the tests start a short form of it."""

import argparse
import errno
import filecmp
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from proxy import Plan, Proxy

MIB = 1 << 20
TRIES = 60


class Broken(Exception):
    """A broken promise of Waft."""


class Receiver:
    """The receiver under test, which is started again after each kill."""

    def __init__(self, program, home):
        self.program, self.home, self.process, self.port = program, home, None, 0

    def start(self):
        words = [self.program, "receive", "--accept", "everyone", "--json", "--port", str(self.port)]
        self.process = subprocess.Popen(words, env=surroundings(self.home), stdout=subprocess.PIPE,
                                        stderr=open(os.path.join(os.path.dirname(self.home), "receiver.log"), "a"))
        line = self.process.stdout.readline()
        if not line:
            raise Broken(f"the receiver does not start: exit {self.process.wait()}, see receiver.log")
        self.port = json.loads(line)["port"]
        threading.Thread(target=self._drain, args=(self.process.stdout,), daemon=True).start()

    @staticmethod
    def _drain(pipe):
        while pipe.read1(65_536):
            pass

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


def surroundings(home):
    return {**os.environ, "WAFT_HOME": home, "WAFT_DISCOVERY": "false", "WAFT_LOG_LEVEL": "warning"}


class SmallDisk:
    """A small disk that can be filled and made read-only; it needs root."""

    def __init__(self, path, size):
        self.path, self.filler = path, os.path.join(path, "filler")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "waft-soak", path], check=True)

    def fill(self, rng):
        spare = rng.randrange(0, 24 * MIB)
        with open(self.filler, "wb") as file:
            while True:
                try:
                    return os.posix_fallocate(file.fileno(), 0, max(shutil.disk_usage(self.path).free - spare, 4096))
                except OSError as error:
                    # The receiver of the transfer before may still write, or is about to remove its parts.
                    if error.errno != errno.ENOSPC:
                        raise
                    time.sleep(0.01)

    def empty(self):
        if os.path.exists(self.filler):
            os.unlink(self.filler)

    def remount(self, mode, within=0.5):
        """The disk is busy while a program writes to it, so this tries for a while. Returns whether it succeeded."""
        end = time.monotonic() + within
        while True:
            if subprocess.run(["mount", "-o", f"remount,{mode}", self.path], capture_output=True).returncode == 0:
                return True
            if time.monotonic() > end:
                return False
            time.sleep(0.01)

    def remove(self):
        subprocess.run(["umount", "-l", self.path], check=True)


class Link:
    """The loopback of a network namespace for this test: it can go down, and lose packets."""

    LOSS = ["INPUT", "-i", "lo", "-p", "tcp", "-m", "statistic", "--mode", "random", "--probability"]

    def down(self, seconds):
        subprocess.run(["ip", "link", "set", "lo", "down"], check=True)
        time.sleep(seconds)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)

    def lose(self, share, seconds):
        rule = [*self.LOSS, str(share), "-j", "DROP"]
        subprocess.run(["iptables", "-A", *rule], check=True)
        time.sleep(seconds)
        subprocess.run(["iptables", "-D", *rule], check=True)


class Soak:
    def __init__(self, options, folder):
        self.rng, self.options, self.folder = random.Random(options.seed), options, folder
        self.disk = self.link = None
        home = os.path.join(folder, "home")
        # The disk of the Inbox and of staging. The journal is elsewhere, so it does not keep this disk busy.
        os.makedirs(disk := os.path.join(home, "Documents"))
        if os.geteuid() == 0:
            self.disk, self.link = SmallDisk(disk, "1g"), Link()
        else:
            print("soak: NOT ROOT: full and read-only disks, dead and lossy links are NOT TRIED", flush=True)
        self.receiver = Receiver(options.program, home)
        self.proxy = Proxy()
        self.sender_home = os.path.join(folder, "sender")
        self.counts, self.faults, self.rounds, self.sends = {}, 0, 0, 0
        self.expected = []

    def happened(self, what):
        self.faults += 1
        self.counts[what] = self.counts.get(what, 0) + 1

    # The sent items

    def make(self):
        """New items to send: paths, and the bytes of all of them."""
        base = os.path.join(self.folder, "source", f"round-{self.rounds}")
        os.makedirs(base)
        kind = self.rng.choice(["file", "tree", "several"])
        largest = self.options.largest * MIB
        if kind == "file":
            paths = [self.file(base, f"file-{self.rounds}.bin", self.rng.randrange(largest // 2, largest))]
        elif kind == "tree":
            tree = os.path.join(base, f"tree-{self.rounds}")
            for folder in range(self.rng.randrange(1, 8)):
                inside = os.path.join(tree, f"folder {folder}", "deeper")
                os.makedirs(inside)
                for number in range(self.rng.randrange(0, 60)):
                    self.file(inside, f"{number}.dat", self.rng.choice([0, 1, 700, 20_000, 1_500_000]))
            paths = [tree]
        else:
            paths = [self.file(base, f"item-{self.rounds}-{number}", self.rng.choice([0, 3_000, 400_000, 6 * MIB]))
                     for number in range(self.rng.randrange(2, 12))]
        size = sum(os.path.getsize(os.path.join(at, name)) for path in paths
                   for at, _, names in (os.walk(path) if os.path.isdir(path) else [(base, 0, [os.path.basename(path)])])
                   for name in names)
        return base, paths, size

    def file(self, folder, name, size):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(self.rng.randbytes(size))
        return path

    # One transfer, until it has arrived

    def round(self):
        base, paths, size = self.make()
        for attempt in range(TRIES):
            # A few faults for each transfer, then none: the result at the end counts.
            calm = attempt >= 6 or self.faults >= self.options.faults
            code = self.attempt(paths, size, calm)
            if code == 0:
                break
            if calm and code not in (11, 14, 15):
                raise Broken(f"{paths} ended with {code} though nothing was wrong any more")
        else:
            raise Broken(f"{paths} did not come in {TRIES} tries")
        self.check(paths)
        shutil.rmtree(base)
        self.rounds += 1

    def attempt(self, paths, size, calm):
        """One run of `waft send` with a fault; returns its exit code."""
        fault = None if calm else self.rng.choice(
            ["network", "network", "network", "kill receiver", "kill sender"]
            + (["disk full", "read-only", "link down", "packet loss"] if self.disk else []))
        if fault == "network":
            self.proxy.arm(plan := Plan(self.rng, size))
        words = [self.options.program, "send", *paths, "--to", f"127.0.0.1:{self.proxy.port}", "--timeout",
                 "20" if calm else "4", "--quiet"]
        before = self.proxy.happened
        if fault == "disk full":
            self.disk.fill(self.rng)
        is_read_only = fault == "read-only" and self.disk.remount("ro")
        self.sends += 1
        sender = subprocess.Popen(words, env=surroundings(self.sender_home), stdout=subprocess.DEVNULL,
                                  stderr=open(os.path.join(self.folder, "sender.log"), "a"))
        moment = self.rng.uniform(0, 0.05 + size / (600 * MIB))
        if fault == "kill sender":
            time.sleep(moment)
            sender.send_signal(signal.SIGKILL)
            self.happened(fault)
        elif fault == "kill receiver":
            time.sleep(moment)
            self.receiver.kill()
            self.happened(fault)
            self.receiver.start()
        elif is_read_only:
            self.happened(fault)
            time.sleep(self.rng.uniform(0.1, 1.5))
            if not self.disk.remount("rw", within=5):
                raise Broken("the disk cannot be made writable again")
        elif fault == "link down":
            time.sleep(moment)
            self.happened(fault)
            self.link.down(self.rng.uniform(0.1, 1.5))
        elif fault == "packet loss":
            self.happened(fault)
            self.link.lose(self.rng.choice([0.05, 0.3]), self.rng.uniform(0.3, 2))
        elif fault == "disk full":
            self.happened(fault)
            time.sleep(self.rng.uniform(0.1, 1.5))
            self.disk.empty()
        try:
            code = sender.wait(timeout=120)
        except subprocess.TimeoutExpired:
            sender.kill()
            raise Broken(f"waft send hangs after: {fault}") from None
        if fault == "network":
            self.proxy.disarm()
            if self.proxy.happened > before:
                self.happened(f"network: {plan.kind}")
        return code

    # Checks

    @property
    def inbox(self):
        return os.path.join(self.receiver.home, "Documents/Inbox")

    def check(self, paths):
        """Each item is there once and as it was sent, and nothing else. Then it is removed, to free the disk."""
        names = sorted(os.path.basename(path) for path in paths)
        there = sorted(name for name in os.listdir(self.inbox) if not name.startswith(".waft"))
        if there != names:
            raise Broken(f"in the Inbox are {there}, and should be {names}")
        for path in paths:
            stored = os.path.join(self.inbox, os.path.basename(path))
            if not same(path, stored):
                raise Broken(f"{stored} is not what was sent")
        self.expected += names
        for name in names:
            stored = os.path.join(self.inbox, name)
            shutil.rmtree(stored) if os.path.isdir(stored) else os.unlink(stored)

    def finish(self):
        """Nothing is left behind, and the journal has each arrival once."""
        self.receiver.stop()
        staging = os.path.join(os.path.dirname(self.inbox), ".waft-staging/Inbox")
        left = [name for name in os.listdir(staging) if name != "lock"]
        if left:
            raise Broken(f"left in staging: {left}")
        history = subprocess.run([self.options.program, "history", "--json", "--limit", "100000"],
                                 env=surroundings(self.receiver.home), capture_output=True, text=True, check=True)
        known = sorted(json.loads(line)["stored"] for line in history.stdout.splitlines())
        if known != sorted(self.expected):
            twice = sorted({name for name in known if known.count(name) > 1})
            raise Broken(f"the journal has {len(known)} arrivals and should have {len(self.expected)}; twice: {twice}")

    def run(self):
        self.receiver.start()
        self.proxy.target = self.receiver.port
        began = time.monotonic()
        while self.faults < self.options.faults:
            self.round()
            print(f"soak: {self.faults} of {self.options.faults} faults, {self.rounds} transfers   ", end="\r",
                  file=sys.stderr, flush=True)
        self.finish()
        seconds = time.monotonic() - began
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items()))
        print(f"soak: {self.faults} faults ({kinds}) over {self.rounds} transfers of {len(self.expected)} items, "
              f"{self.sends} sends, {seconds:.0f} s; each item came once and whole, nothing was left", flush=True)

    def close(self):
        if self.receiver.process:
            self.receiver.stop()
        if self.disk:
            self.disk.remove()


def same(first, second):
    if os.path.isfile(first):
        return os.path.isfile(second) and filecmp.cmp(first, second, shallow=False)
    comparison = [(at[len(first):], sorted(folders), sorted(names)) for at, folders, names in os.walk(first)]
    other = [(at[len(second):], sorted(folders), sorted(names)) for at, folders, names in os.walk(second)]
    return sorted(comparison) == sorted(other) and all(
        filecmp.cmp(first + at + "/" + name, second + at + "/" + name, shallow=False)
        for at, _, names in comparison for name in names)


def main():
    parser = argparse.ArgumentParser(prog="Scripts/soak")
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--faults", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--largest", type=int, default=200, help="MiB of the largest file")
    parser.add_argument("--keep", action="store_true", help="leave everything where it is when something is broken")
    options = parser.parse_args()
    if os.geteuid() == 0 and "WAFT_SOAK_NAMESPACE" not in os.environ:
        # Links are broken only in a network namespace for this test.
        os.environ["WAFT_SOAK_NAMESPACE"] = "1"
        os.execvp("unshare", ["unshare", "--net", sys.executable, os.path.abspath(sys.argv[0]), *sys.argv[1:],
                              "--seed", str(options.seed)])
    if os.geteuid() == 0:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    print(f"soak: seed {options.seed}", flush=True)
    folder = tempfile.mkdtemp(prefix="waft-soak-")
    soak = Soak(options, folder)
    broken = False
    try:
        soak.run()
    except Broken as reason:
        broken = True
        print(f"soak: BROKEN after {soak.faults} faults, seed {options.seed}: {reason}", flush=True)
        for log in ["sender.log", "receiver.log"]:
            path = os.path.join(folder, log)
            if os.path.exists(path):
                with open(path, errors="replace") as file:
                    print(f"--- {log}\n{''.join(file.readlines()[-15:])}", flush=True)
    finally:
        if broken and options.keep:
            soak.receiver.stop()
            print(f"soak: all of it is in {folder}")
        else:
            soak.close()
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
