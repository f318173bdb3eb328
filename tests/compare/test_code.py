"""Instructions of two versions next to each other."""

import pytest
from hypothesis import given, strategies as st

from gpuprof.compare.alignment import ABSENT
from gpuprof.compare.code import Code, aligned_code, opcode_of


@pytest.mark.parametrize(
    "text, opcode", [("LDG.32 R0, [D1]", "LDG.32"), ("@!P0 BRA +3", "BRA"), ("EXIT", "EXIT"), ("", "")]
)
def test_opcodes(text, opcode):
    assert opcode_of(text) == opcode


def code(*texts: str) -> list[Code]:
    """Each as "line: text"."""
    return [Code(text.partition(": ")[2], int(text.partition(": ")[0]), 1) for text in texts]


def test_other_registers_are_the_same_instruction_of_a_line():
    old = code("1: LDG R1, [D1]", "1: LDG R2, [D2]", "2: FADD R3, R1, R2", "3: STG [D3], R3")
    new = code("1: LDG R5, [D1]", "2: FADD R6, R5, R5", "2: FMUL R6, R6, R6", "3: STG [D3], R6")
    assert aligned_code(old, new) == [(0, 0), (1, ABSENT), (2, 1), (ABSENT, 2), (3, 3)]


def test_an_instruction_of_another_line_is_paired_by_its_opcode():
    old, new = code("1: LDG R1, [D1]", "2: FADD R2, R1, R1"), code("7: LDG R1, [D1]", "2: FADD R2, R1, R1")
    assert aligned_code(old, new) == [(0, 0), (1, 1)]


some = st.lists(st.sampled_from(["1: LDG R1", "1: LDG R2", "2: FADD R1", "3: STG R1", "4: BAR"]), max_size=12)


@given(some, some)
def test_each_is_in_one_pair_in_the_order_of_both(old, new):
    pairs = aligned_code(code(*old), code(*new))
    assert [a for a, _ in pairs if a != ABSENT] == list(range(len(old)))
    assert [b for _, b in pairs if b != ABSENT] == list(range(len(new)))
    for a, b in pairs:
        if ABSENT not in (a, b):
            assert opcode_of(old[a].partition(": ")[2]) == opcode_of(new[b].partition(": ")[2])
