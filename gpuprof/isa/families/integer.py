"""Integer arithmetic and bit manipulation."""

from collections.abc import Iterator

from gpuprof.isa.row import Opcode, row


def rows() -> Iterator[Opcode]:
    yield from _both_widths(32)
    yield from _both_widths(64)
    yield from _only_32()


def _both_widths(bits: int) -> Iterator[Opcode]:
    r = "R" if bits == 32 else "D"
    sfx = "" if bits == 32 else ".64"
    two = 1 if bits == 32 else 2
    b, s, u = f"b{bits}", f"s{bits}", f"u{bits}"
    for name in ("ADD", "SUB"):
        yield row(f"I{name}{sfx}", "compute", f"{r}={r},{r}", "alu", "alu", name.lower(), u, slots=two)
        # With carry: e is the carry in (PT negated = 0), c the carry out (127 = none).
        yield row(f"I{name}C{sfx}", "compute", f"{r}={r},{r},>P,P", "alu", "alu", name.lower() + "_carry", u, slots=two)
    yield row(f"INEG{sfx}", "compute", f"{r}={r}", "alu", "alu", "neg", s, slots=two)
    yield row(f"IABS{sfx}", "compute", f"{r}={r}", "alu", "alu", "abs", s, slots=1 if bits == 32 else 5)
    yield row(f"IMUL{sfx}", "compute", f"{r}={r},{r}", "fma", "imad", "mul", u, slots=1 if bits == 32 else 4)
    yield row(f"IMAD{sfx}", "compute", f"{r}={r},{r},{r}", "fma", "imad", "mad", u, slots=1 if bits == 32 else 4)
    for t in (s, u):
        sign = t[0].upper()
        yield row(
            f"IMULHI.{sign}{bits}",
            "compute",
            f"{r}={r},{r}",
            "fma",
            "imad_hi",
            "mul_high",
            t,
            slots=1 if bits == 32 else 7 if t == u else 17,
        )
        yield row(
            f"IMADHI.{sign}{bits}",
            "compute",
            f"{r}={r},{r},{r}",
            "fma",
            "imad_hi",
            "mad_high",
            t,
            slots=1 if bits == 32 else 9 if t == u else 19,
        )
        for name in ("MIN", "MAX"):
            yield row(
                f"I{name}.{sign}{bits}",
                "compute",
                f"{r}={r},{r}",
                "alu",
                "alu",
                name.lower(),
                t,
                slots=1 if bits == 32 else 4,
            )
        division = {("s", 32): (24, 22), ("u", 32): (18, 17), ("s", 64): (88, 82), ("u", 64): (72, 68)}[t[0], bits]
        yield row(f"IDIV.{sign}{bits}", "compute", f"{r}={r},{r}", "alu", "division", "div", t, slots=division[0])
        yield row(f"IREM.{sign}{bits}", "compute", f"{r}={r},{r}", "alu", "division", "rem", t, slots=division[1])
        yield row(f"SHR.{sign}{bits}", "compute", f"{r}={r},R", "alu", "alu", "shr", t, slots=two)
        yield row(
            f"ISETP.{sign}{bits}", "compute", f"P={r},{r},>P,P", "alu", "alu", "setp", t, ("cmp", "bool"), slots=two
        )
        yield row(
            f"BFE.{sign}{bits}",
            "compute",
            f"{r}={r},R,R",
            "alu",
            "alu",
            "bfe",
            t,
            slots=5 if bits == 32 else 9 if t == u else 18,
        )
        yield row(
            f"FLO.{sign}{bits}",
            "compute",
            f"R={r}",
            "xu",
            "xu",
            "bfind",
            t,
            slots=1 if bits == 32 else 7 if t == u else 13,
        )
        yield row(
            f"FLO.SH.{sign}{bits}",
            "compute",
            f"R={r}",
            "xu",
            "xu",
            "bfind_shift",
            t,
            slots=1 if bits == 32 else 7 if t == u else 13,
        )
    yield row(f"SHL{sfx}", "compute", f"{r}={r},R", "alu", "alu", "shl", b, slots=two)
    for name in ("AND", "OR", "XOR"):
        yield row(f"{name}{sfx}", "compute", f"{r}={r},{r}", "alu", "alu", name.lower(), b, slots=two)
    yield row(f"NOT{sfx}", "compute", f"{r}={r}", "alu", "alu", "not", b, slots=two)
    yield row(f"CNOT{sfx}", "compute", f"{r}={r}", "alu", "alu", "cnot", b, slots=3 if bits == 32 else 5)
    # BFI: a inserted into b; imm (or R c) is position | length << 8.
    yield row(f"BFI{sfx}", "compute", f"{r}={r},{r},R", "alu", "alu", "bfi", b, slots=2 if bits == 32 else 10)
    yield row(f"BREV{sfx}", "compute", f"{r}={r}", "xu", "xu", "brev", b, slots=two)
    yield row(f"POPC{sfx}", "compute", f"R={r}", "xu", "xu", "popc", b, slots=1 if bits == 32 else 3)
    yield row(f"CLZ{sfx}", "compute", f"R={r}", "xu", "xu", "clz", b, slots=2 if bits == 32 else 6)


