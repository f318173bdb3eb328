"""gpuprof collect, as a user runs it: where launches come from, what every flag does, what the kernels compute.

The kernels print what they computed, so the whole way from the command line to the emulated GPU and back is checked.
"""

import csv
import io
import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

from gpuprof.chips import list_chips, load_chip
from gpuprof.records.reader import read_recording
from gpuprof.tables.launch import LEDGER
from tests.paths import SAMPLES
from tests.support.command import gpuprof, masked, names, process, write_files
from tests.support.matrices import long_from

KERNELS = """\
#include <cstdio>
// LAUNCH: twice<<<2, 32>>>(x: i32[64]=arange, 64)
// LAUNCH: twice<<<2, 32>>>(x, 64)
// LAUNCH: show<<<1, 1>>>(x, 63)
__global__ void twice(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2 * x[i];
}
__global__ void show(const int *x, int i) { printf("x[%d] = %d\\n", i, x[i]); }
__global__ void showf(const float *x, int i) { printf("x[%d] = %.9g\\n", i, x[i]); }
"""
FROM_COMMENTS = """\
twice<<<2, 32>>>  N cycles  N warp instructions  N samples
twice<<<2, 32>>>  N cycles  N warp instructions  N samples
x[63] = 252
show<<<1, 1>>>  N cycles  N warp instructions  N samples
N samples of 3 launches -> kernels.gprec
"""

SCAN = """\
#include <cstdio>
template <int N>
__global__ void scan(int *x)
{
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int d = 1; d < N; d *= 2) {
        __syncthreads();
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
    }
    if (t == N - 1) printf("%d\\n", s[t]);
}
"""

COUNT = """\
#include <cstdio>
__global__ void count(unsigned *n) { atomicAdd(n, 1u); }
__global__ void show(const unsigned *n) { printf("%u\\n", *n); }
__global__ void guarded(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;
}
__global__ void sum(const int *x, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) s += x[i];
    printf("%d\\n", s);
}
"""


@pytest.fixture
def folder(tmp_path):
    return write_files(tmp_path, {"kernels.cu": KERNELS, "scan.cu": SCAN, "count.cu": COUNT})


def collect(folder, *arguments: str) -> str:
    """stdout, of a run that goes well."""
    code, out, error = gpuprof(folder, "collect", *map(str, arguments))
    assert (code, error) == (0, "")
    return out


def launches(*texts: str) -> list[str]:
    return [word for text in texts for word in ("--launch", text)]


def printed(out: str) -> list[str]:
    """What the kernels printed: the lines that are no summary."""
    return [line for line in out.splitlines() if "<<<" not in line and " -> " not in line]


# Where launches come from.


def test_launches_of_the_source(folder):
    """Arrays that are named are shared: x doubles twice, and 63 * 4 is printed."""
    assert masked(collect(folder, "kernels.cu")) == FROM_COMMENTS


def test_launches_of_the_command_line_take_their_place(folder):
    out = collect(folder, "kernels.cu", *launches("twice<<<1, 8>>>(y: i32[8]=ones, 8)", "show<<<1, 1>>>(y, 7)"))
    assert printed(out) == ["x[7] = 2"]
    assert masked(out.splitlines()[-1]) == "N samples of 2 launches -> kernels.gprec"


def test_clusters_stand_in_the_launch(folder):
    launch = "twice<<<(4, 2), 32, cluster=(2, 2)>>>(i32[256], 256)"
    assert masked(collect(folder, "kernels.cu", "--chip", "h200", *launches(launch))).startswith(
        "twice<<<(4, 2), 32, cluster=(2, 2)>>>  N cycles"
    )


@pytest.mark.parametrize("name", ["twice", "_Z5twicePii"])
def test_a_kernel_by_any_of_its_names(folder, name):
    out = collect(folder, "kernels.cu", *launches(f"{name}<<<1, 32>>>(i32[32], 32)"))
    assert masked(out).startswith("twice<<<1, 32>>>  N cycles")


def test_a_template_is_named_with_its_arguments(folder):
    out = collect(
        folder,
        "scan.cu",
        *launches("scan<256><<<1, 256, 256*4>>>(i32[256]=ones)", "scan<64><<<1, 64, 256>>>(i32[64]=arange)"),
    )
    assert printed(out) == ["256", str(sum(range(64)))]
    assert masked(out).splitlines()[1] == "scan<256><<<1, 256>>>  N cycles  N warp instructions  N samples"


