"""The comparison of two profiles on a page: which kernels and which lines of source belong together, and the difference
of their costs by line, reason and cause.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

from gpuprof.compare.alignment import ABSENT
from gpuprof.compare.difference import SAMPLES, WARP_CYCLES, KernelDifference, LaunchSide, difference_of
from gpuprof.compare.kernels import REQUEST, KernelName, KernelPair, paired_kernels
from gpuprof.compare.lines import LinePair, Spot
from gpuprof.report.differences.kernel_sides import kernel_side, opcodes, passage_of
from gpuprof.report.differences.words import ending_words, groups_of, headline
from gpuprof.report.html.block import Columns, PageTable, by_column
from gpuprof.report.html.blocks.stalls import term_of
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.model import Kernel
from gpuprof.tables.table import Column

SIDES = (Column("name", "text", "", "Name of the file; empty where it is not known."),)
PAIRS = (
    Column("before", "int", "", "Row of `kernels` of the first profile; -1 where it has no such kernel."),
    Column("after", "int", "", "Row of `kernels` of the second profile; -1 where it has no such kernel."),
    Column("words", "text", "", "How they differ, in a sentence; empty where one has no such kernel."),
)
LINES = (
    Column("pair", "int", "", "Row of `pairs`."),
    Column("before", "int", "", "Row of `rows` of the first profile; -1 where it has no such line."),
    Column("after", "int", "", "Row of `rows` of the second profile; -1 where it has no such line."),
    Column("kind", "text", "", "same, changed, moved, gone or new."),
)
PARTS = (
    Column("line", "int", "", "Row of `lines`."),
    Column("term", "int", "", "Row of `terms` of the second profile: what its warps wait for."),
    Column("ending", "text", "", "How the stalls ended; empty where that is not known."),
    Column("before", "real", "", "Warp-cycles, or samples where a profile has no ledger; not known: it has none."),
    Column("after", "real", "", "The same of the second profile."),
)


class Comparison:
    """`before` and `after`: the profiles; `names`: of their files. Kernels belong together as in `gpuprof diff`; with
    `by_request`, the first of either side.
    """

    def __init__(self, before: Profile, after: Profile, names: Sequence[str] = ("", ""), by_request: bool = False):
        self.sides, self.names, self.by_request = (before, after), names, by_request

    @cached_property
    def kernels(self) -> tuple[dict[KernelName, Kernel], dict[KernelName, Kernel]]:
        before, after = (
            {
                KernelName(number, kernel.name, kernel.symbol, kernel.module): kernel
                for number, kernel in enumerate(profile.report.kernels)
            }
            for profile in self.sides
        )
        return before, after

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Numbers of the kernels of both profiles, ABSENT where one has no such kernel."""
        pairs, gone, new = self._paired
        return [
            *((pair.old.number, pair.new.number) for pair in pairs),
            *((kernel.number, ABSENT) for kernel in gone),
            *((ABSENT, kernel.number) for kernel in new),
        ]

    @cached_property
    def _paired(self) -> tuple[list[KernelPair], list[KernelName], list[KernelName]]:
        old, new = self.kernels
        if self.by_request:
            return [KernelPair(next(iter(old)), next(iter(new)), REQUEST)], [], []

        return paired_kernels(
            list(old), list(new), lambda kernel: opcodes(old[kernel]), lambda kernel: opcodes(new[kernel])
        )

    @cached_property
    def unit(self) -> str:
        has_ledger = all(any(kernel.cost.warp_cycles for kernel in side.report.kernels) for side in self.sides)
        return WARP_CYCLES if has_ledger else SAMPLES

    @cached_property
    def differences(self) -> list[KernelDifference]:
        """The differences of the pairs, over all launches of each kernel."""
        found = []
        for pair in self._paired[0]:
            kernels = (self.kernels[0][pair.old], self.kernels[1][pair.new])
            values = [
                kernel_side(profile.report, kernel, _launches(kernel), {}, self.unit)
                for profile, kernel in zip(self.sides, kernels, strict=True)
            ]
            found.append(difference_of(pair, *values))
        return found

    def lines(self) -> Iterator[tuple[int, int, int, str]]:
        """(pair, row before, row after, kind) of every line of source."""
        first, second = (_first_rows(profile) for profile in self.sides)

        def row(rows: dict[int, list[int]], kernel: int, spot: Spot | None) -> int:
            return ABSENT if spot is None else rows[kernel][spot.passage] + spot.line

        for number, (old, new) in enumerate(self.pairs):
            for pair in self._lines_of(number, old, new):
                yield number, row(first, old, pair.old), row(second, new, pair.new), pair.kind

    def _lines_of(self, number: int, old: int, new: int) -> Sequence[LinePair]:
        if number < len(self.differences):
            return self.differences[number].lines
        return lonely_lines(self.sides[0], old, True) if new == ABSENT else lonely_lines(self.sides[1], new, False)

    def parts(self) -> Iterator[tuple]:
        terms, first = term_of(self.sides[1]), 0
        for difference in self.differences:
            for change in groups_of(difference):
                group = change.name
                yield first + group.line, terms[group.reason], ending_words(group), change.old, change.new
            first += len(difference.lines)


def lonely_lines(profile: Profile, kernel: int, is_gone: bool) -> list[LinePair]:
    """The lines of a kernel without a partner."""
    found = profile.report.kernels[kernel]
    sections = [section for number, _, listing, section in profile.sections if (number, listing) == (kernel, "source")]
    spots = [
        Spot(place, line)
        for place, section in enumerate(sections)
        for line in range(len(passage_of(found, section).lines))
    ]
    return [LinePair(spot, None, "gone") if is_gone else LinePair(None, spot, "new") for spot in spots]


def _launches(kernel: Kernel) -> list[LaunchSide]:
    return [LaunchSide(launch.launch, "", "", launch.cycles, 0) for launch in kernel.launches]


def _first_rows(profile: Profile) -> dict[int, list[int]]:
    """The row of the table `rows` that the lines of each passage begin with, by kernel."""
    firsts: dict[int, list[int]] = {}
    first = 0
    for kernel, _, listing, section in profile.sections:
        if listing == "source":
            firsts.setdefault(kernel, []).append(first)
        first += len(section.rows)
    return firsts


def side_columns(comparison: Comparison) -> Columns:
    return by_column(SIDES, ((name,) for name in comparison.names))


def pair_columns(comparison: Comparison) -> Columns:
    words = [headline(difference, comparison.unit) for difference in comparison.differences]
    words += [""] * (len(comparison.pairs) - len(words))
    return by_column(PAIRS, ((*pair, text) for pair, text in zip(comparison.pairs, words, strict=True)))


def line_columns(comparison: Comparison) -> Columns:
    return by_column(LINES, comparison.lines())


def part_columns(comparison: Comparison) -> Columns:
    return by_column(PARTS, comparison.parts())


TABLES = (
    PageTable("sides", "The two profiles, the first one first.", SIDES, side_columns),
    PageTable("pairs", "Kernels of both profiles that belong together.", PAIRS, pair_columns),
    PageTable("lines", "Lines of source of both profiles that belong together, by their text.", LINES, line_columns),
    PageTable(
        "parts",
        "Costs that differ, by line, reason and how the stalls ended; the largest of a pair first.",
        PARTS,
        part_columns,
    ),
)
