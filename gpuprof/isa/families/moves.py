"""Moves, selects and predicates."""

from collections.abc import Iterator

from gpuprof.isa.row import Opcode, row


def rows() -> Iterator[Opcode]:
    yield row("MOV", "compute", "R=R", "alu", "alu", "mov", "b32")
    yield row("MOV.64", "compute", "D=D", "alu", "alu", "mov", "b64", slots=2)
    yield row(
        "MOVI.64", "compute", "D=", "alu", "alu", "mov_imm64", "b64", slots=2
    )  # imm is the low word, mods the high word
    yield row("PACK.64", "compute", "D=R,R", "alu", "alu", "pack", "b64", slots=0)
    yield row("LO.64", "compute", "R=D", "alu", "alu", "low", "b64", slots=0)
    yield row("HI.64", "compute", "R=D", "alu", "alu", "high", "b64", slots=0)
    yield row("S2R", "special", "R=", "xu", "s2r", "special", "b32")  # imm: index into SPECIAL
    yield row("S2R.64", "special", "D=", "xu", "s2r", "special", "b64")
    # imm: `localbase`, where a function's frame begins. Hardware keeps it in a register (R1), so it costs what a move
    # costs.
    yield row("FRAME", "compute", "R=", "alu", "alu", "special", "b32")
    yield row("FRAME.64", "compute", "D=", "alu", "alu", "special", "b64")
    yield row("SEL", "compute", "R=R,R,,P", "alu", "alu", "select", "b32")
    yield row("SEL.64", "compute", "D=D,D,,P", "alu", "alu", "select", "b64", slots=2)
    yield row("PMOV", "compute", "P=P", "alu", "alu", "pmov", "pred")
    yield row("PAND", "compute", "P=P,P", "alu", "alu", "pand", "pred")
    yield row("POR", "compute", "P=P,P", "alu", "alu", "por", "pred")
    yield row("PXOR", "compute", "P=P,P", "alu", "alu", "pxor", "pred")
