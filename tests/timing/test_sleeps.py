"""Sleeps whose time is not in the code: the model has the time that each warp held."""

from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.stalls import INDEX
from tests.support.running import run_file, run_source

CLOCK_GHZ = 1.41
KERNELS = """
template <unsigned ns> __global__ void immediate(int *out)
{
    __nanosleep(ns);
    out[threadIdx.x] = 1;
}
__global__ void parameter(int *out, unsigned ns)
{
    __nanosleep(ns);
    out[threadIdx.x] = 1;
}
__global__ void loaded(int *out, const unsigned *ns)
{
    __nanosleep(ns[threadIdx.x]);
    out[threadIdx.x] = 1;
}
__global__ void half_of_them(int *out, const unsigned *ns)
{
    if (threadIdx.x % 32 < 16)
        __nanosleep(ns[threadIdx.x]);
    out[threadIdx.x] = 1;
}
__global__ void backoff(int *out, int turns)
{
    for (unsigned ns = 8; turns; turns--, ns *= 2)
        __nanosleep(ns);
    out[threadIdx.x] = 1;
}
"""
GUARDED = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry guarded(.param .u32 limit)
{
    .reg .pred %p; .reg .u32 %r<3>;
    ld.param.u32 %r0, [limit];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p, %r1, %r0;
    @%p nanosleep.u32 1000;
    ret;
}
"""


def sleeping_cycles(folder, *launches, source=KERNELS):
    """The cycles that the warps of each launch slept."""
    _, results = run_source(folder, source, *launches, chip=load_chip("a100"))
    return [int(result.timing.ledger[:, INDEX["sleeping"]].sum()) for result in results.launches]


def slept(*asked_ns):
    """The cycles of sleeps beyond that in which each issues."""
    return sum(max(0, round(ns * CLOCK_GHZ) - 1) for ns in asked_ns)


@pytest.mark.parametrize("ns", [0, 100, 1000, 5000, 1_000_000, 2_000_000])
def test_a_parameter_is_what_an_immediate_is(tmp_path: Path, ns):
    """Two warps; a sleep takes a millisecond at most."""
    form, held = sleeping_cycles(
        tmp_path, f"immediate<{ns}><<<1, 64>>>(i32[64])", f"parameter<<<1, 64>>>(i32[64], {ns})"
    )
    assert form == held == 2 * slept(min(ns, 1_000_000))


def test_the_longest_of_a_warp_counts(tmp_path: Path):
    """Lane 17 of the first warp asks for most, but of the lower half it is lane 2."""
    asked = np.full(64, 10, np.uint32)
    asked[[2, 17, 40]] = 300, 5000, 800
    np.save(tmp_path / "asked.npy", asked)
    some = "u32[64]=asked.npy"
    found = sleeping_cycles(
        tmp_path, f"loaded<<<1, 64>>>(i32[64], {some})", f"half_of_them<<<1, 64>>>(i32[64], {some})"
    )
    assert found == [slept(5000, 800), slept(300, 800)]


def test_a_time_that_grows(tmp_path: Path):
    assert sleeping_cycles(tmp_path, "backoff<<<1, 32>>>(i32[32], 5)") == [slept(8, 16, 32, 64, 128)]


def test_a_warp_without_a_lane_that_passes_the_guard_does_not_sleep(tmp_path: Path):
    (tmp_path / "kernel.ptx").write_text(GUARDED)
    _, results = run_file(tmp_path / "kernel.ptx", "guarded<<<1, 96>>>(40)", chip=load_chip("a100"))
    assert results.launches[0].timing.ledger[:, INDEX["sleeping"]].sum() == 2 * slept(1000)
