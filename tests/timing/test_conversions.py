"""Conversions from and to 64-bit types are as fast as the CUDA C++ Programming Guide's table of throughputs says."""

import pytest

from tests.support.matrices import long_from
from tests.support.running import run_source

SOURCE = """
template <int PAIRS> __global__ void floats(double *out)
{
    float x = threadIdx.x;
    double wide = 0;
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        asm volatile("cvt.f64.f32 %0, %1;" : "=d"(wide) : "f"(x));
        asm volatile("cvt.rn.f32.f64 %0, %1;" : "=f"(x) : "d"(wide));
    }
    out[threadIdx.x] = x;
}

template <int PAIRS> __global__ void integers(double *out)
{
    long long n = threadIdx.x;
    float x = 0;
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        asm volatile("cvt.rn.f32.s64 %0, %1;" : "=f"(x) : "l"(n));
        asm volatile("cvt.rzi.s64.f32 %0, %1;" : "=l"(n) : "f"(x));
    }
    out[threadIdx.x] = n;
}
"""
FEW, MANY = 32, 96


@pytest.mark.parametrize("kernel", long_from(1, ["floats", "integers"]))
@pytest.mark.parametrize("chip, lanes", [("a100", 16), ("rtx3090", 2), ("rtx4090", 2)])
def test_lanes_per_cycle_and_sm(tmp_path, kernel, chip, lanes):
    """1024 threads: what 16 more pairs of each add, a second time."""
    launches = [f"{kernel}<{pairs}><<<1, 1024>>>(f64[1024])" for pairs in (FEW, MANY) * 2]
    _, results = run_source(tmp_path, SOURCE, *launches, chip_name=chip)
    *_, few, many = (result.timing.cycles for result in results.launches)
    assert 2 * 1024 * (MANY - FEW) / (many - few) == pytest.approx(lanes, rel=0.07)
