"""A peer that does what no Waft does: it stands in between, floods, and gives itself names. For LabTests.

    stranger.py middle FOLDER HOST:PORT        pairs with both sides by itself, and shows what each of them sees
    stranger.py relay  FOLDER HOST:PORT        passes all that is said in pairing on as it is
    stranger.py flood  FOLDER HOST:PORT COUNT  offers so many times, eight at a time
    stranger.py offer  FOLDER HOST:PORT JSON   offers texts: the message with its items, and in items[].text the contents
    stranger.py pair   FOLDER HOST:PORT JSON   begins to pair, as {"name": …}
    stranger.py serve  FOLDER JSON             answers as {"name": …, "reason": …, "answer": …, "host": …, "receipt": an item};
                                               says for ever that it is at work at the resource "stall", closes "closing"
                                               connections at once, is busy for "busy" offers, and says to show the spoken
                                               code of every nameplate
    stranger.py hoard  FOLDER HOST:PORT COUNT  begins so many offers of 24 MiB and never ends them
    stranger.py occupy FOLDER HOST:PORT COUNT  has so many connections, and asks for a card on each all the time
    stranger.py trickle FOLDER HOST:PORT COUNT begins the contents of so many offers, and never ends them
    stranger.py items  FOLDER HOST:PORT COUNT  offers 10,000 items, so many times

FOLDER holds its key. It prints one JSON document a line, and ends with its standard input.
"""
import hashlib
import json
import os
import queue
import sys
import threading
import time

import crowd
import pairing
from pairing import Comparing, Refused, letter, opened
from wire import CANCEL, DATA, END, WAITING, Closed, Connection, Identity, Listener, field, frame, lines, message_of

printing = threading.Lock()


def say(event, **facts):
    with printing:
        print(json.dumps({"event": event, **facts}), flush=True)


def leave_with_input():
    def wait():
        while os.read(0, 4096):
            pass
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def serve(identity, conversation, host="127.0.0.1"):
    listener = Listener(identity, host)
    say("listening", port=listener.port, id=identity.id.hex())

    def run(connection):
        try:
            conversation(connection)
        except (Closed, Refused) as end:
            say("ended", reason=str(end))
        connection.close()

    while True:
        threading.Thread(target=run, args=(listener.accept(),), daemon=True).start()


# In between


def middle(identity, address):
    def conversation(victim):
        _, body = victim.message()
        if json.loads(body).get("step") != "commit":
            return victim.answer({"v": 1, "step": "refused", "reason": "closed"})
        inner = Comparing(victim.peer, identity.id, victim.exporter())
        far = Connection.to(identity, address)
        outer = Comparing(identity.id, far.peer, far.exporter())
        try:
            ask = lambda step, value: far.request("POST", pairing.PATH, letter("initiator", step, value, "kitchen"))[1]
            outer.other = opened(ask("commit", outer.commitment()), "nonce")
            victim.answer(json.loads(letter("responder", "nonce", inner.nonce, "kitchen")))
            inner.other = opened(victim.message()[1], "reveal")
            opened(ask("reveal", outer.nonce), "agree")
            say("middle", initiator=inner.digits(False), responder=outer.digits(True))
            victim.answer(json.loads(letter("responder", "agree", inner.value(b"agreement", 32, False))))
            # Whatever this user says, the other one is told that it was a yes.
            step = json.loads(victim.message()[1])
            say("said", step=step["step"], reason=step.get("reason"))
            victim.answer({"v": 1, "step": "refused", "reason": "declined"})
            end = json.loads(ask("confirm", outer.value(b"confirmation of the initiator", 32, True)))
            say("answered", step=end["step"], reason=end.get("reason"))
        except Refused as refusal:
            # The victim's open request, if there is one, hears of it.
            say("refused", reason=str(refusal))
            victim.answer({"v": 1, "step": "refused", "reason": str(refusal)})
            victim.message()
        finally:
            far.close()

    serve(identity, conversation)


def relay(identity, address):
    def conversation(victim):
        far = Connection.to(identity, address)
        try:
            while True:
                _, body = victim.message()
                _, answer = far.request("POST", pairing.PATH, body)
                say("relayed", step=json.loads(body)["step"], answer=json.loads(answer).get("reason"))
                victim.answer(json.loads(answer))
        finally:
            far.close()

    serve(identity, conversation)


# Offering


def transfer():
    return os.urandom(16).hex()


def flood(identity, address, count):
    left = queue.Queue()
    for number in range(int(count)):
        left.put(number)
    tally, lock = {}, threading.Lock()

    def work():
        connection = None
        while True:
            try:
                number = left.get_nowait()
            except queue.Empty:
                return
            item = {"kind": "text", "name": f"spam {number}.txt", "type": "public.plain-text", "size": 5}
            offer = {"v": 1, "transfer": transfer(), "sender": {"name": "spammer"},
                     "annotation": {"note": "x" * 16_000}}
            try:
                connection = connection or Connection.to(identity, address)
                _, answer = connection.request("POST", "/waft/1/offers", lines(offer, *[item] * 20))
                answer = message_of(answer)["default"]
            except (Closed, OSError):
                connection, answer = None, "closed"
            with lock:
                tally[answer] = tally.get(answer, 0) + 1
                say("tally", **tally)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    say("done", **tally)


