"""The content of a STRM chunk: a piece of the command lines (id 0) or a block of initial memory (id 1, 2, ...), each
compressed for itself.

Contents are cut into blocks of BLOCK_NBYTES, and each distinct block is stored once. A piece says nothing of its
length: no reader takes more than MAX_PIECE_NBYTES out of one, however much it promises.
"""

import zlib

COMMANDS = 0  # the id of command lines
BLOCK_NBYTES = 1 << 18
LINES_NBYTES = 1 << 16  # command lines are written when there are so many bytes of them
MAX_PIECE_NBYTES = 1 << 20
# of numbers in memory, others are no smaller and up to ten times slower (measured: random floats, counts, ramps)
LEVEL = 1


def pack(data: bytes | memoryview) -> bytes:
    return zlib.compress(data, LEVEL)


def unpack(piece: bytes) -> bytes:
    """Raises ValueError for a piece that is damaged or too long."""
    inflate = zlib.decompressobj()
    try:
        data = inflate.decompress(piece, MAX_PIECE_NBYTES)
    except zlib.error as error:
        raise ValueError(f"a piece cannot be decompressed: {error}") from None
    if not inflate.eof or inflate.unused_data:
        raise ValueError(f"a piece is not whole, or holds more than {MAX_PIECE_NBYTES} bytes")
    return data
