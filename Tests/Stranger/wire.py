"""TLS 1.3 with a self-signed P-256 key on both sides, and HTTP/1.1 over it, written from Protocol.md alone.

The ssl module can neither ask a client for a certificate that nobody has signed nor export keying material: this goes
to the system's libssl itself.
"""
import ctypes
import ctypes.util
import hashlib
import json
import os
import socket
import subprocess

ssl = ctypes.CDLL(ctypes.util.find_library("ssl"))
crypto = ctypes.CDLL(ctypes.util.find_library("crypto"))
for library, name in (
    (ssl, "TLS_method"), (ssl, "SSL_CTX_new"), (ssl, "SSL_new"), (ssl, "SSL_get1_peer_certificate"),
    (ssl, "SSL_get_certificate"), (crypto, "X509_get_X509_PUBKEY"),
):
    getattr(library, name).restype = ctypes.c_void_p

ALPN = b"\x06waft/1"
TLS_1_3 = 0x0304
VERIFY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
SELECT = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_ubyte),
    ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p)
# Kept for as long as libssl may call them.
anybody = VERIFY(lambda fine, store: 1)
protocol = ctypes.create_string_buffer(ALPN[1:])
# The questions for the nameplate of a spoken code.
CODES = b"\x0bwaft-code/1"
questions = ctypes.create_string_buffer(CODES[1:])


@SELECT
def select(connection, out, length, offered, count, context):
    asks = ctypes.string_at(offered, count) == CODES
    out[0] = ctypes.addressof(questions if asks else protocol)
    length[0] = len(CODES if asks else ALPN) - 1
    return 0


def pointer(value):
    return ctypes.c_void_p(value)


class Identity:
    """A key of its own, made where it is missing."""

    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.key, self.certificate = folder + "/key.pem", folder + "/certificate.pem"
        if not os.path.exists(self.certificate):
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                 "3650", "-subj", "/CN=stranger", "-keyout", self.key, "-out", self.certificate],
                check=True, stderr=subprocess.DEVNULL)
        self.context = pointer(ssl.SSL_CTX_new(pointer(ssl.TLS_method())))
        ssl.SSL_CTX_ctrl(self.context, 123, ctypes.c_long(TLS_1_3), None)  # SSL_CTRL_SET_MIN_PROTO_VERSION
        ssl.SSL_CTX_set_num_tickets(self.context, ctypes.c_size_t(0))
        fine = ssl.SSL_CTX_use_certificate_file(self.context, self.certificate.encode(), 1)
        fine = fine and ssl.SSL_CTX_use_PrivateKey_file(self.context, self.key.encode(), 1)
        if not fine:
            raise OSError("the key cannot be read")
        ssl.SSL_CTX_set_verify(self.context, 3, anybody)  # a certificate is demanded
        ssl.SSL_CTX_set_alpn_protos(self.context, ALPN, len(ALPN))
        ssl.SSL_CTX_set_alpn_select_cb(self.context, select, None)
        self.id = key_id(pointer(ssl.SSL_CTX_get0_certificate(self.context)))


ssl.SSL_CTX_get0_certificate.restype = ctypes.c_void_p


def key_id(certificate):
    """SHA-256 of the SubjectPublicKeyInfo."""
    key = pointer(crypto.X509_get_X509_PUBKEY(certificate))
    buffer = ctypes.create_string_buffer(crypto.i2d_X509_PUBKEY(key, None))
    crypto.i2d_X509_PUBKEY(key, ctypes.byref(ctypes.c_void_p(ctypes.addressof(buffer))))
    return hashlib.sha256(buffer.raw).digest()


class Closed(Exception):
    pass


