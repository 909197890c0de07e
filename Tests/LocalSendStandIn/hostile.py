"""A machine that announces what is not so, and servers that count. For LabTests.

    hostile.py FOLDER ADDRESS

ADDRESS is that of the interface. It prints one JSON document a line, takes one from each line of standard input, and ends
with it:

    {"do": "serve", "port": PORT, "host": ADDRESS, "answer": TEXT}     a TLS server with a certificate of its own; it says
                                                                       of each connection how many bytes came
    {"do": "shout", "device": KEYS, "times": COUNT, "pause": SECONDS, "source": ADDRESS}
                                                announces a device; with `times`, each has a fingerprint of its own
    {"do": "hush"}                              ends the announcements that are under way
"""
import json
import math
import os
import socket
import sys
import threading
import time

from secure import Closed, Connection, Identity

GROUP, PORT = "224.0.0.167", 53317
printing, hushed = threading.Lock(), threading.Event()


def say(event, **facts):
    with printing:
        print(json.dumps({"event": event, **facts}), flush=True)


def serve(folder, port, host, answer=None):
    identity = Identity(f"{folder}/{port}")
    context = identity.context(False)
    listener = socket.create_server((host, port))
    say("serving", port=port, fingerprint=identity.fingerprint)

    def run(connected):
        first, count = "", 0
        try:
            connection = Connection(context, connected, accepting=True, checks=False)
        except Closed:
            # A client that does not like the certificate leaves in the handshake.
            connected.close()
            return say("visited", port=port, bytes=0, first="")
        try:
            connection.more()
            first = connection.rest.split(b"\r\n")[0].decode(errors="replace")
            if answer:
                connection.write(answer.encode())
            while True:
                connection.more()
        except Closed:
            count = len(connection.rest)
        connection.close()
        say("visited", port=port, bytes=count, first=first)

    while True:
        connected, _ = listener.accept()
        threading.Thread(target=run, args=(connected,), daemon=True).start()


def shout(address, device, times=1, pause=0, source=None):
    group = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if source:
        group.bind((source, 0))
    group.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
    whole = {"alias": "mallory", "version": "2.1", "deviceModel": "x", "deviceType": "mobile", "protocol": "https",
             "download": False, "announce": True, **device}
    begin = time.monotonic()
    for _ in range(times):
        if hushed.is_set():
            break
        if times > 1:
            whole["fingerprint"] = os.urandom(32).hex().upper()
        group.sendto(json.dumps(whole).encode(), (GROUP, PORT))
        time.sleep(pause)
    say("shouted", seconds=math.ceil(time.monotonic() - begin))


def main(folder, address):
    say("listening")
    for line in sys.stdin:
        order = json.loads(line)
        what = order.pop("do")
        if what == "hush":
            hushed.set()
            continue
        if what == "serve":
            work, values = serve, {"folder": folder, "host": address, **order}
        else:
            work, values = shout, {"address": address, **order}
        threading.Thread(target=work, kwargs=values, daemon=True).start()
    os._exit(0)


main(*sys.argv[1:])
