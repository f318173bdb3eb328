"""Entering a function, calling one, and returning: values go where the convention wants them, and come from there."""

from dataclasses import replace

from gpuprof.assemble.abi.calling_convention import Convention, Place, convention, of_each
from gpuprof.assemble.abi.limits import check_local
from gpuprof.assemble.ir.values import Imm, NoVariant, register_parts, type_file, type_nbits
from gpuprof.assemble.lower.agreement import register_agrees
from gpuprof.assemble.lower.data.access import load, store
from gpuprof.assemble.lower.data.address import local_address
from gpuprof.assemble.lower.data.parameters import callee_home, copy_variable, frame_address, load_register
from gpuprof.assemble.lower.flow.call_variables import CallParts, split_call, uses_of
from gpuprof.assemble.lower.flow.syscall import SERVICES, check_service, emit_service
from gpuprof.assemble.lower.scope import Home, Register
from gpuprof.assemble.ptx import ast
from gpuprof.errors import PtxError

# -- entering and leaving --------------------------------------------------------------------------


def enter_function(lowering):
    """Takes the parameters from where the convention puts them, into the scope of the function's body."""
    function = lowering.function
    lowering.body.grows_stack = _grows_stack(function.body)
    for variable in (*function.params, *function.returns):
        if variable.space == "param":
            lowering.scope.variables[variable.name] = variable
    if function.is_kernel:
        for name, offset in lowering.layout.param_offsets[function.name].items():
            lowering.scope.homes[name] = Home("bank", offset, "parameter")
        return
    places = convention(function.params, function.returns)
    for name, place in places.params.items():
        home = _own_home(lowering, name, place, "parameter")
        if place.file != "M":
            lowering.copy(home.index, fixed_register(lowering, place))
    for name, place in places.returns.items():
        home = _own_home(lowering, name, place, "result")
        if place.file != "M":
            lowering.results.append((place, home.index))
    for variable in (*function.params, *function.returns):
        parts = register_parts(variable.type, variable.vector)[1]
        if variable.space == "reg" and len(parts) > 1:
            lowering.name_vector(variable.name, parts)


def _grows_stack(block: ast.Block) -> bool:
    return any(
        _grows_stack(each)
        if isinstance(each, ast.Block)
        else isinstance(each, ast.Instruction) and each.opcode == "alloca"
        for each in block.statements
    )


def _own_home(lowering, name: str, place: Place, role: str) -> Home:
    variable = place.variable
    if place.file == "M":
        if variable.space == "reg":
            message = f"{variable.name}: its .reg parameters need too many registers; declare them .param"
            raise PtxError(message, lowering.module_name, lowering.function.line, 1)
        home = Home("frame", place.index, role)
    else:
        home = Home("pointer" if place.variadic else "register", lowering.temp(place.file), role)
    if variable.space == "reg":
        nbits = 1 if place.file == "P" else type_nbits(place.type)
        lowering.scope.registers[name] = Register(home.index, nbits, place.type)
    else:
        lowering.scope.homes[name] = home
    return home


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
    for place, value in lowering.results:
        register = fixed_register(lowering, place)
        lowering.copy(register, value)
        uses.append(register)
    return lowering.emit("RET", uses=tuple(uses))


# -- the variables of calls ------------------------------------------------------------------------


def prepare_calls(lowering, block: ast.Block):
    """Before a scope's statements are lowered: what its calls do with its `.param` variables."""
    lowering.scope.uses = uses_of(block, lambda call: _convention_of_call(lowering, call))


def declare_call_variable(lowering, variable: ast.Variable):
    """Gives a `.param` variable of a block its home."""
    use = lowering.scope.uses[variable.name]
    role = "passed" if use.is_result else "argument"
    if use.offset is not None:
        home = Home("callee", use.offset, role)
    elif variable.is_array or type_nbits(variable.type) > 64:
        home = Home("frame", _room(lowering, variable), role)
    else:
        home = Home("register", lowering.temp(type_file(variable.type)), role)
    lowering.scope.homes[variable.name] = home


