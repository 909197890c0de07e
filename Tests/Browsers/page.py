"""The actions of a guest in a window, for every browser."""

import os
import re
import time

# A test that fails at once is good for whoever writes it.
SECONDS = float(os.environ.get("BROWSER_TIMEOUT", 60))

# Since it was found, the page has replaced the part or moved another one above it; or it is shown with the next frame.
MOVED = re.compile("stale element|no such element|element click intercepted|element not interactable")


class Fault(Exception):
    """An action failed."""


class Page:
    """Subclasses have open, script, element, press_on, type_into, picture, forget, messages and close."""

    def on(self, selector, action, seconds=SECONDS):
        """Acts on a part in the middle of the window, where no bar of the page lies above it."""
        end = time.monotonic() + seconds
        while True:
            try:
                part = self.element(selector)
                self.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", part)
                return action(part)
            except Fault as fault:
                if time.monotonic() > end or not MOVED.match(str(fault)):
                    raise
            time.sleep(0.03)

    def click(self, selector):
        self.on(selector, self.press_on)

    def type(self, selector, text):
        self.on(selector, lambda part: self.type_into(part, text))

    def wait(self, code, seconds=SECONDS):
        """Waits until an expression of the page is true, and returns its value."""
        end = time.monotonic() + seconds
        while True:
            try:
                value = self.script("return " + code)
            except Fault as fault:
                # The page that was asked is no longer there.
                value, last = None, str(fault)
            else:
                last = repr(value)
            if value:
                return value
            if time.monotonic() > end:
                if pictures := os.environ.get("BROWSER_PICTURES"):
                    self.picture(os.path.join(pictures, f"{time.time():.0f}.png"))
                raise Fault(f"waited in vain for {code}, which is {last}; the page: {self.text('body')[:600]}")
            time.sleep(0.03)

    def text(self, selector):
        """The text that a reader sees; nothing if there is no such part, or it is hidden."""
        return self.script(
            "const e = document.querySelector(arguments[0]); return e?.checkVisibility() ? e.innerText : ''", selector)

    def choose(self, *paths):
        """Chooses files."""
        self.type("#file", "\n".join(paths))

    def folder(self, path):
        """Chooses a folder."""
        self.script("document.querySelector('#file').webkitdirectory = true")
        self.type("#file", path)
        self.script("document.querySelector('#file').webkitdirectory = false")
