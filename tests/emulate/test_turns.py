"""Lanes that wait for each other: crowds at one word take turns, warp operations wait for the lanes of their masks or
say who is missing.
"""

import numpy as np
import pytest

from gpuprof.device.memory import AddressSpace
from gpuprof.emulate import chunk
from gpuprof.errors import KernelFault
from gpuprof.isa.encoding import make
from gpuprof.isa.modifiers import pack
from tests.support.emulate_harness import ADDR64, global_index, jump, load_or_store, run, special

ALL = 0xFFFFFFFF
VOLATILE = ADDR64 | pack(sem="volatile")


def constant(dst: int, value: int):
    return make("MOVI.64", dst=dst, imm=value & ALL, mods=value >> 32)


def word(memory: AddressSpace, address: int) -> int:
    return int.from_bytes(memory.read(address, 4), "little")


def test_compare_and_swap_by_thousands_is_not_quadratic():
    """sum += 1 by a compare-and-swap loop in 4096 threads. All together, they would go round 4096 * 128 / 2 times (in
    warps).
    """
    memory = AddressSpace()
    total = memory.allocate(4, "sum").address
    code = [
        constant(0, total),
        make("LDG.32", dst=1, a=0, mods=ADDR64),
        make("MOV", dst=2, a=1),  # 2
        make("IADD", dst=3, a=2, imm=1, slot="b"),
        make("ATOMG.CAS.B32", dst=1, a=0, b=2, c=3, mods=ADDR64),
        make("ISETP.U32", dst=0, a=1, b=2, mods=pack(cmp="ne")),
        jump(6, 2, guard=0),
        make("EXIT"),
    ]
    result = run(code, memory=memory, grid=(16, 1, 1), block=(256, 1, 1), max_warp_instructions=1_000_000)
    assert word(memory, total) == 4096
    assert result.counters.inst_executed[4] < 4096 * 32


@pytest.mark.long
def test_ticket_lock_of_more_warps_than_take_turns():
    """ticket = next++; wait until serving == ticket; counter++; serving++. The lane whose turn it is may be any."""
    memory = AddressSpace()
    base = memory.allocate(12, "next, serving, counter").address
    code = [
        constant(0, base),
        make("MOV", dst=9, imm=1, slot="a"),
        make("ATOMG.ADD.U32", dst=1, a=0, b=9, mods=ADDR64),
        make("LDG.32", dst=2, a=0, imm=4, mods=VOLATILE),  # 3
        make("ISETP.U32", dst=0, a=1, b=2, mods=pack(cmp="ne")),
        jump(5, 3, guard=0),
        make("LDG.32", dst=3, a=0, imm=8, mods=ADDR64),
        make("IADD", dst=3, a=3, imm=1, slot="b"),
        make("STG.32", a=0, b=3, imm=8, mods=ADDR64),
        make("IADD", dst=2, a=2, imm=1, slot="b"),
        make("STG.32", a=0, b=2, imm=4, mods=VOLATILE),
        make("EXIT"),
    ]
    run(code, memory=memory, grid=(5, 1, 1), block=(256, 1, 1), max_warp_instructions=10_000_000)
    assert memory.read(base, 12) == np.array([1280, 1280, 1280], np.uint32).tobytes()


def test_blocks_that_take_their_work_from_a_counter_share_it():
    """while ((n = next++) < 65536) took[block]++: 256 blocks of a warp are more than a first chunk, and go round
    together, so each takes 8 times 32 numbers; those that start first take 32 more at the end, and the last 32 less. A
    counter that is asked once a thread (as a stream compaction does) is none that work is taken from."""
    memory = AddressSpace()
    base = memory.allocate(4 + 4 * 256, "next, took").address
    code = [
        special("ctaid.x", 9),
        constant(0, base),
        make("MOV", dst=3, imm=1, slot="a"),
        make("IMAD.WIDE.U32", dst=5, a=9, imm=4, slot="b", c=0),
        make("ATOMG.ADD.U32", dst=1, a=0, b=3, mods=ADDR64),  # 4
        make("ISETP.U32", dst=0, a=1, imm=65536, slot="b", mods=pack(cmp="ge")),
        make("EXIT", guard=0),
        make("RED.ADD.U32", a=5, b=3, imm=4, mods=ADDR64),
        jump(8, 4),
    ]
    assert len(run(code, memory=memory, grid=(256, 1, 1)).pieces) == 1
    took = np.frombuffer(memory.read(base + 4, 4 * 256), np.uint32)
    assert took.tolist() == [288] * 110 + [256] * 36 + [224] * 110
    assert len(run([*code[:5], make("EXIT")], memory=memory, grid=(256, 1, 1)).pieces) == 2


