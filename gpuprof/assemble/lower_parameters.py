"""ld.param and st.param of named parameters: in the constant bank, in registers, or in a callee's frame (see `abi`)."""

from gpuprof.assemble import ast
from gpuprof.assemble.abi import Place
from gpuprof.assemble.lower_access import load, put_loaded, sign_field, store
from gpuprof.assemble.lower_address import frame_base
from gpuprof.assemble.lower_move import join, split
from gpuprof.assemble.values import type_nbits
from gpuprof.isa.modifiers import FIELDS


def load_parameter(lo, targets: tuple, operand, kind: str) -> bool:
    """ld.param of a named parameter or of a call's result; False when the address is in a register."""
    if not isinstance(operand, ast.Memory) or operand.base is None or lo.find_register(operand.base):
        return False
    name, offset = operand.base.text, operand.offset
    if lo.body.is_kernel and name in lo.layout.param_offsets[lo.function.name]:
        _load_kernel_parameter(lo, targets, lo.layout.param_offsets[lo.function.name][name] + offset, kind)
        return True
    if name in lo.variadic:
        load(
            lo,
            "local",
            targets,
            kind,
            {"a": lo.variadic[name], "imm": offset & 0xFFFFFFFF, "mods": FIELDS["addr64"].put(1)},
        )
        return True
    value = lo.parameter_values.get(name)
    if value is not None:
        _load_part(lo, targets, kind, value, offset)
        return True
    place = lo.outgoing.get(name)
    if place is None:
        return False
    load(lo, "local", targets, kind, outgoing_address(lo, place, offset))
    return True


def _load_kernel_parameter(lo, targets: tuple, offset: int, kind: str):
    """32- and 64-bit parameters are operands in the constant bank; narrower ones are loaded."""
    nbits = type_nbits(kind)
    if nbits < 32:
        return load(lo, "param", targets, kind, {"a": None, "imm": offset})
    for index, target in enumerate(targets):
        if not ast.is_sink(target):
            value = lo.op("MOV.64" if nbits == 64 else "MOV", slot="a", const=True, imm=offset + index * nbits // 8)
            put_loaded(lo, target, kind, value)
    return None


def _load_part(lo, targets: tuple, kind: str, value: int, offset: int):
    """A parameter that is in a register: all of it, or halves or fields."""
    nbits, held = type_nbits(kind), _held_nbits(lo, value)
    first = _first_field(lo, len(targets), nbits, held, offset, "read")
    used = range(first, first + len(targets))
    fields = [value] if held == nbits else split(lo, value, held, nbits, [i not in used for i in range(held // nbits)])
    for target, field in zip(targets, fields[first:], strict=False):
        put_loaded(lo, target, kind, sign_field(lo, field, kind))


def _held_nbits(lo, register: int) -> int:
    return 64 if lo.body.files[register] == "D" else 32


def _first_field(lo, count: int, nbits: int, held: int, offset: int, verb: str) -> int:
    """Number of the first of `count` fields of `nbits` in a register of `held` bits."""
    if offset < 0 or offset * 8 % nbits or offset * 8 + count * nbits > held:
        raise lo.error(f"this part of a parameter in a register cannot be {verb}")
    return offset * 8 // nbits


def outgoing_address(lo, place: Place, offset: int) -> dict:
    if place.file == "F":
        return {"a": None if lo.body.is_kernel else frame_base(lo, "R"), "imm": place.index + offset}
    if lo.body.grows_stack:  # the callee's frame begins where the stack has got to
        return {"a": lo.op("LO.64", a=lo.op("STACKSAVE")), "imm": place.index + offset}
    return {"a": None if lo.body.is_kernel else frame_base(lo, "R"), "imm": place.index + offset, "outgoing": True}


def store_parameter(lo, values: tuple, operand, kind: str) -> bool:
    """st.param: an argument of a call, or the result of this function; False when the address is in a register."""
    if not isinstance(operand, ast.Memory) or operand.base is None or lo.find_register(operand.base):
        return False
    name, offset = operand.base.text, operand.offset
    register = lo.parameter_values.get(name)
    if register is not None:
        _store_part(lo, register, values, kind, offset)
        return True
    place = lo.outgoing.get(name)
    if place is None:
        return False
    store(lo, "local", [lo.src(v, kind) for v in values], kind, outgoing_address(lo, place, offset))
    return True


def _store_part(lo, register: int, values: tuple, kind: str, offset: int):
    """Into a parameter that is in a register. One narrow value at its start is all of it: it is zero-extended; else the
    rest stays.
    """
    nbits, held = type_nbits(kind), _held_nbits(lo, register)
    first = _first_field(lo, len(values), nbits, held, offset, "written")
    given = [lo.src(value, kind) for value in values]
    if nbits == held or (len(values) == 1 and not first and nbits < 32):
        value = given[0]
        return lo.copy(register, lo.op("CVT.U64.U32", a=lo.reg(value, "R")) if held == 64 and nbits < 64 else value)
    fields: list = [None] * (held // nbits)
    if len(values) < len(fields):
        used = range(first, first + len(values))
        fields = split(lo, register, held, nbits, [i in used for i in range(held // nbits)])
    fields[first : first + len(values)] = given
    return lo.copy(register, join(lo, fields, nbits))
