"""Generators that look at values, on programs worked out by hand."""

import numpy as np
import pytest

from gpuprof.device.memory import AddressSpace
from gpuprof.isa.encoding import make
from gpuprof.isa.modifiers import pack
from gpuprof.trace.generators.values.float_values import kinds, numbers
from gpuprof.trace.generators.values.origins import Origins
from gpuprof.trace.generators.values.redundancy import Redundancy
from gpuprof.trace.generators.values.repeats import Repeats
from gpuprof.trace.generators.values.value_ranges import Ranges
from tests.support.emulate_harness import ADDR64, jump, special
from tests.trace.test_counts import numbered, rows
from tests.trace.test_events import below, wide

ONE_WARP = {"grid": (1, 1, 1), "block": (32, 1, 1)}


def f32(number: float) -> int:
    return int(np.float32(number).view(np.uint32))


def constant(dst: int, number: float):
    return make("MOV", dst=dst, imm=f32(number), slot="a")


@pytest.mark.parametrize(
    "type_name, bits, expected",
    [
        ("f32", 0x7FC00000, {"nan"}),
        ("f32", 0x7F800000, {"inf"}),
        ("f32", 0x00000001, {"subnormal"}),
        ("f32", 0x00800000, set()),
        ("f16", 0x7C00, {"inf"}),
        ("f16", 0x03FF, {"subnormal"}),
        ("f16x2", 0x7E003C00, {"nan"}),
        ("bf16", 0x0001, {"subnormal"}),
        ("bf16x2", 0x7F803F80, {"inf"}),
    ],
)
def test_kinds_of_floats(type_name, bits, expected):
    found = kinds(numbers(np.array([[bits]], np.uint32), type_name), type_name)
    assert {name for name, lanes in found.items() if lanes[0, 0]} == expected


def test_origins():
    code = [
        special("laneid", 0),
        below(0, 0, 4),
        constant(1, 3e38),
        constant(2, -3e38),
        make("FADD", dst=3, a=1, b=1, guard=0),  # 4: an infinity, in lanes 0 to 3
        make("FADD", dst=4, a=2, b=2, guard=0),  # 5: another
        make("FADD", dst=5, a=3, b=4, guard=0),  # 6: a NaN of the two
        make("FADD", dst=6, a=5, b=1, guard=0),  # 7: a NaN of a NaN
        constant(7, 2e-38),
        make("FMUL", dst=8, a=7, b=9),  # 9: 0
        constant(9, 0.25),
        make("FMUL", dst=8, a=7, b=9),  # 11: subnormal, in all lanes
        make("EXIT"),
    ]
    origins = Origins()
    assert rows(origins, "origins", code, **ONE_WARP) == [
        (4, "inf", 4, 0, 0),
        (5, "inf", 4, 0, 0),
        (6, "nan", 4, 0, 0),
        (11, "subnormal", 32, 0, 0),
    ]
    found = [
        (each.kind, each.severity, numbered(each.pc, True), each.count, each.text)
        for each in origins.results[0].findings
    ]
    assert found == [
        ("first_inf", "warning", 4, 4, "an infinity is produced by FADD from operands without one"),
        ("first_nan", "warning", 6, 4, "a NaN is produced by FADD from operands without one"),
        ("first_subnormal", "note", 11, 32, "a subnormal number is produced by FMUL from operands without one"),
    ]


def test_ranges():
    code = [
        special("laneid", 0),
        make("IADD", dst=1, a=0, imm=-20 & 0xFFFFFFFF, slot="b"),  # -20 to 11
        make("IMAD.WIDE.U32", dst=2, a=0, imm=1000, slot="b", c=255),
        constant(8, 0.5),
        make("FADD", dst=9, a=8, b=8),
        constant(8, 1e-3),
        make("FADD", dst=9, a=8, b=8),
        make("EXIT"),
    ]
    found = {row[0]: row[1:] for row in rows(Ranges(), "ranges", code, **ONE_WARP)}
    assert found[4] == ("f32", 32, 1.0, 1.0, 0, 1)
    assert found[6] == ("f32", 32, pytest.approx(2e-3), pytest.approx(2e-3), 0, 0)
    assert found[1] == ("u32", 32, 0.0, 2.0**32 - 1, 32, 0)  # a row for both signs
    assert found[2] == ("u64", 32, 0.0, 31000.0, 15, 0)


