"""Textures and surfaces: tex, tld4, txq, suld, sust, sured, suq, istypep. An operand `[handle, coordinates]` is an
`ast.Indexed`.
"""

from gpuprof.assemble.ir.values import Imm, NoVariant, pick, type_file, type_nbits
from gpuprof.assemble.lower.data.access import access_of, put_loaded
from gpuprof.assemble.lower.data.address import address_of
from gpuprof.assemble.lower.data.move import join, split
from gpuprof.assemble.ptx import ast
from gpuprof.assemble.ptx.parse_variables import OPAQUE_TYPES
from gpuprof.isa.families.texture import GATHER_GEOMETRIES, TEXTURE_GEOMETRIES
from gpuprof.isa.modifiers import FIELDS, QUERIES, pack

_MULTISAMPLED = ("2dms", "a2dms")
_GEOMETRIES = (*TEXTURE_GEOMETRIES, *_MULTISAMPLED)
# coordinates, whether the first is a layer
_SURFACE_GEOMETRIES = {"1d": (1, 0), "2d": (2, 0), "3d": (3, 0), "a1d": (2, 1), "a2d": (3, 1)}
_BOUNDS = ("trap", "clamp", "zero")
_CACHES = ("ca", "cg", "cs", "cv", "wb", "wt")  # they change no result
_COMPONENTS = ("r", "g", "b", "a")
_VECTORS = {"v2": 2, "v4": 4}
_RESULTS = {4: ("u32", "s32", "f32", "f16"), 2: ("f16x2",)}  # by number of registers
_SURFACE_QUERIES = ("width", "height", "depth", "channel_data_type", "channel_order", "array_size")
_LEVEL_QUERIES = ("width", "height", "depth")


# -- operands --------------------------------------------------------------------------------------


def _handle(lowering, name: ast.Name | None) -> int:
    """A handle in a D register: a 64-bit register, an opaque parameter, or the address of an opaque variable."""
    if name is None:
        raise lowering.error("expected a texture, a surface or a sampler")
    register = lowering.find_register(name)
    if register is not None:
        return lowering.register_of(name, "D")
    home = lowering.scope.find("homes", name.text)
    if home and home.where == "bank":
        return lowering.op("MOV.64", slot="a", const=True, imm=home.index)
    if home and home.where == "register":
        return home.index
    variable = lowering.layout.variables.get(name.text)
    if variable is None or variable.type not in OPAQUE_TYPES:
        raise lowering.error(f"{name.text} is not a texture, surface or sampler")
    return lowering.reg(address_of(lowering, name.text, 0, "D"), "D")


def _indexed(lowering, operand) -> tuple[int, int | None, tuple]:
    """(handle, sampler, coordinates) of `[handle, coordinates]` or `[handle, sampler, coordinates]`."""
    if not isinstance(operand, ast.Indexed) or operand.memory.offset or len(operand.indices) > 2:
        raise lowering.error("expected [texture, coordinates] or [texture, sampler, coordinates]")
    *sampler, coordinates = operand.indices
    handle = _handle(lowering, operand.memory.base)
    if sampler and not isinstance(sampler[0], ast.Name):
        raise lowering.error("the sampler must be a name")
    return handle, _handle(lowering, sampler[0]) if sampler else None, ast.elements_of(coordinates)


def _words(lowering, elements: tuple, kinds: list[str]) -> list:
    """The first len(kinds) elements as values; vectors may be longer, what is too much is not read."""
    if len(elements) < len(kinds):
        raise lowering.error(f"{len(elements)} coordinates, expected {len(kinds)}")
    return [lowering.src(element, kind) for element, kind in zip(elements, kinds, strict=False)]


def _group(lowering, values: list, file: str = "R"):
    """Values in consecutive registers."""
    if len(values) == 1:
        value = lowering.reg(values[0], file)
        if value is not None:
            return value
    registers = lowering.group(values, file)
    return registers if len(registers) > 1 else registers[0]


def _results(lowering, operand, count: int) -> tuple:
    """The registers of a fetch. `{...}|p`: p says whether the texels are there, which they always are."""
    if isinstance(operand, ast.Pair):
        lowering.copy(lowering.dst(operand.second, "pred"), None)
        operand = operand.first
    if not isinstance(operand, ast.Vector) or len(operand.elements) != count:
        raise lowering.error(f"expected a vector of {count} registers as the result")
    return operand.elements


# -- fetches ---------------------------------------------------------------------------------------


def _geometry(lowering, known) -> str:
    geometry = lowering.modifiers.one_of(_GEOMETRIES)
    if geometry not in known:
        raise NoVariant(f"geometry .{geometry} of" if geometry else "form without a geometry of")
    return geometry


def _result_type(lowering) -> tuple[int, str, str]:
    """(registers, type of each, type of the coordinates)."""
    ctype, dtype = lowering.modifiers.type(), lowering.modifiers.type()
    count = pick(_VECTORS, lowering.modifiers.one_of(_VECTORS))
    if dtype not in _RESULTS[count] or ctype not in ("f32", "s32"):
        raise NoVariant(f"type .v{count}.{dtype}.{ctype} of")
    return count, dtype, ctype


