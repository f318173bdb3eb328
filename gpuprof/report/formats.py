"""Values as cells of CSV and as objects of JSON."""

import csv
import io
import json
from collections.abc import Iterable, Sequence

from gpuprof.isa.printing.printable import printable
from gpuprof.isa.vocabularies import Vocabulary
from gpuprof.report.estimates import Scale, wilson
from gpuprof.report.model import Cost, Report


def csv_of(rows: Iterable[Sequence[object]]) -> str:
    """Lines that end in a line feed."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def cell(value: object) -> object:
    """A value as a cell: empty for None, 0 or 1 for a flag, "4,4,1" for a grid. Control characters of a text are
    escaped, since people print CSV on terminals.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return printable(value) if isinstance(value, str) else value


def json_of(document: dict) -> str:
    """Every character outside ASCII is escaped, so no text in it can act on a terminal."""
    return json.dumps(document, indent=1) + "\n"


def cost_object(cost: Cost, whole: Cost, scale: Scale, report: Report) -> dict:
    values: dict = {
        "warp_cycles": cost.warp_cycles,
        "exact_share": share(cost.warp_cycles, whole.warp_cycles),
        "cycles": by_reason(cost.cycles, report.vocabulary),
    }
    if report.header.is_sampled:
        values["samples"] = cost.n_samples
        values["sampled_share"] = share(cost.n_samples, whole.n_samples)
        values["sampled_share_95"] = [round(end, 6) for end in wilson(cost.n_samples, whole.n_samples)]
        values["estimated_share"] = round(scale.estimate(cost).share, 6)
        values["estimated_share_95"] = [round(end, 6) for end in scale.estimate(cost)[1:3]]
        values["samples_by_reason"] = by_reason(cost.samples, report.vocabulary)
    if report.has_not_issued:
        values["samples_not_issued_by_reason"] = by_reason(cost.not_issued, report.vocabulary)
    values["counters"] = cost.counters.facts()
    return values


def share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None


def by_reason(numbers: tuple[int, ...], vocabulary: Vocabulary) -> dict[str, int]:
    return {vocabulary.word(reason): number for reason, number in enumerate(vocabulary.merged(numbers)) if number}
