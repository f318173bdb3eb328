"""Floating-point arithmetic of all widths, and the approximations of the special function unit."""

from gpuprof.assemble.ir.values import NoVariant, pick
from gpuprof.isa.modifiers import pack

LETTER = {"f16": "H", "f16x2": "H", "bf16": "B", "bf16x2": "B", "f32": "F", "f32x2": "F", "f64": "D"}
BITS = {"f32x2": "b64"}  # types without registers of their own


def row_of(name: str, kind: str) -> str:
    """("ADD", "f16x2") -> "HADD2"."""
    return pick(LETTER, kind) + name + ("2" if kind.endswith("x2") else "")


ROUNDINGS = frozenset(["rn", "rz", "rm", "rp"])


def _arithmetic(lowering, name: str, n_sources: int, neg: str = "", **extra):
    contracts = name != "FMA" and ROUNDINGS.isdisjoint(lowering.modifiers.rest)
    mods = lowering.modifiers.float_mods() | extra
    kind = lowering.modifiers.type()
    if lowering.modifiers.rest[-1:] == ["f32"] and kind in ("f16", "bf16"):
        return _mixed(lowering, name, n_sources, neg, kind, mods)
    row = row_of(name, kind)
    if mods["sat"] and kind not in ("f32", "f16", "f16x2"):
        raise NoVariant("saturation of")
    lowering.count(n_sources + 1)
    kind = BITS.get(kind, kind)
    sources = dict(zip("abc", lowering.srcs(1, kind, n_sources), strict=False))
    return lowering.emit(
        row, dst=lowering.dst(lowering.operand(0), kind), neg=neg, mods=pack(**mods), contracts=contracts, **sources
    )


def _mixed(lowering, name: str, n_sources: int, neg: str, kind: str, mods: dict):
    """add, sub, fma of f32 with half-precision sources: these are exact in f32; the last source is f32 already."""
    if name == "MUL" or mods["ftz"]:
        raise NoVariant("mixed form of")
    lowering.modifiers.type()
    lowering.count(n_sources + 1)
    narrow = [
        lowering.op(f"CVT.F32.{kind}".upper(), a=lowering.reg(value, "R"))
        for value in lowering.srcs(1, kind, n_sources - 1)
    ]
    sources = dict(zip("abc", [*narrow, lowering.src(lowering.operand(n_sources), "f32")], strict=False))
    return lowering.emit(
        f"F{name}", dst=lowering.dst(lowering.operand(0), "f32"), neg=neg, mods=pack(**mods), **sources
    )


def add(lowering, negate: str = ""):
    _arithmetic(lowering, "ADD", 2, negate)


def mul(lowering):
    _arithmetic(lowering, "MUL", 2)


def fma(lowering):
    relu = {"nan": 1} if lowering.modifiers.flag("relu") else {}
    if relu and lowering.modifiers.rest[-1] not in ("f16", "f16x2", "bf16", "bf16x2"):
        raise NoVariant(".relu of")
    _arithmetic(lowering, "FMA", 3, **relu)


def minmax(name: str):
    def lower(lowering):
        fields = {
            field: int(lowering.modifiers.flag(word))
            for field, word in (("ftz", "ftz"), ("nan", "NaN"), ("xorsign", "xorsign"), ("abs", "abs"))
        }
        kind = lowering.modifiers.type()
        n = lowering.count(3, 4) - 1
        if (
            kind == "f32x2"
            or (n == 3 and (kind != "f32" or fields["xorsign"]))
            or (n == 2 and fields["xorsign"] != fields["abs"])
        ):
            raise NoVariant("form of")
        if kind == "f64" and any(fields.values()):
            raise NoVariant("modifiers of")
        sources = dict(zip("abc", lowering.srcs(1, kind, n), strict=False))
        lowering.emit(
            row_of(name, kind) + ("3" if n == 3 else ""),
            dst=lowering.dst(lowering.operand(0), kind),
            mods=pack(**fields),
            **sources,
        )

    return lower


def unary(name: str):
    def lower(lowering):
        mods = pack(ftz=int(lowering.modifiers.flag("ftz")))
        kind = lowering.modifiers.type()
        lowering.count(2)
        lowering.emit(
            row_of(name, kind),
            dst=lowering.dst(lowering.operand(0), kind),
            a=lowering.src(lowering.operand(1), kind),
            mods=mods,
        )

    return lower


def div(lowering):
    form = lowering.modifiers.one_of(("approx", "full", "rn", "rz", "rm", "rp"))
    ftz = int(lowering.modifiers.flag("ftz"))
    kind = lowering.modifiers.type()
    names = {"approx": "FDIV.APPROX", "full": "FDIV.FULL"} if kind == "f32" else {}
    name = names.get(form) or pick({"f32": "FDIV", "f64": "DDIV"}, kind)
    rounding = {} if form in names else {"rnd": _rounding(form)}
    lowering.count(3)
    a, b = lowering.srcs(1, kind, 2)
    lowering.emit(name, dst=lowering.dst(lowering.operand(0), kind), a=a, b=b, mods=pack(ftz=ftz, **rounding))


def _rounding(form: str) -> str:
    if form not in ("rn", "rz", "rm", "rp"):
        raise NoVariant(f"rounding {form!r} of")
    return form


def _root(name: str):
    """rcp, sqrt, rsqrt: one special-function instruction when approximate, an iterative sequence when rounded."""

    def lower(lowering):
        form = lowering.modifiers.one_of(("approx", "rn", "rz", "rm", "rp"))
        ftz = int(lowering.modifiers.flag("ftz"))
        kind = lowering.modifiers.type()
        # a whole sequence, where .ftz is only its first instruction
        if (name, form, kind, ftz) == ("RSQRT", "approx", "f64", 0):
            row, mods = "DRSQRT", 0
        elif form == "approx":
            row, mods = f"MUFU.{name}" + pick({"f32": "", "f64": "64H"}, kind), pack(ftz=ftz)
        else:
            row, mods = pick({"f32": "F", "f64": "D"}, kind) + name, pack(ftz=ftz, rnd=_rounding(form))
        lowering.count(2)
        lowering.emit(
            row, dst=lowering.dst(lowering.operand(0), kind), a=lowering.src(lowering.operand(1), kind), mods=mods
        )

    return lower


def _approximation(name: str):
    """sin, cos, lg2, ex2, tanh. The 16-bit forms have no .approx of their own in some PTX versions."""

    def lower(lowering):
        approx = lowering.modifiers.flag("approx")
        ftz = int(lowering.modifiers.flag("ftz"))
        kind = lowering.modifiers.type()
        if not approx:
            raise NoVariant("form without .approx of")
        row = f"MUFU.{name}" + ("" if kind == "f32" else f".{kind.upper()}")
        lowering.count(2)
        lowering.emit(
            row,
            dst=lowering.dst(lowering.operand(0), kind),
            a=lowering.src(lowering.operand(1), kind),
            mods=pack(ftz=ftz),
        )

    return lower


TABLE = {
    "fma": fma, "rcp": _root("RCP"), "sqrt": _root("SQRT"), "rsqrt": _root("RSQRT"),
    "sin": _approximation("SIN"), "cos": _approximation("COS"), "ex2": _approximation("EX2"),
    "lg2": _approximation("LG2"),
    "tanh": _approximation("TANH"),
}  # fmt: skip
