"""gpuprof vary, as its users run it."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from gpuprof.correlate.database import reading
from gpuprof.sweep.run_sweep import Measured
from gpuprof.vary import search
from gpuprof.vary.judged import Tried
from tests.support.command import gpuprof, names, write_files

# 1000 is no multiple of a block; `hard` counts on blocks of 64.
SCALE = """\
// LAUNCH: scale<<<16, 64>>>(y: f32[1000], x: f32[1000]=random, 1000)
#ifndef FACTOR
#define FACTOR 2
#endif
__global__ void scale(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = FACTOR * x[i];
}
"""
HARD = """\
// LAUNCH: hard<<<16, 64>>>(y: f32[1000], x: f32[1000]=random, 1000)
__global__ void hard(float *y, const float *x, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
"""
TRANSPOSE = """\
// LAUNCH: transpose<<<(2, 2), (32, 8)>>>(out: f32[64,64], in: f32[64,64]=random, 64)
__global__ void transpose(float *out, const float *in, int n)
{
    __shared__ float tile[32][32]; // 32 & 32 / 1
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
"""


def varied(folder: Path, *arguments: str) -> dict:
    """The JSON document that `gpuprof vary` prints."""
    code, out, error = gpuprof(folder, "vary", "--jobs", "1", "--json", *arguments)
    assert code == 0, error
    return json.loads(out)


def collected(folder: Path, command: str, recording: str) -> int:
    """The cycles of all launches that a command of a shell records."""
    for each in command.split(" && "):
        if each.startswith("sed "):
            subprocess.run(["sh", "-c", each], cwd=folder, check=True)
            continue
        program, *words = shlex.split(each)
        assert program == "gpuprof"
        code, _, error = gpuprof(folder, *words)
        assert code == 0, error
    with reading(folder / recording) as db:
        return db.execute("SELECT SUM(cycles) FROM launches").fetchone()[0]


def test_blocks_of_a_kernel_that_allows_them(tmp_path):
    write_files(tmp_path, {"my dir/scale.cu": SCALE})
    found = varied(tmp_path, "my dir/scale.cu", "--vary", "block=64,96,2048")
    rows = [(each["values"], each["results"]) for each in found["variants"]]
    assert rows == [({}, "same"), ({"block": "64"}, "same"), ({"block": "96"}, "same"), ({"block": "2048"}, "failed")]
    launches = [[(launch["grid"], launch["block"]) for launch in each["launches"]] for each in found["variants"]]
    assert launches == [[("16,1,1", "64,1,1")], [("16,1,1", "64,1,1")], [("11,1,1", "96,1,1")], []]
    assert found["variants"][3]["text"] == (
        "scale.cu:1: scale: the block's x extent is 2048; it must be 1 to 1024; scale<<<1, 2048>>>(y: f32[1000], x: "
        "f32[1000]=random, 1000)"
    )
    command = found["variants"][2]["command"]
    assert command == (
        "gpuprof collect 'my dir/scale.cu' --launch 'scale<<<11, 96>>>(y: f32[1000], x: f32[1000]=random, 1000)'"
    )
    assert collected(tmp_path, command, "scale.gprec") == found["variants"][2]["cycles"]


def test_a_kernel_that_counts_on_its_block_is_never_best(tmp_path):
    write_files(tmp_path, {"hard.cu": HARD})
    code, out, _ = gpuprof(tmp_path, "vary", "hard.cu", "--vary", "block=32,64,128", "--jobs", "1", "--width", "44")
    lines = [line.split() for line in out.splitlines() if line and not line.startswith("#")]
    assert (code, lines[0]) == (0, ["block", "cycles", "speed-up", "results"])
    assert [(line[0], line[3:]) for line in lines[1:5]] == [
        ("original", ["same"]), ("32", ["differs:", "y"]), ("64", ["same"]), ("128", ["differs:", "y"]),
    ]  # fmt: skip
    assert collected(tmp_path, "gpuprof collect hard.cu", "hard.gprec") == int(lines[1][1].replace(",", ""))
    assert out.splitlines()[-1] == "gpuprof collect hard.cu"


def test_a_file_whose_name_begins_with_a_dash(tmp_path):
    write_files(tmp_path, {"-t.cu": TRANSPOSE})
    code, out, error = gpuprof(tmp_path, "vary", "--vary", "pad.tile=0", "--jobs", "1", "--json", "--", "-t.cu")
    assert (code, json.loads(out or "{}").get("best")) == (0, {"variant": 0, "command": "gpuprof collect ./-t.cu"}), (
        error
    )


def test_a_padding_is_measured_as_its_twin(tmp_path):
    write_files(tmp_path, {"t.cu": TRANSPOSE, "twin.cu": TRANSPOSE.replace("[32][32]", "[32][33]")})
    found = varied(tmp_path, "t.cu", "--vary", "pad.tile=0,1")
    original, zero, one = found["variants"]
    twin = collected(tmp_path, "gpuprof collect twin.cu", "twin.gprec")
    assert (zero["cycles"], one["cycles"]) == (original["cycles"], twin)
    assert one["speedup"] == round(original["cycles"] / twin, 4) > 1
    assert found["best"] == {"variant": 2, "command": one["command"]}
    assert collected(tmp_path, one["command"], "t.varied.gprec") == twin
    assert (tmp_path / "t.varied.cu").read_text() == (tmp_path / "twin.cu").read_text()


def test_a_fault_of_a_changed_source_names_the_users_file(tmp_path):
    """A line of 33 floats is no multiple of 16 bytes, so the second row of float4 is not aligned."""
    source = (
        "// LAUNCH: k<<<1, 32>>>(y: f32[32])\n"
        "__global__ void k(float *y)\n"
        "{\n"
        "    __shared__ __align__(16) float tile[8][32];\n"
        "    *(float4 *)&tile[threadIdx.x % 8][4] = make_float4(1, 2, 3, 4);\n"
        "    __syncthreads();\n"
        "    y[threadIdx.x] = tile[threadIdx.x % 8][5];\n"
        "}\n"
    )
    write_files(tmp_path, {"my dir/k.cu": source})
    found = varied(tmp_path, "my dir/k.cu", "--vary", "pad.tile=1,4")
    assert [each["results"] for each in found["variants"]] == ["same", "failed", "same"]
    assert found["variants"][1]["text"].startswith("k: my dir/k.cu:5, thread (1, 0, 0) of block (0, 0, 0): ")


def test_an_interrupted_search_shows_what_there_is(tmp_path, monkeypatch):
    def interrupted(plan, variants):
        launch = Measured(0, "scale", "16,1,1", "64,1,1", {"cycles": 1234, "registers": 10}, blocks_per_sm=32)
        yield Tried(0, 1, (launch,), "same", "", True)
        raise KeyboardInterrupt

    write_files(tmp_path, {"scale.cu": SCALE})
    monkeypatch.setattr(search, "explore", interrupted)
    code, out, _ = gpuprof(tmp_path, "vary", "scale.cu", "--vary", "block=32", "--width", "60")
    assert code == 130
    assert [line.split() for line in out.splitlines() if line and not line.startswith("#")] == [
        ["block", "cycles", "speed-up", "registers", "occupancy", "results"],
        ["original", "1,234", "1.00", "10", "100%", "same"],
        ["32", "-", "-", "-", "-", "not", "run"],
    ]


def test_macros_registers_and_levels(tmp_path):
    write_files(tmp_path, {"scale.cu": SCALE})
    found = varied(
        tmp_path, "scale.cu", "--vary", "D.FACTOR=2,3,oops", "--vary", "max_registers=none,16", "--vary", "opt=O3"
    )
    assert [(each["values"].get("D.FACTOR"), each["results"]) for each in found["variants"]] == [
        (None, "same"), ("2", "same"), ("2", "same"), ("3", "differs"), ("3", "differs"),
        ("oops", "failed"), ("oops", "failed"),
    ]  # fmt: skip
    assert "use of undeclared identifier 'oops'" in found["variants"][5]["text"]
    assert found["variants"][2]["command"] == "gpuprof collect scale.cu --max-registers 16 -D FACTOR=2"


@pytest.mark.long
def test_launch_bounds_leave_fewer_registers(tmp_path):
    """32 blocks of 64 threads leave 65,536 / 2,048 registers to a thread."""
    sums = (
        "".join(f"float a{i} = x[i + {i}]; " for i in range(40))
        + "__syncthreads(); y[i] = "
        + " * ".join(f"(a{i} + i)" for i in range(40))
    )
    source = (
        "// LAUNCH: k<<<2, 64>>>(y: f32[128], x: f32[256]=random)\n"
        f"__global__ void k(float *y, const float *x)\n{{ int i = blockIdx.x * 64 + threadIdx.x; {sums}; }}\n"
    )
    write_files(tmp_path, {"k.cu": source})
    found = varied(tmp_path, "k.cu", "--vary", "min_blocks=none,32")
    free, bound = found["variants"][1:]
    assert free["registers"] > 32 >= bound["registers"]
    assert bound["results"] == "same"
    assert collected(tmp_path, bound["command"], "k.varied.gprec") == bound["cycles"]


SCRIPT = """\
import sys
import numpy as np
import gpuprof
gpu = gpuprof.Device()
scale = gpu.load("scale.cu")["scale"]
x = gpu.to_device(np.arange(1000, dtype=np.float32))
y = gpu.device_array(1000, np.float32)
block = int(sys.argv[1])
scale[-(-1000 // block), block](y, x, 1000 - int(sys.argv[2]))
y.copy_to_host()
"""


@pytest.mark.long
def test_a_script_has_its_values_in_its_arguments(tmp_path):
    """Its results are what it copies to the host."""
    write_files(tmp_path, {"scale.cu": SCALE, "s.py": SCRIPT})
    varies = ("--vary", "D.B=64,96", "--vary", "D.LESS=0,1")
    found = varied(tmp_path, "s.py", *varies, "--", "{B}", "{LESS}")
    variants = [(each["values"], each["results"], each["text"]) for each in found["variants"]]
    assert variants == [
        ({}, "same", ""),
        ({"D.B": "64", "D.LESS": "0"}, "same", ""),
        ({"D.B": "64", "D.LESS": "1"}, "differs", "copies to the host"),
        ({"D.B": "96", "D.LESS": "0"}, "same", ""),
        ({"D.B": "96", "D.LESS": "1"}, "differs", "copies to the host"),
    ]
    command = found["variants"][3]["command"]
    assert command == "gpuprof collect s.py -- 96 0"
    assert collected(tmp_path, command, "s.gprec") == found["variants"][3]["cycles"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((), "nothing is varied; give --vary, as in --vary block=64,128,256"),
        (("--vary", "pad.t=1"), "--vary pad.t: scale.cu has no declaration"),
        (("--vary", "block.none=32"), "--vary block.none: no launch is of a kernel none; there are: scale"),
        (("--vary", "D.N=1", "--launch", "k<<<{N}, {M}>>>()"), "{M} needs a --vary D.NAME=... of that name"),
    ],
)
def test_what_is_refused_before_anything_runs(tmp_path, arguments, message):
    write_files(tmp_path, {"scale.cu": SCALE})
    code, out, error = gpuprof(tmp_path, "vary", "scale.cu", *arguments)
    assert (code, out) == (2, "") and message in error
    assert names(tmp_path) == ["scale.cu"]


@pytest.mark.parametrize(
    "file, vary, message",
    [
        ("k.ptx", "D.N=1", "--vary D.N: k.ptx is already compiled, so it has no effect; leave it out"),
        ("k.gpubin", "max_registers=32", "--vary max_registers: k.gpubin is already compiled"),
        ("k.gprec", "block=32", "k.gprec: a recording has launches, but no source to compile"),
        ("k.py", "block=32", "--vary block: k.py is a script, which launches its kernels itself"),
        ("k.py", "D.N=1", "--vary D.N: a script has no macros; name {N} in its arguments after --"),
        ("k.cu", "D.N=1", "--vary D.N: k.cu:1 defines N in any case; put `#ifndef N` before it"),
    ],
)
def test_what_has_no_effect_on_a_file(tmp_path, file, vary, message):
    content = "#define N 1\n// LAUNCH: k<<<1, 1>>>()\n__global__ void k() {}\n" if file == "k.cu" else ""
    write_files(tmp_path, {file: content})
    code, _, error = gpuprof(tmp_path, "vary", file, "--vary", vary)
    assert code == 2 and message in error


@pytest.mark.long
def test_the_same_bytes_for_any_number_of_processes(tmp_path):
    again = "// LAUNCH: scale<<<16, 64>>>(y, x, 1000)\n"
    write_files(tmp_path, {"scale.cu": SCALE.replace("#ifndef", f"{again}#ifndef")})
    flags = ("--vary", "block=32,64,96,128", "--vary", "D.FACTOR=2,3", "--search", "halving", "--json")
    found = [gpuprof(tmp_path, "vary", "scale.cu", *flags, "--jobs", jobs)[:2] for jobs in ("1", "2")]
    assert found[0] == found[1]
    document = json.loads(found[0][1])
    rounds = [(each["round"], each["results"]) for each in document["variants"]]
    # Four variants compute the same; two of them are in the second round, which is the last.
    assert rounds[0] == (2, "same")
    assert sorted(rounds[1:]) == [(1, "differs")] * 4 + [(1, "same")] * 2 + [(2, "same")] * 2


@pytest.mark.long
def test_fast_math_and_by_how_much_it_is_off(tmp_path):
    """sin.approx.f32 is off by some 2^-20.5 between 1 and 1.5 (PTX ISA); products are as they were."""
    source = """\
// LAUNCH: k<<<1, 32>>>(y: f32[32], z: f32[32], 3)
__global__ void k(float *y, float *z, float three)
{
    y[threadIdx.x] = sinf(1 + threadIdx.x / 64.0f);
    z[threadIdx.x] = threadIdx.x * three;
}
"""
    write_files(tmp_path, {"k.cu": source})
    found = varied(tmp_path, "k.cu", "--vary", "use_fast_math=no,yes")
    assert [each["results"] for each in found["variants"]] == ["same", "same", "differs"]
    assert found["variants"][2]["text"] == "y"
    assert found["variants"][2]["command"] == "gpuprof collect k.cu --use_fast_math"
    assert collected(tmp_path, "gpuprof collect k.cu --use_fast_math", "k.gprec") == found["variants"][2]["cycles"]

    for tolerance, results in (("1e-5", "same"), ("1e-9", "differs")):
        found = varied(tmp_path, "k.cu", "--vary", "use_fast_math=yes", "--tolerance", tolerance)
        assert found["variants"][1]["results"] == results
    text = found["variants"][1]["text"]
    assert text.startswith("y (relative error ") and 1e-9 < float(text.removeprefix("y (relative error ")[:-1]) < 1e-5
