"""Logic, shifts and bit fields."""

from gpuprof.assemble.ir.values import Imm, Not, NoVariant, pick, type_nbits
from gpuprof.assemble.lower.arithmetic.integer import SUFFIX, extend, typed
from gpuprof.assemble.ptx import ast
from gpuprof.isa.modifiers import pack

BITS = {"b16": 16, "b32": 32, "b64": 64}


def _logic(name: str):
    def lower(lowering):
        kind = lowering.modifiers.type()
        lowering.count(3)
        a, b = lowering.srcs(1, kind, 2)
        row = f"P{name}" if kind == "pred" else name + SUFFIX[pick(BITS, kind)]
        lowering.emit(row, dst=lowering.dst(lowering.operand(0), kind), a=a, b=b)

    return lower


def _not(lowering):
    kind = lowering.modifiers.type()
    lowering.count(2)
    a = lowering.src(lowering.operand(1), kind)
    dst = lowering.dst(lowering.operand(0), kind)
    if kind == "pred":
        lowering.emit("PMOV", dst=dst, a=a.register if isinstance(a, Not) else Not(a))
    elif kind == "b16":
        lowering.emit("XOR", dst=dst, a=a, b=Imm(0xFFFF))
    else:
        lowering.emit("NOT" + SUFFIX[pick(BITS, kind)], dst=dst, a=a)


def _cnot(lowering):
    kind = lowering.modifiers.type()
    lowering.emit(
        "CNOT" + SUFFIX[pick(BITS, kind)],
        dst=lowering.dst(lowering.operand(0), kind),
        a=lowering.src(lowering.operand(1), kind),
    )


def _shl(lowering):
    kind = lowering.modifiers.type()
    nbits = pick(BITS, kind)
    lowering.count(3)
    a, amount = lowering.src(lowering.operand(1), kind), lowering.src(lowering.operand(2), "u32")
    dst = lowering.dst(lowering.operand(0), kind)
    if nbits == 16:
        lowering.emit("AND", dst=dst, a=lowering.op("SHL", a=a, b=amount), b=Imm(0xFFFF))
    else:
        lowering.emit("SHL" + SUFFIX[nbits], dst=dst, a=a, b=amount)


def _shr(lowering):
    kind = lowering.modifiers.type()
    kind = {"b": "u"}.get(kind[0], kind[0]) + kind[1:]
    nbits = type_nbits(kind)
    if nbits < 16:
        raise NoVariant(f"type .{kind} of")
    lowering.count(3)
    a, amount = (
        extend(lowering, lowering.src(lowering.operand(1), kind), kind),
        lowering.src(lowering.operand(2), "u32"),
    )
    dst = lowering.dst(lowering.operand(0), kind)
    if kind == "s16":
        lowering.emit("AND", dst=dst, a=lowering.op("SHR.S32", a=a, b=amount), b=Imm(0xFFFF))
    else:
        lowering.emit(typed("SHR", kind), dst=dst, a=a, b=amount)


def _funnel(lowering):
    side = lowering.modifiers.one_of(("l", "r"))
    wrap = lowering.modifiers.one_of(("wrap", "clamp"))
    kind = lowering.modifiers.type()
    if kind != "b32" or not side or not wrap:
        raise NoVariant("form of")
    lowering.count(4)
    a, b, c = lowering.srcs(1, "b32", 3)
    lowering.emit(
        f"SHF.{side.upper()}", dst=lowering.dst(lowering.operand(0), "b32"), a=a, b=b, c=c, mods=pack(wrap=wrap)
    )


def _lop3(lowering):
    boolean = lowering.modifiers.one_of(("or", "and"))
    kind = lowering.modifiers.type()
    if kind != "b32":
        raise NoVariant(f"type .{kind} of")
    lowering.count(6 if boolean else 5)
    a, b, c = lowering.srcs(1, "b32", 3)
    lut = lowering.src(lowering.operand(4), "u32")
    if not isinstance(lut, Imm):
        raise lowering.error("the look-up table must be a constant")
    mods = pack(lut=lut.bits & 0xFF)
    if not boolean:
        return lowering.emit("LOP3", dst=lowering.dst(lowering.operand(0), "b32"), a=a, b=b, c=c, mods=mods)
    target, third = lowering.operand(0), lowering.src(lowering.operand(5), "pred")
    if not isinstance(target, ast.Pair):
        raise lowering.error("a Boolean operation needs two destinations, d|p")
    result = lowering.op("LOP3", a=a, b=b, c=c, mods=mods)
    lowering.emit(
        "ISETP.U32", dst=lowering.dst(target.second, "pred"), a=result, e=third, mods=pack(cmp="ne", bool=boolean)
    )
    return lowering.copy(lowering.dst(target.first, "b32"), result)


def _prmt(lowering):
    mode = lowering.modifiers.one_of(("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"))
    kind = lowering.modifiers.type()
    if kind != "b32":
        raise NoVariant(f"type .{kind} of")
    lowering.count(4)
    a, b, c = lowering.srcs(1, "b32", 3)
    lowering.emit("PRMT", dst=lowering.dst(lowering.operand(0), "b32"), a=a, b=b, c=c, mods=pack(prmt=mode))


def _bfe(lowering):
    kind = lowering.modifiers.type()
    nbits = type_nbits(kind)
    if nbits not in (32, 64) or kind[0] == "b":
        raise NoVariant(f"type .{kind} of")
    lowering.count(4)
    a, position, length = lowering.src(lowering.operand(1), kind), *lowering.srcs(2, "u32", 2)
    dst = lowering.dst(lowering.operand(0), kind)
    if isinstance(position, Imm) and isinstance(length, Imm):
        constant_field(lowering, dst, kind, a, position.bits & 0xFF, length.bits & 0xFF)
    else:
        lowering.emit(typed("BFE", kind), dst=dst, a=a, b=position, c=length)


