"""The columns of the annotated listings: each cell of a row of source, PTX or instructions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from rich.text import Text

from gpuprof.base.wording import base_name
from gpuprof.isa.stalls import NAMES
from gpuprof.report.estimates import Scale
from gpuprof.report.model import SELECTED, Cost, Kernel, Row, ranked
from gpuprof.report.number_text import count, percent
from gpuprof.report.pages.intensity import intensity_of
from gpuprof.report.terminal.bars import bar
from gpuprof.report.terminal.columns import Column
from gpuprof.report.terminal.styles import DIM, HOT, WARM, Look, coloured, shown
from gpuprof.report.warp_ends import attributed

BAR_CELLS = 8
HOT_SHARE, WARM_SHARE = 0.30, 0.05  # from these shares on a number is coloured
FEW_LANES = 24
HEATS = ((0.1, HOT), (1.0, WARM))  # below this part of the ridge a row's intensity is so coloured
MIX_REASONS, MIX_SHARE = 2, 0.10  # at most so many reasons in words, each with at least this share of the row


class View(NamedTuple):
    """A table row: a row of the listing, or (nested) an instruction under its line."""

    row: Row
    hot: bool
    nested: bool

    @property
    def cost(self) -> Cost:
        return self.row.cost


@dataclass(frozen=True)
class Cells:
    """The cells of one listing, a method per column, and what they need in addition to the row."""

    listing: str  # "source", "ptx", "isa"
    whole: Cost  # the kernel's
    largest: float  # the largest row's cycles, or samples where there is no ledger
    look: Look
    scale: Scale  # of its samples
    kernel: Kernel  # whose stalls' causes are known
    ridge: float | None = None  # operations a byte where the chip's roofs meet, where its peaks are known

    def mark(self, view: View) -> Text:
        return Text(">>", HOT) if view.hot else Text("")

    def number(self, view: View) -> Text:
        if self.listing == "isa" or (view.nested and self.look.plain):
            return Text(f"{view.row.number:#x}", DIM)
        return Text(str(view.row.number), DIM) if view.row.number and not view.nested else Text("")

    def exact(self, view: View) -> Text:
        return share(view.cost.warp_cycles, self.whole.warp_cycles, strong=not view.nested)

    def inclusive(self, view: View) -> Text:
        if view.row.inclusive == view.cost:
            return Text("")
        return share(sum(view.row.inclusive.reasons), sum(self.whole.reasons), strong=True)

    def sampled(self, view: View) -> Text:
        """The estimate of the exact share, from what the samples stand for."""
        return share(
            self.scale.part(view.cost), self.scale.whole, strong=not self.whole.warp_cycles and not view.nested
        )

    def interval(self, view: View) -> Text:
        if not view.cost.n_samples:
            return Text("")
        _, low, high, _ = self.scale.estimate(view.cost)
        return Text(f"{100 * low:.1f}-{100 * high:.1f}", DIM)

    def attributed(self, view: View) -> Text:
        """The share of cycles for which other lines wait for this one."""
        return share(attributed(self.kernel, view.row), self.whole.warp_cycles, strong=not view.nested)

    def stalls(self, view: View) -> Text:
        return bar(
            view.cost.reasons, sum(view.cost.reasons) / self.largest if self.largest else 0, BAR_CELLS, self.look
        )

    def why(self, view: View) -> Text:
        """The dominating stall reasons and their shares of the row: "long_sb 91%". In a pipe: "long_sb:91,wait:9"."""
        reasons = self.look.vocabulary.merged(view.cost.reasons)
        worth = [
            reason for reason in ranked(reasons) if reason != SELECTED and reasons[reason] >= MIX_SHARE * sum(reasons)
        ]
        text = Text()
        for reason in worth[:MIX_REASONS]:
            value = f"{100 * reasons[reason] / sum(reasons):.0f}"
            if text.plain:
                text.append("," if self.look.plain else " ")
            text.append(self.look.vocabulary.short(reason), self.look.of_reason(NAMES[reason]))
            text.append(f":{value}" if self.look.plain else f" {value}%", DIM)
        return text

    def executed(self, view: View) -> Text:
        n = view.cost.counters.inst_executed
        return Text(count(n, self.look.plain) if n else "", DIM if view.nested else "")

    def slots(self, view: View) -> Text:
        n = view.cost.cycles[SELECTED]
        return Text(count(n, self.look.plain) if n else "", DIM if view.nested else "")

    def lanes(self, view: View) -> Text:
        counters = view.cost.counters
        if not counters.inst_executed:
            return Text("")
        mean = counters.thread_inst_executed / counters.inst_executed
        return Text(f"{mean:.1f}", WARM if mean < FEW_LANES else DIM)

    def excess(self, view: View) -> Text:
        """Sectors of global memory beyond the ideal."""
        return self.surplus(view.cost.counters.l2_sectors_global_excess, view)

    def conflicts(self, view: View) -> Text:
        """Wavefronts of shared memory beyond the ideal."""
        return self.surplus(view.cost.counters.l1_wavefronts_shared_excess, view)

    def surplus(self, number: int, view: View) -> Text:
        return Text(count(number, self.look.plain) if number > 0 else "", DIM if view.nested else "")

    def intensity(self, view: View) -> Text:
        """Operations a byte of the blocks that the row is in: the further below the chip's ridge, the hotter."""
        measured = intensity_of(self.kernel.works, view.row.instructions)
        if measured is None:
            return Text("")
        value = measured.operations_per_byte
        heats = [style for part, style in HEATS if self.ridge and value < part * self.ridge]
        return Text(f"{value:.3g}", DIM if view.nested else heats[0] if heats else "")

    def position(self, view: View) -> Text:
        """The source line of an instruction, or of the first one of a PTX line."""
        places = [p for i in view.row.instructions[:1] for p in i.positions[:1] if p.line]
        return Text(f"{shown(base_name(places[0].path))}:{places[0].line}" if places else "", DIM)

    def code(self, view: View) -> Text:
        text = shown(view.row.text)
        if view.nested:
            return Text(f"    | {'' if self.look.plain else f'{view.row.number:#06x} '}{text}", DIM)
        return coloured(text) if self.listing == "source" and self.look.colours else Text(text)


