"""f16 and bf16, single and in pairs."""

from collections.abc import Iterator

from gpuprof.isa.row import FLOAT, Opcode, row


def rows() -> Iterator[Opcode]:
    for letter, scalar, packed in (("H", "f16", "f16x2"), ("B", "bf16", "bf16x2")):
        for suffix, t in (("", scalar), ("2", packed)):
            for name in ("ADD", "MUL"):
                yield row(f"{letter}{name}{suffix}", "compute", "R=R,R", "half", "half", "f" + name.lower(), t, FLOAT)
            yield row(
                f"{letter}FMA{suffix}", "compute", "R=R,R,R", "half", "half", "ffma", t, (*FLOAT, "nan")
            )  # nan: relu
            for name in ("MIN", "MAX"):
                yield row(
                    f"{letter}{name}{suffix}",
                    "compute",
                    "R=R,R",
                    "half",
                    "half",
                    "f" + name.lower(),
                    t,
                    ("ftz", "nan", "xorsign", "abs"),
                )
            for name in ("NEG", "ABS"):
                yield row(f"{letter}{name}{suffix}", "compute", "R=R", "half", "half", "f" + name.lower(), t, ("ftz",))
            for name in ("EX2", "TANH"):
                yield row(
                    f"MUFU.{name}.{t.upper()}",
                    "compute",
                    "R=R",
                    "xu",
                    "xu",
                    "approx_" + name.lower(),
                    t,
                    ("ftz",),
                    slots=2 if suffix else 1,
                )
        yield row(f"{letter}SETP", "compute", "P=R,R,>P,P", "half", "half", "fsetp", scalar, ("cmp", "bool", "ftz"))
        yield row(f"{letter}SETP2", "compute", "P=R,R,>P,P", "half", "half", "fsetp", packed, ("cmp", "bool", "ftz"))
