"""Cuts the power of the receiver's disk after every system call. `Scripts/soak --power-cut` starts this program, and the
tests start a short form of it.

One transfer is recorded. From the record a model of a disk (`modeldisk.py`) makes the disks that a power cut at each moment
could leave, and a real receiver is started on them. Every item in the Inbox must be whole and in the journal. Every item of
which the sender has a receipt must be there. Every missing item must arrive when it is sent again."""

import argparse
import copy
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time

import crash
from crash import Broken, Receiver, World, free_port, read_log
from modeldisk import ModelDisk, lay_out

# An answer of more bytes may be a receipt; a shorter one is the end of the connection.
RECEIPT = 100
# A step that never happens.
UNTIL_THE_END = 1_000_000


class Killed(crash.First):
    """As `First`, on the disk of an earlier receiver. The receiver is killed between the name in the Inbox and its sync, and
    the next receiver gives the receipt."""

    def make(self, source):
        return {crash.write(source, "killed.bin", 20_000): "killed.bin"}

    def prepare(self, world, home):
        world.start_once(home)


COURSES = [crash.First, crash.Several, crash.Resumed, crash.Below, Killed]


class Record:
    """The steps of one course's receivers, and the moment at which the receipt is sent."""

    def __init__(self, world):
        self.world, self.lines = world, []
        steps = []
        if isinstance(world.course, Killed):
            calls, _ = world.crash(UNTIL_THE_END, True)
            # At its start the receiver also tries what the disk can.
            steps = [number for number, call in enumerate(calls, 1)
                     if call["call"] == "rename" and crash.place(call) == "Inbox"]
        self.home = os.path.join(world.folder, "home")
        shutil.rmtree(self.home, ignore_errors=True)
        crash.copy(world.template, self.home)
        self.disk = ModelDisk(self.home)
        for step in [*steps, UNTIL_THE_END]:
            self.run(step)
        said = [index for index, line in enumerate(self.lines)
                if line["call"] == "say" and int(line["size"]) > RECEIPT]
        self.receipt = said[-1]

    def run(self, step):
        log, port = os.path.join(self.world.folder, "steps"), free_port()
        receiver = Receiver(self.world, self.home, port, stop_after=step, log=log)
        if not receiver.is_ready():
            raise Broken("the receiver does not start")
        sender = self.world.send(port)
        if step == UNTIL_THE_END:
            self.world.expect_sent(sender, "of which the record is made")
            receiver.stop()
        else:
            receiver.end()
            sender.kill()
            sender.communicate()
        lines = read_log(log, with_beginnings=True)
        if step != UNTIL_THE_END and lines[-1]["call"] != "rename":
            raise Broken(f"killed at {lines[-1]}, and should have been after the rename")
        self.lines += lines


def without(lines, planted):
    """The record of a faulty receiver that omits a sync."""
    first = next(index for index, line in enumerate(lines) if crash.place(line) == "staging" and line["call"] == "create")
    place, calls = {"contents": ("staging", ("fsync", "syncfs")), "names": ("Inbox", ("fsync",)),
                    "journal": ("journal", ("fdatasync",))}[planted]
    return [line for index, line in enumerate(lines)
            if index < first or line["n"] == "0" or line["call"] not in calls or crash.place(line) != place]


