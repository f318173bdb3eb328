"""Integer arithmetic of 16, 32 and 64 bits; floats are sent on to `lower_float`."""

from gpuprof.assemble import lower_float
from gpuprof.assemble.modifiers import Modifiers
from gpuprof.assemble.values import Imm, Not, NoVariant, pick, type_nbits
from gpuprof.isa.modifiers import pack

FLOATS = frozenset(["f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64"])
INTEGERS = frozenset(["u16", "s16", "u32", "s32", "u64", "s64"])
SUFFIX = {16: "", 32: "", 64: ".64"}


def is_float(modifiers: Modifiers) -> bool:
    return bool(modifiers.rest) and modifiers.rest[-1] in FLOATS


def integer_type(lo) -> str:
    kind = lo.modifiers.type()
    if kind not in INTEGERS:
        raise NoVariant(f"type .{kind} of")
    return kind


def file_of(nbits: int) -> str:
    return "D" if nbits == 64 else "R"


def extend(lo, value, kind: str):
    """A 16-bit value extended to 32 bits by its sign; wider ones as they are."""
    if kind != "s16":
        return value
    if isinstance(value, Imm):
        return Imm((value.bits ^ 0x8000) - 0x8000 & 0xFFFFFFFF)
    return lo.op("CVT.S32.S16", a=value)


def put(lo, dst: int | None, kind: str, name: str, **slots):
    """Emits into dst; results of 16-bit types lose their upper half."""
    if type_nbits(kind) == 16:
        lo.emit("AND", dst=dst, a=lo.op(name, **slots), b=Imm(0xFFFF))
    else:
        lo.emit(name, dst=dst, **slots)


def typed(name: str, kind: str) -> str:
    """Row name with sign and width: ("IMIN", "s16") -> "IMIN.S32"."""
    return f"{name}.{kind[0].upper()}{max(type_nbits(kind), 32)}"


def dst_of(lo, kind: str) -> int | None:
    return lo.dst(lo.operand(0), kind)


# -- add, sub, and their carries
# ---------------------------------------------------------------------------------------------


def _add_sub(name: str):
    def lower(lo):
        if is_float(lo.modifiers):
            return lower_float.add(lo, negate="b" if name == "SUB" else "")
        if lo.modifiers.flag("cc"):
            return _with_carry(lo, name, carry_in=False, carry_out=True)
        if lo.modifiers.flag("sat"):
            return _saturated(lo, name)
        if name == "ADD" and lo.modifiers.rest[-1:] in HALVES:
            return _halves(lo, "IADD.16X2")
        kind = integer_type(lo)
        lo.count(3)
        a, b = lo.srcs(1, kind, 2)
        return put(lo, dst_of(lo, kind), kind, f"I{name}{SUFFIX[type_nbits(kind)]}", a=a, b=b)

    return lower


def _saturated(lo, name: str):
    if lo.modifiers.type() != "s32":
        raise NoVariant("saturation of")
    lo.count(3)
    saturated_sum(lo, f"I{name}.64", *lo.srcs(1, "s32", 2))


def saturated_sum(lo, row: str, a, b):
    """Only .s32 can saturate: exact in 64 bits, then clamped."""
    a, b = (lo.op("CVT.S64.S32", a=lo.reg(v, "R")) for v in (a, b))
    lo.emit("CVT.S32.S64", dst=dst_of(lo, "s32"), a=lo.op(row, a=a, b=b), mods=pack(sat=1))


HALVES = (["u16x2"], ["s16x2"])


def _halves(lo, row: str, **mods):
    """Two 16-bit operations in one register."""
    lo.modifiers.type()
    lo.count(3)
    a, b = lo.srcs(1, "b32", 2)
    lo.emit(row, dst=lo.dst(lo.operand(0), "b32"), a=a, b=b, mods=pack(**mods))


def _carry_chain(name: str):
    return lambda lo: _with_carry(lo, name, carry_in=True, carry_out=lo.modifiers.flag("cc"))


def carry_register(lo) -> int:
    """The condition code register CC.CF. After a subtraction it says that there was no borrow: `sub.cc` and then `addc`
    shows it, which the
    128-bit division of nvcc rests on."""
    if lo.carry is None:
        lo.carry = lo.temp("P")
    return lo.carry


def _with_carry(lo, name: str, *, carry_in: bool, carry_out: bool):
    kind = integer_type(lo)
    a, b = lo.srcs(1, kind, 2)
    emit_carry(lo, name, kind, dst_of(lo, kind), a, b, carry_in, carry_out)


def emit_carry(lo, name: str, kind: str, dst, a, b, carry_in: bool, carry_out: bool):
    if type_nbits(kind) == 16:
        raise NoVariant("carry of")
    carry = carry_register(lo)
    row = f"I{name}C{SUFFIX[type_nbits(kind)]}"
    # Nothing comes in: to a sum no carry, the negation of the register that always reads true; to a difference no
    # borrow, which is true.
    nothing = Not(None) if name == "ADD" else None
    lo.emit(row, dst=dst, a=a, b=b, c=carry if carry_out else None, e=carry if carry_in else nothing)


