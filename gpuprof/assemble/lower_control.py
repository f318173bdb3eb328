"""Branches, calls, returns, system calls, and the instructions that only wait."""

from dataclasses import replace

from gpuprof.assemble import ast
from gpuprof.assemble.abi import Convention, Place, convention
from gpuprof.assemble.lower_access import store
from gpuprof.assemble.lower_address import local_address
from gpuprof.assemble.lower_compare import compare
from gpuprof.assemble.lower_parameters import outgoing_address
from gpuprof.assemble.values import Imm, NoVariant
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


def enter_function(lo):
    """Takes the parameters from where the convention puts them."""
    lo.body.grows_stack = _grows_stack(lo.function.body)
    function = lo.function
    lo.convention = Convention({}, {}, 0) if function.is_kernel else convention(function.params, function.returns)
    lo.parameter_values = {}
    lo.outgoing = {}
    for name, place in lo.convention.params.items():
        if place.file == "M":
            _check_memory_parameter(lo, name)
        else:
            value = lo.temp(place.file)
            lo.copy(value, fixed_register(lo, place))
            if place.variadic:
                lo.variadic[name] = value
                continue
            lo.parameter_values[name] = value
            declare_register_parameter(lo, name, place, value)
    for name, place in lo.convention.returns.items():
        if place.file == "M":
            _check_memory_parameter(lo, name)
        else:
            lo.parameter_values[name] = lo.temp(place.file)
            declare_register_parameter(lo, name, place, lo.parameter_values[name])


def _check_memory_parameter(lo, name: str):
    if any(v.name == name and v.space == "reg" for v in (*lo.function.params, *lo.function.returns)):
        raise PtxError(
            f"{name}: its .reg parameters need too many registers; declare them .param",
            lo.module_name,
            lo.function.line,
            1,
        )


def declare_register_parameter(lo, name: str, place: Place, value: int):
    """`.func (.reg .b32 r) f (.reg .b32 x)`: such parameters are used as registers."""
    variables = {v.name: v for v in (*lo.function.params, *lo.function.returns)}
    if name in variables and variables[name].space == "reg":
        lo.declare_parameter_register(name, value, place.type)


def fixed_register(lo, place: Place) -> int:
    register = lo.temp(place.file)
    lo.body.fixed[register] = place.index
    return register


def _ret(lo):
    lo.modifiers.flag("uni")
    lo.count(0)
    if lo.body.is_kernel:
        return lo.emit("EXIT")
    uses = []
    for name, place in lo.convention.returns.items():
        if place.file != "M":
            register = fixed_register(lo, place)
            lo.copy(register, lo.parameter_values[name])
            uses.append(register)
    return lo.emit("RET", uses=tuple(uses))


# -- branches --------------------------------------------------------------------------------------


def _target(lo, operand) -> str:
    label = lo.scope.label(operand.text) if isinstance(operand, ast.Name) else ""
    if not label:
        raise lo.error(f"{getattr(operand, 'text', operand)} is not a label of this function")
    return label


def _bra(lo):
    lo.modifiers.flag("uni")
    lo.count(1)
    lo.emit("BRA", target=_target(lo, lo.operand(0)))


def _brx(lo):
    """A branch table becomes a balanced tree of comparisons: the targets stay visible to everything that looks for
    blocks.
    """
    if not lo.modifiers.flag("idx"):
        raise NoVariant("form of")
    lo.modifiers.flag("uni")
    lo.count(2)
    name = lo.operand(1)
    labels = lo.scope.find("targets", name.text) if isinstance(name, ast.Name) else None
    if not labels:
        raise lo.error("the second operand must be a .branchtargets label")
    index = lo.reg(lo.src(lo.operand(0), "u32"), "R")
    skip = _branch_past(lo)
    _branch_tree(lo, index, [_target(lo, ast.Name(label)) for label in labels], 0)
    if skip:
        lo.start_block(skip)


def _branch_past(lo) -> str:
    """Where lanes go whose guard does not hold; "" for an instruction without one. What follows has none."""
    if lo.guard[0] is None:
        return ""
    skip = lo.new_label()
    guard, negated = lo.guard
    lo.guard = (guard, not negated)
    lo.emit("BRA", target=skip)
    lo.guard = (None, False)
    return skip


def _branch_tree(lo, index: int, targets: list[str], first: int):
    if len(set(targets)) == 1:
        lo.emit("BRA", target=targets[0])
        return
    middle = len(targets) // 2
    below = lo.temp("P")
    compare(lo, "u32", "lt", index, Imm(first + middle), dst=below)
    left = lo.new_label()
    lo.emit("BRA", target=left, guard=below)
    _branch_tree(lo, index, targets[middle:], first + middle)
    lo.start_block(left)
    _branch_tree(lo, index, targets[:middle], first)


# -- calls -----------------------------------------------------------------------------------------


