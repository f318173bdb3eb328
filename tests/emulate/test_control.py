"""Who runs what: loops, branches, early exits, calls, barriers, locks. Steps are (basic block, lane mask), counted by
hand.
"""

import numpy as np
import pytest

from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import FIRST_LOAD_BASE
from gpuprof.emulate.core.convergence_order import OrderedGraph
from gpuprof.errors import KernelFault
from gpuprof.isa.encoding import encode, make
from gpuprof.isa.modifiers import pack
from tests.support.emulate_harness import ADDR64, global_index, jump, run, special

ALL = 0xFFFFFFFF
NOT = 0x80


def store(register: int, base: int) -> list:
    """out[global index] = R[register]."""
    return [
        *global_index(),
        make("MOVI.64", dst=200, imm=base & 0xFFFFFFFF, mods=base >> 32),
        make("IMAD.WIDE.U32", dst=201, a=250, imm=4, slot="b", c=200),
        make("STG.32", a=201, b=register, mods=ADDR64),
        make("EXIT"),
    ]


def output(n: int):
    memory = AddressSpace()
    return memory, memory.allocate(4 * n, "out").address


def read(memory, address, n) -> list[int]:
    return np.frombuffer(memory.read(address, 4 * n), np.uint32).tolist()


def less(dst: int, a: int, b: int, **guard):
    return make("ISETP.U32", dst=dst, a=a, imm=b, slot="b", mods=pack(cmp="lt"), **guard)


def test_if_else_meets_again():
    memory, out = output(32)
    code = [
        special("laneid", 0),
        less(0, 0, 8),
        jump(2, 5, guard=0),
        make("MOV", dst=1, imm=100, slot="a"),  # block 1: lanes 8 to 31
        jump(4, 6),
        make("MOV", dst=1, imm=200, slot="a"),  # block 2: lanes 0 to 7
        *store(1, out),  # block 3
    ]
    result = run(code, memory=memory)
    assert read(memory, out, 32) == [200] * 8 + [100] * 24
    assert result.steps(0) == [(0, ALL), (1, 0xFFFFFF00), (2, 0xFF), (3, ALL)]
    assert result.counters.divergent_branches[2] == 1
    assert result.counters.thread_inst_executed[[3, 5, 6]].tolist() == [24, 8, 32]


def test_layout_does_not_decide_where_lanes_meet():
    """The else part lies behind the join in the code: lanes must wait for it all the same."""
    memory, out = output(32)
    tail = store(1, out)
    join = 4
    code = [
        special("laneid", 0),
        less(0, 0, 8),
        jump(2, join + len(tail), guard=0),
        make("MOV", dst=1, imm=100, slot="a"),
        *tail,
    ]
    code += [make("MOV", dst=1, imm=200, slot="a"), jump(len(code) + 1, join)]
    result = run(code, memory=memory)
    assert read(memory, out, 32) == [200] * 8 + [100] * 24
    assert result.steps(0)[-1] == (2, ALL)
    assert len(result.steps(0)) == 4


def test_loop_with_different_trip_counts():
    """Lane l goes round l + 1 times; all leave together."""
    memory, out = output(32)
    code = [
        special("laneid", 0),
        make("MOV", dst=1, imm=0, slot="a"),
        make("IADD", dst=1, a=1, imm=1, slot="b"),  # block 1
        make("ISETP.U32", dst=0, a=1, b=0, mods=pack(cmp="le")),
        jump(4, 2, guard=0),
        *store(1, out),
    ]
    result = run(code, memory=memory)
    assert read(memory, out, 32) == list(range(1, 33))
    masks = [ALL << k & ALL for k in range(32)]
    assert result.steps(0) == [(0, ALL), *[(1, mask) for mask in masks], (2, ALL)]
    assert result.counters.divergent_branches[4] == 31


