"""Variables of optimized code: what is shown is what the same program has in code that keeps them all."""

import pytest

from gpuprof.debug.commands.command_table import run_line
from gpuprof.debug.debugger import Debugger
from gpuprof.errors import DebugError
from gpuprof.run.compile_file import BuildOptions
from tests.paths import ROOT

FOLDER = ROOT / "tests/debug"

SESSION = {
    "break walk": ["Breakpoint 1 (walk) pending."],
    "run": [
        "Starting program: walk.cu",
        "[Switching focus to CUDA kernel 0, block (0,0,0), thread (0,0,0), warp 0, lane 0]",
        "Breakpoint 1, walk<<<(2,1,1),(48,1,1)>>> (turns=5, in=0x700000200, out=0x700000500) at walk.cu:19",
        "19\t    int i = blockIdx.x * blockDim.x + threadIdx.x;",
    ],
    "info locals": [
        "sum = <optimized out>",
        "pair = <optimized out>",
        "i = <optimized out>",
        "tile = {0 <repeats 48 times>}",
    ],
    "tbreak mix if a == 9": ["Temporary breakpoint 2 at 0x10____: mix."],
    "continue": [
        "Continuing.",
        "[Switching focus to CUDA kernel 0, block (0,0,0), thread (9,0,0), warp 0, lane 9]",
        "Breakpoint 2, mix (a=9, pair=<optimized out>) at walk.cu:13",
        "13\t        result += offsets[a & 3];",
    ],
    "up": [
        "#1  walk<<<(2,1,1),(48,1,1)>>> (turns=5, in=0x700000200, out=0x700000500) at walk.cu:27",
        "27\t            sum += mix(next, pair);",
    ],
    "print in[i] + next": ["$1 = 18"],
    "print tile[threadIdx.x]@2": ["$2 = {9, 10}"],
    "print turn": ["$3 = <optimized out>"],
    "print $ + 1": ["$4 = <optimized out>"],
    "display turn": ["1: turn = <optimized out>"],
    "info args": ["turns = 5", "in = (const unsigned int *) 0x700000200", "out = (unsigned int *) 0x700000500"],
}


def said(debugger: Debugger, line: str) -> list[str]:
    try:
        return [text if " at 0x10" not in text else text.replace(text.split("0x10")[1][:4], "____") for text in
                run_line(debugger, line)]  # fmt: skip
    except DebugError as error:
        return [str(error)]


def test_a_session_in_optimized_code(monkeypatch):
    monkeypatch.chdir(FOLDER)
    with Debugger("walk.cu", options=BuildOptions(optimize=3, for_debugger=True)) as debugger:
        assert {line: said(debugger, line) for line in SESSION} == SESSION


PARAMETERS = """\
// LAUNCH: k<<<1, 32>>>(7, 1000, hex:0500fbff, out: i32[96])
struct Two { short first; short second; };
__global__ void k(int n, int m, Two two, int *out) {
    int a = two.first;
    out[threadIdx.x] = a;
    __syncthreads();
    n = m;
    out[threadIdx.x + 32] = n;
    __syncthreads();
    out[threadIdx.x + 64] = n * m + a;
}
"""


@pytest.mark.long
def test_parameters_that_become_others_and_parts_of_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(PARAMETERS)
    with Debugger("k.cu", options=BuildOptions(optimize=3, for_debugger=True)) as debugger:
        debugger.break_at("k.cu:6")
        debugger.run()
        assert said(debugger, "print m") == ["$1 = 1000"]
        assert said(debugger, "print n") in (["$2 = <optimized out>"], ["$2 = 7"])
        assert said(debugger, "print a")[0].rpartition(" ")[2] in ("out>", "5")
