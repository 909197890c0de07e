"""Stands in for LocalSend's app on a phone, as strict as version 1.18 or as version 1.17. For LabTests.

    standin.py 1.18|1.17 FOLDER ADDRESS [RULES]

ADDRESS is that of the interface. RULES is JSON: pin, answer (accept, decline), garbled (tries of each file that are taken
as changed on the way), dies or cancels (in the middle of the first file), port, alias, plain (has no TLS), quiet (announces
nothing), and silent (answers no announcement either). FOLDER gets its certificate and, in `in`, what it receives. It prints
one JSON document a line, takes one from each line of standard input, and ends with it:

    {"do": "announce"}
    {"do": "done"}                                        the user of 1.17 presses Done
    {"do": "probe", "to": "HOST:PORT"}                    as a favourite or a typed-in address
    {"do": "send", "to": "HOST:PORT", "files": [PATH], "text": TEXT, "pin": PIN, "garble": TRIES, "sender": KEYS}
"""
import hashlib
import json
import os
import queue
import socket
import struct
import sys
import threading
import time

from device import PREFIX, Server, strict
from secure import Closed, Connection, Identity, Plain

GROUP, PORT = "224.0.0.167", 53317
printing = threading.Lock()


class App:
    def __init__(self, version, folder, address, rules):
        self.is_new, self.folder, self.address, self.rules = version == "1.18", folder, address, rules
        self.identity = Identity(folder)
        self.fingerprint = self.identity.fingerprint
        self.shows = self.identity.context(False)
        self.asks = self.identity.context(self.is_new)
        self.known, self.listing = {}, threading.Lock()
        self.port, self.sending = rules.get("port", PORT), ""

    def say(self, event, **facts):
        with printing:
            print(json.dumps({"event": event, **facts}), flush=True)

    def info(self):
        return {"alias": self.rules.get("alias", "phone"), "version": "2.2" if self.is_new else "2.1",
                "deviceModel": "Pixel", "deviceType": "mobile", "fingerprint": self.fingerprint, "download": False}

    def describe(self):
        return json.dumps(self.info()).encode()

    def whole(self, **more):
        return json.dumps({**self.info(), "port": self.port,
                           "protocol": "http" if self.rules.get("plain") else "https", **more}).encode()

    def listed(self, device, address, how):
        with self.listing:
            if self.known.get(device["fingerprint"]) == how:
                return
            self.known[device["fingerprint"]] = how
        self.say("device", alias=device["alias"], address=address, how=how, fingerprint=device["fingerprint"])

    # Connections

    def listen(self):
        listener = socket.create_server((self.address, self.port))
        server = Server(self, os.path.join(self.folder, "in"))

        def run(connected, address):
            try:
                connection = (
                    Plain(connected) if self.rules.get("plain")
                    else Connection(self.asks, connected, accepting=True, checks=self.is_new))
            except Closed as end:
                self.say("refused", reason=str(end))
                return connected.close()
            try:
                server.serve(connection, address)
            except Closed:
                pass
            connection.close()

        def accept():
            while True:
                connected, address = listener.accept()
                threading.Thread(target=run, args=(connected, address[0]), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        self.server = server

    def connect(self, address, **rules):
        return Connection.to_device(self.shows, address, checks=self.is_new, **rules)

    # Discovery

    def meet(self):
        group = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            group.setsockopt(socket.SOL_SOCKET, option, 1)
        group.bind(("", PORT))
        place = socket.inet_aton(self.address)
        group.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + place)
        group.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, place)
        self.group = group
        threading.Thread(target=self.hear, daemon=True).start()

    def announce(self):
        flags = {"announce": True} if self.is_new else {"announce": True, "announcement": True}
        for pause in (0.1, 0.5, 2):
            time.sleep(pause)
            self.group.sendto(self.whole(**flags), (GROUP, PORT))

    def hear(self):
        while True:
            text, source = self.group.recvfrom(65536)
            try:
                device = strict(text) if self.is_new else json.loads(text)
            except ValueError as fault:
                self.say("unreadable", reason=str(fault))
                continue
            if device["fingerprint"] == self.fingerprint:
                continue
            if self.is_new or device.get("announce"):
                threading.Thread(target=self.register, args=(device, source[0]), daemon=True).start()
            elif not self.is_new:
                self.listed(device, source[0], "announced")

    def register(self, device, host):
        """Within half a second, the handshake included; 1.18 pins what was announced."""
        begin = time.monotonic()
        try:
            connection = self.connect((host, device["port"]), limit=0.5, pinned=device["fingerprint"] if self.is_new else None)
            status, body = connection.ask("POST", PREFIX + "register", self.whole())
            connection.close()
        except (OSError, Closed) as end:
            status, body = 0, str(end).encode()
        if time.monotonic() - begin > 0.5:
            status = 0
        if status == 200:
            self.listed(device, host, "answered")
        else:
            self.say("unanswered", alias=device["alias"], status=status, reason=body.decode(errors="replace"))
            if not self.is_new:
                self.group.sendto(self.whole(announce=False, announcement=False), (GROUP, PORT))

    def probe(self, address):
        """As the app asks a favourite or a typed-in address."""
        try:
            connection = self.connect(address, limit=0.5)
            if self.is_new:
                status, body = connection.ask("POST", PREFIX + "register", self.whole())
            else:
                status, body = connection.ask("GET", f"/api/localsend/v1/info?fingerprint={self.fingerprint}")
            connection.close()
        except (OSError, Closed) as end:
            return self.say("probed", status=0, reason=str(end))
        self.say("probed", status=status, alias=json.loads(body).get("alias") if status == 200 else None)

    def cancel(self, address, session):
        """Ends a session as its receiver, and goes on reading."""
        try:
            connection = self.connect(address)
            status, _ = connection.ask("POST", f"{PREFIX}cancel?sessionId={session}")
            connection.close()
        except (OSError, Closed):
            status = 0
        self.say("cancel", status=status)

    # Sending

    def send(self, to, files=(), text=None, pin=None, garble=0, sender=None):
        contents, offered = {}, {}
        for number, path in enumerate(files):
            data, id = open(path, "rb").read(), f"f{number}"
            contents[id] = data
            offered[id] = {
                "id": id, "fileName": os.path.basename(path), "size": len(data), "fileType": "application/octet-stream",
                "sha256": hashlib.sha256(data).hexdigest() if self.is_new else None, "preview": None,
                "metadata": {"modified": "2026-05-01T10:00:00.123456789+00:00"}}
        if text is not None:
            offered["m"] = {"id": "m", "fileName": "5e0c.txt", "size": len(text.encode()), "fileType": "text/plain", "preview": text}
        info = {**json.loads(self.whole()), **(sender or {})}
        question = json.dumps({"info": info, "files": offered}).encode()
        connection = self.connect(to)
        status, body = connection.ask("POST", PREFIX + "prepare-upload" + (f"?pin={pin}" if pin else ""), question)
        connection.close()
        answer = json.loads(body) if body else {}
        self.say("answer", status=status, message=answer.get("message", ""), count=len(answer.get("files", {})))
        if status != 200:
            return
        self.sending = answer["sessionId"]
        waiting, results = queue.Queue(), []
        for id in answer["files"]:
            waiting.put(id)

        def work():
            upload = self.connect(to)
            while True:
                try:
                    id = waiting.get_nowait()
                except queue.Empty:
                    return upload.close()
                path = f"{PREFIX}upload?sessionId={answer['sessionId']}&fileId={id}&token={answer['files'][id]}"
                for attempt in range(3):
                    data = contents[id] if attempt >= garble else b"\0" * len(contents[id])
                    status = self.upload(upload, path, data)
                    self.say("uploaded", name=offered[id]["fileName"], status=status)
                    if status != 200:
                        upload.close()
                        upload = self.connect(to)
                    if status != 422 or not self.is_new:
                        break
                results.append(status)

        workers = [threading.Thread(target=work) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.say("sent", fine=results.count(200), count=len(results))

    def upload(self, connection, path, data):
        if not self.is_new:
            return connection.ask("POST", path, data, "image/jpeg")[0]
        connection.write(f"POST {path} HTTP/1.1\r\nhost: localsend\r\ntransfer-encoding: chunked\r\n\r\n".encode())
        for start in range(0, len(data), 60_000):
            piece = data[start:start + 60_000]
            connection.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        connection.write(b"0\r\n\r\n")
        return connection.answer()[0]


def main(version, folder, address, rules="{}"):
    os.makedirs(os.path.join(folder, "in"), exist_ok=True)
    app = App(version, folder, address, json.loads(rules))
    app.listen()
    if not app.rules.get("silent"):
        app.meet()
    app.say("listening", fingerprint=app.fingerprint, port=app.port)
    if not app.rules.get("silent") and not app.rules.get("quiet"):
        threading.Thread(target=app.announce, daemon=True).start()

    def address_of(text):
        host, port = text.rsplit(":", 1)
        return host, int(port)

    def perform(order):
        match order.pop("do"):
            case "announce":
                app.announce()
            case "done":
                app.server.session = None
            case "probe":
                app.probe(address_of(order["to"]))
            case "send":
                try:
                    app.send(address_of(order.pop("to")), **order)
                except (OSError, Closed) as end:
                    app.say("broken", reason=str(end))

    for line in sys.stdin:
        threading.Thread(target=perform, args=(json.loads(line),), daemon=True).start()
    os._exit(0)


main(*sys.argv[1:])
