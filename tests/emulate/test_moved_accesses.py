"""Warps whose accesses are those of a warp before them, moved by whole lines: what is found of many warps is what is
found of each by itself.
"""

import numpy as np
import pytest

from gpuprof.emulate.core.spaces import NO_RANGES
from gpuprof.emulate.trace_log.coalesce import Totals, inspect
from gpuprof.emulate.trace_log.moved_accesses import is_moved, place_of

WARPS, LINE_NBYTES = 48, 128
LANE = np.arange(32)
PATTERNS = {
    "two rows": LANE % 16 + LANE // 16 * 1000,
    "one for all": 0 * LANE,
    "a column": 33 * LANE,
    "falling": 31 - LANE,
    "pairs": LANE // 2,
    "anywhere": np.random.default_rng(0).integers(0, 5000, 32),
}
ON_CHIP = {"nowhere": NO_RANGES, "in part": np.array([[1 << 40, (1 << 40) + 40 * LINE_NBYTES]])}


def found(address, masks, on_chip, **options):
    """The totals, the records and the sectors."""
    pieces = options["pieces"]
    records, sectors = np.zeros(len(masks), np.uint64), np.zeros(32 * pieces * len(masks), np.int64)
    values = (options[name] for name in ("nbytes", "pieces", "stride", "has_sectors", "atomic", "store"))
    totals = Totals(*inspect(address, masks, masks, *values, on_chip, records, sectors))
    return totals, records[: totals.n_accesses].tolist(), sectors[: totals.n_sectors].tolist()


@pytest.mark.parametrize("on_chip", ON_CHIP)
@pytest.mark.parametrize("pieces", [1, 2])
@pytest.mark.parametrize("kind", ["load", "store", "atomic", "shared"])
@pytest.mark.parametrize("name", PATTERNS)
def test_many_warps_are_as_each_by_itself(name, kind, pieces, on_chip):
    rng = np.random.default_rng(len(name))
    nbytes = 4 * pieces
    # Few lines and few places in them: the same pattern comes whole lines apart, and in part of a line, too.
    base = (1 << 40) + LINE_NBYTES * rng.integers(0, 64, WARPS) + 16 * rng.integers(0, 3, WARPS)
    address = (base[:, None] + 4 * PATTERNS[name]).reshape(-1)
    masks = rng.choice(np.array([0xFFFFFFFF, 0xFFFFFFFF, 0x0FF0FFFF, 0x80000001], np.uint32), WARPS)
    has_sectors, ranges = kind != "shared", NO_RANGES if kind == "atomic" else ON_CHIP[on_chip]
    options = {"nbytes": nbytes, "pieces": pieces, "stride": 128, "has_sectors": has_sectors}
    options |= {"atomic": kind == "atomic", "store": kind == "store"}
    totals, records, sectors = found(address, masks, ranges, **options)
    alone = [
        found(address[32 * warp : 32 * warp + 32], masks[warp : warp + 1], ranges, **options) for warp in range(WARPS)
    ]
    assert records == [record for _, each, _ in alone for record in each]
    assert sectors == [sector for _, _, each in alone for sector in each]
    for field in ("n_accesses", "n_sectors", "lines", "wavefronts", "ideal_wavefronts", "ideal_sectors"):
        assert getattr(totals, field) == sum(getattr(each, field) for each, _, _ in alone), field
    assert totals.lo == min(each.lo for each, _, _ in alone)
    assert totals.hi == max(each.hi for each, _, _ in alone)
    assert totals.low_bits == np.bitwise_or.reduce([each.low_bits for each, _, _ in alone])


def moved(by: int, mask: int = 0xFFFFFFFF, other_lane: int = 0, known_mask: int = 0xFFFFFFFF) -> bool:
    row = np.zeros(43, np.int64)
    row[:32], row[32] = 4 * LANE, known_mask
    address = 4 * LANE + by
    address[5] += other_lane
    return bool(is_moved.py_func(address, np.uint32(mask), row, np.int64(by)))


def test_moved_is_the_same_pattern_of_the_same_lanes_whole_lines_away():
    assert moved(256) and moved(-128) and moved(0)
    assert not moved(64)  # other sectors of a line, other banks
    assert not moved(256, other_lane=4)
    assert not moved(256, mask=0xFFFFFFFE)
    without_lane_5 = 0xFFFFFFDF
    assert moved(256, without_lane_5, other_lane=4, known_mask=without_lane_5)  # it does not take part


def test_a_pattern_is_known_by_the_word_of_the_line_that_it_begins_at():
    places = [place_of.py_func(np.int64(address)) for address in (0, 3, 4, 124, 128, 1 << 40)]
    assert places == [0, 0, 1, 31, 0, 0]
