#!/usr/bin/env python3
"""Prints the records that tests/train/events/log_test.cc expects in TensorBoard's event files, as hex.

Made by the protobuf package from the fields that event.proto and summary.proto of TensorFlow declare, and a CRC-32C
that is computed bit by bit: it shares no code with the tested implementation. Needs python3-protobuf.
"""
import struct

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FIELD = descriptor_pb2.FieldDescriptorProto


def declare(file, name, *fields):
    message = file.message_type.add(name=name)
    for number, field, kind, of in fields:
        added = message.field.add(name=field, number=number, type=kind, label=FIELD.LABEL_OPTIONAL)
        if of:
            added.type_name = f".reference.{of}"
        if field == "value":
            added.label = FIELD.LABEL_REPEATED


def messages():
    file = descriptor_pb2.FileDescriptorProto(name="reference.proto", package="reference", syntax="proto2")
    declare(file, "Value", (1, "tag", FIELD.TYPE_STRING, ""), (2, "simple_value", FIELD.TYPE_FLOAT, ""))
    declare(file, "Summary", (1, "value", FIELD.TYPE_MESSAGE, "Value"))
    declare(file, "SessionLog", (1, "status", FIELD.TYPE_INT32, ""))
    declare(file, "Event", (1, "wall_time", FIELD.TYPE_DOUBLE, ""), (2, "step", FIELD.TYPE_INT64, ""),
            (3, "file_version", FIELD.TYPE_STRING, ""), (5, "summary", FIELD.TYPE_MESSAGE, "Summary"),
            (7, "session_log", FIELD.TYPE_MESSAGE, "SessionLog"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return {name: factory.GetPrototype(pool.FindMessageTypeByName(f"reference.{name}"))
            for name in ("Value", "Summary", "SessionLog", "Event")}


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(event):
    data = event.SerializeToString(deterministic=True)
    length = struct.pack("<Q", len(data))
    return (length + masked_crc(length) + data + masked_crc(data)).hex()


of = messages()
print(record(of["Event"](wall_time=1599759586.0, file_version="brain.Event:2")))
scalar = of["Value"](tag="Loss/train", simple_value=0.25)
print(record(of["Event"](wall_time=1.5, step=300, summary=of["Summary"](value=[scalar]))))
print(record(of["Event"](wall_time=1.5, step=300, session_log=of["SessionLog"](status=1))))
