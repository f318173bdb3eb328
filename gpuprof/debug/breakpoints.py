"""Breakpoints and watchpoints."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from gpuprof.debug.code_locations import Linespec, LoadedCode, ResolvedLocation, find, same_file
from gpuprof.debug.thread import Focus, Thread, coordinates
from gpuprof.debug.values.c_types import CType, Storage, Value, shown
from gpuprof.debug.values.evaluation import evaluate
from gpuprof.device.commands import Launch
from gpuprof.emulate.watch.executed import Executed
from gpuprof.emulate.watch.watched_accesses import Access
from gpuprof.errors import DebugError
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.kinds import KINDS, kinds_of

WARP = 32
WRITES = ("store", "atomic", "reduction", "copy")
READS = ("load", "atomic")
PLAIN_ACCESSES = kinds_of("load", "store", "atomic", "reduction")  # whose row says the space
BY_DESCRIPTOR = kinds_of("matrix_async")  # which read shared memory


@dataclass(eq=False)
class Breakpoint:
    number: int
    spec: Linespec
    condition: str = ""
    is_temporary: bool = False
    is_enabled: bool = True
    ignore: int = 0
    hits: int = 0
    commands: tuple = ()  # that a console runs when it has stopped
    resolved: list[ResolvedLocation] = field(default_factory=list)  # in the modules that are loaded

    def resolve(self, codes: list[LoadedCode]) -> None:
        self.resolved = find(self.spec, codes)

    def instructions(self, code: LoadedCode) -> Iterator[int]:
        for each in self.resolved:
            if each.code is code:
                yield from each.instructions

    def frame(self, code: LoadedCode, at: int) -> int:
        """The frame at the breakpoint's line: not 0 if that line begins with an inlined function."""
        lines = {each.line for each in self.resolved if each.code is code}
        for number, frame in enumerate(code.frames_at(at) if self.spec.line else ()):
            location = frame.location
            if location is not None and location.line in lines and same_file(location.file, self.spec.file):
                return number
        return 0

    @property
    def kind(self) -> str:
        return "breakpoint"


@dataclass(eq=False)
class Watchpoint:
    """`kind`: watch (its value changes), rwatch (it is read), awatch (either, whatever the value). Shared and local
    memory are those of one launch, and of the block or thread `owner`.
    """

    number: int
    kind: str
    text: str
    storage: Storage
    type: CType
    launch: int
    owner: Focus
    condition: str = ""
    is_temporary: bool = False
    is_enabled: bool = True
    hits: int = 0
    ignore: int = 0
    commands: tuple = ()
    value: bytes = b""

    @property
    def operations(self) -> tuple[str, ...]:
        """The kinds of accesses that it watches."""
        return {"watch": WRITES, "rwatch": READS, "awatch": (*WRITES, *READS)}[self.kind]

    def may_touch(self, instruction: Instruction, operations: tuple[str, ...]) -> bool:
        """True if an instruction can perform one of the operations in its state space."""
        op = instruction.op
        if op.kind in PLAIN_ACCESSES and op.space not in (self.storage.space, "generic"):
            return False
        return KINDS[op.kind].operation in operations or op.kind in BY_DESCRIPTOR

    def lanes(self, executed: Executed, launch: int, operations: tuple[str, ...]) -> np.ndarray | None:
        """bool (n, 32): lanes of an instruction that access one of its bytes by one of the operations; None for none.
        Valid before the instruction has run.
        """
        lanes = None
        for access in executed.accesses:
            if access.operation in operations and self._may(access.space, launch):
                hit = self._overlap(executed, access)
                if hit.any():
                    lanes = hit if lanes is None else lanes | hit
        return lanes

    def in_ranges(self, executed: Executed, launch: int, operations: tuple[str, ...]) -> tuple[int, int] | None:
        """Row and lane of an access to one of its bytes by addresses that are known only after the instruction
        has run.
        """
        for ranges in executed.ranges:
            if ranges.operation not in operations or not self._may(ranges.space, launch):
                continue
            end = self.storage.address + self.type.nbytes
            hit = (ranges.addresses < end) & (ranges.addresses + ranges.nbytes > self.storage.address)
            if self.storage.space == "shared":
                hit &= executed.grid_blocks[ranges.warps] == self.owner.block
            for index in np.flatnonzero(hit):
                return int(ranges.warps[index]), int(ranges.lanes[index])
        return None

    def _may(self, space: str, launch: int) -> bool:
        return space == self.storage.space and (space == "global" or launch == self.launch)

    def _overlap(self, executed: Executed, access: Access) -> np.ndarray:
        sizes = access.nbytes if access.sizes is None else access.sizes
        lanes = access.masks[:, None] >> np.arange(WARP, dtype=np.uint32) & 1 != 0
        end = self.storage.address + self.type.nbytes
        hit = lanes & (access.addresses < end) & (access.addresses + sizes > self.storage.address)
        if access.space != "global":
            hit &= (executed.grid_blocks == self.owner.block)[:, None]
        if access.space == "local":
            warp, lane = divmod(self.owner.thread, WARP)
            hit &= (executed.warps_of_block == warp)[:, None] & (np.arange(WARP) == lane)
        return hit


