"""Integer arithmetic of 16, 32 and 64 bits; floats are sent on to `lower_float`."""

from gpuprof.assemble.ir.values import Imm, Not, NoVariant, pick, type_nbits
from gpuprof.assemble.lower.arithmetic import floats
from gpuprof.assemble.lower.modifiers import Modifiers
from gpuprof.isa.modifiers import pack

FLOATS = frozenset(["f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64"])
INTEGERS = frozenset(["u16", "s16", "u32", "s32", "u64", "s64"])
SUFFIX = {16: "", 32: "", 64: ".64"}


def is_float(modifiers: Modifiers) -> bool:
    return bool(modifiers.rest) and modifiers.rest[-1] in FLOATS


def integer_type(lowering) -> str:
    kind = lowering.modifiers.type()
    if kind not in INTEGERS:
        raise NoVariant(f"type .{kind} of")
    return kind


def file_of(nbits: int) -> str:
    return "D" if nbits == 64 else "R"


def extend(lowering, value, kind: str):
    """A 16-bit value extended to 32 bits by its sign; wider ones as they are."""
    if kind != "s16":
        return value
    if isinstance(value, Imm):
        return Imm((value.bits ^ 0x8000) - 0x8000 & 0xFFFFFFFF)
    return lowering.op("CVT.S32.S16", a=value)


def put(lowering, dst: int | None, kind: str, name: str, **slots):
    """Emits into dst; results of 16-bit types lose their upper half."""
    if type_nbits(kind) == 16:
        lowering.emit("AND", dst=dst, a=lowering.op(name, **slots), b=Imm(0xFFFF))
    else:
        lowering.emit(name, dst=dst, **slots)


def typed(name: str, kind: str) -> str:
    """Row name with sign and width: ("IMIN", "s16") -> "IMIN.S32"."""
    return f"{name}.{kind[0].upper()}{max(type_nbits(kind), 32)}"


def dst_of(lowering, kind: str) -> int | None:
    return lowering.dst(lowering.operand(0), kind)


# -- add, sub, and their carries
# ---------------------------------------------------------------------------------------------


def _add_sub(name: str):
    def lower(lowering):
        if is_float(lowering.modifiers):
            return floats.add(lowering, negate="b" if name == "SUB" else "")
        if lowering.modifiers.flag("cc"):
            return _with_carry(lowering, name, carry_in=False, carry_out=True)
        if lowering.modifiers.flag("sat"):
            return _saturated(lowering, name)
        if name == "ADD" and lowering.modifiers.rest[-1:] in HALVES:
            return _halves(lowering, "IADD.16X2")
        kind = integer_type(lowering)
        lowering.count(3)
        a, b = lowering.srcs(1, kind, 2)
        return put(lowering, dst_of(lowering, kind), kind, f"I{name}{SUFFIX[type_nbits(kind)]}", a=a, b=b)

    return lower


def _saturated(lowering, name: str):
    if lowering.modifiers.type() != "s32":
        raise NoVariant("saturation of")
    lowering.count(3)
    saturated_sum(lowering, f"I{name}.64", *lowering.srcs(1, "s32", 2))


def saturated_sum(lowering, row: str, a, b):
    """Only .s32 can saturate: exact in 64 bits, then clamped."""
    a, b = (lowering.op("CVT.S64.S32", a=lowering.reg(v, "R")) for v in (a, b))
    lowering.emit("CVT.S32.S64", dst=dst_of(lowering, "s32"), a=lowering.op(row, a=a, b=b), mods=pack(sat=1))


HALVES = (["u16x2"], ["s16x2"])


def _halves(lowering, row: str, **mods):
    """Two 16-bit operations in one register."""
    lowering.modifiers.type()
    lowering.count(3)
    a, b = lowering.srcs(1, "b32", 2)
    lowering.emit(row, dst=lowering.dst(lowering.operand(0), "b32"), a=a, b=b, mods=pack(**mods))


def _carry_chain(name: str):
    return lambda lowering: _with_carry(lowering, name, carry_in=True, carry_out=lowering.modifiers.flag("cc"))


def carry_register(lowering) -> int:
    """The condition code register CC.CF. After a subtraction it says that there was no borrow: `sub.cc` and then `addc`
    shows it, which the
    128-bit division of nvcc rests on."""
    if lowering.carry is None:
        lowering.carry = lowering.temp("P")
    return lowering.carry


def _with_carry(lowering, name: str, *, carry_in: bool, carry_out: bool):
    kind = integer_type(lowering)
    a, b = lowering.srcs(1, kind, 2)
    emit_carry(lowering, name, kind, dst_of(lowering, kind), a, b, carry_in, carry_out)


def emit_carry(lowering, name: str, kind: str, dst, a, b, carry_in: bool, carry_out: bool):
    if type_nbits(kind) == 16:
        raise NoVariant("carry of")
    carry = carry_register(lowering)
    row = f"I{name}C{SUFFIX[type_nbits(kind)]}"
    # Nothing comes in: to a sum no carry, the negation of the register that always reads true; to a difference no
    # borrow, which is true.
    nothing = Not(None) if name == "ADD" else None
    lowering.emit(row, dst=dst, a=a, b=b, c=carry if carry_out else None, e=carry if carry_in else nothing)


