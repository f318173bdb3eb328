"""cp.async: copies from global to shared memory, and their groups."""

from gpuprof.assemble.ir.values import Imm, NoVariant
from gpuprof.assemble.lower.data.address import address_value, memory_operand, with_mods
from gpuprof.assemble.lower.data.cache_hints import take_hints
from gpuprof.isa.modifiers import pack

_SIZES = (4, 8, 16)


def _cp(lowering):
    if not lowering.modifiers.flag("async"):
        raise NoVariant("form of")
    form = lowering.modifiers.one_of(("commit_group", "wait_group", "wait_all"))
    return {"commit_group": _commit, "wait_group": _wait, "wait_all": _wait, "": _copy}[form](lowering)


def _commit(lowering):
    lowering.count(0)
    lowering.emit("CP.ASYNC.COMMIT")


def _wait(lowering):
    """wait_all: a commit, and then no group may be on its way."""
    newest = 0
    if lowering.inst.modifiers[-1] == "wait_all":
        lowering.count(0)
        lowering.emit("CP.ASYNC.COMMIT")
    else:
        lowering.count(1)
        newest = _constant(lowering, lowering.operand(0))
    lowering.emit("CP.ASYNC.WAIT", imm=newest)


def _constant(lowering, operand) -> int:
    value = lowering.src(operand, "u32")
    if not isinstance(value, Imm):
        raise lowering.error("the number must be a constant")
    return value.bits


def _copy(lowering):
    """[shared], [global], size {, bytes to take | predicate that says to take none} {, cache policy}"""
    m = lowering.modifiers
    cache = m.one_of(("ca", "cg"))
    to, source = m.one_of(("shared", "shared::cta")), m.one_of(("global",))
    if not (cache and to and source):
        raise NoVariant("form of")
    policy = take_hints(lowering)
    n = lowering.count(3 + policy, 4 + policy) - policy
    size = _constant(lowering, lowering.operand(2))
    if size not in _SIZES or (cache == "cg" and size != 16):
        raise lowering.error(f"{size} bytes cannot be copied: .ca takes 4, 8 or 16, .cg takes 16")
    slots = with_mods(memory_operand(lowering, lowering.operand(1), "global"), pack(cache=cache))
    slots["b"] = lowering.reg(address_value(lowering, lowering.operand(0)), "R")
    if n == 4:
        lowering.emit(f"CP.ASYNC.{size}.Z", c=_bytes_to_take(lowering, lowering.operand(3), size), **slots)
    else:
        lowering.emit(f"CP.ASYNC.{size}", **slots)


def _bytes_to_take(lowering, operand, size: int):
    register = lowering.find_register(operand)
    if register is None or register.nbits > 1:
        return lowering.reg(lowering.src(operand, "u32"), "R")
    return lowering.op("SEL", a=None, b=lowering.reg(Imm(size), "R"), e=register.number)


TABLE = {"cp": _cp}