class Connection:
    """One secured connection, and the HTTP messages on it."""

    def __init__(self, identity, connected, accepting=False):
        self.socket = connected
        self.rest = b""
        self.ssl = pointer(ssl.SSL_new(identity.context))
        ssl.SSL_set_fd(self.ssl, connected.fileno())
        if (ssl.SSL_accept if accepting else ssl.SSL_connect)(self.ssl) != 1:
            raise Closed("no handshake")
        self.own = identity.id
        self.peer = key_id(pointer(ssl.SSL_get1_peer_certificate(self.ssl)))

    @staticmethod
    def to(identity, address, source=None):
        host, port = address.rsplit(":", 1)
        origin = (source, 0) if source else None
        return Connection(identity, socket.create_connection((host.strip("[]"), int(port)), source_address=origin))

    def exporter(self):
        label, out = b"EXPERIMENTAL Waft pairing 1", ctypes.create_string_buffer(32)
        if ssl.SSL_export_keying_material(
                self.ssl, out, ctypes.c_size_t(32), label, ctypes.c_size_t(len(label)), b"", ctypes.c_size_t(0), 1) != 1:
            raise Closed("nothing was exported")
        return out.raw

    def close(self):
        ssl.SSL_shutdown(self.ssl)
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()

    # Bytes

    def write(self, data):
        while data:
            count = ssl.SSL_write(self.ssl, data, len(data))
            if count <= 0:
                raise Closed("not written")
            data = data[count:]

    def more(self):
        buffer = ctypes.create_string_buffer(16384)
        count = ssl.SSL_read(self.ssl, buffer, len(buffer))
        if count <= 0:
            raise Closed("the other side has closed")
        self.rest += buffer.raw[:count]

    def line(self):
        while b"\r\n" not in self.rest:
            self.more()
        line, self.rest = self.rest.split(b"\r\n", 1)
        return line.decode("latin-1")

    def exactly(self, count):
        while len(self.rest) < count:
            self.more()
        data, self.rest = self.rest[:count], self.rest[count:]
        return data

    # Messages

    def message(self, passing=True):
        """The first line and the body of what comes next; interim answers, 101 among them, are passed over."""
        while True:
            first, fields = self.line(), {}
            while line := self.line():
                name, value = line.split(":", 1)
                fields[name.lower()] = value.strip()
            if first.startswith("HTTP/1.1 1"):
                if not passing and first.startswith("HTTP/1.1 101"):
                    return first, b""
                continue
            if fields.get("transfer-encoding") != "chunked":
                return first, self.exactly(int(fields.get("content-length", 0)))
            body = b""
            while size := int(self.line(), 16):
                body += self.exactly(size)
                self.line()
            self.line()
            return first, body

    def request(self, method, path, body=b"", kind="application/json"):
        """The status and the body of the answer."""
        self.write(head(f"{method} {path} HTTP/1.1", body, kind, "host: waft\r\n") + body)
        first, answer = self.message()
        return int(first.split()[1]), answer

    # Contents, which leave HTTP

    def frame(self):
        """The type and the payload of the next frame."""
        header = self.exactly(8)
        return header[0], self.exactly(int.from_bytes(header[4:], "big"))

    def begin_contents(self, path):
        """Nothing if the connection has left HTTP, or the status and the body of the refusal."""
        self.write(f"POST {path} HTTP/1.1\r\nhost: waft\r\nconnection: upgrade\r\nupgrade: {CONTENTS}\r\n"
                   "content-length: 0\r\n\r\n".encode())
        first, body = self.message(passing=False)
        if not first.startswith("HTTP/1.1 101"):
            return int(first.split()[1]), body

    def send_contents(self, path, frames):
        """The status and the body of the answer; 200 and the receipt if the contents were taken."""
        if refusal := self.begin_contents(path):
            return refusal
        self.write(frames)
        status, text = 200, b""
        while True:
            kind, payload = self.frame()
            if kind == END:
                return status, text
            if kind == CANCEL:
                status = 409
            elif kind == DATA:
                text += payload

    def take_contents(self):
        """Answers 101, and reads contents to their last frame."""
        self.switch()
        while self.frame()[0] not in (END, CANCEL):
            pass

    def switch(self):
        self.write(f"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: {CONTENTS}\r\n\r\n".encode())

    def answer(self, document, *items, status="200 OK"):
        body = lines(document, *items)
        self.write(head(f"HTTP/1.1 {status}", body, "application/json") + body)


CONTENTS = "waft-contents/1"
DATA, END, CANCEL, WAITING = 0x06, 0x0A, 0x0B, 0x80


def frame(kind, payload=b""):
    return bytes([kind, 0, 0, 0]) + len(payload).to_bytes(4, "big") + payload


def field(tag, value):
    return bytes([tag]) + len(value).to_bytes(2, "big") + value


def lines(message, *items):
    """A message and its items, one a line."""
    return b"".join(json.dumps(line).encode() + b"\n" for line in (message, *items))


def message_of(text):
    """The message that a text of lines begins with."""
    return json.loads(text.split(b"\n")[0])


def head(first, body, kind, more=""):
    return f"{first}\r\n{more}content-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode()


class Listener:
    def __init__(self, identity, host="127.0.0.1"):
        self.identity = identity
        self.socket = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.port = self.socket.getsockname()[1]

    def accept(self):
        while True:
            connected, _ = self.socket.accept()
            try:
                return Connection(self.identity, connected, accepting=True)
            except Closed:
                connected.close()
