"""Branches, calls, returns, system calls, and the instructions that only wait."""

from dataclasses import replace

from gpuprof.assemble.ir.values import Imm, NoVariant
from gpuprof.assemble.lower.arithmetic.compare import compare
from gpuprof.assemble.lower.data.access import store
from gpuprof.assemble.lower.data.address import local_address
from gpuprof.assemble.lower.data.parameters import outgoing_address
from gpuprof.assemble.place.abi import Convention, Place, convention
from gpuprof.assemble.ptx import ast
from gpuprof.errors import PtxError
from gpuprof.isa.special import LAUNCH_SERVICE

SYSCALLS = {
    "vprintf": 1, "malloc": 2, "free": 3, "__assertfail": 4, "gpuprof_parameter_buffer": 5,
    "cudaLaunchDeviceV2": LAUNCH_SERVICE,
    "__cudaCDP2LaunchDeviceV2": LAUNCH_SERVICE, "gpuprof_new_stream": 7, "gpuprof_parameter_room": 8,
    "gpuprof_describe_launch": 9,
}  # fmt: skip
_N_ARGUMENTS = {1: 2, 2: 1, 3: 1, 4: 5, 5: 1, LAUNCH_SERVICE: 2, 7: 0, 8: 1, 9: 2}
_GIVES_64_BITS = ("malloc", "gpuprof_parameter_buffer", "gpuprof_new_stream", "gpuprof_parameter_room")


# -- entering and leaving
# ----------------------------------------------------------------------------------------------------


def _grows_stack(block: ast.Block) -> bool:
    return any(
        _grows_stack(each)
        if isinstance(each, ast.Block)
        else isinstance(each, ast.Instruction) and each.opcode == "alloca"
        for each in block.statements
    )


def enter_function(lowering):
    """Takes the parameters from where the convention puts them."""
    lowering.body.grows_stack = _grows_stack(lowering.function.body)
    function = lowering.function
    lowering.convention = Convention({}, {}, 0) if function.is_kernel else convention(function.params, function.returns)
    lowering.parameter_values = {}
    lowering.outgoing = {}
    for name, place in lowering.convention.params.items():
        if place.file == "M":
            _check_memory_parameter(lowering, name)
        else:
            value = lowering.temp(place.file)
            lowering.copy(value, fixed_register(lowering, place))
            if place.variadic:
                lowering.variadic[name] = value
                continue
            lowering.parameter_values[name] = value
            declare_register_parameter(lowering, name, place, value)
    for name, place in lowering.convention.returns.items():
        if place.file == "M":
            _check_memory_parameter(lowering, name)
        else:
            lowering.parameter_values[name] = lowering.temp(place.file)
            declare_register_parameter(lowering, name, place, lowering.parameter_values[name])


def _check_memory_parameter(lowering, name: str):
    if any(v.name == name and v.space == "reg" for v in (*lowering.function.params, *lowering.function.returns)):
        raise PtxError(
            f"{name}: its .reg parameters need too many registers; declare them .param",
            lowering.module_name,
            lowering.function.line,
            1,
        )


def declare_register_parameter(lowering, name: str, place: Place, value: int):
    """`.func (.reg .b32 r) f (.reg .b32 x)`: such parameters are used as registers."""
    variables = {v.name: v for v in (*lowering.function.params, *lowering.function.returns)}
    if name in variables and variables[name].space == "reg":
        lowering.declare_parameter_register(name, value, place.type)


def fixed_register(lowering, place: Place) -> int:
    register = lowering.temp(place.file)
    lowering.body.fixed[register] = place.index
    return register


def _ret(lowering):
    lowering.modifiers.flag("uni")
    lowering.count(0)
    if lowering.body.is_kernel:
        return lowering.emit("EXIT")
    uses = []
    for name, place in lowering.convention.returns.items():
        if place.file != "M":
            register = fixed_register(lowering, place)
            lowering.copy(register, lowering.parameter_values[name])
            uses.append(register)
    return lowering.emit("RET", uses=tuple(uses))


# -- branches --------------------------------------------------------------------------------------


