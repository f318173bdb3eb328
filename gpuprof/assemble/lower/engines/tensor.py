"""Matrix multiplications of a warp, and the loads, stores and transpositions of their fragments."""

from gpuprof.assemble.ir.values import Imm, NoVariant
from gpuprof.assemble.lower.data.address import memory_operand, space_of
from gpuprof.assemble.ptx import ast
from gpuprof.isa.families.tensor import FORMS, TYPES_OF_UNIT, Form
from gpuprof.isa.modifiers import pack

UNIT_OF_TYPE = {t: unit for unit, types in TYPES_OF_UNIT.items() for t in types}
# PTX ISA, mma: "If .ctype is .f32, .dtype must be .f32"; the shapes with 16 rows want both alike (wmma does not).
FORM_OF = {(f.unit, f.m, f.n, f.k, f.d, f.c, f.sparse): f for f in FORMS.values() if not f.wgmma}


def file_of(spec: str) -> tuple[str, int]:
    """("R4") -> ("R", 4)."""
    return spec[0], int(spec[1:] or 1)


def gather(lowering, values: list, file: str):
    """Values in consecutive registers of their own: a register for one, a tuple for several, None when all are zero."""
    if all(isinstance(value, Imm) and value.bits == 0 for value in values):
        return None
    if len(values) == 1:
        return lowering.reg(values[0], file)
    return lowering.group(values, file)


def fresh(lowering, spec: str):
    """New registers for a result."""
    file, count = file_of(spec)
    return lowering.temp(file) if count == 1 else lowering.temps(file, count)


def members(group) -> tuple:
    return (group,) if isinstance(group, int) else group


def fragment(lowering, operand, spec: str, what: str) -> list:
    """The values of a fragment's registers."""
    file, count = file_of(spec)
    elements = ast.elements_of(operand)
    if len(elements) != count:
        raise lowering.error(f"{len(elements)} registers for {what}, which needs {count}")
    return [lowering.src(element, "b64" if file == "D" else "b32") for element in elements]


def put_fragment(lowering, operand, spec: str, group):
    file, count = file_of(spec)
    elements = ast.elements_of(operand)
    if len(elements) != count:
        raise lowering.error(f"{len(elements)} registers for the result, which needs {count}")
    for element, value in zip(elements, members(group), strict=True):
        lowering.copy(lowering.dst(element, "b64" if file == "D" else "b32"), value)


def emit_multiply(lowering, form: Form, a, b, c, **slots):
    """d = a * b + c on groups of registers; gives d's."""
    d = fresh(lowering, form.registers()[0])
    lowering.emit(form.name, dst=d, a=a, b=b, c=c, **slots)
    return d


# -- mma -------------------------------------------------------------------------------------------


def shape_of(lowering, text: str) -> tuple[int, int, int]:
    """ "m16n8k16" -> (16, 8, 16)."""
    parts = text[1:].replace("n", " ").replace("k", " ").split()
    if len(parts) != 3 or not all(part.isdigit() for part in parts):
        raise NoVariant(f"shape .{text} of")
    return tuple(map(int, parts))


def take_shape(lowering) -> tuple[int, int, int]:
    shape = lowering.modifiers.one_of([m for m in lowering.modifiers.rest if m[:1] == "m" and m[1:2].isdigit()])
    if not shape:
        raise NoVariant("form without a shape of")
    return shape_of(lowering, shape)


def take_layouts(lowering) -> tuple[str, str]:
    return lowering.modifiers.one_of(("row", "col")), lowering.modifiers.one_of(("row", "col"))


def element_mods(unit: str, type_a: str, type_b: str) -> dict[str, str]:
    return {"ta": type_a, "tb": type_b} if len(TYPES_OF_UNIT[unit]) > 1 else {}


def take_types(lowering) -> tuple[str, str, str, str]:
    """The last four modifiers: D, A, B, C."""
    m = lowering.modifiers
    if len(m.rest) != 4:
        raise NoVariant(f"variant .{'.'.join(m.rest)} of")
    types = tuple(m.rest)
    m.rest.clear()
    return types


def arithmetic_mods(lowering) -> dict[str, str | int]:
    """.satfinite, .rnd and the operation on bits, which are among the other modifiers."""
    m = lowering.modifiers
    mods: dict[str, str | int] = {}
    if m.flag("satfinite"):
        mods["satfinite"] = 1
    rounding = m.one_of(("rn", "rz", "rm", "rp"))
    if rounding:
        mods["rnd"] = rounding
    if m.flag("popc"):
        mods["logic"] = m.one_of(("xor", "and"))
    return mods


def form_of(unit: str, shape: tuple[int, int, int], d: str, c: str, sparse: bool = False) -> Form:
    form = FORM_OF.get((unit, *shape, d, c, sparse))
    if form is None:
        raise NoVariant(f"shape .m{shape[0]}n{shape[1]}k{shape[2]} with types .{d} and .{c} of")
    return form


