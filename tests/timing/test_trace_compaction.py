"""Older pieces of a trace gathered into one: every warp goes on through the same steps, accesses and sectors, and
nothing else is kept.
"""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE, STEP_DTYPE
from gpuprof.timing.state.layout import WARP
from gpuprof.timing.state.machine_tables import MACHINE
from gpuprof.timing.trace_compaction import ARRAYS, UNCOMPACTED_PIECES, gather, link_of, standing

ROWS, LOOKAHEAD = 6, 3
DTYPES = {"steps": STEP_DTYPE, "accesses": ACCESS_DTYPE, "sectors": np.dtype("<i8")}


def chain(random, n_pieces):
    """Links of which every item is another number."""
    links = []
    for number in range(n_pieces):
        parts = {}
        for name, values in ARRAYS.items():
            lengths = random.integers(0, 6, ROWS) * random.integers(0, 2, ROWS)
            parts[f"{name}_start"] = np.concatenate([[0], np.cumsum(lengths)])
            parts[values] = random.integers(1, 1 << 40, lengths.sum()).view(DTYPES[values])
        final = np.full(ROWS, number == n_pieces - 1, np.int64)
        links.append(link_of(TracePiece(0, ROWS, 1, **parts, final=final, number=number)))
    for link, following in pairwise(links):
        link.record["next"] = following.address
    return links


def machine(random, links):
    """(state, place): the warp of row r is number ROWS - 1 - r of the machine, in the midst of some link; row 0 has not
    started, row 1 has ended.
    """
    place = random.integers(0, len(links), ROWS)
    place[0], place[1] = 0, len(links)
    table = np.zeros(ROWS, WARP)
    for row in range(2, ROWS):
        link, warp = links[place[row]], ROWS - 1 - row
        for name, values in ARRAYS.items():
            first, end = getattr(link.piece, f"{name}_start")[row : row + 2]
            table[name][warp] = link.record[values][0] + 8 * random.integers(first, end + 1)
        table["piece"][warp] = link.address
    record = np.zeros(1, MACHINE)
    record["lookahead_nbytes"] = 8 * LOOKAHEAD
    return SimpleNamespace(core=SimpleNamespace(warp=table), machine=record), place


def to_come(state, links, row):
    """By name: the items that the warp of a row will still come to, through the records' addresses as the engine
    goes.
    """
    warp, by_address = ROWS - 1 - row, {link.address: link for link in links}
    table = state.core.warp
    link = by_address[int(table["piece"][warp])] if row else links[0]
    found = {}
    for name, values in ARRAYS.items():
        rows = slice(getattr(link.piece, f"{name}_start")[row], getattr(link.piece, f"{name}_start")[row + 1])
        if row:
            rows = slice((int(table[name][warp]) - int(link.record[values][0])) // 8, rows.stop)
        found[name] = getattr(link.piece, values)[rows].tobytes()
    while address := int(link.record["next"][0]):
        link = by_address[address]
        for name, values in ARRAYS.items():
            start = getattr(link.piece, f"{name}_start")
            found[name] += getattr(link.piece, values)[start[row] : start[row + 1]].tobytes()
    return found


@pytest.mark.parametrize("bound", [1 << 20, 300, 0])
@pytest.mark.parametrize("seed", range(8))
def test_nothing_changes_for_a_warp(monkeypatch, seed, bound):
    monkeypatch.setattr("gpuprof.timing.trace_compaction.GATHERED_NBYTES", bound)
    random = np.random.default_rng(seed)
    links = chain(random, 7)
    state, place = machine(random, links)
    alive = [0, *range(2, ROWS)]
    before = {row: to_come(state, links, row) for row in alive}
    here = np.arange(2, ROWS)
    gathered = gather(state, links, standing(state, place, ROWS - 1 - here, here))
    for link, following in pairwise(gathered):
        link.record["next"] = following.address
    assert gathered[0].address == links[0].address and gathered[-UNCOMPACTED_PIECES:] == links[-UNCOMPACTED_PIECES:]
    assert {row: to_come(state, gathered, row) for row in alive} == before
    moved = [link for link in gathered if all(link is not other for other in links)]
    if bound == 1 << 20:
        assert len(gathered) == 1 + UNCOMPACTED_PIECES and moved == gathered[:1]
        behind = [row for row in alive if place[row] < len(links) - UNCOMPACTED_PIECES]
        assert gathered[0].nbytes == sum(len(before[row][name]) for row in behind for name in ARRAYS) - of_newest(
            links, behind
        )
    for link in moved:
        check_addresses(state, link)


def of_newest(links, rows) -> int:
    """Bytes that rows have in the links that are not gathered."""
    starts = [getattr(link.piece, f"{name}_start") for link in links[-UNCOMPACTED_PIECES:] for name in ARRAYS]
    return sum(8 * int(start[row + 1] - start[row]) for start in starts for row in rows)


def check_addresses(state, link):
    """As `follow.enter` has it: a warp begins at its row's first step, and looks out for more a quantum's steps before
    the last.
    """
    table = state.core.warp
    for row in range(2, ROWS):
        warp = ROWS - 1 - row
        if table["piece"][warp] == link.address:
            first, end = (int(link.record["steps"][0]) + 8 * int(link.piece.step_start[row + k]) for k in (0, 1))
            assert (table["step"][warp], table["trace_end"][warp], table["final"][warp]) == (
                first,
                end,
                link.piece.final[row],
            )
            assert table["step_end"][warp] == (end if link.piece.final[row] else max(first, end - 8 * LOOKAHEAD))
