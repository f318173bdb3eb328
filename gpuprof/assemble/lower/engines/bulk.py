"""cp.async.bulk and its relatives: copies of whole arrays and of tensor tiles, and what changes a tensor map.

Operands that a row takes as a group are in fresh consecutive registers: see `isa.families.bulk`.
"""

from gpuprof.assemble.ir.values import Imm, NoVariant, pick
from gpuprof.assemble.lower.data.access import store
from gpuprof.assemble.lower.data.address import address_value, memory_operand, with_mods
from gpuprof.assemble.lower.flow.mbarrier import COMPLETE_TX
from gpuprof.assemble.ptx import ast
from gpuprof.isa.modifiers import FIELDS, pack
from gpuprof.isa.tensormap import ELEMENT_TYPES, MAGIC, OFFSETS

_TO = ("shared::cluster", "shared::cta", "global")
_HINT = "L2::cache_hint"
_REDUCTIONS = FIELDS["redop"].names
_DIMENSIONS = FIELDS["dim"].names[1:]
# PTX ISA, cp.reduce.async.bulk: the types of each operation.
_SHARED_TYPES = {
    "and": ("b32",), "or": ("b32",), "xor": ("b32",), "inc": ("u32",), "dec": ("u32",), "add": ("u32", "s32", "u64"),
    "min": ("u32", "s32"), "max": ("u32", "s32"),
}  # fmt: skip
_GLOBAL_TYPES = {
    "and": ("b32", "b64"), "or": ("b32", "b64"), "xor": ("b32", "b64"), "inc": ("u32",), "dec": ("u32",),
    "add": ("u32", "s32", "u64", "f16", "bf16", "f32", "f64"), "min": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "max": ("u32", "s32", "u64", "s64", "f16", "bf16"),
}  # fmt: skip


def _group(lowering, values: list, width: int) -> tuple[int, ...]:
    return lowering.group(values + [Imm(0)] * (width - len(values)), "R")


def _take_policy(lowering, operands: list) -> list:
    """The cache policy comes last and changes no result."""
    if not lowering.modifiers.flag(_HINT):
        return operands
    if not operands:
        raise lowering.error("the cache policy is missing")
    lowering.src(operands[-1], "b64")
    return operands[:-1]


def _spaces(lowering) -> tuple[str, str]:
    """(destination, source) in the order they are written."""
    spaces = [lowering.modifiers.one_of(_TO) for _ in range(2)]
    if not all(spaces):
        raise NoVariant("form of")
    return spaces[0], spaces[1]


def _expect(lowering, operands: list, *counts: int) -> None:
    if len(operands) not in counts:
        raise lowering.error(f"{len(lowering.inst.operands)} operands do not fit this form")


def _cp(lowering):
    """cp{.reduce}.async.bulk{.tensor, .prefetch, .commit_group, .wait_group}"""
    m = lowering.modifiers
    reduce = m.flag("reduce")
    if not m.flag("async") or not m.flag("bulk"):
        raise NoVariant("form of")
    if m.flag("commit_group"):
        lowering.count(0)
        return lowering.emit("BULK.COMMIT")
    if m.flag("wait_group"):
        row = "BULK.WAIT.READ" if m.flag("read") else "BULK.WAIT"
        lowering.count(1)
        count = lowering.src(lowering.operand(0), "u32")
        if not isinstance(count, Imm):
            raise lowering.error("the number of groups must be a constant")
        return lowering.emit(row, imm=count.bits)
    prefetch = m.flag("prefetch")
    if m.flag("tensor"):
        return _tensor(lowering, reduce, prefetch)
    if prefetch:
        return _prefetch(lowering)
    return _bulk(lowering, reduce)


# -- arrays ----------------------------------------------------------------------------------------


def _prefetch(lowering):
    lowering.modifiers.flag("L2")
    lowering.modifiers.flag("global")
    operands = _take_policy(lowering, list(lowering.inst.operands))
    _expect(lowering, operands, 2)
    lowering.emit(
        "BULK.PREFETCH",
        b=lowering.reg(lowering.src(operands[1], "u32"), "R"),
        **memory_operand(lowering, operands[0], "global"),
    )


def _bulk(lowering, reduce: bool):
    m = lowering.modifiers
    to, source = _spaces(lowering)
    operands = _take_policy(lowering, list(lowering.inst.operands))
    mods = _reduction(lowering, to) if reduce else 0
    if to == "global" and source == "shared::cta":
        return _to_global(lowering, operands, reduce, mods)
    if not m.flag(COMPLETE_TX):
        raise NoVariant("form without .mbarrier::complete_tx::bytes of")
    multicast = m.flag("multicast::cluster")
    if source == "global" and not reduce:
        _expect(lowering, operands, 5 if multicast else 4)
        mask = lowering.src(operands[4], "b16") if multicast else Imm(0)
        values = [
            address_value(lowering, operands[0]),
            lowering.src(operands[2], "u32"),
            address_value(lowering, operands[3]),
            mask,
        ]
        return lowering.emit(
            "BULK.LOAD", b=_group(lowering, values, 4), **memory_operand(lowering, operands[1], "global")
        )
    if to != "shared::cluster" or source != "shared::cta" or multicast:
        raise NoVariant("form of")
    _expect(lowering, operands, 4)
    values = [
        address_value(lowering, operands[0]),
        lowering.src(operands[2], "u32"),
        address_value(lowering, operands[3]),
    ]
    row = "BULK.RED.SHARED" if reduce else "BULK.COPY"
    return lowering.emit(
        row, b=_group(lowering, values, 4), **with_mods(memory_operand(lowering, operands[1], "shared"), mods)
    )