def check_mods(form: Form, mods: dict) -> None:
    allowed = {"s8": ("satfinite",), "s4": ("satfinite",), "f64": ("rnd",), "b1": ("logic",)}.get(form.unit, ())
    for name, value in mods.items():
        if name not in allowed and name not in ("ta", "tb", "layout_a", "layout_b"):
            raise NoVariant(f"modifier .{name if value == 1 else value} with these types of")
    if form.unit == "b1" and mods.get("logic") not in ("xor", "and"):
        raise NoVariant("form without .xor.popc or .and.popc of")


def _mma(lowering):
    m = lowering.modifiers
    sparse = m.flag("sp") or m.flag("sp::ordered_metadata")
    if not (m.flag("sync") and m.flag("aligned")):
        raise NoVariant("form without .sync.aligned of")
    shape = take_shape(lowering)
    layouts = take_layouts(lowering)
    mods = arithmetic_mods(lowering)
    d, ta, tb, c = take_types(lowering)
    unit = UNIT_OF_TYPE.get(ta, "")
    if unit != UNIT_OF_TYPE.get(tb) or (unit == "f16" and ta != tb) or (ta == "bf16" and d != "f32"):
        raise NoVariant(f"types .{ta} and .{tb} of")
    form = form_of(unit, shape, d, c, sparse)
    if (form.is_volta and (d, c) == ("f16", "f32")) or (not form.is_volta and d != c):
        raise NoVariant(f"accumulators .{d} and .{c} of")
    if form.is_volta:
        mods |= {"layout_a": layouts[0], "layout_b": layouts[1]}
    elif layouts != ("row", "col"):
        raise NoVariant(f"layouts .{'.'.join(layouts)} of")
    mods |= element_mods(unit, ta, tb)
    check_mods(form, mods)
    lowering.count(6 if sparse else 4)
    emit_mma(lowering, form, mods)


def emit_mma(lowering, form: Form, mods: dict):
    specs = form.registers()
    a, b, c = (
        gather(lowering, fragment(lowering, lowering.operand(i + 1), specs[i + 1], f"matrix {name}"), specs[i + 1][0])
        for i, name in enumerate("ABC")
    )
    slots = {}
    if form.sparse:
        selector = lowering.src(lowering.operand(5), "u32")
        if not isinstance(selector, Imm) or selector.bits >= selectors(form):
            raise lowering.error(f"the sparsity selector must be a constant below {selectors(form)}")
        slots = {"e": lowering.reg(lowering.src(lowering.operand(4), "b32"), "R"), "imm": selector.bits}
    put_fragment(
        lowering, lowering.operand(0), specs[0], emit_multiply(lowering, form, a, b, c, mods=pack(**mods), **slots)
    )


def selectors(form: Form) -> int:
    """How many sets of metadata the four lanes' 64 bits for a row can hold; see `matrix.find_places`."""
    return 64 // (form.a_elements * {"tf32": 4, "s4": 1}.get(form.unit, 2))


# -- fragments -------------------------------------------------------------------------------------


def _matrices(lowering) -> tuple[int, dict, str]:
    """(number of 8 x 8 matrices, modifiers, letter of the space) of ldmatrix and stmatrix."""
    m = lowering.modifiers
    if not (m.flag("sync") and m.flag("aligned")):
        raise NoVariant("form without .sync.aligned of")
    if not m.flag("m8n8"):
        raise NoVariant("shape of")
    count = {"x1": 1, "x2": 2, "x4": 4}.get(m.one_of(("x1", "x2", "x4")), 0)
    mods = {"trans": int(m.flag("trans"))}
    space = space_of(lowering)
    if not count or not m.flag("b16") or space not in ("shared", "generic"):
        raise NoVariant("variant of")
    lowering.count(2)
    return count, mods, space


def _ldmatrix(lowering):
    count, mods, space = _matrices(lowering)
    address = memory_operand(lowering, lowering.operand(1), space)
    address["mods"] = address.get("mods", 0) | pack(**mods)
    spec = f"R{count}"
    group = fresh(lowering, spec)
    lowering.emit(f"LD{'S' if space == 'shared' else ''}M.{count}", dst=group, **address)
    put_fragment(lowering, lowering.operand(0), spec, group)


def _stmatrix(lowering):
    count, mods, space = _matrices(lowering)
    address = memory_operand(lowering, lowering.operand(0), space)
    address["mods"] = address.get("mods", 0) | pack(**mods)
    group = gather(lowering, fragment(lowering, lowering.operand(1), f"R{count}", "the matrices"), "R")
    lowering.emit(f"ST{'S' if space == 'shared' else ''}M.{count}", b=group, **address)


def _movmatrix(lowering):
    m = lowering.modifiers
    if not all([m.flag("sync"), m.flag("aligned"), m.flag("m8n8"), m.flag("trans"), m.flag("b16")]):
        raise NoVariant("form of")
    lowering.count(2)
    lowering.emit(
        "MOVM",
        dst=lowering.dst(lowering.operand(0), "b32"),
        a=lowering.reg(lowering.src(lowering.operand(1), "b32"), "R"),
    )


TABLE = {"mma": _mma, "ldmatrix": _ldmatrix, "stmatrix": _stmatrix, "movmatrix": _movmatrix}
