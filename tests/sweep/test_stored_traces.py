"""gpuprof sweep --traces: the same rows to the last cycle and counter, and nothing emulated twice."""

import errno
import json
from collections import Counter

import numpy as np
import pytest

from gpuprof.emulate.run import emulate
from gpuprof.run.launching import launcher
from gpuprof.run.trace_file import write_sweep
from gpuprof.run.trace_file.layout import CHUNK_HEADER
from gpuprof.sweep import stored_traces
from tests.paths import SAMPLES
from tests.support.command import gpuprof, names, write_files
from tests.support.matrices import long_from

# A product by tiles, whose operands come in a second launch the other way round.
PRODUCT = """\
// LAUNCH: tiled<<<(4, 4), (16, 16)>>>(a: f32[64,64]=random, b: f32[64,64]=random, c: f32[64,64], 64)
// LAUNCH: tiled<<<(4, 4), (16, 16)>>>(c, a, b, 64)
#ifndef TILE
#define TILE 16
#endif
__global__ void tiled(const float *a, const float *b, float *c, int n) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        as[y][x] = a[row * n + k0 + x];
        bs[y][x] = b[(k0 + y) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    c[row * n + col] = sum / 3;
}
"""
# Streams, a copy of the chip's clock, a division with a slow path, and what a warp prints.
STREAMS = """\
// LAUNCH: one<<<24, 96, 0, 1>>>(x: f32[2304]=random, t: u32[2304])
// LAUNCH: one<<<24, 96, 0, 2>>>(y: f32[2304]=random, u: u32[2304])
// LAUNCH: one<<<24, 96, 0, 1>>>(x, t)
__global__ void one(float *x, unsigned *t) {
    int i = blockIdx.x * 96 + threadIdx.x;
    t[i] = clock();
    for (int k = 0; k < i % 7; k++)
        x[i] = x[i] / (x[(i * 5) % 2304] * 1e-38f + 1e-38f);
}
"""
DEPENDENT = """\
// LAUNCH: first<<<40, 128, 0, 1>>>(x: f32[5120]=random, y: f32[5120])
// LAUNCH: second<<<40, 128, 0, 1, dependent>>>(y, x)
__global__ void first(const float *x, float *y) {
    asm volatile("griddepcontrol.launch_dependents;");
    y[blockIdx.x * 128 + threadIdx.x] = x[blockIdx.x * 128 + 127 - threadIdx.x];
}
__global__ void second(const float *y, float *x) {
    asm volatile("griddepcontrol.wait;");
    x[blockIdx.x * 128 + threadIdx.x] += y[blockIdx.x * 128 + threadIdx.x];
}
"""
CLUSTERS = """\
// LAUNCH: ring<<<16, 64, cluster=4>>>(x: i32[1024]=arange)
#include <cooperative_groups.h>
__global__ void ring(int *x) {
    __shared__ int mine[64];
    auto cluster = cooperative_groups::this_cluster();
    mine[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    cluster.sync();
    x[blockIdx.x * 64 + threadIdx.x] = *cluster.map_shared_rank(mine + threadIdx.x, (cluster.block_rank() + 1) % 4);
    cluster.sync();
}
"""
# Blocks take their work from a counter: how many run together shows in what each takes.
SHARED_WORK = """\
// LAUNCH: take<<<12, 32>>>(next: i32[1], out: i32[640])
__global__ void take(int *next, int *out) {
    __shared__ int turn;
    while (true) {
        if (threadIdx.x == 0)
            turn = atomicAdd(next, 1);
        __syncthreads();
        int mine = turn;
        __syncthreads();
        if (mine >= 20)
            return;
        for (int k = 0; k < mine % 5; k++)
            out[mine * 32 + threadIdx.x] += k;
    }
}
"""
SM_NUMBER = """\
// LAUNCH: where<<<12, 32>>>(x: f32[384]=random)
__global__ void where(float *x) {
    unsigned sm;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    for (unsigned k = 0; k < sm; k++)
        x[blockIdx.x * 32 + threadIdx.x] *= 1.5f;
}
"""
FILES = {
    "product.cu": PRODUCT,
    "streams.cu": STREAMS,
    "dependent.cu": DEPENDENT,
    "clusters.cu": CLUSTERS,
    "take.cu": SHARED_WORK,
    "where.cu": SM_NUMBER,
}