def late_lanes() -> list:
    """Lanes 0 to 15 go round a loop 100 times, and all add up over the warp: the others are there long before."""
    return [
        *global_index(),
        make("ISETP.U32", dst=0, a=250, imm=16, slot="b", mods=pack(cmp="ge")),
        make("MOV", dst=1, imm=0, slot="a"),
        jump(7, 11, guard=0),
        make("IADD", dst=1, a=1, imm=1, slot="b"),  # 8
        make("ISETP.U32", dst=1, a=1, imm=100, slot="b", mods=pack(cmp="lt")),
        jump(10, 8, guard=1),
        make("REDUX.ADD.S32", dst=2, a=1, imm=ALL),  # 11
        make("SHFL", dst=3, a=1, imm=ALL, mods=pack(shfl="idx", has_lane=1, lane=31, has_clamp=1, clamp=31)),
        make("IADD", dst=2, a=2, b=3),
    ]


def test_warp_operations_wait_for_late_lanes(monkeypatch):
    """Also when the scheduler lets those that are ahead go on, so that nobody starves."""
    monkeypatch.setattr(chunk, "PATIENCE_BLOCKS", 5)
    memory = AddressSpace()
    out = memory.allocate(128, "out").address
    run([*late_lanes(), *load_or_store("STG", out, 2, False, 0), make("EXIT")], memory=memory)
    assert np.frombuffer(memory.read(out, 128), np.uint32).tolist() == [1600] * 32


def branch_for_half(then: list, rest: list) -> list:
    """Lanes below 16 run `then`, the others `rest`; each ends with EXIT."""
    return [
        special("laneid", 0),
        make("ISETP.U32", dst=0, a=0, imm=16, slot="b", mods=pack(cmp="lt")),
        make("MOV", dst=7, imm=ALL, slot="a"),
        jump(3, 4 + len(rest), guard=0),
        *rest,
        *then,
    ]


def test_lanes_that_exit_are_not_waited_for():
    memory = AddressSpace()
    out = memory.allocate(128, "out").address
    then = [
        make("VOTE.BALLOT", dst=1, a=127, imm=ALL),
        *global_index(),
        *load_or_store("STG", out, 1, False, 0),
        make("EXIT"),
    ]
    run(branch_for_half(then, [make("NOP"), make("EXIT")]), memory=memory)
    assert np.frombuffer(memory.read(out, 128), np.uint32).tolist() == [0xFFFF] * 16 + [0] * 16


@pytest.mark.parametrize("operation", [
    make("SHFL", dst=1, a=0, imm=ALL, mods=pack(shfl="bfly", has_lane=1, lane=16, has_clamp=1, clamp=31)),
    make("SHFL", dst=1, a=0, e=7, mods=pack(shfl="bfly", has_lane=1, lane=16, has_clamp=1, clamp=31)),
    make("VOTE.ALL", dst=1, a=127, b=7),
    make("MATCH.ANY.B32", dst=1, a=0, imm=ALL),
])  # fmt: skip
def test_lanes_that_never_come_are_a_fault(operation):
    """The other half waits at the block's barrier, which these lanes never reach."""
    code = branch_for_half([operation, make("BAR.SYNC"), make("EXIT")], [make("BAR.SYNC"), make("EXIT")])
    with pytest.raises(KernelFault) as fault:
        run(code)
    assert str(fault.value) == (
        "k: k.cu:7, thread (0, 0, 0) of block (0, 0, 0): deadlock: the member mask 0xffffffff names lanes 0xffff0000, "
        "which have not exited "
        "and never come here"
    )
