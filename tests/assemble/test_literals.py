"""Constants in the constant bank and in registers across loops; whole loops stand beside ptxas's in
tests/ptxas/sass_slots.csv.
"""

import struct
from fractions import Fraction

import numpy as np
import pytest

from gpuprof.assemble.object.elf import write_gpubin
from gpuprof.isa.encoding import decode
from gpuprof.isa.gpubin.reader import read_gpubin
from gpuprof.isa.special import LITERALS_AT
from tests.support.ptx_support import assemble_text, run_kernel

LOOP = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{{
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f64 %fd<8>; .reg .pred %p;
    ld.param.u64 %rd0, [out];
    ld.param.u32 %r0, [n];
    mov.f64 %fd0, 0d3FF0000000000000;
    mov.u32 %r1, 0;
TURN:
    .pragma "nounroll";
    {body}
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p, %r1, %r0;
    @%p bra TURN;
    st.global.f64 [%rd0], %fd0;
    ret;
}}
"""
A, B = "0d3FD3333333333333", "0d3FE6666666666666"  # 0.3, 0.7


def program_of(*body: str):
    return assemble_text(LOOP.format(body="\n    ".join(body)))


def turn_of(program) -> list[str]:
    """The instructions of the loop, by name."""
    code = [decode(row) for row in program.code]
    end = next(i for i, inst in enumerate(code) if inst.op.name == "BRA" and inst.offset < 0)
    return [inst.op.name for inst in code[end + 1 + code[end].offset // 16 : end + 1]]


FMA = f"fma.rn.f64 %fd0, %fd0, {A}, {B};"


@pytest.mark.parametrize(
    ("body", "operations", "literals"),
    [
        ([f"add.rn.f64 %fd0, %fd0, {A};"], ["DADD"], 1),
        (["add.rn.f64 %fd0, %fd0, 0d3FF8000000000000;"], ["DADD"], 0),  # 1.5 is an immediate
        ([FMA], ["DFMA"], 1),  # one in the bank, one in a register across the loop
        ([FMA] * 3, ["DFMA"] * 3, 1),
        ([f"mul.rn.f64 %fd0, %fd0, {A};", f"mul.rn.f64 %fd0, %fd0, {B};"], ["DMUL"] * 2, 2),
        ([FMA] * 12, [*["DFMA"] * 12, "MOVI.64"], 1),  # a long turn makes it, once
    ],
)
def test_a_turn_has_no_more_than_ptxas(body, operations, literals):
    program = program_of(*body)
    turn = turn_of(program)
    assert sorted(turn) == sorted([*operations, "IADD", "ISETP.U32", "BRA"])
    assert len(program.literals) == 8 * literals


def test_the_bank_has_each_value_once_and_the_file_keeps_it():
    program = program_of(f"add.rn.f64 %fd0, %fd0, {A};", f"add.rn.f64 %fd0, %fd0, {B};", f"mul.rn.f64 %fd0, %fd0, {A};")
    assert program.literals == struct.pack("<dd", 0.3, 0.7)
    offsets = [inst.imm for row in program.code if (inst := decode(row)).reads_constant_bank and inst.op.pipe == "fp64"]
    assert sorted(offsets) == [LITERALS_AT, LITERALS_AT, LITERALS_AT + 8]
    assert read_gpubin(write_gpubin(program), "k.gpubin").literals == program.literals


def test_what_comes_out_is_what_exact_arithmetic_gives():
    (stored,) = run_kernel(program_of(FMA), "k", [np.zeros(1), 9])
    value = 1.0
    for _ in range(9):
        value = float(Fraction(value) * Fraction(0.3) + Fraction(0.7))
    assert struct.unpack("<d", stored) == (value,)


def test_a_constant_is_made_anew_where_a_loop_waits_for_memory():
    """There it costs nothing, and a register less: ptxas 13.0 does so."""
    assert "MOVI.64" in turn_of(program_of("ld.global.f64 %fd1, [%rd0];", "add.rn.f64 %fd0, %fd0, %fd1;", FMA))


def test_a_branch_over_a_branch_is_one():
    text = LOOP.replace("setp.lt", "setp.ge").replace("@%p bra TURN;", "@%p bra OUT;\n    bra.uni TURN;\nOUT:")
    program = assemble_text(text.format(body=FMA))
    assert sorted(turn_of(program)) == ["BRA", "DFMA", "IADD", "ISETP.U32"]
    (stored,) = run_kernel(program, "k", [np.zeros(1), 9])
    assert stored == run_kernel(program_of(FMA), "k", [np.zeros(1), 9])[0]
