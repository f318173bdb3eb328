"""The findings page: what trace generators found, and what costs time; worst first."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from gpuprof.base.wording import base_name
from gpuprof.correlate.findings import Found
from gpuprof.report.formats import cell
from gpuprof.report.model import Kernel, Report
from gpuprof.report.number_text import count
from gpuprof.report.pages.page_kind import Page, Request
from gpuprof.report.terminal.columns import Column, Layout, layout, table
from gpuprof.report.terminal.styles import WARM, Look, flow, remark, shown

NOT_CHECKED = "no checker was enabled: gpuprof collect --trace memcheck --trace racecheck"


def location(report: Report, pc: int | None) -> tuple[str, int]:
    """File and line of an instruction; "" and 0 where they are not known."""
    for kernel in report.kernels:
        if pc in kernel.positions:
            position = kernel.positions[pc]
            return (position.path, position.line) if position.line else ("", 0)
    return "", 0


def kernel_of(report: Report, launch: int) -> str:
    return next(kernel.name for kernel in report.kernels for member in kernel.launches if member.launch == launch)


def text(report: Report, look: Look, request: Request) -> Iterator[Text]:
    def where(pc: int | None) -> Text:
        path, line = location(report, pc)
        return Text(shown(f"{base_name(path)}:{line}") if line else "-" if pc is None else f"{pc:#x}")

    def number(value: int | None) -> Text:
        return Text("-" if value is None else count(value, look.plain))

    def memory(finding: Found) -> Text:
        holder = f"({finding.allocation})" if finding.allocation else ""
        text = shown(f"{finding.address:#x}{holder}") if finding.address is not None else "-"
        return Text(text.replace(" ", "_") if look.plain else text)

    def severity(finding: Found) -> Text:
        return Text(finding.severity, WARM if finding.severity in ("error", "warning") else "")

    columns = [
        Column("severity", severity, left=True, gap=0),
        Column("kind", lambda f: Text(shown(f.kind)), 1, left=True),
        Column("count", lambda f: number(f.count), 3),
        Column("cycles", lambda f: number(f.cost_cycles), 5),
        Column("where", lambda f: where(f.pc), left=True),
        Column("second", lambda f: where(f.other_pc), 2, left=True),
        Column("launch", lambda f: number(f.launch), 4),
        Column("block", lambda f: number(f.block), 8),
        Column("warp", lambda f: number(f.warp), 9),
        Column("thread", lambda f: number(f.thread), 7),
        Column("memory", memory, 6, left=True),
    ]
    yield Text("")
    if look.plain:
        finding = Column("finding", lambda f: Text(shown(f.text)), left=True)
        yield from table([*columns, finding], report.findings, look)
    else:
        said = [column for column in columns if any(column.cell(f).plain != "-" for f in report.findings)]
        yield from in_sentences(layout(said or columns, report.findings, look), report.findings)
    if not report.findings:
        yield from remark("no findings", look)
    yield from remark(f"watched by {', '.join(report.watchers)}" if report.watchers else NOT_CHECKED, look)


def in_sentences(shape: Layout, findings: Sequence[Found]) -> Iterator[Text]:
    """Each finding's row, and below it what was found, in whole: a column would cut it."""
    yield shape.heading()
    for finding in findings:
        yield shape.row(finding)
        yield from flow(Text("  "), [shown(finding.text)], shape.look)
    yield from shape.closing()


FIELDS = (
    *("kind", "severity", "text", "count", "pc", "path", "line", "other_pc", "other_path", "other_line", "kernel"),
    *("launch", "block", "warp", "thread", "address", "allocation", "generator", "cost_cycles"),
)


def facts(report: Report, finding: Found) -> dict:
    """Everything about a finding, by FIELDS."""
    path, line = location(report, finding.pc)
    other_path, other_line = location(report, finding.other_pc)
    more = {"path": path, "line": line, "other_path": other_path, "other_line": other_line}
    known = finding._asdict() | more | {"kernel": kernel_of(report, finding.launch)}
    return {name: known[name] for name in FIELDS}


def rows(report: Report, request: Request) -> Iterator[Sequence[object]]:
    yield FIELDS
    for finding in report.findings:
        yield [cell(value) for value in facts(report, finding).values()]


def objects(kernel: Kernel, report: Report, request: Request) -> dict:
    launches = {launch.launch for launch in kernel.launches}
    return {"found": [facts(report, finding) for finding in report.findings if finding.launch in launches]}


PAGE = Page(text, rows, objects)
