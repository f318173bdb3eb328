"""Commands that take long, on terminals and in logs: none is silent, and none leaves traces of its progress."""

import os
import re
import subprocess

import pytest

from tests.paths import SAMPLES
from tests.support.big_recording import write_big_recording
from tests.support.command import PROGRAM, gpuprof, process, write_files
from tests.support.on_terminal import on_terminal
from tests.support.screen import Screen

MOST_SILENT_SECONDS = 2.0
SLACK_SECONDS = 6.0  # of a machine that does much else

SOURCES = {
    "product.cu": """\
// LAUNCH: product<<<(64, 64), (16, 16)>>>(f32[1048576], f32[1048576], f32[1048576], 1024)
__global__ void product(float *c, const float *a, const float *b, int n)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
""",
    "empty.cu": "// LAUNCH: empty<<<2147483647, 1>>>()\n__global__ void empty() {}\n",
    "nap.cu": """\
// LAUNCH: nap<<<1, 32>>>()
__global__ void nap() { for (int i = 0; i < 100000; i++) __nanosleep(1000000); }
""",
    "flood.cu": """\
#include <cstdio>
// LAUNCH: flood<<<2500, 1000>>>()
__global__ void flood() { printf("%d %d\\n", blockIdx.x, threadIdx.x); }
""",
    "spin.cu": """\
// LAUNCH: spin<<<1, 32>>>(i32[1])
__global__ void spin(volatile int *x)
{
    while (*x == 0)
        ;
}
""",
}
# (name of the source, what comes to be on the screen, seconds from then to the interrupt)
KERNELS = [
    ("product.cu", "blocks", 10),
    ("empty.cu", "of 2,147,483,647 blocks", 3),
    ("nap.cu", "cycles", 3),
    ("flood.cu", "at flood.cu:3", 2),
    ("spin.cu", "at spin.cu:4", 2),
]


def assert_never_silent(seen) -> None:
    assert seen.longest_silence < MOST_SILENT_SECONDS + SLACK_SECONDS


@pytest.mark.long
@pytest.mark.parametrize(("source", "said", "seconds"), KERNELS)
def test_a_kernel_that_takes_long_is_stopped(tmp_path, source, said, seconds):
    """The screen then has no bar, and the cursor was never hidden."""
    write_files(tmp_path, SOURCES)
    seen = on_terminal(tmp_path, "collect", source, stop_after=(said, seconds))
    assert seen.code == 130
    assert_never_silent(seen)
    rows = Screen(100).feed(seen.text).text()
    name = source.removesuffix(".cu")
    assert rows[-1] == "gpuprof: interrupted"
    promised = f"gpuprof: the part before can be read: gpuprof report {name}.gprec"
    assert (rows[-2] == promised) == (tmp_path / f"{name}.gprec").exists()
    if promised in rows:
        assert gpuprof(tmp_path, "report", f"{name}.gprec")[0] == 0
    assert not any(" of " in row and " blocks" in row for row in rows)


@pytest.mark.long
def test_an_endless_loop_says_where_it_turns(tmp_path):
    write_files(tmp_path, SOURCES)
    seen = on_terminal(tmp_path, "collect", "spin.cu", stop_after=("no block has finished", 32), stderr_in_pipe=True)
    lines = [re.sub(r"[\d,]+ warp", "N warp", line) for line in seen.text.splitlines()]
    said = (
        "gpuprof: spin<<<1, 32>>>: no block has finished for 30 s; it is at spin.cu:4, after N warp instructions; "
        "--max-instructions N or Ctrl-C stops it"
    )
    assert lines.count(said) == 1
    assert sum(line.startswith("gpuprof: spin<<<1, 32>>>: N warp instructions (") for line in lines) >= 1
    assert "\x1b" not in seen.text and "\r" not in seen.text


TALK = """\
#include <cstdio>
// LAUNCH: say<<<1, 2>>>(1)
// LAUNCH: slow<<<1, 32>>>(i32[1], 30000)
// LAUNCH: say<<<1, 2>>>(2)
// LAUNCH: slow<<<1, 32>>>(i32[1], 30000)
__global__ void say(int n) { printf("launch %d, thread %d%s", n, threadIdx.x, n == 1 || threadIdx.x ? "\\n" : "; "); }
__global__ void slow(volatile int *x, int n) { while (n--) *x = n; }
"""


@pytest.mark.long
@pytest.mark.parametrize("columns", [20, 60, 140])
def test_what_kernels_print_stays_legible_and_the_recording_is_the_same(tmp_path, columns):
    write_files(tmp_path, {"talk.cu": TALK})
    code, out, _ = process(tmp_path, "collect", "talk.cu", "-o", "quiet.gprec")
    assert code == 0
    seen = on_terminal(tmp_path, "collect", "talk.cu", "-o", "shown.gprec", columns=columns)
    assert seen.code == 0 and "\x1b[J" in seen.text
    # On a slow machine `slow` is said to have no block that finishes, which stays.
    rows = [row for row in Screen(10_000).feed(seen.text).text() if not row.startswith("gpuprof: slow<<<")]
    assert "".join(rows) == out.replace("quiet", "shown").replace("\n", "")
    quiet, shown = ((tmp_path / f"{name}.gprec").read_bytes() for name in ("quiet", "shown"))
    assert quiet.replace(b"quiet", b"shown") == shown


