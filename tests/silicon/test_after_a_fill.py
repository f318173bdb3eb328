"""Kernels after a fill of the L2 and a pause, as nvbench times them, on an RTX 5090: what is still to be written."""

import pytest

from gpuprof.chips import load_chip
from tests.support.running import run_file

SOURCE = """\
__global__ void fill(uint4 *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = make_uint4(1, 1, 1, 1);
}
__global__ void pause() { __nanosleep(20000); }
__global__ void add(uint4 *to, const uint4 *a, const uint4 *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = make_uint4(a[i].x + b[i].x, a[i].y + b[i].y, a[i].z + b[i].z, a[i].w + b[i].w);
}
"""


def after_a_fill(folder, launch: str):
    """The time of a launch from the end of the pause on, in us, and its timing."""
    chip = load_chip("rtx5090")
    (folder / "kernels.cu").write_text(SOURCE)
    n = chip.l2_nbytes // 16
    flush = f"fill<<<{n // 256}, 256>>>(flushed: u32[{4 * n}], {n})"
    _, results = run_file(folder / "kernels.cu", flush, "pause<<<1, 1>>>()", launch, chip=chip)
    before, timing = (result.timing for result in results.launches[-2:])
    return (timing.end_cycle - before.end_cycle) / chip.clock_mhz, timing


@pytest.mark.long
@pytest.mark.parametrize("nbytes, published_us, source", [
    (1 << 24, 34.0, "I8, 2^24: NVIDIA/cccl, pull request 9881"),
    (1 << 25, 67.3, "F16, 2^24: NVIDIA/cccl, pull request 7391"),
])  # fmt: skip
def test_a_sum_writes_as_much_as_it_stores(tmp_path, nbytes, published_us, source):
    """Two arrays are read and one is written, and little more. An L2 full of dirty lines would triple it."""
    n = nbytes // 16
    arrays = ", ".join(f"{name}: u32[{4 * n}]" for name in ("to", "a", "b"))
    found_us, timing = after_a_fill(tmp_path, f"add<<<{n // 256}, 256>>>({arrays}, {n})")
    assert found_us == pytest.approx(published_us, rel=0.12), source
    assert timing.dram_write_nbytes == pytest.approx(nbytes, rel=0.2)


@pytest.mark.long
def test_a_fill_is_faster_than_the_dram(tmp_path):
    """16 MB in 8.2 us, of which a launch of 64 KB takes 2.8: 3.1 TB/s, where the DRAM has 1.8 (NVIDIA/nvbench, issue
    270).
    """
    (few_us, _), (many_us, _) = (
        after_a_fill(tmp_path, f"fill<<<{nbytes // 4096}, 256>>>(to: u32[{nbytes // 4}], {nbytes // 16})")
        for nbytes in (1 << 16, 1 << 24)
    )
    assert (1 << 24) / (many_us - few_us) / 1e6 > 2.0
