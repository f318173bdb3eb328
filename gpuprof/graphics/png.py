"""Writes pictures: PNG, 8 bits a channel, with alpha (W3C, "Portable Network Graphics", third edition)."""

import struct
import zlib
from pathlib import Path

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
RGBA, FILTER_NONE = 6, b"\0"


def write_png(path: Path | str, pixels: np.ndarray) -> None:
    """pixels: uint8 (height, width, 4), the upper row first."""
    height, width, _ = pixels.shape
    rows = b"".join(FILTER_NONE + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, RGBA, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows, 6)) + _chunk(b"IEND", b"")
    Path(path).write_bytes(SIGNATURE + chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