@pytest.fixture
def folder(tmp_path):
    write_files(tmp_path, FILES | {"histogram.cu": (SAMPLES / "histogram.cu").read_text()})
    return tmp_path


@pytest.fixture
def emulated(monkeypatch):
    """How often each kernel has been emulated so far."""
    found = Counter()

    def counted(launch, *arguments, **options):
        found[launch.function.display] += 1
        return emulate(launch, *arguments, **options)

    monkeypatch.setattr(launcher, "emulate", counted)
    return found


def table(folder, *words):
    """The rows of a sweep, and what it said on stderr."""
    code, _, error = gpuprof(folder, "sweep", *words, "--jobs", "1", "-o", "table.json")
    assert code in (0, 1), error
    rows = json.loads((folder / "table.json").read_text())["rows"]
    assert code == (1 if any(row["error"] for row in rows) else 0), error
    return rows, error


@pytest.mark.parametrize(
    "words, kernels",
    long_from(
        3,
        [
            ("product.cu --zip --param l2_kb=64,20480 --param sms=2,108", {"tiled": 2}),
            (
                "histogram.cu --param sms=2,60",
                {"global_atomics": 1, "shared_atomics": 1},
            ),
            ("where.cu --param sms=1,2 --param warp_slots=8,16", {"where": 2}),  # %smid shows in the trace
            ("take.cu --param sms=1,2 --param warp_slots=8,16 --param dram_cycles=800", {"take": 4}),  # these, too
            ("product.cu --cache warm --repeat 2 --param latency.shared=20,40", {"tiled": 2}),
            ("product.cu --chips a100,v100 --param dram_cycles=800,900", {"tiled": 4}),  # for sm_80 and for sm_70
            ("streams.cu --zip --param sms=3,4 --param partitions=2,4", {"one": 3}),
            ("dependent.cu --chips h100,h200", {"first": 1, "second": 1}),
            ("clusters.cu --chips h100,h200", {"ring": 1}),
        ],
    ),
)
def test_the_same_rows(folder, emulated, words, kernels):
    expected, _ = table(folder, *words.split())
    emulated.clear()
    assert table(folder, *words.split(), "--traces", "it.gptrace") == (expected, "")
    assert emulated == kernels
    assert table(folder, *words.split(), "--traces", "it.gptrace") == (expected, "")
    assert emulated == kernels


@pytest.mark.long
def test_other_chips_use_the_file_and_programs_are_added(folder, emulated):
    def sweep(*words):
        emulated.clear()
        rows, _ = table(folder, "product.cu", "--traces", "it.gptrace", *words)
        assert not any(row["error"] for row in rows)
        return emulated["tiled"], (folder / "it.gptrace").read_bytes()

    n, one = sweep("--param", "sms=4")
    assert n == 2
    assert sweep("--param", "sms=5", "--cache", "keep") == (0, one)
    n, both = sweep("--chips", "a100,v100")
    assert n == 2 and both.startswith(one[: -CHUNK_HEADER.size]) and len(both) > 1.5 * len(one)
    assert sweep("--chips", "v100", "--repeat", "2") == (0, both)


@pytest.mark.long
def test_by_two_processes(folder):
    words = ("product.cu", "--chips", "a100,v100", "--param", "sms=3,4")
    expected, _ = table(folder, *words)
    for _ in range(2):
        code, *_ = gpuprof(folder, "sweep", *words, "--jobs", "2", "--traces", "it.gptrace", "-o", "both.json")
        assert (code, json.loads((folder / "both.json").read_text())["rows"]) == (0, expected)


