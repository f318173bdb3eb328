"""Logic, shifts and bit fields."""

from gpuprof.assemble import ast
from gpuprof.assemble.lower_arithmetic import SUFFIX, extend, typed
from gpuprof.assemble.values import Imm, Not, NoVariant, pick, type_nbits
from gpuprof.isa.modifiers import pack

BITS = {"b16": 16, "b32": 32, "b64": 64}


def _logic(name: str):
    def lower(lo):
        kind = lo.modifiers.type()
        lo.count(3)
        a, b = lo.srcs(1, kind, 2)
        row = f"P{name}" if kind == "pred" else name + SUFFIX[pick(BITS, kind)]
        lo.emit(row, dst=lo.dst(lo.operand(0), kind), a=a, b=b)

    return lower


def _not(lo):
    kind = lo.modifiers.type()
    lo.count(2)
    a = lo.src(lo.operand(1), kind)
    dst = lo.dst(lo.operand(0), kind)
    if kind == "pred":
        lo.emit("PMOV", dst=dst, a=a.register if isinstance(a, Not) else Not(a))
    elif kind == "b16":
        lo.emit("XOR", dst=dst, a=a, b=Imm(0xFFFF))
    else:
        lo.emit("NOT" + SUFFIX[pick(BITS, kind)], dst=dst, a=a)


def _cnot(lo):
    kind = lo.modifiers.type()
    lo.emit("CNOT" + SUFFIX[pick(BITS, kind)], dst=lo.dst(lo.operand(0), kind), a=lo.src(lo.operand(1), kind))


def _shl(lo):
    kind = lo.modifiers.type()
    nbits = pick(BITS, kind)
    lo.count(3)
    a, amount = lo.src(lo.operand(1), kind), lo.src(lo.operand(2), "u32")
    dst = lo.dst(lo.operand(0), kind)
    if nbits == 16:
        lo.emit("AND", dst=dst, a=lo.op("SHL", a=a, b=amount), b=Imm(0xFFFF))
    else:
        lo.emit("SHL" + SUFFIX[nbits], dst=dst, a=a, b=amount)


def _shr(lo):
    kind = lo.modifiers.type()
    kind = {"b": "u"}.get(kind[0], kind[0]) + kind[1:]
    nbits = type_nbits(kind)
    if nbits < 16:
        raise NoVariant(f"type .{kind} of")
    lo.count(3)
    a, amount = extend(lo, lo.src(lo.operand(1), kind), kind), lo.src(lo.operand(2), "u32")
    dst = lo.dst(lo.operand(0), kind)
    if kind == "s16":
        lo.emit("AND", dst=dst, a=lo.op("SHR.S32", a=a, b=amount), b=Imm(0xFFFF))
    else:
        lo.emit(typed("SHR", kind), dst=dst, a=a, b=amount)


def _funnel(lo):
    side = lo.modifiers.one_of(("l", "r"))
    wrap = lo.modifiers.one_of(("wrap", "clamp"))
    kind = lo.modifiers.type()
    if kind != "b32" or not side or not wrap:
        raise NoVariant("form of")
    lo.count(4)
    a, b, c = lo.srcs(1, "b32", 3)
    lo.emit(f"SHF.{side.upper()}", dst=lo.dst(lo.operand(0), "b32"), a=a, b=b, c=c, mods=pack(wrap=wrap))


def _lop3(lo):
    boolean = lo.modifiers.one_of(("or", "and"))
    kind = lo.modifiers.type()
    if kind != "b32":
        raise NoVariant(f"type .{kind} of")
    lo.count(6 if boolean else 5)
    a, b, c = lo.srcs(1, "b32", 3)
    lut = lo.src(lo.operand(4), "u32")
    if not isinstance(lut, Imm):
        raise lo.error("the look-up table must be a constant")
    mods = pack(lut=lut.bits & 0xFF)
    if not boolean:
        return lo.emit("LOP3", dst=lo.dst(lo.operand(0), "b32"), a=a, b=b, c=c, mods=mods)
    target, third = lo.operand(0), lo.src(lo.operand(5), "pred")
    if not isinstance(target, ast.Pair):
        raise lo.error("a Boolean operation needs two destinations, d|p")
    result = lo.op("LOP3", a=a, b=b, c=c, mods=mods)
    lo.emit("ISETP.U32", dst=lo.dst(target.second, "pred"), a=result, e=third, mods=pack(cmp="ne", bool=boolean))
    return lo.copy(lo.dst(target.first, "b32"), result)


def _prmt(lo):
    mode = lo.modifiers.one_of(("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"))
    kind = lo.modifiers.type()
    if kind != "b32":
        raise NoVariant(f"type .{kind} of")
    lo.count(4)
    a, b, c = lo.srcs(1, "b32", 3)
    lo.emit("PRMT", dst=lo.dst(lo.operand(0), "b32"), a=a, b=b, c=c, mods=pack(prmt=mode))


def _bfe(lo):
    kind = lo.modifiers.type()
    nbits = type_nbits(kind)
    if nbits not in (32, 64) or kind[0] == "b":
        raise NoVariant(f"type .{kind} of")
    lo.count(4)
    a, position, length = lo.src(lo.operand(1), kind), *lo.srcs(2, "u32", 2)
    dst = lo.dst(lo.operand(0), kind)
    if isinstance(position, Imm) and isinstance(length, Imm):
        constant_field(lo, dst, kind, a, position.bits & 0xFF, length.bits & 0xFF)
    else:
        lo.emit(typed("BFE", kind), dst=dst, a=a, b=position, c=length)