def _reduction(lowering, to: str) -> int:
    operation = lowering.modifiers.one_of(_REDUCTIONS)
    lowering.modifiers.flag("noftz")
    kind = lowering.modifiers.type()
    if kind not in pick(_GLOBAL_TYPES if to == "global" else _SHARED_TYPES, operation):
        raise NoVariant(f"variant .{operation}.{kind} of")
    return pack(redop=operation, redtype=kind)


def _to_global(lowering, operands: list, reduce: bool, mods: int):
    m = lowering.modifiers
    if not m.flag("bulk_group"):
        raise NoVariant("form without .bulk_group of")
    masked = m.flag("cp_mask")
    _expect(lowering, operands, 4 if masked else 3)
    # The byte mask takes the third place; without one all bytes of each 16 are written.
    mask = lowering.src(operands[3], "b16") if masked else Imm(0xFFFF)
    values = [address_value(lowering, operands[1]), lowering.src(operands[2], "u32"), Imm(0), mask]
    row = "BULK.RED" if reduce else "BULK.STORE"
    return lowering.emit(
        row, b=_group(lowering, values, 4), **with_mods(memory_operand(lowering, operands[0], "global"), mods)
    )


# -- tensors ---------------------------------------------------------------------------------------


_MODES_MISSING = ("tile::gather4", "tile::scatter4", "im2col::w", "im2col::w::128")


def _map_and_coordinates(lowering, operand, dimensions: int) -> tuple[dict, list]:
    if (
        not isinstance(operand, ast.Indexed)
        or len(operand.indices) != 1
        or not isinstance(operand.indices[0], ast.Vector)
    ):
        raise lowering.error("expected [tensorMap, {coordinates}]")
    coordinates = operand.indices[0].elements
    if len(coordinates) != dimensions:
        raise lowering.error(f"{len(coordinates)} coordinates for {dimensions} dimensions")
    return memory_operand(lowering, operand.memory, "generic"), [lowering.src(each, "s32") for each in coordinates]


def _tensor(lowering, reduce: bool, prefetch: bool):
    m = lowering.modifiers
    dimension = m.one_of(_DIMENSIONS)
    dimensions = pick({name: number for number, name in enumerate(_DIMENSIONS, 1)}, dimension)
    to = m.one_of(("L2",)) if prefetch else m.one_of(_TO)
    source = m.one_of(_TO)
    operation = m.one_of(_REDUCTIONS) if reduce else ""
    if reduce and not operation:
        raise NoVariant("form without an operation of")
    if missing := m.one_of(_MODES_MISSING):
        raise NoVariant(f"mode .{missing} of")
    mode = m.one_of(("tile", "im2col", "im2col_no_offs"), "tile")
    if mode != "tile" and dimensions < 3:
        raise lowering.error("im2col needs 3 to 5 dimensions")
    mods = pack(dim=dimension, im2col=int(mode != "tile")) | (pack(redop=operation) if reduce else 0)
    operands = _take_policy(lowering, list(lowering.inst.operands))
    if to == "global" and source == "shared::cta":
        return _tensor_store(lowering, operands, dimensions, mods, reduce)
    if source != "global" or reduce or to == "global":
        raise NoVariant("form of")
    return _tensor_load(lowering, operands, dimensions, mods, prefetch, mode == "im2col")


def _tensor_load(lowering, operands: list, dimensions: int, mods: int, prefetch: bool, im2col: bool):
    m = lowering.modifiers
    multicast = m.flag("multicast::cluster")
    if not prefetch and not m.flag(COMPLETE_TX):
        raise NoVariant("form without .mbarrier::complete_tx::bytes of")
    first = 0 if prefetch else 1
    _expect(lowering, operands, 1 + 2 * first + im2col + multicast)
    slots, coordinates = _map_and_coordinates(lowering, operands[first], dimensions)
    rest = operands[2 * first + 1 :]
    offsets = _offsets(lowering, rest.pop(0), dimensions) if im2col else None
    mask = lowering.src(rest.pop(0), "b16") if multicast else Imm(0)
    target = (
        [Imm(0), Imm(0)] if prefetch else [address_value(lowering, operands[0]), address_value(lowering, operands[2])]
    )
    row = "TMA.PREFETCH" if prefetch else "TMA.LOAD"
    lowering.emit(row, b=_group(lowering, [*target, mask, *coordinates], 8), c=offsets, **with_mods(slots, mods))


