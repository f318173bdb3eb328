"""Comparisons and selections: setp, set, selp, slct, testp, copysign."""

from gpuprof.assemble.ir.values import Imm, NoVariant, pick, type_file, type_nbits
from gpuprof.assemble.lower.arithmetic.floats import row_of
from gpuprof.assemble.lower.arithmetic.integer import FLOATS, extend
from gpuprof.assemble.ptx import ast
from gpuprof.isa.modifiers import COMPARISONS, OF_FLOATS, pack
from gpuprof.isa.special import TESTP

_UNSIGNED_NAMES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
# What `set` gives for true.
_TRUE = {
    "u32": 0xFFFFFFFF, "s32": 0xFFFFFFFF, "f32": 0x3F800000, "u16": 0xFFFF, "s16": 0xFFFF, "f16": 0x3C00,
    "bf16": 0x3F80,
}  # fmt: skip


def comparison_of(lowering) -> str:
    name = lowering.modifiers.one_of((*COMPARISONS, *_UNSIGNED_NAMES))
    if not name:
        raise NoVariant("form without a comparison of")
    return _UNSIGNED_NAMES.get(name, name)


def compare(lowering, kind: str, cmp: str, a, b, *, dst=None, c=None, e=None, boolean: str = "", ftz: int = 0):
    """Emits the SETP of a type: dst = cmp(a, b) BOOL e, c = the opposite."""
    if kind in FLOATS:
        row = row_of("SETP", kind)
    else:
        if kind[0] not in "bus" or type_nbits(kind) < 16:
            raise NoVariant(f"type .{kind} of")
        if cmp in OF_FLOATS:
            raise lowering.error(f".{cmp} compares floating-point numbers, not .{kind}")
        a, b = extend(lowering, a, kind), extend(lowering, b, kind)
        if isinstance(a, Imm):  # keep the constant on the right, where the immediate is
            a, b, cmp = b, a, {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}.get(cmp, cmp)
        row = f"ISETP.{'S' if kind[0] == 's' else 'U'}{max(type_nbits(kind), 32)}"
        ftz = 0
    a = lowering.reg(a, type_file(kind))
    mods = pack(cmp=cmp, bool=boolean) | (pack(ftz=ftz) if ftz else 0)
    lowering.emit(row, dst=dst, a=a, b=b, c=c, e=e, mods=mods)


def _setp(lowering):
    cmp = comparison_of(lowering)
    boolean = lowering.modifiers.one_of(("and", "or", "xor"))
    ftz = int(lowering.modifiers.flag("ftz"))
    kind = lowering.modifiers.type()
    lowering.count(4 if boolean else 3)
    a, b = lowering.srcs(1, kind, 2)
    e = lowering.src(lowering.operand(3), "pred") if boolean else None
    target = lowering.operand(0)
    first, second = (target.first, target.second) if isinstance(target, ast.Pair) else (target, None)
    dst = lowering.dst(first, "pred")
    c = lowering.dst(second, "pred") if second else None
    compare(lowering, kind, cmp, a, b, dst=dst, c=c, e=e, boolean=boolean, ftz=ftz)


def _set(lowering):
    """The comparison as a number: all ones for integers, 1.0 for floats."""
    cmp = comparison_of(lowering)
    boolean = lowering.modifiers.one_of(("and", "or", "xor"))
    ftz = int(lowering.modifiers.flag("ftz"))
    kind = lowering.modifiers.type()
    to = lowering.modifiers.type()
    lowering.count(4 if boolean else 3)
    a, b = lowering.srcs(1, kind, 2)
    e = lowering.src(lowering.operand(3), "pred") if boolean else None
    dst = lowering.dst(lowering.operand(0), to)
    predicate = lowering.temp("P")
    if kind.endswith("x2"):
        high = lowering.temp("P")
        compare(lowering, kind, cmp, a, b, dst=predicate, c=high, e=e, boolean=boolean, ftz=ftz)
        one = pick({"f16x2": 0x3C00, "bf16x2": 0x3F80, "u32": 0xFFFF, "s32": 0xFFFF}, to)
        low_half = lowering.op("SEL", a=Imm(one), e=predicate)
        high_half = lowering.op("SEL", a=Imm(one), e=high)
        return lowering.emit("PRMT", dst=dst, a=low_half, b=high_half, c=Imm(0x5410))
    ones = pick(_TRUE, to)
    compare(lowering, kind, cmp, a, b, dst=predicate, e=e, boolean=boolean, ftz=ftz)
    return lowering.emit("SEL", dst=dst, a=Imm(ones), e=predicate)


def select(lowering, dst, kind: str, a, b, predicate):
    """dst = predicate ? a : b."""
    if kind == "pred":
        raise NoVariant("type .pred of")
    lowering.emit("SEL.64" if type_file(kind) == "D" else "SEL", dst=dst, a=a, b=b, e=predicate)


def _selp(lowering):
    kind = lowering.modifiers.type()
    lowering.count(4)
    a, b = lowering.srcs(1, kind, 2)
    select(lowering, lowering.dst(lowering.operand(0), kind), kind, a, b, lowering.src(lowering.operand(3), "pred"))


def _slct(lowering):
    """dst = c >= 0 ? a : b."""
    ftz = int(lowering.modifiers.flag("ftz"))
    test = lowering.modifiers.type()
    kind = lowering.modifiers.type()
    lowering.count(4)
    a, b = lowering.srcs(1, kind, 2)
    predicate = lowering.temp("P")
    compare(lowering, test, "ge", lowering.src(lowering.operand(3), test), Imm(0), dst=predicate, ftz=ftz)
    select(lowering, lowering.dst(lowering.operand(0), kind), kind, a, b, predicate)


def _testp(lowering):
    test = lowering.modifiers.one_of(TESTP)
    if not test:
        raise NoVariant("form without a test of")
    kind = lowering.modifiers.type()
    lowering.count(2)
    row = row_of("TESTP", kind) if kind in ("f32", "f64") else f"TESTP.{kind}"
    lowering.emit(
        row,
        dst=lowering.dst(lowering.operand(0), "pred"),
        a=lowering.reg(lowering.src(lowering.operand(1), kind), type_file(kind)),
        mods=pack(lut=TESTP.index(test)),
    )


def _copysign(lowering):
    kind = lowering.modifiers.type()
    lowering.count(3)
    a, b = lowering.srcs(1, kind, 2)
    row = row_of("COPYSIGN", kind) if kind in ("f32", "f64") else f"COPYSIGN.{kind}"
    lowering.emit(row, dst=lowering.dst(lowering.operand(0), kind), a=a, b=b)


TABLE = {"setp": _setp, "set": _set, "selp": _selp, "slct": _slct, "testp": _testp, "copysign": _copysign}
