"""Kernels that launch kernels: what they compute, in what order, when, and what is said of what cannot be."""

import json

import numpy as np
import pytest

import gpuprof
from gpuprof.emulate.core.device_launches import FIRE_AND_FORGET, TAIL_LAUNCH
from gpuprof.errors import KernelFault
from gpuprof.records.reader import read_recording
from gpuprof.run.compile_file import BuildOptions
from gpuprof.run.launching.nested import DEEPEST
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from tests.support.command import gpuprof as gpuprof_command
from tests.support.nvidia_tools import needs_nvcc
from tests.support.running import Results, run_file, run_source

QUICKSORT = """
__global__ void sort(int *x, int n)
{
    if (n <= 8) {
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++)
                if (x[j] < x[i]) { int t = x[i]; x[i] = x[j]; x[j] = t; }
        return;
    }
    int pivot = x[n / 2], i = 0, j = n - 1;
    while (i <= j) {
        while (x[i] < pivot) i++;
        while (x[j] > pivot) j--;
        if (i <= j) { int t = x[i]; x[i] = x[j]; x[j] = t; i++; j--; }
    }
    cudaStream_t left;
    cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking);
    sort<<<1, 1, 0, left>>>(x, j + 1);
    cudaStreamDestroy(left);
    sort<<<1, 1, 0, cudaStreamFireAndForget>>>(x + i, n - i);
}
"""


def starts_and_ends(results):
    return [(result.timing.start_cycle, result.timing.end_cycle) for result in results.launches]


@pytest.mark.long
def test_quicksort(tmp_path):
    """Children sort both sides, and launch in their turn."""
    arrays, results = run_source(tmp_path, QUICKSORT, "sort<<<1, 1>>>(x: i32[200]=random, 200)")
    x = arrays["x"].copy_to_host()
    again, _ = run_source(tmp_path, QUICKSORT, "sort<<<1, 1>>>(x: i32[200]=random, 0)")
    assert (x == np.sort(again["x"].copy_to_host())).all()
    assert [result.launch.index for result in results.launches] == list(range(len(results.launches)))
    assert len(results.launches) > 20
    # The two sides run beside each other.
    (_, parent_end), (left, left_end), *_ = starts_and_ends(results)
    overhead = gpuprof.chips.load_chip("a100").launch_cycles
    (right,) = (start for start, _ in starts_and_ends(results)[2:] if start < parent_end + overhead)
    assert left < right < left_end


SQUARES = """
__global__ void fill(int *x, int size, int row, int column, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) x[(row + i) * size + column + j] = value;
}
// Squares that the diagonal crosses are divided; others are filled.
__global__ void divide(int *x, int size, int row, int column, int n)
{
    int half = n / 2, r = row + (threadIdx.x / 2) * half, c = column + (threadIdx.x % 2) * half;
    if (r == c && half > 2) divide<<<1, 4>>>(x, size, r, c, half);
    else fill<<<dim3((half + 7) / 8, (half + 7) / 8), dim3(8, 8)>>>(x, size, r, c, half, half);
}
"""


@pytest.mark.long
def test_subdivision(tmp_path):
    """Lanes of one warp launch different kernels, with grids of two dimensions."""
    arrays, results = run_source(tmp_path, SQUARES, "divide<<<1, 4>>>(x: i32[32,32]=zeros, 32, 0, 0, 32)")
    expected = np.zeros((32, 32), np.int32)

    def divide(row, column, n):
        half = n // 2
        for k in range(4):
            r, c = row + k // 2 * half, column + k % 2 * half
            if r == c and half > 2:
                divide(r, c, half)
            else:
                expected[r : r + half, c : c + half] = half

    divide(0, 0, 32)
    assert (arrays["x"].copy_to_host() == expected).all()
    names = [result.launch.function.display for result in results.launches]
    assert names.count("divide") == 1 + 2 + 4 + 8 and names.count("fill") == 2 * (1 + 2 + 4) + 4 * 8
    assert {result.launch.grid for result in results.launches if result.launch.function.display == "fill"} == {
        (2, 2, 1),
        (1, 1, 1),
    }
    assert {result.launch.name for result in results.launches[1:]} == {
        "divide<<<1, 4>>>",
        "fill<<<(2, 2), (8, 8)>>>",
        "fill<<<1, (8, 8)>>>",
    }


