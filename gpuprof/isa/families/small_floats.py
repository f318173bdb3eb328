"""Conversions to and from floats of 4, 6 and 8 bits, stochastic rounding, and packing of integers with saturation.

CVT.<to>.<from>; types that end in x2 and x4 are packed, the first source in the upper part (PTX order). Measured with
ptxas 13.0 for sm_100a, integers for sm_80.
"""

from collections.abc import Iterator

from gpuprof.isa.row import Opcode, row

SMALL_FLOATS = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
PACKED_INTEGERS = ("u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2")


def rows() -> Iterator[Opcode]:
    # what does not fit becomes the largest number: these have no infinity that a conversion would give
    for t in SMALL_FLOATS:
        yield row(f"CVT.{t}X2.F32".upper(), "compute", "R=R,R", "alu", "alu", "cvt_small", f"{t} f32", ("relu",))
        yield row(f"CVT.F16X2.{t}X2".upper(), "compute", "R=R", "alu", "alu", "cvt_widen", f"f16x2 {t}", ("relu",))
    for t in ("e4m3", "e5m2"):
        yield row(f"CVT.{t}X2.F16X2".upper(), "compute", "R=R", "alu", "alu", "cvt_small", f"{t} f16x2", ("relu",))
    yield row("CVT.UE8M0X2.F32", "compute", "R=R,R", "alu", "alu", "cvt_scale", "ue8m0 f32", ("rnd", "satfinite"))
    yield row("CVT.UE8M0X2.BF16X2", "compute", "R=R", "alu", "alu", "cvt_scale", "ue8m0 bf16x2", ("rnd", "satfinite"))
    yield row("CVT.BF16X2.UE8M0X2", "compute", "R=R", "alu", "alu", "cvt_widen", "bf16x2 ue8m0")
    # Stochastic: the last source holds the random bits. Four singles are two pairs in D, the first of each pair in its
    # lower word.
    for t in ("f16", "bf16"):
        yield row(
            f"CVT.RS.{t}X2.F32".upper(),
            "compute",
            "R=R,R,R",
            "alu",
            "alu",
            "cvt_stochastic",
            f"{t} f32",
            ("relu", "satfinite"),
        )
    for t in SMALL_FLOATS[:4]:
        yield row(
            f"CVT.RS.{t}X4.F32".upper(),
            "compute",
            "R=D,D,R",
            "alu",
            "alu",
            "cvt_stochastic4",
            f"{t} f32",
            ("relu",),
            slots=2,
        )
    for t in PACKED_INTEGERS:
        form = "R=R,R" if t.endswith("16") else "R=R,R,R"
        yield row(f"CVT.PACK.{t}.S32".upper(), "compute", form, "alu", "alu", "cvt_pack_integers", f"{t} s32")