def _split_call(inst: ast.Instruction) -> tuple[tuple, ast.Name, tuple, ast.Name | None]:
    """(results, callee, arguments, prototype) of `call (r), f, (a), proto`."""
    operands = list(inst.operands)
    results = operands.pop(0).elements if operands and isinstance(operands[0], ast.Arguments) else ()
    callee = operands.pop(0) if operands else None
    arguments = operands.pop(0).elements if operands and isinstance(operands[0], ast.Arguments) else ()
    return results, callee, arguments, operands[0] if operands else None


def _convention_of_call(lo, callee, prototype) -> Convention | None:
    function = lo.layout.functions.get(callee.text) if isinstance(callee, ast.Name) else None
    if function:
        return convention(function.params, function.returns)
    if not isinstance(prototype, ast.Name):
        return None
    targets = lo.scope.find("targets", prototype.text)
    found = lo.layout.functions.get(targets[0]) if targets else lo.scope.find("prototypes", prototype.text)
    return convention(found.params, found.returns) if found else None


def prepare_calls(lo, block: ast.Block):
    """Before a scope's statements are lowered: where the .param variables of its calls will be."""
    for statement in block.statements:
        if isinstance(statement, ast.Instruction) and statement.opcode == "call":
            results, callee, arguments, prototype = _split_call(statement)
            places = _convention_of_call(lo, callee, prototype)
            if places is None:
                continue
            for names, group in ((arguments, places.params), (results, places.returns)):
                for name, place in zip(names, group.values(), strict=False):
                    if isinstance(name, ast.Name):
                        _declare_argument(lo, name.text, place, block)


def _own_array(lo, name: str, block: ast.Block) -> Place:
    """An argument for an array of unknown size has room in the caller's own frame."""
    variable = _variable(lo, name, block)
    if variable is None:
        raise PtxError(f"{name} is not declared", lo.module_name, lo.function.line, 1)
    own = replace(variable, name=f"#argument{len(lo.frame.offsets)}")
    lo.frame.add(own)
    return Place("F", lo.frame.offsets[own.name], variable.type)


def _variable(lo, name: str, block: ast.Block) -> ast.Variable | None:
    declared = [each for each in block.statements if isinstance(each, ast.Variable) and each.name == name]
    return declared[0] if declared else lo.scope.find("variables", name)


def _declare_argument(lo, name: str, place: Place, block: ast.Block):
    lo.outgoing.pop(name, None)
    lo.parameter_values.pop(name, None)
    if place.variadic:
        lo.outgoing[name] = _own_array(lo, name, block)
    elif place.file == "M":
        if _variable(lo, name, block):
            lo.outgoing[name] = place
    elif _variable(lo, name, block):  # and no register
        lo.parameter_values[name] = lo.temp(place.file)


def _call(lo):
    lo.modifiers.flag("uni")
    results, callee, arguments, prototype = _split_call(lo.inst)
    if not isinstance(callee, ast.Name):
        raise lo.error("the callee must be a function or a register")
    if callee.text in SYSCALLS and not _has_body(lo, callee.text):
        return _syscall(lo, callee.text, results, arguments)
    places = _convention_of_call(lo, callee, prototype)
    direct = callee.text in lo.layout.functions
    if places is None:
        raise lo.error(
            f"{callee.text} is not a function of this module"
            if not lo.find_register(callee)
            else "the prototype is missing"
        )
    if direct and not _has_body(lo, callee.text):
        raise NoVariant(f"external function {callee.text} in")
    if len(arguments) != len(places.params) or len(results) != len(places.returns):
        raise lo.error(f"{callee.text} takes {len(places.params)} arguments and returns {len(places.returns)} results")
    address = None if direct else lo.src(callee, "u64")
    uses = []
    for name, place in zip(arguments, places.params.values(), strict=True):
        if place.file != "M":
            register = fixed_register(lo, place)
            lo.copy(register, _argument_value(lo, name, place))
            uses.append(register)
        # a register or number, for an argument in memory
        elif not isinstance(name, ast.Name) or name.text not in lo.outgoing:
            store(lo, "local", [lo.src(name, place.type)], place.type, outgoing_address(lo, place, 0))
    if any(
        place.file == "M" and lo.find_register(name)
        for name, place in zip(results, places.returns.values(), strict=True)
    ):
        raise lo.error("a result in memory needs a .param variable")
    defs = [
        (name, fixed_register(lo, place))
        for name, place in zip(results, places.returns.values(), strict=True)
        if place.file != "M"
    ]
    registers = tuple(register for _, register in defs)
    if direct:
        lo.body.callees.add(callee.text)
        lo.emit("CALL", target=callee.text, uses=tuple(uses), defs=registers)
    else:
        lo.body.indirect_calls = True
        lo.emit("CALL.IND", a=address, uses=tuple(uses), defs=registers)
    for name, register in defs:
        lo.copy(_result_register(lo, name), register)
    return None


def _has_body(lo, name: str) -> bool:
    function = lo.layout.functions.get(name)
    return bool(function and function.body)