# -- mul, mad --------------------------------------------------------------------------------------


def _mul(lo):
    if is_float(lo.modifiers):
        return lower_float.mul(lo)
    half = lo.modifiers.one_of(("lo", "hi", "wide"))
    kind = integer_type(lo)
    lo.count(3)
    a, b = (extend(lo, v, kind) for v in lo.srcs(1, kind, 2))
    return pick(_MUL, (half, min(type_nbits(kind), 32)))(lo, kind, a, b)


def _mul_lo(lo, kind, a, b):
    put(lo, dst_of(lo, kind), kind, "IMUL" + SUFFIX[type_nbits(kind)], a=a, b=b)


def _mul_hi(lo, kind, a, b):
    lo.emit(typed("IMULHI", kind), dst=dst_of(lo, kind), a=a, b=b)


def _mul_hi_16(lo, kind, a, b):
    product = lo.op("IMUL", a=a, b=b)
    lo.emit("SHR.U32", dst=dst_of(lo, kind), a=product, b=Imm(16))


def _mul_wide(lo, kind, a, b):
    if type_nbits(kind) == 64:
        raise NoVariant("64-bit .wide of")
    lo.emit(typed("IMUL.WIDE", kind), dst=lo.dst(lo.operand(0), "u64"), a=a, b=b)


def _mul_wide_16(lo, kind, a, b):
    lo.emit("IMUL", dst=lo.dst(lo.operand(0), "u32"), a=a, b=b)


_MUL = {
    ("lo", 16): _mul_lo,
    ("lo", 32): _mul_lo,
    ("hi", 16): _mul_hi_16,
    ("hi", 32): _mul_hi,
    ("wide", 16): _mul_wide_16,
    ("wide", 32): _mul_wide,
}


def _mad(lo):
    if is_float(lo.modifiers):
        return lower_float.fma(lo)
    half = lo.modifiers.one_of(("lo", "hi", "wide"))
    carry_out = lo.modifiers.flag("cc")
    sat = lo.modifiers.flag("sat")
    kind = integer_type(lo)
    lo.count(4)
    a, b = (extend(lo, v, kind) for v in lo.srcs(1, kind, 2))
    wide = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}.get(kind, "") if half == "wide" else kind
    c = lo.src(lo.operand(3), wide or "u64")
    if carry_out:
        return _mad_carry(lo, half, kind, a, b, c, carry_in=False, carry_out=True)
    if sat:
        if (half, kind) != ("hi", "s32"):
            raise NoVariant("saturation of")
        return saturated_sum(lo, "IADD.64", lo.op("IMULHI.S32", a=a, b=b), c)
    if (half, type_nbits(kind)) == ("hi", 16):
        upper = lo.op("SHR.U32", a=lo.op("IMUL", a=a, b=b), b=Imm(16))
        return put(lo, lo.dst(lo.operand(0), kind), kind, "IADD", a=upper, b=c)
    row = pick(_MAD, (half, min(type_nbits(kind), 32)))
    return put(lo, lo.dst(lo.operand(0), wide or "u64"), wide if half == "wide" else kind, row(kind), a=a, b=b, c=c)


_MAD = {
    ("lo", 16): lambda kind: "IMAD",
    ("lo", 32): lambda kind: "IMAD" + SUFFIX[type_nbits(kind)],
    ("hi", 32): lambda kind: typed("IMADHI", kind),
    ("wide", 16): lambda kind: "IMAD",
    ("wide", 32): lambda kind: typed("IMAD.WIDE", kind),
}


def _madc(lo):
    half = lo.modifiers.one_of(("lo", "hi"))
    carry_out = lo.modifiers.flag("cc")
    kind = integer_type(lo)
    a, b, c = lo.srcs(1, kind, 3)
    _mad_carry(lo, half, kind, a, b, c, carry_in=True, carry_out=carry_out)


def _mad_carry(lo, half, kind, a, b, c, *, carry_in, carry_out):
    row = "IMUL" + SUFFIX[type_nbits(kind)] if half == "lo" else typed("IMULHI", kind)
    product = lo.op(row, a=a, b=b)
    emit_carry(lo, "ADD", kind, dst_of(lo, kind), product, c, carry_in, carry_out)


