"""Comparisons and selections: setp, set, selp, slct, testp, copysign."""

from gpuprof.assemble import ast
from gpuprof.assemble.lower_arithmetic import FLOATS, extend
from gpuprof.assemble.lower_float import row_of
from gpuprof.assemble.values import Imm, NoVariant, pick, type_file, type_nbits
from gpuprof.isa.modifiers import COMPARISONS, OF_FLOATS, pack
from gpuprof.isa.special import TESTP

_UNSIGNED_NAMES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
# What `set` gives for true.
_TRUE = {
    "u32": 0xFFFFFFFF, "s32": 0xFFFFFFFF, "f32": 0x3F800000, "u16": 0xFFFF, "s16": 0xFFFF, "f16": 0x3C00,
    "bf16": 0x3F80,
}  # fmt: skip


def comparison_of(lo) -> str:
    name = lo.modifiers.one_of((*COMPARISONS, *_UNSIGNED_NAMES))
    if not name:
        raise NoVariant("form without a comparison of")
    return _UNSIGNED_NAMES.get(name, name)


def compare(lo, kind: str, cmp: str, a, b, *, dst=None, c=None, e=None, boolean: str = "", ftz: int = 0):
    """Emits the SETP of a type: dst = cmp(a, b) BOOL e, c = the opposite."""
    if kind in FLOATS:
        row = row_of("SETP", kind)
    else:
        if kind[0] not in "bus" or type_nbits(kind) < 16:
            raise NoVariant(f"type .{kind} of")
        if cmp in OF_FLOATS:
            raise lo.error(f".{cmp} compares floating-point numbers, not .{kind}")
        a, b = extend(lo, a, kind), extend(lo, b, kind)
        if isinstance(a, Imm):  # keep the constant on the right, where the immediate is
            a, b, cmp = b, a, {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}.get(cmp, cmp)
        row = f"ISETP.{'S' if kind[0] == 's' else 'U'}{max(type_nbits(kind), 32)}"
        ftz = 0
    a = lo.reg(a, type_file(kind))
    mods = pack(cmp=cmp, bool=boolean) | (pack(ftz=ftz) if ftz else 0)
    lo.emit(row, dst=dst, a=a, b=b, c=c, e=e, mods=mods)


def _setp(lo):
    cmp = comparison_of(lo)
    boolean = lo.modifiers.one_of(("and", "or", "xor"))
    ftz = int(lo.modifiers.flag("ftz"))
    kind = lo.modifiers.type()
    lo.count(4 if boolean else 3)
    a, b = lo.srcs(1, kind, 2)
    e = lo.src(lo.operand(3), "pred") if boolean else None
    target = lo.operand(0)
    first, second = (target.first, target.second) if isinstance(target, ast.Pair) else (target, None)
    dst = lo.dst(first, "pred")
    c = lo.dst(second, "pred") if second else None
    compare(lo, kind, cmp, a, b, dst=dst, c=c, e=e, boolean=boolean, ftz=ftz)


def _set(lo):
    """The comparison as a number: all ones for integers, 1.0 for floats."""
    cmp = comparison_of(lo)
    boolean = lo.modifiers.one_of(("and", "or", "xor"))
    ftz = int(lo.modifiers.flag("ftz"))
    kind = lo.modifiers.type()
    to = lo.modifiers.type()
    lo.count(4 if boolean else 3)
    a, b = lo.srcs(1, kind, 2)
    e = lo.src(lo.operand(3), "pred") if boolean else None
    dst = lo.dst(lo.operand(0), to)
    predicate = lo.temp("P")
    if kind.endswith("x2"):
        high = lo.temp("P")
        compare(lo, kind, cmp, a, b, dst=predicate, c=high, e=e, boolean=boolean, ftz=ftz)
        one = pick({"f16x2": 0x3C00, "bf16x2": 0x3F80, "u32": 0xFFFF, "s32": 0xFFFF}, to)
        low_half = lo.op("SEL", a=Imm(one), e=predicate)
        high_half = lo.op("SEL", a=Imm(one), e=high)
        return lo.emit("PRMT", dst=dst, a=low_half, b=high_half, c=Imm(0x5410))
    ones = pick(_TRUE, to)
    compare(lo, kind, cmp, a, b, dst=predicate, e=e, boolean=boolean, ftz=ftz)
    return lo.emit("SEL", dst=dst, a=Imm(ones), e=predicate)


def select(lo, dst, kind: str, a, b, predicate):
    """dst = predicate ? a : b."""
    if kind == "pred":
        raise NoVariant("type .pred of")
    lo.emit("SEL.64" if type_file(kind) == "D" else "SEL", dst=dst, a=a, b=b, e=predicate)


def _selp(lo):
    kind = lo.modifiers.type()
    lo.count(4)
    a, b = lo.srcs(1, kind, 2)
    select(lo, lo.dst(lo.operand(0), kind), kind, a, b, lo.src(lo.operand(3), "pred"))


def _slct(lo):
    """dst = c >= 0 ? a : b."""
    ftz = int(lo.modifiers.flag("ftz"))
    test = lo.modifiers.type()
    kind = lo.modifiers.type()
    lo.count(4)
    a, b = lo.srcs(1, kind, 2)
    predicate = lo.temp("P")
    compare(lo, test, "ge", lo.src(lo.operand(3), test), Imm(0), dst=predicate, ftz=ftz)
    select(lo, lo.dst(lo.operand(0), kind), kind, a, b, predicate)


def _testp(lo):
    test = lo.modifiers.one_of(TESTP)
    if not test:
        raise NoVariant("form without a test of")
    kind = lo.modifiers.type()
    lo.count(2)
    row = row_of("TESTP", kind) if kind in ("f32", "f64") else f"TESTP.{kind}"
    lo.emit(
        row,
        dst=lo.dst(lo.operand(0), "pred"),
        a=lo.reg(lo.src(lo.operand(1), kind), type_file(kind)),
        mods=pack(lut=TESTP.index(test)),
    )


def _copysign(lo):
    kind = lo.modifiers.type()
    lo.count(3)
    a, b = lo.srcs(1, kind, 2)
    row = row_of("COPYSIGN", kind) if kind in ("f32", "f64") else f"COPYSIGN.{kind}"
    lo.emit(row, dst=lo.dst(lo.operand(0), kind), a=a, b=b)


TABLE = {"setp": _setp, "set": _set, "selp": _selp, "slct": _slct, "testp": _testp, "copysign": _copysign}