def _coordinate_kinds(geometry: str, ctype: str) -> list[str]:
    """A layer's number is an integer, whatever the other coordinates are."""
    n, _ = TEXTURE_GEOMETRIES[geometry]
    return ["s32"] + [ctype] * (n - 1) if geometry.startswith("a") else [ctype] * n


def _tex(lowering):
    m = lowering.modifiers
    form = m.one_of(("level", "grad", "base"))
    geometry = _geometry(lowering, TEXTURE_GEOMETRIES)
    count, dtype, ctype = _result_type(lowering)
    if "cube" in geometry and ctype != "f32":
        raise NoVariant(f"type .{ctype} of")
    extra = {"level": 1, "grad": 2}.get(form, 0)
    if len(lowering.inst.operands) > 2 + extra:
        raise NoVariant("texel offset or depth comparison of")
    lowering.count(2 + extra)
    handle, sampler, coordinates = _indexed(lowering, lowering.operand(1))
    values = _words(lowering, coordinates, _coordinate_kinds(geometry, ctype))
    for index in range(extra):
        _, n_dimensions = TEXTURE_GEOMETRIES[geometry]
        values += _words(
            lowering, ast.elements_of(lowering.operand(2 + index)), ["f32"] * (n_dimensions if form == "grad" else 1)
        )
    row = f"TEX.{geometry}{'' if form == 'base' else '.' * bool(form) + form}".upper()
    _fetch(lowering, row, handle, values, sampler, count, dtype, pack(ctype=ctype))


def _fetch(lowering, row: str, handle: int, values: list, sampler: int | None, count: int, dtype: str, mods: int):
    targets = _results(lowering, lowering.operand(0), count)
    group = lowering.temps("R", 4)
    lowering.emit(row, dst=group, a=handle, b=_group(lowering, values), c=sampler, mods=mods)
    if dtype == "f16x2":
        for target, low, high in zip(targets, group[::2], group[1::2], strict=True):
            lowering.copy(
                lowering.dst(target, "b32"), join(lowering, [_to_half(lowering, low), _to_half(lowering, high)], 16)
            )
        return
    for target, value in zip(targets, group, strict=True):
        lowering.copy(
            lowering.dst(target, "f16" if dtype == "f16" else "b32"),
            _to_half(lowering, value) if dtype == "f16" else value,
        )


def _to_half(lowering, value: int) -> int:
    return lowering.op("CVT.F16.F32", a=value)


def _tld4(lowering):
    component = lowering.modifiers.one_of(_COMPONENTS)
    geometry = _geometry(lowering, GATHER_GEOMETRIES)
    count, dtype, ctype = _result_type(lowering)
    if not component or ctype != "f32" or count != 4 or dtype == "f16":
        raise NoVariant("form of")
    if len(lowering.inst.operands) > 2:
        raise NoVariant("texel offset or depth comparison of")
    handle, sampler, coordinates = _indexed(lowering, lowering.operand(1))
    values = _words(lowering, coordinates, _coordinate_kinds(geometry, ctype))
    _fetch(lowering, f"TLD4.{geometry}".upper(), handle, values, sampler, count, dtype, pack(component=component))


# -- queries ---------------------------------------------------------------------------------------


def _queried(lowering) -> int:
    operand = lowering.operand(1)
    if not isinstance(operand, ast.Memory) or operand.offset:
        raise lowering.error("expected [texture], [surface] or [sampler]")
    return _handle(lowering, operand.base)


def _query(row: str, known: tuple):
    def lower(lowering):
        m = lowering.modifiers
        m.type()
        level = m.flag("level")
        query = m.one_of(_LEVEL_QUERIES if level else known)
        if not query or m.rest:
            raise NoVariant("query of")
        lowering.count(3 if level else 2)
        slots = {"b": lowering.src(lowering.operand(2), "u32")} if level else {}
        lowering.emit(
            row, dst=lowering.dst(lowering.operand(0), "b32"), a=_queried(lowering), mods=pack(query=query), **slots
        )

    return lower


def _istypep(lowering):
    kind = lowering.modifiers.one_of(OPAQUE_TYPES)
    if not kind:
        raise NoVariant("form of")
    lowering.count(2)
    handle = lowering.operand(1)
    lowering.emit(
        "ISTYPEP",
        dst=lowering.dst(lowering.operand(0), "pred"),
        a=_handle(lowering, handle if isinstance(handle, ast.Name) else None),
        mods=pack(opaque=kind),
    )


# -- surfaces --------------------------------------------------------------------------------------


def _surface_form(lowering) -> tuple[int, int]:
    """(coordinates, mods) of a surface instruction; cache hints are taken and forgotten."""
    m = lowering.modifiers
    geometry = m.one_of((*_SURFACE_GEOMETRIES, *_MULTISAMPLED))
    if geometry not in _SURFACE_GEOMETRIES:
        raise NoVariant(f"geometry .{geometry} of" if geometry else "form without a geometry of")
    m.one_of(_CACHES)
    n, layered = _SURFACE_GEOMETRIES[geometry]
    return n, pack(bounds=m.one_of(_BOUNDS, "trap")) | FIELDS["layered"].put(layered)