# -- mul, mad --------------------------------------------------------------------------------------


def _mul(lowering):
    if is_float(lowering.modifiers):
        return floats.mul(lowering)
    half = lowering.modifiers.one_of(("lo", "hi", "wide"))
    kind = integer_type(lowering)
    lowering.count(3)
    a, b = (extend(lowering, v, kind) for v in lowering.srcs(1, kind, 2))
    return pick(_MUL, (half, min(type_nbits(kind), 32)))(lowering, kind, a, b)


def _mul_lo(lowering, kind, a, b):
    put(lowering, dst_of(lowering, kind), kind, "IMUL" + SUFFIX[type_nbits(kind)], a=a, b=b)


def _mul_hi(lowering, kind, a, b):
    lowering.emit(typed("IMULHI", kind), dst=dst_of(lowering, kind), a=a, b=b)


def _mul_hi_16(lowering, kind, a, b):
    product = lowering.op("IMUL", a=a, b=b)
    lowering.emit("SHR.U32", dst=dst_of(lowering, kind), a=product, b=Imm(16))


def _mul_wide(lowering, kind, a, b):
    if type_nbits(kind) == 64:
        raise NoVariant("64-bit .wide of")
    lowering.emit(typed("IMUL.WIDE", kind), dst=lowering.dst(lowering.operand(0), "u64"), a=a, b=b)


def _mul_wide_16(lowering, kind, a, b):
    lowering.emit("IMUL", dst=lowering.dst(lowering.operand(0), "u32"), a=a, b=b)


_MUL = {
    ("lo", 16): _mul_lo,
    ("lo", 32): _mul_lo,
    ("hi", 16): _mul_hi_16,
    ("hi", 32): _mul_hi,
    ("wide", 16): _mul_wide_16,
    ("wide", 32): _mul_wide,
}


def _mad(lowering):
    if is_float(lowering.modifiers):
        return floats.fma(lowering)
    half = lowering.modifiers.one_of(("lo", "hi", "wide"))
    carry_out = lowering.modifiers.flag("cc")
    sat = lowering.modifiers.flag("sat")
    kind = integer_type(lowering)
    lowering.count(4)
    a, b = (extend(lowering, v, kind) for v in lowering.srcs(1, kind, 2))
    wide = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}.get(kind, "") if half == "wide" else kind
    c = lowering.src(lowering.operand(3), wide or "u64")
    if carry_out:
        return _mad_carry(lowering, half, kind, a, b, c, carry_in=False, carry_out=True)
    if sat:
        if (half, kind) != ("hi", "s32"):
            raise NoVariant("saturation of")
        return saturated_sum(lowering, "IADD.64", lowering.op("IMULHI.S32", a=a, b=b), c)
    if (half, type_nbits(kind)) == ("hi", 16):
        upper = lowering.op("SHR.U32", a=lowering.op("IMUL", a=a, b=b), b=Imm(16))
        return put(lowering, lowering.dst(lowering.operand(0), kind), kind, "IADD", a=upper, b=c)
    row = pick(_MAD, (half, min(type_nbits(kind), 32)))
    return put(
        lowering,
        lowering.dst(lowering.operand(0), wide or "u64"),
        wide if half == "wide" else kind,
        row(kind),
        a=a,
        b=b,
        c=c,
    )


_MAD = {
    ("lo", 16): lambda kind: "IMAD",
    ("lo", 32): lambda kind: "IMAD" + SUFFIX[type_nbits(kind)],
    ("hi", 32): lambda kind: typed("IMADHI", kind),
    ("wide", 16): lambda kind: "IMAD",
    ("wide", 32): lambda kind: typed("IMAD.WIDE", kind),
}


def _madc(lowering):
    half = lowering.modifiers.one_of(("lo", "hi"))
    carry_out = lowering.modifiers.flag("cc")
    kind = integer_type(lowering)
    a, b, c = lowering.srcs(1, kind, 3)
    _mad_carry(lowering, half, kind, a, b, c, carry_in=True, carry_out=carry_out)


def _mad_carry(lowering, half, kind, a, b, c, *, carry_in, carry_out):
    row = "IMUL" + SUFFIX[type_nbits(kind)] if half == "lo" else typed("IMULHI", kind)
    product = lowering.op(row, a=a, b=b)
    emit_carry(lowering, "ADD", kind, dst_of(lowering, kind), product, c, carry_in, carry_out)


