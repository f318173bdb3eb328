"""cp.async: copies from global to shared memory, and their groups."""

from gpuprof.assemble.lower_address import address_value, memory_operand, with_mods
from gpuprof.assemble.lower_cache import take_hints
from gpuprof.assemble.values import Imm, NoVariant
from gpuprof.isa.modifiers import pack

_SIZES = (4, 8, 16)


def _cp(lo):
    if not lo.modifiers.flag("async"):
        raise NoVariant("form of")
    form = lo.modifiers.one_of(("commit_group", "wait_group", "wait_all"))
    return {"commit_group": _commit, "wait_group": _wait, "wait_all": _wait, "": _copy}[form](lo)


def _commit(lo):
    lo.count(0)
    lo.emit("CP.ASYNC.COMMIT")


def _wait(lo):
    """wait_all: a commit, and then no group may be on its way."""
    newest = 0
    if lo.inst.modifiers[-1] == "wait_all":
        lo.count(0)
        lo.emit("CP.ASYNC.COMMIT")
    else:
        lo.count(1)
        newest = _constant(lo, lo.operand(0))
    lo.emit("CP.ASYNC.WAIT", imm=newest)


def _constant(lo, operand) -> int:
    value = lo.src(operand, "u32")
    if not isinstance(value, Imm):
        raise lo.error("the number must be a constant")
    return value.bits


def _copy(lo):
    """[shared], [global], size {, bytes to take | predicate that says to take none} {, cache policy}"""
    m = lo.modifiers
    cache = m.one_of(("ca", "cg"))
    to, source = m.one_of(("shared", "shared::cta")), m.one_of(("global",))
    if not (cache and to and source):
        raise NoVariant("form of")
    policy = take_hints(lo)
    n = lo.count(3 + policy, 4 + policy) - policy
    size = _constant(lo, lo.operand(2))
    if size not in _SIZES or (cache == "cg" and size != 16):
        raise lo.error(f"{size} bytes cannot be copied: .ca takes 4, 8 or 16, .cg takes 16")
    slots = with_mods(memory_operand(lo, lo.operand(1), "global"), pack(cache=cache))
    slots["b"] = lo.reg(address_value(lo, lo.operand(0)), "R")
    if n == 4:
        lo.emit(f"CP.ASYNC.{size}.Z", c=_bytes_to_take(lo, lo.operand(3), size), **slots)
    else:
        lo.emit(f"CP.ASYNC.{size}", **slots)


def _bytes_to_take(lo, operand, size: int):
    register = lo.find_register(operand)
    if register is None or register.nbits > 1:
        return lo.reg(lo.src(operand, "u32"), "R")
    return lo.op("SEL", a=None, b=lo.reg(Imm(size), "R"), e=register.number)


TABLE = {"cp": _cp}
