"""Stops the receiver after every system call that changes the disk. `Scripts/soak --crash` starts this program, and the tests
start a short form of it.

A transfer is made again and again. Each time `disk-steps` kills the receiver one call later, between its start and its
orderly end. Then this program checks the disk as the crash left it, starts the receiver again, and completes the transfer.
The checks are `World.check_*`."""

import argparse
import filecmp
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

PATIENCE = 60
# The exit code for a peer that cannot be reached, or not any more.
UNREACHABLE = 11
# Stop after this many broken promises.
MOST_BROKEN = 30


class Broken(Exception):
    """A broken promise of Waft."""


def surroundings(home, **more):
    return {**os.environ, "WAFT_HOME": home, "WAFT_DISCOVERY": "off", "WAFT_LOG_LEVEL": "warning", **more}


def same(first, second):
    """Whether two files or trees are the same, links and empty folders included."""
    if os.path.islink(first) or os.path.islink(second):
        return os.path.islink(first) and os.path.islink(second) and os.readlink(first) == os.readlink(second)
    if os.path.isdir(first) and os.path.isdir(second):
        names = sorted(os.listdir(first))
        return names == sorted(os.listdir(second)) and all(
            same(os.path.join(first, name), os.path.join(second, name)) for name in names)
    return os.path.isfile(first) and os.path.isfile(second) and filecmp.cmp(first, second, shallow=False)


def same_sealed(clear, sealed, key):
    """Whether a sealed file or tree holds these contents, by the program age and a private key."""
    if os.path.isdir(clear) and os.path.isdir(sealed):
        names = {name if os.path.isdir(os.path.join(clear, name)) else name + ".age": name for name in os.listdir(clear)}
        return sorted(names) == sorted(os.listdir(sealed)) and all(
            same_sealed(os.path.join(clear, name), os.path.join(sealed, on_disk), key) for on_disk, name in names.items())
    if not os.path.isfile(clear) or not os.path.isfile(sealed):
        return False
    opened = subprocess.run(["age", "-d", "-i", key, sealed], capture_output=True)
    with open(clear, "rb") as file:
        return opened.returncode == 0 and opened.stdout == file.read()


def free_port():
    """A port that the kernel gives to no program by itself: its own ports begin at 32768."""
    while True:
        try:
            with socket.create_server(("127.0.0.1", random.randrange(10_240, 32_768))) as probe:
                return probe.getsockname()[1]
        except OSError:
            continue


class Receiver:
    """A running receiver, perhaps under the program that stops it."""

    def __init__(self, world, home, port, stop_after=None, log=None):
        words = [world.program, "receive", "--json", "--port", str(port), "--accept", world.course.accept]
        if stop_after is not None:
            words = [world.stopper, "--below", home, "--log", log, "--stop-after", str(stop_after), "--rename2",
                     "yes" if world.course.has_rename2 else "no", "--", *words]
        self.errors = os.path.join(world.folder, "receiver.log")
        self.process = subprocess.Popen(words, env=surroundings(home, **world.course.settings(world)),
                                        stdout=subprocess.PIPE, stderr=open(self.errors, "w"))

    def is_ready(self):
        """Waits until it is ready; False if it ended before."""
        for line in self.process.stdout:
            if json.loads(line)["event"] == "ready":
                return True
        return False

    def end(self):
        """Waits until it ends by itself; returns its exit code."""
        self.process.stdout.read()
        return self.process.wait(timeout=PATIENCE)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        return self.end()


class Course:
    """One kind of transfer: the sent items, and the receiver's disk before the transfer."""

    accept = "everyone"
    # Whether the file system has a rename that refuses to replace.
    has_rename2 = True
    # Whether what arrives is sealed.
    seals = False

    def settings(self, world):
        return {}

    def make(self, source):
        """Makes the items to send: paths, and the names that they get in the Inbox."""
        raise NotImplementedError

    def prepare(self, world, home):
        """Prepares the disk of the stopped receiver: another receiver has run there before."""
        world.start_once(home)


class First(Course):
    """The first start of all, and one file: everything is made."""

    def make(self, source):
        return {write(source, "first.bin", 20_000): "first.bin"}

    def prepare(self, world, home):
        pass


