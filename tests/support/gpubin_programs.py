"""Programs made by hand, for the tests of the gpubin file."""

from dataclasses import fields

import numpy as np

from gpuprof.isa.encoding import encode
from gpuprof.isa.facts import (
    NEVER_FENCED,
    Facts,
    MemberStore,
    PaddedCopy,
    RegisterHazard,
    ScopeChange,
    Setting,
    VariableFacts,
)
from gpuprof.isa.printing.text import parse
from gpuprof.isa.program import Function, Location, Param, Program, Relocation, Variable

CODE = """\
S2R R0, tid.x
MOVI.64 D1, 0x0
ISETP.U32.GE.AND P0, PT, R0, c[0x10], PT
@P0 BRA .+0x20
CALL .+0x20, frame=0x10
STG.32 [D1], R0
EXIT
FMUL.FTZ R0, R0, -0x3fc00000
RET"""
FACTS = Facts(
    (PaddedCopy("dir/a b.cu", 10, 5, 24, ((8, 32), (144, 192))),),
    (MemberStore("helper.h", 3, 2, 2, 16, 24, ((8, 32),), ()),),
    (RegisterHazard(NEVER_FENCED, 4),),
    VariableFacts(
        (Setting(2, 0, "r5 + -8 @0:32"),), (ScopeChange(3, ((4, 0), (2, 7))),), {"types": {"7": ["ü", None]}}
    ),
)


def small_program() -> Program:
    """A kernel with a loop over nothing, a device function, inlined code two levels deep, variables in every part of
    the segments.
    """
    kernel = Location("dir/a b.cu", 10, 5, "scan<256>")
    call = Location("dir/a b.cu", 11, 7, "scan<256>")
    helper = Location("helper.h", 3, 2, "help", call)
    deep = Location("helper.h", 90, 1, "deeper", helper)
    param = Param("out", "u64", 0, 8, 8, is_pointer=True, element="f32", is_read=False)
    return Program(
        name="dir/a b.cu",
        code=encode([parse(line) for line in CODE.splitlines()]),
        functions=(
            Function("_Z4scanILi256EEvPfi", "scan<256>", 0, 7, True, (param, Param("n", "s32", 16, 4, 4)), 6, 2, 2, 1,
                1024, 16, 8, 1,
                     256, (16, 16, 1), 2),
            Function("twice", "twice", 7, 2, False),
        ),
        variables=(
            Variable("table", "global", 0, 8, 8, b"\x01\x02\x03\x04\x05\x06\x07\x00"),
            Variable("counter", "global", 16, 4, 4, bytes(4)),
            Variable("weights", "const", 0, 16, 16, bytes(16)),
        ),
        relocations=(Relocation(1, "table", "abs64", 4), Relocation(8, "elsewhere", "abs32", -8)),
        ptx="// ünï\n.version 7.0\n",
        ptx_lines=np.array([2, 2, 3, 4, 5, 6, 7, 0, 9], np.uint32),
        locations=(kernel, helper, deep, deep, helper, kernel, kernel, None, None),
        sources={"dir/a b.cu": "line 1\nline 2\n", "helper.h": "\tü\n"},
        arch="sm_90",
        compiler="clang 22",
        literals=bytes(range(16)),
        facts=FACTS,
    )  # fmt: skip


def assert_equal(a: Program, b: Program) -> None:
    for field in fields(Program):
        left, right = getattr(a, field.name), getattr(b, field.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, field.name
            assert np.array_equal(left, right), field.name
        else:
            assert left == right, field.name