def constant_field(lowering, dst: int | None, kind: str, a, position: int, length: int):
    """A bit field at a constant place: two shifts, or a shift and a mask. Bits beyond the register read as the sign, or
    zero.
    """
    nbits = type_nbits(kind)
    suffix = SUFFIX[nbits]
    file = "D" if nbits == 64 else "R"
    if length == 0:
        return lowering.copy(dst, Imm(0))
    if kind[0] == "u" and length < min(nbits, 32):
        if position == 0:
            return lowering.emit("AND" + suffix, dst=dst, a=a, b=Imm((1 << length) - 1))
        shifted = lowering.op(typed("SHR", kind), a=a, b=Imm(position))
        return lowering.emit("AND" + suffix, dst=dst, a=shifted, b=Imm((1 << length) - 1))
    if position + length >= nbits:
        return lowering.emit(
            typed("SHR", kind), dst=dst, a=a, b=Imm(min(position, nbits if kind[0] == "u" else nbits - 1))
        )
    left = lowering.op("SHL" + suffix, a=lowering.reg(a, file), b=Imm(nbits - position - length))
    return lowering.emit(typed("SHR", kind), dst=dst, a=left, b=Imm(nbits - length))


def _bfi(lowering):
    """The row takes position and length in one operand: position | length << 8."""
    kind = lowering.modifiers.type()
    suffix = SUFFIX[pick({"b32": 32, "b64": 64}, kind)]
    lowering.count(5)
    a, b = lowering.srcs(1, kind, 2)
    position, length = lowering.srcs(3, "u32", 2)
    dst = lowering.dst(lowering.operand(0), kind)
    if isinstance(position, Imm) and isinstance(length, Imm):
        field = Imm(position.bits & 0xFF | (length.bits & 0xFF) << 8)
    else:
        low = _byte(lowering, position)
        field = lowering.op("BFI", a=lowering.reg(length, "R"), b=low, c=Imm(8 | 8 << 8))
    if field == Imm(0):  # a zero source would be read as an absent operand: inserting nothing is a copy
        return lowering.copy(dst, b)
    return lowering.emit(
        "BFI" + suffix,
        dst=dst,
        a=lowering.reg(a, "D" if suffix else "R"),
        b=lowering.reg(b, "D" if suffix else "R"),
        c=field,
    )


def _byte(lowering, value):
    return Imm(value.bits & 0xFF) if isinstance(value, Imm) else lowering.op("AND", a=value, b=Imm(0xFF))


def _count(name: str):
    """popc, clz: the count is 32 bits wide for both widths."""

    def lower(lowering):
        kind = lowering.modifiers.type()
        suffix = SUFFIX[pick({"b32": 32, "b64": 64}, kind)]
        lowering.count(2)
        lowering.emit(
            name + suffix, dst=lowering.dst(lowering.operand(0), "u32"), a=lowering.src(lowering.operand(1), kind)
        )

    return lower


def _brev(lowering):
    kind = lowering.modifiers.type()
    suffix = SUFFIX[pick({"b32": 32, "b64": 64}, kind)]
    lowering.emit(
        "BREV" + suffix, dst=lowering.dst(lowering.operand(0), kind), a=lowering.src(lowering.operand(1), kind)
    )


def _bfind(lowering):
    shift = ".SH" if lowering.modifiers.flag("shiftamt") else ""
    kind = lowering.modifiers.type()
    lowering.count(2)
    lowering.emit(
        typed("FLO" + shift, kind),
        dst=lowering.dst(lowering.operand(0), "u32"),
        a=lowering.src(lowering.operand(1), kind),
    )


def _bmsk(lowering):
    wrap = lowering.modifiers.one_of(("wrap", "clamp"))
    if not wrap:
        raise NoVariant("form without .wrap or .clamp of")
    lowering.modifiers.type()
    a, b = lowering.srcs(1, "b32", 2)
    lowering.emit("BMSK.U32", dst=lowering.dst(lowering.operand(0), "b32"), a=a, b=b, mods=pack(wrap=wrap))


def _szext(lowering):
    wrap = lowering.modifiers.one_of(("wrap", "clamp"))
    kind = lowering.modifiers.type()
    if not wrap or kind not in ("u32", "s32"):
        raise NoVariant("form of")
    lowering.count(3)
    a, b = lowering.src(lowering.operand(1), kind), lowering.src(lowering.operand(2), "u32")
    lowering.emit(typed("SZEXT", kind), dst=lowering.dst(lowering.operand(0), kind), a=a, b=b, mods=pack(wrap=wrap))


def _fns(lowering):
    if lowering.modifiers.type() != "b32":
        raise NoVariant("form of")
    lowering.count(4)
    a, b, c = lowering.srcs(1, "b32", 3)
    lowering.emit("FNS", dst=lowering.dst(lowering.operand(0), "b32"), a=a, b=b, c=c)


TABLE = {
    "and": _logic("AND"), "or": _logic("OR"), "xor": _logic("XOR"), "not": _not, "cnot": _cnot, "shl": _shl,
    "shr": _shr,
    "shf": _funnel, "lop3": _lop3, "prmt": _prmt, "bfe": _bfe, "bfi": _bfi, "popc": _count("POPC"),
    "clz": _count("CLZ"),
    "brev": _brev, "bfind": _bfind, "bmsk": _bmsk, "szext": _szext, "fns": _fns,
}  # fmt: skip