def test_a_run_that_fails_leaves_the_traces_to_the_next(folder, emulated):
    words = ("product.cu", "--param", "max_threads_per_block=128,512,1024")
    expected, _ = table(folder, *words)
    assert [bool(row["error"]) for row in expected] == [True, *[False] * 4]  # two launches of each run that works
    emulated.clear()
    assert table(folder, *words, "--traces", "it.gptrace")[0] == expected
    assert emulated == {"tiled": 2}


RESULTS = """\
// LAUNCH: twice<<<2, 32>>>(x: i32[64]=arange, y: i32[64], ADDED); y == ref.npy
__global__ void twice(int *x, int *y, int added) {
    int i = blockIdx.x * 32 + threadIdx.x;
    y[i] = 2 * x[i] + added;
}
"""


@pytest.mark.parametrize("added", [0, 1])
def test_results_are_compared_once_for_all_chips(folder, emulated, added):
    """Every run says that they differ, with and without traces."""
    (folder / "results.cu").write_text(RESULTS.replace("ADDED", str(added)))
    np.save(folder / "ref.npy", 2 * np.arange(64, dtype=np.int32))
    words = ("results.cu", "--param", "sms=2,3,4")
    expected, _ = table(folder, *words)
    assert [bool(row["error"]) for row in expected] == [bool(added)] * 3
    emulated.clear()
    rows, error = table(folder, *words, "--traces", "it.gptrace")
    assert (rows, emulated["twice"]) == (expected, 3 if added else 1)
    assert ("each run emulates it" in error, "it.gptrace" in names(folder)) == (bool(added), not added)


@pytest.fixture
def in_parts(monkeypatch, emulated):
    """Traces come in many parts, to the orders of the timing. Gives the most parts of a chunk so far."""
    counted, most = launcher.emulate, [0]

    def cut(*arguments, **options):
        for piece in counted(*arguments, **options, segment_nbytes=3000):
            most[0] = max(most[0], piece.number + 1)
            yield piece

    monkeypatch.setattr(launcher, "emulate", cut)
    return most


def test_a_trace_in_parts_is_kept_where_its_order_does_not_show(folder, emulated, in_parts):
    """The product's operands decide nothing but values."""
    (folder / "product.cu").write_text(PRODUCT.replace("sum / 3", "sum"))
    words = ("product.cu", "--zip", "--param", "sms=1,3", "--param", "warp_slots=8,64")
    expected, _ = table(folder, *words)
    emulated.clear()
    assert table(folder, *words, "--traces", "it.gptrace") == (expected, "")
    assert table(folder, *words, "--traces", "it.gptrace") == (expected, "")
    assert emulated == {"tiled": 2} and in_parts[0] > 10


# What is loaded decides how long a loop is; the slow path of a division; and lanes of a warp that go two ways.
ANEW = {
    "streams.cu": (STREAMS, "one"),
    "product.cu": (PRODUCT, "tiled"),
    "apart.cu": (
        PRODUCT.replace("sum / 3", "sum").replace("k < TILE", "k < x % 2 * 16"),
        "tiled",
    ),
}


@pytest.mark.parametrize("name", long_from(1, ANEW))
def test_a_trace_in_parts_is_made_anew(folder, in_parts, name):
    """Its parts follow the orders of the timing, and what a warp does may depend on them."""
    text, kernel = ANEW[name]
    (folder / name).write_text(text)
    words = (name, "--param", "sms=2,3")
    expected, _ = table(folder, *words)
    assert in_parts[0] > 2
    assert table(folder, *words, "--traces", "it.gptrace") == (
        expected,
        f"gpuprof: the trace of {kernel} is long, and may depend on the order in which the timing asks for it: each "
        "run emulates it\n",
    )
    assert "it.gptrace" not in names(folder)


NESTED = """\
// LAUNCH: parent<<<2, 32>>>(x: i32[64])
__global__ void child(int *x) { x[threadIdx.x] += 1; }
__global__ void parent(int *x) { if (threadIdx.x == 0) child<<<1, 32>>>(x + blockIdx.x * 32); }
"""


