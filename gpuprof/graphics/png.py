"""Writes pictures: PNG, 8 bits a channel, with alpha (W3C, "Portable Network Graphics", third edition)."""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
RGBA, FILTER_NONE = 6, b"\0"
ROWS_OF_PIECE = 256


def write_png(path: Path | str, pixels: np.ndarray) -> None:
    """pixels: uint8 (height, width, 4), the upper row first."""
    height, width, _ = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, RGBA, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(SIGNATURE + _chunk(b"IHDR", header))
        for data in _compressed(pixels):
            file.write(_chunk(b"IDAT", data))
        file.write(_chunk(b"IEND", b""))


def _compressed(pixels: np.ndarray) -> Iterator[bytes]:
    """Piece by piece: a picture of the largest extent has a GiB."""
    packer = zlib.compressobj(6)
    for first in range(0, len(pixels), ROWS_OF_PIECE):
        rows = pixels[first : first + ROWS_OF_PIECE]
        data = packer.compress(b"".join(FILTER_NONE + row.tobytes() for row in rows))
        if data:
            yield data
    yield packer.flush()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
