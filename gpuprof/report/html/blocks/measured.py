"""Measurements of a kernel's launches that were timed again: advice, and changes."""

from collections.abc import Iterator

from gpuprof.isa.stalls import INDEX
from gpuprof.report.html.block import Columns, PageTable, by_column
from gpuprof.report.html.blocks.stalls import term_of
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.model import MeasuredChange
from gpuprof.tables.measured import NOT_TO_BE_HAD
from gpuprof.tables.table import Column

PLACE = (
    Column("kernel", "int", "", "Row of `kernels`."),
    Column("launch", "int", "", "Number of the launch that was timed again."),
    Column("place", "text", "", "FILE:N, a unit, or kernel."),
    Column("path", "text", "", 'The file; "" where it is about no line.'),
    Column("line", "int", "", "The line; 0 where it is about none."),
)
CYCLES = (
    Column("cycles_before", "int", "cycles", "Of the launch as it is."),
    Column("cycles_after", "int", "cycles", "Of the launch with the change."),
    Column("speedup", "real", "", "The first over the second."),
)
ADVICE = (
    *PLACE,
    Column("topic", "text", "", "What it is about, as `gpuprof advise` names it."),
    Column("evidence", "text", "", "What was counted."),
    Column("change", "text", "", "What to do."),
    Column("sketch", "text", "", "The same in names of the kernel; empty where there is none."),
    Column("refuted_by", "text", "", "What would show it to be wrong."),
    Column("intervention", "text", "", "What stood for the change in the measurement."),
    *CYCLES,
)
CHANGES = (
    *PLACE,
    Column("kind", "text", "", "What was changed, as `gpuprof whatif` names it."),
    Column("is_cost", "int", "", "1: it shows what the place costs, and is no change that can be had."),
    *CYCLES,
    Column("bound", "real", "", "The speed-up if all cycles went that the ledger charges to what was changed."),
    Column("curve", "int", "", "Number of the curve that it is a point of, those of one place; -1: of none."),
    Column("sooner_cycles", "int", "cycles", "Of a curve's point: by how much results came sooner; 0: at once."),
)
REASONS = (
    Column("change", "int", "", "Row of `changes`."),
    Column("term", "int", "", "Row of `terms`."),
    Column("share", "share", "", "Of the warps' time, with the change. The largest are there."),
)


def advice_columns(profile: Profile) -> Columns:
    return by_column(ADVICE, advice_rows(profile))


def advice_rows(profile: Profile) -> Iterator[tuple]:
    for number, kernel in enumerate(profile.report.kernels):
        for each in sorted(kernel.measured, key=lambda each: -each.speedup):
            yield (
                *(number, each.launch, each.place, each.path, each.line, each.topic, each.evidence, each.change),
                *(each.sketch, each.refuted_by, each.intervention),
                *(each.cycles_before, each.cycles_after, each.speedup),
            )


def changes(profile: Profile) -> Iterator[tuple[int, MeasuredChange]]:
    """(number of the kernel, change): rows of the table `changes`. Stable, so that a curve keeps its order."""
    for number, kernel in enumerate(profile.report.kernels):
        for change in sorted(kernel.changes, key=lambda change: -change.speedup):
            yield number, change


def change_columns(profile: Profile) -> Columns:
    return by_column(CHANGES, change_rows(profile))


def change_rows(profile: Profile) -> Iterator[tuple]:
    rows = list(changes(profile))
    curves = curve_numbers(change for _, change in rows)
    for number, each in rows:
        yield (
            *(number, each.launch, each.place, each.path, each.line, each.kind, int(is_cost(each.kind))),
            *(each.cycles_before, each.cycles_after, each.speedup, each.bound_speedup),
            *(curves.get(place_of(each), -1) if is_point(each) else -1, each.sooner_cycles),
        )


def is_cost(kind: str) -> bool:
    """Also of a sequence with a part that cannot be had."""
    return any(part.partition(" ")[0] in NOT_TO_BE_HAD for part in kind.split(" + "))


def is_point(change: MeasuredChange) -> bool:
    return change.sooner_cycles > 0 or change.kind == "sooner"


def place_of(change: MeasuredChange) -> tuple[int, str, str, int]:
    return change.launch, change.place, change.path, change.line


def curve_numbers(changes: Iterator[MeasuredChange]) -> dict[tuple, int]:
    """The number of a place's curve. One whose results only came at once has none."""
    places = dict.fromkeys(place_of(change) for change in changes if change.sooner_cycles)
    return {place: number for number, place in enumerate(places)}


def reason_columns(profile: Profile) -> Columns:
    return by_column(REASONS, reason_rows(profile))


def reason_rows(profile: Profile) -> Iterator[tuple[int, int, float]]:
    """Several reasons may have one term."""
    terms = term_of(profile)
    for number, (_, change) in enumerate(changes(profile)):
        shares: dict[int, float] = {}
        for reason, share in change.moved_to:
            term = terms[INDEX[reason]]
            shares[term] = shares.get(term, 0) + share
        for term, share in sorted(shares.items(), key=lambda item: -item[1]):
            yield number, term, share


TABLES = (
    PageTable("measured_advice", "Advice by `gpuprof advise`, the largest gain of a kernel first.", ADVICE,
              advice_columns),
    PageTable("changes", "Changes by `gpuprof whatif`, the largest gain of a kernel first.", CHANGES, change_columns),
    PageTable("change_reasons", "What warps wait for with a change.", REASONS, reason_columns),
)  # fmt: skip
