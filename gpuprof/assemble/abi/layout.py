"""The places of variables: the parameter block, shared memory, the constant segment, global variables, local frames."""

from collections.abc import Iterator
from dataclasses import replace

from gpuprof.assemble.abi.calling_convention import align_up, convention
from gpuprof.assemble.ir.values import float_bits
from gpuprof.assemble.ptx import ast
from gpuprof.assemble.ptx.ast import TYPE_NBYTES
from gpuprof.errors import PtxError
from gpuprof.isa.program import InitialAddress, Variable

ADDRESS_NBYTES = 8


class Frame:
    """Local memory of one function: what the convention passes in memory, then its variables, later its spills."""

    def __init__(self, nbytes: int = 0):
        self.nbytes = nbytes
        self.offsets: dict[str, int] = {}

    def add(self, variable: ast.Variable):
        self.nbytes = align_up(self.nbytes, variable.align)
        self.offsets[variable.key] = self.nbytes
        self.nbytes += variable.nbytes


class Layout:
    """Places of a module's variables.

    Shared variables that device functions use are first and at the same offset for every kernel; each kernel's own
    follow. Dynamic shared memory starts after a kernel's static part.
    """

    def __init__(self, module: ast.Module):
        self.module = module
        self.functions = {f.name: f for f in module.functions}
        self.variables = {v.name: v for v in module.variables}
        self.const_offsets: dict[str, int] = {}
        self.constants_nbytes = 0  # of all variables in constant memory
        self.param_offsets: dict[str, dict[str, int]] = {
            f.name: _param_offsets(f) for f in module.functions if f.is_kernel
        }
        self.shared_offsets: dict[str, dict[str, int]] = {}
        self.shared_nbytes: dict[str, int] = {}
        self._frames: dict[str, Frame] = {}
        # Local variables of the module (before PTX 3.0) begin each kernel's frame, so all functions know their places.
        self.module_local = Frame()
        for variable in module.variables:
            if variable.space == "local":
                self.module_local.add(variable)
        self.templates: dict = {}  # of `lower.templates`, by form: they hold for all functions of the module
        self.addressed = {
            _symbol_of(value) for v in module.variables for value in v.initial or ()
        } & self.functions.keys()
        self._place_const()
        self._place_shared()

    def frame_of(self, function: ast.Function) -> Frame:
        if function.name not in self._frames:
            if function.is_kernel:
                nbytes = align_up(self.module_local.nbytes, 16)
            else:
                nbytes = convention(function.params, function.returns).memory_nbytes
            self._frames[function.name] = Frame(nbytes)
        return self._frames[function.name]

    def _place_const(self):
        offset = 0
        for variable in self.module.variables:
            if variable.space == "const":
                offset = align_up(offset, variable.align)
                self.const_offsets[variable.name] = offset
                offset += variable.nbytes
        self.constants_nbytes = offset

    def _place_shared(self):
        module_shared = {name: v for name, v in self.variables.items() if v.space == "shared"}
        own = {name: _shared_of(f, module_shared) for name, f in self.functions.items()}
        calls = {name: _called(f, self.functions, self.addressed) for name, f in self.functions.items()}
        common: dict[str, int] = {}
        common_nbytes = 0
        for name, function in self.functions.items():
            if not function.is_kernel:
                common_nbytes = _place(own[name], common, common_nbytes)
        for name, function in self.functions.items():
            used = set(own[name]).union(*(own[callee] for callee in _reachable(name, calls)))
            offsets = dict(common)
            nbytes = common_nbytes if used & common.keys() else 0
            if function.is_kernel:
                nbytes = _place(own[name], offsets, nbytes)
            dynamic = [v for v in module_shared.values() if v.name in used and v.nbytes == 0]
            if dynamic:
                nbytes = align_up(nbytes, max(v.align for v in dynamic))
            if function.is_kernel:
                offsets.update((v.name, nbytes) for v in dynamic)
            self.shared_offsets[name] = offsets
            self.shared_nbytes[name] = nbytes

    def segment_variables(self) -> tuple[Variable, ...]:
        """Module-scope variables of the global and constant space with their initial bytes, in the module's order."""
        result = []
        global_offset = 0
        for variable in self.module.variables:
            if variable.linkage == "extern":
                continue
            if variable.space == "global":
                global_offset = align_up(global_offset, variable.align)
                offset, global_offset = global_offset, global_offset + variable.nbytes
            elif variable.space == "const":
                offset = self.const_offsets[variable.name]
            else:
                continue
            image = _image(variable, self.module.name)
            addresses = tuple(self._initial_addresses(variable))
            result.append(
                Variable(variable.name, variable.space, offset, variable.nbytes, variable.align, image, addresses)
            )
        return tuple(result)

    def _initial_addresses(self, variable: ast.Variable) -> Iterator[InitialAddress]:
        width = TYPE_NBYTES[variable.type]
        initial = variable.initial or ()
        for index, value in enumerate(initial):
            symbol = _symbol_of(value)
            if not symbol:
                continue
            byte = value.byte if isinstance(value, ast.Offset) else None
            if byte is not None:  # eight bytes of one address, in order
                first = initial[index - byte : index - byte + ADDRESS_NBYTES] if index >= byte else ()
                if width != 1 or list(first) != [replace(value, byte=k) for k in range(ADDRESS_NBYTES)]:
                    raise self._error(
                        variable,
                        f"the eight bytes of the address of {symbol} must be in eight elements of one byte, in order",
                    )
                if byte:
                    continue
            target = self.variables.get(symbol)
            if symbol not in self.functions and (target is None or target.space not in ("global", "const")):
                raise self._error(
                    variable, f"its initial value names {symbol}, which is not a function, global variable or constant"
                )
            if width != ADDRESS_NBYTES and byte is None:
                raise self._error(
                    variable, f"an address as initial value takes {ADDRESS_NBYTES} bytes, and its elements have {width}"
                )
            yield InitialAddress(index * width, symbol, isinstance(value, ast.Offset) and value.generic)

    def _error(self, variable: ast.Variable, what: str) -> PtxError:
        return PtxError(f"variable {variable.name}: {what}", self.module.name, variable.line, variable.column)