def _target(lowering, operand) -> str:
    label = lowering.scope.label(operand.text) if isinstance(operand, ast.Name) else ""
    if not label:
        raise lowering.error(f"{getattr(operand, 'text', operand)} is not a label of this function")
    return label


def _bra(lowering):
    lowering.modifiers.flag("uni")
    lowering.count(1)
    lowering.emit("BRA", target=_target(lowering, lowering.operand(0)))


def _brx(lowering):
    """A branch table becomes a balanced tree of comparisons: the targets stay visible to everything that looks for
    blocks.
    """
    if not lowering.modifiers.flag("idx"):
        raise NoVariant("form of")
    lowering.modifiers.flag("uni")
    lowering.count(2)
    name = lowering.operand(1)
    labels = lowering.scope.find("targets", name.text) if isinstance(name, ast.Name) else None
    if not labels:
        raise lowering.error("the second operand must be a .branchtargets label")
    index = lowering.reg(lowering.src(lowering.operand(0), "u32"), "R")
    skip = _branch_past(lowering)
    _branch_tree(lowering, index, [_target(lowering, ast.Name(label)) for label in labels], 0)
    if skip:
        lowering.start_block(skip)


def _branch_past(lowering) -> str:
    """Emits a branch past the next instruction for lanes whose guard does not hold, and drops the guard. Returns its
    label; "" for an instruction without a guard.
    """
    if lowering.guard[0] is None:
        return ""
    skip = lowering.new_label()
    guard, negated = lowering.guard
    lowering.guard = (guard, not negated)
    lowering.emit("BRA", target=skip)
    lowering.guard = (None, False)
    return skip


def _branch_tree(lowering, index: int, targets: list[str], first: int):
    if len(set(targets)) == 1:
        lowering.emit("BRA", target=targets[0])
        return
    middle = len(targets) // 2
    below = lowering.temp("P")
    compare(lowering, "u32", "lt", index, Imm(first + middle), dst=below)
    left = lowering.new_label()
    lowering.emit("BRA", target=left, guard=below)
    _branch_tree(lowering, index, targets[middle:], first + middle)
    lowering.start_block(left)
    _branch_tree(lowering, index, targets[:middle], first)


# -- calls -----------------------------------------------------------------------------------------


def _split_call(inst: ast.Instruction) -> tuple[tuple, ast.Name, tuple, ast.Name | None]:
    """(results, callee, arguments, prototype) of `call (r), f, (a), proto`."""
    operands = list(inst.operands)
    results = operands.pop(0).elements if operands and isinstance(operands[0], ast.Arguments) else ()
    callee = operands.pop(0) if operands else None
    arguments = operands.pop(0).elements if operands and isinstance(operands[0], ast.Arguments) else ()
    return results, callee, arguments, operands[0] if operands else None


def _convention_of_call(lowering, callee, prototype) -> Convention | None:
    function = lowering.layout.functions.get(callee.text) if isinstance(callee, ast.Name) else None
    if function:
        return convention(function.params, function.returns)
    if not isinstance(prototype, ast.Name):
        return None
    targets = lowering.scope.find("targets", prototype.text)
    found = lowering.layout.functions.get(targets[0]) if targets else lowering.scope.find("prototypes", prototype.text)
    return convention(found.params, found.returns) if found else None


def prepare_calls(lowering, block: ast.Block):
    """Before a scope's statements are lowered: where the .param variables of its calls will be."""
    for statement in block.statements:
        if isinstance(statement, ast.Instruction) and statement.opcode == "call":
            results, callee, arguments, prototype = _split_call(statement)
            places = _convention_of_call(lowering, callee, prototype)
            if places is None:
                continue
            for names, group in ((arguments, places.params), (results, places.returns)):
                for name, place in zip(names, group.values(), strict=False):
                    if isinstance(name, ast.Name):
                        _declare_argument(lowering, name.text, place, block)


def _own_array(lowering, name: str, block: ast.Block) -> Place:
    """An argument for an array of unknown size has room in the caller's own frame."""
    variable = _variable(lowering, name, block)
    if variable is None:
        raise PtxError(f"{name} is not declared", lowering.module_name, lowering.function.line, 1)
    own = replace(variable, name=f"#argument{len(lowering.frame.offsets)}")
    lowering.frame.add(own)
    return Place("F", lowering.frame.offsets[own.name], variable.type)


