"""A device with LocalSend's app, as a server: the checks of 1.18 or 1.17, in their order."""
import hashlib
import json
import os
import threading
from urllib.parse import parse_qs, urlsplit

PREFIX = "/api/localsend/v2/"


class Refusal(Exception):
    def __init__(self, status, message):
        self.status, self.message = status, message


def strict(text):
    """A description of a device, as 1.18 reads it."""
    device = json.loads(text) if isinstance(text, (str, bytes)) else text
    for key, kind in (("alias", str), ("version", str), ("fingerprint", str), ("port", int)):
        if not isinstance(device.get(key), kind):
            raise ValueError(f"{key} is missing")
    if device.get("protocol") not in ("http", "https"):
        raise ValueError("protocol is missing")
    if not isinstance(device.get("download", False), bool):
        raise ValueError("download is null")
    return device


class Session:
    def __init__(self, address, files, port):
        self.address, self.files, self.port = address, files, port
        self.id = os.urandom(16).hex()
        self.tokens = {name: os.urandom(16).hex() for name in files}
        self.tries = {name: 0 for name in files}
        self.is_active = self.is_cancelled = False


class Server:
    """device: with `is_new`, `describe`, `say`, `fingerprint`, `rules`, `listed` and `sending`, the session as a sender."""

    def __init__(self, device, folder):
        self.device, self.folder = device, folder
        self.lock, self.session, self.wrong = threading.Lock(), None, {}

    def serve(self, connection, address):
        while True:
            first, fields = connection.head()
            method, target = first.split()[:2]
            parts = urlsplit(target)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            try:
                status, body = self.route(connection, method, parts.path, query, fields, address)
            except Refusal as refusal:
                status, body = refusal.status, json.dumps({"message": refusal.message}).encode()
            connection.reply(status, body)

    def route(self, connection, method, path, query, fields, address):
        name = path.removeprefix(PREFIX)
        if (method, path) == ("GET", "/api/localsend/v1/info") or (method, name) == ("GET", "info"):
            if not self.device.is_new and query.get("fingerprint") == self.device.fingerprint:
                raise Refusal(412, "Self-discovered")
            return 200, self.device.describe()
        if (method, name) == ("POST", "register"):
            return self.register(connection, b"".join(connection.pieces(fields)), address)
        if (method, name) == ("POST", "prepare-upload"):
            return self.prepare(connection, query, b"".join(connection.pieces(fields)), address)
        if (method, name) == ("POST", "upload"):
            return self.upload(connection, query, fields, address)
        if (method, name) == ("POST", "cancel"):
            return self.cancel(query)
        raise Refusal(404, "")

    def register(self, connection, body, address):
        try:
            other = strict(body) if self.device.is_new else json.loads(body)
        except ValueError as fault:
            self.device.say("unreadable", reason=str(fault))
            raise Refusal(400, str(fault))
        if other["fingerprint"] == self.device.fingerprint:
            raise Refusal(412, "Self-discovered")
        if self.device.is_new and other["fingerprint"] != connection.fingerprint:
            self.device.say("dropped", alias=other["alias"])
        else:
            self.device.listed(other, address, "registered")
        return 200, self.device.describe()

    def check_pin(self, query, address):
        pin = self.device.rules.get("pin")
        if not pin:
            return
        if self.wrong.get(address, 0) >= 3:
            raise Refusal(429, "Too many attempts")
        if not query.get("pin"):
            raise Refusal(401, "PIN required")
        if query["pin"] != pin:
            self.wrong[address] = self.wrong.get(address, 0) + 1
            raise Refusal(401, "Invalid PIN")
        self.wrong.pop(address, None)

    def check_busy(self):
        if self.session:
            raise Refusal(409, "Blocked by another session")

    def prepare(self, connection, query, body, address):
        if not self.device.is_new:
            self.check_busy()
        self.check_pin(query, address)
        try:
            question = json.loads(body)
            sender = strict(question["info"]) if self.device.is_new else question["info"]
            files = question["files"]
            for key, file in files.items():
                if file["id"] != key or not isinstance(file["size"], int) or not isinstance(file["fileType"], str):
                    raise ValueError("a file is wrong")
        except (ValueError, KeyError, TypeError) as fault:
            self.device.say("unreadable", reason=str(fault))
            raise Refusal(400, "Invalid JSON body")
        if not files:
            raise Refusal(400, "No files provided")
        with self.lock:
            self.check_busy()
            self.session = session = Session(address, files, sender["port"])
        self.device.say("offer", alias=sender["alias"], names=sorted(f["fileName"] for f in files.values()),
                        digests=sum(1 for f in files.values() if f.get("sha256")), certificate=bool(connection.fingerprint))
        if self.device.rules.get("answer") == "decline":
            self.session = None
            raise Refusal(403, "Rejected")
        only = next(iter(files.values()))
        if len(files) == 1 and only["fileType"].startswith("text/") and only.get("preview") is not None:
            self.session = None
            self.device.say("text", text=only["preview"])
            return 204, b""
        session.is_active = True
        return 200, json.dumps({"sessionId": session.id, "files": session.tokens}).encode()

    def upload(self, connection, query, fields, address):
        session, name = self.session, query.get("fileId")
        if not (query.get("sessionId") and name and query.get("token")):
            raise Refusal(400, "Missing parameters")
        if not (session and session.is_active and session.id == query["sessionId"] and session.address == address
                and session.tokens.get(name) == query["token"]):
            raise Refusal(403 if self.device.is_new or session else 409, "Invalid token or IP address")
        file, digest, count = session.files[name], hashlib.sha256(), 0
        path = os.path.join(self.folder, file["fileName"])
        if ".." in file["fileName"].split("/") or file["fileName"].startswith("/"):
            self.over(session, name, "failed")
            raise Refusal(500, "a bad name")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as output:
            for piece in connection.pieces(fields):
                output.write(piece)
                digest.update(piece)
                count += len(piece)
                if self.device.rules.get("cancels") and not session.is_cancelled:
                    session.is_cancelled = True
                    self.device.cancel((address, session.port), session.id)
                if self.device.rules.get("dies"):
                    os._exit(9)
        session.tries[name] += 1
        # As if bytes had been changed on the way.
        is_garbled = session.tries[name] <= self.device.rules.get("garbled", 0)
        if self.device.is_new and count != file["size"]:
            self.over(session, name, "failed")
            raise Refusal(500, "the size is wrong")
        if self.device.is_new and file.get("sha256") and (is_garbled or digest.hexdigest() != file["sha256"]):
            self.device.say("mismatch", name=file["fileName"])
            if session.tries[name] >= 3:
                self.over(session, name, "failed")
            raise Refusal(422, "Checksum mismatch")
        self.over(session, name, "file")
        return 200, b"" if self.device.is_new else b"{}"

    def over(self, session, name, event):
        with self.lock:
            del session.tokens[name]
            self.device.say(event, name=session.files[name]["fileName"])
            if not session.tokens:
                self.device.say("ended")
                if self.device.is_new:
                    self.session = None

    def cancel(self, query):
        if query.get("sessionId") == self.device.sending:
            self.device.say("told")
            return 200, b""
        session = self.session
        if session and query.get("sessionId") in (None, session.id):
            self.device.say("cancelled")
            # 1.17 is busy until its user presses Done.
            session.is_active = False
            if self.device.is_new:
                self.session = None
        elif not self.device.is_new:
            raise Refusal(403, "No permission")
        return 200, b""