ORDER = """
__global__ void note(int *x, int value) { x[1 + atomicAdd(x, 1)] = value; }
__global__ void two(int *x) { note<<<1, 1>>>(x, 21); note<<<1, 1, 0, cudaStreamTailLaunch>>>(x, 22); }
__global__ void one(int *x)
{
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(x, 9);
    note<<<1, 1>>>(x, 1);
    two<<<1, 1>>>(x);
    note<<<1, 1>>>(x, 3);
    x[20] = atomicAdd(x, 0);
}
__global__ void many(int *x, int n) { for (int i = 0; i < n; i++) note<<<1, 1, 0, cudaStreamFireAndForget>>>(x, i); }
__global__ void deep(int *x, int n) { if (n) deep<<<1, 1>>>(x, n - 1); else *x = 1; }
__global__ void wide(int *x) { note<<<1, 2000>>>(x, 0); }
__global__ void nothing(int *x, int n) { if (n) note<<<n, 1>>>(x, n); }
"""


@pytest.mark.long
def test_streams_of_kernels(tmp_path):
    """The block's stream keeps its order, each launch with all that comes of it; the tail comes when all else is
    over.
    """
    arrays, results = run_source(tmp_path, ORDER, "one<<<1, 1>>>(x: i32[32]=zeros)", "nothing<<<1, 1>>>(x, 0)")
    x = arrays["x"].copy_to_host()
    assert x[:7].tolist() == [5, 1, 21, 22, 3, 9, 0] and x[20] == 0
    parent, first, two, of_two, tail_of_two, third, tail, later = starts_and_ends(results)
    overhead = gpuprof.chips.load_chip("a100").launch_cycles
    assert first[0] > parent[0] + overhead
    assert two[0] == max(first[1], parent[0]) + overhead
    assert of_two[0] > two[0] + overhead
    assert tail_of_two[0] == max(two[1], of_two[1]) + overhead
    assert third[0] == tail_of_two[1] + overhead
    assert tail[0] == third[1] + overhead
    assert later[0] == tail[1] + overhead  # the host's next launch waits for the whole family


@pytest.mark.long
def test_limits(tmp_path):
    arrays, results = run_source(tmp_path, ORDER, f"deep<<<1, 1>>>(x: i32[1]=zeros, {DEEPEST})")
    assert arrays["x"].copy_to_host()[0] == 1 and len(results.launches) == DEEPEST + 1
    for launch, text in (
        (
            f"deep<<<1, 1>>>(i32[1], {DEEPEST + 1})",
            f"deep {DEEPEST + 1} levels below the host's launch; {DEEPEST} is the most",
        ),
        ("many<<<1, 1>>>(i32[4000], 2049)", "more than 2048 grids"),
        (
            "wide<<<1, 1>>>(i32[9])",
            "kernel.cu:14, thread .0, 0, 0. of block .0, 0, 0.: it launches note: the block's x extent is 2000",
        ),
        ("nothing<<<1, 1>>>(i32[9], -1)", "the grid's x extent is 4294967295"),
    ):
        with pytest.raises(KernelFault, match=text):
            run_source(tmp_path, ORDER, launch)


def test_a_fault_of_a_child(tmp_path):
    """It ends the family where the host asked for it; what comes later is as if nothing had been."""
    path = tmp_path / "kernel.cu"
    path.write_text(ORDER + "__global__ void bad(int *x) { note<<<1, 1>>>(x, 7); note<<<1, 1>>>(x + (1 << 28), 1); }")
    results = Results()
    device = open_device(Settings(observer=results))
    module, x = device.load(path), device.to_device(np.zeros(4, np.int32))
    with pytest.raises(KernelFault, match=r"note: .*out of bounds"):
        module.bad[1, 1](x)
    module.nothing[1, 1](x, 1)
    assert x.copy_to_host().tolist() == [2, 7, 1, 0]
    # after the three of the family that did not end
    assert [result.launch.index for result in results.launches] == [3, 4]


def test_recording(tmp_path):
    """Each launch by a kernel is recorded as one, with its parent; the same from another folder, byte by byte."""
    recorded = []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "order.cu").write_text(ORDER.replace("__global__ void note", "static __global__ void note"))
        code, _, error = gpuprof_command(
            folder, "collect", "order.cu", "--launch", "one<<<1, 1>>>(i32[32])", "-o", "order.gprec"
        )
        assert code == 0, error
        recorded.append((folder / "order.gprec").read_bytes())
    assert recorded[0] == recorded[1]
    page = json.loads(gpuprof_command(folder, "report", "order.gprec", "--format", "json")[1])
    launches = sorted((one for kernel in page["kernels"] for one in kernel["launches"]), key=lambda one: one["launch"])
    assert [one["metrics"].get("parent") for one in launches] == [None, 0, 0, 2, 2, 0, 0]
    shown = gpuprof_command(folder, "report", "order.gprec", "--page", "launches", "--width", "150")[1]
    rows = [line.split() for line in shown.splitlines() if line.split() and line.split()[0].isdigit()]
    assert [row[1] for row in rows] == ["host", "0", "0", "2", "2", "0", "0"]


