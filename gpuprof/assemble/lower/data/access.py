"""Values from and to memory, for every instruction that loads or stores: which row, and how small vectors are taken
apart.
"""

from gpuprof.assemble.ir.body import Inst
from gpuprof.assemble.ir.values import Imm, type_file, type_nbits
from gpuprof.assemble.lower.data.address import with_mods
from gpuprof.assemble.lower.data.move import join, split
from gpuprof.assemble.ptx import ast
from gpuprof.isa.families.memory import LETTER_OF_SPACE

VECTORS = {"v2": 2, "v4": 4, "v8": 8}
NARROW_ACCESS = {
    "b8": "U8",
    "u8": "U8",
    "s8": "S8",
    "b16": "U16",
    "u16": "U16",
    "s16": "S16",
    "f16": "U16",
    "bf16": "U16",
}


def access_of(elements: int, nbits: int, kind: str) -> str:
    """The access of a row: 4 x b32 -> "V4.32"; small vectors are one access of their whole size."""
    total = elements * nbits
    if nbits >= 32 and elements > 1:
        return f"V{elements}.{nbits}"
    return NARROW_ACCESS.get(kind, str(total)) if elements == 1 else {16: "U16"}.get(total, str(total))


def load(lowering, space: str, targets: tuple, kind: str, address: dict, mods: int = 0):
    """targets = memory: one access, then the fields of small vectors are separated."""
    nbits, elements = type_nbits(kind), len(targets)
    row = f"LD{LETTER_OF_SPACE[space]}.{access_of(elements, nbits, kind)}"
    address = with_mods(address, mods)
    if elements == 1:
        return _load_scalar(lowering, row, targets[0], kind, address)
    if nbits >= 32:
        group = lowering.temps(type_file(kind), elements)
        lowering.emit(row, dst=group, **address)
        for target, value in zip(targets, group, strict=True):
            put_loaded(lowering, target, kind, value)
        return None
    value = lowering.op(row, **address)
    for target, field in zip(
        targets, split(lowering, value, nbits * elements, nbits, [ast.is_sink(t) for t in targets]), strict=True
    ):
        if field is not None:
            put_loaded(lowering, target, kind, sign_field(lowering, field, kind))
    return None


def sign_field(lowering, value: int, kind: str) -> int:
    return lowering.op(f"CVT.S32.{kind.upper()}", a=value) if kind in ("s8", "s16") else value


def _load_scalar(lowering, row: str, target, kind: str, address: dict):
    lowering.check_type(target, kind)
    register = lowering.find_register(target)
    direct = (
        register
        and lowering.body.files[register.number] == type_file(kind)
        and not (kind == "s8" and register.nbits == 16)
        and kind != "s16"
    )
    if direct or (kind == "s16" and register and register.nbits == 32):
        lowering.emit(row, dst=register.number, **address)
    else:
        put_loaded(lowering, target, kind, lowering.op(row, **address))


def put_loaded(lowering, target, kind: str, value):
    """Copies a loaded value into a register that may be wider than the type: extended by the type's sign."""
    if ast.is_sink(target):
        return
    register = lowering.find_register(target)
    if register is None:
        raise lowering.error("the destination must be a register")
    signed = kind[0] == "s"
    if register.nbits < type_nbits(kind) and not (register.nbits == 16 and type_nbits(kind) == 8):
        raise lowering.error(f"the destination register has only {register.nbits} bits")
    lowering.check_type(target, kind)
    if register.nbits == 64 and type_nbits(kind) < 64:
        lowering.emit("CVT.S64.S32" if signed else "CVT.U64.U32", dst=register.number, a=lowering.reg(value, "R"))
    elif register.nbits == 16 and signed:
        lowering.emit("AND", dst=register.number, a=value, b=Imm(0xFFFF))
    else:
        lowering.copy(register.number, value)


def store(lowering, space: str, values: list, kind: str, address: dict, mods: int = 0) -> Inst:
    if space == "const":
        raise lowering.error("constant memory cannot be written")
    nbits, elements = type_nbits(kind), len(values)
    access = access_of(elements, nbits, kind).replace("S", "U")
    address = with_mods(address, mods)
    file = type_file(kind)
    if elements == 1:
        b = lowering.reg(values[0], file)
    elif nbits >= 32:
        b = lowering.group(values, file)
    else:
        b = lowering.reg(join(lowering, values, nbits), "D" if nbits * elements == 64 else "R")
    return lowering.emit(f"ST{LETTER_OF_SPACE[space]}.{access}", b=b, **address)
