"""The bytes that a launch reads and writes, by hand and beside Python's sets."""

import random

import numpy as np
import pytest

from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.emulate.core.late_accesses import AccessedRanges
from gpuprof.emulate.watch.footprint import Bytes, Footprint


def bytes_of(found: Bytes) -> set[int]:
    return {k - GLOBAL_BASE for start, end in zip(*found, strict=True) for k in range(start, end)}


def test_ranges_join_and_stay_apart():
    footprint = Footprint()
    footprint.cover(3 * 4096)
    footprint.read(np.array([GLOBAL_BASE + 10, GLOBAL_BASE + 14, GLOBAL_BASE + 4090]), np.array([4, 2, 10]))
    found = footprint.reads()
    assert (found.start - GLOBAL_BASE).tolist() == [10, 4090] and (found.end - GLOBAL_BASE).tolist() == [16, 4100]
    footprint.begin()
    assert bytes_of(footprint.reads()) == set()


def test_what_a_launch_wrote_itself_is_not_read():
    footprint = Footprint()
    footprint.cover(4096)
    lanes, all_of = GLOBAL_BASE + 4 * np.arange(32), np.array([0xFFFFFFFF], np.uint32)
    footprint.access("write", lanes, np.array([0x0000FFFF], np.uint32), 4, None)
    footprint.access("read", lanes, all_of, 4, (GLOBAL_BASE, GLOBAL_BASE + 128))
    footprint.access("atomic operation", lanes + 64, all_of, 4, None)
    assert bytes_of(footprint.reads()) == set(range(64, 192))
    assert bytes_of(footprint.writes()) == {*range(64), *range(64, 192)}


def test_other_spaces_and_prefetches_are_not_noted():
    footprint = Footprint()
    footprint.cover(4096)
    one = (np.array([0]), np.array([GLOBAL_BASE]), np.array([16]))
    footprint.touched(AccessedRanges("shared", "load", *one))
    footprint.touched(AccessedRanges("global", "prefetch", *one))
    assert bytes_of(footprint.reads()) == set()
    footprint.touched(AccessedRanges("global", "reduction", *one))
    assert bytes_of(footprint.reads()) == bytes_of(footprint.writes()) == set(range(16))


@pytest.mark.parametrize("seed", range(60))
def test_random_accesses(seed):
    rng = random.Random(seed)
    footprint, reads, writes = Footprint(), set(), set()
    footprint.cover(3 * 4096)
    for step in range(rng.randrange(1, 9)):
        if step == 4:
            footprint.cover(5 * 4096)  # memory grows while a launch runs
        nbytes, n_warps = rng.choice((1, 2, 4, 8, 16)), rng.randrange(1, 4)
        stride = rng.choice((0, nbytes, -nbytes, 3 * nbytes, 96))
        start = 4096 + nbytes * rng.randrange(100)
        addresses = start + stride * np.arange(32 * n_warps) % 3000
        masks = np.array([rng.randrange(1 << 32) for _ in range(n_warps)], np.uint32)
        verb = rng.choice(("read", "write", "atomic operation"))
        footprint.access(verb, GLOBAL_BASE + addresses, masks, nbytes, None)
        active = [address for k, address in enumerate(addresses.tolist()) if masks[k // 32] >> k % 32 & 1]
        touched = {address + byte for address in active for byte in range(nbytes)}
        if verb != "write":
            reads |= touched - writes
        if verb != "read":
            writes |= touched
    assert bytes_of(footprint.reads()) == reads
    assert bytes_of(footprint.writes()) == writes
