"""A browser in a lab, and other programs that speak in lines of JSON."""

import json
import subprocess

# Width, height, and whether it is a phone's.
SIZES = [(390, 844, True), (1280, 800, False)]
SCHEMES = ["light", "dark"]


class Lines:
    """A program on a host that speaks in lines of JSON."""

    def __init__(self, words, **options):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"record: a program has ended: {' '.join(self.process.args)}")
        return json.loads(line)

    def event(self, name):
        while (line := self.read())["event"] != name:
            pass
        return line

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Browser(Lines):
    """Its methods are those of Tests/Browsers/chromium.py."""

    def __getattr__(self, name):
        def order(*arguments):
            self.process.stdin.write(json.dumps({"do": name, "with": arguments}) + "\n")
            self.process.stdin.flush()
            answer = self.read()
            if "fault" in answer:
                raise SystemExit(f"record: {name}: {answer['fault']}")
            return answer["value"]
        return order
