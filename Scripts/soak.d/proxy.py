"""A failing network: a proxy between sender and receiver, which applies its plan to one connection."""

import random
import socket
import threading
import time


class Plan:
    """A fault of the next connection, after a number of bytes in one direction."""

    KINDS = ["cut", "reset", "stall", "corrupt", "delay"]

    def __init__(self, rng, most):
        self.kind = rng.choice(self.KINDS)
        # The first bytes are the handshake and the offer, most others are contents: hit both often.
        self.after = rng.choice([rng.randrange(0, 6_000), rng.randrange(0, max(most, 1))])
        self.to_receiver = rng.random() < 0.85
        self.seconds = rng.uniform(0.05, 0.6)

    def __str__(self):
        return f"{self.kind} after {self.after} bytes {'to' if self.to_receiver else 'from'} the receiver"


class Proxy:
    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.target = None
        self.happened = 0
        self._plan = None
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self, plan):
        with self._lock:
            self._plan = plan

    def disarm(self):
        """Removes a plan that has not been used."""
        with self._lock:
            plan, self._plan = self._plan, None
        return plan

    def _accept(self):
        while True:
            near, _ = self.listener.accept()
            with self._lock:
                plan, self._plan = self._plan, None
            threading.Thread(target=self._serve, args=(near, plan), daemon=True).start()

    def _serve(self, near, plan):
        try:
            far = socket.create_connection(("127.0.0.1", self.target), timeout=5)
            far.settimeout(None)
        except OSError:
            near.close()
            if plan:
                self.arm(plan)
            return
        pumps = [threading.Thread(target=self._pump, args=(near, far, plan if plan and plan.to_receiver else None)),
                 threading.Thread(target=self._pump, args=(far, near, plan if plan and not plan.to_receiver else None))]
        for pump in pumps:
            pump.daemon = True
            pump.start()
        for pump in pumps:
            pump.join()
        near.close()
        far.close()

    def _pump(self, source, sink, plan):
        seen = 0
        try:
            while data := source.recv(65_536):
                if plan and seen + len(data) > plan.after:
                    place, self.happened = max(plan.after - seen, 0), self.happened + 1
                    kind, plan_now = plan.kind, plan
                    plan = None
                    if kind == "corrupt":
                        data = data[:place] + bytes([data[place] ^ 0x40]) + data[place + 1:]
                    elif kind == "delay":
                        time.sleep(plan_now.seconds)
                    else:
                        sink.sendall(data[:place])
                        if kind == "stall":
                            time.sleep(plan_now.seconds * 4)
                        if kind == "reset":
                            for end in (source, sink):
                                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                        break
                seen += len(data)
                sink.sendall(data)
        except OSError:
            pass
        finally:
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass


def plans(seed, most):
    """Endless plans, the same for the same seed."""
    rng = random.Random(seed)
    while True:
        yield Plan(rng, most)
