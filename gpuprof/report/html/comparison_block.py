"""The comparison of two profiles on a page: which kernels and which lines of source belong together."""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from gpuprof.base.wording import base_name
from gpuprof.compare.alignment import ABSENT, aligned
from gpuprof.compare.pairing import paired
from gpuprof.report.html.block import Columns, PageTable, by_column
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.model import Kernel
from gpuprof.tables.table import Column

PAIRS = (
    Column("before", "int", "", "Row of `kernels` of the first profile; -1 where it has no such kernel."),
    Column("after", "int", "", "Row of `kernels` of the second profile; -1 where it has no such kernel."),
)
LINES = (
    Column("pair", "int", "", "Row of `pairs`."),
    Column("before", "int", "", "Row of `rows` of the first profile; -1 where it has no such line."),
    Column("after", "int", "", "Row of `rows` of the second profile; -1 where it has no such line."),
)


class Line(NamedTuple):
    row: int  # of the table `rows`
    text: str


class Comparison:
    """`before` and `after`: the profiles. Kernels belong together by name, by symbol where several have the name."""

    def __init__(self, before: Profile, after: Profile):
        self.before, self.after = before, after

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Numbers of the kernels of both profiles, ABSENT where one has no such kernel."""
        olds, news = (self.before.report.kernels, self.after.report.kernels)
        name_old, name_new = _keys(olds), _keys(news)
        pairing = paired(range(len(olds)), range(len(news)), (name_old.__getitem__, name_new.__getitem__))
        return [*pairing.pairs, *((old, ABSENT) for old in pairing.old), *((ABSENT, new) for new in pairing.new)]

    def lines(self) -> Iterator[tuple[int, int, int]]:
        """(pair, row before, row after) of every line of source, by function and file."""
        sides = (_lines_of(self.before), _lines_of(self.after))
        for number, pair in enumerate(self.pairs):
            old, new = (side.get(kernel, {}) for side, kernel in zip(sides, pair, strict=True))
            for key in {**old, **new}:
                before, after = old.get(key, []), new.get(key, [])
                for a, b in aligned([line.text for line in before], [line.text for line in after]):
                    yield (
                        number,
                        ABSENT if a == ABSENT else before[a].row,
                        ABSENT if b == ABSENT else after[b].row,
                    )


def _keys(kernels: tuple[Kernel, ...]) -> list[str]:
    names = Counter(kernel.name for kernel in kernels)
    return [kernel.symbol if names[kernel.name] > 1 else kernel.name for kernel in kernels]


def _lines_of(profile: Profile) -> dict[int, dict[tuple[str, str], list[Line]]]:
    """The lines of source of each kernel by function and file, in the order of the file."""
    of_kernel: dict[int, dict[tuple[str, str], list[Line]]] = {}
    first = 0
    for kernel, _, listing, section in profile.sections:
        if listing == "source":
            lines = of_kernel.setdefault(kernel, {}).setdefault((section.function, base_name(section.path)), [])
            # a line without a text is distinguished from others by its number
            lines += [
                Line(first + index, row.text.strip() or f"line {row.number}") for index, row in enumerate(section.rows)
            ]
        first += len(section.rows)
    return of_kernel


def pair_columns(comparison: Comparison) -> Columns:
    return by_column(PAIRS, comparison.pairs)


def line_columns(comparison: Comparison) -> Columns:
    return by_column(LINES, comparison.lines())


TABLES = (
    PageTable("pairs", "Kernels of both profiles that belong together.", PAIRS, pair_columns),
    PageTable("lines", "Lines of source of both profiles that belong together, by their text.", LINES, line_columns),
)
