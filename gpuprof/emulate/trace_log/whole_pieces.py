"""The trace of a chunk of blocks as one piece, made of the pieces in which it came."""

from collections.abc import Sequence

import numpy as np

from gpuprof.emulate.trace_log.trace import TracePiece

ROWS = (("step_start", "steps"), ("access_start", "accesses"), ("sector_start", "sectors"))


def whole(pieces: Sequence[TracePiece]) -> TracePiece:
    """The pieces of one chunk, in their order, as one: each warp's rows follow each other in it."""
    if len(pieces) == 1:
        return pieces[0]._replace(final=np.ones_like(pieces[0].final))
    joined = {}
    for start, rows in ROWS:
        counts = [np.diff(getattr(piece, start)) for piece in pieces]
        warp = np.concatenate([np.repeat(np.arange(len(n)), n) for n in counts])
        joined[rows] = taken(joined_rows(pieces, rows), np.argsort(warp, kind="stable"))
        joined[start] = starts(sum(counts))
    return pieces[0]._replace(**joined, final=np.ones_like(pieces[0].final), number=0)


def joined_rows(pieces: Sequence[TracePiece], rows: str) -> np.ndarray:
    """The rows of one of the arrays in ROWS, of all pieces."""
    values = [getattr(piece, rows) for piece in pieces]
    return np.concatenate([words_of(each) for each in values]).view(values[0].dtype)


def taken(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """values[chosen], by numbers or by a mask."""
    return words_of(values)[chosen].view(values.dtype)


def words_of(values: np.ndarray) -> np.ndarray:
    """Steps, accesses or sectors as uint64: numpy copies these at once, and records field by field."""
    return np.ascontiguousarray(values).view(np.uint64)


def starts(counts: np.ndarray) -> np.ndarray:
    """int64 (n + 1,): where each of n runs of so many rows begins, and their end."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def nbytes(piece: TracePiece) -> int:
    return sum(value.nbytes for value in piece if isinstance(value, np.ndarray))
