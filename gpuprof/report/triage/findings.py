"""The input of a rule, and its findings."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpuprof.base.wording import base_name
from gpuprof.correlate.advice.kernel_costs import LINE_LEAST_COST, LINES_PER_RULE
from gpuprof.isa.vocabularies import NCU, Vocabulary
from gpuprof.report.model import SELECTED, ChipFacts, Header, Kernel, Row, Section
from gpuprof.report.throughput import Throughput
from gpuprof.report.totals import Totals


class Finding(NamedTuple):
    rule: str
    text: str
    path: str = ""  # "" and 0: the whole kernel
    line: int = 0
    explain: str = ""  # a stall reason to read about
    cost: float | None = None  # the share of the kernel's time that it is about; None unknown


class Case(NamedTuple):
    """The input of a rule."""

    kernel: Kernel
    sections: tuple[Section, ...]
    totals: Totals
    used: Throughput
    chip: ChipFacts
    header: Header
    vocabulary: Vocabulary = NCU

    def lines(self) -> Iterator[tuple[str, Row]]:
        for section in self.sections:
            for row in section.rows:
                if row.number:
                    yield section.path, row

    def worst(self, weight: Callable[[Row], float]) -> list[tuple[str, Row]]:
        """The lines with the largest positive weight, largest first, cheap lines left out."""
        least = LINE_LEAST_COST * sum(self.kernel.cost.reasons)
        lines = [(path, row) for path, row in self.lines() if weight(row) > 0 and sum(row.cost.reasons) >= least]
        return sorted(lines, key=lambda item: (-weight(item[1]), item[0], item[1].number))[:LINES_PER_RULE]


def stalled(reasons: tuple[int, ...]) -> int:
    return sum(reasons) - reasons[SELECTED]


def line_name(path: str, row: Row) -> str:
    return f"{base_name(path)}:{row.number}"