def _symbol_of(value) -> str:
    """The function or variable whose address an initial value is; "" for a number."""
    if isinstance(value, ast.Number):
        return ""
    return value.name if isinstance(value, ast.Offset) else value.text


def _bits_of(value, kind: str) -> int:
    """The bits that the image holds for an initial value of an element's type."""
    if isinstance(value, ast.Number):
        return float_bits(value, kind) if value.kind != "int" and kind in ("f32", "f64") else value.value
    if not isinstance(value, ast.Offset):
        return 0
    return value.offset if value.byte is None else value.offset >> 8 * value.byte & 0xFF


def _param_offsets(function: ast.Function) -> dict[str, int]:
    offset = 0
    offsets = {}
    for param in function.params:
        offset = align_up(offset, param.align)
        offsets[param.name] = offset
        offset += param.nbytes
    return offsets


def _place(variables: dict[str, ast.Variable], offsets: dict[str, int], nbytes: int) -> int:
    """Gives each variable that has none yet an offset from `nbytes` on; returns the new end."""
    for name, variable in variables.items():
        if name not in offsets and variable.nbytes:
            nbytes = align_up(nbytes, variable.align)
            offsets[name] = nbytes
            nbytes += variable.nbytes
    return nbytes


def _statements(block: ast.Block | None) -> Iterator:
    for statement in block.statements if block else ():
        if isinstance(statement, ast.Block):
            yield from _statements(statement)
        else:
            yield statement


def names_of(operand) -> Iterator[str]:
    """All names in an operand."""
    if isinstance(operand, ast.Name):
        yield operand.text
    elif isinstance(operand, ast.Offset):
        yield operand.name
    elif isinstance(operand, ast.Memory) and operand.base:
        yield operand.base.text
    elif isinstance(operand, ast.Vector | ast.Arguments):
        for element in operand.elements:
            yield from names_of(element)


def _names(inst: ast.Instruction) -> list[str]:
    """All names among its operands; the usual ones are looked at here, since this is done for every instruction."""
    names = []
    for operand in inst.operands:
        kind = operand.__class__
        if kind is ast.Name:
            names.append(operand.text)
        elif kind is not ast.Number:
            names += names_of(operand)
    return names


def _shared_of(function: ast.Function, module_shared: dict[str, ast.Variable]) -> dict[str, ast.Variable]:
    """Shared variables a function declares or names, in order of appearance."""
    shared = {}
    for statement in _statements(function.body):
        if isinstance(statement, ast.Variable) and statement.space == "shared":
            shared[statement.key] = statement
        elif isinstance(statement, ast.Instruction):
            for name in _names(statement):
                if name in module_shared:
                    shared[name] = module_shared[name]
    return shared


def _called(function: ast.Function, functions: dict[str, ast.Function], addressed: set[str]) -> set[str]:
    """Functions it names: called, or their address taken; `addressed`, those in variables, when it calls by address."""
    called = set()
    for statement in _statements(function.body):
        if isinstance(statement, ast.Instruction):
            named = {name for name in _names(statement) if name in functions}
            called |= addressed if statement.opcode == "call" and not named else named
    return called


def _reachable(name: str, calls: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    todo = [name]
    while todo:
        for callee in calls[todo.pop()] - seen:
            seen.add(callee)
            todo.append(callee)
    return seen


def _image(variable: ast.Variable, module_name: str) -> bytes:
    """The initial bytes. The place of an address holds the number that is to be added to the address."""
    width = TYPE_NBYTES[variable.type]
    mask = (1 << 8 * width) - 1
    image = b"".join(
        (_bits_of(value, variable.type) & mask).to_bytes(width, "little") for value in variable.initial or ()
    )
    if len(image) > variable.nbytes:
        raise PtxError(
            f"variable {variable.name}: more initial values than elements", module_name, variable.line, variable.column
        )
    return image.ljust(variable.nbytes, b"\0")
