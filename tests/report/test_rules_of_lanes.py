"""Advice that must not be given, and what is said instead: small kernels with one thing to tell each."""

from contextlib import closing
from dataclasses import replace

import pytest

from gpuprof.correlate.database import ensure_database
from gpuprof.report.pages.summary import waited_facts
from gpuprof.report.queries import read_report
from gpuprof.report.triage.kernel_rules import findings
from tests.support.command import gpuprof

KERNELS = """\
// LAUNCH: one<<<1, 1>>>(x: f32[64])
// LAUNCH: tail<<<2, 64>>>(x, 45)
// LAUNCH: sides<<<64, 256>>>(y: f32[16384]=random)
// LAUNCH: hidden<<<32, 128>>>(y, x)
// LAUNCH: apart<<<64, 256>>>(y, x)
// LAUNCH: together<<<64, 256>>>(y, x)
__global__ void one(float *x) {
    float s = 0;
    for (int i = 0; i < 64; i++) { if (x[i] > 0.5f) s += x[i] * 3; else s -= i; }
    x[0] = s;
}
__global__ void tail(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { float s = i; for (int k = 0; k < 50; k++) s = s * s + k; x[i] = s; }
}
__global__ void sides(float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = y[i];
    if (i % 8 == 0) for (int k = 0; k < 100; k++) v = v * 1.1f + 1;
    else for (int k = 0; k < 120; k++) v = v * v - 2;
    y[i] = v;
}
__global__ void hidden(float *y, float *x) {
    __shared__ float t[32][32];
    int l = threadIdx.x % 32;
    t[l][0] = l;
    float v = y[threadIdx.x];
    for (int k = 0; k < 2000; k++) v = v * v + 1.5f;
    x[threadIdx.x % 64] = v;
    if (v == 3) x[1] = t[l][1];
}
__device__ void step(float *s, int t, int stride) {
    for (int k = 0; k < 4; k++) s[t] = sqrtf(fabsf(s[t])) + s[t + stride];
}
__global__ void apart(const float *y, float *x) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = y[t];
    __syncthreads();
    for (int stride = 1; stride < 256; stride *= 2) {
        if (t % (2 * stride) == 0) step(s, t, stride);
        __syncthreads();
    }
    if (t == 0) x[blockIdx.x] = s[0];
}
__global__ void together(const float *y, float *x) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = y[t];
    __syncthreads();
    for (int stride = 128; stride > 0; stride /= 2) {
        if (t < stride) step(s, t, stride);
        __syncthreads();
    }
    if (t == 0) x[blockIdx.x] = s[0];
}
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The kernels, and their findings by rule, by name."""
    folder = tmp_path_factory.mktemp("rules")
    (folder / "k.cu").write_text(KERNELS)
    code, _, error = gpuprof(folder, "collect", "k.cu")
    assert code == 0, error
    with closing(ensure_database(folder / "k.gprec")) as db:
        report = read_report(db)
    return {k.name: (k, {f.rule: f.text for f in findings(k, report.chip, report.header)}) for k in report.kernels}


def test_a_block_of_one_thread_is_no_divergence(told):
    _, rules = told["one"]
    assert "divergence" not in rules
    assert rules["block_lanes"] == (
        "A block of 1 thread fills 1 of the 32 lanes of a warp on average: make it a multiple of 32 threads."
    )
    assert rules["small_grid"] == "The grid has 1 block for 108 multiprocessors: 107 of them have nothing to do."


def test_the_end_of_the_data_is_no_divergence(told):
    assert {"divergence", "block_lanes"}.isdisjoint(told["tail"][1])


def test_two_sides_are(told):
    assert "Let whole warps take one side of a branch" in told["sides"][1]["divergence"]


def test_a_tree_whose_threads_lie_apart_splits_all_warps(told):
    assert "Let whole warps take one side of a branch" in told["apart"][1]["divergence"]


def test_a_tree_whose_threads_lie_together_splits_one(told):
    """Steps of 128, 64 and 32 threads are whole warps; of 16 to 1 one warp of a block splits. Whole warps take one side
    already."""
    said = told["together"][1]["divergence"]
    assert "Let whole warps" not in said and "let warp shuffles do the last steps of a reduction" in said


def test_conflicts_that_nothing_waits_for_are_not_told(told):
    kernel, rules = told["hidden"]
    assert kernel.cost.counters.l1_wavefronts_shared_excess > 0
    assert "bank_conflicts" not in rules


def test_nothing_is_waited_for_next_to_never(told):
    for kernel, _ in told.values():
        for fact in waited_facts(kernel):
            assert float(fact.plain.split("%")[0]) >= 1
    kernel, _ = told["hidden"]
    rare = tuple(blame._replace(cycles=1) for blame in kernel.blames)
    assert waited_facts(kernel) != [] and waited_facts(replace(kernel, blames=rare)) == []