def loads_and_stores():
    """x[lane] = 7 for the first 8 lanes of 32, else as it was (0); then reads and writes x again."""
    memory = AddressSpace()
    x = memory.allocate(4 * 32, "x").address
    code = [
        special("laneid", 0),
        below(0, 0, 8),
        wide(2, x),
        make("IMAD.WIDE.U32", dst=4, a=0, imm=4, slot="b", c=2),
        make("MOV", dst=1, imm=7, slot="a"),
        make("STG.32", a=4, b=1, mods=ADDR64, guard=0),  # 5: dead in lanes 0 to 7, as nobody reads before 6
        make("STG.32", a=4, b=1, mods=ADDR64, guard=0),  # 6: silent
        make("LDG.32", dst=10, a=4, mods=ADDR64),  # 7: lanes 0 to 7 have it
        make("LDG.32", dst=11, a=4, mods=ADDR64),  # 8: all lanes have it
        make("STG.32", a=4, b=11, mods=ADDR64),  # 9: silent
        make("EXIT"),
    ]
    return {"memory": memory, "code": code}


def test_redundancy():
    redundancy = Redundancy()
    assert rows(redundancy, "lines", **loads_and_stores(), **ONE_WARP) == [
        (5, 0, 0, 8, 0, 8),
        (6, 0, 0, 8, 8, 0),
        (7, 32, 8, 0, 0, 0),
        (8, 32, 32, 0, 0, 0),
        (9, 0, 0, 32, 32, 0),
    ]
    assert redundancy.results[0].findings == []  # too few


def test_findings_of_redundancy():
    redundancy = Redundancy()
    rows(redundancy, "lines", **loads_and_stores(), grid=(4, 1, 1), block=(32, 1, 1))
    # Blocks run together, so what the last of four loads is in its registers alone.
    found = {(each.kind, numbered(each.pc, True)): each.count for each in redundancy.results[0].findings}
    assert found == {("silent_store", 9): 128, ("dead_store", 9): 96}


def test_atomics_are_read_and_not_known():
    memory = AddressSpace()
    x = memory.allocate(4, "x").address
    code = [
        wide(2, x),
        make("MOV", dst=1, imm=7, slot="a"),
        make("STG.32", a=2, b=1, mods=ADDR64),
        make("REDG.ADD.U32", a=2, b=1, mods=ADDR64),
        make("STG.32", a=2, b=1, mods=ADDR64),
        make("EXIT"),
    ]
    # A warp's lanes store to one word: 31 are stored over, and the last 31 store what is there.
    assert rows(Redundancy(), "lines", code, memory=memory, **ONE_WARP) == [
        (2, 0, 0, 32, 31, 31),
        (4, 0, 0, 32, 31, 31),
    ]


def test_repeats():
    assert rows(Repeats(), "values", **loads_and_stores(), **ONE_WARP) == [
        (5, "store", "global", 8, 0, 0, 8, 1),
        (6, "store", "global", 8, 0, 0, 8, 1),
        (7, "load", "global", 32, 24, 0, 0, 0),
        (8, "load", "global", 32, 24, 0, 0, 0),
        (9, "store", "global", 32, 24, 0, 0, 0),
    ]


def test_what_a_thread_has_had_the_time_before():
    memory = AddressSpace()
    x = memory.allocate(4 * 32, "x").address
    code = [
        special("laneid", 0),
        wide(2, x),
        make("IMAD.WIDE.U32", dst=4, a=0, imm=4, slot="b", c=2),
        make("LDG.32", dst=10, a=4, mods=ADDR64),  # 0, 0, 0
        make("IADD", dst=1, a=1, imm=1, slot="b"),
        make("STS.32", a=255, b=1),  # 1, 2, 3
        make("ISETP.U32", dst=0, a=1, imm=3, slot="b", mods=pack(cmp="lt")),
        jump(7, 3, guard=0),
        make("EXIT"),
    ]
    assert rows(Repeats(), "values", code, memory=memory, dynamic_shared_nbytes=4, **ONE_WARP) == [
        (3, "load", "global", 96, 96, 64, 96, 1),
        (5, "store", "shared", 96, 0, 0, 96, 0),
    ]
