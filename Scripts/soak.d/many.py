"""Ten thousand small transfers of five peers, while a guest's page and the desk are open. Scripts/soak --many starts it.

The receiver and the desk keep what they need for what is under way, and a bounded memory of what was: from the first
thousand transfers on, neither the private memory of either grows by more than 2 MB, nor its descriptors or threads."""

import argparse
import http.client
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from soak import Broken, surroundings

PEERS = 5
MOST_GROWTH_KIB = 2_000
# Descriptors and threads that are there or not, as work comes.
SLACK = 8


def figures(process):
    """Private memory in KiB, descriptors and threads of a process."""
    with open(f"/proc/{process}/status") as file:
        facts = dict(line.split(":", 1) for line in file)
    return int(facts["RssAnon"].split()[0]), len(os.listdir(f"/proc/{process}/fd")), int(facts["Threads"])


class Program:
    """A program that runs to the end, and its lines, which are read as they come."""

    def __init__(self, words, home, wanted):
        self.process = subprocess.Popen(words, env=surroundings(home), stdout=subprocess.PIPE)
        for line in self.process.stdout:
            self.first = json.loads(line)
            if self.first.get("event") == wanted:
                break
        else:
            raise Broken(f"{' '.join(words)} does not start: exit {self.process.wait()}")
        threading.Thread(target=self.drain, daemon=True).start()

    def drain(self):
        while self.process.stdout.read1(65_536):
            pass

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Window:
    """A window of the desk: its stream, and the calls that a page keeps under way."""

    def __init__(self, address):
        address, _, secret = address.partition("#")
        self.place = address.split("/")[2]
        connection = http.client.HTTPConnection(self.place)
        connection.request("POST", "/enter", json.dumps({"secret": secret}), {"content-type": "application/json"})
        self.token = json.load(connection.getresponse())["token"]
        self.stream = http.client.HTTPConnection(self.place)
        self.stream.request("GET", "/window", headers={"waft-token": self.token})
        self.lines = self.stream.getresponse()
        self.name = json.loads(self.lines.readline())["window"]
        self.heard, self.calls = 0, 0
        threading.Thread(target=self.drain, daemon=True).start()
        for call in ["receiver", "peers", "offers"]:
            self.call(call)

    def drain(self):
        while piece := self.lines.read1(65_536):
            self.heard += piece.count(b"\n")

    def call(self, path, values={}):
        self.calls += 1
        connection = http.client.HTTPConnection(self.place)
        connection.request("POST", f"/{path}?window={self.name}&call={self.calls}", json.dumps(values),
                           {"content-type": "application/json", "waft-token": self.token})
        answer = connection.getresponse()
        if answer.status != 202:
            raise Broken(f"the desk answers {path} with {answer.status}: {answer.read()}")
        connection.close()


class Guest:
    """A guest's page, which stays open."""

    def __init__(self, address):
        parts = address.split("/", 3)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        make = http.client.HTTPSConnection if parts[0] == "https:" else http.client.HTTPConnection
        more = {"context": context} if parts[0] == "https:" else {}
        self.connection, self.path = make(parts[2], **more), "/" + parts[3]

    def look(self):
        try:
            self.connection.request("GET", self.path)
            self.connection.getresponse().read()
        except (http.client.HTTPException, OSError):
            # An idle connection ends after a while; the page opens another one.
            self.connection.close()


class Peer:
    """A peer that sends one small item after another: files, and now and then a text or a folder."""

    def __init__(self, program, folder, number, port):
        self.program, self.number, self.port = program, number, port
        self.home = os.path.join(folder, f"peer{number}")
        self.files = os.path.join(folder, f"files{number}")
        os.makedirs(os.path.join(self.files, "tree"))
        self.sent = 0

    def send(self):
        self.sent += 1
        path = os.path.join(self.files, f"{self.number}-{self.sent}.bin")
        words = [path]
        if self.sent % 50 == 0:
            words = ["--text", f"{self.number}-{self.sent}"]
        else:
            with open(path, "wb") as file:
                file.write(os.urandom(1_000 + self.sent % 9_000))
        if self.sent % 51 == 0:
            os.rename(path, os.path.join(self.files, "tree", "a.bin"))
            os.rename(os.path.join(self.files, "tree"), path)
            os.makedirs(os.path.join(self.files, "tree"))
        sent = subprocess.run([self.program, "send", *words, "--to", f"127.0.0.1:{self.port}", "--json"],
                              env=surroundings(self.home), capture_output=True)
        if sent.returncode != 0:
            raise Broken(f"a transfer failed: exit {sent.returncode}\n{sent.stdout.decode()}{sent.stderr.decode()}")
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.unlink(path)


def run(options, folder):
    home = os.path.join(folder, "home")
    os.makedirs(home)
    receiver = Program([options.program, "receive", "--accept", "everyone", "--json", "--port", "0"], home, "ready")
    programs, faults = [receiver], []
    try:
        page = Program([options.program, "web", "--json"], home, "page")
        programs.append(page)
        desk = Program([options.program, "desk", "--no-open", "--json"], home, "desk")
        programs.append(desk)
        guest, window = Guest(page.first["url"]), Window(desk.first["url"])
        peers = [Peer(options.program, folder, number, receiver.first["port"]) for number in range(PEERS)]
        left = threading.Semaphore(0)
        done = threading.Semaphore(0)

        def work(peer):
            while left.acquire():
                try:
                    peer.send()
                except Exception as fault:
                    faults.append(fault)
                done.release()

        for peer in peers:
            threading.Thread(target=work, args=[peer], daemon=True).start()
        watched = {"receiver": receiver.process.pid, "desk": desk.process.pid}
        first = {}
        step = max(options.transfers // 10, 1)
        for count in range(step, options.transfers + 1, step):
            for part in range(10):
                guest.look()
                window.call("history", {"limit": 50})
                many = step // 10 + (step % 10 if part == 9 else 0)
                for _ in range(many):
                    left.release()
                for _ in range(many):
                    done.acquire()
                if faults:
                    raise faults[0]
            now = {name: figures(process) for name, process in watched.items()}
            first = first or now
            print(f"soak: {count} transfers: " + ", ".join(
                f"{name} {memory / 1024:.1f} MiB, {files} descriptors, {threads} threads"
                for name, (memory, files, threads) in now.items()), flush=True)
        for name, (memory, files, threads) in now.items():
            before = first[name]
            if memory > before[0] + MOST_GROWTH_KIB:
                raise Broken(f"the private memory of the {name} grew by {memory - before[0]} KiB")
            if files > before[1] + SLACK or threads > before[2] + SLACK:
                raise Broken(f"the {name} has {files} descriptors and {threads} threads, and had {before[1:]}")
        if window.heard < options.transfers:
            raise Broken(f"the window heard of {window.heard} lines only")
    finally:
        for program in reversed(programs):
            program.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--transfers", type=int, default=10_000)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="waft-soak-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    began = time.monotonic()
    try:
        run(options, folder)
    except Broken as fault:
        sys.exit(f"soak: {fault}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"soak: nothing grew, in {time.monotonic() - began:.0f} s")


main()