def _mul24(lo):
    """The product of 24-bit factors, 48 bits: its lower or its upper 32. Shifted up by 8 each, its bits 16 to 47 are a
    product's upper word.
    """
    half = lo.modifiers.one_of(("lo", "hi"))
    sat = lo.modifiers.flag("sat")
    kind = lo.modifiers.type()
    if kind not in ("u32", "s32") or not half or (sat and (half, kind) != ("hi", "s32")):
        raise NoVariant("form of")
    addends = lo.inst.opcode == "mad24"
    lo.count(4 if addends else 3)
    product = _product_24(lo, half, kind, *lo.srcs(1, kind, 2))
    if sat:
        return saturated_sum(lo, "IADD.64", product, lo.src(lo.operand(3), kind))
    if addends:
        return lo.emit("IADD", dst=dst_of(lo, kind), a=product, b=lo.src(lo.operand(3), kind))
    return lo.copy(dst_of(lo, kind), product)


def _product_24(lo, half: str, kind: str, a, b) -> int:
    a, b = (lo.op("SHL", a=lo.reg(value, "R"), b=Imm(8)) for value in (a, b))
    if half == "hi":
        return lo.op(typed("IMULHI", kind), a=a, b=b)
    return lo.op("IMUL", a=lo.op(typed("SHR", kind), a=a, b=Imm(8)), b=lo.op(typed("SHR", kind), a=b, b=Imm(8)))


# -- division, minimum, maximum, sign
# ----------------------------------------------------------------------------------------


def _typed_binary(name: str, float_form=None):
    def lower(lo):
        if float_form and is_float(lo.modifiers):
            return float_form(lo)
        kind = integer_type(lo)
        lo.count(3)
        a, b = (extend(lo, v, kind) for v in lo.srcs(1, kind, 2))
        # one of two zero-extended values; a division by zero gives all ones
        if kind == "u16" and name in ("IMIN", "IMAX"):
            return lo.emit(typed(name, kind), dst=dst_of(lo, kind), a=a, b=b)
        return put(lo, dst_of(lo, kind), kind, typed(name, kind), a=a, b=b)

    return lower


def _unary(name: str, float_form):
    def lower(lo):
        if is_float(lo.modifiers):
            return float_form(lo)
        kind = integer_type(lo)
        lo.count(2)
        a = extend(lo, lo.src(lo.operand(1), kind), kind)
        return put(lo, dst_of(lo, kind), kind, name + SUFFIX[type_nbits(kind)], a=a)

    return lower


def _sad(lo):
    kind = integer_type(lo)
    lo.count(4)
    a, b = (extend(lo, v, kind) for v in lo.srcs(1, kind, 2))
    c = lo.src(lo.operand(3), kind)
    if type_nbits(kind) < 64:
        return put(lo, dst_of(lo, kind), kind, typed("SAD", kind), a=a, b=b, c=c)
    difference = lo.op("ISUB.64", a=lo.op(typed("IMAX", kind), a=a, b=b), b=lo.op(typed("IMIN", kind), a=a, b=b))
    return lo.emit("IADD.64", dst=dst_of(lo, kind), a=difference, b=c)


def _extremum(name: str):
    """min, max of integers: also of two halves, and with a floor of zero."""
    plain = _typed_binary(name, lower_float.minmax(name[1:]))

    def lower(lo):
        if is_float(lo.modifiers):
            return plain(lo)
        relu = lo.modifiers.flag("relu")
        if lo.modifiers.rest[-1:] in HALVES:
            if relu and lo.modifiers.rest[-1] != "s16x2":
                raise NoVariant(".relu of")
            return _halves(lo, f"{name}.{lo.modifiers.rest[-1]}".upper(), **({"relu": 1} if relu else {}))
        if not relu:
            return plain(lo)
        if integer_type(lo) != "s32":
            raise NoVariant(".relu of")
        lo.count(3)
        a, b = lo.srcs(1, "s32", 2)
        return lo.emit("IMAX.S32", dst=dst_of(lo, "s32"), a=lo.op(f"{name}.S32", a=a, b=b), b=Imm(0))

    return lower


def _dot_product(name: str):
    def lower(lo):
        half = "." + lo.modifiers.one_of(("lo", "hi")).upper() if name == "DP2A" else ""
        b_kind = lo.modifiers.type()
        a_kind = lo.modifiers.type()
        a, b, c = lo.srcs(1, "b32", 3)
        lo.emit(f"{name}{half}.{a_kind[0]}.{b_kind[0]}".upper(), dst=dst_of(lo, "b32"), a=a, b=b, c=c)

    return lower


TABLE = {
    "add": _add_sub("ADD"), "sub": _add_sub("SUB"), "addc": _carry_chain("ADD"), "subc": _carry_chain("SUB"),
    "mul": _mul, "mad": _mad, "madc": _madc, "sad": _sad, "dp4a": _dot_product("DP4A"), "dp2a": _dot_product("DP2A"),
    "div": _typed_binary("IDIV", lower_float.div), "rem": _typed_binary("IREM"),
    "min": _extremum("IMIN"), "max": _extremum("IMAX"), "mul24": _mul24, "mad24": _mul24,
    "neg": _unary("INEG", lower_float.unary("NEG")), "abs": _unary("IABS", lower_float.unary("ABS")),
}  # fmt: skip
