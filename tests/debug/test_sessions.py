"""Whole sessions on `walk.cu`: what is typed, and all that is printed. Code addresses stand there as 0x10____."""

import re
from contextlib import suppress

import pytest

from gpuprof.debug.commands.command_table import Quit
from gpuprof.debug.commands.console import Console
from gpuprof.debug.debugger import Debugger
from tests.paths import DOCS, ROOT

FOLDER = ROOT / "tests/debug"

SESSIONS = {
    "a condition on variables, and the other side of a branch": """\
(gpuprof) break walk.cu:28 if i == 60
Breakpoint 1 (walk.cu:28) pending.
(gpuprof) run
Starting program: walk.cu
[Switching focus to CUDA kernel 0, block (1,0,0), thread (12,0,0), warp 0, lane 12]
Breakpoint 1, walk<<<(2,1,1),(48,1,1)>>> (turns=5, in=0x700000a00, out=0x700000d00) at walk.cu:29
29	            sum -= turn;
(gpuprof) info args
turns = 5
in = (const unsigned int *) 0x700000a00
out = (unsigned int *) 0x700000d00
(gpuprof) print pair
$1 = {low = 3, scale = 0.5}
(gpuprof) p/x sum
$2 = 0xb4
(gpuprof) p next * pair.scale
$3 = 30.5
(gpuprof) p tile[next - 48 * blockIdx.x - 1]@3
$4 = {60, 61, 62}
(gpuprof) whatis in
type = const unsigned int *
(gpuprof) x/6dw &tile[40]
0x7e00000000a0:	88	89	90	91
0x7e00000000b0:	92	93
(gpuprof) p nobody
! No symbol "nobody" in current context
(gpuprof) p 1 +
! '1 +' is not complete
(gpuprof) step
24	    for (int turn = 0; turn < turns; turn++) {
(gpuprof) p sum
$5 = 179
(gpuprof) finish
! "finish" not meaningful in the outermost frame.
(gpuprof) quit
""",
    "a call, divergent lanes and the frames": """\
(gpuprof) tbreak mix if a == 9
Temporary breakpoint 1 (mix) pending.
(gpuprof) r
Starting program: walk.cu
[Switching focus to CUDA kernel 0, block (0,0,0), thread (9,0,0), warp 0, lane 9]
Breakpoint 1, mix (a=9, pair=...) at walk.cu:11
11	    int result = a * pair.low;
(gpuprof) bt
#0  mix (a=9, pair=...) at walk.cu:11
#1  walk<<<(2,1,1),(48,1,1)>>> (turns=5, in=0x700000a00, out=0x700000d00) at walk.cu:27
(gpuprof) info cuda warps
   Wp       Lanes        PC        Line          Instruction
*   0  0x49249249  0x10____  walk.cu:11  LD.32 R13, [D3+0x8]
*   0  0xb6db6db6  0x10____  walk.cu:29  LD.32 R5, [D7+0x2c]
    1  0x00002492  0x10____  walk.cu:11  LD.32 R13, [D3+0x8]
    1  0x0000db6d  0x10____  walk.cu:29  LD.32 R5, [D7+0x2c]
(gpuprof) up
#1  walk<<<(2,1,1),(48,1,1)>>> (turns=5, in=0x700000a00, out=0x700000d00) at walk.cu:27
27	            sum += mix(next, pair);
(gpuprof) p i + turn
$1 = 9
(gpuprof) cuda thread 10
[Switching focus to CUDA kernel 0, block (0,0,0), thread (10,0,0), warp 0, lane 10]
29	            sum -= turn;
(gpuprof) bt
#0  walk<<<(2,1,1),(48,1,1)>>> (turns=5, in=0x700000a00, out=0x700000d00) at walk.cu:29
(gpuprof) cuda block 1 lane 41
! Request cannot be satisfied. CUDA focus unchanged.
(gpuprof) cuda thread 9
[Switching focus to CUDA kernel 0, block (0,0,0), thread (9,0,0), warp 0, lane 9]
11	    int result = a * pair.low;
(gpuprof) next
12	    if (a & 1)
(gpuprof) next
13	        result += offsets[a & 3];
(gpuprof) p offsets
$2 = {1, 2, 3, 4}
(gpuprof) next
14	    return result;
(gpuprof) info locals
result = 29
(gpuprof) finish
Run till exit from #0  mix (a=9, pair=...) at walk.cu:14
walk<<<(2,1,1),(48,1,1)>>> (turns=5, in=0x700000a00, out=0x700000d00) at walk.cu:27
27	            sum += mix(next, pair);
(gpuprof) next
24	    for (int turn = 0; turn < turns; turn++) {
(gpuprof) p sum
$3 = 29
(gpuprof) until 31
31	    out[i] = sum;
(gpuprof) p sum
$4 = 58
""",
    "watchpoints through two launches, and back": """\
(gpuprof) b walk if blockIdx.x == 1 && threadIdx.x == 40
Breakpoint 1 (walk) pending.
(gpuprof) r
Starting program: walk.cu
[Switching focus to CUDA kernel 0, block (1,0,0), thread (40,0,0), warp 1, lane 8]
Breakpoint 1, walk<<<(2,1,1),(48,1,1)>>> (turns=5, in=0x700000a00, out=0x700000d00) at walk.cu:19
19	    int i = blockIdx.x * blockDim.x + threadIdx.x;
(gpuprof) watch sum if sum > 0
Hardware watchpoint 2: sum
(gpuprof) watch out[88]
Hardware watchpoint 3: out[88]
(gpuprof) c
Continuing.
Hardware watchpoint 2: sum

Old value = -1
New value = 269
block (1,0,0), thread (40,0,0) did it at 0x10____ (walk.cu:27)
walk<<<(2,1,1),(48,1,1)>>> (turns=5, in=0x700000a00, out=0x700000d00) at walk.cu:27
27	            sum += mix(next, pair);
(gpuprof) delete 2
(gpuprof) c
Continuing.
Hardware watchpoint 3: out[88]

Old value = 0
New value = 262
block (1,0,0), thread (40,0,0) did it at 0x10____ (walk.cu:31)
walk<<<(2,1,1),(48,1,1)>>> (turns=5, in=0x700000a00, out=0x700000d00) at walk.cu:32
32	}
(gpuprof) c
Continuing.
[Switching focus to CUDA kernel 1, block (0,0,0), thread (88,0,0), warp 2, lane 24]
Hardware watchpoint 3: out[88]

Old value = 262
New value = 524
block (0,0,0), thread (88,0,0) did it at 0x10____ (walk.cu:35)
twice<<<(1,1,1),(96,1,1)>>> (out=0x700000d00) at walk.cu:36
36	}
(gpuprof) info last-write out[88]
out[88] was written last by kernel 1, block (0,0,0), thread (88,0,0)
at walk.cu:35, 0x10____: ST.32 [D3], R3
(gpuprof) reverse-step
35	    out[threadIdx.x] *= 2;
(gpuprof) p out[88]
$1 = 262
(gpuprof) info last-write out[88]
out[88] was written last by kernel 0, block (1,0,0), thread (40,0,0)
at walk.cu:31, 0x10____: ST.32 [D1], R5
(gpuprof) reverse-continue
[Switching focus to CUDA kernel 0, block (1,0,0), thread (40,0,0), warp 1, lane 8]
Hardware watchpoint 3: out[88]

Old value = 0
New value = 262
block (1,0,0), thread (40,0,0) did it at 0x10____ (walk.cu:31)
walk<<<(2,1,1),(48,1,1)>>> (turns=5, in=0x700000a00, out=0x700000d00) at walk.cu:32
32	}
(gpuprof) reverse-continue
Breakpoint 1, walk<<<(2,1,1),(48,1,1)>>> (turns=5, in=0x700000a00, out=0x700000d00) at walk.cu:19
19	    int i = blockIdx.x * blockDim.x + threadIdx.x;
(gpuprof) info last-write out[88]
No kernel has written out[88] before.
(gpuprof) reverse-continue
No more reverse-execution history.
17	__global__ void walk(int turns, const unsigned *in, unsigned *out) {
(gpuprof) info args
turns = <not set yet>
in = <not set yet>
out = <not set yet>
(gpuprof) delete
(gpuprof) info breakpoints
No breakpoints or watchpoints.
(gpuprof) c
Continuing.
[Program exited normally]
(gpuprof) next
! The program is not being run.
""",
}


def session(file: str, typed: list[str]) -> str:
    said: list[str] = []
    with Debugger(file) as debugger:
        console = Console(debugger, said.append, lambda text: said.append(f"! {text}"))
        with suppress(Quit):
            console.piped(line + "\n" for line in typed)
    return re.sub(r"\b0x10[0-9a-f]{4}\b", "0x10____", "".join(f"{text}\n" for text in said))


def typed_in(text: str) -> list[str]:
    return [line.removeprefix("(gpuprof) ") for line in text.splitlines() if line.startswith("(gpuprof) ")]


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session(name, monkeypatch):
    monkeypatch.chdir(FOLDER)
    assert session("walk.cu", typed_in(SESSIONS[name])) == SESSIONS[name]


@pytest.mark.long
def test_the_session_of_the_docs(monkeypatch):
    monkeypatch.chdir(ROOT)
    (text,) = re.findall(r"^```text\n(\(gpuprof\) .*?)^```$", (DOCS / "debug.md").read_text(), re.M | re.S)
    assert session("samples/reduction.cu", typed_in(text)) == text
