#!/usr/bin/env python3
"""Makes genuine.sh and forged.sh: two scripts with one size and one XXH3-128, and two SHA-256.

A lane of a stripe whose key has a zero half adds no product to the state, only its own value. Two stripes, one with zero
lower halves and one with zero upper halves, set each lane of the state to any value: to that of the genuine script.
"""
import pathlib
import struct

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8"
    "fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb17"
    "0ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
P32 = [0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D]
P64 = [0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5]
MASK = 2**64 - 1
SIZE = 1100


def lanes(data, at):
    return struct.unpack_from("<8Q", data, at)


def state(data, stripes):
    """The state after so many stripes of the first block."""
    acc = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]
    for stripe in range(stripes):
        for lane, (value, secret) in enumerate(zip(lanes(data, 64 * stripe), lanes(SECRET, 8 * stripe))):
            key = value ^ secret
            acc[lane ^ 1] = (acc[lane ^ 1] + value) & MASK
            acc[lane] = (acc[lane] + (key & 0xFFFFFFFF) * (key >> 32)) & MASK
    return acc


def script(word):
    return f"#!/bin/sh\necho {word}\nexit 0\n".encode()


genuine = script("good").ljust(SIZE, b"#")
beginning = script("EVIL").ljust(64, b"#")
target = state(genuine, 3)
acc = state(beginning, 1)
first, second = [], []
for lane in range(8):
    missing = (target[lane ^ 1] - acc[lane ^ 1]) & MASK
    (one, two) = (lanes(SECRET, 8)[lane], lanes(SECRET, 16)[lane])
    # The lower half of the first value and the upper half of the second are those of the secret.
    low = (missing - one) & 0xFFFFFFFF
    value = two & ~0xFFFFFFFF | low
    second.append(value)
    first.append((missing - value) & MASK)
    assert (first[-1] ^ one) & 0xFFFFFFFF == 0 and (value ^ two) >> 32 == 0
forged = beginning + struct.pack("<8Q", *first) + struct.pack("<8Q", *second) + genuine[192:]
assert state(forged, 3) == target and len(forged) == SIZE
here = pathlib.Path(__file__).parent
(here / "genuine.sh").write_bytes(genuine)
(here / "forged.sh").write_bytes(forged)
