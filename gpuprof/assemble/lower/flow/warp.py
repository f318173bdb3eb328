"""Barriers, and what lanes of a warp do together: shuffles, votes, matches, reductions."""

from gpuprof.assemble.ir.values import Imm, NoVariant, pick
from gpuprof.assemble.ptx import ast
from gpuprof.isa.families.control import N_BARRIERS
from gpuprof.isa.modifiers import FIELDS, pack


def _pair(operand) -> tuple:
    return (operand.first, operand.second) if isinstance(operand, ast.Pair) else (operand, None)


def _mask(lowering, operand) -> dict:
    """The member mask as source b: a register, or imm."""
    value = lowering.src(operand, "u32")
    if isinstance(value, Imm):
        return {"b": None, "slot": "b", "imm": value.bits}
    return {"b": value}


# -- barriers --------------------------------------------------------------------------------------


def _bar(lowering):
    m = lowering.modifiers
    if m.flag("warp"):
        return _warpsync(lowering)
    m.flag("cta")
    m.flag("aligned")
    operation = m.one_of(("sync", "arrive", "red"))
    if operation == "red":
        return _bar_reduce(lowering)
    lowering.count(1, 2)
    return lowering.emit(
        f"BAR.{pick({'sync': 'SYNC', 'arrive': 'ARRIVE'}, operation)}",
        **_barrier_operands(lowering, lowering.inst.operands),
    )


def _barrier_operands(lowering, operands: list) -> dict:
    """Barrier number and thread count: registers a and b, or the halves of imm."""
    slots: dict = {"imm": 0}
    for operand, slot, shift in zip(operands, "ab", (0, 16), strict=False):
        value = lowering.src(operand, "u32")
        if isinstance(value, Imm):
            if value.bits >= 1 << 16 or (slot == "a" and value.bits >= N_BARRIERS):
                raise lowering.error(f"{value.bits} is out of range")
            slots["imm"] |= value.bits << shift
        else:
            slots[slot] = value
    used = N_BARRIERS if "a" in slots else (slots["imm"] & 0xFFFF) + 1
    lowering.body.barriers = max(lowering.body.barriers, used)
    return slots


def _bar_reduce(lowering):
    operation = lowering.modifiers.one_of(("popc", "and", "or")).upper()
    kind = lowering.modifiers.type()
    n = lowering.count(3, 4)
    predicate = lowering.src(lowering.operand(n - 1), "pred")
    slots = _barrier_operands(lowering, lowering.inst.operands[1 : n - 1])
    lowering.emit(f"BAR.RED.{operation}", dst=lowering.dst(lowering.operand(0), kind), c=predicate, **slots)


def _warpsync(lowering):
    if not lowering.modifiers.flag("sync"):
        raise NoVariant("form of")
    lowering.count(1)
    lowering.emit("WARPSYNC", **_mask(lowering, lowering.operand(0)))


# -- shuffles --------------------------------------------------------------------------------------


def _shfl(lowering):
    sync = lowering.modifiers.flag("sync")
    mode = lowering.modifiers.one_of(("up", "down", "bfly", "idx"))
    if not mode:
        raise NoVariant("form without a mode of")
    lowering.modifiers.type()
    lowering.count(5 if sync else 4)
    first, valid = _pair(lowering.operand(0))
    slots = {"a": lowering.reg(lowering.src(lowering.operand(1), "b32"), "R")}
    mods = pack(shfl=mode)
    for operand, slot, name, mask in (
        (lowering.operand(2), "b", "lane", 0x1F),
        (lowering.operand(3), "c", "clamp", 0x1F1F),
    ):
        value = lowering.src(operand, "u32")
        if isinstance(value, Imm):
            mods |= FIELDS[name].put(value.bits & mask) | FIELDS["has_" + name].put(1)
        else:
            slots[slot] = value
    members = lowering.src(lowering.operand(4), "u32") if sync else lowering.op("ACTIVEMASK")
    slots |= {"imm": members.bits} if isinstance(members, Imm) else {"e": members}
    if valid is not None:  # first, since the value may overwrite a source
        lowering.emit("SHFL.P", dst=lowering.dst(valid, "pred"), mods=mods, **slots)
    lowering.emit("SHFL", dst=lowering.dst(first, "b32"), mods=mods, **slots)


# -- votes, matches, reductions
# ----------------------------------------------------------------------------------------------


def _vote(lowering):
    sync = lowering.modifiers.flag("sync")
    mode = lowering.modifiers.one_of(("all", "any", "uni", "ballot"))
    kind = lowering.modifiers.type()
    lowering.count(3 if sync else 2)
    predicate = lowering.src(lowering.operand(1), "pred")
    members = _mask(lowering, lowering.operand(2)) if sync else {"b": lowering.op("ACTIVEMASK")}
    lowering.emit(f"VOTE.{mode.upper()}", dst=lowering.dst(lowering.operand(0), kind), a=predicate, **members)


def _activemask(lowering):
    lowering.modifiers.type()
    lowering.count(1)
    lowering.emit("ACTIVEMASK", dst=lowering.dst(lowering.operand(0), "b32"))


def _match(lowering):
    mode = lowering.modifiers.one_of(("any", "all"))
    lowering.modifiers.flag("sync")
    kind = lowering.modifiers.type()
    lowering.count(3)
    first, predicate = _pair(lowering.operand(0))
    file = "D" if kind == "b64" else "R"
    slots = {
        "dst": lowering.dst(first, "b32"),
        "a": lowering.reg(lowering.src(lowering.operand(1), kind), file),
        **_mask(lowering, lowering.operand(2)),
    }
    if predicate is not None:
        slots["c"] = lowering.dst(predicate, "pred")
    lowering.emit(f"MATCH.{mode}.{kind}".upper(), **slots)


def _redux(lowering):
    if not lowering.modifiers.flag("sync"):
        raise NoVariant("form of")
    operation = lowering.modifiers.one_of(("add", "min", "max", "and", "or", "xor"))
    kind = lowering.modifiers.type()
    lowering.count(3)
    fields = (
        {field: int(lowering.modifiers.flag(name)) for field, name in (("abs", "abs"), ("nan", "NaN"))}
        if kind == "f32"
        else {}
    )
    row_kind = {"u32": "s32"}.get(kind, kind) if operation == "add" else kind
    value = lowering.reg(lowering.src(lowering.operand(1), kind), "R")
    lowering.emit(
        f"REDUX.{operation}.{row_kind}".upper(),
        dst=lowering.dst(lowering.operand(0), kind),
        a=value,
        mods=pack(**fields),
        **_mask(lowering, lowering.operand(2)),
    )


def _elect(lowering):
    lowering.modifiers.flag("sync")
    lowering.count(2)
    first, predicate = _pair(lowering.operand(0))
    slots = {"dst": lowering.dst(first, "b32"), **_mask(lowering, lowering.operand(1))}
    lowering.emit("ELECT", c=lowering.dst(predicate, "pred") if predicate is not None else None, **slots)


TABLE = {
    "bar": _bar, "barrier": _bar, "shfl": _shfl, "vote": _vote, "activemask": _activemask, "match": _match,
    "redux": _redux,
    "elect": _elect,
}  # fmt: skip