def _only_32() -> Iterator[Opcode]:
    for t in ("s32", "u32"):
        sign = t[0].upper()
        yield row(f"IMUL.WIDE.{sign}32", "compute", "D=R,R", "fma", "imad", "mul_wide", t)
        yield row(f"IMAD.WIDE.{sign}32", "compute", "D=R,R,D", "fma", "imad", "mad_wide", t)
        yield row(f"SAD.{sign}32", "compute", "R=R,R,R", "alu", "alu", "sad", t)
        yield row(f"BMSK.{sign}32", "compute", "R=R,R", "alu", "alu", "bmsk", t, ("wrap",))
        yield row(f"SZEXT.{sign}32", "compute", "R=R,R", "alu", "alu", "szext", t, ("wrap",))
        for name in ("MIN", "MAX"):
            yield row(
                f"I{name}.{sign}16X2",
                "compute",
                "R=R,R",
                "alu",
                "alu",
                name.lower() + "_halves",
                f"{t[0]}16x2",
                ("relu",) if t == "s32" else (),
            )
    yield row("IADD.16X2", "compute", "R=R,R", "alu", "alu", "add_halves", "u16x2")
    # FNS: measured as the code of its loop; how often that runs depends on the operands.
    yield row("FNS", "compute", "R=R,R,R", "alu", "alu", "fns", "b32", slots=53)
    yield row("IADD3", "compute", "R=R,R,R", "alu", "alu", "add3", "u32")
    yield row("LEA", "compute", "R=R,R", "alu", "alu", "shift_add", "u32", ("by",))  # (a << by) + b
    # dst: a & b is not zero, c: it is; a LOP3 whose result is a predicate
    yield row("TEST", "compute", "P=R,R,>P", "alu", "alu", "test", "b32")
    yield row("LOP3", "compute", "R=R,R,R", "alu", "alu", "lop3", "b32", ("lut",))
    yield row("PRMT", "compute", "R=R,R,R", "alu", "alu", "prmt", "b32", ("prmt",))
    yield row("SHF.L", "compute", "R=R,R,R", "alu", "alu", "shf_left", "b32", ("wrap",))
    yield row("SHF.R", "compute", "R=R,R,R", "alu", "alu", "shf_right", "b32", ("wrap",))
    for ta in ("s", "u"):
        for tb in ("s", "u"):
            yield row(f"DP4A.{ta}.{tb}".upper(), "compute", "R=R,R,R", "fma", "imad", "dp4a", f"{ta}8 {tb}8")
            yield row(f"DP2A.LO.{ta}.{tb}".upper(), "compute", "R=R,R,R", "fma", "imad", "dp2a_lo", f"{ta}16 {tb}8")
            yield row(f"DP2A.HI.{ta}.{tb}".upper(), "compute", "R=R,R,R", "fma", "imad", "dp2a_hi", f"{ta}16 {tb}8")
