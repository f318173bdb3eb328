"""Two profiles and how they differ, as plain values: kernels, launches, and the difference split over lines, reasons
and causes, to the last warp-cycle.

    KernelSide, KernelSide ─ difference_of ─> KernelDifference;  several of them ─> Difference

A cost is in `unit`: warp-cycles of the ledger, or samples where a side has no ledger.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from gpuprof.compare.changes import Change, changes
from gpuprof.compare.code import Code, aligned_code
from gpuprof.compare.kernels import KernelPair
from gpuprof.compare.lines import Line, LinePair, Passage, Spot, line_pairs

WARP_CYCLES, SAMPLES = "warp-cycles", "samples"
NO_COST: Change[str, int] = Change("cost", 0, 0)


class Cause(NamedTuple):
    """How stalls ended. `kind`: a name of isa.causes, "" for what no event ended, and where that was not recorded;
    `at`: the line of the instruction that ended them, None where it is not one of the kernel.
    """

    kind: str = ""
    other_warp: bool = False
    other_launch: bool = False
    conflict: bool = False
    at: Spot | None = None


class Where(NamedTuple):
    """A place that a cost of a kernel is charged to. `reason`: number of the stall reason."""

    spot: Spot
    reason: int
    cause: Cause = Cause()


class Part(NamedTuple):
    """A place that a part of the difference is charged to: `Where` of both sides. `line`, `cause_line`: indices into
    the pairs of lines; -1 where the cause has none.
    """

    line: int
    reason: int
    kind: str
    other_warp: bool
    other_launch: bool
    conflict: bool
    cause_line: int


class LaunchSide(NamedTuple):
    """A launch of one profile. `text`: as "saxpy<<<64, 256>>> #2"; `cost` in the unit of the difference."""

    launch: int
    text: str
    shape: str
    cycles: int
    cost: int


class FindingSide(NamedTuple):
    """A finding, or advice. `place`: "file:line", "" where it has none."""

    kind: str
    severity: str
    text: str
    place: str
    spot: Spot | None
    cost_cycles: int | None


@dataclass(frozen=True)
class KernelSide:
    """A kernel, summed over the launches that have partners. `code`: text, line and cost of each instruction;
    `numbers`: counters, registers, occupancy, and so on, by name.
    """

    passages: tuple[Passage, ...]
    costs: Mapping[Where, int] = field(repr=False)
    launches: tuple[LaunchSide, ...] = ()
    code: tuple[tuple[str, Spot, int], ...] = field(default=(), repr=False)
    numbers: Mapping[str, int | float] = field(default_factory=dict, repr=False)
    findings: tuple[FindingSide, ...] = ()

    @cached_property
    def cost(self) -> int:
        return sum(self.costs.values())

    @cached_property
    def cycles(self) -> int:
        return sum(launch.cycles for launch in self.launches)

    def line(self, spot: Spot) -> Line:
        return self.passages[spot.passage].lines[spot.line]


@dataclass(frozen=True)
class KernelDifference:
    """`lines`: each line of both sides; `parts`: the difference of the costs, those parts left out that neither has;
    `instructions`: pairs of indices of `old_code` and `new_code`.
    """

    pair: KernelPair
    old: KernelSide
    new: KernelSide
    lines: tuple[LinePair, ...] = field(repr=False)
    parts: tuple[Change[Part, int], ...] = field(repr=False)
    old_code: tuple[Code, ...] = field(repr=False)
    new_code: tuple[Code, ...] = field(repr=False)

    def __post_init__(self):
        assert sum(part.delta for part in self.parts) == self.new.cost - self.old.cost, "the parts are not the whole"

    @property
    def name(self) -> str:
        """ "naive", or "naive -> padded"."""
        old, new = self.pair.old.name, self.pair.new.name
        return new if old == new else f"{old} -> {new}"

    @cached_property
    def cycles(self) -> Change[str, int]:
        return Change("cycles", self.old.cycles, self.new.cycles)

    @cached_property
    def cost(self) -> Change[str, int]:
        return Change("cost", self.old.cost, self.new.cost)

    @cached_property
    def by_line(self) -> tuple[Change[int, int], ...]:
        return summed(self.parts, lambda part: part.line)

    @cached_property
    def by_reason(self) -> tuple[Change[int, int], ...]:
        return summed(self.parts, lambda part: part.reason)

    @cached_property
    def numbers(self) -> tuple[Change[str, int | float], ...]:
        return tuple(changes(self.old.numbers, self.new.numbers))

    @cached_property
    def instructions(self) -> list[tuple[int, int]]:
        return aligned_code(self.old_code, self.new_code)

    @property
    def is_code_changed(self) -> bool:
        return [code.text for code in self.old_code] != [code.text for code in self.new_code]

    @property
    def is_changed(self) -> bool:
        """False where all numbers are the same."""
        all_changes = (self.cycles, *self.parts, *self.numbers)
        return any(change.delta for change in all_changes) or self.is_code_changed or bool(self.came or self.went)

    @cached_property
    def came(self) -> tuple[FindingSide, ...]:
        """Findings that only the new side has."""
        return self._findings_of_one[1]

    @cached_property
    def went(self) -> tuple[FindingSide, ...]:
        """Findings that only the old side has."""
        return self._findings_of_one[0]

    @cached_property
    def _findings_of_one(self) -> tuple[tuple[FindingSide, ...], tuple[FindingSide, ...]]:
        """The same kind at the same line is the same finding, whatever its numbers."""
        olds = {pair.old: number for number, pair in enumerate(self.lines) if pair.old}
        news = {pair.new: number for number, pair in enumerate(self.lines) if pair.new}
        was = {(each.kind, olds.get(each.spot)) for each in self.old.findings}
        now = {(each.kind, news.get(each.spot)) for each in self.new.findings}
        return (
            tuple(each for each in self.old.findings if (each.kind, olds.get(each.spot)) not in now),
            tuple(each for each in self.new.findings if (each.kind, news.get(each.spot)) not in was),
        )


@dataclass(frozen=True)
class Difference:
    """Two profiles. `kernels`: the pairs, the largest change of cycles first; `gone`, `new`: launches of one side;
    `total`: the cost of all launches, read separately from the kernels'.
    """

    kernels: tuple[KernelDifference, ...]
    gone: tuple[LaunchSide, ...] = ()
    new: tuple[LaunchSide, ...] = ()
    total: Change[str, int] = NO_COST
    unit: str = WARP_CYCLES

    def __post_init__(self):
        of_parts = sum(kernel.cost.delta for kernel in self.kernels)
        of_launches = sum(launch.cost for launch in self.new) - sum(launch.cost for launch in self.gone)
        assert of_parts + of_launches == self.total.delta, "the kernels are not the whole"

    @cached_property
    def cycles(self) -> Change[str, int]:
        """The cycles of all launches, added up."""
        of_pairs = self.compared_cycles
        old = (of_pairs.old or 0) + sum(launch.cycles for launch in self.gone)
        new = (of_pairs.new or 0) + sum(launch.cycles for launch in self.new)
        return Change("cycles", old, new)

    @cached_property
    def compared_cycles(self) -> Change[str, int]:
        """The cycles of the launches that have partners."""
        old = sum(kernel.old.cycles for kernel in self.kernels)
        return Change("cycles", old, sum(kernel.new.cycles for kernel in self.kernels))

    @property
    def is_changed(self) -> bool:
        return bool(self.gone or self.new) or any(kernel.is_changed for kernel in self.kernels)


def difference_of(pair: KernelPair, old: KernelSide, new: KernelSide) -> KernelDifference:
    """The launches of both sides are in the order of their pairs."""
    pairs = tuple(line_pairs(old.passages, new.passages))
    olds = {each.old: number for number, each in enumerate(pairs) if each.old}
    news = {each.new: number for number, each in enumerate(pairs) if each.new}
    return KernelDifference(
        pair,
        old,
        new,
        pairs,
        tuple(changes(_parts(old.costs, olds), _parts(new.costs, news))),
        tuple(Code(text, olds[spot], cost) for text, spot, cost in old.code),
        tuple(Code(text, news[spot], cost) for text, spot, cost in new.code),
    )


def _parts(costs: Mapping[Where, int], lines: Mapping[Spot, int]) -> dict[Part, int]:
    parts: dict[Part, int] = {}
    for (spot, reason, cause), cost in costs.items():
        at = -1 if cause.at is None else lines[cause.at]
        part = Part(lines[spot], reason, cause.kind, cause.other_warp, cause.other_launch, cause.conflict, at)
        parts[part] = parts.get(part, 0) + cost
    return parts


def summed(parts: Iterable[Change[Part, int]], key: Callable[[Part], Hashable]) -> tuple[Change, ...]:
    """The parts, added up by what `key` gives; the largest change of either sign first."""
    old: dict[Hashable, int] = {}
    new: dict[Hashable, int] = {}
    for part in parts:
        for sums, value in ((old, part.old), (new, part.new)):
            if value is not None:
                sums[key(part.name)] = sums.get(key(part.name), 0) + value
    return tuple(sorted(changes(old, new), key=lambda change: (-abs(change.delta), change.name)))
