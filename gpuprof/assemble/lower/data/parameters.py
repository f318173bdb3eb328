"""ld.param and st.param of named parameters: in the constant bank, in registers, or in a callee's frame (see `abi`)."""

from gpuprof.assemble.ir.values import type_nbits
from gpuprof.assemble.lower.data.access import load, put_loaded, sign_field, store
from gpuprof.assemble.lower.data.address import frame_base
from gpuprof.assemble.lower.data.move import join, split
from gpuprof.assemble.place.abi import Place
from gpuprof.assemble.ptx import ast
from gpuprof.isa.modifiers import FIELDS


def load_parameter(lowering, targets: tuple, operand, kind: str) -> bool:
    """ld.param of a named parameter or of a call's result; False when the address is in a register."""
    if not isinstance(operand, ast.Memory) or operand.base is None or lowering.find_register(operand.base):
        return False
    name, offset = operand.base.text, operand.offset
    if lowering.body.is_kernel and name in lowering.layout.param_offsets[lowering.function.name]:
        _load_kernel_parameter(
            lowering, targets, lowering.layout.param_offsets[lowering.function.name][name] + offset, kind
        )
        return True
    if name in lowering.variadic:
        load(
            lowering,
            "local",
            targets,
            kind,
            {"a": lowering.variadic[name], "imm": offset & 0xFFFFFFFF, "mods": FIELDS["addr64"].put(1)},
        )
        return True
    value = lowering.parameter_values.get(name)
    if value is not None:
        _load_part(lowering, targets, kind, value, offset)
        return True
    place = lowering.outgoing.get(name)
    if place is None:
        return False
    load(lowering, "local", targets, kind, outgoing_address(lowering, place, offset))
    return True


def _load_kernel_parameter(lowering, targets: tuple, offset: int, kind: str):
    """32- and 64-bit parameters are operands in the constant bank; narrower ones are loaded."""
    nbits = type_nbits(kind)
    if nbits < 32:
        return load(lowering, "param", targets, kind, {"a": None, "imm": offset})
    for index, target in enumerate(targets):
        if not ast.is_sink(target):
            value = lowering.op(
                "MOV.64" if nbits == 64 else "MOV", slot="a", const=True, imm=offset + index * nbits // 8
            )
            put_loaded(lowering, target, kind, value)
    return None


def _load_part(lowering, targets: tuple, kind: str, value: int, offset: int):
    """A parameter that is in a register: all of it, or halves or fields."""
    nbits, held = type_nbits(kind), _held_nbits(lowering, value)
    first = _first_field(lowering, len(targets), nbits, held, offset, "read")
    used = range(first, first + len(targets))
    fields = (
        [value] if held == nbits else split(lowering, value, held, nbits, [i not in used for i in range(held // nbits)])
    )
    for target, field in zip(targets, fields[first:], strict=False):
        put_loaded(lowering, target, kind, sign_field(lowering, field, kind))


def _held_nbits(lowering, register: int) -> int:
    return 64 if lowering.body.files[register] == "D" else 32


def _first_field(lowering, count: int, nbits: int, held: int, offset: int, verb: str) -> int:
    """Number of the first of `count` fields of `nbits` in a register of `held` bits."""
    if offset < 0 or offset * 8 % nbits or offset * 8 + count * nbits > held:
        raise lowering.error(f"this part of a parameter in a register cannot be {verb}")
    return offset * 8 // nbits


def outgoing_address(lowering, place: Place, offset: int) -> dict:
    if place.file == "F":
        return {"a": None if lowering.body.is_kernel else frame_base(lowering, "R"), "imm": place.index + offset}
    if lowering.body.grows_stack:  # the callee's frame begins where the stack has got to
        return {"a": lowering.op("LO.64", a=lowering.op("STACKSAVE")), "imm": place.index + offset}
    return {
        "a": None if lowering.body.is_kernel else frame_base(lowering, "R"),
        "imm": place.index + offset,
        "outgoing": True,
    }


def store_parameter(lowering, values: tuple, operand, kind: str) -> bool:
    """st.param: an argument of a call, or the result of this function; False when the address is in a register."""
    if not isinstance(operand, ast.Memory) or operand.base is None or lowering.find_register(operand.base):
        return False
    name, offset = operand.base.text, operand.offset
    register = lowering.parameter_values.get(name)
    if register is not None:
        _store_part(lowering, register, values, kind, offset)
        return True
    place = lowering.outgoing.get(name)
    if place is None:
        return False
    store(lowering, "local", [lowering.src(v, kind) for v in values], kind, outgoing_address(lowering, place, offset))
    return True


def _store_part(lowering, register: int, values: tuple, kind: str, offset: int):
    """Into a parameter that is in a register. One narrow value at its start is all of it: it is zero-extended; else the
    rest stays.
    """
    nbits, held = type_nbits(kind), _held_nbits(lowering, register)
    first = _first_field(lowering, len(values), nbits, held, offset, "written")
    given = [lowering.src(value, kind) for value in values]
    if nbits == held or (len(values) == 1 and not first and nbits < 32):
        value = given[0]
        return lowering.copy(
            register, lowering.op("CVT.U64.U32", a=lowering.reg(value, "R")) if held == 64 and nbits < 64 else value
        )
    fields: list = [None] * (held // nbits)
    if len(values) < len(fields):
        used = range(first, first + len(values))
        fields = split(lowering, register, held, nbits, [i in used for i in range(held // nbits)])
    fields[first : first + len(values)] = given
    return lowering.copy(register, join(lowering, fields, nbits))
