"""What single threads do, worked by hand; and the interpreter's own rules."""

import subprocess
import sys

import numpy as np
import pytest

from gpuprof.isa.encoding import make
from gpuprof.isa.modifiers import pack
from tests.one_thread.beside import differences, prepared
from tests.one_thread.events import Access, Event
from tests.one_thread.launch import run_launch
from tests.paths import ROOT
from tests.support.emulate_harness import ADDR64, jump, program_of, special


def events_of(code, arrays=(), block: int = 32, functions=(), **program) -> list[list[Event]]:
    """By thread; the emulator does the same."""
    launch, memory = prepared(program_of(code, functions=functions, **program), list(arrays), block=(block, 1, 1))
    done = run_launch(launch, memory)
    assert differences(launch, memory) == []
    return done.events[0]


def less(dst: int, a: int, b: int):
    return make("ISETP.U32", dst=dst, a=a, imm=b, slot="b", mods=pack(cmp="lt"))


def test_a_branch_and_a_guard():
    """Lane 0 jumps over the addition; lane 1 adds, but its guard does not hold for the shift."""
    code = [
        special("laneid", 0),
        less(0, 0, 1),
        jump(2, 4, guard=0),
        make("IADD", dst=1, a=0, imm=5, slot="b"),
        make("SHL", dst=1, a=1, imm=4, slot="b", guard=0),
        make("EXIT"),
    ]
    first, second, *_ = events_of(code)
    assert first == [
        Event(0, True, 0, 1, (), (0,)),
        Event(1, True, 0, 2, (0, 1, 1), (1,)),
        Event(2, True, 0, 4),
        Event(4, True, 0, 5, (0, 4), (0,)),
        Event(5, True, 0, -1),
    ]
    assert second == [
        Event(0, True, 0, 1, (), (1,)),
        Event(1, True, 0, 2, (1, 1, 1), (0,)),
        Event(2, False, 0, 3),
        Event(3, True, 0, 4, (1, 5), (6,)),
        Event(4, False, 0, 5),
        Event(5, True, 0, -1),
    ]


def test_a_call_and_its_frame():
    """A function at row 4 stores 9 in its frame, 16 bytes behind the kernel's."""
    code = [
        make("CALL", imm=16 * 3, mods=16),
        make("LDL.32", dst=2, a=255, imm=16),
        make("EXIT"),
        make("NOP"),
        make("FRAME", dst=0, imm=31),
        make("STL.32", a=0, b=1),
        make("RET"),
    ]
    code.insert(0, make("MOV", dst=1, imm=9, slot="a"))
    (thread,) = events_of(code, block=1, functions=[("callee", 5)], local_nbytes=32)
    assert thread == [
        Event(0, True, 0, 1, (9,), (9,)),
        Event(1, True, 0, 5),
        Event(5, True, 1, 6, (), (16,)),
        Event(6, True, 1, 7, (16, 9), (), (Access("local", "store", 16, 4),)),
        Event(7, True, 1, 2),
        Event(2, True, 0, 3, (0,), (9,), (Access("local", "load", 16, 4),)),
        Event(3, True, 0, -1),
    ]


def test_a_vector_load_and_an_atomic():
    """Two threads load two words each, and add the second one to the first word of the array."""
    array = np.array([10, 20, 30, 40], np.uint32)
    code = [
        special("tid.x", 0),
        make("MOV.64", dst=8, imm=0, slot="a", const=True),
        make("IMAD.WIDE.U32", dst=9, a=0, imm=8, slot="b", c=8),
        make("LDG.V2.32", dst=2, a=9, mods=ADDR64),
        make("BAR.SYNC"),
        make("ATOMG.ADD.U32", dst=4, a=8, b=3, mods=ADDR64),
        make("EXIT"),
    ]
    launch, memory = prepared(program_of(code), [array], block=(2, 1, 1))
    base = memory.allocations[-1].address
    done = run_launch(launch, memory)
    assert differences(launch, memory) == []
    assert done.events[0][1][2:6] == [
        Event(2, True, 0, 3, (1, 8, base), (base + 8,)),
        Event(3, True, 0, 4, (base + 8,), (30, 40), (Access("global", "load", base + 8, 8),)),
        Event(4, True, 0, 5, (0, 0)),
        Event(5, True, 0, 6, (base, 40), (30,), (Access("global", "atomic", base, 4),)),
    ]
    assert done.events[0][0][5].results == (10,)


def test_lanes_meet_from_two_sides_of_a_branch():
    """Lanes 0 and 1 give 5 and 6 at one shuffle, lanes 2 and 3 give 7 and 8 at another: each reads its neighbour."""
    code = [
        special("laneid", 0),
        make("IADD", dst=1, a=0, imm=5, slot="b"),
        less(0, 0, 2),
        jump(3, 6, guard=0),
        make("SHFL", dst=2, a=1, imm=15, mods=pack(shfl="bfly", has_lane=1, lane=2, has_clamp=1, clamp=31)),
        make("EXIT"),
        make("SHFL", dst=3, a=1, imm=15, mods=pack(shfl="bfly", has_lane=1, lane=2, has_clamp=1, clamp=31)),
        make("EXIT"),
    ]
    found = [thread[-2] for thread in events_of(code, block=4)]
    assert [(event.row, event.results) for event in found] == [(6, (7,)), (6, (8,)), (4, (5,)), (4, (6,))]


def test_a_barrier_that_nobody_passes():
    """The first warp waits for 64 threads, the second one for itself at another barrier, and then ends."""
    code = [
        special("tid.x", 0),
        less(0, 0, 32),
        make("BAR.SYNC", imm=1 | 64 << 16, guard=0),
        make("EXIT"),
    ]
    launch, memory = prepared(program_of(code), [], block=(64, 1, 1))
    with pytest.raises(AssertionError, match=r"deadlock: rows \[2\]"):
        run_launch(launch, memory)


def test_the_interpreter_starts_without_the_emulator():
    code = "import sys, tests.one_thread.launch; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert [name for name in done.stdout.split() if name.startswith("gpuprof.emulate") or name == "numba"] == []
