"""f32 and f64."""

from collections.abc import Iterator

from gpuprof.isa.row import FLOAT, Opcode, row


def rows() -> Iterator[Opcode]:
    for letter, r, t, pipe, latency in (("F", "R", "f32", "fma", "fma"), ("D", "D", "f64", "fp64", "fp64")):
        cheap_pipe, cheap_latency = ("alu", "alu")
        for name in ("ADD", "MUL"):
            yield row(f"{letter}{name}", "compute", f"{r}={r},{r}", pipe, latency, "f" + name.lower(), t, FLOAT)
        yield row(f"{letter}FMA", "compute", f"{r}={r},{r},{r}", pipe, latency, "ffma", t, FLOAT)
        for name in ("MIN", "MAX"):  # of f64: a compare, and what selects both words of the result
            yield row(
                f"{letter}{name}",
                "compute",
                f"{r}={r},{r}",
                cheap_pipe if r == "R" else "fp64",
                cheap_latency,
                "f" + name.lower(),
                t,
                ("ftz", "nan", "xorsign", "abs") if r == "R" else ("ftz", "nan"),
                slots=1 if r == "R" else 7,
            )
        for name in ("NEG", "ABS"):
            yield row(
                f"{letter}{name}",
                "compute",
                f"{r}={r}",
                cheap_pipe,
                cheap_latency,
                "f" + name.lower(),
                t,
                ("ftz",),
                slots=1,
            )
        yield row(
            f"{letter}SETP",
            "compute",
            f"P={r},{r},>P,P",
            "alu" if r == "R" else "fp64",
            "alu" if r == "R" else "fp64",
            "fsetp",
            t,
            ("cmp", "bool", "ftz"),
        )
        # the sign of a on the magnitude of b
        yield row(f"{letter}COPYSIGN", "compute", f"{r}={r},{r}", "alu", "alu", "copysign", t)
        # lut: index into TESTP
        yield row(f"{letter}TESTP", "compute", f"P={r}", "alu", "alu", "testp", t, ("lut",), slots=2 if r == "R" else 3)
        for name, slots32, slots64 in (("DIV", 10, 16), ("RCP", 10, 11), ("SQRT", 10, 18)):
            form = f"{r}={r},{r}" if name == "DIV" else f"{r}={r}"
            yield row(
                f"{letter}{name}",
                "compute",
                form,
                pipe,
                "iterative" if r == "R" else "iterative64",
                "f" + name.lower(),
                t,
                ("rnd", "ftz"),
                slots=slots32 if r == "R" else slots64,
            )
    # Two single-precision operations side by side, in the halves of D, and the smallest or largest of three (sm_100).
    for name, form in (("ADD", "D=D,D"), ("MUL", "D=D,D"), ("FMA", "D=D,D,D")):
        yield row(
            f"F{name}2",
            "compute",
            form,
            "fma",
            "fma",
            "ffma" if name == "FMA" else "f" + name.lower(),
            "f32x2",
            ("rnd", "ftz"),
        )
    for name in ("MIN", "MAX"):
        yield row(f"F{name}3", "compute", "R=R,R,R", "alu", "alu", f"f{name.lower()}3", "f32", ("ftz", "nan", "abs"))
    yield row("FDIV.FULL", "compute", "R=R,R", "fma", "xu", "fdiv_full", "f32", ("ftz",), slots=8)
    yield row("FDIV.APPROX", "compute", "R=R,R", "xu", "xu", "fdiv_approx", "f32", ("ftz",), slots=2)
    for name in ("RCP", "SQRT", "RSQRT", "SIN", "COS", "EX2", "LG2", "TANH"):
        slots = {"SIN": 2, "COS": 2}.get(name, 1)
        yield row(f"MUFU.{name}", "compute", "R=R", "xu", "xu", "approx_" + name.lower(), "f32", ("ftz",), slots=slots)
    yield row("DRSQRT", "compute", "D=D", "fp64", "iterative64", "approx_rsqrt64", "f64", slots=18)
    for name in ("RCP", "RSQRT"):
        yield row(f"MUFU.{name}64H", "compute", "D=D", "xu", "xu", "approx_" + name.lower(), "f64", ("ftz",))
