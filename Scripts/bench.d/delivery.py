"""From the arrival of 1 KB to the first line of its handler, in the sandbox and without it."""

import json
import os
import signal
import statistics
import subprocess

from contestants import WaftReceiver, environment, run


def delivery(places):
    """1 KB: from the byte on the disk to the first line of its handler, in the sandbox and without it."""
    program = os.path.join(places.disk, "arrival")
    if not os.path.exists(program):
        run(["cc", "-O2", "-o", program, os.path.join(places.root, "Scripts/bench.d/arrival.c")])
    item = places.file("arrival.txt", 1_000)

    def handled(sandbox):
        def measure():
            receiver = WaftReceiver(places, places.memory, once=False)
            thread = receiver.drain()
            wall = _arrival(places, receiver, program, item, sandbox)
            receiver.process.send_signal(signal.SIGINT)
            figures = receiver.measured.usage("receiver", ends_with=130)
            thread.join()
            receiver.remove()
            return {"wall": wall, **figures}
        return measure

    yield "1 KB to its handler", {"sandboxed": handled("strict"), "without a sandbox": handled("none")}


def _arrival(places, receiver, program, item, sandbox):
    """Seconds until the handler ran, the median of 21 arrivals."""
    def waft(*words):
        words = [places.waft, *words]
        return subprocess.run(words, env=environment(receiver.home), check=True, stdout=subprocess.PIPE).stdout

    waft("handlers", "add", "--name", "Arrival", "--type", "public.item", "--run", program)
    if sandbox == "none":
        properties = os.path.join(receiver.home, "handlers/Arrival.handler/Info.plist")
        with open(properties) as file:
            text = file.read()
        name = "<key>CFBundleName</key>"
        with open(properties, "w") as file:
            file.write(text.replace(name, "<key>WaftSandbox</key><string>none</string>" + name))
    for _ in range(21):
        with open(item, "w") as file:
            file.write(os.urandom(500).hex())
        subprocess.run([places.waft, "send", item, "--quiet", "--wait", "opened", "--to", f"127.0.0.1:{receiver.port}"],
                       env=environment(places.sender), check=True)
    numbers = [json.loads(line)["arrival"] for line in waft("history", "--json").splitlines()]
    arrivals = [json.loads(waft("inbox", "show", str(number), "--json")) for number in numbers]
    return statistics.median(float(arrival["attempts"][0]["output"]) for arrival in arrivals if "attempts" in arrival) / 1_000
