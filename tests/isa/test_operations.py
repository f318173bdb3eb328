"""How many arithmetic operations each instruction is."""

import pytest

from gpuprof.isa.opcodes import BY_NAME, TABLE
from gpuprof.isa.operations import (
    FLOATS,
    INTEGERS,
    MOST_OPERATIONS,
    NOT_COUNTED,
    PRECISIONS,
    SPECIAL,
    operations_of,
)


def test_every_row_counts_or_is_known_not_to():
    """Each computation is in one of the four tables, and the tables have no others."""
    computations = {op.semantics for op in TABLE if op.kind == "compute"}
    tables = (FLOATS.keys(), INTEGERS.keys(), SPECIAL, NOT_COUNTED)
    assert computations ^ set().union(*tables) == set(), "a new one belongs into a table of isa/operations.py"
    assert sum(map(len, tables)) == len(computations)


def test_precisions_and_the_most():
    found = [operations_of(op) for op in TABLE]
    assert {each.precision for each in found} == {"", *PRECISIONS}
    assert all((each.count > 0) == bool(each.precision) for each in found)
    assert max(each.count for each in found) == MOST_OPERATIONS


# The shapes of PTX: a warp does 2 m n k operations, and m n k for a sparse A, of which every other element is there.
@pytest.mark.parametrize(
    "name, precision, of_warp",
    [
        ("FADD", "f32", 32),
        ("FFMA", "f32", 2 * 32),
        ("FFMA2", "f32", 2 * 2 * 32),
        ("DFMA", "f64", 2 * 32),
        ("HFMA", "f16", 2 * 32),
        ("HADD2", "f16", 2 * 32),
        ("HFMA2", "f16", 2 * 2 * 32),
        ("BFMA2", "bf16", 2 * 2 * 32),
        ("MUFU.SIN", "special", 32),
        ("MUFU.EX2.F16X2", "special", 2 * 32),
        ("FDIV", "special", 32),
        ("IDIV.S32", "special", 32),
        ("IADD", "int", 32),
        ("IADD.64", "int", 32),
        ("IMAD", "int", 2 * 32),
        ("IADD3", "int", 2 * 32),
        ("DP4A.S.S", "int", 2 * 4 * 32),
        ("IADD.16X2", "int", 2 * 32),
        ("HMMA.16816.F32", "tensor_f16", 2 * 16 * 8 * 16),
        ("HMMA.884.F32", "tensor_f16", 4 * 2 * 8 * 8 * 4),  # each of the four quad pairs multiplies its own
        ("HMMA.SP.16832.F32", "tensor_f16", 16 * 8 * 32),
        ("HMMA.TF32.1688.F32", "tensor_tf32", 2 * 16 * 8 * 8),
        ("QMMA.16832.F32", "tensor_f8", 2 * 16 * 8 * 32),
        ("IMMA.16832", "tensor_s8", 2 * 16 * 8 * 32),
        ("IMMA.S4.16864", "tensor_s4", 2 * 16 * 8 * 64),
        ("BMMA.168256", "tensor_b1", 2 * 16 * 8 * 256),
        ("DMMA.884", "tensor_f64", 2 * 8 * 8 * 4),
        ("HGMMA.64x8x16.F32.SS", "tensor_f16", 2 * 64 * 8 * 16 // 4),  # one of a group's four warps
    ],
)
def test_operations_of_a_warp(name, precision, of_warp):
    assert operations_of(BY_NAME[name]) == (precision, of_warp // 32)


@pytest.mark.parametrize(
    "name", ["MOV", "FSETP", "FMIN", "FNEG", "LOP3", "SHL", "CVT.F32.F64", "LDG.32", "ATOMG.ADD.F32", "BRA"]
)
def test_no_operations(name):
    assert operations_of(BY_NAME[name]) == ("", 0)
