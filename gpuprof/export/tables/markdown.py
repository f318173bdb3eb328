"""The summary as Markdown (GitHub's tables), for a comment on a change: kernels, then their hottest lines."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from gpuprof.base.wording import base_name
from gpuprof.export.tables.ncu_values import report_of
from gpuprof.isa.printing.markdown import escaped, row
from gpuprof.isa.stalls import NAMES
from gpuprof.report.model import Kernel, Report, ranked
from gpuprof.report.number_text import duration, grouped, percent
from gpuprof.report.sections import hottest, source_sections

MOST_REASONS = 3


def write(database: sqlite3.Connection, path: Path) -> None:
    path.write_text("".join(f"{line}\n" for line in lines(report_of(database))), encoding="utf-8", newline="\n")


def lines(report: Report) -> Iterator[str]:
    header = report.header
    who = (
        f"measured by {escaped(header.measured_by)}"
        if header.measured_by
        else f"gpuprof, model {escaped(header.model_version)}"
    )
    yield f"**{who}, {escaped(header.chip)}**"
    yield from ("", "| kernel | launches | cycles | time | share | stalls |", "|---|--:|--:|--:|--:|---|")
    for kernel in report.kernels:
        reasons = kernel.cost.reasons
        stalls = ", ".join(f"{NAMES[r]} {percent(reasons[r], sum(reasons))}" for r in ranked(reasons)[:MOST_REASONS])
        time = duration(kernel.cycles, report.chip.clock_mhz) if report.chip.clock_mhz else "-"
        cells = (escaped(kernel.name), len(kernel.launches), grouped(kernel.cycles), time)
        yield row(*cells, percent(kernel.cycles, header.cycles), stalls)
    yield from ("", "| kernel | line | share | source |", "|---|---|--:|---|")
    for kernel in report.kernels:
        yield from hot_lines(kernel)


def hot_lines(kernel: Kernel) -> Iterator[str]:
    sections = source_sections(kernel)
    paths = {id(each): section.path for section in sections for each in section.rows}
    for each in hottest(sections):
        if each.number:
            share = percent(sum(each.cost.reasons), sum(kernel.cost.reasons))
            place = f"{escaped(base_name(paths[id(each)]))}:{each.number}"
            yield row(escaped(kernel.name), place, share, escaped(each.text.strip()))
