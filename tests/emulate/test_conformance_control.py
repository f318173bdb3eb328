"""Instructions that compute nothing by themselves: hints, indirect calls, barriers of a part of the block, special
registers, windows.
"""

import numpy as np
import pytest

from gpuprof.device.memory import PARAM_WINDOW, AddressSpace
from gpuprof.device.module import FIRST_LOAD_BASE
from gpuprof.errors import KernelFault
from gpuprof.isa.encoding import make
from gpuprof.isa.modifiers import pack
from gpuprof.isa.program import Variable
from gpuprof.isa.special import SPECIAL_INDEX
from tests.support.emulate_harness import ADDR64, jump, run, special

MASK32 = 0xFFFFFFFF


def store(out: int, register: int, wide: bool = False) -> list:
    """out[tid] = the register; ends the kernel."""
    return [
        special("tid.x", 250),
        make("MOVI.64", dst=200, imm=out & MASK32, mods=out >> 32),
        make("IMAD.WIDE.U32", dst=201, a=250, imm=8 if wide else 4, slot="b", c=200),
        make("STG.64" if wide else "STG.32", a=201, b=register, mods=ADDR64),
        make("EXIT"),
    ]


def outcome(code: list, register: int, threads: int = 32, wide: bool = False, **options) -> list[int]:
    memory = AddressSpace()
    out = memory.allocate(8 * threads, "out").address
    run([*code, *store(out, register, wide)], memory=memory, block=(threads, 1, 1), **options)
    return np.frombuffer(memory.read(out, threads * (8 if wide else 4)), np.uint64 if wide else np.uint32).tolist()


def test_hints_change_nothing():
    code = [
        special("tid.x", 1),
        make("NOP"),
        make("LOAD.SP"),
        make("BSSY"),
        make("BSYNC"),
        make("YIELD"),
        make("LOAD.DESC"),
        make("GRIDDEP.LAUNCH"),
        make("GRIDDEP.WAIT"),
        make("MEMBAR", mods=pack(scope="gpu")),
        make("NANOSLEEP", imm=100),
    ]
    assert outcome(code, 1) == list(range(32))


def test_breakpoint():
    with pytest.raises(KernelFault) as fault:
        run([special("tid.x", 0), make("BRKPT"), make("EXIT")])
    assert (
        str(fault.value) == "k: k.cu:2, thread (0, 0, 0) of block (0, 0, 0): breakpoint executed; there is no debugger"
    )


def test_indirect_call_goes_where_each_lane_says():
    """Lanes below 8 call the function that adds 100, the others the one that triples."""
    first, second = 11, 13
    address = [FIRST_LOAD_BASE + 16 * at for at in (first, second)]
    memory = AddressSpace()
    out = memory.allocate(128, "out").address
    code = [
        special("tid.x", 1),
        make("ISETP.U32", dst=0, a=1, imm=8, slot="b", mods=pack(cmp="lt")),
        make("MOVI.64", dst=0, imm=address[0] & MASK32, mods=address[0] >> 32),
        make("MOVI.64", dst=1, imm=address[1] & MASK32, mods=address[1] >> 32),
        make("SEL.64", dst=2, a=0, b=1, e=0),
        make("CALL.IND", a=2),
        *store(out, 1),
        make("IADD", dst=1, a=1, imm=100, slot="b"),
        make("RET"),
        make("IMUL", dst=1, a=1, imm=3, slot="b"),
        make("RET"),
    ]
    result = run(code, memory=memory, functions=[("plus", first), ("triple", second)])
    found = np.frombuffer(memory.read(out, 128), np.uint32).tolist()
    assert found == [k + 100 if k < 8 else 3 * k for k in range(32)]
    assert result.counters.thread_inst_executed[[first, second]].tolist() == [8, 24]


