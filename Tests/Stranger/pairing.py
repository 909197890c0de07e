"""Comparing, as in Pairing.md, section 4: both roles, each message in the hands of whoever plays them."""
import hashlib
import hmac
import json
import os

PATH = "/waft/1/pairing"


def parts(*values):
    return b"".join(len(value).to_bytes(4, "big") + value for value in values)


def derived(purpose, binding, initiators, responders, count):
    key = hmac.digest(b"Waft pairing 1", parts(initiators, responders), "sha256")
    info, out, number = parts(b"Waft pairing 1 " + purpose, *binding), b"", 1
    while len(out) < count:
        out += hmac.digest(key, out[-32:] + info + bytes([number]), "sha256")
        number += 1
    return out[:count]


class Comparing:
    """What both sides of one pairing derive."""

    def __init__(self, initiator, responder, exporter):
        self.binding = (initiator, responder, exporter)
        self.nonce = os.urandom(32)
        self.other = None

    def commitment(self):
        return hashlib.sha256(parts(b"Waft pairing 1 commitment", *self.binding, self.nonce)).digest()

    def value(self, purpose, count, initiating):
        nonces = (self.nonce, self.other) if initiating else (self.other, self.nonce)
        return derived(purpose, self.binding, *nonces, count)

    def digits(self, initiating):
        string = self.value(b"short string", 11, initiating)
        return f"{int.from_bytes(string[:8], 'big') % 1_000_000:06}"


def letter(role, step, value, name=None):
    message = {"v": 1, "from": role, "step": step, "value": value.hex()}
    if name is not None:
        message["name"] = name
    return json.dumps(message).encode()


class Refused(Exception):
    pass


def opened(body, step):
    message = json.loads(body)
    if message.get("step") != step:
        raise Refused(message.get("reason", message.get("step")))
    return bytes.fromhex(message["value"])


def check_vectors():
    ids = [bytes(range(start, start + 32)) for start in (0x00, 0x20, 0x40)]
    mine = Comparing(*ids)
    mine.nonce, mine.other = bytes(range(0x60, 0x80)), bytes(range(0x80, 0xA0))
    assert mine.commitment().hex() == "c6fbe549deb67d2fcef5b7a8887898252f43b81284c1f3816999f34124b5838a"
    assert mine.digits(True) == "950141"
    assert mine.value(b"agreement", 32, True).hex() == (
        "c601b737337f876067055bd79a65a3915b9ee3b6063b73d7751ed2cc5d9c53a2")


if __name__ == "__main__":
    check_vectors()
