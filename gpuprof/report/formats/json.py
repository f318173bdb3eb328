"""A page as JSON, for programs: {"version": 2, "page": ..., "header": ..., "kernels": [...]}.

Shares are 0..1, cycles are cycles of the chip's clock, reasons without a count are left out. Version history: 1 the
first; 2 draws are an entry of the document, next to the kernels, which have their numbers.
"""

import json
from collections.abc import Callable

from gpuprof.isa.vocabularies import Vocabulary
from gpuprof.report.estimates import Scale, scale_of
from gpuprof.report.intervals import wilson
from gpuprof.report.model import ChipFacts, Cost, Header, Kernel, Launch, Report
from gpuprof.report.number_text import rounded
from gpuprof.report.pages.peaks import limit_object, throughput_object
from gpuprof.report.totals import totals
from gpuprof.report.triage.kernel_rules import findings

VERSION = 2


def document(report: Report, page: str, objects: Callable[[Kernel], dict], beside: dict) -> dict:
    """The report as plain dicts and lists. `objects`: a kernel's entries on this page besides those on every page;
    `beside`: what this page has besides the kernels.
    """
    return {
        "version": VERSION,
        "page": page,
        "vocabulary": report.vocabulary.name,
        "header": header_object(report.header),
        "chip": chip_object(report.chip),
        "kernels": [kernel_object(kernel, report) | objects(kernel) for kernel in report.kernels],
    } | beside


def text_of(document: dict) -> str:
    """Every character outside ASCII is escaped, so no text in it can act on a terminal."""
    return json.dumps(document, indent=1) + "\n"


def chip_object(chip: ChipFacts) -> dict:
    """`peaks`: the rate of each resource, in the unit that `resources` of a kernel's throughput has."""
    return dict(vars(chip)) | {"peaks": {name: rounded(peak.rate) for name, peak in chip.peaks.items()}}


def header_object(header: Header) -> dict:
    return dict(vars(header)) | {
        "kernels": list(header.kernels),
        "notes": list(header.notes),
        "results": [result._asdict() for result in header.results],
    }


def kernel_object(kernel: Kernel, report: Report) -> dict:
    return {
        "name": kernel.name,
        "symbol": kernel.symbol,
        "module": kernel.module,
        "registers": kernel.registers,
        "shared_nbytes": kernel.shared_nbytes,
        "local_nbytes": kernel.local_nbytes,
        "spill_nbytes": kernel.spill_nbytes,
        "cycles": kernel.cycles,
        "totals": dict(vars(totals(kernel, report.chip))),
        "cost": cost_object(kernel.cost, kernel.cost, scale_of(kernel), report),
        "findings": [finding._asdict() for finding in findings(kernel, report.chip, report.header, report.vocabulary)],
        "throughput": throughput_object(kernel.launches, report.chip),
        "limits": limit_object(kernel, report.chip, report.vocabulary),
        "launches": [launch_object(launch, report.chip) for launch in kernel.launches],
    }


def launch_object(launch: Launch, chip: ChipFacts) -> dict:
    shape = {"grid": list(launch.grid), "block": list(launch.block)}
    return dict(vars(launch)) | shape | {"throughput": throughput_object((launch,), chip)}


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
