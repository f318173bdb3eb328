"""A page of a report in a format: lines of text, CSV, or JSON.

JSON is {"version": 2, "page": ..., "header": ..., "kernels": [...]}. Shares are 0..1, cycles are cycles of the chip's
clock, reasons without a count are left out. Version history: 1 the first; 2 draws are an entry of the document, next to
the kernels, which have their numbers.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from rich.text import Text

from gpuprof.report.estimates import scale_of
from gpuprof.report.formats import cost_object, csv_of, json_of
from gpuprof.report.model import ChipFacts, Header, Kernel, Launch, Report
from gpuprof.report.number_text import rounded
from gpuprof.report.pages.page_kind import Request, load
from gpuprof.report.pages.peaks import limit_object, throughput_object
from gpuprof.report.pages.program_object import program_object
from gpuprof.report.terminal.report_header import header_lines
from gpuprof.report.terminal.styles import Look
from gpuprof.report.totals import totals
from gpuprof.report.triage.kernel_rules import findings

DEFAULT = "source"  # of CSV and JSON; people get the overview
VERSION = 2  # of the JSON


def text_page(report: Report, look: Look, request: Request) -> Iterator[Text]:
    """The lines of a page, the header first."""
    look = look._replace(vocabulary=report.vocabulary)
    yield from header_lines(report.header, look)
    page = load(request.page).text if request.page else overview
    yield from page(report, look, request)


def overview(report: Report, look: Look, request: Request) -> Iterator[Text]:
    """The summary, then the hottest kernel's annotated source, since that is where the work starts."""
    yield from load("summary").text(report, look, request)
    hottest = replace(report, kernels=report.kernels[:1])
    yield from load("source").text(hottest, look, request._replace(page="source"))


def csv_page(report: Report, request: Request) -> str:
    request = request._replace(page=request.page or DEFAULT)
    return csv_of(load(request.page).rows(report, request))


def json_page(report: Report, request: Request) -> str:
    request = request._replace(page=request.page or DEFAULT)
    page = load(request.page)

    def objects(kernel: Kernel) -> dict:
        return page.objects(kernel, report, request)

    return json_of(document(report, request.page, objects, page.document(report, request)))


def document(report: Report, page: str, objects: Callable[[Kernel], dict], entries: dict) -> dict:
    """The report as plain dicts and lists. `objects`: a kernel's entries on this page, in addition to those on every
    page; `entries`: those of this page next to the kernels.
    """
    return (
        {
            "version": VERSION,
            "page": page,
            "vocabulary": report.vocabulary.name,
            "header": header_object(report.header),
            "chip": chip_object(report.chip),
            "kernels": [kernel_object(kernel, report) | objects(kernel) for kernel in report.kernels],
        }
        | ({"program": program_object(report.program)} if report.program else {})
        | entries
    )


def chip_object(chip: ChipFacts) -> dict:
    """`peaks`: the rate of each resource, in the unit that `resources` of a kernel's throughput has."""
    return dict(vars(chip)) | {"peaks": {name: rounded(peak.rate) for name, peak in chip.peaks.items()}}


def header_object(header: Header) -> dict:
    return dict(vars(header)) | {
        "kernels": list(header.kernels),
        "notes": list(header.notes),
        "caches": [control._asdict() | {"launches": n_launches} for control, n_launches in header.caches],
        "not_held": list(header.not_held),
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
