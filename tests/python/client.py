"""A client of burn.v1 that shares no code with Burn: trains a perceptron on XOR over WebSocket, and once comes back to
its session after it has lost the connection on purpose. usage: client.py HOST:PORT (PYTHONPATH: the generated code)
"""

import base64
import os
import random
import socket
import struct
import sys

from proto import burn_pb2 as pb

STEPS, RATE = 400, 0.5


class WebSocket:
    """One binary message, one frame of burn.v1 (RFC 6455)."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET / HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.exactly(1)
        assert b" 101 " in head.split(b"\r\n")[0], head

    def exactly(self, count):
        data = bytearray()
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise ConnectionError("the server went away")
            data += piece
        return bytes(data)

    def send(self, payload, opcode=2):
        mask = os.urandom(4)
        size = len(payload)
        length = bytes([0x80 | size]) if size < 126 else struct.pack(">BH", 0x80 | 126, size)  # we send little
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self.socket.sendall(bytes([0x80 | opcode]) + length + mask + masked)

    def receive(self):
        message = b""
        while True:
            first, size = self.exactly(2)
            if size > 125:
                size = int.from_bytes(self.exactly(2 if size == 126 else 8), "big")
            payload = self.exactly(size)
            opcode = first & 15
            if opcode == 9:
                self.send(payload, 10)
            elif opcode == 8:
                raise ConnectionError("the server closed")
            elif opcode in (0, 2):
                message += payload
                if first & 0x80:
                    return message


class Session:
    """Numbers what is ordered, keeps it until it is acknowledged, and counts the answers."""

    def __init__(self, address):
        self.address, self.seq, self.request, self.answers, self.kept, self.replies = address, 0, 0, 0, [], {}
        self.duplicates_sent = 0
        self.connect(pb.Hello(version=2, client="python", lease_seconds=60))
        assert self.welcome.lease_seconds > 0 and len(self.welcome.secret) == 16

    def connect(self, hello):
        self.wire = WebSocket(self.address)
        self.wire.send(pb.Frame(header=pb.Envelope(hello=hello)).SerializeToString())
        header = pb.Frame.FromString(self.wire.receive()).header
        assert header.WhichOneof("body") == "welcome", header
        self.welcome = header.welcome

    def resume(self):
        self.connect(pb.Hello(version=2, client="python", resume=pb.Resume(
            session=self.welcome.session, secret=self.welcome.secret, answers=self.answers)))
        received = self.welcome.resumed.received
        for seq, frame in self.kept:
            if seq > received - 1:  # one more than is needed: the server drops what it has
                self.duplicates_sent += seq <= received
                self.wire.send(frame)

    def send(self, payload=b"", **body):
        self.seq += 1
        frame = pb.Frame(header=pb.Envelope(seq=self.seq, **body), payload=payload).SerializeToString()
        self.kept.append((self.seq, frame))
        self.wire.send(frame)

    def write(self, id, shape, values):
        self.send(struct.pack(f"<{len(values)}f", *values),
                  write=pb.Write(id=id, type=pb.TensorType(dtype=pb.F32, shape=shape)))

    def run(self, program, inputs, first_output, scalars, release):
        bits = [struct.unpack("<Q", struct.pack("<d", value))[0] for value in scalars]
        self.send(run=pb.Run(program=program, inputs=inputs, first_output=first_output, scalars=bits, release=release))

    def ask(self, id):
        self.request += 1
        self.send(read=pb.Read(request=self.request, id=id, answers=self.answers))
        return self.request

    def answer(self, request):
        while request not in self.replies:
            frame = pb.Frame.FromString(self.wire.receive())
            kind = frame.header.WhichOneof("body")
            body = getattr(frame.header, kind)
            if kind == "ack":
                self.kept = [entry for entry in self.kept if entry[0] > body.seq]
            elif kind == "data":
                self.answers += 1
                assert body.request not in self.replies, "an answer came twice"
                self.replies[body.request] = struct.unpack(f"<{len(frame.payload) // 4}f", frame.payload)
            else:
                raise RuntimeError(f"{kind}: {body}")
        return self.replies[request]


class Builder:
    """A program of nodes with one result each."""

    def __init__(self, *shapes):
        self.program = pb.Program(inputs=[pb.Input(type=pb.TensorType(dtype=pb.F32, shape=s)) for s in shapes])

    def op(self, name, *operands, **attrs):
        node = self.program.nodes.add(op=name, operands=operands)
        for key, value in attrs.items():
            attr = node.attrs.add(name=key)
            if isinstance(value, str):
                attr.text = value
            elif isinstance(value, list):
                attr.numbers.values.extend(value)
            else:
                attr.number = value
        return len(self.program.nodes) - 1

    def pointwise(self, fn, *operands):
        return self.op("pointwise", *operands, fn=fn)


def step_program():
    """x [4, 3], y [4, 1], w1 [3, 8], w2 [8, 1] -> w1, w2, the squared error; one step of gradient descent."""
    x, y, w1, w2 = -1, -2, -3, -4
    b = Builder([4, 3], [4, 1], [3, 8], [8, 1])
    hidden = b.pointwise("tanh", b.op("matmul", x, w1))  # [4, 8]
    error = b.pointwise("sub", b.op("matmul", hidden, w2), y)  # [4, 1]
    rate = b.op("scalar", dtype="f32", slot=0)
    grad2 = b.op("matmul", b.op("permute", hidden, axes=[1, 0]), error)  # [8, 1]
    back = b.op("matmul", error, b.op("permute", w2, axes=[1, 0]))  # [4, 8]
    slope = b.pointwise("sub", back, b.pointwise("mul", back, b.pointwise("mul", hidden, hidden)))
    grad1 = b.op("matmul", b.op("permute", x, axes=[1, 0]), slope)  # [3, 8]
    new1 = b.pointwise("sub", w1, b.pointwise("mul", grad1, rate))
    new2 = b.pointwise("sub", w2, b.pointwise("mul", grad2, rate))
    loss = b.op("reduce", b.pointwise("mul", error, error), fn="sum", axes=[0, 1])
    b.program.outputs.extend([new1, new2, loss])
    return b.program


def train(address, lost_at=None):
    session = Session(address)
    chance = random.Random(1)
    session.send(define=pb.DefineProgram(id=1, program=step_program()))
    session.write(1, [4, 3], [0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1])
    session.write(2, [4, 1], [0, 1, 1, 0])
    session.write(3, [3, 8], [chance.uniform(-1, 1) for _ in range(24)])
    session.write(4, [8, 1], [chance.uniform(-1, 1) for _ in range(8)])
    w1, w2, losses = 3, 4, []
    for step in range(STEPS):
        out = 10 + 3 * step
        session.run(1, [1, 2, w1, w2], out, [RATE / 4], [w1, w2])
        w1, w2 = out, out + 1
        losses.append(session.ask(out + 2))
        if step == lost_at:  # while answers are in flight that are not read yet
            session.wire.socket.close()  # without sending a Close frame
            session.resume()
        if step % 10 == 9:
            session.answer(losses[-1])
    losses = [session.answer(request)[0] for request in losses]
    session.wire.send(pb.Frame(header=pb.Envelope(close=pb.Close())).SerializeToString())
    return losses, session.duplicates_sent


def main():
    whole, _ = train(sys.argv[1])
    cut, duplicates = train(sys.argv[1], lost_at=STEPS // 2 + 5)
    assert cut == whole, "the losses differ"
    assert whole[-1] < 0.05 < whole[0], (whole[0], whole[-1])
    print(f"loss {whole[0]:.4f} -> {whole[-1]:.6f}; resumed once, {duplicates} frame sent twice, same losses")


if __name__ == "__main__":
    main()