@pytest.mark.long
def test_a_terminal_that_is_resized(tmp_path):
    """The bar goes on in the new width."""
    write_files(tmp_path, SOURCES)
    seen = on_terminal(
        tmp_path, "collect", "empty.cu", columns=140, stop_after=("blocks", 4), resize_after=("blocks", 2, 30)
    )
    bars = [piece.decode() for _, piece in seen.pieces if piece.endswith(b"\x1b[0m")]
    assert len(Screen(200).feed(bars[-1]).text()[-1]) < 30
    assert "\x1b[A" in seen.text


@pytest.mark.long
@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_terminals_without_cursor_or_colours(tmp_path, environment):
    write_files(tmp_path, SOURCES)
    seen = on_terminal(tmp_path, "collect", "empty.cu", stop_after=("blocks", 1), **environment)
    assert seen.code == 130 and "blocks" in seen.text
    assert set(re.findall(r"\x1b\[[\d;?]*[A-Za-z]", seen.text)) == ({"\x1b[J"} if "NO_COLOR" in environment else set())


@pytest.mark.long
def test_stderr_that_is_closed(tmp_path):
    """Python has no stderr then, and the program shows nothing and goes on."""
    write_files(tmp_path, {"talk.cu": TALK})
    command = ["sh", "-c", 'exec "$@" 2>&-', "sh", *PROGRAM, "collect", "talk.cu"]
    environment = {name: value for name, value in os.environ.items() if name != "GPUPROF_PROGRESS"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, timeout=300, text=True)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].endswith("-> talk.gprec")


def big_ptx(n_kernels: int, n_instructions: int) -> str:
    """Kernels of additions, each of which takes two of the results before it."""
    text = [".version 8.0\n.target sm_80\n.address_size 64\n"]
    for kernel in range(n_kernels):
        text.append(
            f".visible .entry k{kernel}(.param .u64 p)\n{{\n.reg .b32 %r<{n_instructions + 1}>;\n.reg .b64 %rd<2>;\n"
            "ld.param.u64 %rd1, [p];\nld.global.u32 %r0, [%rd1];\n"
        )
        text += [f"mad.lo.u32 %r{i}, %r{i - 1}, %r{i * 7 // 8}, {i};\n" for i in range(1, n_instructions)]
        text.append(f"st.global.u32 [%rd1], %r{n_instructions - 1};\nret;\n}}\n")
    return "".join(text)


@pytest.mark.long
def test_a_big_ptx_file(tmp_path):
    write_files(tmp_path, {"big.ptx": big_ptx(40, 2000)})
    seen = on_terminal(tmp_path, "compile", "big.ptx")
    assert seen.code == 0
    assert_never_silent(seen)
    for said in ("assembling big.ptx: optimizing", "of 40 functions"):
        assert said in seen.text
    assert len(Screen(10_000).feed(seen.text).text()) == 40


@pytest.mark.long
def test_a_large_recording_and_a_sweep_with_workers(tmp_path):
    assert process(tmp_path, "collect", SAMPLES / "saxpy.cu")[0] == 0
    write_big_recording(tmp_path / "big.gprec", tmp_path / "saxpy.gprec", 6_000_000)
    seen = on_terminal(tmp_path, "correlate", "big.gprec")
    assert seen.code == 0
    assert_never_silent(seen)
    assert "reading big.gprec" in seen.text and " kB" in seen.text
    assert Screen(100).feed(seen.text).text() == ["big.gpudb: 1 launch"]
    seen = on_terminal(tmp_path, "sweep", SAMPLES / "saxpy.cu", "--param", "sms=2,3,4", "--jobs", "2")
    assert seen.code == 0
    assert_never_silent(seen)
    assert "of 3 runs" in seen.text
    assert Screen(100).feed(seen.text).text()[0].startswith("gpuprof    ")


@pytest.mark.long
def test_a_first_run(tmp_path):
    seen = on_terminal(
        tmp_path, "collect", SAMPLES / "saxpy.cu", NUMBA_CACHE_DIR=str(tmp_path / "cache"), NUMBA_CPU_NAME="x86-64-v2"
    )
    assert seen.code == 0
    assert_never_silent(seen)
    assert "compiling the emulator" in seen.text or "compiling the timing model" in seen.text
    first, *_, launch, _ = Screen(100).feed(seen.text).text()
    assert first.startswith("gpuprof: first run on this machine: compiling the emulator and the timing model, once")
    assert launch.startswith("saxpy<<<256, 256>>>  ")
