"""Accesses that are counted without a trace: as many sectors, lines and passes as `coalesce.inspect` finds, whatever
the addresses.
"""

import numpy as np
import pytest

from gpuprof.emulate.core.spaces import NO_RANGES
from gpuprof.emulate.memory.bulk_access import bounds
from gpuprof.emulate.trace_log.access_counts import count
from gpuprof.emulate.trace_log.coalesce import Totals, inspect

WARPS = 64
LANE = np.arange(32)
RANGES = {"on chip": [0, 1 << 41], "in part on chip": [1 << 40, (1 << 40) + (1 << 20)]}


def patterns(rng, nbytes):
    """(name, int64 (WARPS, 32)): addresses as kernels have them, in units of an access."""
    base = rng.integers(0, 1 << 16, (WARPS, 1)) * 32
    yield "one after the other", base + LANE
    yield "one for all", base + 0 * LANE
    yield "rows", base + LANE % 8 + LANE // 8 * rng.integers(0, 300, (WARPS, 1))
    yield "pairs", base + LANE // 2 * rng.integers(0, 70, (WARPS, 1))
    yield "every second pair", base + (LANE // 4 * 2 + LANE % 2) * rng.integers(0, 70, (WARPS, 1))
    yield "steps", base + LANE * rng.integers(0, 70, (WARPS, 1))
    yield "falling", base - LANE * rng.integers(0, 40, (WARPS, 1))
    yield "anywhere near", base + rng.integers(0, 60, (WARPS, 32))
    yield "anywhere", rng.integers(0, 1 << 24, (WARPS, 32))
    yield "anywhere, in order", np.sort(rng.integers(0, 1 << 12, (WARPS, 32)), axis=1)


@pytest.mark.parametrize("nbytes", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize("space", ["sectors", "banks", "pieces", *RANGES])
def test_counts_are_those_of_the_trace(nbytes, space, store):
    rng = np.random.default_rng(nbytes)
    pieces, stride = (max(1, nbytes // 4), 128) if space == "pieces" else (1, 0)
    for name, places in patterns(rng, nbytes):
        address = (1 << 40) + (places * (4 if space == "pieces" else nbytes)).reshape(-1).astype(np.int64)
        masks = rng.choice(np.array([0xFFFFFFFF, 0, 1, 0x80000000, 0xFFFF, 0xFFFE, 0x12345678], np.uint32), WARPS)
        for taking_part in (masks, np.full(WARPS, 0xFFFFFFFF, np.uint32)):
            records, sectors = np.zeros(WARPS, np.uint64), np.zeros(32 * pieces * WARPS, np.int64)
            has_sectors = space != "banks"
            on_chip = np.array([RANGES[space]] if space in RANGES else NO_RANGES)
            wanted = Totals(
                *inspect(
                    address,
                    masks,
                    taking_part & masks,
                    nbytes,
                    pieces,
                    stride,
                    has_sectors,
                    False,
                    store,
                    on_chip,
                    records,
                    sectors,
                )
            )
            found = Totals(
                *count(address, taking_part & masks, nbytes, pieces, stride, has_sectors, not store, on_chip)
            )
            counted = () if space == "banks" else ("n_sectors", "lines", "ideal_sectors")
            counted += () if space in ("sectors", "pieces") else ("wavefronts", "ideal_wavefronts")
            if space == "on chip":
                assert (wanted.n_sectors, wanted.lines) == (0, 0)
            for field in (*counted, "lo", "hi", "contiguous"):
                assert getattr(found, field) == getattr(wanted, field), (name, field)
            assert (found.low_bits ^ wanted.low_bits) & (nbytes - 1) == 0, name
            lo, hi, low_bits, contiguous = bounds(address, taking_part & masks, nbytes)
            assert (lo, hi, contiguous) == (wanted.lo, wanted.hi, wanted.contiguous), name
            assert (low_bits ^ wanted.low_bits) & (nbytes - 1) == 0, name


def test_counted_by_hand():
    """Two rows of 16 words: four sectors in two lines, and the banks of the second row are those of the first."""
    address = np.where(LANE < 16, 4 * LANE, 1024 + 4 * (LANE - 16)).astype(np.int64)
    everyone = np.array([0xFFFFFFFF], np.uint32)
    # accesses, sectors, lowest, highest plus one, addresses or'ed, contiguous, lines, passes, ideal passes, ideal
    # sectors
    assert count(address, everyone, 4, 1, 0, True, True, NO_RANGES) == (0, 4, 0, 1088, 1024 | 60, False, 2, 0, 0, 4)
    assert count(address, everyone, 4, 1, 0, False, True, NO_RANGES) == (0, 0, 0, 1088, 1024 | 60, False, 0, 2, 1, 0)
    # On the chip as a whole it passes the banks; where a range ends within it, it does not stay there.
    for end, wanted in ((1088, (0, 0, 0, 1088, 1024 | 60, False, 0, 2, 1, 0)),
                        (1084, (0, 4, 0, 1088, 1024 | 60, False, 2, 0, 0, 4))):  # fmt: skip
        assert count(address, everyone, 4, 1, 0, True, True, np.array([[0, end]])) == wanted
    # Every second lane: still each of the sectors, and 64 bytes would go into two.
    assert count(address, np.array([0x55555555], np.uint32), 4, 1, 0, True, True, NO_RANGES)[1:3] == (4, 0)
    assert count(address, np.array([0x55555555], np.uint32), 4, 1, 0, True, True, NO_RANGES)[-1] == 2
