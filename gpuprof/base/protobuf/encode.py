"""Messages to bytes. Fields go out in the order of the dict, so the same dict gives the same bytes."""

import struct
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from gpuprof.base.protobuf.message import CODES, LENGTH, VARINT, Field, Message

BITS = 64
SHORT = tuple(bytes((value,)) for value in range(0x80))  # numbers of one byte


def encode(message: Message, values: Mapping[str, Any]) -> bytes:
    """`values`: the fields that are set, by name; a message is a dict, a repeated field a list. Raises KeyError for a
    name that the message does not have.
    """
    parts = []
    for name, value in values.items():
        parts += encode_field(message.fields[name], value)
    return b"".join(parts)


def encode_field(field: Field, value: Any) -> Iterable[bytes]:
    if not field.repeated:
        return key(field.number, field.wire), content(field, value)
    if field.wire != LENGTH:
        packed = b"".join(content(field, element) for element in value)
        return (key(field.number, LENGTH), varint(len(packed)), packed) if packed else ()
    return [part for element in value for part in (key(field.number, LENGTH), content(field, element))]


def content(field: Field, value: Any) -> bytes:
    """The bytes that follow the key of one value."""
    if isinstance(field.type, Message):
        return sized(encode(field.type, value))
    if field.wire == VARINT:
        return varint(int(value) & ((1 << BITS) - 1))
    if field.wire == LENGTH:
        return sized(value.encode() if field.type == "string" else value)
    return struct.pack(CODES[field.type], value)


@cache
def key(number: int, wire: int) -> bytes:
    return varint(number << 3 | wire)


def sized(data: bytes) -> bytes:
    return varint(len(data)) + data


def varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; the top bit says that another byte follows."""
    if 0 <= value <= 0x7F:
        return SHORT[value]
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
