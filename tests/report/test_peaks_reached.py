"""Kernels that are made to fill one resource reach its peak on the model, and none passes it."""

import json

import pytest

from tests.support.command import gpuprof, write_files

LOOP = """
__global__ void k({type}* a) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {type} x[8];
    for (int j = 0; j < 8; j++) x[j] = a[i % 64 + j];
    #pragma unroll 4
    for (int t = 0; t < {turns}; t++)
        for (int j = 0; j < 8; j++) x[j] = {step};
    {type} sum = x[0];
    for (int j = 1; j < 8; j++) sum = sum + x[j];
    a[64 + i] = sum; // blocks that share a line would wait for its slice of the L2
}}
"""
HEADER = "#include <cuda_fp16.h>\n"
LONG_FLOATS = LOOP.format(type="float", turns=400, step="fmaf(x[j], x[j], 0.5f)")
FLOATS = LOOP.format(type="float", turns=150, step="fmaf(x[j], x[j], 0.5f)")
DOUBLES = LOOP.format(type="double", turns=60, step="fma(x[j], x[j], 0.5)")
HALVES = HEADER + LOOP.format(type="__half2", turns=200, step="__hfma2(x[j], x[j], x[j])")
PRODUCTS = LOOP.format(type="unsigned", turns=100, step="x[j] * x[j] + 3u")
STREAM = """
__global__ void k(const float4* a, float4* sum) {
    float4 x = a[blockIdx.x * blockDim.x + threadIdx.x];
    if (x.x + x.y + x.z + x.w == 1e30f) *sum = x;
}
"""
SHARED = """
__global__ void k(float* a) {
    __shared__ float s[1024];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    const volatile float* mine = s + threadIdx.x % 512;
    float sum = 0;
    #pragma unroll 16
    for (int t = 0; t < 160; t++) sum += mine[t % 16 * 32];
    a[threadIdx.x] = sum;
}
"""
TENSOR = """
__global__ void k(unsigned* a) {
    unsigned x = a[threadIdx.x];
    float d[4][4] = {};
    for (int t = 0; t < 100; t++)
        for (int j = 0; j < 4; j++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, "
                         "{%0,%1,%2,%3};" : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3]) : "r"(x));
    a[threadIdx.x] = d[0][0] + d[1][1] + d[2][2] + d[3][3];
}
"""


def kernel_of(folder, source: str, launch: str, chip: str, *more: str) -> dict:
    """The kernel's object of the summary's JSON."""
    write_files(folder, {"k.cu": source})
    how = ("--chip", chip, "--period", "0", "-o", "k.gprec", *more)
    found = gpuprof(folder, "collect", "k.cu", "--launch", launch, *how)
    assert found[0] == 0, found
    return json.loads(gpuprof(folder, "report", "k.gprec", "--page", "summary", "--format", "json")[1])["kernels"][0]


def shares(kernel: dict) -> dict[str, float]:
    return {each["name"]: each["share"] for each in kernel["throughput"]["resources"]}


# source, launch, chip, the resource, its share at least
FULL = {
    "f32 on v100": (FLOATS, "k<<<640, 256>>>(f32[163904]=random)", "v100", "f32", 0.85),
    "f32 on a100": (FLOATS, "k<<<864, 256>>>(f32[221248]=random)", "a100", "f32", 0.85),
    "f32 on h100": (LONG_FLOATS, "k<<<1056, 256>>>(f32[270400]=random)", "h100", "f32", 0.8),
    "f64 on a100": (DOUBLES, "k<<<864, 256>>>(f64[221248]=random)", "a100", "f64", 0.85),
    "f16 on v100": (HALVES, "k<<<320, 256>>>(u32[81984]=random)", "v100", "f16", 0.75),
    "DRAM of t4": (STREAM, "k<<<4096, 256>>>(f32[4194304]=random, f32[4])", "t4", "dram", 0.85),
    "shared of v100": (SHARED, "k<<<640, 1024>>>(f32[1024]=random)", "v100", "shared", 0.8),
    "tensor of a100": (TENSOR, "k<<<432, 256>>>(u32[256]=random)", "a100", "tensor_f16", 0.8),
    "tensor pipes of h200": (TENSOR, "k<<<528, 256>>>(u32[256]=random)", "h200", "tensor_pipe", 0.8),
}


@pytest.mark.long
@pytest.mark.parametrize("what", FULL)
def test_a_full_resource_limits(tmp_path, what):
    source, launch, chip, resource, least = FULL[what]
    kernel = kernel_of(tmp_path, source, launch, chip)
    found = shares(kernel)
    assert least < found[resource] <= 1.01
    assert max(found.values()) <= 1.01
    # A pipe of 32 lanes takes every issue slot that there is.
    full = ("f32", "issue") if chip == "h100" else (resource,)
    assert kernel["limits"]["kind"] == ("bound" if found[resource] >= 0.8 else "high")
    assert kernel["limits"]["resource"] in full


@pytest.mark.long
def test_a_full_unit_without_a_rate(tmp_path):
    """Products of integers: their unit has 16 lanes a partition, so that half of the issue slots is all it takes."""
    kernel = kernel_of(tmp_path, PRODUCTS, "k<<<864, 256>>>(u32[221248]=random)", "a100")
    assert max(shares(kernel).values()) < 0.6
    assert (kernel["limits"]["kind"], kernel["limits"]["stall_reason"]) == ("pipe", "math_pipe_throttle")


@pytest.mark.long
def test_a_launch_that_is_extrapolated(tmp_path):
    """Its operations are exact; its bytes and cycles are as far off as the note says, which every page has."""
    launch = "k<<<16384, 256>>>(f32[16777216]=random, f32[4])"
    whole = kernel_of(tmp_path, STREAM, launch, "t4")
    part = kernel_of(tmp_path, STREAM, launch, "t4", "--sample-blocks")
    assert "--sample-blocks timed" in gpuprof(tmp_path, "report", "k.gprec", "--page", "summary")[1]
    assert part["throughput"]["operations"] == whole["throughput"]["operations"]
    assert part["throughput"]["operations"]["f32"] == 3 * 256 * 16384
    assert shares(part) == pytest.approx(shares(whole), rel=0.03)


def test_one_block_leaves_the_others_idle(tmp_path):
    kernel = kernel_of(tmp_path, FLOATS, "k<<<1, 32>>>(f32[1024]=random)", "a100")
    assert kernel["limits"]["kind"] == "idle"
    assert kernel["throughput"]["operations"]["f32"] == 32 * (150 * 8 * 2 + 7)


def test_an_empty_kernel(tmp_path):
    """It has issue slots and nothing else."""
    kernel = kernel_of(tmp_path, "__global__ void k() {}", "k<<<1, 1>>>()", "a100")
    assert list(shares(kernel)) == ["issue"]
    assert kernel["limits"]["kind"] == "idle"
    assert (kernel["throughput"]["operations"], kernel["throughput"]["roofline"]) == ({}, [])
