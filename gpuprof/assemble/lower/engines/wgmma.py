"""wgmma: what a warp group multiplies, one row of the table for each 8 columns of B and D.

Each warp has 16 of the 64 rows, and of 8 columns of D its four (f16: two) registers are a fragment of mma. PTX starts
the multiplication and waits for it later; here it is done when the next instruction runs, which makes no difference to a
program that waits.
"""

from gpuprof.assemble.ir.values import Imm, NoVariant
from gpuprof.assemble.lower.engines.tensor import UNIT_OF_TYPE, fresh, gather, members, take_shape
from gpuprof.assemble.ptx import ast
from gpuprof.isa.families.tensor import FORMS, TYPES_OF_UNIT, Form
from gpuprof.isa.modifiers import pack

FORM_OF = {(f.unit, f.k, f.d, f.wgmma): f for f in FORMS.values() if f.wgmma}
# Immediates after scale-d, by unit: what scales A and B, and which of them are transposed (only descriptors are).
SCALED, TRANSPOSED = ("f16", "tf32", "f8"), ("f16",)
MOST_GROUPS = 7  # that wgmma.wait_group may leave on their way
COARSE = ("s8", "b1")  # from 32 columns on only multiples of 16


def _multiply(lowering):
    m = lowering.modifiers
    rows, columns, k = take_shape(lowering)
    mods = {"satfinite": 1} if m.flag("satfinite") else {}
    if m.flag("popc"):
        mods["logic"] = m.one_of(("and",)) or "xor"
    if len(m.rest) != 3:
        raise NoVariant(f"variant .{'.'.join(m.rest)} of")
    d, ta, tb = m.rest
    m.rest.clear()
    unit = UNIT_OF_TYPE.get(ta, "")
    in_registers = len(ast.elements_of(lowering.operand(1))) > 1
    form = FORM_OF.get((unit, k, d, "RS" if in_registers else "SS"))
    fits = (
        rows == 64
        and columns % 8 == 0
        and 8 <= columns <= 256
        and (unit not in COARSE or columns <= 32 or columns % 16 == 0)
    )
    alike = unit == UNIT_OF_TYPE.get(tb) and (unit != "f16" or ta == tb) and (ta != "bf16" or d == "f32")
    if (
        form is None
        or not fits
        or not alike
        or ("satfinite" in mods and unit != "s8")
        or (unit == "b1") != (mods.get("logic") == "and")
    ):
        raise NoVariant(f"shape .m{rows}n{columns}k{k} with types .{d}, .{ta} and .{tb} of")
    if len(TYPES_OF_UNIT[unit]) > 1:
        mods |= {"ta": ta, "tb": tb}
    mods |= _immediates(lowering, unit, in_registers)
    emit_columns(lowering, form, columns, pack(**mods))


def _immediates(lowering, unit: str, in_registers: bool) -> dict[str, int]:
    """imm-scale-a, imm-scale-b (1 or -1), imm-trans-a, imm-trans-b (0 or 1): operands 4 on, as far as the type has
    them.
    """
    names = [("minus_a", -1), ("minus_b", -1)] if unit in SCALED else []
    names += [("trans_a", 1), ("trans_b", 1)][in_registers:] if unit in TRANSPOSED else []
    lowering.count(4 + len(names))
    mods = {}
    for index, (name, on) in enumerate(names, 4):
        value = lowering.src(lowering.operand(index), "s32")
        off = 1 if on == -1 else 0
        if not isinstance(value, Imm) or value.bits not in (on & 0xFFFFFFFF, off):
            raise lowering.error(f"operand {index + 1} must be {off} or {on}")
        mods[name] = int(value.bits == on & 0xFFFFFFFF)
    return mods


def emit_columns(lowering, form: Form, columns: int, mods: int):
    spec = form.registers()[0]
    per = int(spec[1:])
    targets = ast.elements_of(lowering.operand(0))
    if len(targets) != columns // 8 * per:
        raise lowering.error(f"{len(targets)} registers for a result of {columns // 8 * per}")
    numbers = [lowering.dst(target, "b32") for target in targets]
    b = lowering.reg(lowering.src(lowering.operand(2), "b64"), "D")
    if form.wgmma == "RS":
        values = ast.elements_of(lowering.operand(1))
        if len(values) != 4:
            raise lowering.error(f"{len(values)} registers for matrix A, which needs 4")
        a = gather(lowering, [lowering.src(value, "b32") for value in values], "R")
    else:
        a = lowering.reg(lowering.src(lowering.operand(1), "b64"), "D")
    keep = lowering.src(lowering.operand(3), "pred")
    results = []
    for first in range(0, len(numbers), per):
        d = fresh(lowering, spec)
        c = gather(lowering, numbers[first : first + per], "R")
        lowering.emit(form.name, dst=d, a=a, b=b, c=c, e=keep, imm=first // per, mods=mods)
        results += members(d)
    for number, value in zip(numbers, results, strict=True):
        lowering.copy(number, value)


def _wgmma(lowering):
    m = lowering.modifiers
    verb = m.one_of(("mma_async", "fence", "commit_group", "wait_group"))
    if m.rest[:1] == ["sp"] or not (m.flag("sync") and m.flag("aligned")) or not verb:
        raise NoVariant("form of")
    if verb == "mma_async":
        return _multiply(lowering)
    lowering.count(1 if verb == "wait_group" else 0)
    newest = lowering.src(lowering.operand(0), "s32") if verb == "wait_group" else Imm(0)
    if not isinstance(newest, Imm) or newest.bits > MOST_GROUPS:
        raise lowering.error(f"operand 1 must be a constant from 0 to {MOST_GROUPS}")
    lowering.emit(
        {"fence": "WARPGROUP.ARRIVE", "commit_group": "WARPGROUP.COMMIT", "wait_group": "WARPGROUP.DEPBAR"}[verb],
        imm=newest.bits,
    )
    return None


TABLE = {"wgmma": _wgmma}
