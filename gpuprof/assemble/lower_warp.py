"""Barriers, and what lanes of a warp do together: shuffles, votes, matches, reductions."""

from gpuprof.assemble import ast
from gpuprof.assemble.values import Imm, NoVariant, pick
from gpuprof.isa.modifiers import FIELDS, pack

BARRIERS = 16


def _pair(operand) -> tuple:
    return (operand.first, operand.second) if isinstance(operand, ast.Pair) else (operand, None)


def _mask(lo, operand) -> dict:
    """The member mask as source b: a register, or imm."""
    value = lo.src(operand, "u32")
    if isinstance(value, Imm):
        return {"b": None, "slot": "b", "imm": value.bits}
    return {"b": value}


# -- barriers --------------------------------------------------------------------------------------


def _bar(lo):
    m = lo.modifiers
    if m.flag("warp"):
        return _warpsync(lo)
    m.flag("cta")
    m.flag("aligned")
    operation = m.one_of(("sync", "arrive", "red"))
    if operation == "red":
        return _bar_reduce(lo)
    lo.count(1, 2)
    return lo.emit(
        f"BAR.{pick({'sync': 'SYNC', 'arrive': 'ARRIVE'}, operation)}", **_barrier_operands(lo, lo.inst.operands)
    )


def _barrier_operands(lo, operands: list) -> dict:
    """Barrier number and thread count: registers a and b, or the halves of imm."""
    slots: dict = {"imm": 0}
    for operand, slot, shift in zip(operands, "ab", (0, 16), strict=False):
        value = lo.src(operand, "u32")
        if isinstance(value, Imm):
            if value.bits >= 1 << 16 or (slot == "a" and value.bits >= BARRIERS):
                raise lo.error(f"{value.bits} is out of range")
            slots["imm"] |= value.bits << shift
        else:
            slots[slot] = value
    used = BARRIERS if "a" in slots else (slots["imm"] & 0xFFFF) + 1
    lo.body.barriers = max(lo.body.barriers, used)
    return slots


def _bar_reduce(lo):
    operation = lo.modifiers.one_of(("popc", "and", "or")).upper()
    kind = lo.modifiers.type()
    n = lo.count(3, 4)
    predicate = lo.src(lo.operand(n - 1), "pred")
    slots = _barrier_operands(lo, lo.inst.operands[1 : n - 1])
    lo.emit(f"BAR.RED.{operation}", dst=lo.dst(lo.operand(0), kind), c=predicate, **slots)


def _warpsync(lo):
    if not lo.modifiers.flag("sync"):
        raise NoVariant("form of")
    lo.count(1)
    lo.emit("WARPSYNC", **_mask(lo, lo.operand(0)))


# -- shuffles --------------------------------------------------------------------------------------


def _shfl(lo):
    sync = lo.modifiers.flag("sync")
    mode = lo.modifiers.one_of(("up", "down", "bfly", "idx"))
    if not mode:
        raise NoVariant("form without a mode of")
    lo.modifiers.type()
    lo.count(5 if sync else 4)
    first, valid = _pair(lo.operand(0))
    slots = {"a": lo.reg(lo.src(lo.operand(1), "b32"), "R")}
    mods = pack(shfl=mode)
    for operand, slot, name, mask in ((lo.operand(2), "b", "lane", 0x1F), (lo.operand(3), "c", "clamp", 0x1F1F)):
        value = lo.src(operand, "u32")
        if isinstance(value, Imm):
            mods |= FIELDS[name].put(value.bits & mask) | FIELDS["has_" + name].put(1)
        else:
            slots[slot] = value
    members = lo.src(lo.operand(4), "u32") if sync else lo.op("ACTIVEMASK")
    slots |= {"imm": members.bits} if isinstance(members, Imm) else {"e": members}
    if valid is not None:  # first, since the value may overwrite a source
        lo.emit("SHFL.P", dst=lo.dst(valid, "pred"), mods=mods, **slots)
    lo.emit("SHFL", dst=lo.dst(first, "b32"), mods=mods, **slots)


# -- votes, matches, reductions
# ----------------------------------------------------------------------------------------------


def _vote(lo):
    sync = lo.modifiers.flag("sync")
    mode = lo.modifiers.one_of(("all", "any", "uni", "ballot"))
    kind = lo.modifiers.type()
    lo.count(3 if sync else 2)
    predicate = lo.src(lo.operand(1), "pred")
    members = _mask(lo, lo.operand(2)) if sync else {"b": lo.op("ACTIVEMASK")}
    lo.emit(f"VOTE.{mode.upper()}", dst=lo.dst(lo.operand(0), kind), a=predicate, **members)


def _activemask(lo):
    lo.modifiers.type()
    lo.count(1)
    lo.emit("ACTIVEMASK", dst=lo.dst(lo.operand(0), "b32"))


def _match(lo):
    mode = lo.modifiers.one_of(("any", "all"))
    lo.modifiers.flag("sync")
    kind = lo.modifiers.type()
    lo.count(3)
    first, predicate = _pair(lo.operand(0))
    file = "D" if kind == "b64" else "R"
    slots = {"dst": lo.dst(first, "b32"), "a": lo.reg(lo.src(lo.operand(1), kind), file), **_mask(lo, lo.operand(2))}
    if predicate is not None:
        slots["c"] = lo.dst(predicate, "pred")
    lo.emit(f"MATCH.{mode}.{kind}".upper(), **slots)


def _redux(lo):
    if not lo.modifiers.flag("sync"):
        raise NoVariant("form of")
    operation = lo.modifiers.one_of(("add", "min", "max", "and", "or", "xor"))
    kind = lo.modifiers.type()
    lo.count(3)
    fields = (
        {field: int(lo.modifiers.flag(name)) for field, name in (("abs", "abs"), ("nan", "NaN"))}
        if kind == "f32"
        else {}
    )
    row_kind = {"u32": "s32"}.get(kind, kind) if operation == "add" else kind
    value = lo.reg(lo.src(lo.operand(1), kind), "R")
    lo.emit(
        f"REDUX.{operation}.{row_kind}".upper(),
        dst=lo.dst(lo.operand(0), kind),
        a=value,
        mods=pack(**fields),
        **_mask(lo, lo.operand(2)),
    )


def _elect(lo):
    lo.modifiers.flag("sync")
    lo.count(2)
    first, predicate = _pair(lo.operand(0))
    slots = {"dst": lo.dst(first, "b32"), **_mask(lo, lo.operand(1))}
    lo.emit("ELECT", c=lo.dst(predicate, "pred") if predicate is not None else None, **slots)


TABLE = {
    "bar": _bar, "barrier": _bar, "shfl": _shfl, "vote": _vote, "activemask": _activemask, "match": _match,
    "redux": _redux,
    "elect": _elect,
}  # fmt: skip
