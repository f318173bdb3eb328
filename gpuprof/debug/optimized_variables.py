"""Variables of optimized code: which ones are visible at a position, and where they are.

The program's facts (`isa.facts`) name the register of the PTX that holds a variable, or its value. The PTX is assembled
once more to find its registers in the final code (`assemble.debug_registers`); if the result differs from the running
code, as with another limit of registers, only numbers and the kernel's parameters are known.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import NamedTuple

from gpuprof.assemble.assemble import assemble_program
from gpuprof.assemble.debug_registers import DebugRegisters, Place, Shape
from gpuprof.compile.module import PtxModule
from gpuprof.compile.variables.positions import SIGN
from gpuprof.debug.assignments import FunctionVariables, Key, Reached, Scopes, Spot, assigned, by_function, reached
from gpuprof.debug.source_positions import Positions
from gpuprof.debug.symbols import BRAIN, Variable
from gpuprof.debug.values.c_types import CType, Member, arrays_of, fill_pointer, fill_struct, pointer_shell, renamed
from gpuprof.errors import FileFormatError
from gpuprof.isa.facts import VariableFacts
from gpuprof.isa.program import Program

MOST_OF_LOOP = 2  # copies of a position: before the loop and at its end, where its condition is
BITS = {"r": 32, "rd": 64, "rs": 16, "p": 1, "rq": 128}  # of registers, by the letters of LLVM's names
KINDS = {
    "DW_ATE_boolean": "bool",
    "DW_ATE_float": "float",
    "DW_ATE_signed_char": "char",
    "DW_ATE_unsigned_char": "char",
}
SIGNED = ("DW_ATE_signed", "DW_ATE_signed_char")
_NAME = re.compile(r"([a-z]+)\d+")
_PARAMETER = re.compile(r"^\tld\.param\.[buf](\d+) \t%(\w+), \[(\w+)(?:\+(\d+))?\];")
_SPECIAL = re.compile(r"^\tmov\.[bu]32 \t%(\w+), %((?:n?tid|n?ctaid)\.[xyz]);")
_SAME = re.compile(r"^\tcvta\.to\.global\.u64 \t%(\w+), %(\w+);")


class Argument(NamedTuple):
    """A part of a kernel's parameter: its name in the PTX, and the offset in it; or a special register, such as
    `tid.x`.
    """

    name: str
    offset: int
    nbytes: int


@contextmanager
def _damage_reported() -> Iterator[None]:
    """Raises FileFormatError for facts that `compile.variables` does not record."""
    try:
        yield
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise FileFormatError("the program's facts about variables are damaged: no variable is known") from None


class Optimized:
    """The variables of a program whose facts have some."""

    @_damage_reported()
    def __init__(self, program: Program, facts: VariableFacts):
        """Raises FileFormatError, as other methods do, for damaged facts."""
        self.program = program
        self.lines = program.ptx.split("\n")
        self.table = facts.table
        self.functions = by_function(self.lines, facts)
        self.numbers = {tuple(key): number for number, key in enumerate(self.table["places"])}
        self._types = _Types(self.table["types"])

    @cached_property
    def _register_map(self) -> tuple[DebugRegisters, bool]:
        """The registers of variables, and if they belong to the code that runs."""
        program = self.program
        module = PtxModule(program.name, program.ptx, {}, {}, program.compiler, program.arch)
        registers = DebugRegisters({name: variables.registers for name, variables in self.functions.items()})
        made = assemble_program(module, debug_registers=registers)
        return registers, made.code.tobytes() == program.code.tobytes()

    @cached_property
    def _assigned(self) -> dict[str, dict[int, Mapping[Key, Spot]]]:
        shapes, by_name = self._register_map[0].shapes, {}
        for name, constant in self._arguments.items():
            variables = self.functions[name]
            first = self._first(variables, constant)
            by_name[name] = assigned(shapes[name], variables, constant, first, {*self._reported_by.values()})
        return by_name

    @cached_property
    def _reported_by(self) -> dict[int, int]:
        """The variable that reports the position of each variable, by numbers: the one in the same call of its
        function.
        """
        reporter_of = {}
        for number, (node, call) in enumerate(self.table["places"]):
            reporter = self.numbers.get((self.table["positions"][str(self._function_of(node))]["marked"], call))
            if reporter not in (None, number):
                reporter_of[number] = reporter
        return reporter_of

    def _function_of(self, node: int) -> int:
        *_, function = self._around(self.table["variables"][str(node)][2])
        return function

    @cached_property
    def _reached(self) -> dict[str, dict[int, Reached]]:
        shapes = self._register_map[0].shapes

        def is_set(variable: int, before: frozenset[int], position: int) -> bool:
            node, _ = self.table["places"][variable]
            return self._positions[self._function_of(node)].is_set(node, before, position)

        return {name: reached(shapes[name], variables, self._reported_by, is_set)
                for name, variables in self.functions.items() if name in shapes}  # fmt: skip

    @cached_property
    def _positions(self) -> dict[int, Positions]:
        """The positions of each function."""
        return {
            int(function): Positions(each["lines"], each["following"], each["sets"], each["ends"])
            for function, each in self.table["positions"].items()
        }

    def _is_so(self, variable: Variable, line: int) -> bool:
        """True if a variable has, at the position that the code has reached, its value at a line of the source."""
        node, call = self.table["places"][variable.offset]
        positions = self._positions[self._function_of(node)]
        known = self._reached[variable.symbol].get(variable.first, Reached({}, {}))
        now, then = (
            known.positions.get(self._reported_by.get(variable.offset, -1), ()),
            known.set_at.get(variable.offset),
        )
        if not positions.lasts(node, then, now) or not positions.agree(node, line, now, call > 0):
            return False
        return not self._is_unrolled(variable, then) or not positions.leaves(then, now)

    def _is_unrolled(self, variable: Variable, then: Collection[int] | None) -> bool:
        """True if the code has more copies of a position than a loop has by itself: LLVM may have merged the paths that
        leave two iterations, and the facts lack the last assignment.
        """
        n_reported = self._n_reported[variable.symbol]
        return any(n_reported[self._reported_by[variable.offset], each] > MOST_OF_LOOP for each in then or ())

    @cached_property
    def _n_reported(self) -> dict[str, Counter[tuple[int, int]]]:
        """How often each position is reported in a function, by the variable that reports it."""
        reporters = {*self._reported_by.values()}
        return {
            name: Counter((each.number, each.spot.bits) for each in variables.assignments
                          if each.number in reporters and each.spot is not None)
            for name, variables in self.functions.items()
        }  # fmt: skip

    def _first(self, variables: FunctionVariables, constant: Mapping[str, Argument]) -> dict[Key, Spot]:
        """Arguments at a kernel's begin: those that are in a register of `constant` at first. It must be their own: a
        parameter whose first value is unused has its first record at its next assignment.
        """
        spots: dict[Key, Spot | None] = {}
        for _, _, number, part, spot, _ in variables.assignments:
            variable, call = self.table["places"][number]
            position = self.table["variables"][str(variable)][3]
            if not call and position:
                is_own = (
                    spot and not spot.sums and spot.register in constant and _is_of(constant[spot.register], position)
                )
                spots.setdefault((number, part), spot if is_own else None)
        return {key: spot for key, spot in spots.items() if spot}

    @cached_property
    def _arguments(self) -> dict[str, dict[str, Argument]]:
        """Registers that hold a part of a kernel's parameter from one position on, and no other value."""
        shapes = self._register_map[0].shapes
        return {
            name: self._loaded(shapes[name], variables) for name, variables in self.functions.items() if name in shapes
        }

    def _loaded(self, shape: Shape, variables: FunctionVariables) -> dict[str, Argument]:
        writes = [register for block in shape.blocks for inst in block for register in inst.writes]
        by_register: dict[str, Argument] = {}
        for number in sorted(variables.segments):
            text = self.lines[number - 1]
            if match := _PARAMETER.match(text):
                by_register[match[2]] = Argument(match[3], int(match[4] or 0), int(match[1]) // 8)
            elif match := _SPECIAL.match(text):
                by_register[match[1]] = Argument(match[2], 0, 4)
            elif (match := _SAME.match(text)) and match[2] in by_register:
                by_register[match[1]] = by_register[match[2]]
        return {name: each for name, each in by_register.items() if writes.count(shape.names[name]) == 1}

    # Visible variables

    def _around(self, scope: int | None) -> Iterator[int]:
        """A scope and the enclosing ones, the innermost first."""
        seen: set[int] = set()
        while scope is not None and scope not in seen:
            yield scope
            seen.add(scope)
            scope = self.table["scopes"].get(str(scope))

    @cached_property
    def _declared(self) -> dict[int, list[tuple[int, str, int, int]]]:
        """By scope, the last first: the node of a variable, its name and type, its index among the arguments or 0."""
        by_scope: dict[int, list] = {}
        for key, (name, type, scope, argument) in self.table["variables"].items():
            if name.startswith(SIGN):
                continue
            by_scope.setdefault(scope, []).append((int(key), name, type, argument))
        return {
            scope: sorted(rows, key=lambda row: (row[3] > 0, row[3], row[0]))[::-1] for scope, rows in by_scope.items()
        }

    @_damage_reported()
    def visible(self, function: str, line: int, n_frames: int, depth: int) -> list[Variable]:
        """Variables of the function that is `depth` inlined calls out at a line of the PTX, those of the innermost
        block first.
        """
        scopes = self._scopes(function, line)
        if len(scopes) != n_frames:
            return []
        innermost, call = scopes[depth]
        variables: list[Variable] = []
        for scope in self._around(innermost):
            for key, name, type, argument in self._declared.get(scope, ()):
                number = self.numbers.get((key, call), -1)
                made = self._types.of(type)
                variables.append(Variable(name, made, "register", function, number, argument > 0, line, line))
            variables += self._static.get(scope, ())
        return variables

    @cached_property
    def _static(self) -> dict[int | None, list[Variable]]:
        """Module variables by their scope."""
        by_scope: dict[int | None, list[Variable]] = {}
        for symbol, (name, type, scope, space) in self.table["globals"].items():
            made = Variable(name, self._types.of(type), space, symbol, 0, False, 0, 0)
            by_scope.setdefault(scope, []).append(made)
        return by_scope

    @cached_property
    @_damage_reported()
    def globals(self) -> list[Variable]:
        """Variables outside of all functions."""
        scopes = self.table["scopes"]
        return [each for scope, variables in self._static.items() if str(scope) not in scopes for each in variables]

    @cached_property
    @_damage_reported()
    def types(self) -> dict[str, CType]:
        made = (self._types.of(int(number)) for number in self.table["types"])
        return {type.name: type for type in made if type.kind in ("struct", "enum", "int", "float")}

    def shared_offset(self, function: str, symbol: str) -> int | None:
        """The offset of a variable in the shared memory of a function's blocks."""
        placed = self._register_map[0].shared.get(function, {})
        # The assembler names a variable that a function declares `FUNCTION::SYMBOL#SCOPE`.
        return next((at for name, at in placed.items() if name.rpartition("::")[2].partition("#")[0] == symbol), None)

    def _scopes(self, function: str, line: int) -> Scopes:
        variables = self.functions.get(function)
        return variables.scopes.get(line, ()) if variables else ()

    # Locations of variables

    @_damage_reported()
    def bits(
        self,
        variable: Variable,
        at: int,
        line: int,
        register_value: Callable[[str, int], int],
        parameter: Callable[[str, int, int], int | None],
        is_own: bool,
    ) -> bytes | None:
        """The bytes of a variable before an instruction; None if it is not available, or may differ from its value at
        the instruction's source line `line`. `register_value` gives the value of a register by file and number;
        `parameter` gives `nbytes` of a kernel's parameter at an offset, or a special register. `is_own`: the function
        has not called another one, which may have overwritten its registers.
        """
        spots = self._assigned.get(variable.symbol, {}).get(variable.first, {})
        pieces = {part: spot for (number, part), spot in spots.items() if number == variable.offset}
        if not pieces or not self._is_so(variable, line):
            return None
        data, known = 0, 0
        n_bits = 8 * variable.type.nbytes
        for part, spot in pieces.items():
            first, count = part or (0, n_bits)
            value = self._value(spot, count, variable.symbol, at, register_value, parameter, is_own)
            if value is None:
                return None
            data |= value << first
            known |= ((1 << count) - 1) << first
        is_complete = n_bits and known & (1 << n_bits) - 1 == (1 << n_bits) - 1
        return (data & (1 << n_bits) - 1).to_bytes(variable.type.nbytes, "little") if is_complete else None

    def _value(
        self, spot: Spot, count: int, function: str, at: int, register_value, parameter, is_own: bool
    ) -> int | None:
        """`count` bits of the value in a spot."""
        value, width = spot.bits, 64
        if spot.register:
            width = BITS[_NAME.fullmatch(spot.register)[1]]
            value = self._held(spot.register, function, at, register_value, parameter, is_own)
        if value is None or (count > width and width > 1):
            return None
        for sign, number in spot.sums:
            value = {"+": value + number, "-": value - number, "*": value * number}[sign]
        return value & (1 << count) - 1

    def _held(self, name: str, function: str, at: int, register_value, parameter, is_own: bool) -> int | None:
        argument = self._arguments.get(function, {}).get(name)
        if argument is not None:
            return parameter(argument.name, argument.offset, argument.nbytes)
        register = self._place(function, at).get(name) if is_own else None
        return None if register is None else register_value(*register)

    def _place(self, function: str, at: int) -> Mapping[str, Place]:
        registers, is_same = self._register_map
        first = next(each.first for each in self.program.functions if each.name == function)
        return registers.places[function][at - first] if is_same else {}


def _is_of(argument: Argument, position: int) -> bool:
    """True if it is the parameter of this number, from 1 on."""
    return argument.name.endswith(f"_param_{position - 1}")


class _Types:
    """The types of the table, by the numbers of their nodes."""

    def __init__(self, listed: Mapping[str, list]):
        self._listed, self._made = listed, {}

    def of(self, number: int | None) -> CType:
        if number is None or str(number) not in self._listed:
            return CType("void", "void", 0)
        if number not in self._made:
            self._made[number] = self._make(number, *self._listed[str(number)])
        return self._made[number]

    def _make(self, number: int, form: str, *fields) -> CType:
        if form == "pointer":
            made = self._made[number] = pointer_shell()
            fill_pointer(made, fields[0], self.of(fields[1]))
            return made
        if form in ("struct", "union"):
            name, nbytes, members = fields
            made = self._made[number] = CType("struct", name, nbytes, is_union=form == "union")
            fill_struct(made, [self._member(*each) for each in members])
            return made
        if form == "base":
            name, nbytes, encoding = fields
            kind = KINDS.get(encoding, "int")
            return CType(kind, name, nbytes, encoding in SIGNED, is_brain=name == BRAIN)
        if form == "array":
            return arrays_of(self.of(fields[0]), fields[1])
        if form == "enum":
            name, nbytes, target, names = fields
            return CType("enum", name, nbytes, self.of(target).is_signed, names=tuple(map(tuple, names)))
        if form == "named":
            return renamed(self.of(fields[1]), fields[0])
        if form == "void":
            return CType("void", fields[0], 0)
        target = self.of(fields[0])
        return renamed(target, f"const {target.name}") if form == "const" else target

    def _member(self, name: str, first_bit: int, type: int | None, n_bits: int) -> Member:
        made = self.of(type)
        if not n_bits:
            # Only base classes and anonymous members have no name, and only the latter's type has none either.
            return Member(name or made.name, first_bit // 8, made, is_base=not name and bool(made.name))
        return Member(name, 0, made, (first_bit, n_bits))
