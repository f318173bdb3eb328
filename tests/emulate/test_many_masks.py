"""redux with many member masks: each lane's value, and how often the whole set of warps is gone through."""

import numpy as np
import pytest

from gpuprof.emulate.collectives.warp import reduced

N_WARPS = 400
FULL = 0xFFFFFFFF


def partitions(rng: np.random.Generator, n_parts: int) -> np.ndarray:
    """uint32 (warps, 32): each warp is cut into up to `n_parts` parts at random, and a lane's mask is its part."""
    parts = rng.integers(0, n_parts, (N_WARPS, 32))
    is_mine = parts[:, :, None] == parts[:, None, :]
    return (is_mine << np.arange(32, dtype=np.uint32)).sum(axis=2, dtype=np.uint32)


class Sums:
    """Adds up values, uint32 (warps, 32), and counts how often it is asked."""

    def __init__(self, values: np.ndarray):
        self.values, self.n_calls, self.n_rows = values, 0, 0

    def __call__(self, rows: np.ndarray, taking_part: np.ndarray) -> np.ndarray:
        self.n_calls += 1
        self.n_rows += len(rows)
        return np.where(taking_part, self.values[rows], np.uint32(0)).sum(axis=1, dtype=np.uint32)


@pytest.mark.parametrize("n_parts", [1, 2, 7, 20, 32])
def test_each_lane_has_the_sum_of_its_members(n_parts):
    """Lanes that are not active have 0, whatever their masks say."""
    rng = np.random.default_rng(n_parts)
    active = rng.integers(0, FULL, N_WARPS, np.uint32, endpoint=True)
    active[:20] = FULL
    active[20:24] = 0
    members = partitions(rng, n_parts) & active[:, None]
    values = rng.integers(0, FULL, (N_WARPS, 32), np.uint32, endpoint=True)
    found = reduced(active, members, Sums(values), np.uint32)
    wanted = [
        [
            sum(int(values[warp, other]) for other in range(32) if int(members[warp, lane]) >> other & 1) & FULL
            if int(active[warp]) >> lane & 1
            else 0
            for lane in range(32)
        ]
        for warp in range(N_WARPS)
    ]
    assert found.tolist() == wanted


def test_the_passes_are_those_of_one_warp_however_many_masks_there_are():
    """Thousands of masks in 400 warps: each mask of each warp is looked at once, and each pass takes all warps."""
    members = partitions(np.random.default_rng(5), 20)
    values = np.ones((N_WARPS, 32), np.uint32)
    sums = Sums(values)
    found = reduced(np.full(N_WARPS, FULL, np.uint32), members, sums, np.uint32)
    masks_of_warp = [len(np.unique(row)) for row in members]
    assert len(np.unique(members)) > 2000
    assert (sums.n_calls, sums.n_rows) == (max(masks_of_warp), sum(masks_of_warp))
    assert (found == np.bitwise_count(members)).all()


def test_one_mask_is_one_pass():
    sums = Sums(np.ones((N_WARPS, 32), np.uint32))
    found = reduced(np.full(N_WARPS, FULL, np.uint32), np.uint32(FULL), sums, np.uint32)
    assert (sums.n_calls, sums.n_rows) == (1, N_WARPS)
    assert (found == 32).all()
