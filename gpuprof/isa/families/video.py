"""Video instructions: integer operations on bytes, half-words and words, one at a time or two and four side by side.

No chip since Maxwell has them: the real assembler writes each as a sequence. Slots are those of full words, or of
elements in place, without
.sat (measured with ptxas 13.0 for sm_80, every operand new); the S rows are those with a signed operand or result.
"""

from collections.abc import Iterator

from gpuprof.isa.row import Opcode, row

SIDE_BY_SIDE = {
    # operation: slots of 2 unsigned, 2 signed, 4 unsigned, 4 signed
    "ADD": (4, 16, 4, 32), "SUB": (4, 16, 5, 32), "AVRG": (4, 22, 31, 43), "ABSDIFF": (13, 19, 1, 37),
    "MIN": (5, 6, 19, 32), "MAX": (5, 6, 19, 32),
    "SET": (15, 20, 27, 39),
}  # fmt: skip


def rows() -> Iterator[Opcode]:
    operands = ("signs", "sat", "asel", "bsel", "dsel")
    for name, slots in (("ADD", 2), ("SUB", 2), ("ABSDIFF", 6), ("MIN", 5), ("MAX", 5)):
        yield row(
            f"V{name}", "compute", "R=R,R,R", "alu", "alu", f"v{name.lower()}", "u32", (*operands, "op2"), slots=slots
        )
    for name in ("SHL", "SHR"):
        yield row(
            f"V{name}",
            "compute",
            "R=R,R,R",
            "alu",
            "alu",
            f"v{name.lower()}",
            "u32",
            (*operands, "op2", "vwrap"),
            slots=3,
        )
    yield row("VSET", "compute", "R=R,R,R", "alu", "alu", "vset", "u32", (*operands, "op2", "vcmp"), slots=7)
    yield row(
        "VMAD",
        "compute",
        "R=R,R,R",
        "fma",
        "imad",
        "vmad",
        "u32",
        ("signs", "sat", "asel", "bsel", "scale", "po", "negab", "negc"),
        slots=2,
    )
    for name, slots in SIDE_BY_SIDE.items():
        fields = ("signs", "sat", "mask", "op2", *(("vcmp",) if name == "SET" else ()))
        for suffix, n in zip(("2.U", "2.S", "4.U", "4.S"), slots, strict=True):
            yield row(
                f"V{name}{suffix}",
                "compute",
                "R=R,R,R",
                "alu",
                "alu",
                f"v{name.lower()}_lanes",
                "u32 " + suffix[0],
                fields,
                slots=n,
            )
