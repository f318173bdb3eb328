"""Moves, selects and predicates."""

from collections.abc import Iterator

from gpuprof.isa.row import Opcode, row


def rows() -> Iterator[Opcode]:
    yield row("MOV", "R=R", "alu", "alu", "mov", "b32")
    yield row("MOV.64", "D=D", "alu", "alu", "mov", "b64", slots=2)
    yield row("MOVI.64", "D=", "alu", "alu", "mov_imm64", "b64", slots=2)  # imm is the low word, mods the high word
    yield row("PACK.64", "D=R,R", "alu", "alu", "pack", "b64", slots=0)
    yield row("LO.64", "R=D", "alu", "alu", "low", "b64", slots=0)
    yield row("HI.64", "R=D", "alu", "alu", "high", "b64", slots=0)
    yield row("S2R", "R=", "xu", "s2r", "special", "b32")  # imm: index into SPECIAL
    yield row("S2R.64", "D=", "xu", "s2r", "special", "b64")
    # imm: `localbase`, where a function's frame begins. Hardware keeps it in a register (R1), so it costs what a move
    # costs.
    yield row("FRAME", "R=", "alu", "alu", "special", "b32")
    yield row("FRAME.64", "D=", "alu", "alu", "special", "b64")
    yield row("SEL", "R=R,R,,P", "alu", "alu", "select", "b32")
    yield row("SEL.64", "D=D,D,,P", "alu", "alu", "select", "b64", slots=2)
    yield row("PMOV", "P=P", "alu", "alu", "pmov", "pred")
    yield row("PAND", "P=P,P", "alu", "alu", "pand", "pred")
    yield row("POR", "P=P,P", "alu", "alu", "por", "pred")
    yield row("PXOR", "P=P,P", "alu", "alu", "pxor", "pred")
