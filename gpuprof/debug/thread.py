"""One thread at a stop: its position, and what is visible there."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from gpuprof.debug.code_locations import Frame, LoadedCode
from gpuprof.debug.symbols import Variable
from gpuprof.debug.values.c_types import (
    BASIC,
    BOOL,
    INT,
    UNSIGNED,
    UNSIGNED_LONG,
    CType,
    Member,
    Storage,
    Value,
    value_of,
)
from gpuprof.device.commands import Launch
from gpuprof.device.memory import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_NBYTES
from gpuprof.emulate.chunk import Chunk
from gpuprof.emulate.watch.watch_state import Lane, State
from gpuprof.errors import DebugError, NoValue
from gpuprof.isa.encoding import PT
from gpuprof.isa.program import Param

WARP = 32
DIM3 = CType("struct", "dim3", 12, members=tuple(Member(name, 4 * k, UNSIGNED) for k, name in enumerate("xyz")))
WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}
_REGISTER = re.compile(r"\$([RDP])(\d+)")
_MADE_OF_SYMBOL = re.compile(r"^.*_(param_\d+)$")  # a parameter's name: the kernel's symbol and its number
# Special registers of the PTX -> a variable of CUDA and its component.
SPECIAL = {
    f"{register}.{letter}": (name, dimension)
    for register, name in (("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim"))
    for dimension, letter in enumerate("xyz")
}
REGISTER_TYPES = {"R": UNSIGNED, "D": UNSIGNED_LONG, "P": BOOL}

Coordinates = tuple[int, int, int]


def coordinates(number: int, extent: Coordinates) -> Coordinates:
    """The coordinates of a linear index."""
    x, y, _ = extent
    return number % x, number // x % y, number // (x * y)


class Focus(NamedTuple):
    """A thread of a launch, by linear indexes: of its block in the grid, and of the thread in the block."""

    block: int
    thread: int


class Thread:
    """Thread `focus` of a launch at a stop. Raises DebugError if its chunk is not the one that runs."""

    def __init__(self, state: State, code: LoadedCode, focus: Focus, frame: int = 0):
        self.state, self.code, self.focus = state, code, focus
        self.launch: Launch = state.chunk.launch
        warp = warp_of(state.chunk, focus)
        if warp is None:
            raise DebugError(f"{self.name} is not running now")
        self.lane = Lane(warp, focus.thread % WARP)
        self.at = int(state.places[warp, self.lane.lane])
        self.frame = frame

    @property
    def name(self) -> str:
        block, thread = (
            coordinates(self.focus.block, self.launch.grid),
            coordinates(self.focus.thread, self.launch.block),
        )
        return f"block {text_of(block)}, thread {text_of(thread)}"

    @property
    def has_exited(self) -> bool:
        return self.at < 0

    @cached_property
    def _calls(self) -> list[tuple[int, int]]:
        return self.state.frames(*self.lane)

    @property
    def frame_base(self) -> int:
        """The begin of the selected frame in the thread's local memory."""
        return self._calls[self.present.call][1]

    def frames(self) -> list[Frame]:
        """Innermost first. Raises DebugError for a thread that has exited."""
        if self.has_exited:
            raise DebugError(f"{self.name} has exited")
        frames = self.code.frames_at(self.at)
        for call, (after, _) in enumerate(self._calls[1:], 1):
            frames += self.code.frames_at(after - 1, call)
        return frames

    @cached_property
    def present(self) -> Frame:
        """The selected frame."""
        frames = self.frames()
        return frames[min(self.frame, len(frames) - 1)]

    # Variables

    def visible(self) -> list[Variable]:
        """The variables that are visible in the frame, those of the innermost block first."""
        frame = self.present
        calls = [each.call for each in self.frames()]
        depth = calls[: min(self.frame, len(calls) - 1)].count(frame.call)
        return self.code.visible_at(frame.at, depth)

    def params(self) -> list[tuple[str, Value]]:
        """The kernel's parameters by their PTX names, if no better ones are known; `param_0` and so on if a compiler
        has dropped their names.
        """
        function = self.code.function_at(self.present.at)
        if not function.is_kernel:
            return []
        return [
            (
                _MADE_OF_SYMBOL.sub(r"\1", param.name),
                Value(param_type(param), self.launch.params[param.offset : param.offset + param.nbytes]),
            )
            for param in function.params
        ]

    def value(self, variable: Variable) -> Value:
        """The value of a variable. Raises NoValue if it has none here."""
        frame = self.present
        if variable.space == "register":
            return self._optimized_value(variable, frame)
        if variable.space == "":
            raise NoValue("<optimized out>")
        if variable.space in ("global", "const"):
            address = self.launch.module.global_symbols.get(variable.symbol)
            if address is None:
                raise NoValue("<optimized out>")
            storage = Storage("global", address + variable.offset)
        else:
            offset = self.code.offset_of(variable, frame.at)
            if offset is None:
                raise NoValue("<optimized out>")
            if variable.space == "local":
                if self.code.is_head(frame.at):
                    raise NoValue("<not set yet>")
                offset += self._calls[frame.call][1]
            storage = Storage(variable.space, offset)
        return Value(variable.type, self.fetch(storage, variable.type.nbytes), storage)

    def _optimized_value(self, variable: Variable, frame: Frame) -> Value:
        """The value of a variable in optimized code; see `value`."""
        is_own = frame.call == 0
        data = None
        if not is_own or not self._is_held_back():
            line = frame.location.line if frame.location is not None else 0
            data = self.code.optimized.bits(variable, frame.at, line, self._bits, self._parameter, is_own)
        if data is None:
            raise NoValue("<optimized out>")
        return Value(variable.type, data)

    def _is_held_back(self) -> bool:
        """True if a guard disables the thread's instruction, so that the thread is not at the instruction's line."""
        instruction = self.code.instructions[self.at]
        if not instruction.is_guarded or instruction.kind == "branch":
            return False
        guard = instruction.encoded.guard
        return bool(self._bits("P", guard & PT)) == bool(guard >> 7)

    def _bits(self, file: str, index: int) -> int:
        return int(self.state.register(file, index, self.lane.warp)[self.lane.lane])

    def _parameter(self, name: str, offset: int, nbytes: int) -> int | None:
        if name in SPECIAL:
            return self._builtin_extents[SPECIAL[name][0]][SPECIAL[name][1]]
        for param in self.launch.function.params:
            if param.name == name and offset + nbytes <= param.nbytes:
                start = param.offset + offset
                return int.from_bytes(self.launch.params[start : start + nbytes], "little")
        return None

    # The scope of expressions

    def variable(self, name: str) -> Value | None:
        known = self._named(name)
        return self.value(known) if isinstance(known, Variable) else known

    def has(self, name: str) -> bool:
        return self._named(name) is not None

    def _named(self, name: str) -> Variable | Value | None:
        for variable in () if self.has_exited else self.visible():
            if variable.name == name:
                return variable
        if name in self._builtin_extents:
            extent = self._builtin_extents[name]
            return Value(DIM3, b"".join(value_of(UNSIGNED, each).data for each in extent))
        if name == "warpSize":
            return value_of(INT, WARP)
        for variable in self.code.known.globals:
            if variable.name == name:
                return variable
        for of_param, value in () if self.has_exited else self.params():
            if of_param == name:
                return value
        if name in self.code.dynamic_shared:
            raise self._without_type(name)
        return self._enumerator(name)

    def _without_type(self, name: str) -> DebugError:
        start = None if self.has_exited else self.code.dynamic_offset(name, self.present.at)
        where = "" if start is None else f", as in `print *(@shared float *){start:#x}@4`"
        return DebugError(f"{name} is dynamic shared memory, whose type is unknown: give one{where}")

    def _enumerator(self, name: str) -> Value | None:
        """The value of an enumerator, with or without its enum's name: `Mode::ON`."""
        for type in self.code.known.types.values():
            for number, known in type.names:
                if name in (known, f"{type.name}::{known}"):
                    return value_of(type, number)
        return None

    @property
    def _builtin_extents(self) -> dict[str, Coordinates]:
        launch = self.launch
        return {
            "threadIdx": coordinates(self.focus.thread, launch.block),
            "blockIdx": coordinates(self.focus.block, launch.grid),
            "blockDim": launch.block,
            "gridDim": launch.grid,
        }

    def register(self, name: str) -> Value | None:
        if name == "$pc":
            return value_of(UNSIGNED_LONG, self.code.pc(self.at)) if not self.has_exited else None
        match = _REGISTER.fullmatch(name)
        if not match or int(match[2]) >= self.state.counts()["RDP".index(match[1])]:
            return None
        return value_of(REGISTER_TYPES[match[1]], self._bits(match[1], int(match[2])))

    def registers(self) -> Iterator[tuple[str, Value]]:
        for file, count in zip("RDP", self.state.counts(), strict=True):
            for index in range(count):
                yield f"{file}{index}", self.register(f"${file}{index}")

    def type(self, name: str) -> CType | None:
        return self.code.known.types.get(name) or (DIM3 if name == "dim3" else BASIC.get(name))

    def fetch(self, storage: Storage, nbytes: int) -> bytes:
        data = self.state.read(storage.space, storage.address, nbytes, self.lane)
        if data is None:
            space = "" if storage.space == "global" else f" of {storage.space} memory"
            raise DebugError(f"Cannot access memory at address {storage.address:#x}{space}")
        return data

    def store(self, storage: Storage, data: bytes) -> None:
        if not self.state.write(storage.space, storage.address, data, self.lane):
            raise DebugError(f"Cannot write memory at address {storage.address:#x}")

    def generic(self, storage: Storage) -> int:
        return storage.address + WINDOWS.get(storage.space, 0)

    def storage_of(self, address: int) -> Storage:
        for space, base in WINDOWS.items():
            if base <= address < base + WINDOW_NBYTES:
                return Storage(space, address - base)
        return Storage("global", address)


