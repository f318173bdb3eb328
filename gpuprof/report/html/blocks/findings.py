"""Findings of trace generators and of advice: each with the instructions that it is about."""

from collections.abc import Iterator

from gpuprof.correlate.findings import Found
from gpuprof.report.html.block import Columns, PageTable, by_column
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.pages.findings import location
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
    kernel_of = {launch.launch: number for number, kernel in enumerate(report.kernels) for launch in kernel.launches}
    for finding in report.findings:
        kernel = kernel_of[finding.launch]
        other = other_kernel(profile, finding, kernel)
        yield (
            *(kernel, finding.kind, finding.severity, finding.text, finding.launch),
            *(profile.places.get((kernel, finding.pc), -1), *location(report, finding.pc)),
            *(other, profile.places.get((other, finding.other_pc), -1), *location(report, finding.other_pc)),
            *(finding.count, finding.cost_cycles),
        )


def other_kernel(profile: Profile, finding: Found, kernel: int) -> int:
    """The kernel of the second instruction: `kernel` where that one has it, too; -1 where none has it."""
    if finding.other_pc is None:
        return -1
    numbers = [kernel, *range(len(profile.report.kernels))]
    return next((number for number in numbers if (number, finding.other_pc) in profile.places), -1)


TABLES = (
    PageTable("findings", "What trace generators found, and what costs time, worst first.", FINDINGS, finding_columns),
)
