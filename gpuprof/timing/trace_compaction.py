"""Compaction of older pieces of a trace: the parts that slow warps still need, without those that only others needed.

Each piece holds a stretch of many warps' traces. A warp that hardly advances (the scheduler prefers younger ones) would
retain all of the piece it is in, and of each later one that has steps of it; so a run of such pieces becomes one. No
warp notices: it continues at the same step, access and sector, at another address.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.timing.state.layout import ACCESS_NBYTES, PIECE, PIECE_PLACES, SECTOR_NUMBER_NBYTES, STEP_NBYTES
from gpuprof.timing.state.machine import State

MOST_PIECES = 4  # of a chunk's chain, before the older ones are gathered
UNCOMPACTED_PIECES = 2  # the newest, in which most warps are
GATHERED_NBYTES = 16 << 20  # a gathered piece stays below this where it can, so that it is not copied again and again
# The arrays in which a warp has an address, and their names in a piece.
ARRAYS = {"step": "steps", "access": "accesses", "sector": "sectors"}
(ITEM_NBYTES,) = {STEP_NBYTES, ACCESS_NBYTES, SECTOR_NUMBER_NBYTES}  # all of these are as long


class Link(NamedTuple):
    """A piece in a chunk's chain, its record (layout.PIECE, of one), and how many steps each warp of the chunk has in
    it, int64 (rows,).
    """

    piece: TracePiece
    record: np.ndarray
    steps: np.ndarray

    @property
    def address(self) -> int:
        return self.record.ctypes.data

    @property
    def nbytes(self) -> int:
        return sum(getattr(self.piece, name).nbytes for name in ARRAYS.values())


class Standing(NamedTuple):
    """The positions of a chunk's warps. A row is a warp of the chunk.

    place: int64 (rows,), the link it is in, 0 before it starts, beyond the last when it has ended. at: int64 (rows,) by
    name in ARRAYS, the address at which it continues, 0 when it is not on the chip. warps, rows_of: int64 (warps,), the
    machine's numbers of those that are, and their rows.
    """

    place: np.ndarray
    at: dict[str, np.ndarray]
    warps: np.ndarray
    rows_of: np.ndarray


def link_of(piece: TracePiece, record: np.ndarray | None = None) -> Link:
    """A link for `piece`, with a record of its own unless one is given."""
    record = np.zeros(1, PIECE) if record is None else record
    record["first_block"] = piece.first_block
    for name in PIECE_PLACES:
        record[name] = getattr(piece, name).ctypes.data
    return Link(piece, record, lengths(piece.step_start))


def lengths(starts: np.ndarray) -> np.ndarray:
    """int64 (n,): how long each of n stretches is that follow each other, int64 (n + 1,). (np.diff does it, too, and
    takes five times as long for few.)
    """
    return starts[1:] - starts[:-1]


def standing(state: State, links: np.ndarray, warps: np.ndarray, rows_of: np.ndarray) -> Standing:
    at = {name: np.zeros(len(links), np.int64) for name in ARRAYS}
    for name, addresses in at.items():
        addresses[rows_of] = state.core.warp[name][warps]
    return Standing(links, at, warps, rows_of)


def gather(state: State, links: list[Link], where: Standing) -> list[Link]:
    """The links with the older ones gathered, as one or as several that are not too long."""
    older, gathered = links[:-UNCOMPACTED_PIECES], []
    parts = [_still_needed(link, number, where) for number, link in enumerate(older)]
    nbytes = [ITEM_NBYTES * sum(int((end - begin).sum()) for begin, end in part.values()) for part in parts]
    first = 0
    for after in range(1, len(older) + 1):
        if after == len(older) or sum(nbytes[first : after + 1]) > GATHERED_NBYTES:
            group = older[first:after]
            # A single piece is copied only where that frees more than half of it.
            if len(group) > 1 or 2 * nbytes[first] < group[0].nbytes:
                group = [_joined(group, parts[first:after])]
                _enter(state, group[0], where, (where.place >= first) & (where.place < after))
            gathered += group
            first = after
    return gathered + links[-UNCOMPACTED_PIECES:]


def _still_needed(link: Link, number: int, where: Standing) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The part of link `number` that each row still needs, by name in ARRAYS: its begin and end, int64 (rows,)."""
    needed = {}
    for name, values in ARRAYS.items():
        start = getattr(link.piece, f"{name}_start")
        begin, end = start[:-1].copy(), start[1:]
        inside = (where.place == number) & (where.at[name] > 0)
        begin[inside] = (where.at[name][inside] - link.record[values][0]) // ITEM_NBYTES
        passed = where.place > number
        begin[passed] = end[passed]
        needed[name] = begin, end
    return needed


def _joined(links: list[Link], parts: list[dict[str, tuple[np.ndarray, np.ndarray]]]) -> Link:
    """Joins the `parts` of consecutive links to one link. It has the record of the first: the link before it, or the
    grid, holds that record's address.
    """
    made = {}
    for name, values in ARRAYS.items():
        begin, end = (np.array([part[name][which] for part in parts]) for which in (0, 1))
        length = end - begin  # (links, rows)
        start = np.concatenate([[0], np.cumsum(length.sum(axis=0))])
        to = start[:-1] + np.cumsum(length, axis=0) - length
        joined = np.empty(start[-1], getattr(links[0].piece, values).dtype)
        for number, link in enumerate(links):
            joined[_ranges(to[number], length[number])] = getattr(link.piece, values)[
                _ranges(begin[number], length[number])
            ]
        made |= {f"{name}_start": start, values: joined}
    return link_of(links[0].piece._replace(**made, final=links[-1].piece.final), links[0].record)


def _ranges(first: np.ndarray, length: np.ndarray) -> np.ndarray:
    """first[0], first[0] + 1, ..., `length[0]` of them, then those from first[1] on, and so on."""
    before = np.cumsum(length) - length
    return np.repeat(first - before, length) + np.arange(int(length.sum()))


def _enter(state: State, link: Link, where: Standing, inside: np.ndarray) -> None:
    """Makes warps of the rows `inside` continue in the link, which holds only steps that they have not run; see
    `trace_cursor.enter`.
    """
    here = inside[where.rows_of]
    warps, rows = where.warps[here], where.rows_of[here]
    table, piece = state.core.warp, link.piece
    for name, values in ARRAYS.items():
        table[name][warps] = link.record[values][0] + ITEM_NBYTES * getattr(piece, f"{name}_start")[rows]
    end = link.record["steps"][0] + ITEM_NBYTES * piece.step_start[rows + 1]
    table["piece"][warps], table["final"][warps], table["trace_end"][warps] = link.address, piece.final[rows], end
    # The bound of trace_cursor.enter: a warp requests more before it reaches the end. It never goes back to the bound.
    look_out = np.maximum(table["step"][warps], end - state.machine[0]["lookahead_nbytes"])
    table["step_end"][warps] = np.where(piece.final[rows] != 0, end, look_out)