class Several(Course):
    """A file whose name is taken, a tree and an empty file; an arbiter consents, and a hook is called."""

    accept = "ask"

    def settings(self, world):
        return {"WAFT_ARBITER": os.path.join(world.folder, "arbiter"), "WAFT_HOOK": os.path.join(world.folder, "hook"),
                "WAFT_HOOK_WRITABLE": world.hooked, "WAFT_HOOK_TIMEOUT": "30"}

    def make(self, source):
        tree = os.path.join(source, "tree")
        os.makedirs(os.path.join(tree, "inner/deep"))
        os.makedirs(os.path.join(tree, "empty folder"))
        write(tree, "one", 700)
        write(tree, "inner/deep/two", 3_000)
        write(tree, "inner/none", 0)
        os.symlink("../one", os.path.join(tree, "inner/link"))
        return {write(source, "note.txt", 90_000): "note-1.txt", tree: "tree", write(source, "empty.dat", 0): "empty.dat"}

    def prepare(self, world, home):
        world.start_once(home)
        write(world.inbox(home), "note.txt", 50)


class Resumed(Course):
    """A file of which an earlier transfer has left a part, and one of which only the end is missing."""

    def make(self, source):
        return {write(source, "large.bin", 2_500_000): "large.bin", write(source, "small.bin", 5_000): "small.bin"}

    def prepare(self, world, home):
        world.start_once(home)
        world.leave_partial(home)


class Below(Course):
    """A tree and a file that a rule of the user moves to folders below the Inbox."""

    def make(self, source):
        tree = os.path.join(source, "many")
        # More files than are synced one by one.
        for number in range(20):
            write(tree, f"{number % 3}/{number}", number * 100)
        return {tree: "New/Deep/many", write(source, "below.bin", 4_000): "New/Deep/below.bin"}

    def prepare(self, world, home):
        world.start_once(home)
        with open(os.path.join(home, "config/config.yaml"), "w") as file:
            file.write("policy:\n- {then: accept, folder: New/Deep}\n")


class Linked(Several):
    """As `Several`, on a file system whose rename cannot refuse to replace."""

    has_rename2 = False


class Sealed(Course):
    """Files and a tree that are sealed on the disk, received while unlocked; one name is taken."""

    seals = True

    def make(self, source):
        tree = os.path.join(source, "tree")
        os.makedirs(os.path.join(tree, "empty folder"))
        write(tree, "inner/one", 700)
        write(tree, "two", 70_000)
        return {write(source, "note.txt", 200_000): "note-1.txt.age", tree: "tree",
                write(source, "empty.dat", 0): "empty.dat.age"}

    def prepare(self, world, home):
        made = subprocess.run(["age-keygen", "-o", world.key], check=True, capture_output=True, text=True)
        recovery = made.stderr.split()[-1]
        world.with_passphrase(home, "protection", "set-up", "--class", "unlessOpen", "--recovery", recovery)
        world.start_once(home)
        write(world.inbox(home), "note.txt", 50)


COURSES = [First, Several, Resumed, Below, Linked, Sealed]
# Each unlock takes a second: not in a sample of all courses.
SLOW = [Sealed]


def copy(home, to):
    """Copies the disk of a receiver, without the socket on which it listened."""
    shutil.copytree(home, to, symlinks=True, ignore=shutil.ignore_patterns("control"))


def write(folder, name, size):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(random.randbytes(size))
    return path