def _place(lowering, operand, count: int) -> dict:
    """Slots a and b of `[surface, coordinates]`."""
    handle, sampler, coordinates = _indexed(lowering, operand)
    if sampler is not None:
        raise lowering.error("a surface has no sampler")
    return {"a": handle, "b": _group(lowering, _words(lowering, coordinates, ["s32"] * count))}


def _vector(lowering) -> tuple[int, str, int]:
    """(elements, type, bits of one)."""
    kind = lowering.modifiers.type()
    elements = _VECTORS.get(lowering.modifiers.one_of(_VECTORS), 1)
    if kind not in ("b8", "b16", "b32", "b64") or elements * type_nbits(kind) > 128:
        raise NoVariant(f"type .v{elements}.{kind} of" if elements > 1 else f"type .{kind} of")
    return elements, kind, type_nbits(kind)


def _suld(lowering):
    if not lowering.modifiers.flag("b"):
        raise NoVariant("form of")
    n, mods = _surface_form(lowering)
    elements, kind, nbits = _vector(lowering)
    lowering.count(2)
    targets = ast.elements_of(lowering.operand(0))
    if len(targets) != elements:
        raise lowering.error(f"{len(targets)} registers for {elements} elements")
    row = f"SULD.{n}D.{access_of(elements, nbits, kind)}"
    place = _place(lowering, lowering.operand(1), n)
    if elements > 1 and nbits >= 32:
        values = [lowering.temp(type_file(kind)) for _ in targets]
        lowering.emit(row, dst=tuple(values), mods=mods, **place)
    else:
        value = lowering.op(row, mods=mods, **place)
        values = split(lowering, value, nbits * elements, nbits, [False] * elements) if elements > 1 else [value]
    for target, value in zip(targets, values, strict=True):
        put_loaded(lowering, target, kind, value)


def _sust(lowering):
    formatted = lowering.modifiers.one_of(("p", "b"))
    if not formatted:
        raise NoVariant("form of")
    n, mods = _surface_form(lowering)
    elements, kind, nbits = _vector(lowering)
    lowering.count(2)
    sources = ast.elements_of(lowering.operand(1))
    if len(sources) != elements:
        raise lowering.error(f"{len(sources)} registers for {elements} elements")
    place = _place(lowering, lowering.operand(0), n)
    values = [lowering.src(source, kind) for source in sources]
    if formatted == "p":
        if kind != "b32" or mods & FIELDS["layered"].put(1):
            raise NoVariant("form of")
        # Components that are not given are zero; a surface has no more than its own anyway.
        lowering.emit(f"SUST.P.{n}D", c=_group(lowering, values + [Imm(0)] * (4 - elements)), mods=mods, **place)
        return
    file = "D" if nbits == 64 else "R"
    if elements > 1 and nbits < 32:
        value = lowering.reg(join(lowering, values, nbits), "D" if nbits * elements == 64 else "R")
    else:
        value = _group(lowering, values, file)
    lowering.emit(f"SUST.{n}D.{access_of(elements, nbits, kind)}", c=value, mods=mods, **place)


_REDUCTION_ROWS = {("add", "s32"): "u32"}  # two's complement: the same sum


def _sured(lowering):
    m = lowering.modifiers
    form = m.one_of(("b", "p"))
    operation = m.one_of(("add", "min", "max", "and", "or"))
    n, mods = _surface_form(lowering)
    kind = m.type()
    if not form or not operation or mods & FIELDS["layered"].put(1):
        raise NoVariant("form of")
    lowering.count(2)
    place = _place(lowering, lowering.operand(0), n)
    value = lowering.reg(lowering.src(lowering.operand(1), kind), type_file(kind))
    row_kind = kind
    if form == "p":
        if (kind, operation) not in _FORMATTED:
            raise NoVariant("form of")
        row_kind, mods = _FORMATTED[kind, operation], mods | pack(sample=1)
    row_kind = _REDUCTION_ROWS.get((operation, row_kind), row_kind)
    lowering.emit(f"SURED.{operation}.{n}D.{row_kind}".upper(), c=value, mods=mods, **place)


# A formatted reduction takes its signedness from the surface; the emulator looks at the `sample` field.
_FORMATTED = {
    ("b32", "add"): "u32", ("b32", "min"): "u32", ("b32", "max"): "u32", ("b32", "and"): "b32", ("b32", "or"): "b32",
    ("b64", "min"): "u64", ("b64", "max"): "u64",
}  # fmt: skip

TABLE = {
    "tex": _tex, "tld4": _tld4, "txq": _query("TXQ", QUERIES), "suq": _query("SUQ", _SURFACE_QUERIES),
    "istypep": _istypep,
    "suld": _suld, "sust": _sust, "sured": _sured,
}  # fmt: skip
