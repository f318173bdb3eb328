"""atom, red and fences."""

from gpuprof.assemble.ir.values import NoVariant, pick, type_file
from gpuprof.assemble.lower.data.access import VECTORS
from gpuprof.assemble.lower.data.address import memory_operand, space_of, with_mods
from gpuprof.assemble.lower.data.cache_hints import take_hints
from gpuprof.assemble.lower.data.move import join, unpack
from gpuprof.assemble.ptx import ast
from gpuprof.isa.families.memory import LETTER_OF_SPACE
from gpuprof.isa.modifiers import pack

ORDERS = ("weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "sc")
SCOPES = {"cta": "cta", "cluster": "cluster", "gpu": "gpu", "gl": "gpu", "sys": "sys"}
_ATOMIC_TYPES = {"s32": {"ADD": "u32"}, "s64": {"ADD": "u64"}, "u32": {}, "u64": {}}
_OPERATIONS = ("add", "and", "or", "xor", "min", "max", "inc", "dec", "exch", "cas")
# What a fence is between, where that is more than threads of its scope.
_PROXIES = frozenset(["alias", "async", "async::generic"])
_RESTRICTIONS = frozenset(["sync_restrict::shared::cta", "sync_restrict::shared::cluster", "mbarrier_init"])


RELEASING = frozenset(["release", "acq_rel"])


def fence_before(lowering, order: str, scope: str):
    """An access that releases comes after all that its thread has written: cards have no such access, so ptxas puts a
    fence of its scope in front of it.
    """
    if order in RELEASING:
        lowering.emit("MEMBAR", mods=pack(sem="release", scope=scope or "gpu"))


def _atomic(reduction: bool):
    def lower(lowering):
        m = lowering.modifiers
        order, scope = m.one_of(ORDERS), SCOPES.get(m.one_of(SCOPES), "")
        space = space_of(lowering)
        policy = take_hints(lowering)
        operation = m.one_of(_OPERATIONS).upper()
        m.flag("noftz")
        elements = VECTORS.get(m.one_of(VECTORS), 1)
        kind = m.type()
        if m.rest or space not in ("global", "shared", "generic"):
            raise NoVariant(f"form .{'.'.join([space, *m.rest])} of")
        lowering.count((1 if reduction else 2) + (2 if operation == "CAS" else 1) + policy)
        mods = pack(sem=order, scope=scope)
        fence_before(lowering, order, scope)
        if elements > 1 or kind == "b128":
            emit_vector_atomic(lowering, reduction, space, operation, kind, mods, elements)
        else:
            emit_atomic(lowering, reduction, space, operation, kind, mods)

    return lower


def emit_vector_atomic(lowering, reduction: bool, space: str, operation: str, kind: str, mods: int, elements: int):
    """Several elements in one instruction. Halves are packed into words: four f16 are V2.F16X2."""
    first = 0 if reduction else 1
    address = with_mods(memory_operand(lowering, lowering.operand(first), space), mods)
    halves = kind in ("f16", "bf16")
    words = elements // 2 if halves else 2 if kind == "b128" else elements
    file = "D" if kind == "b128" else "R"
    name = "b128" if kind == "b128" else kind + "x2" if halves else kind
    part = "b64" if kind == "b128" else kind
    groups = []
    for operand in lowering.inst.operands[first + 1 : first + (3 if operation == "CAS" else 2)]:
        values = [lowering.src(e, part) for e in _vector_elements(lowering, operand, 2 if kind == "b128" else elements)]
        values = [join(lowering, values[i : i + 2], 16) for i in range(0, elements, 2)] if halves else values
        groups.append(lowering.group(values, file))
    slots = dict(zip("bc", groups if words > 1 else [group[0] for group in groups], strict=False))
    vector = f"V{words}." if words > 1 and kind != "b128" else ""
    letter = LETTER_OF_SPACE[space]
    if reduction:
        lowering.emit(f"RED{letter}.{operation}.{vector}{name}".upper(), **slots, **address)
        return
    old = lowering.temps(file, words)
    lowering.emit(
        f"ATOM{letter}.{operation}.{vector}{name}".upper(), dst=old if words > 1 else old[0], **slots, **address
    )
    if ast.is_sink(lowering.operand(0)):
        return
    targets = _vector_elements(lowering, lowering.operand(0), 2 if kind == "b128" else elements)
    for index, word in enumerate(old):
        if halves:
            unpack(lowering, targets[2 * index : 2 * index + 2], "b32", word)
        else:
            lowering.copy(lowering.dst(targets[index], part), word)


def _vector_elements(lowering, operand, count: int) -> tuple:
    if not isinstance(operand, ast.Vector) or len(operand.elements) != count:
        raise lowering.error(f"expected a vector of {count} registers")
    return operand.elements


def emit_atomic(lowering, reduction: bool, space: str, operation: str, kind: str, mods: int):
    first = 0 if reduction else 1
    kind_of_row = _ATOMIC_TYPES.get(kind, {}).get(operation, kind)
    address = with_mods(memory_operand(lowering, lowering.operand(first), space), mods)
    file = type_file(kind)
    values = [lowering.reg(v, file) for v in lowering.srcs(first + 1, kind, 2 if operation == "CAS" else 1)]
    slots = dict(zip("bc", values, strict=False))
    sink = reduction or ast.is_sink(lowering.operand(0))
    if sink and operation not in ("EXCH", "CAS"):
        lowering.emit(f"RED{LETTER_OF_SPACE[space]}.{operation}.{kind_of_row}".upper(), **slots, **address)
    else:
        dst = None if sink else lowering.dst(lowering.operand(0), kind)
        lowering.emit(f"ATOM{LETTER_OF_SPACE[space]}.{operation}.{kind_of_row}".upper(), dst=dst, **slots, **address)


def _membar(lowering):
    """All fences wait for the warp's stores. Without a scope (a fence between proxies, which no chip lets a thread
    limit) it is the block's.
    """
    m = lowering.modifiers
    m.one_of(("sc", "acq_rel", "acquire", "release"))
    scope = ""
    if m.flag("proxy"):
        if not m.one_of(_PROXIES):
            raise NoVariant("proxy of")
        m.one_of(("global", "shared::cta", "shared::cluster"))
        scope = "cta"
    m.one_of(_RESTRICTIONS)
    scope = pick(SCOPES, m.one_of(SCOPES) or scope)
    lowering.count(0)
    lowering.emit("MEMBAR", mods=pack(scope=scope))


TABLE = {"atom": _atomic(False), "red": _atomic(True), "membar": _membar, "fence": _membar}
