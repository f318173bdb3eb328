"""The source, PTX and instruction pages on a terminal or in a pipe: a line of code, what it cost, and why."""

from collections.abc import Iterator
from typing import NamedTuple

from rich.text import Text

from gpuprof.isa.stalls import NAMES
from gpuprof.report.bars import bar, legend, ranked, short_name
from gpuprof.report.figures import base_name, count, percent
from gpuprof.report.intervals import wilson
from gpuprof.report.listing import LISTINGS, hottest, select_lines
from gpuprof.report.look import BOLD, DIM, HOT, WARM, Look, clipped, flow, shown
from gpuprof.report.model import SELECTED, Cost, Kernel, Report, Row, Section
from gpuprof.report.syntax import coloured
from gpuprof.report.table import Column, layout

BAR_CELLS = 8
MIN_SHARE = 0.01  # an inlined function below it gets no section of its own
MIN_NESTED_SHARE = 0.10  # an instruction below this share of its hot line is not shown under it
LEAST_CODE_CELLS, LEAST_CODE_SHARE = 30, 0.33  # of the page, before columns are dropped


class View(NamedTuple):
    """A table row: a row of the listing, or (nested) an instruction under its line."""

    row: Row
    hot: bool
    nested: bool


class Scale(NamedTuple):
    """What a row is measured against."""

    whole: Cost
    largest: float  # the largest row's cycles (or samples, without a ledger)


def page(report: Report, name: str, look: Look, lines: tuple[int, int] | None = None, isa: bool = False) -> Iterator[Text]:
    """The listing `name` ("source", "ptx", "isa") of every kernel of the report."""
    for kernel in report.kernels:
        yield from kernel_listing(kernel, name, look, lines, isa)


def kernel_listing(kernel: Kernel, name: str, look: Look, lines: tuple[int, int] | None, isa: bool) -> Iterator[Text]:
    sections = LISTINGS[name](kernel)
    hot = {id(row) for row in hottest(sections)}
    rows = [row for section in sections for row in section.rows]
    scale = Scale(kernel.cost, max([sum(row.cost.reasons) for row in rows], default=0))
    everything = isa or lines is not None
    if lines is not None:
        sections = select_lines(sections, *lines)
    shown_sections, hidden = worth_showing(sections, kernel.cost) if lines is None else (sections, ())
    views = [list(views_of(section, hot, name == "source", everything, look)) for section in shown_sections]
    columns = layout(
        columns_for(name, scale, look),
        [view for part in views for view in part],
        look,
        max(LEAST_CODE_CELLS, int(LEAST_CODE_SHARE * (look.width or 0))),
    )
    for index, (section, part) in enumerate(zip(shown_sections, views, strict=True)):
        yield Text("")
        yield from heading(section, kernel, look)
        if index == 0:
            yield columns.heading()
        yield from map(columns.row, part)
    yield Text("")
    mark = Text("# " if look.plain else "")
    if name == "source" and (hint := missing_source(kernel, sections)):
        yield from flow(mark.copy(), [hint], look)
    if sum(kernel.cost.reasons):
        yield from flow(mark.copy(), legend(kernel.cost.reasons, look), look)
    if hidden:
        share = percent(sum(sum(s.cost.reasons) for s in hidden), sum(kernel.cost.reasons))
        yield clipped(mark.append(f"left out: {len(hidden)} inlined functions under 1% each, {share} together"), look)


def missing_source(kernel: Kernel, sections: tuple[Section, ...]) -> str:
    """What to do when there are no lines or no text to show; "" when there are."""
    if not any(section.path for section in sections):
        return "the code has no line information: see --page ptx or --page isa"
    if all(kernel.sources.get(section.path) is None for section in sections):
        return "the source text was not to be had when collecting: see --page ptx"
    return ""


def worth_showing(sections: tuple[Section, ...], whole: Cost) -> tuple[tuple[Section, ...], tuple[Section, ...]]:
    """The kernel's own section and the inlined code that carries cost; and the rest."""

    def is_worth(index: int, section: Section) -> bool:
        inclusive = max([sum(row.inclusive.reasons) for row in section.rows], default=0)
        return index == 0 or inclusive >= MIN_SHARE * sum(whole.reasons) > 0

    kept = [i for i, section in enumerate(sections) if is_worth(i, section)]
    return tuple(sections[i] for i in kept), tuple(s for i, s in enumerate(sections) if i not in kept)


def heading(section: Section, kernel: Kernel, look: Look) -> Iterator[Text]:
    mark, whole = "# " if look.plain else "", sum(kernel.cost.reasons)
    text = Text(mark).append(shown(section.function), BOLD)
    if section.path:
        numbers = [row.number for row in section.rows if row.number]
        span = f":{numbers[0]}-{numbers[-1]}" if section.path in kernel.sources else ""
        text.append(f"  {shown(section.path)}{span}")
    yield clipped(text.append(f"  {percent(sum(section.cost.reasons), whole)}", DIM), look)
    if section.call_sites:
        places = [f"{shown(base_name(site.path))}:{site.line} ({percent(sum(cost.reasons), whole)})" for site, cost in section.call_sites]
        yield from flow(Text(mark).append("inlined at ", DIM), [Text(place, DIM) for place in places], look)