def _offsets(lowering, operand, dimensions: int):
    """The im2col offsets, 16 bits each, packed into a D register."""
    if not isinstance(operand, ast.Vector) or len(operand.elements) != dimensions - 2:
        raise lowering.error(f"expected {dimensions - 2} im2col offsets in braces")
    values = [lowering.src(each, "u16") for each in operand.elements]
    values += [Imm(0)] * (4 - len(values))
    low, high = (_pair(lowering, *values[k : k + 2]) for k in (0, 2))
    return lowering.op("PACK.64", a=lowering.reg(low, "R"), b=lowering.reg(high, "R"))


def _pair(lowering, low, high):
    if isinstance(high, Imm) and high.bits == 0:
        return lowering.op("AND", a=lowering.reg(low, "R"), b=Imm(0xFFFF)) if not isinstance(low, Imm) else low
    shifted = lowering.op("SHL", a=lowering.reg(high, "R"), b=Imm(16))
    return lowering.op("OR", a=shifted, b=lowering.op("AND", a=lowering.reg(low, "R"), b=Imm(0xFFFF)))


def _tensor_store(lowering, operands: list, dimensions: int, mods: int, reduce: bool):
    if not lowering.modifiers.flag("bulk_group"):
        raise NoVariant("form without .bulk_group of")
    _expect(lowering, operands, 2)
    slots, coordinates = _map_and_coordinates(lowering, operands[0], dimensions)
    values = [address_value(lowering, operands[1]), Imm(0), Imm(0), *coordinates]
    lowering.emit("TMA.RED" if reduce else "TMA.STORE", b=_group(lowering, values, 8), **with_mods(slots, mods))


# -- tensor maps -----------------------------------------------------------------------------------

_FIELDS = (
    "global_address", "rank", "box_dim", "global_dim", "global_stride", "element_stride", "elemtype",
    "interleave_layout",
    "swizzle_mode", "swizzle_atomicity", "fill_mode",
)  # fmt: skip
_WITH_ORDINAL = frozenset(["box_dim", "global_dim", "global_stride", "element_stride"])
_BYTES = frozenset(["elemtype", "interleave_layout", "swizzle_mode", "swizzle_atomicity", "fill_mode"])


def _tensormap(lowering):
    if lowering.modifiers.flag("cp_fenceproxy"):
        return _copy_map(lowering)
    return _replace(lowering)


def _replace(lowering):
    """A field of our tensor map is a plain word: it is stored where it belongs."""
    m = lowering.modifiers
    if not m.flag("replace") or not m.flag("tile"):
        raise NoVariant("form of")
    name = m.one_of(_FIELDS)
    space = {"global": "global", "shared::cta": "shared", "": "generic"}[m.one_of(("global", "shared::cta"))]
    m.flag("b1024")
    kind = m.type()
    offset = pick(OFFSETS, name)
    lowering.count(3 if name in _WITH_ORDINAL else 2)
    if name in _WITH_ORDINAL:
        ordinal = lowering.src(lowering.operand(1), "b32")
        if not isinstance(ordinal, Imm) or ordinal.bits >= (4 if name == "global_stride" else 5):
            raise lowering.error("the ordinal is a constant below the number of dimensions")
        offset += ordinal.bits * (8 if kind == "b64" else 4)
    value = lowering.src(lowering.inst.operands[-1], kind)
    if name == "elemtype" and isinstance(value, Imm) and value.bits not in ELEMENT_TYPES:
        raise NoVariant(f"element type {value.bits} in")
    _store_field(lowering, space, offset, value, "b8" if name in _BYTES else kind)
    if name == "global_address":  # a map may be made of zeros, field by field: from now on it is one
        _store_field(lowering, space, OFFSETS["magic"], Imm(MAGIC), "b16")


def _store_field(lowering, space: str, offset: int, value, kind: str):
    slots = memory_operand(lowering, lowering.operand(0), space)
    slots["imm"] = slots.get("imm", 0) + offset & 0xFFFFFFFF
    store(lowering, space, [value], kind, slots)


def _copy_map(lowering):
    """tensormap.cp_fenceproxy: 128 bytes from shared to global memory; every lane of the warp writes the same."""
    m = lowering.modifiers
    for name in ("global", "shared::cta", "tensormap::generic", "release"):
        if not m.flag(name):
            raise NoVariant(f"form without .{name} of")
    m.one_of(("cta", "cluster", "gpu", "sys"))
    m.flag("sync"), m.flag("aligned")
    lowering.count(3)
    for offset in range(0, 128, 16):
        parts = lowering.temps("R", 4)
        source, target = (
            memory_operand(lowering, lowering.operand(k), space) for k, space in ((1, "shared"), (0, "global"))
        )
        source["imm"] += offset
        target["imm"] += offset
        lowering.emit("LDS.V4.32", dst=parts, **source)
        lowering.emit("STG.V4.32", b=lowering.group(parts, "R"), **target)


def _prefetch_map(lowering):
    """prefetch.tensormap: a hint."""
    lowering.modifiers.rest.clear()
    lowering.count(1)
    lowering.emit("NOP")


TABLE = {"tensormap": _tensormap}
FORMS = {("cp", "bulk"): _cp, ("prefetch", "tensormap"): _prefetch_map}
