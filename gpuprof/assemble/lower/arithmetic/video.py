"""Video instructions: vadd and its like, single and side by side. A selector follows a register: `%r1.b2`,
`%r1.h21`, `%r0.b310`.
"""

import re

from gpuprof.assemble.ir.values import Imm, NoVariant
from gpuprof.assemble.ptx import ast
from gpuprof.isa.modifiers import FIELDS, pack

_SELECTED = re.compile(r"(%?[\w$]+)\.([bh][0-7]+)")
_IN_PLACE = {2: ("10", "32"), 4: ("3210", "7654")}  # of a and b: the elements of the register itself
COMPARISONS = FIELDS["vcmp"].names


def _selected(lowering, operand) -> tuple:
    """The operand without its selector, and the selector, "" for none."""
    match = _SELECTED.fullmatch(operand.text) if isinstance(operand, ast.Name) else None
    return (ast.Name(match[1]), match[2]) if match else (operand, "")


def _part(lowering, operand, slot: str) -> tuple:
    """Operand and selector of a scalar instruction: a byte, a half-word or the word."""
    operand, selector = _selected(lowering, operand)
    if selector and f"{slot}{selector}" not in FIELDS[f"{slot}sel"].names:
        raise lowering.error(f"a word has no part .{selector}")
    return operand, {f"{slot}sel": f"{slot}{selector}"} if selector else {}


def _signs(*kinds: str) -> dict[str, str]:
    if not set(kinds) <= {"u32", "s32"}:
        raise NoVariant("types of")
    signs = "".join(kind[0] for kind in kinds)
    return {"signs": signs} if "s" in signs else {}


def _comparison(lowering) -> dict[str, str]:
    """vset writes its comparison after its types."""
    name = lowering.modifiers.one_of(COMPARISONS)
    if not name:
        raise NoVariant("form without a comparison of")
    return {"vcmp": name}


def _types(lowering, count: int) -> list[str]:
    """Takes the types, which come first. Raises NoVariant when there are fewer."""
    if len(lowering.modifiers.rest) < count:
        raise NoVariant("form without types of")
    taken, lowering.modifiers.rest = lowering.modifiers.rest[:count], lowering.modifiers.rest[count:]
    return taken


def _scalar(name: str):
    def lower(lowering):
        kinds = _types(lowering, 2 if name == "VSET" else 3)
        fields = _signs(*(["u32"] if name == "VSET" else []), *kinds) | {"sat": int(lowering.modifiers.flag("sat"))}
        if name == "VSET":
            fields |= _comparison(lowering)
        if name in ("VSHL", "VSHR"):
            fields |= _shift_mode(lowering, kinds)
        second = lowering.modifiers.one_of(("add", "min", "max"))
        target, part = _part(lowering, lowering.operand(0), "d")
        if second and part:
            raise lowering.error("a part of the destination and a second operation exclude each other")
        lowering.count(*((4,) if second or part else (3, 4)))
        fields |= part | {"op2": second}
        sources = {}
        for slot, operand in zip("ab", lowering.inst.operands[1:3], strict=True):
            operand, selector = _part(lowering, operand, slot)
            sources[slot] = lowering.src(operand, "b32")
            fields |= selector
        if second or part:
            sources["c"] = lowering.src(lowering.operand(3), "b32")
        lowering.emit(name, dst=lowering.dst(target, "b32"), mods=pack(**fields), **sources)

    return lower


def _shift_mode(lowering, kinds: list[str]) -> dict[str, str]:
    mode = lowering.modifiers.one_of(("clamp", "wrap"))
    if not mode or kinds[2] != "u32":
        raise NoVariant("form of")
    return {"vwrap": mode}