def test_ptx_and_gpubin_run_like_their_source(folder):
    """One program in three forms: the same cycles, instructions and samples, and names as in the source."""
    from_source = collect(folder, "kernels.cu")
    assert gpuprof(folder, "compile", "kernels.cu", "--emit", "ptx")[0] == 0
    assert gpuprof(folder, "compile", "kernels.cu")[0] == 0
    texts = launches("twice<<<2, 32>>>(x: i32[64]=arange, 64)", "twice<<<2, 32>>>(x, 64)", "show<<<1, 1>>>(x, 63)")
    assert collect(folder, "kernels.ptx", *texts) == from_source
    assert collect(folder, "kernels.gpubin", *texts) == from_source
    assert collect(folder, "kernels.gpubin") == from_source  # it carries its source, and that its launches


def test_numpy_files(folder):
    """They are looked for in this folder for --launch, in the source's folder for its comments."""
    np.save(folder / "data.npy", np.array([5, 6, 7], np.int32))
    (folder / "there").mkdir()
    np.save(folder / "there" / "data.npy", np.array([50, 60, 70], np.int32))
    text = "show<<<1, 1>>>(i32[3]=data.npy, 2)"
    write_files(folder, {"there/k.cu": KERNELS.replace("// LAUNCH: ", "//") + f"// LAUNCH: {text}\n"})
    assert printed(collect(folder, "there/k.cu", *launches(text))) == ["x[2] = 7"]
    assert printed(collect(folder, "there/k.cu")) == ["x[2] = 70"]


# Sizes.


@pytest.mark.parametrize(
    "grid, block, threads",
    long_from(2, [(1, 1, 1), (11, 96, 1056), ("(3, 5, 7)", "(2, 3, 5)", 3150), (1024, 1024, 1 << 20)]),
)
def test_every_thread_runs_once(folder, grid, block, threads):
    out = collect(folder, "count.cu", *launches(f"count<<<{grid}, {block}>>>(n: u32[1])", "show<<<1, 1>>>(n)"))
    assert printed(out) == [str(threads)]


