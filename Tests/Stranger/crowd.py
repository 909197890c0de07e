"""Many strangers at once: from four addresses of loopback, with as many keys as they need.

Each of these takes what all peers share of a receiver, and holds it for as long as it can."""
import os
import threading
import time

from wire import WAITING, Closed, Connection, Identity, frame, head, lines, message_of

LARGEST = 8 << 20
ADDRESSES = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"]
# One key has 32 connections at most.
CONNECTIONS_PER_KEY = 32


def crowd(folder, address, count, say, conduct):
    """Has so many connections, each of which does as `conduct(connection, number, note)` says until it is closed.

    Says `begun` when each has noted that it has begun, or was closed before; then `closed` for each that is closed later,
    and `over` when all are closed."""
    threading.stack_size(512 << 10)
    keys = [Identity(f"{folder}-{number}") for number in range(count // CONNECTIONS_PER_KEY + 1)]
    lock, begun, over = threading.Lock(), set(), set()
    # Those whose handshakes are under way: the receiver evicts the oldest of too many.
    handshakes = threading.Semaphore(32)

    def add(to, number, event):
        with lock:
            before = len(to)
            to.add(number)
            if len(to) == count > before:
                say(event, closed=len(over))
            elif to is over and len(begun) == count:
                say("closed", closed=len(over))

    def run(number):
        try:
            with handshakes:
                key = keys[number // CONNECTIONS_PER_KEY]
                connection = Connection.to(key, address, source=ADDRESSES[number % len(ADDRESSES)])
            conduct(connection, number, lambda: add(begun, number, "begun"))
        except (Closed, OSError):
            pass
        add(over, number, "over")
        add(begun, number, "begun")

    for number in range(count):
        threading.Thread(target=run, args=(number,), daemon=True).start()


def hoard(folder, address, count, say):
    """Begins the largest offers that there can be: every other one as fast as it is taken, the rest drop by drop."""
    begin = head("POST /waft/1/offers HTTP/1.1", b"", "application/json", "host: waft\r\n")
    begin = begin.replace(b"content-length: 0", b"content-length: %d" % LARGEST)
    begin += lines({"v": 1, "transfer": os.urandom(16).hex()})
    item = {"kind": "file", "name": "f", "type": "public.data", "x": "x" * 300}
    part = lines(item) * 160

    def conduct(connection, number, note):
        connection.write(begin + part)
        note()
        while True:
            if number % 2:
                time.sleep(1)
            connection.write(b" " if number % 2 else part)

    crowd(folder, address, int(count), say, conduct)


def occupy(folder, address, count, say):
    """Has connections that ask for a card now and then, more often than they would be called idle."""
    def conduct(connection, number, note):
        while True:
            connection.request("GET", "/waft/1/card")
            note()
            time.sleep(3)

    crowd(folder, address, int(count), say, conduct)


def trickle(folder, address, count, say):
    """Begins the contents of accepted offers, and then sends a frame without meaning each second."""
    def conduct(connection, number, note):
        transfer = os.urandom(16).hex()
        item = {"kind": "file", "name": f"f{number}", "type": "public.data", "size": 1}
        _, answer = connection.request("POST", "/waft/1/offers", lines({"v": 1, "transfer": transfer}, item))
        if message_of(answer)["default"] != "accepted":
            raise Closed("not accepted")
        if connection.begin_contents(f"/waft/1/transfers/{transfer}/contents"):
            raise Closed("no room")
        note()
        while True:
            connection.write(frame(WAITING))
            time.sleep(1)

    crowd(folder, address, int(count), say, conduct)


def items(folder, address, count, say):
    """Offers as many items as there can be, so many times, each with a key and an address of its own."""
    threading.stack_size(512 << 10)
    listed = [{"kind": "file", "name": f"f{number}", "type": "public.data", "size": 0} for number in range(10_000)]

    def run(number):
        offer = {"v": 1, "transfer": os.urandom(16).hex()}
        try:
            connection = Connection.to(
                Identity(f"{folder}-{number}"), address, source=ADDRESSES[number % len(ADDRESSES)])
            _, answer = connection.request("POST", "/waft/1/offers", lines(offer, *listed))
            say("verdict", answer=message_of(answer)["default"])
            # And it stays.
            connection.more()
        except (Closed, OSError) as end:
            say("closed", reason=repr(end))
        except Exception as fault:  # An answer of another kind.
            say("closed", reason=repr(fault))
            raise

    for number in range(int(count)):
        threading.Thread(target=run, args=(number,), daemon=True).start()
