"""Locations in a module's code by the text that users type: lines of sources and of the PTX, functions, addresses."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import PurePath
from typing import NamedTuple

from gpuprof.debug.optimized_variables import Optimized
from gpuprof.debug.symbols import Symbols, Variable, read_symbols
from gpuprof.device.module import LoadedModule
from gpuprof.errors import DebugError
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.isa.program import Function, Location
from gpuprof.run.observers.kernel_facts import code_of

PTX = "ptx"  # as a file's name: the PTX of the module
_DEPOT = re.compile(r"^\s*mov\.[bu]\d+\s+%SPL,\s*([\w$.]+)\s*;")
_DYNAMIC = re.compile(r"\.extern \.shared .*?([\w$]+)\[\];")
_TAKEN = re.compile(r"^\s*mov\.[bu]\d+\s+%\w+,\s*([\w$.]+)\s*;")


class Frame(NamedTuple):
    """One function on the call path to an instruction: `location` is its position; None without a known source. `call`:
    0 for the function that the thread runs and those inlined in it; k for its k-th caller and those inlined there.
    """

    function: str
    location: Location | None
    at: int
    call: int
    is_inlined: bool


class LoadedCode:
    """The code of a module, with its symbols."""

    def __init__(self, module: LoadedModule):
        self.module, self.code = module, code_of(module)
        self.instructions = self.code.instructions
        self.ptx_lines = module.program.ptx.split("\n")

    @cached_property
    def symbols(self) -> Symbols:
        return read_symbols(self.module.program.ptx)

    @cached_property
    def optimized(self) -> Optimized | None:
        """The variables of optimized code; None for other code."""
        program = self.module.program
        return Optimized(program, program.facts.variables) if program.facts.variables else None

    @property
    def known(self) -> Symbols | Optimized:
        """The table in which module variables and types are looked up."""
        return self.symbols if self.optimized is None else self.optimized

    @cached_property
    def files(self) -> Mapping[str, str]:
        """Path -> text, for known sources."""
        return self.module.program.sources

    def pc(self, at: int) -> int:
        return self.module.load_base + INSTRUCTION_NBYTES * at

    def nbytes_of(self, symbol: str) -> int:
        """The size of a module variable in global memory."""
        return next(each.nbytes for each in self.module.program.variables if each.name == symbol)

    def function_at(self, at: int) -> Function:
        return self._functions[self._owner[at]]

    @cached_property
    def _functions(self) -> dict[int, Function]:
        return {function.first: function for function in self.module.program.functions}

    def frames_at(self, at: int, call: int = 0) -> list[Frame]:
        """The functions around an instruction, those that are inlined first."""
        chain = list(self.instructions[at].frames)
        outermost = self.function_at(at).display
        if not chain:
            return [Frame(outermost, None, at, call, False)]
        names = [location.function or outermost for location in chain[:-1]] + [outermost]
        last = len(chain) - 1
        return [
            Frame(name, location, at, call, depth < last)
            for depth, (name, location) in enumerate(zip(names, chain, strict=True))
        ]

    def visible_at(self, at: int, depth: int = 0) -> list[Variable]:
        """Variables that are in scope at an instruction, the innermost block's first, in the function that is `depth`
        inlined calls out.
        """
        name, line, frames = self.function_at(at).name, self.instructions[at].ptx_line, self.frames_at(at)
        if self.optimized is not None:
            return self.optimized.visible(name, line, len(frames), depth)
        return [] if frames[depth].is_inlined else self.symbols.visible(name, line)[::-1]

    @cached_property
    def _bodies(self) -> dict[int, int]:
        return {function.first: self._body(function) for function in self.module.program.functions}

    def body(self, function: Function) -> int:
        """The first instruction of a function after its arguments are stored, if it was compiled for a debugger."""
        return self._bodies[function.first]

    def _body(self, function: Function) -> int:
        if self.symbols.scope_of(function.name) is None or not function.count:
            return function.first
        numbers = range(function.first, function.first + function.count)
        head = next((self.instructions[at].location for at in numbers if self.instructions[at].location), None)
        after_head = (at for at in numbers if (location := self.instructions[at].location) and location != head)
        return next(after_head, function.first)

    @cached_property
    def _depots(self) -> dict[str, int]:
        """Offsets of each function's local variables in its frame, by their symbol, and of symbols in shared memory."""
        offsets: dict[str, int] = {}
        for instruction in self.instructions:
            text = self.ptx_lines[instruction.ptx_line - 1] if instruction.ptx_line else ""
            if (match := _DEPOT.match(text)) or (match := _TAKEN.match(text)):
                encoded = instruction.encoded
                # The address is taken by one instruction or two: the frame's begin, and a sum with the offset.
                offset = encoded.imm if encoded.imm_slot else 0
                key = f"{self.function_at(instruction.number).name} {match[1]}"
                offsets[key] = offsets.get(key, 0) + offset if _DEPOT.match(text) else offset
        return offsets

    def offset_of(self, variable: Variable, at: int) -> int | None:
        """The offset of a variable in its function's frame, or in the block's shared memory."""
        name = self.function_at(at).name
        if self.optimized is not None:
            return self.optimized.shared_offset(name, variable.symbol) if variable.space == "shared" else None
        start = self._depots.get(f"{name} {variable.symbol}")
        if start is None and variable.space == "shared":
            ends = (offset for key, offset in self._depots.items() if key.endswith(f" {variable.symbol}"))
            start = next(ends, None)
        return None if start is None else start + variable.offset

    @cached_property
    def dynamic_shared(self) -> frozenset[str]:
        """Symbols of shared memory whose size is set by the launch: their type is unknown."""
        return frozenset(match[1] for line in self.ptx_lines if (match := _DYNAMIC.match(line)))

    def dynamic_offset(self, symbol: str, at: int) -> int | None:
        """The offset of such a symbol in the shared memory of a function's blocks; None if the code does not
        reveal it.
        """
        return self._depots.get(f"{self.function_at(at).name} {symbol}")

    # Text that users type

    def at_line(self, file: str, line: int) -> tuple[list[int], int]:
        """The first instruction of a line in each function and inlined copy of it, and the line: the next one with
        code, if it has none. ([], line) for none.
        """
        lines: dict[int, dict[tuple, int]] = defaultdict(dict)
        for instruction in self.instructions:
            owner, at = self._owner[instruction.number], instruction.number
            if file == PTX:
                lines[instruction.ptx_line].setdefault((owner,), at)
                continue
            for location in instruction.frames:
                if same_file(location.file, file):
                    # In a function's head its arguments are not stored yet.
                    lines[location.line].setdefault((owner, location.inlined_at), max(at, self._bodies[owner]))
                    break
        first_line = min((number for number in lines if number >= line), default=0)
        if not first_line:
            return [], line
        return sorted(set(lines[first_line].values())), first_line

    @cached_property
    def _owner(self) -> list[int]:
        owners = [0] * len(self.instructions)
        for function in self.module.program.functions:
            owners[function.first : function.first + function.count] = [function.first] * function.count
        return owners

    def is_head(self, at: int) -> bool:
        """True while a function still stores its arguments."""
        return at < self._bodies[self._owner[at]]

    def first_of(self, at: int) -> int:
        """The first instruction of the function that an instruction belongs to."""
        return self._owner[at]

    def at_function(self, name: str) -> list[int]:
        """The first instructions of functions of a name: `name` as in the source, or the symbol; for an inlined
        function, of each copy.
        """
        starts = [self.body(each) for each in self.module.program.functions if named(each, name)]
        inlined: dict[Location, int] = {}
        for instruction in self.instructions:
            for location in instruction.frames:
                if location.inlined_at is not None and plain(location.function) == name:
                    inlined.setdefault(location.inlined_at, instruction.number)
        return sorted({*starts, *inlined.values()})


