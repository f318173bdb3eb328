"""Error against period as a table with a small chart, as CSV and as JSON."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from rich.text import Text

from gpuprof.base.wording import plural
from gpuprof.correlate.thinning import Row
from gpuprof.report.formats import cell, csv_of, json_of
from gpuprof.report.model import Header
from gpuprof.report.number_text import count, grouped, rounded
from gpuprof.report.render import header_object
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.report_header import header_lines
from gpuprof.report.terminal.styles import DIM, Look, flow

VERSION = 1
BAR_CELLS = 20
COLUMNS_NOTE = "mix is the error of the stall reasons' shares; gpuprof explain mix, and so on, explains the columns"
SURE = 0.95  # the hottest line is found in so many of the recordings of a period
LEAST_RECORDINGS = 20  # that show such a share: one that fails is the rest of SURE


class Quality(NamedTuple):
    header: Header
    effective: float  # independent samples that would be as sure
    rows: list[Row]
    notes: list[str]


def percent1(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}%"


def page(quality: Quality, look: Look) -> Iterator[Text]:
    yield from header_lines(quality.header, look)
    yield Text("")
    yield from table(columns(quality, look), quality.rows, look)
    yield Text("")
    mark = Text("# " if look.plain else "")
    for note in [*verdicts(quality), *quality.notes, COLUMNS_NOTE]:
        yield from flow(mark, note.split("; "), look)


def columns(quality: Quality, look: Look) -> list[Column]:
    largest = max((row.error.mix or 0 for row in quality.rows), default=0)

    def cell(text: str, row: Row) -> Text:
        return Text(text, DIM if row.how == "predicted" else "")

    def chart(row: Row) -> Text:
        cells = round(BAR_CELLS * row.error.mix / largest) if row.error.mix and largest else 0
        return cell(("█" if look.blocks and not look.plain else "#") * cells, row)

    return [
        Column("period", lambda r: cell(str(r.period_cycles), r), gap=0),
        Column("samples", lambda r: cell(count(round(r.samples), look.plain), r), 1),
        Column("mix", lambda r: cell(percent1(r.error.mix), r)),
        Column("counted", lambda r: cell(percent1(r.error.counted), r), 5),
        Column("formula", lambda r: cell(percent1(r.expected_mix), r), 6),
        Column("worst line", lambda r: cell(percent1(r.error.worst_line), r), 2),
        Column("ranked", lambda r: cell(percent1(r.error.ranked), r), 3),
        Column("hottest", lambda r: cell(percent1(r.error.hottest), r), 1),
        Column("from", lambda r: cell(r.how, r), 4, left=True),
        Column("error of the mix", chart, left=True),
    ]


def verdicts(quality: Quality) -> list[str]:
    """The conclusions from the table, as sentences."""
    sure = []
    for row in (row for row in quality.rows if row.period_cycles >= quality.header.period_cycles):
        if (share := hottest_share(row)) is None or share < SURE:
            break
        sure.append(row)
    sentences = [
        f"the samples are as sure as {plural(round(quality.effective), 'independent one', 'independent ones')}"
    ]
    if sure:
        sentences.append(
            f"the hottest line is found in {100 * SURE:.0f}% of the recordings or more up to a period of "
            f"{grouped(sure[-1].period_cycles)} cycles{'' if is_shown(sure[-1]) else BY_FORMULA}"
        )
    else:
        sentences.append(f"the hottest line is found in less than {100 * SURE:.0f}% of the recordings of this period")
    return sentences


BY_FORMULA = ", by the formula for independent samples"


def is_shown(row: Row) -> bool:
    return row.recordings >= LEAST_RECORDINGS


def hottest_share(row: Row) -> float | None:
    """How many recordings of a period find the hottest line: counted where there are enough, else by the formula."""
    return row.error.hottest if is_shown(row) else row.expected_hottest


FIELDS: tuple[tuple[str, Callable[[Row], object]], ...] = (
    ("period_cycles", lambda r: r.period_cycles),
    ("how", lambda r: r.how),
    ("samples", lambda r: round(r.samples, 3)),
    ("mix_error", lambda r: rounded(r.error.mix)),
    ("mix_error_counted", lambda r: rounded(r.error.counted)),
    ("mix_error_formula", lambda r: rounded(r.expected_mix)),
    ("worst_line_error", lambda r: rounded(r.error.worst_line)),
    ("lines_ranked_right", lambda r: rounded(r.error.ranked)),
    ("hottest_line_right", lambda r: rounded(r.error.hottest)),
)


def csv_text(quality: Quality) -> str:
    rows = ([cell(value(row)) for _, value in FIELDS] for row in quality.rows)
    return csv_of([[name for name, _ in FIELDS], *rows])


def json_text(quality: Quality) -> str:
    document = {
        "version": VERSION,
        "header": header_object(quality.header),
        "effective_samples": round(quality.effective, 3),
        "notes": quality.notes,
        "periods": [{name: cell(row) for name, cell in FIELDS} for row in quality.rows],
    }
    return json_of(document)