def test_kernels_that_kernels_launch(folder):
    (folder / "nested.cu").write_text(NESTED)
    words = ("nested.cu", "--param", "sms=2,3")
    expected, _ = table(folder, *words)
    assert [row["kernel"] for row in expected] == ["parent", "child", "child"] * 2
    assert table(folder, *words, "--traces", "it.gptrace") == (
        expected,
        "gpuprof: child was launched by a kernel: each run emulates it\n",
    )
    assert "it.gptrace" not in names(folder)


def test_chunks_that_are_too_long_are_not_kept(folder, in_parts, monkeypatch):
    monkeypatch.setattr(write_sweep, "MOST_CHUNK_NBYTES", 10_000)
    (folder / "product.cu").write_text(PRODUCT.replace("sum / 3", "sum"))
    rows, error = table(folder, "product.cu", "--param", "sms=2", "--traces", "it.gptrace")
    assert not any(row["error"] for row in rows)
    assert (error, "it.gptrace" in names(folder)) == ("", False)  # there is no other run


def test_traces_that_are_too_long_are_not_kept(folder, monkeypatch):
    whole = write_sweep.SweptWriter
    monkeypatch.setattr(write_sweep, "SweptWriter", lambda *words: whole(*words, most_nbytes=10_000))
    words = ("product.cu", "--param", "sms=2,3")
    expected, _ = table(folder, *words)
    rows, error = table(folder, *words, "--traces", "it.gptrace")
    assert (rows, "it.gptrace" in names(folder)) == (expected, False)
    assert error == "gpuprof: the traces need more than 9.31e-06 GiB: each run emulates it\n"


@pytest.mark.long
def test_a_program_that_has_no_room_in_the_file_is_not_in_it(folder, emulated, monkeypatch):
    table(folder, "product.cu", "--traces", "it.gptrace")
    one = (folder / "it.gptrace").read_bytes()
    room = stored_traces.TRACES._replace(most_nbytes=len(one) + stored_traces.MOST_OBJECT_NBYTES)
    monkeypatch.setattr(stored_traces, "TRACES", room)
    words = ("product.cu", "--chips", "a100,v100", "--param", "sms=2,3")
    expected, _ = table(folder, *words)
    emulated.clear()
    rows, error = table(folder, *words, "--traces", "it.gptrace")
    assert (rows, emulated) == (expected, {"tiled": 2})  # of the v100, whose second run takes the traces of the first
    assert error == "gpuprof: it.gptrace: is full: the traces of 1 program are not in it\n"
    assert (folder / "it.gptrace").read_bytes() == one


def test_a_full_disk_ends_no_run(folder, monkeypatch):
    def refused(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(write_sweep, "put_piece", refused)
    words = ("product.cu", "--param", "sms=2,3")
    expected, _ = table(folder, *words)
    assert table(folder, *words, "--traces", "it.gptrace") == (
        expected,
        "gpuprof: the temporary file of the traces cannot be written: No space left on device: each run emulates it\n",
    )
    assert "it.gptrace" not in names(folder)


# --- what is refused by name


@pytest.mark.parametrize(
    "words, message",
    [
        ("run.py --traces it.gptrace", "run.py: its host code reads what the launches compute, and --traces has only"),
        ("main.cu --traces it.gptrace", "main.cu: its host code reads what the launches compute, and --traces has"),
        (
            "product.cu --traces it.gptrace --sample-blocks",
            "--sample-blocks and --traces: a file has the traces",
        ),
        ("product.cu --traces it.gptrace --scheduler tcp://a:1", "--scheduler and --traces: its workers may not see"),
        ("product.cu --traces product.cu", "product.cu: "),
        ("product.cu --traces it.csv -o it.csv", "it.csv: would be written twice"),
    ],
)
def test_what_is_refused(folder, words, message):
    write_files(folder, {"run.py": "import gpuprof\n", "main.cu": "int main() { return 0; }\n"})
    before = names(folder)
    code, out, error = gpuprof(folder, "sweep", *words.split())
    assert (code, out) == (2, "")
    assert message in error
    assert names(folder) == before