def _mad(lowering):
    fields = _signs(*_types(lowering, 3)) | {name: int(lowering.modifiers.flag(name)) for name in ("sat", "po")}
    fields |= {"scale": lowering.modifiers.one_of(("shr7", "shr15"))}
    lowering.count(4)
    values, negated = [], []
    for slot, operand in zip("abc", lowering.inst.operands[1:], strict=True):
        negated.append(isinstance(operand, ast.Negated))
        operand, selector = (
            _part(lowering, operand.operand if negated[-1] else operand, slot)
            if slot != "c"
            else (_inside(operand), {})
        )
        values.append(lowering.src(operand, "b32"))
        fields |= selector
    product = negated[0] != negated[1]
    if (product and negated[2]) or (fields["po"] and any(negated)):
        raise lowering.error("only the product or the addend can be negated, and neither with .po")
    fields |= {"negab": int(product), "negc": int(negated[2])}
    lowering.emit(
        "VMAD",
        dst=lowering.dst(lowering.operand(0), "b32"),
        mods=pack(**fields),
        **dict(zip("abc", values, strict=True)),
    )


def _inside(operand):
    return operand.operand if isinstance(operand, ast.Negated) else operand


def _lanes(name: str, count: int):
    """The elements that a selector picks from both operands are put in place by a byte permutation first."""

    def lower(lowering):
        kinds = _types(lowering, 2 if name == "VSET" else 3)
        fields = _signs(*(["u32"] if name == "VSET" else []), *kinds)
        if name == "VSET":
            fields |= _comparison(lowering)
        fields |= {"sat": int(lowering.modifiers.flag("sat")), "op2": lowering.modifiers.one_of(("add",))}
        if fields["sat"] and (fields["op2"] or name == "VSET"):
            raise NoVariant("saturation of")
        lowering.count(4)
        target, mask = _selected(lowering, lowering.operand(0))
        operands = [_selected(lowering, operand) for operand in lowering.inst.operands[1:3]]
        a, b = (lowering.src(operand, "b32") for operand, _ in operands)
        picked = [_picked(lowering, a, b, selector, which, count) for which, (_, selector) in enumerate(operands)]
        fields |= {"mask": _mask(lowering, mask, count)}
        row = f"{name}{count}.{'S' if 's' in fields.get('signs', '') else 'U'}"
        lowering.emit(
            row,
            dst=lowering.dst(target, "b32"),
            a=picked[0],
            b=picked[1],
            c=lowering.src(lowering.operand(3), "b32"),
            mods=pack(**fields),
        )

    return lower


def _picked(lowering, a, b, selector: str, which: int, count: int):
    digits = _digits(lowering, selector, count) or _IN_PLACE[count][which]
    if len(digits) != count or any(int(digit) >= 2 * count for digit in digits):
        raise lowering.error(f"selector .{selector} does not name {count} elements")
    if digits == _IN_PLACE[count][which]:
        return (a, b)[which]
    per_byte = digits if count == 4 else "".join(f"{2 * int(d) + 1}{2 * int(d)}" for d in digits)
    return lowering.op("PRMT", a=lowering.reg(a, "R"), b=lowering.reg(b, "R"), c=Imm(int(per_byte, 16)))


def _digits(lowering, selector: str, count: int) -> str:
    if selector and selector[0] != {2: "h", 4: "b"}[count]:
        raise lowering.error(f"selector .{selector} is of another size")
    return selector[1:]


def _mask(lowering, selector: str, count: int) -> int:
    """The elements of the destination that are written: all without a selector."""
    digits = _digits(lowering, selector, count)
    if any(int(digit) >= count for digit in digits):
        raise lowering.error(f"mask .{selector} names an element that does not exist")
    return sum(1 << int(digit) for digit in set(digits)) if digits else (1 << count) - 1


_SIDE_BY_SIDE = ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset")
TABLE = {
    **{name: _scalar(name.upper()) for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset")},
    "vmad": _mad,
    **{f"{name}{count}": _lanes(name.upper(), count) for name in _SIDE_BY_SIDE for count in (2, 4)},
}