def test_nested_loops_with_break_against_python():
    """for i < lane % 5: for j < lane: if i * j == 12: break; count++"""
    memory, out = output(64)
    code = [
        special("tid.x", 0),
        make("IREM.U32", dst=1, a=0, imm=5, slot="b"),
        make("MOV", dst=2, imm=0, slot="a"),  # count
        make("MOV", dst=3, imm=0, slot="a"),  # i
        make("ISETP.U32", dst=0, a=3, b=1, mods=pack(cmp="ge")),  # 4: outer head
        jump(5, 17, guard=0),
        make("MOV", dst=4, imm=0, slot="a"),  # j
        make("ISETP.U32", dst=1, a=4, b=0, mods=pack(cmp="ge")),  # 7: inner head
        jump(8, 15, guard=1),
        make("IMUL", dst=5, a=3, b=4),
        make("ISETP.U32", dst=2, a=5, imm=12, slot="b", mods=pack(cmp="eq")),
        jump(11, 15, guard=2),
        make("IADD", dst=2, a=2, imm=1, slot="b"),
        make("IADD", dst=4, a=4, imm=1, slot="b"),
    ]
    code += [jump(14, 7), make("IADD", dst=3, a=3, imm=1, slot="b"), jump(16, 4), *store(2, out)]
    run(code, memory=memory, block=(64, 1, 1))

    def python(lane):
        count = 0
        for i in range(lane % 5):
            for j in range(lane):
                if i * j == 12:
                    break
                count += 1
        return count

    assert read(memory, out, 64) == [python(lane) for lane in range(64)]


def test_early_exit_and_a_partial_warp():
    """40 threads; odd ones leave first. The second warp has 8 lanes from the start."""
    memory, out = output(40)
    code = [
        special("tid.x", 0),
        make("AND", dst=1, a=0, imm=1, slot="b"),
        make("ISETP.U32", dst=0, a=1, imm=1, slot="b", mods=pack(cmp="eq")),
        make("EXIT", guard=0),
        *store(0, out),
    ]
    result = run(code, memory=memory, block=(40, 1, 1))
    assert read(memory, out, 40) == [i if i % 2 == 0 else 0 for i in range(40)]
    assert result.steps(0) == [(0, ALL), (1, 0x55555555)]
    assert result.steps(1) == [(0, 0xFF), (1, 0x55)]
    assert result.counters.thread_inst_executed_pred_on[3] == 20


def test_three_dimensional_indices():
    memory, out = output(2 * 3 * 2 * 4)
    names = ("tid.x", "tid.y", "tid.z", "ctaid.x", "ctaid.y")
    code = [special(name, k) for k, name in enumerate(names)]
    # value = x + 10 y + 100 z + 1000 bx + 10000 by
    for k, scale in enumerate((10, 100, 1000, 10000), 1):
        code.append(make("IMAD", dst=0, a=k, imm=scale, slot="b", c=0))
    code += [
        special("nctaid.x", 10), make("IMAD", dst=11, a=4, b=10, c=3),  # linear block
        special("ntid.x", 12), special("ntid.y", 13), make("IMAD", dst=14, a=2, b=13, c=1), special("tid.x", 15),
        make("IMAD", dst=14, a=14, b=12, c=15), make("IMAD", dst=14, a=11, imm=12, slot="b", c=14),
        make("MOVI.64", dst=200, imm=out & 0xFFFFFFFF, mods=out >> 32),
        make("IMAD.WIDE.U32", dst=201, a=14, imm=4, slot="b", c=200),
        make("STG.32", a=201, b=0, mods=ADDR64), make("EXIT"),
    ]  # fmt: skip
    run(code, memory=memory, grid=(2, 2, 1), block=(2, 3, 2))
    wanted = [
        x + 10 * y + 100 * z + 1000 * bx + 10000 * by
        for by in range(2)
        for bx in range(2)
        for z in range(2)
        for y in range(3)
        for x in range(2)
    ]
    assert read(memory, out, 48) == wanted


def test_calls_return_to_where_they_came_from():
    """Two halves of a warp call one function from two places, with frames of different sizes."""
    memory, out = output(32)
    body = 8 + len(store(1, out))
    code = [
        special("laneid", 1),
        less(0, 1, 16),
        jump(2, 6, guard=0),
        make("CALL", imm=16 * (body - 4), mods=16),  # lanes 16 to 31
        make("IADD", dst=1, a=1, imm=1000, slot="b"),
        jump(5, 8),
        make("CALL", imm=16 * (body - 7), mods=32),  # lanes 0 to 15
        make("IADD", dst=1, a=1, imm=2000, slot="b"),
        *store(1, out),
        make("FRAME", dst=2, imm=31),  # the callee: r1 = r1 * 2 + localbase
        make("IMAD", dst=1, a=1, imm=2, slot="b", c=2),
        make("RET"),
    ]
    assert len(code) == body + 3
    run(code, memory=memory, functions=[("callee", body)], local_nbytes=64)
    assert read(memory, out, 32) == [2 * i + 32 + 2000 if i < 16 else 2 * i + 16 + 1000 for i in range(32)]