@pytest.mark.long
@needs_nvcc
def test_nvcc(tmp_path):
    """Its launches, separate compilation asked for where it is needed."""
    path = tmp_path / "kernel.cu"
    path.write_text(QUICKSORT)
    device = open_device(Settings(options=BuildOptions(compiler="nvcc")))
    x = device.to_device(np.random.default_rng(3).permutation(60).astype(np.int32))
    device.load(path).sort[1, 1](x, 60)
    assert (x.copy_to_host() == np.arange(60)).all()


PTX = """
.version 9.0
.target sm_80
.address_size 64
.extern .func (.param .b32 e) PREFIXGetLastError ();
.extern .func (.param .b64 r) PREFIXGetParameterBufferV2
(.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) PREFIXLaunchDeviceV2 (.param .b64 p, .param .b64 s);
.visible .entry child (.param .u64 x, .param .u32 step)
{
    .reg .b32 %r<5>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [x];
    ld.param.u32 %r1, [step];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %nctaid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %d2, %r2, 4;
    add.u64 %d3, %d1, %d2;
    st.global.u32 [%d3], %r4;
    ret;
}
.visible .entry parent (.param .u64 x)
{
    .reg .pred %p<3>;
    .reg .b32 %r<5>;
    .reg .b64 %d<5>;
    ld.param.u64 %d1, [x];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 3;
    mov.u64 %d2, child;
    {
        .param .b64 f;
        .param .align 4 .b8 g[12];
        .param .align 4 .b8 b[12];
        .param .b32 s;
        .param .b64 r;
        st.param.b64 [f], %d2;
        st.param.b32 [g], 7;
        st.param.b32 [g+4], 1;
        st.param.b32 [g+8], 1;
        st.param.b32 [b], 1;
        st.param.b32 [b+4], 1;
        st.param.b32 [b+8], 1;
        st.param.b32 [s], 0;
        call.uni (r), PREFIXGetParameterBufferV2, (f, g, b, s);
        ld.param.b64 %d3, [r];
    }
    st.u64 [%d3], %d1;
    st.u32 [%d3+8], 10;
    {
        .param .b64 p;
        .param .b64 s;
        .param .b32 r;
        st.param.b64 [p], %d3;
        st.param.b64 [s], 0;
        @%p1 call (r), PREFIXLaunchDeviceV2, (p, s);
        ld.param.b32 %r2, [r];
    }
    {
        .param .b32 e;
        call.uni (e), PREFIXGetLastError, ();
        ld.param.b32 %r3, [e];
    }
    setp.ne.u32 %p2, %r3, 0;
    @%p2 trap;
    ret;
}
"""


@pytest.mark.parametrize("prefix", ["__cudaCDP2", "cuda"])
def test_ptx(tmp_path, prefix):
    """The interface as compilers call it; a call with a guard launches for those lanes alone."""
    path = tmp_path / "launch.ptx"
    path.write_text(PTX.replace("PREFIX", prefix))
    arrays, results = run_file(path, "parent<<<1, 32>>>(x: i32[8]=zeros)")
    assert arrays["x"].copy_to_host().tolist() == [10 * k + 7 for k in range(7)] + [0]
    assert [result.launch.grid for result in results.launches] == [(1, 1, 1), (7, 1, 1)]


def test_stream_numbers():
    """As cuda_device_runtime_api.h has them."""
    assert (TAIL_LAUNCH, FIRE_AND_FORGET) == (3, 4)


CHILDREN = """\
// LAUNCH: parent<<<1, 1>>>(i32[64])
__global__ void child(int *x) { x[threadIdx.x + 8 * threadIdx.y] = 1; }
__global__ void parent(int *x) { child<<<1, dim3(8, 8)>>>(x); child<<<dim3(2, 1, 3), 32>>>(x); }
"""


def test_launches_of_kernels_are_written_as_all_others(tmp_path):
    """On the screen and in the recording: extents of 1 are left out, and so is what a launch does not say."""
    (tmp_path / "children.cu").write_text(CHILDREN)
    code, out, error = gpuprof_command(tmp_path, "collect", "children.cu", "--period", "0")
    assert (code, error) == (0, "")
    assert [line.partition("  ")[0] for line in out.splitlines()[:-1]] == [
        "parent<<<1, 1>>>",
        "child<<<1, (8, 8)>>>",
        "child<<<(2, 1, 3), 32>>>",
    ]
    launches = read_recording(tmp_path / "children.gprec").launches.values()
    assert [launch.begin["text"] for launch in launches] == [
        "parent<<<1, 1>>>(i32[64])",
        "child<<<1, (8, 8)>>>",
        "child<<<(2, 1, 3), 32>>>",
    ]
