"""Runs the cases of Scripts/golden, and records or compares what they say."""

import difflib
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

here = pathlib.Path(__file__).parent
stage = pathlib.Path("/tmp/waft-golden")
seconds = 40

prelude = """
study() { WAFT_HOME=$STAGE/study waft "$@"; }
later() { local out=$STAGE/$1; shift; (study "$@" >$out 2>&1; echo "-- $?" >>$out) >/dev/null 2>&1 & }
ended() { wait_for "grep -q '^-- ' $STAGE/$1"; cat $STAGE/$1; }
wait_for() { local n; for n in {1..400}; do eval "$1" >/dev/null 2>&1 && return 0; sleep 0.05; done; return 1; }
"""


class Scene:
    """Cases that run one after another in the same homes."""

    def __init__(self, name):
        self.name, self.lines = name, []


def scenes():
    found, every = [], []
    for line in (here / "cases").read_text().splitlines():
        if not line.strip() or line.startswith("#") and not line.startswith("## "):
            continue
        if line.startswith("## "):
            found.append(Scene(line[3:].strip()))
            found[-1].lines += every
        elif not found:
            every.append(line)
        else:
            found[-1].lines.append(line)
    return found


def replacements():
    pairs = []
    for line in (here / "replacements").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, _, text = line.partition("\t")
            pairs.append((re.compile(pattern, re.M), text.strip()))
    return pairs


class Run:
    """One run of all cases: what each of them said, in the order of the cases."""

    def __init__(self, programs, identities):
        self.said, self.programs, self.identities = {}, programs, identities
        self.replacements = replacements()
        self.running = {}

    def environment(self):
        return {
            "PATH": f"{self.programs}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8", "TZ": "UTC",
            "HOME": str(stage / "home"), "STAGE": str(stage), "REPOSITORY": str(here.parent.parent), "WAFT_HOME": str(stage / "kitchen"),
            "WAFT_DISCOVERY": "off", "COLUMNS": "80", "EDITOR": "/bin/true", "USER": "root", "TERM": "xterm",
        }

    def keep(self, name, text):
        for pattern, replacement in self.replacements:
            text = pattern.sub(replacement, text)
        key, number = name, 2
        while key in self.said:
            key, number = f"{name}  #{number}", number + 1
        self.said[key] = text

    def shell(self, command):
        return ["bash", "-c", prelude + command]

    def case(self, scene, command):
        try:
            done = subprocess.run(
                self.shell(command), cwd=stage / "files", env=self.environment(), stdin=subprocess.DEVNULL,
                capture_output=True, timeout=seconds)
            text = (
                done.stdout.decode(errors="replace") + "--\n" + done.stderr.decode(errors="replace")
                + f"-- {done.returncode}\n")
        except subprocess.TimeoutExpired:
            text = f"-- no end after {seconds} s\n"
        self.keep(f"{scene} $ {command}", text)

    def terminal(self, scene, command):
        """A case at a terminal of 80 columns that nobody types at."""
        child, master = pty.fork()
        if child == 0:
            os.chdir(stage / "files")
            os.execve("/bin/bash", self.shell(command), self.environment())
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        said, end = b"", time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            said += part
        os.close(master)
        _, status = os.waitpid(child, 0)
        self.keep(f"{scene} % {command}", said.decode(errors="replace") + f"-- {os.waitstatus_to_exitcode(status)}\n")

    def prepare(self, command):
        done = subprocess.run(
            self.shell(command), cwd=stage / "files", env=self.environment(), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=2 * seconds)
        if done.returncode:
            said = "".join((stage / f"{name}.out").read_text() for name in self.running)
            sys.exit(f"golden: the preparation failed: {command}\n{done.stdout}{done.stderr}{said}")

    def start(self, name, command):
        out = open(stage / f"{name}.out", "wb")
        self.running[name] = subprocess.Popen(
            self.shell("exec " + command), cwd=stage / "files", env=self.environment(), stdin=subprocess.DEVNULL,
            stdout=out, stderr=out)

    def stop(self, scene, name):
        process = self.running.pop(name)
        process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            code = "killed"
        text = (stage / f"{name}.out").read_bytes().decode(errors="replace")
        self.keep(f"{scene} & {name}", f"{text}-- {code}\n")

    def verbs(self):
        said = subprocess.run(
            [f"{self.programs}/waft", "--experimental-dump-help"], env=self.environment(), capture_output=True, check=True)

        def below(command, before):
            words = f"{before} {command['commandName']}".strip()
            yield words
            for each in command.get("subcommands", []):
                if each["commandName"] != "help":
                    yield from below(each, words)

        return below(json.loads(said.stdout)["command"], "")

    def everything(self):
        for scene in scenes():
            shutil.rmtree(stage, ignore_errors=True)
            for folder in ["files", "home", "kitchen/state", "study/state"]:
                (stage / folder).mkdir(parents=True, mode=0o700)
            for home in ["kitchen", "study"]:
                key = self.identities / f"{home}.pem"
                if key.exists():
                    shutil.copy(key, stage / home / "state/identity.pem")
            try:
                for line in scene.lines:
                    self.line(scene.name, line)
            finally:
                for name in list(self.running):
                    self.stop(scene.name, name)
        shutil.rmtree(stage, ignore_errors=True)

    def line(self, scene, line):
        kind, _, command = line.partition(" ")
        if kind == "$":
            self.case(scene, command)
        elif kind == "=":
            self.case(scene, command)
            self.case(scene, command + " --json")
        elif kind == "%":
            self.terminal(scene, command)
        elif kind == "+":
            self.prepare(command)
        elif kind == "&":
            name, _, rest = command.partition(" ")
            self.start(name, rest)
        elif kind == "!":
            self.stop(scene, command)
        elif kind == "help":
            for words in self.verbs():
                self.case(scene, f"{words} --help")
        else:
            sys.exit(f"golden: no case begins with {kind}: {line}")


