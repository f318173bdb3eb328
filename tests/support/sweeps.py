"""A small kernel for the tests of sweeps, and what they ask of it."""

from pathlib import Path

from gpuprof.sweep.sweep_parameters import parse_parameter
from gpuprof.sweep.sweep_plan import Plan

# Each block adds up WIDTH elements; LENGTH turns make it long enough to be interrupted.
KERNEL = """\
#ifndef LENGTH
#define LENGTH 4
#endif
#ifndef WIDTH
#define WIDTH 64
#endif
// LAUNCH: sums<<<8, 64>>>(x: f32[512]=random, y: f32[8])
// LAUNCH: twice<<<8, 64, 0, 1>>>(x)
__global__ void sums(const float *x, float *y)
{
    __shared__ float part[WIDTH];
    part[threadIdx.x] = 0;
    for (int i = 0; i < LENGTH; i++)
        part[threadIdx.x] += x[blockIdx.x * WIDTH + (threadIdx.x ^ i) % WIDTH];
    __syncthreads();
    if (threadIdx.x == 0)
        y[blockIdx.x] = part[0] + part[WIDTH - 1];
}
__global__ void twice(float *x) { x[blockIdx.x * 64 + threadIdx.x] *= 2; }
"""


def kernel_file(folder: Path) -> Path:
    path = folder / "sums.cu"
    path.write_text(KERNEL)
    return path


def plan_of(folder: Path, *params: str, chips: tuple[str, ...] = ("a100",), **fields) -> Plan:
    """A plan for the kernel. `params` are what --param takes; `fields` those of Plan."""
    parameters = tuple(parse_parameter("chip", text, "--param") for text in params)
    return Plan(kernel_file(folder), chips, parameters, **fields)
