"""mbarrier: memory barriers in shared memory, and asynchronous stores that report to one."""

from gpuprof.assemble.ir.values import Imm, NoVariant, pick, type_nbits
from gpuprof.assemble.lower.data.access import store
from gpuprof.assemble.lower.data.address import memory_operand
from gpuprof.assemble.lower.data.atomic import emit_atomic
from gpuprof.assemble.ptx import ast

_SPACES = ("shared", "shared::cta", "shared::cluster")
_ORDERS = ("weak", "relaxed", "acquire", "release")
_SCOPES = ("cta", "cluster", "gpu", "sys")
COMPLETE_TX = "mbarrier::complete_tx::bytes"
_SECOND = {"noComplete": "", "expect_tx": ".TX", "": ""}


def place(lowering, operand) -> dict:
    """Slots of an address in shared memory. A generic one keeps its 64 bits, so that the emulator sees when it lies
    elsewhere.
    """
    return memory_operand(lowering, operand, "shared")


def _take_qualifiers(lowering):
    """Orders and scopes change no result here: lanes take their turns."""
    lowering.modifiers.one_of(_ORDERS)
    lowering.modifiers.one_of(_SCOPES)
    lowering.modifiers.one_of(_SPACES)


def _mbarrier(lowering):
    operation = lowering.modifiers.one_of(tuple(_OPERATIONS))
    handler = pick(_OPERATIONS, operation)
    if operation != "pending_count":
        _take_qualifiers(lowering)
    handler(lowering, operation)


def _type(lowering):
    if lowering.modifiers.type() != "b64":
        raise NoVariant("form without .b64 of")


def _init(lowering, operation: str):
    _type(lowering)
    lowering.count(2)
    lowering.emit(
        "MBAR.INIT",
        b=lowering.reg(lowering.src(lowering.operand(1), "u32"), "R"),
        **place(lowering, lowering.operand(0)),
    )


def _inval(lowering, operation: str):
    _type(lowering)
    lowering.count(1)
    lowering.emit("MBAR.INVAL", **place(lowering, lowering.operand(0)))


def _arrive(lowering, operation: str):
    suffix = _SECOND[lowering.modifiers.one_of(("noComplete", "expect_tx"))]
    _type(lowering)
    n = lowering.count(1, 2, 3)
    # The sink may be left out: mbarrier.arrive.shared::cluster.b64 _, [a] and the older mbarrier.arrive [a].
    first = 0 if isinstance(lowering.operand(0), ast.Memory) else 1
    count = lowering.src(lowering.operand(first + 1), "u32") if n > first + 1 else Imm(1)
    dst = lowering.dst(lowering.operand(0), "b64") if first else None
    lowering.emit(
        f"MBAR.{operation.upper()}{suffix}",
        dst=dst,
        b=lowering.reg(count, "R"),
        **place(lowering, lowering.operand(first)),
    )


def _transaction(lowering, operation: str):
    _type(lowering)
    lowering.count(2)
    lowering.emit(
        f"MBAR.{operation.upper()}",
        b=lowering.reg(lowering.src(lowering.operand(1), "u32"), "R"),
        **place(lowering, lowering.operand(0)),
    )


def _wait(lowering, operation: str):
    parity = lowering.modifiers.flag("parity")
    _type(lowering)
    lowering.count(3, 4) if operation == "try_wait" else lowering.count(3)
    value = lowering.src(lowering.operand(2), "u32" if parity else "b64")
    value = lowering.reg(value, "R" if parity else "D")
    if len(lowering.inst.operands) == 4:  # the suspend-time hint has no effect here
        lowering.src(lowering.operand(3), "u32")
    row = f"MBAR.{operation.upper()}" + (".PARITY" if parity else "")
    lowering.emit(row, dst=lowering.dst(lowering.operand(0), "pred"), b=value, **place(lowering, lowering.operand(1)))


def _pending_count(lowering, operation: str):
    """The low 20 bits of what an arrival gives: see `emulate.collectives.mbarrier`."""
    _type(lowering)
    lowering.count(2)
    state = lowering.reg(lowering.src(lowering.operand(1), "b64"), "D")
    lowering.emit("AND", dst=lowering.dst(lowering.operand(0), "b32"), a=lowering.op("LO.64", a=state), b=Imm(0xFFFFF))


_OPERATIONS = {
    "init": _init, "inval": _inval, "arrive": _arrive, "arrive_drop": _arrive, "expect_tx": _transaction,
    "complete_tx": _transaction,
    "test_wait": _wait, "try_wait": _wait, "pending_count": _pending_count,
}  # fmt: skip


# -- st.async and red.async: the store and its report
# ------------------------------------------------------------------------------


def _report(lowering, operand, nbytes: int):
    lowering.emit("MBAR.COMPLETE_TX", b=lowering.reg(Imm(nbytes), "R"), **place(lowering, operand))


def _asynchronous(lowering):
    m = lowering.modifiers
    m.flag("async")
    _take_qualifiers(lowering)
    if not m.flag(COMPLETE_TX):
        raise NoVariant("form without .mbarrier::complete_tx::bytes of")


def _st_async(lowering):
    _asynchronous(lowering)
    elements = {"v2": 2, "v4": 4}.get(lowering.modifiers.one_of(("v2", "v4")), 1)
    kind = lowering.modifiers.type()
    lowering.count(3)
    values = ast.elements_of(lowering.operand(1))
    if len(values) != elements:
        raise lowering.error(f"{len(values)} registers for {elements} elements")
    if elements == 4 and type_nbits(kind) == 64:
        raise NoVariant("256-bit form of")
    store(lowering, "shared", [lowering.src(v, kind) for v in values], kind, place(lowering, lowering.operand(0)))
    _report(lowering, lowering.operand(2), elements * type_nbits(kind) // 8)


def _red_async(lowering):
    _asynchronous(lowering)
    operation = lowering.modifiers.one_of(("inc", "dec", "min", "max", "add", "and", "or", "xor")).upper()
    kind = lowering.modifiers.type()
    lowering.count(3)
    barrier = lowering.inst.operands.pop()
    try:
        emit_atomic(lowering, True, "shared", operation, kind, 0)
    finally:
        lowering.inst.operands.append(barrier)
    _report(lowering, barrier, type_nbits(kind) // 8)


def _cp_async_arrive(lowering):
    """Copies are done at once: with .noinc this is an arrival; without, one that was not expected before, so the counts
    stay. It has its place after the copies all the same, and the barrier must be there.
    """
    m = lowering.modifiers
    m.flag("async"), m.flag("mbarrier"), m.flag("arrive")
    noinc = m.flag("noinc")
    m.one_of(_SPACES)
    _type(lowering)
    lowering.count(1)
    address = place(lowering, lowering.operand(0))
    lowering.emit("MBAR.ARRIVE", dst=None, b=lowering.reg(Imm(int(noinc)), "R"), **address)


TABLE = {"mbarrier": _mbarrier}
FORMS = {
    ("st", "async"): _st_async,
    ("red", "async"): _red_async,
    ("cp", "mbarrier"): _cp_async_arrive,
}
