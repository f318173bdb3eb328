"""The items of a .gprec, read by docs/gprec.md and not by gpuprof: another version's files are read, too.

Images and the lines of a saved stream are joined from their pieces; all other chunks are compared one by one, in their
order. The file's version and its checksums are left out.
"""

import json
import struct
import zlib
from collections.abc import Iterator

from tests.same.programs import program_items
from tests.same.texts import Item, Side, leaves

MAGIC = b"GPREC\x1a\r\n"
_FILE_HEADER, _CHUNK_HEADER, _ID = struct.Struct("<8sII"), struct.Struct("<4sII"), struct.Struct("<I")
IMAGE, STREAM = "IMAG", "STRM"
LINES = 0  # the id of a saved stream's lines; the others are blocks of data


def chunks(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Type and payload of each chunk."""
    magic, _, _ = _FILE_HEADER.unpack_from(data)
    if magic != MAGIC:
        raise ValueError("not a recording")
    at = _FILE_HEADER.size
    while at < len(data):
        kind, nbytes, _ = _CHUNK_HEADER.unpack_from(data, at)
        at += _CHUNK_HEADER.size
        yield kind.decode("ascii"), data[at : at + nbytes]
        at += nbytes


def recording_items(data: bytes, side: Side) -> Iterator[Item]:
    images: dict[int, bytes] = {}
    lines = b""
    for index, (kind, payload) in enumerate(chunks(data)):
        kind = side.names.of("chunk", kind)
        yield Item(f"chunk {index}", kind)
        if kind == IMAGE:
            (number,) = _ID.unpack_from(payload)
            images[number] = images.get(number, b"") + payload[_ID.size :]
        elif kind == STREAM:
            (number,) = _ID.unpack_from(payload)
            piece = zlib.decompress(payload[_ID.size :])
            if number == LINES:
                lines += piece
            else:
                yield Item(f"chunk {index} {kind} block {number}", piece)
        elif payload.startswith(b"{"):
            yield from leaves(json.loads(payload), kind, side, f"chunk {index} {kind}")
        else:
            yield Item(f"chunk {index} {kind}", payload)
    for number, image in images.items():
        yield from (Item(f"image {number} {place}", value) for place, value in program_items(image, side))
    for number, line in enumerate(lines.splitlines()):
        yield from leaves(json.loads(line), "stream", side, f"stream line {number}")