def param_type(param: Param) -> CType:
    """The type of a parameter whose C type is not known: that of PTX."""
    kinds = {"f32": BASIC["float"], "f64": BASIC["double"]}
    if param.type in kinds:
        return kinds[param.type]
    if param.type == "b8":
        return CType("array", f"unsigned char [{param.nbytes}]", param.nbytes, False, UCHAR, param.nbytes)
    return CType("int", f"{param.type}", param.nbytes, param.type.startswith("s"))


UCHAR = CType("int", "unsigned char", 1)


def warp_of(chunk: Chunk, focus: Focus) -> int | None:
    """The number of a thread's warp in the chunk; None if its block is not running."""
    for position in range(chunk.n_blocks):
        if int(chunk.launch.grid_blocks(chunk.first_block + position)) == focus.block:
            if 0 <= focus.thread < chunk.launch.threads_per_block:
                return position * chunk.warps_per_block + focus.thread // WARP
            return None
    return None


def focus_of(state: State, warp: int, lane: int) -> Focus:
    """The thread of a lane of the chunk."""
    chunk = state.chunk
    block = int(chunk.launch.grid_blocks(chunk.first_block + warp // chunk.warps_per_block))
    return Focus(block, warp % chunk.warps_per_block * WARP + lane)


def text_of(position: Coordinates) -> str:
    return f"({position[0]},{position[1]},{position[2]})"