def test_producer_arrives_and_consumer_waits():
    """Warp 0 writes and arrives at barrier 2 of 64 threads without waiting; warp 1 waits there and reads. Warp 2 takes
    no part.
    """
    code = [
        special("tid.x", 0),
        make("SHR.U32", dst=1, a=0, imm=5, slot="b"),
        make("SHL", dst=2, a=0, imm=2, slot="b"),
        make("MOV", dst=5, imm=7, slot="a"),
        make("ISETP.U32", dst=0, a=1, imm=0, slot="b", mods=pack(cmp="eq")),
        make("ISETP.U32", dst=1, a=1, imm=1, slot="b", mods=pack(cmp="eq")),
        jump(6, 10, guard=0),
        jump(7, 13, guard=1),
        make("NOP"),
        jump(9, 15),
        make("IADD", dst=3, a=0, imm=900, slot="b"),  # 10: warp 0
        make("STS.32", a=2, b=3),
        make("BAR.ARRIVE", imm=2 | 64 << 16),
        make("BAR.SYNC", imm=2 | 64 << 16, guard=1),  # 13: warp 1; warp 0 comes by with its guard off
        make("LDS.32", dst=5, a=2, imm=-128, guard=1),
    ]
    assert outcome(code, 5, threads=96, dynamic_shared_nbytes=384) == [7] * 32 + list(range(900, 932)) + [7] * 32


def test_barrier_numbers_from_a_register():
    """Four warps in two pairs, each at a barrier of its own: and the count of a pair's predicates."""
    code = [
        special("tid.x", 0),
        make("SHR.U32", dst=1, a=0, imm=6, slot="b"),
        make("MOV", dst=2, imm=64, slot="a"),
        make("ISETP.U32", dst=0, a=0, imm=70, slot="b", mods=pack(cmp="lt")),
        make("BAR.RED.POPC", dst=3, a=1, b=2, c=0),
    ]
    assert outcome(code, 3, threads=128) == [64] * 64 + [6] * 64


def test_wide_special_registers():
    """The clock counts the warp's own instructions: it never goes back, and differs by what lies between."""
    code = [
        make("S2R.64", dst=0, imm=SPECIAL_INDEX["clock64"]),
        make("NOP"),
        make("BAR.SYNC"),
        make("S2R.64", dst=1, imm=SPECIAL_INDEX["clock64"]),
        make("ISUB.64", dst=2, a=1, b=0),
    ]
    (difference,) = set(outcome(code, 2, wide=True))
    assert 0 < difference <= 8


def test_constants_have_generic_addresses():
    table = np.arange(100, 132, dtype=np.uint32)
    code = [
        special("tid.x", 0),
        make("IMUL.WIDE.U32", dst=0, a=0, imm=4, slot="b"),
        make("CVTA.CONST", dst=1, a=0),
        make("LD.32", dst=1, a=1, mods=ADDR64),
        make("CVTA.TO.CONST", dst=2, a=1),
        make("ISUB.64", dst=2, a=2, b=0),
        make("LO.64", dst=2, a=2),
        make("IADD", dst=1, a=1, b=2),
    ]
    variable = Variable("table", "const", 0, 128, 4, table.tobytes())
    assert outcome(code, 1, variables=[variable]) == list(range(100, 132))


PARAMS = np.arange(500, 532, dtype=np.uint32).tobytes()


def parameter(then: list) -> list:
    """D1: the generic address of word tid of the parameters."""
    return [
        special("tid.x", 0),
        make("IMUL.WIDE.U32", dst=0, a=0, imm=4, slot="b"),
        make("CVTA.PARAM", dst=1, a=0),
        *then,
    ]


def test_parameters_have_generic_addresses():
    code = parameter(
        [make("LD.32", dst=1, a=1, mods=ADDR64), make("CVTA.TO.PARAM", dst=2, a=1), make("LO.64", dst=2, a=2)]
    )
    memory = AddressSpace()
    out = memory.allocate(256, "out").address
    run([*code, make("IADD", dst=1, a=1, b=2), *store(out, 1)], PARAMS, memory=memory)
    assert np.frombuffer(memory.read(out, 128), np.uint32).tolist() == [500 + 5 * k for k in range(32)]


def test_parameters_are_read_only():
    with pytest.raises(KernelFault) as fault:
        run([*parameter([make("ST.32", a=1, b=0, mods=ADDR64)]), make("EXIT")], PARAMS)
    assert str(fault.value) == (
        f"k: k.cu:4, thread (0, 0, 0) of block (0, 0, 0): write at 0x{PARAM_WINDOW:x}: kernel parameters are read only"
    )