def _mul24(lowering):
    """The product of 24-bit factors, 48 bits: its lower or its upper 32. Shifted up by 8 each, its bits 16 to 47 are a
    product's upper word.
    """
    half = lowering.modifiers.one_of(("lo", "hi"))
    sat = lowering.modifiers.flag("sat")
    kind = lowering.modifiers.type()
    if kind not in ("u32", "s32") or not half or (sat and (half, kind) != ("hi", "s32")):
        raise NoVariant("form of")
    addends = lowering.inst.opcode == "mad24"
    lowering.count(4 if addends else 3)
    product = _product_24(lowering, half, kind, *lowering.srcs(1, kind, 2))
    if sat:
        return saturated_sum(lowering, "IADD.64", product, lowering.src(lowering.operand(3), kind))
    if addends:
        return lowering.emit("IADD", dst=dst_of(lowering, kind), a=product, b=lowering.src(lowering.operand(3), kind))
    return lowering.copy(dst_of(lowering, kind), product)


def _product_24(lowering, half: str, kind: str, a, b) -> int:
    a, b = (lowering.op("SHL", a=lowering.reg(value, "R"), b=Imm(8)) for value in (a, b))
    if half == "hi":
        return lowering.op(typed("IMULHI", kind), a=a, b=b)
    return lowering.op(
        "IMUL", a=lowering.op(typed("SHR", kind), a=a, b=Imm(8)), b=lowering.op(typed("SHR", kind), a=b, b=Imm(8))
    )


# -- division, minimum, maximum, sign
# ----------------------------------------------------------------------------------------


def _typed_binary(name: str, float_form=None):
    def lower(lowering):
        if float_form and is_float(lowering.modifiers):
            return float_form(lowering)
        kind = integer_type(lowering)
        lowering.count(3)
        a, b = (extend(lowering, v, kind) for v in lowering.srcs(1, kind, 2))
        # one of two zero-extended values; a division by zero gives all ones
        if kind == "u16" and name in ("IMIN", "IMAX"):
            return lowering.emit(typed(name, kind), dst=dst_of(lowering, kind), a=a, b=b)
        return put(lowering, dst_of(lowering, kind), kind, typed(name, kind), a=a, b=b)

    return lower


def _unary(name: str, float_form):
    def lower(lowering):
        if is_float(lowering.modifiers):
            return float_form(lowering)
        kind = integer_type(lowering)
        lowering.count(2)
        a = extend(lowering, lowering.src(lowering.operand(1), kind), kind)
        return put(lowering, dst_of(lowering, kind), kind, name + SUFFIX[type_nbits(kind)], a=a)

    return lower


def _sad(lowering):
    kind = integer_type(lowering)
    lowering.count(4)
    a, b = (extend(lowering, v, kind) for v in lowering.srcs(1, kind, 2))
    c = lowering.src(lowering.operand(3), kind)
    if type_nbits(kind) < 64:
        return put(lowering, dst_of(lowering, kind), kind, typed("SAD", kind), a=a, b=b, c=c)
    difference = lowering.op(
        "ISUB.64", a=lowering.op(typed("IMAX", kind), a=a, b=b), b=lowering.op(typed("IMIN", kind), a=a, b=b)
    )
    return lowering.emit("IADD.64", dst=dst_of(lowering, kind), a=difference, b=c)


def _extremum(name: str):
    """min, max of integers: also of two halves, and with a floor of zero."""
    plain = _typed_binary(name, floats.minmax(name[1:]))

    def lower(lowering):
        if is_float(lowering.modifiers):
            return plain(lowering)
        relu = lowering.modifiers.flag("relu")
        if lowering.modifiers.rest[-1:] in HALVES:
            if relu and lowering.modifiers.rest[-1] != "s16x2":
                raise NoVariant(".relu of")
            return _halves(lowering, f"{name}.{lowering.modifiers.rest[-1]}".upper(), **({"relu": 1} if relu else {}))
        if not relu:
            return plain(lowering)
        if integer_type(lowering) != "s32":
            raise NoVariant(".relu of")
        lowering.count(3)
        a, b = lowering.srcs(1, "s32", 2)
        return lowering.emit("IMAX.S32", dst=dst_of(lowering, "s32"), a=lowering.op(f"{name}.S32", a=a, b=b), b=Imm(0))

    return lower


def _dot_product(name: str):
    def lower(lowering):
        half = "." + lowering.modifiers.one_of(("lo", "hi")).upper() if name == "DP2A" else ""
        b_kind = lowering.modifiers.type()
        a_kind = lowering.modifiers.type()
        a, b, c = lowering.srcs(1, "b32", 3)
        lowering.emit(f"{name}{half}.{a_kind[0]}.{b_kind[0]}".upper(), dst=dst_of(lowering, "b32"), a=a, b=b, c=c)

    return lower


TABLE = {
    "add": _add_sub("ADD"), "sub": _add_sub("SUB"), "addc": _carry_chain("ADD"), "subc": _carry_chain("SUB"),
    "mul": _mul, "mad": _mad, "madc": _madc, "sad": _sad, "dp4a": _dot_product("DP4A"), "dp2a": _dot_product("DP2A"),
    "div": _typed_binary("IDIV", floats.div), "rem": _typed_binary("IREM"),
    "min": _extremum("IMIN"), "max": _extremum("IMAX"), "mul24": _mul24, "mad24": _mul24,
    "neg": _unary("INEG", floats.unary("NEG")), "abs": _unary("IABS", floats.unary("ABS")),
}  # fmt: skip