class World:
    """Sender and receivers of one course, and their checks."""

    def __init__(self, program, stopper, course, folder):
        self.program, self.stopper, self.course, self.folder = program, stopper, course(), folder
        self.hooked, self.key = os.path.join(folder, "hooked"), os.path.join(folder, "key.txt")
        os.makedirs(self.hooked)
        self.script("arbiter", "#!/bin/sh\nexit 0\n")
        self.script("hook", f"#!/bin/sh\necho \"$WAFT_NAME\" >> '{self.hooked}/record'\n")
        self.items = self.course.make(os.path.join(folder, "source"))
        self.sender_home = os.path.join(folder, "sender")
        self.template = os.path.join(folder, "template")
        os.makedirs(self.template)
        self.course.prepare(self, self.template)
        self.before = set(self.inbox_contents(self.template))

    def script(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def start_once(self, home):
        receiver = Receiver(self, home, free_port())
        if not receiver.is_ready():
            raise Broken("the receiver does not start")
        receiver.stop()

    def with_passphrase(self, home, *words):
        """Runs a command that asks for the passphrase."""
        read, write_end = os.pipe()
        os.write(write_end, b"five words drawn by lot\n")
        os.close(write_end)
        done = subprocess.run([self.program, *words, "--passphrase-fd", str(read)], env=surroundings(home),
                              pass_fds=[read], capture_output=True, text=True)
        os.close(read)
        return done.returncode

    def unlock(self, home):
        """The receiver may be dead by now: then nothing is unlocked, and nothing has to be."""
        if self.course.seals:
            self.with_passphrase(home, "unlock")

    def leave_partial(self, home):
        """Kills a receiver in the midst of the contents."""
        log, port = os.path.join(self.folder, "partial.log"), free_port()
        for step in range(20, 400, 4):
            attempt = home + "-attempt"
            copy(home, attempt)
            receiver = Receiver(self, attempt, port, stop_after=step, log=log)
            sender = self.send(port) if receiver.is_ready() else None
            receiver.end()
            if sender:
                sender.kill()
                sender.communicate()
            kept = [os.path.join(at, name) for at, _, names in os.walk(attempt) for name in names if name[:2] == "p-"]
            if any(os.stat(path).st_size > 500_000 for path in kept):
                shutil.rmtree(home)
                os.rename(attempt, home)
                return
            shutil.rmtree(attempt)
        raise Broken("no partial could be left")

    # Places

    @staticmethod
    def inbox(home):
        return os.path.join(home, "Documents/Inbox")

    def inbox_contents(self, home):
        """Paths of the items in the Inbox, below the Inbox, including those in the folders of the course."""
        found = []
        folders = {os.path.dirname(name) for name in self.items.values()}
        above = {folder[:end] for folder in folders for end in range(1, len(folder) + 1) if folder[end:end + 1] in ("", "/")}
        for folder in {"", *above}:
            at = os.path.join(self.inbox(home), folder)
            if os.path.isdir(at):
                found += [os.path.join(folder, name) for name in os.listdir(at) if name != ".waft-inbox"]
        return sorted(name for name in found if name not in above)

    @staticmethod
    def staged(home):
        staging = os.path.join(home, "Documents/.waft-staging/Inbox")
        return sorted(set(os.listdir(staging)) - {"lock"}) if os.path.isdir(staging) else []

    def journal(self, home):
        """Arrivals of the journal, read from a copy: offered names, paths, inodes and numbers."""
        state = os.path.join(home, "state")
        with tempfile.TemporaryDirectory(dir=self.folder) as copy:
            for name in ["journal.sqlite", "journal.sqlite-wal", "journal.sqlite-journal"]:
                if os.path.exists(os.path.join(state, name)):
                    shutil.copy(os.path.join(state, name), copy)
            database = sqlite3.connect(os.path.join(copy, "journal.sqlite"))
            try:
                if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'arrivals'").fetchone():
                    return []
                return database.execute("SELECT name, stored_path, inode, number FROM arrivals").fetchall()
            finally:
                database.close()

    # Checks

    def second_copies(self):
        """The names of second copies, with their items: a receiver that starts is locked, and cannot say then that it has
        a sealed item. A sender that goes on by itself sends it again (Protection.md)."""
        if not self.course.seals:
            return {}
        copies = {}
        for item, stored in self.items.items():
            clear, sealed = (stored[:-len(".age")], ".age") if stored.endswith(".age") else (stored, "")
            stem, suffix = os.path.splitext(clear)
            stem, _, number = stem.rpartition("-") if stem.rpartition("-")[2].isdigit() else (stem, "", "0")
            copies[f"{stem}-{int(number) + 1}{suffix}{sealed}"] = item
        return copies

    def check_inbox(self, home, when):
        """Every visible item in the Inbox is whole, and there once. Returns the names of the items."""
        there = []
        for name in self.inbox_contents(home):
            if name in self.before:
                continue
            path = os.path.join(self.inbox(home), name)
            if (item := self.second_copies().get(name)) and same_sealed(item, path, self.key):
                continue
            matching = [item for item, stored in self.items.items() if stored == name]
            if not matching:
                raise Broken(f"{name} is in the Inbox and should not be, {when}")
            if not (same_sealed(matching[0], path, self.key) if self.course.seals else same(matching[0], path)):
                raise Broken(f"{name} is in the Inbox and not whole, {when}")
            there.append(name)
        return there

    def check_as_it_lies(self, home, when):
        """Each item is wholly in the Inbox and in the journal, or not in the Inbox; there is no third state."""
        there = self.check_inbox(home, when)
        arrivals = self.journal(home)
        root = self.inbox(home)
        for name in there:
            path = os.path.join(root, name)
            inode = os.lstat(path).st_ino
            known = [row for row in arrivals if row[1] == path or (row[1] is None and row[2] == inode)]
            if len(known) != 1:
                raise Broken(f"{name} is in the Inbox, and {len(known)} times in the journal, {when}")
        for _, path, _, _ in arrivals:
            if path and os.path.relpath(path, root) in self.second_copies():
                continue
            if path and os.path.relpath(path, root) not in there:
                raise Broken(f"{path} is in the journal and not in the Inbox, {when}")
        return there

    def check_after_restart(self, home, when, is_sender_gone):
        there = self.check_as_it_lies(home, when)
        unsettled = [row for row in self.journal(home) if row[1] is None]
        # While a sender is active, its items appear and disappear here.
        if is_sender_gone:
            if unsettled:
                raise Broken(f"{len(unsettled)} arrivals are unsettled after the restart, {when}")
            staged = self.staged(home)
            foreign = [name for name in staged if name[:2] not in ("p-", "o-")]
            partials = [name for name in staged if name[:2] == "p-"]
            if foreign or len(partials) > len(self.items) - len(there):
                raise Broken(f"in staging are {staged} with {there} in the Inbox, after the restart, {when}")
            if len(there) == len(self.items) and staged:
                raise Broken(f"all is there, and in staging are still {staged}, after the restart, {when}")
        return there

    def check_end(self, home, when):
        """Every item is there once, and nothing else."""
        there = self.check_as_it_lies(home, when)
        if sorted(there) != sorted(self.items.values()):
            raise Broken(f"in the Inbox are {there} and should be {sorted(self.items.values())}, {when}")
        arrivals = [row for row in self.journal(home) if os.path.basename(row[1] or "") not in self.second_copies()]
        if len(arrivals) != len(self.items):
            raise Broken(f"the journal has {len(arrivals)} arrivals of {len(self.items)} items, {when}")
        if staged := self.staged(home):
            raise Broken(f"left in staging: {staged}, {when}")

    def check_hook(self, receiver, when):
        """The hook was called at least once for each item, wherever the receiver died, unless the receiver is dead now."""
        if "WAFT_HOOK" not in self.course.settings(self):
            return
        record, end = os.path.join(self.hooked, "record"), time.monotonic() + PATIENCE
        wanted = {os.path.basename(name) for name in self.items.values()}
        while time.monotonic() < end:
            called = set(open(record).read().splitlines()) if os.path.exists(record) else set()
            if called >= wanted or receiver.process.poll() is not None:
                return
            time.sleep(0.05)
        raise Broken(f"the hook was called for {called} and should have been for {wanted}, {when}")

    # One crash

    def send(self, port, timeout=30):
        words = [self.program, "send", *self.items, "--to", f"127.0.0.1:{port}", "--timeout", str(timeout), "--json"]
        return subprocess.Popen(words, env=surroundings(self.sender_home), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def expect_sent(self, sender, when):
        output = sender.communicate(timeout=PATIENCE)[0]
        if sender.returncode != 0:
            raise Broken(f"waft send ended with {sender.returncode}, {when}: {output}")

    def went_on(self, sender, when):
        """Waits for a sender that continues by itself; it does so only after an answer to its offer."""
        output = sender.communicate(timeout=PATIENCE)[0]
        if sender.returncode == UNREACHABLE and '"event":"answered"' not in output:
            return False
        if sender.returncode != 0:
            raise Broken(f"waft send, which was to go on, ended with {sender.returncode}, {when}: {output}")
        return True

    def crash(self, step, goes_on):
        """One transfer, with the receiver killed after a step.

        goes_on: whether the sender waits for the receiver to come back, or is killed too and started again.
        Returns the calls of that receiver up to its end, and whether it was killed."""
        home, log = os.path.join(self.folder, "home"), os.path.join(self.folder, "steps")
        shutil.rmtree(home, ignore_errors=True)
        copy(self.template, home)
        if os.path.exists(record := os.path.join(self.hooked, "record")):
            os.unlink(record)
        port = free_port()
        receiver = Receiver(self, home, port, stop_after=step, log=log)
        sender = restarted = None
        try:
            if receiver.is_ready():
                self.unlock(home)
                sender = self.send(port)
                while receiver.process.poll() is None and sender.poll() is None:
                    time.sleep(0.005)
                if sender.returncode == 0:
                    self.check_hook(receiver, "before any crash")
            code = receiver.stop()
            calls = read_log(log)
            if code != 128 + signal.SIGKILL:
                self.expect_sent(sender, "though nobody was killed")
                self.check_end(home, "though nobody was killed")
                return calls, False
            at = calls[-1]
            when = f"killed after step {step}, {at['call']} {at['path'].removeprefix(home)}"
            was_sent = sender is not None and sender.poll() == 0
            if sender and not goes_on:
                sender.kill()
            there = self.check_as_it_lies(home, when)
            if was_sent and len(there) != len(self.items):
                raise Broken(f"waft send ended with 0, and there are only {there}, {when}")
            restarted = Receiver(self, home, port)
            if not restarted.is_ready():
                raise Broken(f"the receiver does not start again, {when}: {open(restarted.errors).read()}")
            self.unlock(home)
            if not goes_on or sender is None or was_sent:
                self.check_after_restart(home, when, is_sender_gone=True)
            if not (sender and goes_on and self.went_on(sender, when)):
                self.expect_sent(self.send(port), f"called again, {when}")
            self.check_hook(restarted, when)
            self.expect_sent(self.send(port), f"called for the last time, {when}")
            restarted.stop()
            self.check_end(home, when)
            return calls, True
        finally:
            for process in [receiver.process, sender, restarted and restarted.process]:
                if process and process.poll() is None:
                    process.kill()
                    process.wait()


def read_log(path, with_beginnings=False):
    """The steps in the log of `disk-steps`, optionally with the lines at which syncs begin."""
    steps = []
    with open(path) as file:
        for line in file:
            fields = dict(field.split("=", 1) for field in line.split())
            fields["path"] = bytes.fromhex(fields.get("path", "")).decode(errors="replace")
            if fields["n"] != "0" or with_beginnings:
                steps.append(fields)
    return steps


def place(step):
    """The rough place of a call."""
    for part, name in [("/.waft-staging", "staging"), ("/Documents", "Inbox"), ("/state/journal", "journal")]:
        if part in step["path"]:
            return name
    return "sender" if step["call"] == "say" else "the rest"


class Simulation:
    def __init__(self, options, folder):
        self.options, self.folder, self.rng = options, folder, random.Random(options.seed)
        self.counts, self.kills, self.broken = {}, 0, []

    def run(self):
        began = time.monotonic()
        for course in COURSES:
            if self.options.course and course.__name__.lower() != self.options.course:
                continue
            if self.options.sample and course in SLOW and not self.options.course:
                continue
            random.seed(f"{self.options.seed} {course.__name__}")
            os.makedirs(folder := os.path.join(self.folder, course.__name__))
            world = World(self.options.program, self.options.stopper, course, folder)
            calls, _ = world.crash(1_000_000, True)
            for step, goes_on in self.plan(calls):
                self.crash(world, step, goes_on)
            print(f"crash: {course.__name__}: {len(calls)} calls, {self.kills} kills so far", file=sys.stderr, flush=True)
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items()))
        end = f"{len(self.broken)} BROKEN" if self.broken else "each item came once and whole, nothing was left"
        print(f"crash: {self.kills} kills ({kinds}), {time.monotonic() - began:.0f} s; {end}", flush=True)

    def plan(self, calls):
        """Every step, with a sender that continues and with a killed one; or a sample, with one call of each kind."""
        if not self.options.sample:
            # A few more steps than calls: not every run makes the same calls.
            return [(step, goes_on) for step in range(1, len(calls) + 10) for goes_on in (False, True)]
        kinds = {}
        for step, call in enumerate(calls, 1):
            kinds.setdefault((call["call"], place(call)), []).append(step)
        chosen = {}
        for (call, _), steps in kinds.items():
            if call not in self.counts:
                chosen.setdefault(call, []).extend(steps)
        plan = [self.rng.choice(steps) for steps in chosen.values()]
        plan += self.rng.sample(range(1, len(calls) + 1), min(self.options.sample, len(calls)))
        return [(step, self.rng.random() < 0.5) for step in plan]

    def crash(self, world, step, goes_on):
        try:
            calls, was_killed = world.crash(step, goes_on)
        except Broken as reason:
            self.broken.append(f"{world.course.__class__.__name__}: {reason}")
            print(f"crash: BROKEN, seed {self.options.seed}: {self.broken[-1]}", flush=True)
            if self.options.keep or len(self.broken) >= MOST_BROKEN:
                raise
            return
        if not was_killed:
            return
        self.kills += 1
        kind = f"{calls[-1]['call']} ({place(calls[-1])})" if not self.options.sample else calls[-1]["call"]
        self.counts[kind] = self.counts.get(kind, 0) + 1


def main():
    parser = argparse.ArgumentParser(prog="Scripts/soak --crash")
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--stopper", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--sample", type=int, default=0,
                        help="of each kind of call one, and so many more for each course; 0, the default, for all")
    parser.add_argument("--course", choices=[course.__name__.lower() for course in COURSES])
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--keep", action="store_true", help="leave everything where it is when something is broken")
    options = parser.parse_args()
    print(f"crash: seed {options.seed}", flush=True)
    folder = tempfile.mkdtemp(prefix="waft-crash-")
    broken = False
    try:
        simulation = Simulation(options, folder)
        simulation.run()
        broken = bool(simulation.broken)
    except Broken as reason:
        broken = True
        print(f"crash: stopped: {reason}", flush=True)
    finally:
        if broken and options.keep:
            print(f"crash: all of it is in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