def _variable(lowering, name: str, block: ast.Block) -> ast.Variable | None:
    declared = [each for each in block.statements if isinstance(each, ast.Variable) and each.name == name]
    return declared[0] if declared else lowering.scope.find("variables", name)


def _declare_argument(lowering, name: str, place: Place, block: ast.Block):
    lowering.outgoing.pop(name, None)
    lowering.parameter_values.pop(name, None)
    if place.variadic:
        lowering.outgoing[name] = _own_array(lowering, name, block)
    elif place.file == "M":
        if _variable(lowering, name, block):
            lowering.outgoing[name] = place
    elif _variable(lowering, name, block):  # and no register
        lowering.parameter_values[name] = lowering.temp(place.file)


def _call(lowering):
    lowering.modifiers.flag("uni")
    results, callee, arguments, prototype = _split_call(lowering.inst)
    if not isinstance(callee, ast.Name):
        raise lowering.error("the callee must be a function or a register")
    if callee.text in SYSCALLS and not _has_body(lowering, callee.text):
        return _syscall(lowering, callee.text, results, arguments)
    places = _convention_of_call(lowering, callee, prototype)
    direct = callee.text in lowering.layout.functions
    if places is None:
        raise lowering.error(
            f"{callee.text} is not a function of this module"
            if not lowering.find_register(callee)
            else "the prototype is missing"
        )
    if direct and not _has_body(lowering, callee.text):
        raise NoVariant(f"external function {callee.text} in")
    if len(arguments) != len(places.params) or len(results) != len(places.returns):
        raise lowering.error(
            f"{callee.text} takes {len(places.params)} arguments and returns {len(places.returns)} results"
        )
    address = None if direct else lowering.src(callee, "u64")
    uses = []
    for name, place in zip(arguments, places.params.values(), strict=True):
        if place.file != "M":
            register = fixed_register(lowering, place)
            lowering.copy(register, _argument_value(lowering, name, place))
            uses.append(register)
        # a register or number, for an argument in memory
        elif not isinstance(name, ast.Name) or name.text not in lowering.outgoing:
            store(lowering, "local", [lowering.src(name, place.type)], place.type, outgoing_address(lowering, place, 0))
    if any(
        place.file == "M" and lowering.find_register(name)
        for name, place in zip(results, places.returns.values(), strict=True)
    ):
        raise lowering.error("a result in memory needs a .param variable")
    defs = [
        (name, fixed_register(lowering, place))
        for name, place in zip(results, places.returns.values(), strict=True)
        if place.file != "M"
    ]
    registers = tuple(register for _, register in defs)
    if direct:
        lowering.body.callees.add(callee.text)
        lowering.emit("CALL", target=callee.text, uses=tuple(uses), defs=registers)
    else:
        lowering.body.indirect_calls = True
        lowering.emit("CALL.IND", a=address, uses=tuple(uses), defs=registers)
    for name, register in defs:
        lowering.copy(_result_register(lowering, name), register)
    return None


def _has_body(lowering, name: str) -> bool:
    function = lowering.layout.functions.get(name)
    return bool(function and function.body)


def _argument_value(lowering, name, place: Place):
    if place.variadic:
        if not isinstance(name, ast.Name) or name.text not in lowering.outgoing:
            raise lowering.error("an array of unknown size takes a .param array")
        return local_address(lowering, lowering.outgoing[name.text].index, "D")
    if isinstance(name, ast.Name) and name.text in lowering.parameter_values:
        return lowering.parameter_values[name.text]
    return lowering.src(name, place.type)


def _result_register(lowering, name) -> int:
    if not isinstance(name, ast.Name):
        raise lowering.error("a result is a register or a .param variable")
    if name.text in lowering.parameter_values:
        return lowering.parameter_values[name.text]
    register = lowering.find_register(name)
    if register is None:
        raise lowering.error(f"{name.text} is not declared")
    return register.number


# Arguments of __assertfail in the block it gets: (offset, type). Natural alignment, in order.
_ASSERT_BLOCK = ((0, "u64"), (8, "u64"), (16, "u32"), (24, "u64"), (32, "u64"))
_ASSERT_NBYTES = 40


