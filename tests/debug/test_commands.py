"""What users of cuda-gdb type besides: remembered values, blocks of commands, settings, and what is refused."""

import pytest

from gpuprof.debug.commands import show_values
from gpuprof.debug.commands.command_table import completions
from gpuprof.debug.commands.console import Console
from gpuprof.debug.debugger import Debugger
from gpuprof.debug.values.c_types import INT, CType, Member, Storage, described, pointer_to, renamed
from tests.debug.test_sessions import FOLDER, session, typed_in

SESSION = """\
(gpuprof) set pagination off
(gpuprof) set confirm off
(gpuprof) p 2+3*4
$1 = 14
(gpuprof) p $
$2 = 14
(gpuprof) set $x = 7
(gpuprof) p $x * $1
$3 = 98
(gpuprof) define pp
(gpuprof) printf "turn %d of %s\\n", $arg0, "no"
(gpuprof) end
(gpuprof) break walk.cu:29 if threadIdx.x == 0 && blockIdx.x == 0
Breakpoint 1 (walk.cu:29) pending.
(gpuprof) commands
(gpuprof) silent
(gpuprof) printf "turn %d sum %d\\n", turn, sum
(gpuprof) if turn < 2
(gpuprof) echo small\\n
(gpuprof) else
(gpuprof) echo large\\n
(gpuprof) end
(gpuprof) continue
(gpuprof) end
(gpuprof) run
Starting program: walk.cu
turn 1 sum 0
small
Continuing.
turn 2 sum -1
large
Continuing.
turn 4 sum 10
large
Continuing.
[Program exited normally]
(gpuprof) info breakpoints
Num     Type           Disp Enb What
1       breakpoint     keep y   walk.cu:29
        stop only if threadIdx.x == 0 && blockIdx.x == 0
        breakpoint already hit 3 times
        silent
        printf "turn %d sum %d\\n", turn, sum
        if turn < 2
          echo small\\n
          else
          echo large\\n
        end
        continue
(gpuprof) delete
(gpuprof) info variables
No variables.
(gpuprof) tbreak walk.cu:31
Temporary breakpoint 2 (walk.cu:31) pending.
(gpuprof) commands
(gpuprof) printf "%c%5.1f%%\\n", 65, 7
(gpuprof) end
(gpuprof) run
Starting program: walk.cu
[Switching focus to CUDA kernel 0, block (0,0,0), thread (0,0,0), warp 0, lane 0]
Breakpoint 2, walk<<<(2,1,1),(48,1,1)>>> (turns=5, in=0x700000a00, out=0x700000d00) at walk.cu:31
31	    out[i] = sum;
A  7.0%
(gpuprof) set print pretty on
(gpuprof) p pair
$4 = {
  low = 3,
  scale = 0.5
}
(gpuprof) ptype pair
type = struct Pair {
    int low;
    float scale;
}
(gpuprof) whatis tile
type = int [48]
(gpuprof) ptype struct Pair
type = struct Pair {
    int low;
    float scale;
}
(gpuprof) info symbol in
argument 2 of walk, u32[96] + 0 in global memory
(gpuprof) info symbol &offsets
offsets + 0 in global memory
(gpuprof) info variables
int [4]  offsets
(gpuprof) info cuda devices
   Dev  SM Type
*    0    sm_80
(gpuprof) cuda device 0 block 1 thread 3
[Switching focus to CUDA kernel 0, block (1,0,0), thread (3,0,0), warp 0, lane 3]
31	    out[i] = sum;
(gpuprof) set var sum = 5
(gpuprof) p sum
$5 = 5
(gpuprof) set sum = 6
(gpuprof) p sum
$6 = 6
(gpuprof) while sum < 9
(gpuprof) set var sum = sum + 1
(gpuprof) end
(gpuprof) p sum
$7 = 9
(gpuprof) p *(@shared int *)16@3
$8 = {52, 53, 54}
(gpuprof) x/3s out
0x700000d00:	""
0x700000d01:	""
0x700000d02:	""
(gpuprof) printf "%s%d\\n", (char *)out, 1
1
(gpuprof) display sum
1: sum = 9
(gpuprof) shell ls
! The debugger runs no other programs.
(gpuprof) info cuda sms
! Kernels are emulated without a chip's SMs here; `gpuprof collect` records when and where a block runs.
(gpuprof) call mix(3)
! mix(...) is not called: expressions run no functions of the program
(gpuprof) info threads
Host threads are not stopped. Those of the kernel:
   BlockIdx     From        To  Count        PC        Line
    (0,0,0)  (0,0,0)  (47,0,0)     48  0x10____  walk.cu:31
*   (1,0,0)  (0,0,0)  (47,0,0)     48  0x10____  walk.cu:31
(gpuprof) call mix(3)
! mix(...) is not called: expressions run no functions of the program
(gpuprof) source
! Give a file of commands.
(gpuprof) set args 3
! The arguments of a program come after -- on the command line.
(gpuprof) set nobody on
! 'nobody on' is not an assignment, such as x = 3
(gpuprof) set cuda break_on_launch maybe
! `set cuda break_on_launch` takes none, application, all.
(gpuprof) define 3
(gpuprof) end
! '3' is not a valid command name.
(gpuprof) set listsize 2
(gpuprof) list walk.cu:5
4	    int low;
5	    float scale;
(gpuprof) printf "%s\\n", 3
! %s takes a string, and a int is not one.
(gpuprof) printf "%99999d\\n", 3
! The format has 0 values, and 1 are given.
(gpuprof) commands 9
(gpuprof) end
! No breakpoint number 9.
(gpuprof) if 1
(gpuprof) p nobody
! 'if 1' has no `end`.
"""