def _argument_value(lo, name, place: Place):
    if place.variadic:
        if not isinstance(name, ast.Name) or name.text not in lo.outgoing:
            raise lo.error("an array of unknown size takes a .param array")
        return local_address(lo, lo.outgoing[name.text].index, "D")
    if isinstance(name, ast.Name) and name.text in lo.parameter_values:
        return lo.parameter_values[name.text]
    return lo.src(name, place.type)


def _result_register(lo, name) -> int:
    if not isinstance(name, ast.Name):
        raise lo.error("a result is a register or a .param variable")
    if name.text in lo.parameter_values:
        return lo.parameter_values[name.text]
    register = lo.find_register(name)
    if register is None:
        raise lo.error(f"{name.text} is not declared")
    return register.number


# Arguments of __assertfail in the block it gets: (offset, type). Natural alignment, in order.
_ASSERT_BLOCK = ((0, "u64"), (8, "u64"), (16, "u32"), (24, "u64"), (32, "u64"))
_ASSERT_NBYTES = 40


def _syscall(lo, name: str, results: tuple, arguments: tuple):
    if len(arguments) != _N_ARGUMENTS[SYSCALLS[name]]:
        raise lo.error(f"{name} has a different number of arguments")
    values = [lo.reg(_syscall_argument(lo, argument, "u64"), lo_file(lo, argument)) for argument in arguments]
    if name == "__assertfail":
        values = [_assert_block(lo, values)]
    slots = dict(zip("ab", values, strict=False))
    row = "SYSCALL.64" if name in _GIVES_64_BITS else "SYSCALL"
    dst = _result_register(lo, results[0]) if results else None
    skip = _branch_past(lo) if SYSCALLS[name] == LAUNCH_SERVICE else ""  # what runs launches something
    lo.emit(row, imm=SYSCALLS[name], dst=dst, **slots)
    if skip:
        lo.start_block(skip)


def _syscall_argument(lo, argument, kind: str):
    value = lo.parameter_values.get(getattr(argument, "text", ""))
    return value if value is not None else lo.src(argument, kind)


def lo_file(lo, argument) -> str:
    value = lo.parameter_values.get(getattr(argument, "text", ""))
    return lo.body.files[value] if value is not None else "D"


def _assert_block(lo, values: list[int]) -> int:
    """Stores the arguments in local memory; their generic address is what the service gets."""
    block = ast.Variable("#assert", "local", "b8", _ASSERT_NBYTES, 8, lo.inst.line, True)
    if block.name not in lo.frame.offsets:
        lo.frame.add(block)
    start = lo.frame.offsets[block.name]
    base = None if lo.body.is_kernel else local_address(lo, 0, "R")
    for (offset, kind), value in zip(_ASSERT_BLOCK, values, strict=True):
        store(lo, "local", [value], kind, {"a": base, "imm": start + offset})
    return lo.op("CVTA.LOCAL", a=lo.reg(local_address(lo, start, "D"), "D"))


# -- the rest --------------------------------------------------------------------------------------


def _plain(row: str):
    def lower(lo):
        lo.count(0)
        lo.emit(row)

    return lower


def _nanosleep(lo):
    lo.modifiers.type()
    lo.count(1)
    lo.emit("NANOSLEEP", b=lo.src(lo.operand(0), "u32"))


def _pmevent(lo):
    """Nobody counts events."""
    lo.modifiers.flag("mask")
    lo.count(1)
    if not isinstance(lo.src(lo.operand(0), "u32"), Imm):
        raise lo.error("the event must be a constant")
    lo.emit("NOP")


# -- the stack -------------------------------------------------------------------------------------


def _alloca(lo):
    """Local memory until the function returns or the stack is restored."""
    lo.modifiers.type()
    n = lo.count(2, 3)
    align = lo.src(lo.operand(2), "u32") if n == 3 else Imm(8)
    if not isinstance(align, Imm) or align.bits.bit_count() != 1 or align.bits > 1 << 16:
        raise lo.error("the alignment must be a constant power of two")
    size = lo.reg(lo.src(lo.operand(1), "u64"), "D")
    lo.emit("ALLOCA", dst=lo.dst(lo.operand(0), "u64"), a=size, imm=align.bits)


def _stacksave(lo):
    lo.modifiers.type()
    lo.count(1)
    lo.emit("STACKSAVE", dst=lo.dst(lo.operand(0), "u64"))


def _stackrestore(lo):
    lo.modifiers.type()
    lo.count(1)
    lo.emit("STACKRESTORE", a=lo.reg(lo.src(lo.operand(0), "u64"), "D"))


TABLE = {
    "ret": _ret, "exit": _plain("EXIT"), "bra": _bra, "brx": _brx, "call": _call, "trap": _plain("TRAP"),
    "brkpt": _plain("BRKPT"),
    "nanosleep": _nanosleep, "pmevent": _pmevent, "alloca": _alloca, "stacksave": _stacksave,
    "stackrestore": _stackrestore,
}  # fmt: skip
