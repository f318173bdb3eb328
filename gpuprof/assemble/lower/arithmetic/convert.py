"""cvt: every pair of scalar types, rounding to integral values, packing of two floats, and cvta, isspacep."""

from gpuprof.assemble.ir.values import Imm, NoVariant, type_file, type_nbits
from gpuprof.assemble.lower.arithmetic import packed
from gpuprof.assemble.lower.data import address
from gpuprof.isa.modifiers import pack
from gpuprof.isa.row import FLOAT_TYPES, INTEGER_TYPES

_TO_INTEGRAL = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}
_OF_PACKED = ("rna", "rs")  # only to tf32 and to packed types
_ROUNDING = ("rn", "rz", "rm", "rp", *_OF_PACKED)
_ONE = 0x3FF0000000000000  # 1.0


def _cvt(lowering):
    if lowering.modifiers.flag("pack"):
        return packed.pack_integers(lowering)
    integral = lowering.modifiers.one_of(_TO_INTEGRAL)
    rounding = lowering.modifiers.one_of(_ROUNDING)
    ftz, sat, relu, satfinite = (int(lowering.modifiers.flag(name)) for name in ("ftz", "sat", "relu", "satfinite"))
    source = lowering.modifiers.type()
    to = lowering.modifiers.type()
    if packed.is_packed(to, source) or relu or satfinite:
        if integral or ftz or sat:
            raise NoVariant("form of")
        return packed.convert(lowering, to, source, rounding, relu, satfinite)
    if rounding in _OF_PACKED:
        raise NoVariant(f".{rounding} form of")
    lowering.count(2)
    return _scalar(
        lowering,
        to,
        source,
        bool(integral),
        {"rnd": _TO_INTEGRAL.get(integral) or rounding or "rn", "ftz": ftz, "sat": sat},
    )


def _scalar(lowering, to: str, source: str, integral: bool, fields: dict):
    if to not in INTEGER_TYPES + FLOAT_TYPES or source not in INTEGER_TYPES + FLOAT_TYPES:
        raise NoVariant(f"types .{to}.{source} of")
    value = lowering.reg(lowering.src(lowering.operand(1), source), type_file(source))
    if to in FLOAT_TYPES:
        dst = lowering.dst(lowering.operand(0), to)
        if to == "f64" and fields["sat"]:
            return _clamped(lowering, dst, source, value, integral, fields | {"sat": 0})
        if to == source:
            return _same_float(lowering, dst, to, value, integral, fields)
        return lowering.emit(f"CVT.{to}.{source}".upper(), dst=dst, a=value, mods=pack(**fields))
    return _to_integer(lowering, to, source, value, fields)


def _clamped(lowering, dst, source: str, value, integral: bool, fields: dict):
    """A double held between 0 and 1: the fp64 pipe does not clamp what it computes, so ptxas compares it with both."""
    if source != "f64":
        value = lowering.op(f"CVT.F64.{source}".upper(), a=value, mods=pack(**fields))
    elif integral:
        value = lowering.op("FRND.F64", a=value, mods=pack(**fields))
    above = lowering.op("DMAX", a=value, b=Imm(0))
    return lowering.emit("DMIN", dst=dst, a=above, b=Imm(_ONE))


def _same_float(lowering, dst, kind: str, value, integral: bool, fields: dict):
    if integral:
        return lowering.emit(f"FRND.{kind}".upper(), dst=dst, a=value, mods=pack(**fields))
    if not fields["sat"] and not fields["ftz"]:
        return lowering.copy(dst, value)
    if kind == "f64":
        raise NoVariant(".ftz form of")
    # x + -0 is x, but flushed and clamped.
    row, minus_zero = {
        "f32": ("FADD", 1 << 31),
        "f16": ("HADD", 1 << 15),
        "bf16": ("BADD", 1 << 15),
    }[kind]
    return lowering.emit(row, dst=dst, a=value, b=Imm(minus_zero), mods=pack(ftz=fields["ftz"], sat=fields["sat"]))


def _to_integer(lowering, to: str, source: str, value, fields: dict):
    """The result is extended to the destination register's width by the sign of the destination type (PTX ISA, cvt)."""
    register = lowering.find_register(lowering.operand(0))
    if register is None:
        raise lowering.error("the destination must be a register")
    nbits = register.nbits
    if nbits < type_nbits(to):
        raise lowering.error(f"the destination register has only {nbits} bits")
    wide = f"{to[0]}{nbits}"
    if nbits == type_nbits(to):
        return convert_integer(lowering, register.number, to, source, value, fields)
    if source in INTEGER_TYPES and not fields["sat"]:
        narrower = min(type_nbits(to), type_nbits(source))
        sign = source[0] if type_nbits(source) < type_nbits(to) else to[0]
        if narrower == type_nbits(source) and sign != to[0] and sign == "s":
            value = convert_integer(lowering, lowering.temp("R"), to, source, value, fields)
            return convert_integer(lowering, register.number, wide, to, value, fields)
        if type_file(source) == "D" and narrower < 64:
            value = lowering.op("LO.64", a=value)
        return convert_integer(lowering, register.number, wide, f"{sign}{narrower}", value, fields)
    value = convert_integer(lowering, lowering.temp("R"), to, source, value, fields)
    return convert_integer(lowering, register.number, wide, to, value, {"sat": 0})


def convert_integer(lowering, dst: int, to: str, source: str, value, fields: dict) -> int:
    """dst = value converted, for a destination as wide as its register; plain moves where no bit changes."""
    if source in FLOAT_TYPES:
        lowering.emit(f"CVT.{to}.{source}".upper(), dst=dst, a=value, mods=pack(**fields))
    elif fields["sat"]:
        lowering.emit(f"CVT.{to}.{source}".upper(), dst=dst, a=value, mods=pack(sat=1))
    elif type_nbits(to) == type_nbits(source):
        lowering.copy(dst, value)
    elif type_nbits(to) == 32 and type_nbits(source) == 64:
        lowering.emit("LO.64", dst=dst, a=value)
    else:
        lowering.emit(f"CVT.{to}.{source}".upper(), dst=dst, a=value)
    return dst


def _cvta(lowering):
    to = lowering.modifiers.flag("to")
    space = _space(lowering)
    kind = lowering.modifiers.type()
    if kind not in ("u64", "s64", "b64"):
        raise NoVariant(f"type .{kind} of")
    lowering.count(2)
    dst = lowering.dst(lowering.operand(0), "u64")
    value = lowering.src(lowering.operand(1), "u64")
    if space == "global":  # the generic window of global memory is the identity
        return lowering.copy(dst, value)
    return lowering.emit(f"CVTA.{'TO.' if to else ''}{space.upper()}", dst=dst, a=value)


def _space(lowering) -> str:
    space = address.space_of(lowering)
    return "local" if space == "param" and not lowering.body.is_kernel else space


def _isspacep(lowering):
    space = address.space_of(lowering)
    lowering.count(2)
    value = lowering.reg(lowering.src(lowering.operand(1), "u64"), "D")
    lowering.emit(f"ISSPACEP.{space.upper()}", dst=lowering.dst(lowering.operand(0), "pred"), a=value)


TABLE = {"cvt": _cvt, "cvta": _cvta, "isspacep": _isspacep}
