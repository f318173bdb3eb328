"""The input of a rule, and its findings."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpuprof.base.wording import base_name
from gpuprof.isa.stalls import INDEX
from gpuprof.isa.vocabularies import NCU, Vocabulary
from gpuprof.report.model import SELECTED, ChipFacts, Header, Kernel, Row, Section
from gpuprof.report.totals import Totals

LINES_PER_RULE = 2
# reasons for which warps wait while global or local memory is busy
MEMORY_REASONS = tuple(INDEX[name] for name in ("long_scoreboard", "lg_throttle", "drain"))
MEMORY_LEAST_SHARE = 0.05  # ours: of the kernel's cycles
LINE_LEAST_COST = 0.01  # a line below this share of the kernel is not worth a sentence


class Finding(NamedTuple):
    rule: str
    text: str
    path: str = ""  # "" and 0: the whole kernel
    line: int = 0
    explain: str = ""  # a stall reason to read about


class Case(NamedTuple):
    """The input of a rule."""

    kernel: Kernel
    sections: tuple[Section, ...]
    totals: Totals
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
        return [(path, row) for path, row in self.most(weight) if sum(row.cost.reasons) >= least][:LINES_PER_RULE]

    def most(self, weight: Callable[[Row], float]) -> list[tuple[str, Row]]:
        """The lines with a positive weight, largest first."""
        lines = [(path, row) for path, row in self.lines() if weight(row) > 0]
        return sorted(lines, key=lambda item: (-weight(item[1]), item[0], item[1].number))

    def costs_conflicts(self, row: Row) -> bool:
        """Whether somebody waits for accesses of the row that take more passes or sectors than they need. Where the
        recording does not say what ended the stalls, the row's own cost has to tell.
        """
        if not self.kernel.blames:
            return sum(row.cost.reasons) >= LINE_LEAST_COST * sum(self.kernel.cost.reasons)
        own = {instruction.pc for instruction in row.instructions}
        waited = sum(blame.cycles for blame in self.kernel.blames if blame.ending.conflict and blame.cause_pc in own)
        return waited >= LINE_LEAST_COST * self.kernel.cost.warp_cycles

    def waits_for_memory(self) -> bool:
        """Whether sectors that need not move can cost time: other accesses wait behind them."""
        reasons = self.kernel.cost.reasons
        return sum(reasons[reason] for reason in MEMORY_REASONS) >= MEMORY_LEAST_SHARE * sum(reasons)


def stalled(reasons: tuple[int, ...]) -> int:
    return sum(reasons) - reasons[SELECTED]


def place(path: str, row: Row) -> str:
    return f"{base_name(path)}:{row.number}"


def percent0(value: float) -> str:
    return f"{100 * value:.0f}%"