Point = Breakpoint | Watchpoint


class Points:
    """All breakpoints and watchpoints of a session, by number."""

    def __init__(self) -> None:
        self.all: dict[int, Point] = {}
        self._removed: dict[int, Point] = {}
        self.version = 0  # increases whenever the set changes
        self._next = 1

    def add(self, make: Callable[[int], Point]) -> Point:
        point = make(self._next)
        self.all[self._next] = point
        self._next += 1
        self.version += 1
        return point

    def remove(self, number: int) -> None:
        if number not in self.all:
            raise DebugError(f"No breakpoint number {number}.")
        self._removed[number] = self.all.pop(number)
        self.version += 1

    def stopped(self, numbers: Iterable[int]) -> list[Point]:
        """The points of a stop, including temporary ones that it has removed."""
        known = self._removed | self.all
        return [known[number] for number in numbers if number in known]

    def changed(self) -> None:
        self.version += 1

    def breakpoints(self) -> list[Breakpoint]:
        return [each for each in self.all.values() if isinstance(each, Breakpoint)]

    def watchpoints(self) -> list[Watchpoint]:
        return [each for each in self.all.values() if isinstance(each, Watchpoint)]


def holds(condition: str, thread: Thread) -> bool:
    """True if a condition holds for a thread. Raises DebugError if it has no value."""
    return bool(evaluate(condition, thread).number)


_COORDINATE = re.compile(r"\s*(threadIdx|blockIdx)\.([xyz])\s*==\s*(\d{1,9})\s*")


@lru_cache(maxsize=256)
def asked_of(condition: str) -> tuple[tuple[str, int, int], ...]:
    """The requirements of a condition of the form `A && B && ...` on coordinates, such as `threadIdx.x == 3`: name,
    axis and value of each. Other threads need not be examined.
    """
    if any(sign in condition for sign in "|?()"):
        return ()
    matches = map(_COORDINATE.fullmatch, condition.split("&&"))
    return tuple((match[1], "xyz".index(match[2]), int(match[3])) for match in matches if match)


def may_hold(condition: str, focus: Focus, launch: Launch) -> bool:
    """True if a thread has the coordinates that a condition requires."""
    return all(
        coordinates(*((focus.thread, launch.block) if name == "threadIdx" else (focus.block, launch.grid)))[axis]
        == value
        for name, axis, value in asked_of(condition)
    )


def seen_text(point: Watchpoint, old: bytes, new: bytes) -> list[str]:
    """The old and new value of a watchpoint, in gdb's words."""
    old_text, new_text = (shown(Value(point.type, data)) for data in (old, new))
    return [f"Value = {new_text}"] if old == new else [f"Old value = {old_text}", f"New value = {new_text}"]
