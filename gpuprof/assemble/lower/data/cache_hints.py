"""Instructions that only advise the caches: hints and policies of accesses, prefetches. None of them changes a result,
and the timing model does not use them.
"""

from gpuprof.assemble.ir.values import Imm, NoVariant
from gpuprof.assemble.lower.data.address import memory_operand, space_of

_HINTS = frozenset(
    [
        f"{level}::{policy}"
        for level in ("L1", "L2")
        for policy in ("evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate")
    ]
    + ["L2::64B", "L2::128B", "L2::256B"]
)
_LINES = frozenset(["L1", "L2", "L2::evict_last", "L2::evict_normal"])
_PRIORITIES = ("L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged")


def take_hints(lowering) -> bool:
    """Takes eviction priorities and prefetch sizes; whether there is a cache policy as the last operand, which is then
    checked.
    """
    while lowering.modifiers.one_of(_HINTS):
        pass
    if not lowering.modifiers.flag("L2::cache_hint"):
        return False
    lowering.register_of(lowering.operand(len(lowering.inst.operands) - 1), "D")
    return True


def _hint(levels: frozenset, operands: int):
    """A handler for a hint: one issue slot and no result. Its address must be valid all the same."""

    def lower(lowering):
        space = space_of(lowering)
        if not lowering.modifiers.one_of(levels) or space not in ("global", "local", "generic"):
            raise NoVariant(f"form .{space} of")
        lowering.count(operands)
        memory_operand(lowering, lowering.operand(0), space)
        lowering.emit("NOP")

    return lower


def _createpolicy(lowering):
    """The policy is an opaque value, and no access here asks what is in it: it holds what distinguishes one form from
    another.
    """
    m = lowering.modifiers
    form = m.one_of(("fractional", "range", "cvt"))
    lowering.modifiers.flag("global")
    if form == "cvt":
        m.flag("L2")
        m.type()
        lowering.count(2)
        return lowering.copy(lowering.dst(lowering.operand(0), "b64"), lowering.src(lowering.operand(1), "b64"))
    primary, secondary = m.one_of(_PRIORITIES), m.one_of(_PRIORITIES)
    m.type()
    if not form or not primary:
        raise NoVariant("form of")
    lowering.count(*((1, 2) if form == "fractional" else (4,)))
    if form == "range":
        memory_operand(lowering, lowering.operand(1), "generic")
    number = 1 + _PRIORITIES.index(primary) + 8 * (1 + _PRIORITIES.index(secondary) if secondary else 0)
    return lowering.copy(lowering.dst(lowering.operand(0), "b64"), Imm(number))


TABLE = {
    "prefetch": _hint(_LINES, 1), "prefetchu": _hint(_LINES, 1), "applypriority": _hint(_LINES, 2),
    "discard": _hint(_LINES, 2),
    "createpolicy": _createpolicy,
}  # fmt: skip
