"""One pass over a piece of trace, compiled by Numba: sums over its accesses by instruction, and the lines that reuse
distances sample.

The trace has only basic blocks and records: within a step the records are those of the basic block, one after the
other.
"""

import numpy as np

from gpuprof.emulate.trace_log.trace_entries import MISSING_SHIFT, SECTOR_MASK, join_sectors
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit

# Columns of the sums of an instruction: names of tables.blocks.ACCESS_COUNTERS.
SUMS = (
    *("accesses", "lanes", "sectors", "lines", "wavefronts", "tag_passes", "tag_lookups", "conflicts"),
    *("partial_sectors", "partial_requests"),
)
ACCESSES, LANES, SECTORS, LINES, WAVEFRONTS, TAG_PASSES, LOOKUPS, CONFLICTS, PARTIAL_SECTORS, PARTIAL_REQUESTS = range(
    len(SUMS)
)
# Columns of a line that is looked at. PLACE: the number of its access among its warp's in the piece.
SEEN = ("line", "place", "sectors", "written", "block")
LINE, PLACE, OF_LINE, WRITTEN, BLOCK = range(len(SEEN))
IS_ACCESS, IS_GLOBAL, IS_STORE = 1, 2, 4  # bits of what an instruction does
RATE_BITS = 4
RATE = 1 << RATE_BITS
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 by the golden ratio: Fibonacci hashing (Knuth, volume 3, 6.4)
CHOSEN_BELOW = np.uint64(1 << (64 - RATE_BITS))
BYTE = np.uint64(0xFF)
join = internal_njit(join_sectors)


def is_chosen(line):
    """True for a line that the stream of the whole GPU samples when there are too many: one of RATE, always the same.
    For numbers, arrays and compiled code.
    """
    return np.uint64(line) * GOLDEN < CHOSEN_BELOW


is_one_of_few = internal_njit(is_chosen)


def walk(first_block, warps_per_block, steps, step_start, records, sectors, *rest):
    """Adds to `sums`, int64 (instructions, SUMS). Gives the lines of global memory: their number, and rows of those
    that are looked at, int64 (n, SEEN), in the order of the trace: of the whole GPU, and of the loads of each
    `stride`-th block.

    steps: uint32 (n, 2), records: uint64, sectors, step_start: as a TracePiece has them; rest: code, first, does, as
    `Recorded` has them, n_exact, stride, sums.
    """
    of_device = np.empty((len(sectors), len(SEEN)), np.int64)
    of_blocks = np.empty((len(sectors), len(SEEN)), np.int64)
    n_lines, n_device, n_blocks = find_lines(
        first_block, warps_per_block, steps, step_start, records, sectors, *rest, of_device, of_blocks
    )
    return n_lines, of_device[:n_device], of_blocks[:n_blocks]


@cached_njit
def find_lines(  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    first_block,
    warps_per_block,
    steps,
    step_start,
    records,
    sectors,
    code,
    first,
    does,
    n_exact,
    stride,
    sums,
    of_device,
    of_blocks,
):
    """`walk`, which puts the rows into `of_device` and `of_blocks`; returns three numbers."""
    n_lines = n_device = n_blocks = at = sector = 0
    for warp in range(len(step_start) - 1):
        block = first_block + warp // warps_per_block
        is_looked_at = block % stride == 0
        begin = at
        for step in range(step_start[warp], step_start[warp + 1]):
            number = steps[step, 0]
            for k in range(first[number], first[number + 1]):
                record = records[at]
                place = at - begin
                at += 1
                end = sector + join(record & BYTE, record >> np.uint64(56))
                own = sums[code[k]]
                what = does[code[k]]
                if what & IS_ACCESS and record >> np.uint64(32) & BYTE:
                    add_access(own, record, end - sector)
                if not what & IS_GLOBAL:
                    sector = end
                    continue
                is_store = what & IS_STORE != 0
                of_access = n_partial = partial_lines = 0
                while sector < end:
                    line, n, partial = next_line(sectors, sector, end)
                    sector += n
                    n_partial += partial
                    partial_lines += partial > 0
                    if n_lines + of_access < n_exact or is_one_of_few(line):
                        put(of_device[n_device], line, place, n, n if is_store else 0, block)
                        n_device += 1
                    if is_looked_at and not is_store:
                        put(of_blocks[n_blocks], line, place, n, 0, block)
                        n_blocks += 1
                    of_access += 1
                n_lines += of_access
                own[LINES] += of_access
                own[PARTIAL_SECTORS] += n_partial
                own[PARTIAL_REQUESTS] += partial_lines
    assert at == len(records)
    return n_lines, n_device, n_blocks


@internal_njit
def add_access(own, record, n_sectors):
    """Adds the fields of a record (formats.ACCESS_DTYPE)."""
    own[ACCESSES] += 1
    own[SECTORS] += n_sectors
    own[LOOKUPS] += np.int64(record >> np.uint64(8) & BYTE)
    own[WAVEFRONTS] += np.int64(record >> np.uint64(16) & BYTE)
    own[TAG_PASSES] += np.int64(record >> np.uint64(24) & BYTE)
    own[LANES] += np.int64(record >> np.uint64(32) & BYTE)
    own[CONFLICTS] += np.int64(record >> np.uint64(40) & BYTE)


@internal_njit
def next_line(sectors, begin, end):
    """The line of the first of an access's sectors, how many of them it has, and how many a store writes in part."""
    sector = sectors[begin]
    line = (sector & SECTOR_MASK) >> 2
    n, partial = 1, 1 if sector >> MISSING_SHIFT else 0
    while begin + n < end:
        sector = sectors[begin + n]
        if (sector & SECTOR_MASK) >> 2 != line:
            break
        partial += 1 if sector >> MISSING_SHIFT else 0
        n += 1
    return line, n, partial


@internal_njit
def put(row, line, place, n_sectors, written, block):
    row[LINE] = line
    row[PLACE] = place
    row[OF_LINE] = n_sectors
    row[WRITTEN] = written
    row[BLOCK] = block