def _room(lowering, variable: ast.Variable) -> int:
    """Bytes from the start of this function's frame, where inner variables may have the same name."""
    own = replace(variable, name=f"#argument{len(lowering.frame.offsets)}")
    lowering.frame.add(own)
    check_local(lowering.module_name, variable, lowering.frame.nbytes)
    return lowering.frame.offsets[own.name]


# -- calls -----------------------------------------------------------------------------------------


def _convention_of_call(lowering, call: CallParts) -> Convention | None:
    function = lowering.layout.functions.get(call.callee.text) if isinstance(call.callee, ast.Name) else None
    if function:
        return convention(function.params, function.returns)
    if not isinstance(call.prototype, ast.Name):
        return None
    name = call.prototype.text
    targets = lowering.scope.find("targets", name)
    declared = lowering.layout.functions.get(targets[0]) if targets else lowering.scope.find("prototypes", name)
    return convention(declared.params, declared.returns) if declared else None


def _call(lowering):
    lowering.modifiers.flag("uni")
    call = split_call(lowering.inst)
    callee = call.callee
    if not isinstance(callee, ast.Name):
        raise lowering.error("the callee must be a function or a register")
    function = lowering.layout.functions.get(callee.text)
    is_service = callee.text in SERVICES and not (function and function.body)
    places = _convention_of_call(lowering, call)
    if places is None:
        if lowering.find_register(callee):
            raise lowering.error("the prototype is missing")
        raise lowering.error(f"{callee.text} is not a function of this module")
    if function and not function.body and not is_service:
        raise NoVariant(f"external function {callee.text} in")
    params, returns = of_each(places.params), of_each(places.returns)
    arguments = call.arguments
    if len(arguments) == len(params) - 1 and params[-1][0].variadic:
        arguments = (*arguments, _NO_ARRAY)
    if len(arguments) != len(params) or len(call.results) != len(returns):
        raise lowering.error(f"{callee.text} takes {len(params)} arguments and returns {len(returns)} results")
    if is_service:
        return _call_service(lowering, callee.text, call, params, returns)
    address = None if function else lowering.src(callee, "u64")
    uses = [register for pair in zip(arguments, params, strict=True) for register in _pass(lowering, *pair)]
    given = [pair for pair in zip(call.results, returns, strict=True) if not ast.is_sink(pair[0])]
    taken = [pair for result, group in given for pair in _result_registers(lowering, result, group)]
    defs = tuple(register for _, register in taken)
    if function:
        lowering.body.callees.add(callee.text)
        lowering.emit("CALL", target=callee.text, uses=tuple(uses), defs=defs)
    else:
        lowering.body.indirect_calls = True
        lowering.emit("CALL.IND", a=address, uses=tuple(uses), defs=defs)
    for target, register in taken:
        lowering.copy(target, register)
    for result, group in given:
        _take_from_memory(lowering, result, group[0])
    return None


def _call_service(lowering, name: str, call: CallParts, params: list[list[Place]], returns: list[list[Place]]):
    check_service(lowering, name, params, returns)
    values = [
        value
        for argument, group in zip(call.arguments, params, strict=True)
        for value in _register_values(lowering, argument, group)
    ]
    given = [pair for pair in zip(call.results, returns, strict=True) if not ast.is_sink(pair[0])]
    targets = [target for result, group in given for target in _targets(lowering, result, group)]
    emit_service(lowering, name, values, targets[0] if targets else None)


_NO_ARRAY = ast.Number(0)  # an array of unknown size may be left out; it is never read then


def variable_home(lowering, operand) -> Home | None:
    """The home of a `.param` variable of a block; None for any other operand."""
    if not isinstance(operand, ast.Name) or lowering.find_register(operand):
        return None
    home = lowering.scope.find("homes", operand.text)
    if home and home.is_own:
        raise lowering.error(f"{operand.text} is a {home.role} of this function; it is passed on in a register")
    return home


def _checked_home(lowering, operand, place: Place) -> Home | None:
    """The home of a `.param` variable that fits a parameter: an array by its bytes and alignment, a scalar by its
    type.
    """
    home = variable_home(lowering, operand)
    if home is None:
        return None
    variable, formal = lowering.scope.find("variables", operand.text), place.variable
    if variable.is_array != formal.is_array:
        fits = False
    elif formal.is_array:
        fits = variable.align == formal.align and formal.nbytes in (0, variable.nbytes)
    else:
        fits = register_agrees(variable.type, type_nbits(variable.type), formal.type, "call")
    if not fits:
        raise lowering.error(f"{operand.text} is {_described(variable)}, and the parameter is {_described(formal)}")
    return home