def named(function: Function, name: str) -> bool:
    return name in (function.name, function.display, plain(function.display))


def plain(name: str) -> str:
    """A function's name without the arguments of a template."""
    return name.partition("<")[0].partition("(")[0]


def same_file(known: str, given: str) -> bool:
    """True if a path is the one that a user means, where leading folders may be omitted."""
    parts, wanted = PurePath(known).parts, PurePath(given).parts
    return parts[-len(wanted) :] == wanted or known == given


class Linespec(NamedTuple):
    """`file`, `line` of `FILE:LINE`; `function`; `address` of `*0x...`."""

    file: str = ""
    line: int = 0
    function: str = ""
    address: int | None = None

    def __str__(self) -> str:
        if self.address is not None:
            return f"*{self.address:#x}"
        return self.function or f"{self.file}:{self.line}"


def linespec(text: str, file: str, line: int) -> Linespec:
    """The location of FILE:LINE, LINE, +N, -N, FUNCTION or *ADDRESS; `file` and `line` are the current ones. Raises
    DebugError.
    """
    text = text.strip()
    if not text:
        return Linespec(file, line)
    if text.startswith("*"):
        try:
            return Linespec(address=int(text[1:], 0))
        except ValueError:
            raise DebugError(f"{text!r} is not an address") from None
    if re.fullmatch(r"[+-]?\d+", text):
        number = int(text)
        return Linespec(file, line + number if text[0] in "+-" else number)
    if (match := re.fullmatch(r"(.+):(\d+)", text)) and not match[1].endswith(":"):
        return Linespec(match[1], int(match[2]))
    if not re.fullmatch(r"[~\w$<>,: *&.]+", text):
        raise DebugError(f"{text!r:.60} is not a location: give LINE, FILE:LINE, FUNCTION or *ADDRESS")
    return Linespec(function=text)


class ResolvedLocation(NamedTuple):
    """A resolved location: instructions of a module; `line` is the line that has code."""

    code: LoadedCode
    instructions: tuple[int, ...]
    line: int


def find(spec: Linespec, codes: Iterable[LoadedCode]) -> list[ResolvedLocation]:
    locations = []
    for code in codes:
        instructions, line = [], spec.line
        if spec.address is not None:
            at, rest = divmod(spec.address - code.module.load_base, INSTRUCTION_NBYTES)
            instructions = [at] if not rest and 0 <= at < len(code.instructions) else []
        elif spec.function:
            instructions = code.at_function(spec.function)
        else:
            instructions, line = code.at_line(spec.file, spec.line)
        if instructions:
            locations.append(ResolvedLocation(code, tuple(instructions), line))
    return locations
