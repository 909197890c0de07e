"""Chromium, driven by its own WebDriver."""

import base64
import http.client
import json
import os
import re
import subprocess

from page import Fault, Page

ARGUMENTS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--window-size=1280,900"]

TWO_FRAMES = "new Promise(go => requestAnimationFrame(() => requestAnimationFrame(go)))"
KEYS = {
    "Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Space": " ", "End": "\ue010", "Home": "\ue011", "ArrowLeft": "\ue012",
    "Backspace": "\ue003", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Delete": "\ue017"}


class Chromium(Page):
    """One window. The folder gets the profile and, in `downloads`, the files that the window downloads."""

    def __init__(self, folder, language, more=()):
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0", "--allowed-ips=127.0.0.1", "--log-level=SEVERE"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                break
        else:
            raise Fault("chromedriver has ended")
        self.connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=120)
        arguments = [*ARGUMENTS, f"--user-data-dir={folder}/profile", f"--lang={language}", f"--accept-lang={language}", *more]
        wanted = {
            "browserName": "chrome", "acceptInsecureCerts": True, "unhandledPromptBehavior": "accept",
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {
                "binary": "/usr/bin/chromium", "args": arguments,
                "prefs": {"intl.accept_languages": language, "download.default_directory": f"{folder}/downloads"}}}
        self.session = ""
        made = self.command("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = "/session/" + made["sessionId"]

    def command(self, method, path, body=None):
        content = None if body is None else json.dumps(body)
        self.connection.request(method, self.session + path, content, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        value = json.loads(answer.read())["value"]
        if answer.status != 200:
            raise Fault(f"{value['error']}: {value['message'][:400]}")
        return value

    def close(self):
        try:
            self.command("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()

    def open(self, url):
        self.command("POST", "/url", {"url": url})
        # After a redirect the driver answers before the styles are there.
        self.wait("document.readyState === 'complete'")

    def script(self, code, *arguments):
        return self.command("POST", "/execute/sync", {"script": code, "args": list(arguments)})

    def element(self, selector):
        return self.command("POST", "/element", {"using": "css selector", "value": selector})

    def act(self, part, action, **facts):
        self.command("POST", f"/element/{next(iter(part.values()))}/{action}", facts)

    def press_on(self, part):
        self.act(part, "click")

    def type_into(self, part, text):
        self.act(part, "value", text=text)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("GET", "/screenshot")))

    def forget(self):
        self.script("try {sessionStorage.clear();} catch {}")
        self.open("about:blank")
        self.devtools("Page.bringToFront")
        self.devtools("Network.clearBrowserCookies")
        self.messages()

    # What only this browser can do.

    def devtools(self, method, **parameters):
        return self.command("POST", "/goog/cdp/execute", {"cmd": method, "params": parameters})

    def messages(self):
        """The messages of the console since the last call."""
        return [entry["message"] for entry in self.command("POST", "/se/log", {"type": "browser"})]

    def window(self, width, height, phone=False):
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.devtools("Emulation.setTouchEmulationEnabled", enabled=phone)

    def scheme(self, name):
        """Light, dark or forced colours."""
        forced = name == "forced"
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "light" if forced else name},
            {"name": "forced-colors", "value": "active" if forced else "none"}])

    def scripts(self, run):
        """Whether pages may run scripts; those of this program always run."""
        self.devtools("Emulation.setScriptExecutionDisabled", value=not run)

    def drop(self, *paths):
        """Drops files and folders from outside onto the middle of the window."""
        self.drop_at(640, 400, paths)

    def drop_at(self, x, y, paths):
        data = {"items": [], "files": [os.path.abspath(path) for path in paths], "dragOperationsMask": 1}
        for kind in ["dragEnter", "dragOver", "drop"]:
            self.devtools("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)
            if kind == "dragOver":
                # People hold files over a part for some frames.
                self.devtools("Runtime.evaluate", expression=TWO_FRAMES, awaitPromise=True)

    def drop_on(self, selector, *paths):
        """Drops files and folders from outside onto the middle of a part."""
        middle = "const r = arguments[0].getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]"
        x, y = self.on(selector, lambda part: self.script(middle, part))
        self.drop_at(x, y, paths)

    def drag(self, selector):
        """Begins to drag a part by the mouse and lets it go beside it. Returns what the drag takes along, by its types."""
        self.script(
            "window.taken = null; addEventListener('dragstart', ({dataTransfer: data}) => {"
            "window.taken = Object.fromEntries([...data.types].map(type => [type, data.getData(type)]));}, {once: true})")
        part = self.element(selector)
        moves = [{"type": "pointerMove", "duration": 20, "origin": part, "x": n, "y": n} for n in [0, 4, 12]]
        actions = [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}]
        self.command("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})
        return self.wait("window.taken")

    def wait_within(self, selector, code):
        """Waits until an expression is true in the page of a frame."""
        self.command("POST", "/frame", {"id": self.element(selector)})
        try:
            self.wait(code)
        finally:
            self.command("POST", "/frame", {"id": None})

    def press(self, *keys):
        """Presses keys one after the other, by their names in `KEYS`, or as characters."""
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ["keyDown", "keyUp"]]
        self.command("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def tab(self):
        """Presses the key Tab."""
        self.press("Tab")

    def controls(self):
        """The role and the name of each control, as a screen reader gets them."""
        found = []
        for node in self.devtools("Accessibility.getFullAXTree")["nodes"]:
            facts = {fact["name"]: fact["value"].get("value") for fact in node.get("properties", [])}
            role = node.get("role", {}).get("value", "")
            if not node["ignored"] and facts.get("focusable") and role != "RootWebArea":
                found.append([role, node.get("name", {}).get("value", "")])
        return found
