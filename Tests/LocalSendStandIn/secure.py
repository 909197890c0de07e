"""TLS as LocalSend's app speaks it, and HTTP/1.1 over it.

The ssl module cannot ask a client for a certificate that nobody has signed: this goes to the system's libssl itself.
"""
import ctypes
import hashlib
import os
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Stranger"))
import wire
from wire import Closed, crypto, pointer, ssl

for name in ("X509_get0_pubkey", "X509_get0_notBefore", "X509_get0_notAfter", "X509_get_subject_name", "X509_NAME_dup"):
    getattr(crypto, name).restype = ctypes.c_void_p
crypto.X509_get_version.restype = ctypes.c_long


class Identity:
    """A certificate as the app makes it: RSA-2048, signed by itself. Made where it is missing."""

    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.key, self.certificate = folder + "/key.pem", folder + "/certificate.pem"
        if not os.path.exists(self.certificate):
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj",
                 "/CN=LocalSend User", "-keyout", self.key, "-out", self.certificate],
                check=True, stderr=subprocess.DEVNULL)
        self.fingerprint = fingerprint(pointer(ssl.SSL_CTX_get0_certificate(self.context(False))))

    def context(self, asks, shows=True):
        """asks: a certificate is demanded of the other side. shows: this one is sent."""
        context = pointer(ssl.SSL_CTX_new(pointer(ssl.TLS_method())))
        ssl.SSL_CTX_ctrl(context, 123, ctypes.c_long(0x0303), None)  # SSL_CTRL_SET_MIN_PROTO_VERSION: TLS 1.2
        if shows:
            fine = ssl.SSL_CTX_use_certificate_file(context, self.certificate.encode(), 1)
            if not (fine and ssl.SSL_CTX_use_PrivateKey_file(context, self.key.encode(), 1)):
                raise OSError("the key cannot be read")
        if asks:
            ssl.SSL_CTX_set_verify(context, 3, wire.anybody)
            # The only authority that it names is itself.
            own = pointer(ssl.SSL_CTX_get0_certificate(context))
            ssl.SSL_CTX_add_client_CA(context, own)
        return context


def fingerprint(certificate):
    buffer = ctypes.create_string_buffer(crypto.i2d_X509(certificate, None))
    crypto.i2d_X509(certificate, ctypes.byref(ctypes.c_void_p(ctypes.addressof(buffer))))
    return hashlib.sha256(buffer.raw).hexdigest().upper()


def fault(certificate):
    """What 1.18 does not like about a certificate; nothing if it is fine."""
    if crypto.X509_get_version(certificate) != 2:
        return "it is not X.509 v3"
    if crypto.X509_verify(certificate, pointer(crypto.X509_get0_pubkey(certificate))) != 1:
        return "it is not signed by itself"
    if crypto.X509_cmp_time(pointer(crypto.X509_get0_notBefore(certificate)), None) >= 0:
        return "it begins later"
    if crypto.X509_cmp_time(pointer(crypto.X509_get0_notAfter(certificate)), None) <= 0:
        return "it has ended"


class Connection(wire.Connection):
    """checks: whether the other side's certificate is looked at, as 1.18 does. pinned: its fingerprint."""

    def __init__(self, context, connected, accepting=False, checks=True, pinned=None, limit=None):
        self.socket, self.rest, self.own = connected, b"", None
        # A limit of Python's would make the socket non-blocking.
        connected.settimeout(None)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if limit:
            time = struct.pack("ll", int(limit), int(limit % 1 * 1_000_000))
            for way in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                connected.setsockopt(socket.SOL_SOCKET, way, time)
        self.ssl = pointer(ssl.SSL_new(context))
        if not accepting:
            ssl.SSL_set_alpn_protos(self.ssl, b"\x08http/1.1", 9)
        ssl.SSL_set_fd(self.ssl, connected.fileno())
        if (ssl.SSL_accept if accepting else ssl.SSL_connect)(self.ssl) != 1:
            raise Closed("no handshake")
        certificate = ssl.SSL_get1_peer_certificate(self.ssl)
        self.fingerprint = fingerprint(pointer(certificate)) if certificate else None
        trouble = fault(pointer(certificate)) if certificate and checks else None
        if not certificate and checks:
            trouble = "no certificate"
        if pinned and pinned != self.fingerprint:
            trouble = "another certificate than the announced one"
        if trouble:
            self.close()
            raise Closed(trouble)

    @staticmethod
    def to_device(context, address, limit=None, **rules):
        return Connection(context, socket.create_connection(address, timeout=limit), limit=limit, **rules)

    # Messages

    def head(self):
        """The first line, and the fields in lower case."""
        first, fields = self.line(), {}
        while line := self.line():
            name, value = line.split(":", 1)
            fields[name.lower()] = value.strip()
        return first, fields

    def pieces(self, fields):
        """The body, piece by piece."""
        if fields.get("transfer-encoding") == "chunked":
            while size := int(self.line().split(";")[0], 16):
                yield self.exactly(size)
                self.line()
            self.line()
            return
        left = int(fields.get("content-length", 0))
        while left:
            if not self.rest:
                self.more()
            piece, self.rest = self.rest[:left], self.rest[left:]
            left -= len(piece)
            yield piece

    def answer(self):
        """The status and the body."""
        while True:
            first, fields = self.head()
            body = b"".join(self.pieces(fields))
            if not first.startswith("HTTP/1.1 1"):
                return int(first.split()[1]), body

    def ask(self, method, path, body=b"", kind="application/json"):
        self.write(f"{method} {path} HTTP/1.1\r\nhost: localsend\r\ncontent-type: {kind}\r\n"
                   f"content-length: {len(body)}\r\n\r\n".encode() + body)
        return self.answer()

    def reply(self, status, body=b""):
        self.write(f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)


class Plain(Connection):
    """Without TLS, as a device on which its user has switched encryption off."""

    def __init__(self, connected):
        self.socket, self.rest, self.own, self.fingerprint = connected, b"", None, None

    def write(self, data):
        self.socket.sendall(data)

    def more(self):
        data = self.socket.recv(65536)
        if not data:
            raise Closed("the end")
        self.rest += data

    def close(self):
        self.socket.close()
