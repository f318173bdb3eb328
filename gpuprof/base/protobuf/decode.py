"""Bytes of others to messages. What a message does not have is left out, as the format demands."""

import struct
from collections.abc import Iterator
from typing import Any

from gpuprof.base.protobuf.message import CODES, FIXED32, FIXED64, LENGTH, VARINT, Field, Message

MOST_VARINT_NBYTES = 10  # of 64 bits
FIXED_NBYTES = {FIXED64: 8, FIXED32: 4}


class Malformed(ValueError):
    """Bytes that are no message; the text says why."""


def decode(message: Message, data: bytes | memoryview) -> dict[str, Any]:
    """The fields that are set, by name; a repeated one is a list, and is there even when it is empty. Of a field that
    is not repeated the last value counts. Raises Malformed.
    """
    known = message.by_number()
    values: dict[str, Any] = {name: [] for name, field in message.fields.items() if field.repeated}
    for number, wire, raw in parts(memoryview(data)):
        if number not in known:
            continue
        name, field = known[number]
        if wire == LENGTH != field.wire and field.repeated:
            values[name] += unpacked(field, raw)
            continue
        if wire != field.wire:
            raise Malformed(f"field {name} of {message.name} has wire type {wire}, not {field.wire}")
        if field.repeated:
            values[name].append(value(field, raw))
        else:
            values[name] = value(field, raw)
    return values


def parts(data: memoryview) -> Iterator[tuple[int, int, int | memoryview]]:
    """Number, wire type and what follows: of a varint its value, else bytes. Raises Malformed."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            raw, at = varint(data, at)
            yield number, wire, raw
            continue
        if wire == LENGTH:
            nbytes, at = varint(data, at)
        elif wire in FIXED_NBYTES:
            nbytes = FIXED_NBYTES[wire]
        else:
            raise Malformed(f"wire type {wire} is not known")
        if nbytes > len(data) - at:
            raise Malformed(f"a field of {nbytes:,} bytes has only {len(data) - at:,}")
        yield number, wire, data[at : at + nbytes]
        at += nbytes


def varint(data: memoryview, at: int) -> tuple[int, int]:
    """The value, and where the next byte is. Raises Malformed."""
    value = 0
    for position, byte in enumerate(data[at : at + MOST_VARINT_NBYTES]):
        value |= (byte & 0x7F) << 7 * position
        if byte < 0x80:
            return value & (1 << 64) - 1, at + position + 1
    raise Malformed("a number does not end")


def value(field: Field, raw: int | memoryview) -> Any:
    if isinstance(field.type, Message):
        return decode(field.type, raw)
    match field.type:
        case "uint":
            return raw
        case "int":
            return raw - (1 << 64) if raw >> 63 else raw
        case "bool":
            return raw != 0
        case "bytes":
            return bytes(raw)
        case "string":
            return bytes(raw).decode("utf-8", "replace")
    return struct.unpack(CODES[field.type], raw)[0]


def unpacked(field: Field, raw: memoryview) -> Iterator[Any]:
    at = 0
    while at < len(raw):
        if field.wire == VARINT:
            number, at = varint(raw, at)
            yield value(field, number)
            continue
        nbytes = FIXED_NBYTES[field.wire]
        if nbytes > len(raw) - at:
            raise Malformed("packed numbers end in the middle of one")
        yield value(field, raw[at : at + nbytes])
        at += nbytes
