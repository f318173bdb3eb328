"""ld.param and st.param of named parameters: in the constant bank ("bank"), in registers ("register"), in the frame of
this function ("frame") or of the one about to be called ("callee"), or where a register points ("pointer"); see `abi`.
"""

from gpuprof.assemble.abi.calling_convention import Place
from gpuprof.assemble.ir.values import type_file, type_nbits
from gpuprof.assemble.lower.data.access import access_of, load, put_loaded, sign_field, store
from gpuprof.assemble.lower.data.address import frame_base
from gpuprof.assemble.lower.data.move import join, split
from gpuprof.assemble.lower.scope import Home
from gpuprof.assemble.ptx import ast
from gpuprof.isa.families.memory import LETTER_OF_SPACE
from gpuprof.isa.modifiers import FIELDS

_WIDEST_COPY = 8  # bytes


def _home(lowering, operand) -> Home | None:
    """The place of the parameter of `[name+offset]`; None when the name is a register or anything else."""
    if not isinstance(operand, ast.Memory) or operand.base is None or lowering.find_register(operand.base):
        return None
    return lowering.scope.find("homes", operand.base.text)


def _check_use(lowering, home: Home, name: str, forbidden: dict[str, str]):
    if home.role in forbidden:
        raise lowering.error(f"{name} is {forbidden[home.role]}")
    if not home.is_own and lowering.guard[0] is not None:
        raise lowering.error(
            f"{name} belongs to a call, and its loads and stores take no predicate; branch around them"
        )


_NOT_READ = {
    "result": "a result of this function, which can only be written",
    "argument": "not the result of a call in its block, and only such a variable can be read",
}
_NOT_WRITTEN = {"parameter": "a parameter of this function, which can only be read"}


def load_parameter(lowering, targets: tuple, operand, kind: str) -> bool:
    """ld.param of a named parameter or of a call's result; False when the address is in a register."""
    home = _home(lowering, operand)
    if home is None:
        return False
    _check_use(lowering, home, operand.base.text, _NOT_READ)
    if home.where == "bank":
        _load_kernel_parameter(lowering, targets, home.index + operand.offset, kind)
    elif home.where == "register":
        _load_part(lowering, targets, kind, home.index, operand.offset)
    else:
        load(lowering, "local", targets, kind, frame_address(lowering, home, operand.offset))
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


def callee_home(place: Place) -> Home:
    """The room for an argument or a result in the frame of the function about to be called."""
    return Home("callee", place.index, "passed")


def frame_address(lowering, home: Home, offset: int) -> dict:
    """The address slots of a parameter in local memory."""
    if home.where == "pointer":
        return {"a": home.index, "imm": offset & 0xFFFFFFFF, "mods": FIELDS["addr64"].put(1)}
    at = home.index + offset
    if home.where == "callee" and lowering.body.grows_stack:  # its frame begins where the stack has got to
        return {"a": lowering.op("LO.64", a=lowering.op("STACKSAVE")), "imm": at}
    base = None if lowering.body.is_kernel else frame_base(lowering, "R")
    return {"a": base, "imm": at, "outgoing": home.where == "callee"}


def load_register(lowering, register: int, kind: str, address: dict):
    """A whole register from local memory."""
    lowering.emit(
        f"LD{LETTER_OF_SPACE['local']}.{access_of(1, type_nbits(kind), f'b{type_nbits(kind)}')}",
        dst=register,
        **address,
    )


def copy_variable(lowering, source: Home, target: Home, variable: ast.Variable):
    """Copies the bytes of a variable within local memory, in the widest pieces that its alignment allows."""
    offset = 0
    while offset < variable.nbytes:
        nbytes = min(_WIDEST_COPY, variable.align, 1 << (variable.nbytes - offset).bit_length() - 1)
        kind = f"b{8 * nbytes}"
        value = lowering.temp(type_file(kind))
        load_register(lowering, value, kind, frame_address(lowering, source, offset))
        store(lowering, "local", [value], kind, frame_address(lowering, target, offset))
        offset += nbytes


def store_parameter(lowering, values: tuple, operand, kind: str) -> bool:
    """st.param: an argument of a call, or the result of this function; False when the address is in a register."""
    home = _home(lowering, operand)
    if home is None:
        return False
    _check_use(lowering, home, operand.base.text, _NOT_WRITTEN)
    if home.where == "register":
        _store_part(lowering, home.index, values, kind, operand.offset)
    else:
        given = [lowering.src(value, kind) for value in values]
        store(lowering, "local", given, kind, frame_address(lowering, home, operand.offset))
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
