"""Findings of trace generators and of advice: each with the instructions that it is about."""

from collections.abc import Iterator

from gpuprof.correlate.findings import Found
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.html.schema import Columns, PageTable, by_column
from gpuprof.report.pages.findings import place
from gpuprof.tables.table import Column

FINDINGS = (
    Column("kernel", "int", "", "Row of `kernels`."),
    Column("kind", "text", "", "Name of all findings of its sort."),
    Column("severity", "text", "", "error, warning, note or advice."),
    Column("text", "text", "", "What was found."),
    Column("launch", "int", "", "Number of the launch; of advice that of the kernel's longest."),
    Column("instruction", "int", "", "Row of `instructions`; -1 where it is not known."),
    Column("path", "text", "", "The file."),
    Column("line", "int", "", "The line; 0 where it is not known."),
    Column("other_kernel", "int", "", "Row of `kernels`, of a second instruction, such as the one that it races with."),
    Column("other", "int", "", "The second one: row of `instructions`; -1 where there is none."),
    Column("other_path", "text", "", "Its file."),
    Column("other_line", "int", "", "Its line; 0 where it is not known."),
    Column("count", "int", "", "How often it happened."),
    Column("cost_cycles", "real", "warp-cycles", "Of advice: what it is about."),
)


def finding_columns(profile: Profile) -> Columns:
    return by_column(FINDINGS, finding_rows(profile))


def finding_rows(profile: Profile) -> Iterator[tuple]:
    report = profile.report
    kernel_of = {each.launch: number for number, kernel in enumerate(report.kernels) for each in kernel.launches}
    for found in report.findings:
        kernel = kernel_of[found.launch]
        other = other_kernel(profile, found, kernel)
        yield (
            *(kernel, found.kind, found.severity, found.text, found.launch),
            *(profile.places.get((kernel, found.pc), -1), *place(report, found.pc)),
            *(other, profile.places.get((other, found.other_pc), -1), *place(report, found.other_pc)),
            *(found.count, found.cost_cycles),
        )


def other_kernel(profile: Profile, found: Found, kernel: int) -> int:
    """The kernel of the second instruction: `kernel` where that one has it, too; -1 where none has it."""
    if found.other_pc is None:
        return -1
    numbers = [kernel, *range(len(profile.report.kernels))]
    return next((number for number in numbers if (number, found.other_pc) in profile.places), -1)


TABLES = (
    PageTable("findings", "What trace generators found, and what costs time, worst first.", FINDINGS, finding_columns),
)
