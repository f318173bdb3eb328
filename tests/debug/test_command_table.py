"""Every command, table of `info` and of `info cuda` is on the page, and typed in some test of this folder. Here are
those that the other sessions do without.
"""

import re
from pathlib import Path

import pytest

from gpuprof.debug.commands import command_table, cuda_focus, info
from tests.debug.test_sessions import FOLDER, session, typed_in
from tests.paths import DOCS

SESSION = """\
(gpuprof) start
Starting program: walk.cu
[Switching focus to CUDA kernel 0, block (0,0,0), thread (0,0,0), warp 0, lane 0]
walk<<<(2,1,1),(48,1,1)>>> (turns=<not set yet>, in=<not set yet>, out=<not set yet>) at walk.cu:17
17	__global__ void walk(int turns, const unsigned *in, unsigned *out) {
(gpuprof) info program
walk.cu waits in launch 0, in front of its event 0 (launch).
(gpuprof) info cuda blocks
   BlockIdx    State  Threads
*   (0,0,0)  running       48
    (1,0,0)  running       48
(gpuprof) info cuda threads
   BlockIdx     From        To  Count        PC        Line
*   (0,0,0)  (0,0,0)  (47,0,0)     48  0x10____  walk.cu:17
    (1,0,0)  (0,0,0)  (47,0,0)     48  0x10____  walk.cu:17
(gpuprof) break mix
Breakpoint 1 at 0x10____: mix.
(gpuprof) condition 1 a == 9
(gpuprof) continue
Continuing.
[Switching focus to CUDA kernel 0, block (0,0,0), thread (9,0,0), warp 0, lane 9]
Breakpoint 1, mix (a=9, pair=...) at walk.cu:11
11	    int result = a * pair.low;
(gpuprof) info frame
Stack level 0, function mix, pc = 0x10____
 walk.cu:11
 called by frame 1, function walk
 its local variables begin at 0x40 in local memory
(gpuprof) info line
Line 11 of "walk.cu" starts at address 0x10____ (1 instructions); PTX line 208.
(gpuprof) info display
(gpuprof) nexti
11	    int result = a * pair.low;
=> 0x10____ <+160>:	LD.32 R0, [D3]
(gpuprof) reverse-nexti
11	    int result = a * pair.low;
=> 0x10____ <+144>:	LD.32 R13, [D3+0x8]
(gpuprof) reverse-stepi
10	__device__ int mix(int a, Pair pair) {
=> 0x10____ <+128>:	ST.32 [D3+0x8], R3
(gpuprof) next
Breakpoint 1, mix (a=9, pair=...) at walk.cu:11
11	    int result = a * pair.low;
(gpuprof) reverse-next
walk<<<(2,1,1),(48,1,1)>>> (turns=5, in=0x700000a00, out=0x700000d00) at walk.cu:27
27	            sum += mix(next, pair);
(gpuprof) down
! Bottom (innermost) frame selected; you can't go down.
(gpuprof) reverse-finish
17	__global__ void walk(int turns, const unsigned *in, unsigned *out) {
(gpuprof) disable 1
(gpuprof) rwatch tile[9]
Hardware read watchpoint 2: tile[9]
(gpuprof) awatch tile[10]
Hardware access (read/write) watchpoint 3: tile[10]
(gpuprof) ignore 3 1
Will ignore next 1 crossings of breakpoint 3.
(gpuprof) continue
Continuing.
Hardware read watchpoint 2: tile[9]

Value = 9
block (0,0,0), thread (9,0,0) did it at 0x10____ (walk.cu:25)
walk<<<(2,1,1),(48,1,1)>>> (turns=5, in=0x700000a00, out=0x700000d00) at walk.cu:25
25	        int next = tile[(threadIdx.x + turn) % 48];
(gpuprof) enable 1-2
(gpuprof) continue
Continuing.
Breakpoint 1, mix (a=9, pair=...) at walk.cu:11
11	    int result = a * pair.low;
(gpuprof) info breakpoints
Num     Type           Disp Enb What
1       breakpoint     keep y   mix
        stop only if a == 9
        breakpoint already hit 3 times
2       read watchpointkeep y   tile[9]
        breakpoint already hit 1 time
3       acc watchpoint keep y   tile[10]
        breakpoint already hit 1 time
(gpuprof) info sources
walk.cu
(gpuprof) info functions
0x10____  _Znwm  (device function)
0x10____  _Znam  (device function)
0x10____  _ZdlPv  (device function)
0x10____  _ZdaPv  (device function)
0x10____  _ZdlPvm  (device function)
0x10____  _ZdaPvm  (device function)
0x10____  mix  (device function)
0x10____  walk
0x10____  twice
(gpuprof) info allocations
0x700000000            16 bytes  offsets
0x700000200             1 bytes  blockIdx
0x700000400             1 bytes  blockDim
0x700000600             1 bytes  threadIdx
0x700000800             8 bytes  __const_$__Z4walkiPKjPj_$_pair
0x700000a00           384 bytes  argument 2 of walk, u32[96]
0x700000d00           384 bytes  out, u32[96]
(gpuprof) disassemble twice
Dump of assembler code for function twice:
443	mov.b64 	%SPL, __local_depot8;
   0x10____ <+0>:	LOAD.SP
   0x10____ <+16>:	LOAD.DESC
   0x10____ <+32>:	MOV.64 D1, DZ
444	cvta.local.u64 	%SP, %SPL;
   0x10____ <+48>:	CVTA.LOCAL D1, D1
445	ld.param.b64 	%rd1, [_Z5twicePj_param_0];
   0x10____ <+64>:	MOV.64 D2, c[0x0]
446	st.b64 	[%SP], %rd1;
   0x10____ <+80>:	ST.64 [D1], D2
449	ld.b64 	%rd2, [%SP];
   0x10____ <+96>:	LD.64 D3, [D1]
451	mov.u32 	%r1, %tid.x;
   0x10____ <+112>:	S2R R0, tid.x
453	cvt.u64.u32 	%rd3, %r1;
   0x10____ <+128>:	CVT.U64.U32 D4, R0
454	shl.b64 	%rd4, %rd3, 2;
   0x10____ <+144>:	SHL.64 D4, D4, 0x2
455	add.s64 	%rd5, %rd2, %rd4;
   0x10____ <+160>:	IADD.64 D3, D3, D4
457	ld.b32 	%r2, [%rd5];
   0x10____ <+176>:	LD.32 R0, [D3]
458	shl.b32 	%r3, %r2, 1;
   0x10____ <+192>:	SHL R3, R0, 0x1
459	st.b32 	[%rd5], %r3;
   0x10____ <+208>:	ST.32 [D3], R3
461	ret;
   0x10____ <+224>:	EXIT
End of assembler dump.
(gpuprof) info cuda managed
! Managed memory is memory like all other here: `info allocations` lists it.
(gpuprof) info sharedlibrary
No shared libraries are listed: `info functions` has the kernels of all modules.
(gpuprof) kill
[Program killed]
(gpuprof) quit
"""
TABLES = {"": command_table.COMMANDS, "info ": info.INFOS, "info cuda ": cuda_focus.TABLES}
COMMANDS = [pytest.param(before, each, id=before + each.name) for before, found in TABLES.items() for each in found]


@pytest.fixture(scope="module")
def tests() -> str:
    return "\n".join(path.read_text() for path in sorted(FOLDER.glob("test_*.py")))


def test_the_session(monkeypatch):
    monkeypatch.chdir(FOLDER)
    assert session("walk.cu", typed_in(SESSION)) == SESSION


def test_the_folder():
    assert session(FOLDER / "walk.cu", ["pwd"]) == f"(gpuprof) pwd\nWorking directory {Path.cwd()}.\n"


@pytest.mark.parametrize("before, command", COMMANDS)
def test_every_command_is_on_the_page(before, command):
    """In the table, or in the text, as code."""
    page = (DOCS / "debug.md").read_text()
    assert re.search(rf"`(?:[^`\n]*[ ,])?{re.escape(command.name)}(?![\w-])[^`\n]*`", page), command.help


@pytest.mark.parametrize("before, command", COMMANDS)
def test_every_command_is_typed(tests, before, command):
    names = "|".join(map(re.escape, (command.name, *command.short)))
    assert re.search(rf"(?:^|\(gpuprof\) |[\"']){before}(?:{names})(?![\w-])", tests, re.MULTILINE), command.help