def constant_field(lo, dst: int | None, kind: str, a, position: int, length: int):
    """A bit field at a constant place: two shifts, or a shift and a mask. Bits beyond the register read as the sign, or
    zero.
    """
    nbits = type_nbits(kind)
    suffix = SUFFIX[nbits]
    file = "D" if nbits == 64 else "R"
    if length == 0:
        return lo.copy(dst, Imm(0))
    if kind[0] == "u" and length < min(nbits, 32):
        if position == 0:
            return lo.emit("AND" + suffix, dst=dst, a=a, b=Imm((1 << length) - 1))
        shifted = lo.op(typed("SHR", kind), a=a, b=Imm(position))
        return lo.emit("AND" + suffix, dst=dst, a=shifted, b=Imm((1 << length) - 1))
    if position + length >= nbits:
        return lo.emit(typed("SHR", kind), dst=dst, a=a, b=Imm(min(position, nbits if kind[0] == "u" else nbits - 1)))
    left = lo.op("SHL" + suffix, a=lo.reg(a, file), b=Imm(nbits - position - length))
    return lo.emit(typed("SHR", kind), dst=dst, a=left, b=Imm(nbits - length))


def _bfi(lo):
    """The row takes position and length in one operand: position | length << 8."""
    kind = lo.modifiers.type()
    suffix = SUFFIX[pick({"b32": 32, "b64": 64}, kind)]
    lo.count(5)
    a, b = lo.srcs(1, kind, 2)
    position, length = lo.srcs(3, "u32", 2)
    dst = lo.dst(lo.operand(0), kind)
    if isinstance(position, Imm) and isinstance(length, Imm):
        field = Imm(position.bits & 0xFF | (length.bits & 0xFF) << 8)
    else:
        low = _byte(lo, position)
        field = lo.op("BFI", a=lo.reg(length, "R"), b=low, c=Imm(8 | 8 << 8))
    if field == Imm(0):  # a zero source would be read as an absent operand: inserting nothing is a copy
        return lo.copy(dst, b)
    return lo.emit(
        "BFI" + suffix, dst=dst, a=lo.reg(a, "D" if suffix else "R"), b=lo.reg(b, "D" if suffix else "R"), c=field
    )


def _byte(lo, value):
    return Imm(value.bits & 0xFF) if isinstance(value, Imm) else lo.op("AND", a=value, b=Imm(0xFF))


def _count(name: str):
    """popc, clz: the count is 32 bits wide for both widths."""

    def lower(lo):
        kind = lo.modifiers.type()
        suffix = SUFFIX[pick({"b32": 32, "b64": 64}, kind)]
        lo.count(2)
        lo.emit(name + suffix, dst=lo.dst(lo.operand(0), "u32"), a=lo.src(lo.operand(1), kind))

    return lower


def _brev(lo):
    kind = lo.modifiers.type()
    suffix = SUFFIX[pick({"b32": 32, "b64": 64}, kind)]
    lo.emit("BREV" + suffix, dst=lo.dst(lo.operand(0), kind), a=lo.src(lo.operand(1), kind))


def _bfind(lo):
    shift = ".SH" if lo.modifiers.flag("shiftamt") else ""
    kind = lo.modifiers.type()
    lo.count(2)
    lo.emit(typed("FLO" + shift, kind), dst=lo.dst(lo.operand(0), "u32"), a=lo.src(lo.operand(1), kind))


def _bmsk(lo):
    wrap = lo.modifiers.one_of(("wrap", "clamp"))
    if not wrap:
        raise NoVariant("form without .wrap or .clamp of")
    lo.modifiers.type()
    a, b = lo.srcs(1, "b32", 2)
    lo.emit("BMSK.U32", dst=lo.dst(lo.operand(0), "b32"), a=a, b=b, mods=pack(wrap=wrap))


def _szext(lo):
    wrap = lo.modifiers.one_of(("wrap", "clamp"))
    kind = lo.modifiers.type()
    if not wrap or kind not in ("u32", "s32"):
        raise NoVariant("form of")
    lo.count(3)
    a, b = lo.src(lo.operand(1), kind), lo.src(lo.operand(2), "u32")
    lo.emit(typed("SZEXT", kind), dst=lo.dst(lo.operand(0), kind), a=a, b=b, mods=pack(wrap=wrap))


def _fns(lo):
    if lo.modifiers.type() != "b32":
        raise NoVariant("form of")
    lo.count(4)
    a, b, c = lo.srcs(1, "b32", 3)
    lo.emit("FNS", dst=lo.dst(lo.operand(0), "b32"), a=a, b=b, c=c)


TABLE = {
    "and": _logic("AND"), "or": _logic("OR"), "xor": _logic("XOR"), "not": _not, "cnot": _cnot, "shl": _shl,
    "shr": _shr,
    "shf": _funnel, "lop3": _lop3, "prmt": _prmt, "bfe": _bfe, "bfi": _bfi, "popc": _count("POPC"),
    "clz": _count("CLZ"),
    "brev": _brev, "bfind": _bfind, "bmsk": _bmsk, "szext": _szext, "fns": _fns,
}  # fmt: skip
