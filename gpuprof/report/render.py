"""A page of a report in a format."""

from collections.abc import Iterator
from dataclasses import replace

from rich.text import Text

from gpuprof.report.formats import csv, json
from gpuprof.report.model import Kernel, Report
from gpuprof.report.pages.page_kind import Request, load
from gpuprof.report.terminal.report_header import header_lines
from gpuprof.report.terminal.styles import Look

DEFAULT = "source"  # where a program asks for no page; people then get the overview


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
    return csv.text_of(load(request.page).rows(report, request))


def json_page(report: Report, request: Request) -> str:
    request = request._replace(page=request.page or DEFAULT)
    page = load(request.page)

    def objects(kernel: Kernel) -> dict:
        return page.objects(kernel, report, request)

    return json.text_of(json.document(report, request.page, objects, page.document(report, request)))
