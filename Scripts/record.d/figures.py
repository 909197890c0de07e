"""figures.py CHECKOUT LAB WORK FOLDER: prints how long people wait for the desk, and how evenly it moves, in milliseconds.
The window has no GPU. The frames are those of 3 s each."""

import os
import sys
import threading
import time

from desk import Stage

# Records the time between frames, and calls STEP in each.
RECORD = """
window.frames = []; window.isOver = false;
const began = performance.now(); let last = began, n = 0;
requestAnimationFrame(function next(now) {
    frames.push(now - last); last = now; n++;
    STEP
    if (now - began < 3000) requestAnimationFrame(next); else window.isOver = true;
});
"""
PEERS = """
import("/store.js").then(({changed, store}) => {
    for (let n = 0; n < 200; n++) store.peers.set("p" + n, {event: "found", via: "waft", id: String(n).padStart(56, "k"), name: "Machine " + n});
    changed("peers"); window.touch = n => {
        const peer = store.peers.get("p" + n % 200); store.peers.set("p" + n % 200, {...peer, name: peer.name + "'"}); changed("peers");
    };
});
"""


class Figures(Stage):
    def say(self, name, value):
        print(f"{name:48} {value}", flush=True)

    def frames(self, name, step, between=lambda: None):
        self.browser.script(RECORD.replace("STEP", step))
        between()
        self.browser.wait("window.isOver")
        frames = sorted(self.browser.script("return frames.slice(1)"))
        self.say(name, f"median {frames[len(frames) // 2]:.0f}, 95 of 100 within {frames[len(frames) * 95 // 100]:.0f}, longest {frames[-1]:.0f}")

    def begin(self):
        """A second desk, from its command to the first name in its window."""
        self.desk.process.terminate()
        self.desk.end()
        began = time.monotonic()
        passed = lambda: f"{(time.monotonic() - began) * 1000:.0f}"
        self.desk = self.running[-1] = self.start("study", "waft", "desk", "--no-open", "--json")
        url = self.desk.event("desk")["url"]
        self.say("the desk answers after", passed())
        self.browser.open(url)
        self.browser.wait("document.documentElement.classList.contains('ready')")
        self.say("the window can be used after", passed())
        self.browser.wait("document.querySelector('main .peer:not(.away, .invites)') !== null")
        self.say("the first peer is seen after", passed())
        self.browser.wait("[...document.querySelectorAll('main .peer:not(.away, .invites) .name')].some(n => /Workshop/.test(n.innerText))")
        self.say("a stranger's name is seen after", passed())

    def items(self):
        folder = f"{self.work}/many"
        os.mkdir(folder)
        paths = [f"{folder}/item {n:05}.txt" for n in range(10_000)]
        for path in paths:
            with open(path, "w") as file:
                file.write(path)
        self.run("kitchen", "send", *paths, "--to", "Study")
        began = time.monotonic()
        self.view("inbox", "document.querySelector('main [role=option]') !== null")
        self.say("of 10,000 items the first is seen after", f"{(time.monotonic() - began) * 1000:.0f}")
        # What scrolls: the page, or a part of it.
        step = """
        const part = window.part ??= [...document.querySelectorAll('main *')].filter(e => e.scrollHeight > e.clientHeight + 1000
            && /auto|scroll/.test(getComputedStyle(e).overflowY))[0] ?? document.scrollingElement;
        part.scrollTop += 120;
        """
        self.browser.script("window.part = null")
        self.frames("10,000 items, scrolled by 120 pixels a frame", step)
        if not self.browser.script("return window.part.scrollTop"):
            raise SystemExit("figures: nothing scrolls")

    def main(self):
        # A receiver waits for the reader of its lines.
        for receiver in self.running[:-1]:
            threading.Thread(target=receiver.process.stdout.read, daemon=True).start()
        self.befriend()
        self.begin()
        self.frames("an idle room", "")
        self.frames("a room in which something arrives", "", lambda: self.send("kitchen", "Heath.jpg"))
        self.browser.script(PEERS)
        self.browser.wait("document.querySelectorAll('main .peer').length > 200")
        self.frames("200 peers, of which one changes in each frame", "touch(n);")
        self.items()
        self.end()


Figures(*sys.argv[1:]).main()