def _described(variable: ast.Variable) -> str:
    if variable.is_array:
        return f"an array of {variable.nbytes or 'any number of'} bytes, .align {variable.align}"
    return f".{variable.type}"


def _values(lowering, argument, group: list[Place]) -> list:
    """The values of registers or a constant, one for each place."""
    if not isinstance(argument, ast.Name | ast.Number):
        raise lowering.error("an argument is a register, a constant or a .param variable")
    elements = _elements(lowering, argument, group)
    for each in elements:
        if isinstance(each, ast.Name) and not lowering.find_register(each):
            raise lowering.error(f"{each.text} is no register, constant or .param variable of a block")
    kind = _part_type(group)
    return [lowering.src(each, kind) for each in elements]


def _elements(lowering, operand, group: list[Place]) -> tuple:
    elements = ast.elements_of(lowering.expand_vectors(operand))
    wanted = 2 if group[0].type == "b128" else len(group)
    if len(elements) != wanted:
        raise lowering.error(f"{getattr(operand, 'text', 'a constant')} has {len(elements)} parts, and not {wanted}")
    return elements


def _part_type(group: list[Place]) -> str:
    return "b64" if group[0].type == "b128" else group[0].type


def _pass(lowering, argument, group: list[Place]) -> list[int]:
    """Puts an argument where the convention wants it. Returns the registers that the call reads."""
    place = group[0]
    if place.file == "M":
        _pass_in_memory(lowering, argument, group)
        return []
    if place.variadic:
        values = [_array_address(lowering, argument, place)]
    else:
        values = _register_values(lowering, argument, group)
    registers = [fixed_register(lowering, place) for place in group]
    for register, value in zip(registers, values, strict=True):
        lowering.copy(register, value)
    return registers


def _register_values(lowering, argument, group: list[Place]) -> list:
    home = _checked_home(lowering, argument, group[0])
    return [home.index] if home else _values(lowering, argument, group)


def _pass_in_memory(lowering, argument, group: list[Place]):
    place = group[0]
    home = _checked_home(lowering, argument, place)
    if home is None or home.where == "register":
        values = [home.index] if home else _values(lowering, argument, group)
        store(lowering, "local", values, _part_type(group), frame_address(lowering, callee_home(place), 0))
    elif home.where == "frame":
        copy_variable(lowering, home, callee_home(place), place.variable)


def _array_address(lowering, argument, place: Place):
    if argument is _NO_ARRAY:
        return Imm(0)
    home = _checked_home(lowering, argument, place)
    if home is None:
        raise lowering.error("an array of unknown size takes a .param array")
    return local_address(lowering, home.index, "D")


def _result_registers(lowering, result, group: list[Place]) -> list[tuple[int, int]]:
    """(register it goes to, register the callee leaves it in) of a result's values."""
    targets = _targets(lowering, result, group)
    return [(target, fixed_register(lowering, place)) for target, place in zip(targets, group, strict=False)]


def _targets(lowering, result, group: list[Place]) -> list[int]:
    """The registers that a result goes to; none when it is in memory."""
    if not isinstance(result, ast.Name):
        raise lowering.error("a result is a register or a .param variable")
    home = _checked_home(lowering, result, group[0])
    if group[0].file == "M":
        return []
    if home:
        return [home.index]
    return [lowering.dst(each, group[0].type) for each in _elements(lowering, result, group)]


def _take_from_memory(lowering, result, place: Place):
    if place.file != "M":
        return
    home, source = variable_home(lowering, result), callee_home(place)
    if home is None:
        targets = _elements(lowering, result, [place])
        load(lowering, "local", targets, _part_type([place]), frame_address(lowering, source, 0))
    elif home.where == "register":
        load_register(lowering, home.index, place.type, frame_address(lowering, source, 0))
    elif home.where == "frame":
        copy_variable(lowering, source, home, place.variable)


TABLE = {"call": _call, "ret": _ret}