def test_a_session_with_blocks_and_settings(monkeypatch):
    monkeypatch.chdir(FOLDER)
    assert session("walk.cu", typed_in(SESSION)) == SESSION


AGAIN = """\
define again
if 1
again
end
end
again
p 1
delete 99999999999
commands 99999999999
end
delete
commands
end
"""


def test_what_is_too_much():
    assert session(FOLDER / "walk.cu", AGAIN.splitlines()).split("again\n")[-1] == (
        "! again is nested too deeply.\n(gpuprof) p 1\n$1 = 1\n"
        "(gpuprof) delete 99999999999\n! Bad breakpoint argument: '99999999999'\n"
        "(gpuprof) commands 99999999999\n(gpuprof) end\n! Bad breakpoint argument: '99999999999'\n"
        "(gpuprof) delete\n(gpuprof) commands\n(gpuprof) end\n! No breakpoints specified.\n"
    )


def test_ctrl_c_leaves_a_block_and_what_is_carried_out(monkeypatch):
    said: list[str] = []
    debugger = Debugger(FOLDER / "walk.cu")
    console = Console(debugger, said.append, lambda text: said.append(f"! {text}"))
    evaluate = debugger.evaluate

    def interrupted(text: str):
        if text == "1 + 1":
            raise KeyboardInterrupt
        return evaluate(text)

    def typed():
        for line in ("while 1", "if 1", None, "p 1", "while 1 + 1", "end", "p 2"):
            prompts.append(console.is_in_block)
            yield line

    prompts: list[bool] = []
    monkeypatch.setattr(debugger, "evaluate", interrupted)
    console.interactive(typed())
    assert said == ["! Quit", "$1 = 1", "! Quit", "$2 = 2"]
    assert prompts == [False, True, True, False, False, True, False]


class Text:
    """A thread whose memory is all letters."""

    def fetch(self, place: Storage, nbytes: int) -> bytes:
        return bytes([97 + (place.address + number) % 26 for number in range(nbytes)])

    def generic(self, place: Storage) -> int:
        return place.address


def test_a_string_without_end_goes_on_where_it_was_cut_off():
    first, second = show_values._strings(Text(), Storage("global", 0), 2)
    assert first.endswith('opqr"...') and second.startswith('0xc8:\t"stu')


def test_a_type_that_is_called_otherwise():
    pair = CType("struct", "Pair", 4, members=(Member("low", 0, INT),))
    assert described(renamed(pointer_to(pair), "PairPtr")) == "struct Pair {\n    int low;\n} *"


def test_a_file_of_commands_ends_where_one_fails(tmp_path):
    (tmp_path / "one").write_text("p 1\nnobody\np 2\n")
    assert session(FOLDER / "walk.cu", [f"source {tmp_path}/one", "p 3"]) == (
        f'(gpuprof) source {tmp_path}/one\n$1 = 1\n! Undefined command: "nobody".  Try "help".\n'
        f"! {tmp_path}/one: the remaining lines are skipped.\n(gpuprof) p 3\n$2 = 3\n"
    )


@pytest.mark.parametrize(
    "typed, found",
    [
        ("und", ["undisplay "]),
        ("info all", ["allocations "]),
        ("info cuda k", ["kernels "]),
        ("show conf", ["confirm "]),
        ("print x", []),
    ],
)
def test_completions(typed, found):
    assert completions(typed) == found