def _syscall(lowering, name: str, results: tuple, arguments: tuple):
    if len(arguments) != _N_ARGUMENTS[SYSCALLS[name]]:
        raise lowering.error(f"{name} has a different number of arguments")
    values = [
        lowering.reg(_syscall_argument(lowering, argument, "u64"), lo_file(lowering, argument))
        for argument in arguments
    ]
    if name == "__assertfail":
        values = [_assert_block(lowering, values)]
    slots = dict(zip("ab", values, strict=False))
    row = "SYSCALL.64" if name in _GIVES_64_BITS else "SYSCALL"
    dst = _result_register(lowering, results[0]) if results else None
    skip = _branch_past(lowering) if SYSCALLS[name] == LAUNCH_SERVICE else ""  # what runs launches something
    lowering.emit(row, imm=SYSCALLS[name], dst=dst, **slots)
    if skip:
        lowering.start_block(skip)


def _syscall_argument(lowering, argument, kind: str):
    value = lowering.parameter_values.get(getattr(argument, "text", ""))
    return value if value is not None else lowering.src(argument, kind)


def lo_file(lowering, argument) -> str:
    value = lowering.parameter_values.get(getattr(argument, "text", ""))
    return lowering.body.files[value] if value is not None else "D"


def _assert_block(lowering, values: list[int]) -> int:
    """Stores the arguments in local memory; their generic address is what the service gets."""
    block = ast.Variable("#assert", "local", "b8", _ASSERT_NBYTES, 8, lowering.inst.line, True)
    if block.name not in lowering.frame.offsets:
        lowering.frame.add(block)
    start = lowering.frame.offsets[block.name]
    base = None if lowering.body.is_kernel else local_address(lowering, 0, "R")
    for (offset, kind), value in zip(_ASSERT_BLOCK, values, strict=True):
        store(lowering, "local", [value], kind, {"a": base, "imm": start + offset})
    return lowering.op("CVTA.LOCAL", a=lowering.reg(local_address(lowering, start, "D"), "D"))


# -- the rest --------------------------------------------------------------------------------------


def _plain(row: str):
    def lower(lowering):
        lowering.count(0)
        lowering.emit(row)

    return lower


def _nanosleep(lowering):
    lowering.modifiers.type()
    lowering.count(1)
    lowering.emit("NANOSLEEP", b=lowering.src(lowering.operand(0), "u32"))


def _pmevent(lowering):
    """Nobody counts events."""
    lowering.modifiers.flag("mask")
    lowering.count(1)
    if not isinstance(lowering.src(lowering.operand(0), "u32"), Imm):
        raise lowering.error("the event must be a constant")
    lowering.emit("NOP")


# -- the stack -------------------------------------------------------------------------------------


def _alloca(lowering):
    """Local memory until the function returns or the stack is restored."""
    lowering.modifiers.type()
    n = lowering.count(2, 3)
    align = lowering.src(lowering.operand(2), "u32") if n == 3 else Imm(8)
    if not isinstance(align, Imm) or align.bits.bit_count() != 1 or align.bits > 1 << 16:
        raise lowering.error("the alignment must be a constant power of two")
    size = lowering.reg(lowering.src(lowering.operand(1), "u64"), "D")
    lowering.emit("ALLOCA", dst=lowering.dst(lowering.operand(0), "u64"), a=size, imm=align.bits)


def _stacksave(lowering):
    lowering.modifiers.type()
    lowering.count(1)
    lowering.emit("STACKSAVE", dst=lowering.dst(lowering.operand(0), "u64"))


def _stackrestore(lowering):
    lowering.modifiers.type()
    lowering.count(1)
    lowering.emit("STACKRESTORE", a=lowering.reg(lowering.src(lowering.operand(0), "u64"), "D"))


TABLE = {
    "ret": _ret, "exit": _plain("EXIT"), "bra": _bra, "brx": _brx, "call": _call, "trap": _plain("TRAP"),
    "brkpt": _plain("BRKPT"),
    "nanosleep": _nanosleep, "pmevent": _pmevent, "alloca": _alloca, "stacksave": _stacksave,
    "stackrestore": _stackrestore,
}  # fmt: skip