class PowerCut:
    def __init__(self, options, folder):
        self.options, self.folder, self.rng = options, folder, random.Random(options.seed)
        self.states, self.starts, self.moments, self.broken = 0, 0, 0, []

    def run(self):
        began = time.monotonic()
        for course in COURSES:
            if self.options.course in (None, course.__name__.lower()):
                self.course(course)
        end = f"{len(self.broken)} BROKEN" if self.broken else (
            "what was said to be there was there, and everything came once")
        print(f"power cut: {self.states} states of the disk at {self.moments} moments, {self.starts} receivers started on "
              f"them, {time.monotonic() - began:.0f} s; {end}", flush=True)

    def course(self, course):
        random.seed(f"{self.options.seed} {course.__name__}")
        os.makedirs(folder := os.path.join(self.folder, course.__name__))
        world = World(self.options.program, self.options.stopper, course, folder)
        record = Record(world)
        if course is crash.Several and self.options.self_test:
            for planted in ("contents", "names", "journal"):
                self.expect_found(record, planted)
        states = list(self.all_states(record.disk, record.lines, record.receipt))
        chosen = {state[2] for state in self.choose(states)}
        for left, is_said, when in states:
            self.states += 1
            try:
                there = self.look(record, left, is_said, f"power cut at {when}")
                if when in chosen:
                    self.starts += 1
                    self.go_on(record, there, f"power cut at {when}")
            except Broken as reason:
                self.broken.append(reason)
                print(f"power cut: BROKEN, seed {self.options.seed}: {course.__name__}: {reason}", flush=True)
                if self.options.keep or len(self.broken) >= crash.MOST_BROKEN:
                    raise
        print(f"power cut: {course.__name__}: {len(record.lines)} lines, {self.states} states so far", file=sys.stderr,
              flush=True)

    def look(self, record, left, is_said, when):
        """Checks the remaining disk before a restart. Returns the items in the Inbox."""
        world, home = record.world, record.home
        shutil.rmtree(home, ignore_errors=True)
        renumber(home, lay_out(left, home))
        there = world.check_as_it_lies(home, when)
        if is_said and len(there) != len(world.items):
            raise Broken(f"the sender was told that all is there, and there are only {there}, {when}")
        return there

    def go_on(self, record, there, when):
        """Starts a receiver on that disk, and sends again."""
        world, home, port = record.world, record.home, free_port()
        receiver = Receiver(world, home, port)
        try:
            if not receiver.is_ready():
                raise Broken(f"the receiver does not start, {when}: {open(receiver.errors).read()}")
            again = world.check_after_restart(home, when, is_sender_gone=True)
            if len(again) != len(there):
                raise Broken(f"there were {there}, and after the restart {again}, {when}")
            world.expect_sent(world.send(port), f"called again, {when}")
            receiver.stop()
            world.check_end(home, when)
        finally:
            if receiver.process.poll() is None:
                receiver.process.kill()
                receiver.process.wait()

    def choose(self, states):
        """The states on which a receiver is started: all, or a sample and a few of the states after the receipt."""
        if not self.options.sample or len(states) <= self.options.sample:
            return states
        said = [state for state in states if state[1]]
        return self.rng.sample(states, self.options.sample) + self.rng.sample(said, min(2, len(said)))

    def all_states(self, disk, lines, receipt):
        """The possible disks after each line, each once: the disk, whether the receipt was sent, and the moment."""
        known, disk = set(), copy.deepcopy(disk)
        for index, line in enumerate(lines):
            disk.see(line)
            if line["n"] == "0":
                continue
            self.moments += 1
            is_said = index >= receipt
            names = len(disk.pending)
            choices = [(0, "none"), (names, "none"), (names, "zeros"), (0, "all")]
            for _ in range(2):
                choices.append((self.rng.randint(0, names), self.some()))
            for number, (names, data) in enumerate(choices):
                left = disk.left(names, data)
                state = hash((is_said, *sorted((path, left[path][:2]) for path in left if not path.endswith("-shm"))))
                if state not in known:
                    known.add(state)
                    yield left, is_said, f"line {index}, {line['call']} {line['path']}, choice {number}"

    def some(self):
        """Selects a part of the unsynced bytes of each file."""
        seed = self.rng.random()

        def data(node):
            rng = random.Random(f"{seed} {node.inode}")
            kind = rng.choice(["none", "all", "zeros", "some"])
            return (lambda number: random.Random(f"{seed} {number}").random() < 0.5) if kind == "some" else kind
        return data

    def expect_found(self, record, planted):
        lines = without(record.lines, planted)
        receipt = lines.index(record.lines[record.receipt])
        for left, is_said, when in self.all_states(record.disk, lines, receipt):
            try:
                self.look(record, left, is_said, when)
            except Broken as reason:
                print(f"power cut: planted, {planted} not synced: {reason}", flush=True)
                return
        raise Broken(f"the model finds nothing wrong with a receiver that does not sync: {planted}")


def renumber(home, inodes):
    """Writes the new inodes into the journal: files on the new disk have other inodes than in the record. The disk itself
    gets another number, as it may get after a reboot."""
    path = os.path.join(home, "state/journal.sqlite")
    if not os.path.exists(path):
        return
    with tempfile.TemporaryDirectory() as copied:
        for end in ("", "-wal", "-journal"):
            if os.path.exists(path + end):
                shutil.copy(path + end, copied)
        if not unsettled(os.path.join(copied, "journal.sqlite")):
            return
    database = sqlite3.connect(path)
    for number, inode in unsettled(path):
        database.execute("UPDATE arrivals SET inode = ?, device = 4711 WHERE number = ?", (inodes.get(inode, 0), number))
    database.commit()
    database.close()


def unsettled(path):
    database = sqlite3.connect(path)
    try:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'arrivals'").fetchone():
            return []
        return database.execute("SELECT number, inode FROM arrivals WHERE stored_path IS NULL").fetchall()
    finally:
        database.close()


def main():
    parser = argparse.ArgumentParser(prog="Scripts/soak --power-cut")
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--stopper", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--sample", type=int, default=0, help="receivers are started on so many states of each course; 0, the default, for all")
    parser.add_argument("--course", choices=[course.__name__.lower() for course in COURSES])
    parser.add_argument("--self-test", action="store_true", help="also see that planted faults are found")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--keep", action="store_true", help="leave everything where it is when something is broken")
    options = parser.parse_args()
    print(f"power cut: seed {options.seed}", flush=True)
    folder = tempfile.mkdtemp(prefix="waft-power-")
    broken = False
    try:
        simulation = PowerCut(options, folder)
        simulation.run()
        broken = bool(simulation.broken)
    except Broken as reason:
        broken = True
        print(f"power cut: stopped: {reason}", flush=True)
    finally:
        if broken and options.keep:
            print(f"power cut: all of it is in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
