"""Virtual to physical registers: copies are coalesced, then a linear scan over live ranges with holes.

A unit is what gets a register: one virtual register, or the members of a tuple that need consecutive ones, or several that
coalescing made one. Units are placed in order of their start at the lowest aligned base where nothing overlaps.
"""

from bisect import bisect_right, insort
from dataclasses import dataclass
from typing import NamedTuple

from gpuprof.assemble.ir import Body, Inst
from gpuprof.assemble.liveness import Segment, live_segments, overlap, union

LIMITS = {"R": 255, "D": 255, "P": 127}


class Allocation(NamedTuple):
    """Physical number of each virtual register, and how many of each file are used (one more than the highest)."""

    number: dict[int, int]
    used: dict[str, int]


class OutOfRegisters(Exception):
    """A unit found no place below the limits; `file` says where."""

    def __init__(self, file: str):
        super().__init__(file)
        self.file = file


@dataclass(slots=True)
class Unit:
    file: str
    lanes: list[list[Segment]]  # live segments of each of its consecutive registers
    members: list[tuple[int, int]]  # (virtual register, lane)
    fixed: int | None = None

    @property
    def start(self) -> int:
        return min(lane[0][0] for lane in self.lanes if lane)


def allocate(body: Body) -> Allocation:
    """Raises OutOfRegisters when a file's limit is not enough."""
    segments = live_segments(body)
    units = _coalesce(body, _units(body, segments))
    files = {file: _File(limit) for file, limit in LIMITS.items()}
    _reserve_clobbered(body, files)
    number: dict[int, int] = {}
    ordered = sorted((u for u in units if any(u.lanes)), key=lambda u: (u.fixed is None, u.start, u.members[0][0]))
    for unit in ordered:
        base = unit.fixed if unit.fixed is not None else files[unit.file].find(unit)
        if base is None:
            raise OutOfRegisters(unit.file)
        files[unit.file].take(unit, base)
        for register, lane in unit.members:
            number[register] = base + lane
    used = dict.fromkeys(LIMITS, 0)
    for register, place in number.items():
        file = body.files[register]
        used[file] = max(used[file], place + 1)
    return Allocation(number, used)


def _units(body: Body, segments: dict[int, list[Segment]]) -> dict[int, Unit]:
    units: dict[int, Unit] = {}
    for inst in body.instructions():
        for group in (inst.dst, inst.a, inst.b, inst.c):
            if isinstance(group, tuple):
                unit = Unit(body.files[group[0]], [segments.get(r, []) for r in group], [(r, i) for i, r in enumerate(group)])
                units.update(dict.fromkeys(group, unit))
    for register, parts in segments.items():
        if register not in units:
            units[register] = Unit(body.files[register], [parts], [(register, 0)], body.fixed.get(register))
    return units


def _coalesce(body: Body, unit_of: dict[int, Unit]) -> list[Unit]:
    """Merges the two sides of copies whose lives do not overlap; copies of deep loops first."""
    copies: list[tuple[int, Inst]] = []
    for block in body.blocks:
        copies += [(-block.loop_depth, inst) for inst in block.insts if inst.is_copy and inst.dst is not None]
    copies.sort(key=lambda pair: pair[0])
    for _, inst in copies:
        one, other = unit_of.get(inst.a), unit_of.get(inst.dst)
        if one is None or other is None or one is other:
            continue
        merged = _merged(one, other, inst.a, inst.dst)
        if merged:
            unit_of.update((register, merged) for register, _ in merged.members)
    return list({id(unit): unit for unit in unit_of.values()}.values())


def _merged(one: Unit, other: Unit, a: int, dst: int) -> Unit | None:
    """The two units as one, with registers `a` and `dst` on the same lane; None when that is impossible."""
    if one.fixed is not None or other.fixed is not None:
        return None
    if len(other.lanes) > len(one.lanes):
        one, other, a, dst = other, one, dst, a
    shift = _lane_of(one, a) - _lane_of(other, dst)
    if shift % len(other.lanes) or shift + len(other.lanes) > len(one.lanes):  # a group stands at a multiple of its own size
        return None
    lanes = list(one.lanes)
    for lane, segments in enumerate(other.lanes, shift):
        if overlap(lanes[lane], segments):
            return None
        lanes[lane] = union(lanes[lane], segments)
    return Unit(one.file, lanes, one.members + [(register, lane + shift) for register, lane in other.members])


def _lane_of(unit: Unit, register: int) -> int:
    return next(lane for member, lane in unit.members if member == register)


class _File:
    """What is taken in one register file."""

    def __init__(self, limit: int):
        self.limit = limit
        self.taken: list[list[Segment]] = [[] for _ in range(limit)]

    def find(self, unit: Unit) -> int | None:
        width = len(unit.lanes)
        for base in range(0, self.limit - width + 1, width):
            if all(self.free(base + i, lane) for i, lane in enumerate(unit.lanes)):
                return base
        return None

    def free(self, register: int, segments: list[Segment]) -> bool:
        taken = self.taken[register]
        if not taken or not segments or taken[-1][1] <= segments[0][0]:
            return True
        for start, stop in segments:
            index = bisect_right(taken, (start, stop))
            if index and taken[index - 1][1] > start:
                return False
            if index < len(taken) and taken[index][0] < stop:
                return False
        return True

    def take(self, unit: Unit, base: int):
        for lane, segments in enumerate(unit.lanes):
            for segment in segments:
                insort(self.taken[base + lane], segment)


def _reserve_clobbered(body: Body, files: dict[str, _File]):
    for index, inst in enumerate(body.instructions()):
        if inst.clobbers:
            for file, count in zip("RDP", inst.clobbers, strict=True):
                for register in range(min(count, LIMITS[file])):
                    insort(files[file].taken[register], (2 * index + 1, 2 * index + 2))