@pytest.mark.parametrize("n", long_from(3, [0, 1, 31, 33, 1000]))
def test_any_number_of_elements(folder, n):
    grid = max(1, -(-n // 96))
    out = collect(
        folder, "count.cu", *launches(f"guarded<<<{grid}, 96>>>(x: i32[{max(n, 1)}], {n})", f"sum<<<1, 1>>>(x, {n})")
    )
    assert printed(out) == [str(sum(range(n)))]


# Scripts.

SCRIPT = """\
import sys
import numpy as np
import gpuprof
from helper import BLOCK

gpu = gpuprof.Device()
doubling, counting = gpu.load("kernels.cu"), gpu.load("count.cu")
x = gpu.to_device(np.arange(64, dtype=np.int32))
for _ in range(int(sys.argv[1])):
    doubling.twice[2, BLOCK](x, 64)
    print("host", x.copy_to_host()[1])
n = gpu.to_device(np.zeros(1, np.uint32))
counting.count[3, BLOCK](n)
counting.show[1, 1](n)
counting.guarded[1, BLOCK](gpu.to_device(np.zeros(0, np.int32)), 0)
print(__name__, sys.argv[1:])
"""
SCRIPT_OUT = """\
twice<<<2, 32>>>  N cycles  N warp instructions  N samples
host 2
twice<<<2, 32>>>  N cycles  N warp instructions  N samples
host 4
count<<<3, 32>>>  N cycles  N warp instructions  N samples
96
show<<<1, 1>>>  N cycles  N warp instructions  N samples
guarded<<<1, 32>>>  N cycles  N warp instructions  N samples
__main__ ['2', '--flag']
N samples of 5 launches -> run.gprec
"""


def test_a_script(folder):
    """Two modules, a kernel twice, host code between, an array without elements, arguments of its own, a module beside
    it.
    """
    write_files(folder, {"run.py": SCRIPT, "helper.py": "BLOCK = 32\n"})
    code, out, error = process(folder, "collect", "run.py", "--", "2", "--flag")
    assert (code, masked(out), error) == (0, SCRIPT_OUT, "")
    recording = read_recording(folder / "run.gprec")
    assert [(launch.begin["kernel"], launch.begin["module"]) for launch in recording.launches.values()] == [
        ("twice", 0), ("twice", 0), ("count", 1), ("show", 1), ("guarded", 1),
    ]  # fmt: skip


@pytest.mark.long
def test_a_script_on_its_own_prints_what_its_kernels_print(folder):
    write_files(folder, {"run.py": SCRIPT, "helper.py": "BLOCK = 32\n"})
    done = subprocess.run([sys.executable, "run.py", "1"], cwd=folder, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "host 2\n96\n__main__ ['1']\n", "")
    assert not list(folder.glob("*.gprec"))


TASKS_SCRIPT = """\
import contextlib
import numpy as np
import gpuprof.errors

gpu = gpuprof.Device()
doubling = gpu.load("kernels.cu")
x = gpu.to_device(np.arange(64, dtype=np.int32))
doubling.twice[2, 32](x, 64)
with gpu.task("step 1"):
    doubling.twice[2, 32](x, 64)
    with contextlib.suppress(KeyError), gpu.task("inner"):
        doubling.show[1, 1](x, 1)
        raise KeyError
    doubling.show[1, 1](x, 2)
one, two = gpu.task("one"), gpu.task("two")
one.__enter__(), two.__enter__()
try:
    one.__exit__(None, None, None)
except gpuprof.errors.UsageError as error:
    print(error)
"""


def test_tasks_of_a_script(folder):
    """Recorded, in the database, and on the launches page in every format."""
    write_files(folder, {"tasks.py": TASKS_SCRIPT})
    assert (
        printed(collect(folder, "tasks.py"))[-1]
        == "task 'one' ends, but the innermost open task is 'two': end that one first"
    )
    tasks = ["", "step 1", "step 1/inner", "step 1"]
    assert [launch.begin["task"] for launch in read_recording(folder / "tasks.gprec").launches.values()] == tasks
    text, as_csv, as_json = (
        gpuprof(folder, "report", "tasks.gprec", "--page", "launches", *flag)[1]
        for flag in ((), ("--format", "csv"), ("--format", "json"))
    )
    assert gpuprof(folder, "correlate", "tasks.gprec")[0] == 0
    with closing(sqlite3.connect(folder / "tasks.gpudb")) as db:
        assert db.execute("SELECT task FROM launches ORDER BY launch").fetchall() == [(task,) for task in tasks]
    lines = text.splitlines()
    rows = [line for line in lines if re.match(r" +[0-3] ", line)]
    heading = next(line for line in lines if line.startswith("launch "))
    assert [row[heading.index("  task") + 2 :] for row in rows] == tasks
    assert [row["task"] for row in csv.DictReader(io.StringIO(as_csv))] == tasks
    launches = [launch for kernel in json.loads(as_json)["kernels"] for launch in kernel["launches"]]
    assert [launch["task"] for launch in sorted(launches, key=lambda launch: launch["launch"])] == tasks


# Flags.


def test_the_previous_recording_is_kept_as_old(folder):
    collect(folder, "kernels.cu", "-o", "a b.gprec")
    first = (folder / "a b.gprec").read_bytes()
    out = collect(folder, "kernels.cu", "--seed", "1", "-o", "a b.gprec")
    assert masked(out).endswith("N samples of 3 launches -> a b.gprec\n")
    assert (folder / "a b.gprec.old").read_bytes() == first
    assert names(folder) == ["a b.gprec", "a b.gprec.old", "count.cu", "kernels.cu", "scan.cu"]


@pytest.mark.parametrize("chip", long_from(1, list_chips()))
def test_every_chip(folder, chip):
    code, out, error = gpuprof(folder, "collect", "kernels.cu", "--chip", chip)
    expressed = f"gpuprof: chip {chip}: {load_chip(chip).notes}\n" if chip.endswith("-like") else ""
    assert (code, masked(out), error) == (0, FROM_COMMENTS, expressed)
    assert expressed.startswith(f"gpuprof: chip {chip}: not an NVIDIA part: " if expressed else "")
    assert read_recording(folder / "kernels.gprec").chip["name"] == chip


def test_period(folder):
    """A shorter period gives more samples of the same cycles; 0 gives none, and the ledger all the same."""
    text = launches("twice<<<64, 256>>>(i32[16384], 16384)")
    counts, cycles = {}, set()
    for period in ("32", "2^7", "0"):
        out = collect(folder, "kernels.cu", "--period", period, *text)
        cycles.add(re.search(r"([\d,]+) cycles", out)[1])
        counts[period] = len(read_recording(folder / "kernels.gprec").launches[0].samples)
    assert len(cycles) == 1
    assert counts["0"] == 0 and counts["32"] > 3 * counts["2^7"] > 0
    assert read_recording(folder / "kernels.gprec").launches[0].rows[LEDGER]["cycles"].sum() > 0


def test_mode_all_samples_every_resident_warp(folder):
    """Two blocks of one warp on two SMs: `random` and `all` see the same; eight warps in a block: `all` sees up to
    eight at a time.
    """
    text = launches("twice<<<1, 256>>>(i32[256], 256)")
    samples = {}
    for mode in ("random", "all"):
        collect(folder, "kernels.cu", "--mode", mode, "--period", "32", *text)
        samples[mode] = read_recording(folder / "kernels.gprec").launches[0].samples
    assert len(np.unique(samples["random"]["cycle"])) == len(samples["random"])
    per_cycle = np.unique(samples["all"]["cycle"], return_counts=True)[1]
    assert per_cycle.max() == 8
    assert len(per_cycle) == len(samples["random"])


def test_compact_records(folder):
    """8 bytes a sample instead of 32; the same samples."""
    collect(folder, "kernels.cu", "--period", "32")
    wide = read_recording(folder / "kernels.gprec").launches[0].samples
    collect(folder, "kernels.cu", "--period", "32", "--record", "compact")
    compact = read_recording(folder / "kernels.gprec").launches[0].samples
    assert (wide.dtype.itemsize, compact.dtype.itemsize) == (32, 8)
    assert [compact[name].tolist() for name in compact.dtype.names] == [
        wide[name].tolist() for name in compact.dtype.names
    ]


def test_seed_makes_other_random_data(folder):
    text = launches("showf<<<1, 1>>>(f32[8]=random, 7)")
    for seed in (0, 1):
        (line,) = printed(collect(folder, "kernels.cu", "--seed", str(seed), *text))
        assert re.fullmatch(r"x\[7\] = 0\.\d+", line)
    assert len({tuple(printed(collect(folder, "kernels.cu", "--seed", seed, *text))) for seed in ("0", "1", "2")}) == 3


def test_include_and_define(folder):
    source = (
        '#include <cstdio>\n#include "k.h"\n// LAUNCH: k<<<1, 1>>>()\n__global__ void k() { printf("%d\\n", '
        "FROM_HEADER + FROM_FLAG); }\n"
    )
    write_files(folder, {"k.cu": source, "include here/k.h": "#define FROM_HEADER 40\n"})
    assert printed(collect(folder, "k.cu", "-I", "include here", "-D", "FROM_FLAG=2")) == ["42"]


def test_max_registers(folder):
    """What does not fit is spilled: the result stays, local memory is used. The barrier keeps 40 values live at a time;
    without it stores move up, and 24 registers are enough, as with ptxas.
    """
    many = "".join(f"    float v{i} = x[{i}];\n" for i in range(40))
    back = "".join(f"    x[{i}] = v{39 - i};\n" for i in range(40))
    body = f'{many}    __syncthreads();\n{back}    printf("%g\\n", x[5]);\n'
    write_files(folder, {"many.cu": f"#include <cstdio>\n__global__ void reverse(float *x) {{\n{body}}}\n"})
    spills = {}
    for limit in ((), ("--max-registers", "24")):
        assert printed(collect(folder, "many.cu", *limit, *launches("reverse<<<1, 1>>>(f32[40]=arange)"))) == ["34"]
        fields = read_recording(folder / "many.gprec").launches[0].begin
        spills[limit] = fields["registers"], fields["local_nbytes"]
    assert spills[()][0] > 24 >= spills["--max-registers", "24"][0]
    assert spills["--max-registers", "24"][1] > spills[()][1]


# The samples.


SAMPLE_FILES = sorted(path.name for path in SAMPLES.glob("*.cu") if "LAUNCH:" in path.read_text())


@pytest.mark.parametrize("name", long_from(3, sorted(SAMPLE_FILES, key="matmul.cu".__eq__)))
def test_every_sample(tmp_path, name):
    """One summary line per LAUNCH line; a sample of every launch; ledger and records agree with the database."""
    text = (SAMPLES / name).read_text()
    kernels = re.findall(r"^// LAUNCH: (\w+)<<<", text, re.MULTILINE)
    out = collect(tmp_path, SAMPLES / name)
    assert [line.partition("<<<")[0] for line in out.splitlines()[:-1]] == kernels
    stem = name.removesuffix(".cu")
    assert gpuprof(tmp_path, "correlate", f"{stem}.gprec")[0] == 0
    with closing(sqlite3.connect(tmp_path / f"{stem}.gpudb")) as db:
        counted = db.execute("SELECT launch, SUM(samples) FROM samples GROUP BY launch ORDER BY launch").fetchall()
        assert [launch for launch, _ in counted] == list(range(len(kernels)))
    assert f"{sum(n for _, n in counted):,} samples of" in out.splitlines()[-1]


def test_the_sample_script(tmp_path):
    out = collect(tmp_path, SAMPLES / "normalise.py", "--", "1000")
    assert printed(out) == ["length after scaling 1000 elements: 1.000000"]
