#!/usr/bin/env python3
"""A partner of Yoke in Python: a mass on a spring, served at a socket.

    python3 partner.py unix:partner.sock &
    yoke run partner.yaml

Speaks version 1 of the protocol (docs/protocol.md) with the standard library alone. The mass
takes a force at its port `mass` and answers with its motion; m x'' = F - k x, by the exact
solution over a step for the force at its middle.
"""
import math
import os
import socket
import struct
import sys

MASS, STIFFNESS, POSITION, VELOCITY = 2.0, 100.0, 0.1, 0.0  # kg, N/m, m, m/s
HELLO, DESCRIBE, CONNECT, START, STEP, STATE_GET, STATE_SET = 1, 3, 4, 6, 7, 12, 13
SCALAR, TAKES_WRENCH, CAN_ROLL_BACK = 0, 1, 4


def text(value):
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def good(body=b""):
    return struct.pack("<i", 0) + text("") + body


def refusal(why):
    return struct.pack("<i", -11) + text(why)


class Mass:
    def __init__(self):
        self.state = [POSITION, VELOCITY, 0.0]  # position, velocity, acceleration

    def advance(self, h, force):
        omega, rest = math.sqrt(STIFFNESS / MASS), force / STIFFNESS
        x, v = self.state[0] - rest, self.state[1]
        c, s = math.cos(omega * h), math.sin(omega * h)
        x, v = x * c + v / omega * s, v * c - x * omega * s
        self.state = [x + rest, v, -omega * omega * x]

    def values(self):
        """25 numbers of the one port, and no predictions."""
        x, v, a = self.state
        motion = [x, 0, 0, v, 0, 0, a, 0, 0, 1, 0, 0, 0] + [0] * 6
        return struct.pack("<25d", *motion, *[0] * 6) + struct.pack("<I", 0)


def read_step(body):
    """t, h and the force at the middle of the step; None where there are no inputs."""
    t, h, given = struct.unpack_from("<ddI", body)
    if not given:
        return t, h, None
    (degree,) = struct.unpack_from("<I", body, 20)
    force = 0.0
    for i in range(degree + 1):
        force += struct.unpack_from("<d", body, 24 + 48 * i)[0] * (h / 2) ** i
    return t, h, force


def answer(kind, body, mass):
    if kind == HELLO:
        if body[:8] != b"YOKEWIRE" or struct.unpack_from("<I", body, 8) != (1,):
            return refusal("this partner speaks version 1 of the protocol")
        return good(struct.pack("<I", 0) + os.urandom(32))  # no secret, no shared memory
    if kind == DESCRIBE:
        port = text("mass") + struct.pack("<II", SCALAR, TAKES_WRENCH)
        return good(text("python") + struct.pack("<III", CAN_ROLL_BACK, 0, 1) + port
                    + struct.pack("<I", 0))
    if kind == CONNECT:
        return good()
    if kind == START:
        force = read_step(body)[2] or 0.0
        mass.state = [POSITION, VELOCITY, (force - STIFFNESS * POSITION) / MASS]
        return good(struct.pack("<II", 3, 2) + mass.values())
    if kind == STEP:
        _, h, force = read_step(body)
        mass.advance(h, force)
        return good(mass.values())
    if kind == STATE_GET:
        return good(struct.pack("<3d", *mass.state))
    if kind == STATE_SET:
        mass.state = list(struct.unpack("<3d", body))
        return good(mass.values())
    return refusal("this partner does not know that question")


def serve(address):
    family, _, rest = address.partition(":")
    if family == "unix":
        server = socket.socket(socket.AF_UNIX)
        server.bind(rest)
    else:
        server = socket.socket()
        host, _, port = rest.rpartition(":")
        server.bind((host, int(port)))
    server.listen()
    stream = server.accept()[0].makefile("rwb")
    mass = Mass()
    while header := stream.read(16):
        length, kind, _, number = struct.unpack("<IHHQ", header)
        reply = answer(kind, stream.read(length), mass)
        stream.write(struct.pack("<IHHQ", len(reply), kind, 0, number) + reply)
        stream.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
