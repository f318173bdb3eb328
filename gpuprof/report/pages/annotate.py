"""The source, PTX and instruction pages on a terminal or in a pipe: a line of code, what it cost, and why."""

from collections.abc import Iterator

from rich.text import Text

from gpuprof.base.wording import base_name, plural
from gpuprof.report.estimates import scale_of
from gpuprof.report.model import ChipFacts, Cost, Kernel, Row, Section
from gpuprof.report.number_text import near_name, percent
from gpuprof.report.pages.intensity import ridge
from gpuprof.report.pages.number_cells import Cells, View, columns_for
from gpuprof.report.sections import LISTINGS, hottest, select_lines
from gpuprof.report.terminal.bars import legend
from gpuprof.report.terminal.columns import layout
from gpuprof.report.terminal.styles import BOLD, DIM, Look, clipped, flow, shown

MIN_SHARE = 0.01  # an inlined function below it gets no section of its own
MIN_NESTED_SHARE = 0.10  # an instruction below this share of its hot line is not shown under it
LEAST_CODE_CELLS, LEAST_CODE_SHARE = 30, 0.33  # of the page, before columns are dropped


def kernel_listing(
    kernel: Kernel, chip: ChipFacts, name: str, look: Look, lines: tuple[int, int] | None, isa: bool
) -> Iterator[Text]:
    sections = LISTINGS[name](kernel)
    hot = {id(row) for row in hottest(sections)}
    rows = [row for section in sections for row in section.rows]
    largest = max([sum(row.cost.reasons) for row in rows], default=0)
    cells = Cells(name, kernel.cost, largest, look, scale_of(kernel), kernel, ridge(chip))
    everything = isa or lines is not None
    if lines is not None:
        sections = select_lines(sections, *lines)
    shown_sections, hidden = worth_showing(sections, kernel.cost) if lines is None else (sections, ())
    views = [list(views_of(section, hot, name == "source", everything, look)) for section in shown_sections]
    columns = layout(
        columns_for(cells),
        [view for part in views for view in part],
        look,
        LEAST_CODE_CELLS,
        LEAST_CODE_SHARE,
    )
    for index, (section, part) in enumerate(zip(shown_sections, views, strict=True)):
        yield Text("")
        yield from heading(section, kernel, name == "source", look)
        if index == 0:
            yield columns.heading()
        yield from map(columns.row, part)
    yield from columns.closing()
    yield Text("")
    mark = Text("# " if look.plain else "")
    if name == "source" and (hint := missing_source(kernel, sections)):
        yield from flow(mark.copy(), [hint], look)
    if sum(kernel.cost.reasons):
        yield from flow(mark.copy(), legend(kernel.cost.reasons, look), look)
    if hidden:
        share = percent(sum(sum(s.cost.reasons) for s in hidden), sum(kernel.cost.reasons))
        yield clipped(mark.append(f"left out: {hidden_text(len(hidden))}, {share} together"), look)


def hidden_text(n: int) -> str:
    return f"{plural(n, 'inlined function', 'inlined functions')} under {100 * MIN_SHARE:.0f}%{' each' * (n > 1)}"


def missing_source(kernel: Kernel, sections: tuple[Section, ...]) -> str:
    """Advice for the reader when there are no lines or no text to show; "" when there are."""
    if not any(section.path for section in sections):
        return "the code has no line information: see --page ptx or --page isa"
    if all(kernel.sources.get(section.path) is None for section in sections):
        return "the source text was not available when collecting: see --page ptx"
    return ""


def worth_showing(sections: tuple[Section, ...], whole: Cost) -> tuple[tuple[Section, ...], tuple[Section, ...]]:
    """The kernel's own section and the inlined code that carries cost; and the rest."""

    def is_worth(index: int, section: Section) -> bool:
        inclusive = max([sum(row.inclusive.reasons) for row in section.rows], default=0)
        return index == 0 or inclusive >= MIN_SHARE * sum(whole.reasons) > 0

    kept = [i for i, section in enumerate(sections) if is_worth(i, section)]
    return tuple(sections[i] for i in kept), tuple(s for i, s in enumerate(sections) if i not in kept)


def heading(section: Section, kernel: Kernel, with_span: bool, look: Look) -> Iterator[Text]:
    mark, whole = "# " if look.plain else "", sum(kernel.cost.reasons)
    text = Text(mark).append(shown(section.function), BOLD)
    if section.path:
        numbers = [row.number for row in section.rows if row.number]
        span = f":{numbers[0]}-{numbers[-1]}" if with_span else ""
        text.append(f"  {shown(near_name(section.path))}{span}")
    yield clipped(text.append(f"  {percent(sum(section.cost.reasons), whole)}", DIM), look)
    if section.call_sites:
        places = [
            f"{shown(base_name(site.path))}:{site.line} ({percent(sum(cost.reasons), whole)})"
            for site, cost in section.call_sites
        ]
        yield from flow(Text(mark).append("inlined at ", DIM), [Text(place, DIM) for place in places], look)


def views_of(section: Section, hot: set[int], nest: bool, everything: bool, look: Look) -> Iterator[View]:
    for row in section.rows:
        is_hot = id(row) in hot
        yield View(row, is_hot, False)
        if nest and (everything or (is_hot and not look.plain)):
            for instruction in row.instructions:
                if everything or sum(instruction.cost.reasons) >= MIN_NESTED_SHARE * sum(row.cost.reasons):
                    yield View(
                        Row(instruction.pc, instruction.text, (instruction,), instruction.cost, instruction.cost),
                        False,
                        True,
                    )
