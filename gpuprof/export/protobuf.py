"""Protocol buffers' wire format, as far as traces need it (protobuf.dev/programming-guides/encoding)."""

import struct
from collections.abc import Iterable

VARINT, FIXED64, BYTES = 0, 1, 2


def varint(value: int) -> bytes:
    """An unsigned number, seven bits a byte, the lowest first."""
    assert value >= 0, value
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def number(field: int, value: int) -> bytes:
    return varint(field << 3 | VARINT) + varint(value)


def fixed64(field: int, value: int) -> bytes:
    return varint(field << 3 | FIXED64) + struct.pack("<Q", value)


def text(field: int, value: str) -> bytes:
    return message(field, [value.encode("utf-8", "replace")])


def message(field: int, parts: Iterable[bytes]) -> bytes:
    """A message, or a string, of these parts."""
    content = b"".join(parts)
    return varint(field << 3 | BYTES) + varint(len(content)) + content
