"""Firefox, driven by its own protocol, Marionette."""

import base64
import json
import os
import socket
import subprocess
import time

from page import Fault, Page


class Firefox(Page):
    """One window. The folder gets the profile and, in `downloads`, the files that the window downloads."""

    def __init__(self, folder, language, more=()):
        profile = os.path.join(folder, "profile")
        os.makedirs(profile)
        preferences = {
            "marionette.port": 0, "intl.accept_languages": language, "app.update.enabled": False,
            "datareporting.policy.dataSubmissionEnabled": False, "network.captive-portal-service.enabled": False,
            "network.connectivity-service.enabled": False, "browser.download.folderList": 2,
            "browser.download.dir": os.path.join(folder, "downloads")}
        with open(os.path.join(profile, "user.js"), "w") as file:
            file.writelines(f"user_pref({json.dumps(key)}, {json.dumps(value)});\n" for key, value in preferences.items())
        self.program = subprocess.Popen(
            ["firefox-esr", "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", profile, *more],
            env={**os.environ, "HOME": folder}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.connection = socket.create_connection(("127.0.0.1", self.port(os.path.join(profile, "MarionetteActivePort"))))
        self.stream = self.connection.makefile("rb")
        self.count = 0
        self.receive()
        self.command("WebDriver:NewSession", acceptInsecureCerts=True, unhandledPromptBehavior="accept")

    def port(self, path):
        while self.program.poll() is None:
            if os.path.exists(path) and os.path.getsize(path):
                with open(path) as file:
                    return int(file.read())
            time.sleep(0.05)
        raise Fault("Firefox has ended")

    def receive(self):
        length = b""
        while not length.endswith(b":"):
            byte = self.stream.read(1)
            if not byte:
                raise Fault("Firefox has ended")
            length += byte
        return json.loads(self.stream.read(int(length[:-1])))

    def command(self, name, **parameters):
        self.count += 1
        message = json.dumps([0, self.count, name, parameters]).encode()
        self.connection.sendall(str(len(message)).encode() + b":" + message)
        _, _, fault, result = self.receive()
        if fault:
            raise Fault(f"{fault['error']}: {fault['message'][:400]}")
        return result

    def close(self):
        self.command("Marionette:Quit", flags=["eForceQuit"])
        self.program.wait()

    def open(self, url):
        self.command("WebDriver:Navigate", url=url)

    def script(self, code, *arguments):
        return self.command("WebDriver:ExecuteScript", script=code, args=list(arguments))["value"]

    def element(self, selector):
        return self.command("WebDriver:FindElement", using="css selector", value=selector)["value"]

    def press_on(self, part):
        self.command("WebDriver:ElementClick", id=next(iter(part.values())))

    def type_into(self, part, text):
        self.command("WebDriver:ElementSendKeys", id=next(iter(part.values())), text=text)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("WebDriver:TakeScreenshot", full=False)["value"]))

    def forget(self):
        self.open("about:blank")

    def window(self, width, height, phone=False):
        """Firefox makes no window of less than 450 pixels: in a narrow one a pixel of the page is two."""
        scale = 2 if width < 500 else 1
        self.command("Marionette:SetContext", value="chrome")
        self.script(f"Services.prefs.setStringPref('layout.css.devPixelsPerPx', '{scale}')")
        self.command("Marionette:SetContext", value="content")
        changes = 0
        while changes < 3:
            rect, inner = self.command("WebDriver:GetWindowRect"), self.script("return [innerWidth, innerHeight]")
            if inner == [width, height]:
                break
            size = {"width": rect["width"] + width - inner[0], "height": rect["height"] + height - inner[1]}
            # Only one of the two knows the new scale yet.
            if min(size.values()) <= 0:
                time.sleep(0.02)
                continue
            self.command("WebDriver:SetWindowRect", **size)
            changes += 1

    def messages(self):
        return []