def views_of(section: Section, hot: set[int], nest: bool, everything: bool, look: Look) -> Iterator[View]:
    for row in section.rows:
        is_hot = id(row) in hot
        yield View(row, is_hot, False)
        if nest and (everything or (is_hot and not look.plain)):
            for instruction in row.instructions:
                if everything or sum(instruction.cost.reasons) >= MIN_NESTED_SHARE * sum(row.cost.reasons):
                    yield View(Row(instruction.pc, instruction.text, (instruction,), instruction.cost, instruction.cost), False, True)


def columns_for(name: str, scale: Scale, look: Look) -> list[Column]:
    """The columns of a listing. What goes first when the page is narrow: the number at the end of each column, largest first."""
    whole, empty = scale.whole, "-" if look.plain else ""
    highlight = name == "source" and bool(look.colours)

    def cell(function):
        """The function's text for a view; what is empty gets a dash in a pipe, so that fields can be counted."""
        return lambda view: t if (t := function(view)).plain else Text(empty)

    def mark(view: View) -> Text:
        return Text(">>", HOT) if view.hot else Text("")

    def number(view: View) -> Text:
        if name == "isa" or (view.nested and look.plain):
            return Text(f"{view.row.number:#x}", DIM)
        return Text(str(view.row.number), DIM) if view.row.number and not view.nested else Text("")

    def share(part: float, total: float, strong: bool) -> Text:
        if not part or not total:
            return Text("")
        style = HOT if part >= 0.3 * total else WARM if part >= 0.05 * total else ""
        return Text(percent(part, total), style if strong else DIM)

    def exact(view: View) -> Text:
        return share(view.row.cost.warp_cycles, whole.warp_cycles, not view.nested)

    def sampled(view: View) -> Text:
        text = share(view.row.cost.n_samples, whole.n_samples, not whole.warp_cycles and not view.nested)
        if text.plain and not look.plain:
            low, high = wilson(view.row.cost.n_samples, whole.n_samples)
            mean = view.row.cost.n_samples / whole.n_samples
            text.append(
                f" ±{100 * max(high - mean, mean - low):.1f}" if look.blocks else f" +-{100 * max(high - mean, mean - low):.1f}", DIM
            )
        return text

    def interval(view: View) -> Text:
        if not whole.n_samples or not view.row.cost.n_samples:
            return Text("")
        low, high = wilson(view.row.cost.n_samples, whole.n_samples)
        return Text(f"{100 * low:.1f}-{100 * high:.1f}", DIM)

    def inclusive(view: View) -> Text:
        if view.row.inclusive == view.row.cost:
            return Text("")
        if whole.warp_cycles:
            return share(view.row.inclusive.warp_cycles, whole.warp_cycles, True)
        return share(view.row.inclusive.n_samples, whole.n_samples, True)

    def stalls(view: View) -> Text:
        reasons = view.row.cost.reasons
        return bar(reasons, sum(reasons) / scale.largest if scale.largest else 0, BAR_CELLS, look)

    def why(view: View) -> Text:
        return mix(view.row.cost.reasons, look)

    def executed(view: View) -> Text:
        n = view.row.cost.counters.inst_executed
        return Text(count(n, look.plain) if n else "", DIM if view.nested else "")

    def lanes(view: View) -> Text:
        counters = view.row.cost.counters
        if not counters.inst_executed:
            return Text("")
        mean = counters.thread_inst_executed / counters.inst_executed
        return Text(f"{mean:.1f}", WARM if mean < 24 else DIM)

    def code(view: View) -> Text:
        if view.nested:
            address = "" if look.plain else f"{view.row.number:#06x} "
            return Text(f"    | {address}{shown(view.row.text)}", DIM)
        text = shown(view.row.text)
        return coloured(text) if highlight else Text(text)

    def position(view: View) -> Text:
        places = [p for i in view.row.instructions[:1] for p in i.positions[:1] if p.line]
        return Text(f"{shown(base_name(places[0].path))}:{places[0].line}" if places else "", DIM)

    by_line = name == "source"
    margins = [Column("interval", cell(interval), 6)] if look.plain else []
    columns = [
        Column("", cell(mark), left=True),
        Column("address" if name == "isa" else "line", cell(number), gap=1),
        Column("exact", cell(exact), 0 if whole.warp_cycles or not whole.n_samples else 1),
        *([Column("incl.", cell(inclusive), 3)] if by_line else []),
        Column("sampled" if look.plain else "sampled 95%", cell(sampled), 2 if whole.warp_cycles else 0),
        *margins,
        Column("stalls", cell(stalls), 4, left=True),
        Column("why", cell(why), 5, left=True, gap=1),
        Column("inst", cell(executed), 7),
        Column("lanes", cell(lanes), 8),
        *([] if by_line else [Column("from", cell(position), 9, left=True)]),
    ]
    return [*columns, Column("source" if by_line else "instruction", code, left=True)]


def mix(reasons: tuple[int, ...], look: Look, at_most: int = 2, least: float = 0.10) -> Text:
    """The dominating stall reasons and their shares of the row: "long_sb 91%". In a pipe: "long_sb:91,wait:9"."""
    whole = sum(reasons)
    text = Text()
    for reason in [reason for reason in ranked(reasons) if reason != SELECTED and reasons[reason] >= least * whole][:at_most]:
        value = f"{100 * reasons[reason] / whole:.0f}"
        if text.plain:
            text.append("," if look.plain else " ")
        text.append(short_name(reason), look.of_reason(NAMES[reason]))
        text.append(f":{value}" if look.plain else f" {value}%", "" if look.plain else DIM)
    return text
