"""mbarrier: memory barriers in shared memory, and asynchronous stores that report to one."""

from gpuprof.assemble import ast
from gpuprof.assemble.lower_access import store
from gpuprof.assemble.lower_address import memory_operand
from gpuprof.assemble.lower_atomic import emit_atomic
from gpuprof.assemble.values import Imm, NoVariant, pick, type_nbits

_SPACES = ("shared", "shared::cta", "shared::cluster")
_ORDERS = ("weak", "relaxed", "acquire", "release")
_SCOPES = ("cta", "cluster", "gpu", "sys")
COMPLETE_TX = "mbarrier::complete_tx::bytes"
_SECOND = {"noComplete": "", "expect_tx": ".TX", "": ""}


def place(lo, operand) -> dict:
    """Slots of an address in shared memory. A generic one keeps its 64 bits, so that the emulator sees when it lies
    elsewhere.
    """
    return memory_operand(lo, operand, "shared")


def _take_qualifiers(lo):
    """Orders and scopes change no result here: lanes take their turns."""
    lo.modifiers.one_of(_ORDERS)
    lo.modifiers.one_of(_SCOPES)
    lo.modifiers.one_of(_SPACES)


def _mbarrier(lo):
    operation = lo.modifiers.one_of(tuple(_OPERATIONS))
    handler = pick(_OPERATIONS, operation)
    if operation != "pending_count":
        _take_qualifiers(lo)
    handler(lo, operation)


def _type(lo):
    if lo.modifiers.type() != "b64":
        raise NoVariant("form without .b64 of")


def _init(lo, operation: str):
    _type(lo)
    lo.count(2)
    lo.emit("MBAR.INIT", b=lo.reg(lo.src(lo.operand(1), "u32"), "R"), **place(lo, lo.operand(0)))


def _inval(lo, operation: str):
    _type(lo)
    lo.count(1)
    lo.emit("MBAR.INVAL", **place(lo, lo.operand(0)))


def _arrive(lo, operation: str):
    suffix = _SECOND[lo.modifiers.one_of(("noComplete", "expect_tx"))]
    _type(lo)
    n = lo.count(1, 2, 3)
    # The sink may be left out: mbarrier.arrive.shared::cluster.b64 _, [a] and the older mbarrier.arrive [a].
    first = 0 if isinstance(lo.operand(0), ast.Memory) else 1
    count = lo.src(lo.operand(first + 1), "u32") if n > first + 1 else Imm(1)
    dst = lo.dst(lo.operand(0), "b64") if first else None
    lo.emit(f"MBAR.{operation.upper()}{suffix}", dst=dst, b=lo.reg(count, "R"), **place(lo, lo.operand(first)))


def _transaction(lo, operation: str):
    _type(lo)
    lo.count(2)
    lo.emit(f"MBAR.{operation.upper()}", b=lo.reg(lo.src(lo.operand(1), "u32"), "R"), **place(lo, lo.operand(0)))


def _wait(lo, operation: str):
    parity = lo.modifiers.flag("parity")
    _type(lo)
    lo.count(3, 4) if operation == "try_wait" else lo.count(3)
    value = lo.src(lo.operand(2), "u32" if parity else "b64")
    value = lo.reg(value, "R" if parity else "D")
    if len(lo.inst.operands) == 4:  # the suspend-time hint: nobody waits in vain here
        lo.src(lo.operand(3), "u32")
    row = f"MBAR.{operation.upper()}" + (".PARITY" if parity else "")
    lo.emit(row, dst=lo.dst(lo.operand(0), "pred"), b=value, **place(lo, lo.operand(1)))


def _pending_count(lo, operation: str):
    """The low 20 bits of what an arrival gives: see `emulate.mbarrier`."""
    _type(lo)
    lo.count(2)
    state = lo.reg(lo.src(lo.operand(1), "b64"), "D")
    lo.emit("AND", dst=lo.dst(lo.operand(0), "b32"), a=lo.op("LO.64", a=state), b=Imm(0xFFFFF))


_OPERATIONS = {
    "init": _init, "inval": _inval, "arrive": _arrive, "arrive_drop": _arrive, "expect_tx": _transaction,
    "complete_tx": _transaction,
    "test_wait": _wait, "try_wait": _wait, "pending_count": _pending_count,
}  # fmt: skip


# -- st.async and red.async: the store and its report
# ------------------------------------------------------------------------------


def _report(lo, operand, nbytes: int):
    lo.emit("MBAR.COMPLETE_TX", b=lo.reg(Imm(nbytes), "R"), **place(lo, operand))


def _asynchronous(lo):
    m = lo.modifiers
    m.flag("async")
    _take_qualifiers(lo)
    if not m.flag(COMPLETE_TX):
        raise NoVariant("form without .mbarrier::complete_tx::bytes of")


def _st_async(lo):
    _asynchronous(lo)
    elements = {"v2": 2, "v4": 4}.get(lo.modifiers.one_of(("v2", "v4")), 1)
    kind = lo.modifiers.type()
    lo.count(3)
    values = ast.elements_of(lo.operand(1))
    if len(values) != elements:
        raise lo.error(f"{len(values)} registers for {elements} elements")
    if elements == 4 and type_nbits(kind) == 64:
        raise NoVariant("256-bit form of")
    store(lo, "shared", [lo.src(v, kind) for v in values], kind, place(lo, lo.operand(0)))
    _report(lo, lo.operand(2), elements * type_nbits(kind) // 8)


def _red_async(lo):
    _asynchronous(lo)
    operation = lo.modifiers.one_of(("inc", "dec", "min", "max", "add", "and", "or", "xor")).upper()
    kind = lo.modifiers.type()
    lo.count(3)
    barrier = lo.inst.operands.pop()
    try:
        emit_atomic(lo, True, "shared", operation, kind, 0)
    finally:
        lo.inst.operands.append(barrier)
    _report(lo, barrier, type_nbits(kind) // 8)


def _cp_async_arrive(lo):
    """Copies are done at once: with .noinc this is an arrival; without, one that was not expected before, so nothing
    changes.
    """
    m = lo.modifiers
    m.flag("async"), m.flag("mbarrier"), m.flag("arrive")
    noinc = m.flag("noinc")
    m.one_of(_SPACES)
    _type(lo)
    lo.count(1)
    address = place(lo, lo.operand(0))
    if noinc:
        lo.emit("MBAR.ARRIVE", dst=None, b=lo.reg(Imm(1), "R"), **address)
    else:
        lo.emit("NOP")


TABLE = {"mbarrier": _mbarrier}
FORMS = {
    ("st", "async"): _st_async,
    ("red", "async"): _red_async,
    ("cp", "mbarrier"): _cp_async_arrive,
}
