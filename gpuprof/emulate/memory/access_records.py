"""The trace of instructions that move more than a warp's own registers: one record for each warp, as `coalesce.inspect`
writes them.
"""

import numpy as np

from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.memory.access import Site
from gpuprof.emulate.trace_log.coalesce import Totals, tag_passes
from gpuprof.emulate.trace_log.trace_entries import MOST_SECTORS, access_word

SHARED_PASS_NBYTES = 128  # what shared memory takes in one pass through its banks
NONE = np.empty(0, np.int64)


def record(
    group: Lanes,
    site: Site,
    sectors: dict[int, list[np.ndarray]],
    shared_nbytes: dict[int, int],
    lanes: dict[int, int],
    ended: dict[int, tuple[int, int]],
) -> None:
    """Logs and counts one access of each warp of `group`. The dicts go by the warp's row in `group`: sectors of global
    memory, bytes of shared memory, lanes, and the mbarrier's key and how many of its phases ended (see `mbarrier`).

    Raises KernelFault when a warp touches more sectors than a record can hold.
    """
    chunk = group.chunk
    rows = np.flatnonzero(group.masks)
    total = np.zeros(5, np.int64)
    words = np.zeros(len(rows), np.uint64)
    sector_lists = []
    for k, row in enumerate(rows.tolist()):
        touched = distinct(np.sort(np.concatenate(sectors.get(row, [NONE]))))
        line = distinct(touched >> 2)
        lines = len(line)
        passes = -(-shared_nbytes.get(row, 0) // SHARED_PASS_NBYTES)
        assert len(touched) <= MOST_SECTORS, "more sectors than shared memory has bytes"
        tags = min(int(tag_passes(line, lines)), 255)
        key, phases = ended.get(row, (0, 0))
        words[k] = access_word(
            len(touched), min(lines, 255), min(passes, 255), tags, lanes.get(row, 0), key, min(phases, 255)
        )
        sector_lists.append(touched)
        total += (len(touched), lines, passes, passes, len(touched))
    chunk.log.accesses(group.warps[rows], words, np.concatenate([*sector_lists, NONE]))
    if site.space != "shared":  # the passes are those of the other end
        total[2:4] = 0
    n_sectors, lines, passes, ideal, ideal_sectors = total.tolist()
    totals = Totals(len(rows), n_sectors, 0, 0, 0, 0, lines, passes, ideal, ideal_sectors)
    chunk.count_access(site, chunk.spaces[site.space], totals)


def distinct(ascending: np.ndarray) -> np.ndarray:
    """Each of the values once."""
    keeps = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=keeps[1:])
    return ascending[keeps]


def records_of(lanes: Lanes) -> np.ndarray:
    """The records that the instruction has just written, ACCESS_DTYPE: one for each warp that runs it."""
    return lanes.chunk.log.last(int(np.count_nonzero(lanes.masks)))
