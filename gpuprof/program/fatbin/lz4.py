"""Decompresses LZ4 blocks (lz4_Block_format.md of the LZ4 project), in which nvcc before version 13 keeps PTX."""

from gpuprof.errors import UsageError

LEAST_MATCH = 4  # bytes; a token holds what is beyond


def decompress(data: bytes, nbytes: int) -> bytes:
    """The `nbytes` of a block. Raises UsageError for a damaged one."""
    out, at = bytearray(), 0
    try:
        while len(out) < nbytes:
            token = data[at]
            n_literals, at = _length(data, at + 1, token >> 4)
            out += data[at : at + n_literals]
            at += n_literals
            if len(out) >= nbytes or at >= len(data):
                break
            offset = int.from_bytes(data[at : at + 2], "little")
            n_match, at = _length(data, at + 2, token & 15)
            start = len(out) - offset
            if not offset or start < 0:
                raise IndexError
            n_match += LEAST_MATCH
            out += (out[start:] * (n_match // offset + 1))[:n_match]
    except IndexError:
        raise UsageError("LZ4 data are damaged") from None
    if len(out) != nbytes:
        raise UsageError(f"LZ4 data hold {len(out)} bytes; {nbytes} were expected")
    return bytes(out)


def _length(data: bytes, at: int, first: int) -> tuple[int, int]:
    """A length of which the token has the first four bits, and where the rest begins."""
    if first < 15:
        return first, at
    while data[at] == 255:
        first, at = first + 255, at + 1
    return first + data[at], at + 1
