"""Floating-point arithmetic of all widths, and the approximations of the special function unit."""

from gpuprof.assemble.values import NoVariant, pick
from gpuprof.isa.modifiers import pack

LETTER = {"f16": "H", "f16x2": "H", "bf16": "B", "bf16x2": "B", "f32": "F", "f32x2": "F", "f64": "D"}
BITS = {"f32x2": "b64"}  # types without registers of their own


def row_of(name: str, kind: str) -> str:
    """("ADD", "f16x2") -> "HADD2"."""
    return pick(LETTER, kind) + name + ("2" if kind.endswith("x2") else "")


ROUNDINGS = frozenset(["rn", "rz", "rm", "rp"])


def _arithmetic(lo, name: str, n: int, neg: str = "", **extra):
    contracts = name != "FMA" and ROUNDINGS.isdisjoint(lo.modifiers.rest)
    mods = lo.modifiers.float_mods() | extra
    kind = lo.modifiers.type()
    if lo.modifiers.rest[-1:] == ["f32"] and kind in ("f16", "bf16"):
        return _mixed(lo, name, n, neg, kind, mods)
    row = row_of(name, kind)
    if mods["sat"] and kind not in ("f32", "f16", "f16x2"):
        raise NoVariant("saturation of")
    lo.count(n + 1)
    kind = BITS.get(kind, kind)
    sources = dict(zip("abc", lo.srcs(1, kind, n), strict=False))
    return lo.emit(row, dst=lo.dst(lo.operand(0), kind), neg=neg, mods=pack(**mods), contracts=contracts, **sources)


def _mixed(lo, name: str, n: int, neg: str, kind: str, mods: dict):
    """add, sub, fma of f32 with half-precision sources: these are exact in f32; the last source is f32 already."""
    if name == "MUL" or mods["ftz"]:
        raise NoVariant("mixed form of")
    lo.modifiers.type()
    lo.count(n + 1)
    narrow = [lo.op(f"CVT.F32.{kind}".upper(), a=lo.reg(value, "R")) for value in lo.srcs(1, kind, n - 1)]
    sources = dict(zip("abc", [*narrow, lo.src(lo.operand(n), "f32")], strict=False))
    return lo.emit(f"F{name}", dst=lo.dst(lo.operand(0), "f32"), neg=neg, mods=pack(**mods), **sources)


def add(lo, negate: str = ""):
    _arithmetic(lo, "ADD", 2, negate)


def mul(lo):
    _arithmetic(lo, "MUL", 2)


def fma(lo):
    relu = {"nan": 1} if lo.modifiers.flag("relu") else {}
    if relu and lo.modifiers.rest[-1] not in ("f16", "f16x2", "bf16", "bf16x2"):
        raise NoVariant(".relu of")
    _arithmetic(lo, "FMA", 3, **relu)


def minmax(name: str):
    def lower(lo):
        fields = {
            field: int(lo.modifiers.flag(word))
            for field, word in (("ftz", "ftz"), ("nan", "NaN"), ("xorsign", "xorsign"), ("abs", "abs"))
        }
        kind = lo.modifiers.type()
        n = lo.count(3, 4) - 1
        if (
            kind == "f32x2"
            or (n == 3 and (kind != "f32" or fields["xorsign"]))
            or (n == 2 and fields["xorsign"] != fields["abs"])
        ):
            raise NoVariant("form of")
        if kind == "f64" and any(fields.values()):
            raise NoVariant("modifiers of")
        sources = dict(zip("abc", lo.srcs(1, kind, n), strict=False))
        lo.emit(
            row_of(name, kind) + ("3" if n == 3 else ""),
            dst=lo.dst(lo.operand(0), kind),
            mods=pack(**fields),
            **sources,
        )

    return lower


def unary(name: str):
    def lower(lo):
        mods = pack(ftz=int(lo.modifiers.flag("ftz")))
        kind = lo.modifiers.type()
        lo.count(2)
        lo.emit(row_of(name, kind), dst=lo.dst(lo.operand(0), kind), a=lo.src(lo.operand(1), kind), mods=mods)

    return lower


def div(lo):
    form = lo.modifiers.one_of(("approx", "full", "rn", "rz", "rm", "rp"))
    ftz = int(lo.modifiers.flag("ftz"))
    kind = lo.modifiers.type()
    names = {"approx": "FDIV.APPROX", "full": "FDIV.FULL"} if kind == "f32" else {}
    name = names.get(form) or pick({"f32": "FDIV", "f64": "DDIV"}, kind)
    rounding = {} if form in names else {"rnd": _rounding(form)}
    lo.count(3)
    a, b = lo.srcs(1, kind, 2)
    lo.emit(name, dst=lo.dst(lo.operand(0), kind), a=a, b=b, mods=pack(ftz=ftz, **rounding))


def _rounding(form: str) -> str:
    if form not in ("rn", "rz", "rm", "rp"):
        raise NoVariant(f"rounding {form!r} of")
    return form


def _root(name: str):
    """rcp, sqrt, rsqrt: one special-function instruction when approximate, an iterative sequence when rounded."""

    def lower(lo):
        form = lo.modifiers.one_of(("approx", "rn", "rz", "rm", "rp"))
        ftz = int(lo.modifiers.flag("ftz"))
        kind = lo.modifiers.type()
        # a whole sequence, where .ftz is its first instruction alone
        if (name, form, kind, ftz) == ("RSQRT", "approx", "f64", 0):
            row, mods = "DRSQRT", 0
        elif form == "approx":
            row, mods = f"MUFU.{name}" + pick({"f32": "", "f64": "64H"}, kind), pack(ftz=ftz)
        else:
            row, mods = pick({"f32": "F", "f64": "D"}, kind) + name, pack(ftz=ftz, rnd=_rounding(form))
        lo.count(2)
        lo.emit(row, dst=lo.dst(lo.operand(0), kind), a=lo.src(lo.operand(1), kind), mods=mods)

    return lower


def _approximation(name: str):
    """sin, cos, lg2, ex2, tanh. The 16-bit forms have no .approx of their own in some PTX versions."""

    def lower(lo):
        approx = lo.modifiers.flag("approx")
        ftz = int(lo.modifiers.flag("ftz"))
        kind = lo.modifiers.type()
        if not approx:
            raise NoVariant("form without .approx of")
        row = f"MUFU.{name}" + ("" if kind == "f32" else f".{kind.upper()}")
        lo.count(2)
        lo.emit(row, dst=lo.dst(lo.operand(0), kind), a=lo.src(lo.operand(1), kind), mods=pack(ftz=ftz))

    return lower


TABLE = {
    "fma": fma, "rcp": _root("RCP"), "sqrt": _root("SQRT"), "rsqrt": _root("RSQRT"),
    "sin": _approximation("SIN"), "cos": _approximation("COS"), "ex2": _approximation("EX2"),
    "lg2": _approximation("LG2"),
    "tanh": _approximation("TANH"),
}  # fmt: skip
