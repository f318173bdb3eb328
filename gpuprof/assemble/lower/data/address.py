"""The places of variables and parameters, and the addresses of memory instructions."""

from gpuprof.assemble.ir.values import Imm
from gpuprof.assemble.ptx import ast
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.special import SPECIAL_INDEX

_SPACES = {
    "global": "global", "shared": "shared", "shared::cta": "shared", "shared::cluster": "shared", "local": "local",
    "const": "const", "param": "param",
    "param::entry": "param", "param::func": "param",
}  # fmt: skip


def space_of(lowering) -> str:
    return _SPACES.get(lowering.modifiers.one_of(_SPACES), "generic")


def frame_base(lowering, file: str) -> int:
    """The function's `localbase` in a register of the file (device functions only: a kernel's is 0)."""
    return lowering.op("FRAME.64" if file == "D" else "FRAME", imm=SPECIAL_INDEX["localbase"])


def local_address(lowering, offset: int, file: str):
    if lowering.body.is_kernel:
        return Imm(offset)
    base = frame_base(lowering, file)
    return lowering.op("IADD.64" if file == "D" else "IADD", a=base, b=Imm(offset)) if offset else base


def address_of(lowering, name: str, offset: int, file: str, generic: bool = False):
    """The address of a variable or function as a value: Imm where it is known, else a register."""
    home = lowering.scope.find("homes", name)
    if home and home.where == "pointer":
        base = home.index if file == "D" else lowering.op("LO.64", a=home.index)
        return lowering.op("IADD.64" if file == "D" else "IADD", a=base, b=Imm(offset)) if offset else base
    kind, place = locate(lowering, name)
    if kind == "module local":
        return _generic(lowering, "LOCAL", Imm(place + offset)) if generic else Imm(place + offset)
    if kind in ("global", "function"):
        if file != "D":
            raise lowering.error(f"the address of {name} needs 64 bits")
        variable = lowering.scope.find("variables", name)
        return lowering.op("MOVI.64", imm=offset, symbol=variable.key if variable else name)
    value = (
        local_address(lowering, place + offset, file)
        if kind == "local"
        else shared_address(lowering, name, place, offset, file)
    )
    return _generic(lowering, kind.upper(), value) if generic else value


def _generic(lowering, space: str, value) -> int:
    return lowering.op(f"CVTA.{space}", a=lowering.reg(value, "D"))


def shared_address(lowering, name: str, place: int | None, offset: int, file: str):
    """Imm of a variable at a known place. Dynamic shared memory seen from a device function starts after the kernel's
    static part.
    """
    if place is not None:
        return Imm(place + offset & (0xFFFFFFFF if file == "R" else 0xFFFFFFFFFFFFFFFF))
    total, dynamic = lowering.special("total_smem_size", "R"), lowering.special("dynamic_smem_size", "R")
    start = lowering.op("ISUB", a=total, b=dynamic)
    start = lowering.op("IADD", a=start, b=Imm(offset & 0xFFFFFFFF)) if offset else start
    return lowering.op("CVT.U64.U32", a=start) if file == "D" else start


def locate(lowering, name: str) -> tuple[str, int | None]:
    """Space and offset of a variable; ("global" or "function", 0) when only the loader knows."""
    layout = lowering.layout
    variable = lowering.scope.find("variables", name) or layout.variables.get(name)
    if variable is None:
        if name in layout.functions:
            return "function", 0
        raise lowering.error(f"{name} is not declared")
    if variable.space == "local" and variable.key in layout.module_local.offsets:
        return "module local", layout.module_local.offsets[variable.key]
    if variable.space == "local":
        return "local", lowering.frame.offsets[variable.key]
    if variable.space == "shared":
        return "shared", layout.shared_offsets[lowering.function.name].get(variable.key)
    if variable.linkage == "extern" and variable.space != "shared":
        raise lowering.error(f"{name} is declared .extern, but not defined in this module")
    if variable.space == "const":
        return "const", layout.const_offsets[variable.key]
    if variable.space == "param":
        return _parameter_address(lowering, name)
    return "global", 0


def _parameter_address(lowering, name: str) -> tuple[str, int]:
    """Space and offset of a parameter of the function itself; those of calls have no address."""
    home = lowering.scope.find("homes", name)
    if home.is_own and home.where in ("bank", "frame"):
        return ("param" if home.where == "bank" else "local"), home.index
    raise lowering.error(f"the address of parameter {name} cannot be taken")


def memory_operand(lowering, operand, space: str) -> dict:
    """Slots `a`, `imm` and the addr64 bit of a memory instruction for `[base+offset]`."""
    if not isinstance(operand, ast.Memory):
        raise lowering.error("expected an address in brackets")
    if operand.base is None:
        return {"a": None, "imm": operand.offset & 0xFFFFFFFF}
    offset = operand.offset
    if not -(1 << 31) <= offset < 1 << 31:
        raise lowering.error(f"offset {offset} does not fit into 32 bits")
    register = lowering.find_register(operand.base)
    if register is not None:
        wide = {32: 0, 64: 1}.get(register.nbits)
        if wide is None:
            raise lowering.error("an address has 32 or 64 bits")
        lowering.check_type(operand.base, "u64" if wide else "u32")
        return {"a": register.number, "imm": offset & 0xFFFFFFFF, "mods": FIELDS["addr64"].put(wide)}
    return symbol_operand(lowering, operand.base.text, offset, space)


def symbol_operand(lowering, name: str, offset: int, space: str) -> dict:
    """`[variable+offset]`: a constant address where the place is known."""
    kind, place = locate(lowering, name)
    if kind == "module local" and space == "local":
        return {"a": None, "imm": place + offset}
    wide = FIELDS["addr64"].put(1)
    if kind == "local" and not lowering.body.is_kernel and space in ("local", "param"):
        return {"a": frame_base(lowering, "R"), "imm": place + offset}
    if kind == space or (kind == "local" and space == "param"):
        value = address_of(lowering, name, offset, "D" if kind == "global" else "R")
        return (
            {"a": None, "imm": value.bits}
            if isinstance(value, Imm)
            else {"a": value, "imm": 0, "mods": wide if kind == "global" else 0}
        )
    if space == "generic":
        return {
            "a": lowering.reg(address_of(lowering, name, offset, "D", generic=kind != "global"), "D"),
            "imm": 0,
            "mods": wide,
        }
    raise lowering.error(f"{name} is in {kind} memory, not in {space}")


def with_mods(slots: dict, mods: int) -> dict:
    """Slots of an address and more modifier bits."""
    return slots | {"mods": slots.get("mods", 0) | mods}


def address_value(lowering, operand, space: str = "shared"):
    """An address as a value: Imm or an R register for shared memory, a D register for global memory."""
    slots = memory_operand(lowering, operand, space)
    base, offset = slots["a"], slots.get("imm", 0)
    file = "R" if space == "shared" else "D"
    if base is None:
        return Imm(offset)
    if file == "R" and lowering.body.files[base] == "D":
        base = lowering.op("LO.64", a=base)
    elif file == "D" and lowering.body.files[base] == "R":
        base = lowering.op("CVT.U64.U32", a=base)
    if not offset:
        return base
    if file == "R":
        return lowering.op("IADD", a=base, b=Imm(offset))
    return lowering.op("IADD.64", a=base, b=Imm(((offset ^ 0x80000000) - 0x80000000) & 0xFFFFFFFFFFFFFFFF))