def share(part: float, whole: float, strong: bool) -> Text:
    """A percentage; empty for nothing. `strong` ones are coloured when they are large, the others are dim."""
    if not part or not whole:
        return Text("")
    style = HOT if part >= HOT_SHARE * whole else WARM if part >= WARM_SHARE * whole else ""
    return Text(percent(part, whole), style if strong else DIM)


def dashed(cell: Callable[[View], Text]) -> Callable[[View], Text]:
    """The cell, with a dash where it is empty, so that a pipe's fields can be counted."""
    return lambda view: text if (text := cell(view)).plain else Text("-")


def columns_for(cells: Cells) -> list[Column]:
    """The columns of a listing, in their order; the number after a cell says how early its column goes when the page is
    narrow.
    """
    plain, by_line, has_ledger = cells.look.plain, cells.listing == "source", bool(cells.whole.warp_cycles)
    filled = dashed if plain else lambda cell: cell
    columns = [
        Column("", filled(cells.mark), left=True, name=">>"),
        Column("address" if cells.listing == "isa" else "line", filled(cells.number), gap=1),
        Column("exact", filled(cells.exact), 0 if has_ledger else 1),
    ]
    if by_line:
        columns.append(Column("incl.", filled(cells.inclusive), 4))
    columns += [
        Column("sampled", filled(cells.sampled), 12 if has_ledger else 0),
        Column("interval", filled(cells.interval), 13 if has_ledger else 6),
        Column("stalls", filled(cells.stalls), 5, left=True),
        Column("why", filled(cells.why), 2, left=True, gap=1),
        *([Column("attrib.", filled(cells.attributed), 3)] if cells.kernel and cells.kernel.blames else []),
        Column("inst", filled(cells.executed), 7),
        *([Column("slots", filled(cells.slots), 9)] if has_ledger else []),
        Column("lanes", filled(cells.lanes), 8),
        Column("excess", filled(cells.excess), 10),
        Column("conflicts", filled(cells.conflicts), 11),
        *([Column("op/byte", filled(cells.intensity), 6)] if cells.kernel and cells.kernel.works else []),
    ]
    if not by_line:
        columns.append(Column("from", filled(cells.position), 9, left=True))
    return [*columns, Column("source" if by_line else "instruction", cells.code, left=True)]
