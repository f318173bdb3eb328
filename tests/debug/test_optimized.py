"""Variables of optimized code: what is shown is what the same program has in code that keeps them all."""

from pathlib import Path

import pytest

from gpuprof.debug.commands.table import run_line
from gpuprof.debug.debugger import FOR_DEBUGGER, Debugger
from gpuprof.debug.plans import Order, row_of
from gpuprof.debug.thread import Focus, Thread
from gpuprof.debug.types import shown
from gpuprof.errors import DebugError
from gpuprof.run.build import BuildOptions
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
    "print turn": ["<optimized out>"],
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
        assert said(debugger, "print n") in (["<optimized out>"], ["$2 = 7"])
        assert said(debugger, "print a")[0].rpartition(" ")[2] in ("out>", "5")


def states(file: Path, options: BuildOptions, focus: Focus) -> list[tuple[str, int, dict[str, str]]]:
    """Of each instruction that a thread of the first launch runs and each frame there: function, line, variables."""
    found = []

    def look(executed, now: int) -> None:
        if row_of(executed, focus) is None:
            return
        code = debugger.inferior.timeline.code_of(executed.chunk.launch)
        for frame in range(len(Thread(executed.state(), code, focus).frames())):
            thread = Thread(executed.state(), code, focus, frame)
            if thread.present.location is not None:
                found.append((thread.present.function, thread.present.location.line, numbers(thread)))

    with Debugger(file, options=options) as debugger:
        stop = debugger.run(Order(look=look))
        assert stop.reason == "exit"
    return found


def numbers(thread: Thread) -> dict[str, str]:
    """The variables that have a value, the innermost of each name. Without pointers, which differ with the size of the
    code, and shared memory, which is as it is: a store may stand behind instructions of later lines.
    """
    found: dict[str, str | None] = {}
    for variable in thread.visible():
        try:
            is_left_out = variable.type.kind == "pointer" or variable.space == "shared"
            value = None if is_left_out else shown(thread.value(variable))
        except DebugError:
            value = None
        found.setdefault(variable.name, value)
    return {name: value for name, value in found.items() if value is not None}


@pytest.mark.long
@pytest.mark.parametrize(
    "file, focus, level, least",
    [
        ("walk.cu", Focus(0, 9), 3, 400),
        ("walk.cu", Focus(1, 12), 1, 300),
        ("loops.cu", Focus(0, 11), 1, 2500),
        ("loops.cu", Focus(1, 60), 3, 2000),
    ],
)
def test_values_are_those_of_code_that_keeps_every_variable(file, focus, level, least):
    """All that is known at an instruction was so at once in code that is not optimized: nearly always while it was at
    the same line, or has just left it. An instruction that stands in front of the branch to its line shows what is so.
    """
    plain = states(FOLDER / file, FOR_DEBUGGER, focus)
    of_function, of_line = {}, {}
    for number, (function, line, known) in enumerate(plain):
        of_function.setdefault(function, []).append(known)
        of_line.setdefault(line, []).append(known)
        if number and plain[number - 1][0] == function:
            of_line[plain[number - 1][1]].append(known)
    n_known = n_elsewhere = 0
    optimized = states(FOLDER / file, BuildOptions(optimize=level, for_debugger=True), focus)
    for function, line, known in optimized:
        name = function.partition("<")[0]
        assert any(known.items() <= each.items() for each in of_function[name]), (line, known)
        n_elsewhere += not any(known.items() <= each.items() for each in of_line[line])
        n_known += len(known)
    assert n_known > least, n_known
    assert n_elsewhere < len(optimized) / 20