def contents(texts):
    out = b""
    for number, text in enumerate(texts):
        data = text.encode()
        digest = field(7, hashlib.sha256(data).digest())
        out += frame(1, number.to_bytes(4, "big"))
        out += frame(2, field(2, b"\0") + field(4, len(data).to_bytes(8, "big")))
        out += frame(6, data) + frame(7, digest) + frame(8, digest)
    return out + frame(10)


def offer(identity, address, text):
    message = json.loads(text)
    items = message.pop("items")
    texts = [item.pop("text", "hello") for item in items]
    for item, body in zip(items, texts):
        item.setdefault("kind", "text")
        item.setdefault("type", "public.plain-text")
        item["size"] = len(body.encode())
    message = {"v": 1, "transfer": transfer(), "digests": ["sha-256"], **message}
    connection = Connection.to(identity, address)
    status, answer = connection.request("POST", "/waft/1/offers", lines(message, *items))
    say("verdict", status=status, answer=message_of(answer).get("default"), body=answer.decode())
    if message_of(answer).get("default") == "accepted":
        path = f"/waft/1/transfers/{message['transfer']}/contents"
        status, answer = connection.send_contents(path, contents(texts))
        say("receipt", status=status, body=answer.decode())
    connection.close()
    say("done")


def pair(identity, address, text):
    name = json.loads(text)["name"]
    far = Connection.to(identity, address)
    mine = Comparing(identity.id, far.peer, far.exporter())
    ask = lambda step, value: far.request("POST", pairing.PATH, letter("initiator", step, value, name))[1]
    try:
        mine.other = opened(ask("commit", mine.commitment()), "nonce")
        opened(ask("reveal", mine.nonce), "agree")
        say("compare", initiator=mine.digits(True))
        opened(ask("confirm", mine.value(b"confirmation of the initiator", 32, True)), "confirm")
        say("paired")
    except Refused as refusal:
        say("refused", reason=str(refusal))
    far.close()
    say("done")


# Being offered something


def answer_as(identity, facts):
    left = {"closing": facts.get("closing", 0), "busy": facts.get("busy", 0)}

    def takes(kind):
        left[kind] -= 1
        return left[kind] >= 0

    def conversation(peer):
        shared = None
        if takes("closing"):
            return say("closed")
        while True:
            first, body = peer.message()
            method, path, _ = first.split()
            say("asked", method=method, path=path)
            is_stalling = path.endswith("/" + facts.get("stall", "/"))
            if path.endswith("/contents"):
                peer.take_contents()
            while is_stalling:
                peer.write(frame(WAITING) if path.endswith("/contents") else b"HTTP/1.1 102 Processing\r\n\r\n")
                time.sleep(0.02)
            if path.endswith("/offers") and takes("busy"):
                peer.answer({"v": 1, "digest": "sha-256", "default": "busy", "reason": "too many items"})
            elif path.endswith("/contents") and "receipt" in facts:
                receipt = lines({"v": 1, "transfer": path.split("/")[4]}, facts["receipt"])
                return peer.write(frame(DATA, receipt) + frame(END))
            elif "/codes/" in path:
                peer.answer({"v": 1, "open": True})
            elif path.endswith("/card"):
                peer.answer({"v": 1, "name": facts["name"], "device": facts["name"]})
            elif path.endswith("/offers"):
                common = {"v": 1, "digest": "sha-256", "default": facts.get("answer", "declined")}
                peer.answer(common | {"reason": facts.get("reason", "no")})
            elif path.endswith("/contents"):
                fault = field(8, b"storage") + field(9, facts["reason"].encode())
                return peer.write(frame(CANCEL, fault) + frame(END))
            elif path == pairing.PATH:
                step = json.loads(body)["step"]
                if step == "commit":
                    shared = Comparing(peer.peer, identity.id, peer.exporter())
                    peer.answer(json.loads(letter("responder", "nonce", shared.nonce, facts["name"])))
                elif step == "reveal":
                    shared.other = opened(body, "reveal")
                    peer.answer(json.loads(letter("responder", "agree", shared.value(b"agreement", 32, False))))
                    say("compare", responder=shared.digits(False))
                else:
                    peer.answer({"v": 1, "step": "refused", "reason": facts.get("reason", "failed")})
            else:
                peer.answer({"v": 1, "fault": "not-accepted", "message": facts.get("reason", "no")}, status="403 Forbidden")

    serve(identity, conversation, facts.get("host", "127.0.0.1"))


def main(role, folder, *words):
    leave_with_input()
    if role in ("hoard", "occupy", "trickle", "items"):
        getattr(crowd, role)(folder, *words, say)
        threading.Event().wait()
    identity = Identity(folder)
    if role == "serve":
        answer_as(identity, json.loads(words[0]))
    else:
        {"middle": middle, "relay": relay, "flood": flood, "offer": offer, "pair": pair}[role](identity, *words)


main(*sys.argv[1:])
