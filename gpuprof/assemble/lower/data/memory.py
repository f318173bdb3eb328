"""ld and st: which space, width, order and cache their modifiers say."""

from typing import NamedTuple

from gpuprof.assemble.ir.values import NoVariant
from gpuprof.assemble.lower.data.access import NARROW_ACCESS, VECTORS, load, store
from gpuprof.assemble.lower.data.address import memory_operand, space_of
from gpuprof.assemble.lower.data.atomic import ORDERS, SCOPES, fence_before
from gpuprof.assemble.lower.data.cache_hints import take_hints
from gpuprof.assemble.lower.data.parameters import load_parameter, store_parameter
from gpuprof.assemble.ptx import ast
from gpuprof.isa.modifiers import pack

_CACHES = ("ca", "cg", "cs", "lu", "cv", "wt", "wb")
_MEMORY_TYPES = frozenset(
    [*NARROW_ACCESS, "b32", "u32", "s32", "f32", "f16x2", "bf16x2", "b64", "u64", "s64", "f64", "b128"]
)


class _Access(NamedTuple):
    """The modifiers of a load or store, decoded. `policy`: an operand with a cache policy follows the others."""

    space: str
    order: str
    scope: str
    mods: int
    elements: int
    kind: str
    policy: bool


def _access_modifiers(lowering) -> _Access:
    """Hints are taken and forgotten; .b128 is two of 64 bits."""
    m = lowering.modifiers
    order = m.one_of(ORDERS)
    order = "mmio" if m.flag("mmio") else "" if order == "weak" else order
    scope = SCOPES.get(m.one_of(SCOPES), "")
    space = space_of(lowering)
    cache = m.one_of(_CACHES)
    # those say where to look, which matters more than that nothing is written
    if m.flag("nc") and cache not in ("cg", "cv"):
        cache = "nc"
    policy = take_hints(lowering)
    elements = VECTORS.get(m.one_of(VECTORS), 1)
    kind = m.type()
    if kind not in _MEMORY_TYPES or (kind == "b128" and elements > 1):
        raise NoVariant(f"type .{kind} of")
    if kind == "b128":
        elements, kind = 2, "b64"
    cache = "" if cache == "wb" else cache
    return _Access(space, order, scope, pack(sem=order, scope=scope, cache=cache), elements, kind, policy)


def _elements(lowering, index: int, count: int) -> tuple:
    elements = ast.elements_of(lowering.operand(index))
    if len(elements) != count:
        raise lowering.error(f"{len(elements)} registers for {count} elements")
    return elements


def _ld(lowering):
    space, _, _, mods, elements, kind, policy = _access_modifiers(lowering)
    lowering.count(3 if policy else 2)
    targets = _elements(lowering, 0, elements)
    if space == "param" and load_parameter(lowering, targets, lowering.operand(1), kind):
        return
    if space == "param" and not lowering.body.is_kernel:
        space = "local"
    load(lowering, space, targets, kind, memory_operand(lowering, lowering.operand(1), space), mods)


def _st(lowering):
    space, order, scope, mods, elements, kind, policy = _access_modifiers(lowering)
    lowering.count(3 if policy else 2)
    values = _elements(lowering, 1, elements)
    if space == "param" and store_parameter(lowering, values, lowering.operand(0), kind):
        return
    if space == "param":
        space = "local"
    fence_before(lowering, order, scope)
    address = memory_operand(lowering, lowering.operand(0), space)
    store(lowering, space, [lowering.src(v, kind) for v in values], kind, address, mods)


TABLE = {"ld": _ld, "ldu": _ld, "st": _st}
