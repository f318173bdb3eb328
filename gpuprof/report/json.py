"""Every page as JSON, for programs: {"version": 1, "page": ..., "header": ..., "kernels": [...]}.

Shares are 0..1, cycles are cycles of the chip's clock, reasons without a count are left out. Version history: 1 the
first.
"""

import json

from gpuprof.isa.vocabularies import Vocabulary
from gpuprof.report import samples, stalls
from gpuprof.report.blame import attributed, entries, entry_object
from gpuprof.report.estimates import Scale, scale_of
from gpuprof.report.intervals import wilson
from gpuprof.report.model import Cost, Kernel, Launch, Report, Row, Section
from gpuprof.report.sections import LISTINGS, select_lines
from gpuprof.report.totals import totals
from gpuprof.report.triage.kernel_rules import findings

VERSION = 1


def document(report: Report, page: str, lines: tuple[int, int] | None = None) -> dict:
    """The page as plain dicts and lists."""
    header = dict(vars(report.header))
    return {
        "version": VERSION,
        "page": page,
        "vocabulary": report.vocabulary.name,
        "header": header | {"kernels": list(report.header.kernels), "notes": list(report.header.notes)},
        "chip": dict(vars(report.chip)),
        "kernels": [kernel_object(kernel, report, page, lines) for kernel in report.kernels],
    }


def text_of(report: Report, page: str, lines: tuple[int, int] | None = None) -> str:
    """The document; every character outside ASCII is escaped, so no text in it can act on a terminal."""
    return json.dumps(document(report, page, lines), indent=1) + "\n"


def kernel_object(kernel: Kernel, report: Report, page: str, lines: tuple[int, int] | None) -> dict:
    whole, scale = kernel.cost, scale_of(kernel)
    found = {
        "name": kernel.name,
        "symbol": kernel.symbol,
        "module": kernel.module,
        "registers": kernel.registers,
        "shared_nbytes": kernel.shared_nbytes,
        "local_nbytes": kernel.local_nbytes,
        "spill_nbytes": kernel.spill_nbytes,
        "cycles": kernel.cycles,
        "totals": dict(vars(totals(kernel, report.chip))),
        "cost": cost_object(whole, whole, scale, report),
        "findings": [finding._asdict() for finding in findings(kernel, report.chip, report.header, report.vocabulary)],
        "launches": [launch_object(launch) for launch in kernel.launches],
    }
    if page == "samples":
        found |= samples.objects(kernel, report.vocabulary, lines)
    if page == "blame":
        found["causes"] = [entry_object(kernel, entry, report) for entry in entries(kernel)]
    if page in LISTINGS:
        sections = LISTINGS[page](kernel)
        chosen = select_lines(sections, *lines) if lines else sections
        found["sections"] = [section_object(section, kernel, scale, report, page) for section in chosen]
    if page == "stalls":
        found["stalls"] = stalls.of_kernel(kernel, report.vocabulary)
    return found


def launch_object(launch: Launch) -> dict:
    return dict(vars(launch)) | {"grid": list(launch.grid), "block": list(launch.block)}


def section_object(section: Section, kernel: Kernel, scale: Scale, report: Report, page: str) -> dict:
    return {
        "function": section.function,
        "path": section.path,
        "inlined_at": [
            {
                "path": site.path,
                "line": site.line,
                "function": site.function,
                "warp_cycles": cost.warp_cycles,
                "samples": cost.n_samples,
            }
            for site, cost in section.call_sites
        ],
        "rows": [row_object(row, kernel, scale, report, page) for row in section.rows],
    }


def row_object(row: Row, kernel: Kernel, scale: Scale, report: Report, page: str) -> dict:
    found = {"address" if page == "isa" else "line": row.number, "text": row.text}
    if page != "isa":
        found["addresses"] = [i.pc for i in row.instructions]
    else:
        inner = row.instructions[0].positions[0]
        found |= {"path": inner.path, "line": inner.line, "ptx_line": row.instructions[0].ptx_line}
    found |= cost_object(row.cost, kernel.cost, scale, report)
    if waits := stalls.of_row(row, report.vocabulary):
        found["stalls"] = waits
    if kernel.blames:
        found["attributed_cycles"] = attributed(kernel, row)
    if row.inclusive != row.cost:
        found["with_inlined"] = {"warp_cycles": row.inclusive.warp_cycles, "samples": row.inclusive.n_samples}
    return found


def cost_object(cost: Cost, whole: Cost, scale: Scale, report: Report) -> dict:
    found: dict = {
        "warp_cycles": cost.warp_cycles,
        "exact_share": share(cost.warp_cycles, whole.warp_cycles),
        "cycles": by_reason(cost.cycles, report.vocabulary),
    }
    if report.header.is_sampled:
        found["samples"] = cost.n_samples
        found["sampled_share"] = share(cost.n_samples, whole.n_samples)
        found["sampled_share_95"] = [round(end, 6) for end in wilson(cost.n_samples, whole.n_samples)]
        found["estimated_share"] = round(scale.estimate(cost).share, 6)
        found["estimated_share_95"] = [round(end, 6) for end in scale.estimate(cost)[1:3]]
        found["samples_by_reason"] = by_reason(cost.samples, report.vocabulary)
    if report.has_not_issued:
        found["samples_not_issued_by_reason"] = by_reason(cost.not_issued, report.vocabulary)
    found["counters"] = cost.counters.facts()
    return found


def share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None


def by_reason(numbers: tuple[int, ...], vocabulary: Vocabulary) -> dict[str, int]:
    return {vocabulary.word(reason): number for reason, number in enumerate(vocabulary.merged(numbers)) if number}
