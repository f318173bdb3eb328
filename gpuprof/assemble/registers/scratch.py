"""Registers that an instruction needs for itself while it runs, besides its operands: those of the sequence that the
real assembler writes for it.

Measured with ptxas 13.0 for sm_80, against an addition of the same type. For a sequence that stands inline: how many
fewer values a kernel under -maxrregcount=40 keeps alive across it before it spills. For a subroutine, whose registers
are given: how many more registers a kernel takes that does nothing else.
"""

from gpuprof.isa.opcodes import by_number

_INLINE = {
    "IDIV.U32": 3, "IREM.U32": 3, "IDIV.S32": 4, "IREM.S32": 4, "IMUL.64": 2, "IMULHI.U64": 2, "FDIV": 6, "FRCP": 3,
    "FSQRT": 1,
}  # fmt: skip
_SUBROUTINE = {"IDIV.U64": 8, "IREM.U64": 8, "IDIV.S64": 12, "IREM.S64": 10, "DDIV": 13, "DRCP": 6, "DSQRT": 10}

SCRATCH_WORDS = by_number(_INLINE | _SUBROUTINE)
