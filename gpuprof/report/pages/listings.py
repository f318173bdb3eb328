"""The source, PTX and instruction pages: the rows of a listing of every kernel, each with its cost."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from gpuprof.isa.printing.printable import printable
from gpuprof.report.estimates import Scale, scale_of
from gpuprof.report.formats import cost_object
from gpuprof.report.model import Kernel, Report, Row, Section
from gpuprof.report.pages.annotate import kernel_listing
from gpuprof.report.pages.intensity import intensity_of
from gpuprof.report.pages.ncu_columns import Line, columns_in
from gpuprof.report.pages.page_kind import Page, Request
from gpuprof.report.sections import LISTINGS, select_lines
from gpuprof.report.terminal.styles import Look
from gpuprof.report.waits import stalls_of
from gpuprof.report.warp_ends import attributed


def text(report: Report, look: Look, request: Request) -> Iterator[Text]:
    for kernel in report.kernels:
        yield from kernel_listing(kernel, report.chip, request.page, look, request.lines, request.isa)


def sections_of(kernel: Kernel, request: Request) -> tuple[Section, ...]:
    sections = LISTINGS[request.page](kernel)
    return select_lines(sections, *request.lines) if request.lines else sections


def rows(report: Report, request: Request) -> Iterator[Sequence[object]]:
    """A `Kernel Name` row, a heading, a row per line or instruction; then the next kernel's."""
    columns = columns_in(report.vocabulary)
    for kernel in report.kernels:
        yield ["Kernel Name", printable(kernel.name)]
        yield [column.name for column in columns]
        scale = scale_of(kernel)
        for section in sections_of(kernel, request):
            for row in section.rows:
                line = Line(row, section, kernel, report, scale)
                yield [column.cell(line) for column in columns]


def objects(kernel: Kernel, report: Report, request: Request) -> dict:
    scale, is_isa = scale_of(kernel), request.page == "isa"
    sections = sections_of(kernel, request)
    return {"sections": [section_object(section, kernel, scale, report, is_isa) for section in sections]}


def section_object(section: Section, kernel: Kernel, scale: Scale, report: Report, is_isa: bool) -> dict:
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
        "rows": [row_object(row, kernel, scale, report, is_isa) for row in section.rows],
    }


def row_object(row: Row, kernel: Kernel, scale: Scale, report: Report, is_isa: bool) -> dict:
    values: dict[str, object] = {"address" if is_isa else "line": row.number, "text": row.text}
    if is_isa:
        inner = row.instructions[0].positions[0]
        values |= {"path": inner.path, "line": inner.line, "ptx_line": row.instructions[0].ptx_line}
    else:
        values["addresses"] = [i.pc for i in row.instructions]
    values |= cost_object(row.cost, kernel.cost, scale, report)
    if waits := stalls_of(row, report.vocabulary):
        values["stalls"] = waits
    if kernel.blames:
        values["attributed_cycles"] = attributed(kernel, row)
    if intensity := intensity_of(kernel.works, row.instructions):
        values["intensity"] = intensity._asdict()
    if row.inclusive != row.cost:
        values["with_inlined"] = {"warp_cycles": row.inclusive.warp_cycles, "samples": row.inclusive.n_samples}
    return values


PAGE = Page(text, rows, objects)
