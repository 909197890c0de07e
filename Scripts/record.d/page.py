"""page.py CHECKOUT LAB WORK FOLDER: pictures of the page for guests, as `waft web` of the kitchen serves it to Chromium in
the study: each state, on a phone and on a desk, in light and dark. They are named STATE-WIDTH-SCHEME.png."""

import os
import subprocess
import sys

from window import SCHEMES, SIZES, Browser, Lines

class Stage:
    def __init__(self, checkout, lab, work, folder):
        self.lab = [f"{checkout}/Scripts/lab"]
        self.name, self.work, self.folder = lab, work, folder
        self.waft = [os.environ.get("PROGRAMS", f"{checkout}/.build/release") + "/waft"]
        browser = f"{checkout}/Tests/Browsers/browser.py"
        self.browser = Browser(self.on("study", "python3", "-B", browser, "chromium", f"{work}/browser"))
        self.browser.read()

    def on(self, host, *words):
        return [*self.lab, "run", self.name, host, *words]

    def in_kitchen(self, home, *words):
        return self.on("kitchen", "env", f"WAFT_HOME={home}", "WAFT_ACCEPT=ask", *self.waft, *words)

    def link(self, rate):
        subprocess.run([*self.lab, "rate", self.name, "study", rate], check=True)

    def make(self):
        """The files of both sides."""
        for name in ["holiday/beach", "Plan of the garden"]:
            os.makedirs(f"{self.work}/{name}")
        pictures = {"holiday/beach/dunes.jpg": "khaki-steelblue", "Plan of the garden/beds.jpg": "olivedrab-peru",
                    "sunset.jpg": "gold-firebrick"}
        for name, colours in pictures.items():
            subprocess.run(["convert", "-size", "1600x1200", f"gradient:{colours}", f"{self.work}/{name}"], check=True)
        for name, size in [("report.pdf", 1_300_000), ("film.mp4", 24_000_000)]:
            with open(f"{self.work}/{name}", "wb") as file:
                file.write(b"%PDF-1.4\n" + os.urandom(size))

    def take(self, number, width, height, phone, scheme):
        """The pictures of one window, of a page that has stored nothing yet."""
        browser, home = self.browser, f"{self.work}/kitchen-{number}"

        def picture(state):
            browser.picture(f"{self.folder}/{state}-{width}-{scheme}.png")

        def look():
            """Looks at the place of the guest's actions, without a mark on a control."""
            part = "#give" if phone else "header"
            browser.script(f"document.activeElement.blur(); document.querySelector('{part}').scrollIntoView()")

        page = Lines(self.in_kitchen(home, "web", "--json", "holiday", "report.pdf"), cwd=self.work)
        try:
            facts = page.event("page")
            browser.window(width, height, phone)
            browser.forget()
            browser.scheme(scheme)
            browser.open(facts["address"])
            picture("door")
            browser.open(facts["url"])
            browser.wait("document.querySelector('html.js')?.checkVisibility()")
            # The page keeps the name for the next time.
            browser.script("document.querySelector('#name').value = ''")
            browser.type("#name", "Anna")
            browser.script("document.activeElement.blur(); scrollTo(0, 0)")
            picture("start")
            browser.choose(f"{self.work}/sunset.jpg", f"{self.work}/film.mp4")
            browser.folder(f"{self.work}/Plan of the garden")
            browser.wait("document.querySelector('#list canvas')")
            look()
            picture("chosen")
            self.link("20mbit")
            browser.click("#send")
            offer = page.event("offer")["offer"]
            browser.wait("document.querySelector('#state').innerText.startsWith('Waiting')")
            picture("waiting")
            subprocess.run(self.in_kitchen(home, "accept", str(offer)), check=True, stdout=subprocess.DEVNULL)
            browser.wait("document.querySelector('#bar').value > 0.5 && /left/.test(document.querySelector('#figures').innerText)")
            picture("sending")
            self.link("off")
            browser.wait("!document.querySelector('#more').hidden")
            picture("done")
        finally:
            page.process.terminate()
            page.end()


def main(checkout, lab, work, folder):
    os.makedirs(folder, exist_ok=True)
    stage = Stage(checkout, lab, work, os.path.abspath(folder))
    try:
        stage.make()
        for number, (window, scheme) in enumerate((window, scheme) for window in SIZES for scheme in SCHEMES):
            stage.take(number, *window, scheme)
    finally:
        stage.browser.end()


main(*sys.argv[1:])
