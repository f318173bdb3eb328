"""cvt to and from packed and small floats, in one table, and cvt.pack: forms whose modifiers depend on the pair of
types.
"""

from typing import NamedTuple

from gpuprof.assemble.ir.values import NoVariant, pick
from gpuprof.assemble.ptx import ast
from gpuprof.isa.families.small_floats import PACKED_INTEGERS
from gpuprof.isa.modifiers import pack


class Form(NamedTuple):
    """`roundings` and `satfinite` are those that PTX allows; `sources` and `result` are the registers' types."""

    sources: tuple[str, ...]
    result: str
    roundings: tuple[str, ...]
    satfinite: str = "never"  # "may", "must"
    relu: bool = True


_TWO = ("f32", "f32")
_SMALL = {"e4m3": "b16", "e5m2": "b16", "e2m3": "b16", "e3m2": "b16", "e2m1": "b8"}  # register of a pair
_FORMS = {
    **{(f"{t}x2", "f32"): Form(_TWO, "b32", ("rn", "rz", "rs"), "may") for t in ("f16", "bf16")},
    **{(t, "f32"): Form(("f32",), "b16", ("rn", "rz"), "may") for t in ("f16", "bf16")},
    ("tf32", "f32"): Form(("f32",), "b32", ("rn", "rz", "rna"), "may"),
    **{(f"{t}x2", "f32"): Form(_TWO, register, ("rn",), "must") for t, register in _SMALL.items()},
    **{(f"{t}x2", "f16x2"): Form(("b32",), "b16", ("rn",), "must") for t in ("e4m3", "e5m2")},
    **{("f16x2", f"{t}x2"): Form((register,), "b32", ("rn",)) for t, register in _SMALL.items()},
    ("ue8m0x2", "f32"): Form(_TWO, "b16", ("rz", "rp"), "may", False),
    ("ue8m0x2", "bf16x2"): Form(("b32",), "b16", ("rz", "rp"), "may", False),
    ("bf16x2", "ue8m0x2"): Form(("b16",), "b32", ("rn",), "never", False),
    **{(f"{t}x4", "f32"): Form(("f32",) * 4, "b32", ("rs",), "must") for t in ("e4m3", "e5m2", "e2m3", "e3m2")},
}


def is_packed(to: str, source: str) -> bool:
    return to == "tf32" or to.endswith(("x2", "x4")) or source.endswith(("x2", "x4"))


def convert(lowering, to: str, source: str, rounding: str, relu: int, satfinite: int):
    form = pick(_FORMS, (to, source))
    if rounding not in form.roundings or (relu and not form.relu) or (rounding == "rna" and relu):
        raise NoVariant("rounding or .relu of")
    if {"never": satfinite, "may": False, "must": not satfinite}[form.satfinite]:
        raise NoVariant(".satfinite of" if satfinite else "form without .satfinite of")
    fields = {"relu": relu} if relu else {}
    if form.satfinite == "may" and satfinite:
        fields["satfinite"] = 1
    if rounding == "rs":
        return _stochastic(lowering, to, form, fields)
    if to not in _WITHOUT_ROUNDING and rounding != "rn":
        fields["rnd"] = rounding
    lowering.count(1 + len(form.sources))
    values = [lowering.reg(lowering.src(lowering.operand(1 + k), kind), "R") for k, kind in enumerate(form.sources)]
    if to in ("f16", "bf16"):  # a pair whose upper half is zero
        to, values = f"{to}x2", [None, *values]
    slots = dict(zip("ab", values, strict=False))
    return lowering.emit(
        f"CVT.{to}.{source}".upper(), dst=lowering.dst(lowering.operand(0), form.result), mods=pack(**fields), **slots
    )


_WITHOUT_ROUNDING = frozenset(f"{t}x2" for t in _SMALL)


def _stochastic(lowering, to: str, form: Form, fields: dict):
    if len(form.sources) == 4:
        return _four(lowering, to, form, fields)
    lowering.count(4)
    a, b, c = (
        lowering.reg(value, "R") for value in (*lowering.srcs(1, "f32", 2), lowering.src(lowering.operand(3), "b32"))
    )
    return lowering.emit(
        f"CVT.RS.{to}.F32".upper(),
        dst=lowering.dst(lowering.operand(0), form.result),
        a=a,
        b=b,
        c=c,
        mods=pack(**fields),
    )


def _four(lowering, to: str, form: Form, fields: dict):
    lowering.count(3)
    vector = lowering.operand(1)
    if not isinstance(vector, ast.Vector) or len(vector.elements) != 4:
        raise lowering.error("the source must be four registers")
    a, b, e, f = (lowering.reg(lowering.src(element, "f32"), "R") for element in vector.elements)
    first, second = lowering.op("PACK.64", a=a, b=b), lowering.op("PACK.64", a=e, b=f)
    random = lowering.reg(lowering.src(lowering.operand(2), "b32"), "R")
    return lowering.emit(
        f"CVT.RS.{to}.F32".upper(),
        dst=lowering.dst(lowering.operand(0), form.result),
        a=first,
        b=second,
        c=random,
        mods=pack(**fields),
    )


def pack_integers(lowering):
    """cvt.pack.sat: two 32-bit integers to the lowest bits; narrow ones push what a third operand holds upwards."""
    if not lowering.modifiers.flag("sat"):
        raise NoVariant("form without .sat of")
    kinds, lowering.modifiers.rest = lowering.modifiers.rest, []
    wide = kinds[:1] in (["u16"], ["s16"])
    if not kinds or kinds[0] not in PACKED_INTEGERS or kinds[1:] != (["s32"] if wide else ["s32", "b32"]):
        raise NoVariant("types of")
    lowering.count(3 if wide else 4)
    sources = dict(zip("abc", lowering.srcs(1, "b32", 2 if wide else 3), strict=False))
    lowering.emit(f"CVT.PACK.{kinds[0]}.S32".upper(), dst=lowering.dst(lowering.operand(0), "b32"), **sources)
