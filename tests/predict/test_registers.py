"""Registers that instructions read, from their text, against the timing model's own account of their encodings."""

import pytest

from gpuprof.isa.encoding import decode
from gpuprof.isa.printing.text import disassemble
from gpuprof.isa.program import first_uniform_words
from gpuprof.predict.registers import Instruction, reads_of
from gpuprof.run.compile_file import build
from gpuprof.timing.state.register_reads import register_reads
from tests.paths import ROOT


@pytest.mark.parametrize("sample", ["matmul", "mandelbrot", "reduction"])
def test_words_of_both_banks_are_those_of_the_encoding(sample):
    program, _ = build(ROOT / "samples" / f"{sample}.cu", arch="sm_80")
    decoded = [decode(row) for row in program.code]
    uniform = first_uniform_words(program.functions, len(program.code))
    expected = register_reads(decoded, frozenset(), uniform, fp64_is_shared=False)
    found = reads_of(
        [Instruction(each.op, disassemble(each, 16 * k, {}), uniform[k]) for k, each in enumerate(decoded)]
    )
    assert [tuple(each) for each in found] == [tuple(each) for each in expected]
    assert sum(each.even + each.odd for each in found) > len(found) / 2
