#!/usr/bin/env python3
"""Makes the vectors of this folder from the formats' definitions, without any library that Waft uses for them.

The form of what Apple's senders write (chunks, keys, wrapper, sidecars) is as independent projects have seen it; the
contents are made up. Run it in its folder; the files come out the same each time.
"""
import gzip
import plistlib
import struct
import zlib


def odc(members):
    out = b""
    for number, (name, mode, data) in enumerate(members + [("TRAILER!!!", 0, b"")]):
        raw = name.encode() + b"\0"
        out += b"070707" + b"%06o%06o%06o%06o%06o%06o%06o%011o%06o%011o" % (
            0, number, mode, 501, 20, 1, 0, 1700000000, len(raw), len(data))
        out += raw + data
    return out


def newc(members):
    out = b""
    for number, (name, mode, data) in enumerate(members + [("TRAILER!!!", 0, b"")]):
        raw = name.encode() + b"\0"
        out += b"070701" + b"%08X" * 13 % (
            number, mode, 501, 20, 1, 1700000000, len(data), 0, 0, 0, 0, len(raw), 0)
        out += raw
        out += b"\0" * (-len(out) % 4)
        out += data
        out += b"\0" * (-len(out) % 4)
    return out


def dvzip(data, block, stored):
    out = b""
    for number, start in enumerate(range(0, len(data), block)):
        piece = data[start:start + block]
        if stored(number):
            out += struct.pack(">I", 1 << 31 | len(piece)) + piece
        else:
            packed = zlib.compress(piece, 6)
            out += struct.pack(">I", len(packed)) + packed
    return out


FILE, RUN, FOLDER, LINK = 0o100644, 0o100755, 0o040755, 0o120777
SIDECAR = b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        " + b"\0" * 38
# "über.txt" and "é" as Apple decomposes them.
DECOMPOSED = "./u\u0308ber.txt"
members = [
    (".", FOLDER, b""),
    ("./hello.txt", FILE, b"hello, world\n"),
    ("./empty", FILE, b""),
    (DECOMPOSED, FILE, b"decomposed\n"),
    ("./photos", FOLDER, b""),
    ("./photos/e\u0301te\u0301", FOLDER, b""),
    ("./photos/e\u0301te\u0301/run", RUN, b"#!/bin/sh\n"),
    ("./photos/latest", LINK, "e\u0301te\u0301/run".encode()),
]


def wrap(members, folder):
    """What a current Apple sender makes of them: a folder around everything, a sidecar before each file."""
    out = [(folder, FOLDER, b"")]
    for name, mode, data in members[1:]:
        parent, _, last = (folder + "/" + name[2:]).rpartition("/")
        if mode in (FILE, RUN):
            out.append((parent + "/._" + last, FILE, SIDECAR))
        out.append((parent + "/" + last, mode, data))
    return out


wrapped = wrap(members, "NSIRD_AirDrop_x7Yz9A")
files = {
    "plain.odc.cpio": odc(members),
    "plain.newc.cpio": newc(members),
    "plain.odc.cpio.gz": gzip.compress(odc(members), mtime=0),
    "stored.dvzip": dvzip(odc(members), 64, lambda number: True),
    "deflated.dvzip": dvzip(odc(members), 256, lambda number: False),
    "mixed.dvzip": dvzip(odc(members), 100, lambda number: number % 2 == 0),
    # Blocks that no sender of good will writes.
    "oversized.dvzip": dvzip(b"0" * (131072 + 1), 131073, lambda number: False),
    "behind.dvzip": struct.pack(">I", len(zlib.compress(b"0")) + 1) + zlib.compress(b"0") + b"!",
    "endless.dvzip": struct.pack(">I", len(zlib.compress(b"0")) - 1) + zlib.compress(b"0")[:-1],
    "empty.dvzip": struct.pack(">I", 1 << 31),
    "long.dvzip": struct.pack(">I", 1 << 31 | 131073) + b"0" * 131073,
    "apple.dvzip": dvzip(odc(wrapped), 65536, lambda number: False),
    "discover.opendrop.plist": plistlib.dumps({"SenderRecordData": b""}, fmt=plistlib.FMT_BINARY),
    "discover.apple.plist": plistlib.dumps(
        {"SenderRecordData": b"", "DeviceSupportFlags": 111611}, fmt=plistlib.FMT_BINARY),
    "ask.opendrop.plist": plistlib.dumps({
        "SenderComputerName": "opendrop", "BundleID": "com.apple.finder", "SenderModelName": "OpenDrop",
        "SenderID": "0123456789ab", "ConvertMediaFormats": False,
        "Files": [
            {"FileName": name, "FileType": kind, "FileBomPath": "./" + name, "FileIsDirectory": folder,
             "ConvertMediaFormats": 0}
            for name, kind, folder in [
                ("hello.txt", "public.plain-text", False), ("empty", "public.content", False),
                ("u\u0308ber.txt", "public.plain-text", False), ("photos", "public.folder", True)]],
    }, fmt=plistlib.FMT_BINARY),
    "ask.apple.plist": plistlib.dumps({
        "SenderComputerName": "Anna\u2019s MacBook Pro", "BundleID": "com.apple.finder",
        "SenderModelName": "MacBookPro18,3", "SenderID": "a1b2c3d4e5f6", "ConvertMediaFormats": False,
        "TransferID": {"id": "6F9619FF-8B86-D011-B42D-00C04FC964FF"}, "TransferType": {"files": {}}, "Items": [],
        "SenderRecordData": b"", "FileIcon": b"\x00\x00\x00\x0cjP  \r\n\x87\n" + b"\0" * 64,
        "Files": [
            {"FileName": name, "FileType": kind, "FileBomPath": "./" + name, "FileIsDirectory": folder,
             "ConvertMediaFormats": False, "FileSubType": 0, **({} if folder else {"FileSize": size})}
            for name, kind, folder, size in [
                ("hello.txt", "public.plain-text", False, 13), ("empty", "public.data", False, 0),
                ("u\u0308ber.txt", "public.plain-text", False, 11), ("photos", "public.folder", True, 0)]],
    }, fmt=plistlib.FMT_BINARY),
    "ask.link.plist": plistlib.dumps({
        "SenderComputerName": "Phone", "SenderModelName": "iPhone15,2", "SenderID": "a1b2c3d4e5f6",
        "BundleID": "com.apple.mobilesafari", "ConvertMediaFormats": False,
        "Items": ["https://example.com/path?a=b"], "TransferType": {"links": {}}}, fmt=plistlib.FMT_BINARY),
}
for name, data in files.items():
    with open(name, "wb") as file:
        file.write(data)