def test_recursion_with_frames_in_local_memory():
    """f(n) = n == 0 ? 0 : n + f(n - 1), with n kept in the frame; lane l computes f(l)."""
    memory, out = output(32)
    tail = store(1, out)
    body = 3 + len(tail)
    code = [special("laneid", 0), make("MOV", dst=1, imm=0, slot="a"), make("CALL", imm=16 * (body - 3), mods=0), *tail]
    code += [
        make("ISETP.U32", dst=0, a=0, imm=0, slot="b", mods=pack(cmp="eq")),
        make("RET", guard=0),
        make("FRAME.64", dst=2, imm=31),
        make("LO.64", dst=2, a=2),
        make("STL.32", a=2, b=0),
        make("ISUB", dst=0, a=0, imm=1, slot="b"),
        make("CALL", imm=16 * (body - (body + 7)), mods=8),
        make("S2R", dst=2, imm=31),
        make("LDL.32", dst=0, a=2),
        make("IADD", dst=1, a=1, b=0),
        make("RET"),
    ]
    run(code, memory=memory, functions=[("f", body)])
    assert read(memory, out, 32) == [n * (n + 1) // 2 for n in range(32)]


def test_indirect_branch_goes_where_each_lane_says():
    memory, out = output(32)
    tail = store(1, out)
    code = [
        special("laneid", 0),
        make("AND", dst=2, a=0, imm=1, slot="b"),
        make("IMUL", dst=2, a=2, imm=32, slot="b"),
        make("IADD", dst=2, a=2, imm=FIRST_LOAD_BASE + 16 * 6, slot="b"),
        make("PACK.64", dst=3, a=2),
        make("BRX", a=3),
        make("MOV", dst=1, imm=7, slot="a"),
        jump(7, 10),
        make("MOV", dst=1, imm=9, slot="a"),
        jump(9, 10),
        *tail,
    ]
    run(code, memory=memory)
    assert read(memory, out, 32) == [7, 9] * 16


def ways(branch: list, n_ways: int) -> list:
    """Way k, at a distance of 2 k instructions behind `branch`, puts 100 k into R2 and meets the others."""
    join = len(branch) + 2 * n_ways
    code = list(branch)
    for k in range(n_ways):
        code += [make("MOV", dst=2, imm=100 * k, slot="a"), jump(len(code) + 1, join)]
    return code


def way_of_warp(n_ways: int, at: int, length: int = 2) -> list:
    """D3: the code address of way (warp modulo n_ways), of `length` instructions, the first of which is number `at`."""
    address = FIRST_LOAD_BASE + 16 * at
    return [
        special("tid.x", 0),
        make("SHR.U32", dst=1, a=0, imm=5, slot="b"),
        make("IREM.U32", dst=1, a=1, imm=n_ways, slot="b"),
        make("MOVI.64", dst=2, imm=address),
        make("IMAD.WIDE.U32", dst=3, a=1, imm=16 * length, slot="b", c=2),
    ]


def test_indirect_branch_of_whole_warps():
    """Each of four warps goes one of three ways, all of its lanes together."""
    memory, out = output(128)
    code = ways([*way_of_warp(3, 6), make("BRX", a=3)], 3)
    run([*code, *store(2, out)], memory=memory, block=(128, 1, 1))
    assert read(memory, out, 128) == [100 * (thread // 32 % 3) for thread in range(128)]


def test_indirect_branch_of_those_whose_guard_holds():
    """Lanes from 8 on fall through, to way 0; the others go where their warp's register says."""
    memory, out = output(64)
    code = ways([*way_of_warp(2, 8), special("laneid", 3), less(1, 3, 8), make("BRX", a=3, guard=1)], 2)
    run([*code, *store(2, out)], memory=memory, block=(64, 1, 1))
    assert read(memory, out, 64) == [100 if thread // 32 == 1 and thread % 32 < 8 else 0 for thread in range(64)]


def test_a_return_to_three_callers_of_whole_warps():
    """Three warps call one function from three places; each goes back to its own."""
    memory, out = output(96)
    tail = store(2, out)
    join, callee = 15, 15 + len(tail)
    code = [*way_of_warp(3, 6, length=3), make("BRX", a=3)]
    for k in range(3):
        at = len(code)
        code += [
            make("CALL", imm=16 * (callee - at - 1)),
            make("IADD", dst=2, a=2, imm=100 * k, slot="b"),
            jump(at + 2, join),
        ]
    code += [*tail, make("MOV", dst=2, imm=7, slot="a"), make("RET")]
    run(code, memory=memory, block=(96, 1, 1), functions=[("callee", callee)])
    assert read(memory, out, 96) == [7 + 100 * (thread // 32) for thread in range(96)]


def test_barrier_makes_shared_writes_visible_to_other_warps():
    """Each thread writes shared memory and reads what the thread opposite wrote."""
    memory, out = output(2 * 256)
    code = [
        special("tid.x", 0),
        make("SHL", dst=1, a=0, imm=2, slot="b"),
        make("STS.32", a=1, b=0),
        make("BAR.SYNC"),
        make("ISUB", dst=2, a=255, b=0),
        make("IADD", dst=2, a=2, imm=255, slot="b"),
        make("SHL", dst=2, a=2, imm=2, slot="b"),
        make("LDS.32", dst=3, a=2),
        *store(3, out),
    ]
    run(code, memory=memory, grid=(2, 1, 1), block=(256, 1, 1), shared_nbytes=1024)
    assert read(memory, out, 512) == list(range(255, -1, -1)) * 2


def test_barrier_reached_along_two_paths_and_by_exited_threads():
    """Warp 0 spins a while, warp 1 goes straight to the barrier, warp 2 exits: the barrier waits for 0 and 1 only."""
    memory, out = output(96)
    code = [
        special("tid.x", 0),
        make("SHR.U32", dst=1, a=0, imm=5, slot="b"),
        make("ISETP.U32", dst=0, a=1, imm=2, slot="b", mods=pack(cmp="eq")),
        make("EXIT", guard=0),
        make("ISETP.U32", dst=1, a=1, imm=1, slot="b", mods=pack(cmp="eq")),
        make("MOV", dst=2, imm=0, slot="a"),
        jump(6, 10, guard=1),
        make("IADD", dst=2, a=2, imm=1, slot="b"),  # 7
        less(2, 2, 10),
        jump(9, 7, guard=2),
        make("BAR.SYNC"),  # 10
        *store(2, out),
    ]
    run(code, memory=memory, block=(96, 1, 1))
    assert read(memory, out, 96) == [10] * 32 + [0] * 64


def test_barrier_reduction():
    memory, out = output(64)
    code = [
        special("tid.x", 0),
        less(0, 0, 40),
        make("BAR.RED.POPC", dst=1, c=0),
        make("BAR.RED.OR", dst=1, c=0),
        make("BAR.RED.AND", dst=2, c=0),
        make("SEL", dst=2, imm=1000, slot="a", b=255, e=1),
        make("SEL", dst=3, imm=2000, slot="a", b=255, e=2),
        make("IADD", dst=1, a=1, b=2),
        make("IADD", dst=1, a=1, b=3),
        *store(1, out),
    ]
    run(code, memory=memory, block=(64, 1, 1))
    assert read(memory, out, 64) == [1040] * 64


def test_warp_synchronisation_across_two_paths():
    """Lanes 0 to 15 write and synchronise in one branch, the others read after synchronising in another."""
    memory, out = output(32)
    code = [
        special("laneid", 0),
        make("SHL", dst=1, a=0, imm=2, slot="b"),
        less(0, 0, 16),
        make("MOV", dst=5, imm=0, slot="a"),
        jump(4, 8, guard=0),
        make("WARPSYNC", imm=ALL),  # lanes 16 to 31 come here first
        make("LDS.32", dst=5, a=1, imm=-64),
        jump(7, 11),
        make("IADD", dst=2, a=0, imm=500, slot="b"),
        make("STS.32", a=1, b=2),
        make("WARPSYNC", imm=ALL),
        *store(5, out),
    ]
    run(code, memory=memory, shared_nbytes=128)
    assert read(memory, out, 32) == [0] * 16 + list(range(500, 516))


def test_warp_synchronisation_with_lanes_that_never_come():
    code = [
        special("laneid", 0),
        less(0, 0, 16),
        jump(2, 4, guard=0),
        make("WARPSYNC", imm=ALL),
        make("BAR.SYNC"),
        make("EXIT"),
    ]
    with pytest.raises(KernelFault) as fault:
        run(code)
    assert str(fault.value) == (
        "k: k.cu:4, thread (16, 0, 0) of block (0, 0, 0): deadlock: waits in a warp synchronisation for lanes that "
        "never reach it"
    )


def test_deadlock_is_a_fault():
    """Half a block waits at barrier 0, the other half at barrier 1."""
    code = [
        special("tid.x", 0),
        less(0, 0, 32),
        jump(2, 5, guard=0),
        make("BAR.SYNC", imm=1),
        make("EXIT"),
        make("BAR.SYNC", imm=0),
        make("EXIT"),
    ]
    with pytest.raises(KernelFault) as fault:
        run(code, block=(64, 1, 1))
    assert str(fault.value) == (
        "k: k.cu:6, thread (0, 0, 0) of block (0, 0, 0): deadlock: waits at barrier 0, where 32 of 64 threads have "
        "arrived and no other "
        "thread of the block can run"
    )


def test_lock_within_a_warp_does_not_starve_its_holder():
    """while (atomicExch(lock, 1)); counter++; atomicExch(lock, 0): by all 64 lanes of two blocks."""
    memory = AddressSpace()
    lock, counter = memory.allocate(4, "lock").address, memory.allocate(4, "counter").address
    code = [
        make("MOVI.64", dst=0, imm=lock & 0xFFFFFFFF, mods=lock >> 32),
        make("MOVI.64", dst=1, imm=counter & 0xFFFFFFFF, mods=counter >> 32),
        make("ATOMG.EXCH.B32", dst=1, a=0, imm=0, b=10, mods=ADDR64),  # 2
        make("ISETP.U32", dst=0, a=1, imm=0, slot="b", mods=pack(cmp="ne")),
        jump(4, 2, guard=0),
        make("LDG.32", dst=2, a=1, mods=ADDR64),
        make("IADD", dst=2, a=2, imm=1, slot="b"),
        make("STG.32", a=1, b=2, mods=ADDR64),
        make("ATOMG.EXCH.B32", dst=3, a=0, b=255, mods=ADDR64),
        make("EXIT"),
    ]
    code.insert(0, make("MOV", dst=10, imm=1, slot="a"))
    code[5] = jump(5, 3, guard=0)
    run(code, memory=memory, grid=(2, 1, 1), max_warp_instructions=10_000_000)
    assert read(memory, counter, 1) == [64]


def test_blocks_that_wait_for_each_other():
    """Block 1 raises a flag that block 0 waits for with a volatile load."""
    memory = AddressSpace()
    flag = memory.allocate(4, "flag").address
    code = [
        make("MOVI.64", dst=0, imm=flag & 0xFFFFFFFF, mods=flag >> 32),
        special("ctaid.x", 0),
        make("ISETP.U32", dst=0, a=0, imm=1, slot="b", mods=pack(cmp="eq")),
        jump(3, 7, guard=0),
        make("LDG.32", dst=1, a=0, mods=ADDR64 | pack(sem="volatile")),  # 4
        make("ISETP.U32", dst=1, a=1, imm=0, slot="b", mods=pack(cmp="eq")),
        jump(6, 4, guard=1),
        make("MOV", dst=2, imm=1, slot="a"),
        make("STG.32", a=0, b=2, mods=ADDR64),
        make("EXIT"),
    ]
    run(code, memory=memory, grid=(2, 1, 1), max_warp_instructions=1_000_000)
    assert read(memory, flag, 1) == [1]


def test_endless_loop_names_its_line():
    code = [special("tid.x", 0), make("IADD", dst=0, a=0, imm=1, slot="b"), jump(2, 1), make("EXIT")]
    with pytest.raises(KernelFault) as fault:
        run(code, max_warp_instructions=5000)
    assert str(fault.value) == (
        "k: k.cu:2, thread (0, 0, 0) of block (0, 0, 0): still running after 5000 instructions of a warp; if this is "
        "no endless loop, raise "
        "the limit with --max-instructions"
    )


def test_trap_names_the_thread():
    code = [
        special("tid.x", 0),
        make("ISETP.U32", dst=0, a=0, imm=37, slot="b", mods=pack(cmp="eq")),
        make("TRAP", guard=0),
        make("EXIT"),
    ]
    with pytest.raises(KernelFault) as fault:
        run(code, block=(64, 1, 1))
    assert str(fault.value) == "k: k.cu:3, thread (37, 0, 0) of block (0, 0, 0): trap executed"


def test_order_of_blocks_keeps_loops_together():
    """0 -> loop(1, 2) -> 3, with 3 laid out between."""
    code = [
        make("NOP"),
        jump(1, 4),
        make("NOP"),  # the end, block 1 in the layout
        make("EXIT"),
        make("NOP"),  # the head, block 2
        jump(5, 2, guard=0),
        make("NOP"),  # the body, block 3
        jump(7, 4),
    ]
    ranks = OrderedGraph(encode(code)).ranks(0)
    assert sorted(ranks, key=ranks.get) == [0, 2, 3, 1]