def difference(name, before, after):
    return [
        f"== {name}",
        *difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=1),
    ]


def path(folder, number):
    return folder / f"{number:04}"


def main(verb, folder, programs):
    begin = time.monotonic()
    if verb == "record":
        folder.mkdir(parents=True)
        for home in ["kitchen", "study"]:
            made = stage / "identity"
            shutil.rmtree(made, ignore_errors=True)
            subprocess.run(
                [f"{programs}/waft", "contacts", "me"], check=True, capture_output=True,
                env={"WAFT_HOME": str(made), "PATH": os.environ["PATH"]})
            shutil.copy(made / "state/identity.pem", folder / f"{home}.pem")
        first, second = Run(programs, folder), Run(programs, folder)
        first.everything()
        second.everything()
        unstable = [name for name in first.said if first.said[name] != second.said.get(name)]
        for number, (name, text) in enumerate(first.said.items()):
            kept = "left out\n" if name in unstable else text
            path(folder, number).write_text(f"{name}\n{kept}", newline="")
        for name in unstable:
            print("\n".join(difference(name, first.said[name], second.said.get(name, ""))))
        print(f"{len(first.said)} cases, {len(unstable)} left out, {time.monotonic() - begin:.0f} s")
        return 0
    run = Run(programs, folder)
    run.everything()
    before = {}
    for each in sorted(folder.glob("[0-9]*")):
        name, _, text = each.read_bytes().decode().partition("\n")
        before[name] = text
    differing = 0
    for name in {**before, **run.said}:
        (old, new) = (before.get(name, "no such case\n"), run.said.get(name, "no such case\n"))
        if old not in (new, "left out\n"):
            differing += 1
            print("\n".join(difference(name, old, new)))
    print(f"{len(before)} cases, {differing} differ, {time.monotonic() - begin:.0f} s")
    return 1 if differing else 0


sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]))
