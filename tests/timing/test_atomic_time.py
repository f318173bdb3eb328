"""How long atomics keep a slice of the L2 busy, and which lines they go to, against counts by hand."""

import numpy as np

from gpuprof.chips import load_chip
from tests.support.running import run_source

ADD = """
__global__ void add(unsigned *bins, int stride, int turns)
{
    for (int turn = 0; turn < turns; turn++)
        atomicAdd(&bins[stride * ((blockIdx.x + turn) % gridDim.x)], 1u);
}
"""
A100 = load_chip("a100")


def timing_of(folder, blocks: int, stride: int, turns: int):
    text = f"add<<<{blocks}, 32>>>(bins: u32[{max(1, blocks * stride)}], {stride}, {turns})"
    arrays, results = run_source(folder, ADD, text)
    return arrays["bins"], results.launches[0].timing


def test_one_address(tmp_path):
    """Each warp's add takes a turn of the slice."""
    bins, timing = timing_of(tmp_path, 20, 0, 50)
    assert int(bins.copy_to_host()[0]) == 20 * 50 * 32
    (row,) = timing.atomic_lines
    assert (int(row["address"]), int(row["requests"])) == (bins.address // 128 * 128, 20 * 50)
    assert int(row["cycles"]) == timing.l2_atomic_cycles
    # A pass of the unit for each request, at least.
    assert 20 * 50 * int(A100.atomic_sector_cycles) <= timing.l2_atomic_cycles <= timing.cycles


def test_lines_of_which_none_stands_out(tmp_path):
    """40 lines with the same time each: those that are reported claim no more than their own."""
    bins, timing = timing_of(tmp_path, 40, 64, 40)
    assert (bins.copy_to_host()[::64] == 40 * 32).all()
    rows = timing.atomic_lines
    assert len(rows) <= 8
    one = timing_of(tmp_path, 1, 0, 40)[1].atomic_lines[0]
    assert (rows["requests"] <= 40).all() and (rows["cycles"] <= one["cycles"]).all()
    assert (np.diff(rows["cycles"].astype(np.int64)) <= 0).all()


def test_a_hot_line_among_many(tmp_path):
    """The busiest address of a histogram is found whatever comes before it: more than a sixteenth of the time is."""
    source = """
__global__ void skewed(unsigned *bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[i % 3 ? 32 * 77 : 32 * (i % 251)], 1u);
}
"""
    arrays, results = run_source(tmp_path, source, "skewed<<<64, 128>>>(bins: u32[8192])")
    rows = results.launches[0].timing.atomic_lines
    assert int(rows[0]["address"]) == arrays["bins"].address + 4 * 32 * 77
    assert int(rows[0]["requests"]) == 64 * 128 // 32  # each warp has such lanes


def test_no_atomics(tmp_path):
    timing = run_source(tmp_path, "__global__ void none() {}", "none<<<1, 32>>>()")[1].launches[0].timing
    assert (timing.l2_atomic_cycles, len(timing.atomic_lines)) == (0, 0)
