"""Kernels, their launches, what the summary says of them, and findings."""

from collections.abc import Iterator

from rich.text import Text

from gpuprof.report.estimates import scale_of
from gpuprof.report.html.block import Columns, PageTable, by_column
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.number_text import extent
from gpuprof.report.pages.summary import kernel_facts
from gpuprof.report.terminal.styles import Look
from gpuprof.report.triage.kernel_rules import findings
from gpuprof.tables.table import Column

KERNELS = (
    Column("name", "text", "", "As written in the source."),
    Column("symbol", "text", "", "As the linker knows it."),
    Column("module", "text", "", "The file that it came from."),
    Column("registers", "int", "", "Of a thread."),
    Column("shared_nbytes", "int", "bytes", "Static shared memory of a block."),
    Column("local_nbytes", "int", "bytes", "Local memory of a thread."),
    Column("spill_nbytes", "int", "bytes", "Of these, spilled registers."),
    Column("launches", "int", "", "Launches of it that are shown."),
    Column("cycles", "int", "cycles", "Their durations, summed."),
    Column("warp_cycles", "int", "warp-cycles", "Of the ledger: 0 where there is none."),
    Column("samples", "int", "samples", "Of its instructions."),
    Column("whole", "int", "", "What shares of the samples are parts of: the sum of their weights, or their number."),
    Column("effective", "real", "samples", "Independent samples that would be as sure."),
)
SUMMARY = (
    Column("kernel", "int", "", "Row of `kernels`."),
    Column("label", "text", "", "What the fact is about."),
    Column("text", "text", "", "The fact, as the terminal's summary says it."),
)
ADVICE = (
    Column("kernel", "int", "", "Row of `kernels`."),
    Column("rule", "text", "", "Name of the rule that found it."),
    Column("text", "text", "", "What to look at."),
    Column("path", "text", "", 'The file; "" where it is about the whole kernel.'),
    Column("line", "int", "", "The line; 0 where it is about the whole kernel."),
    Column("explain", "text", "", "A stall reason to read about."),
    Column("cost", "real", "", "The share of the kernel's time that it is about."),
)
LAUNCHES = (
    Column("launch", "int", "", "Its number in the recording."),
    Column("kernel", "int", "", "Row of `kernels`."),
    Column("grid", "text", "blocks", "In x, y and z."),
    Column("block", "text", "threads", "In x, y and z."),
    Column("dynamic_shared_nbytes", "int", "bytes", "Shared memory that the launch requests."),
    Column("stream", "int", "", "0 is the default stream."),
    Column("task", "text", "", "Names of its tasks, outermost first, joined by /."),
    Column("start_cycle", "int", "cycles", "From power-on."),
    Column("end_cycle", "int", "cycles", "From power-on."),
    Column("cycles", "int", "cycles", "Its duration."),
    Column("samples_due", "int", "samples", "Recorded and dropped."),
    Column("samples_kept", "int", "samples", "In the recording."),
    Column("samples_dropped", "int", "samples", "Lost to a full buffer."),
    Column("complete", "int", "", "0 where the recording ends inside of it."),
)
# A line for each fact: the page draws its own bars.
LINES = Look(width=None, colours="", blocks=False, plain=True)


def kernel_columns(profile: Profile) -> Columns:
    return by_column(KERNELS, kernel_rows(profile))


def kernel_rows(profile: Profile) -> Iterator[tuple]:
    for kernel in profile.report.kernels:
        scale = scale_of(kernel)
        yield (
            kernel.name, kernel.symbol, kernel.module, kernel.registers, kernel.shared_nbytes, kernel.local_nbytes,
            kernel.spill_nbytes, len(kernel.launches), kernel.cycles, kernel.cost.warp_cycles, kernel.cost.n_samples,
            scale.whole, scale.effective,
        )  # fmt: skip


def summary_columns(profile: Profile) -> Columns:
    look = LINES._replace(vocabulary=profile.report.vocabulary)
    return by_column(
        SUMMARY,
        [
            (number, label, part.plain if isinstance(part, Text) else part)
            for number, kernel in enumerate(profile.report.kernels)
            for label, parts in kernel_facts(kernel, profile.report, look)
            for part in parts
        ],
    )


def advice_columns(profile: Profile) -> Columns:
    report = profile.report
    return by_column(
        ADVICE,
        [
            (number, *finding)
            for number, kernel in enumerate(report.kernels)
            for finding in findings(kernel, report.chip, report.header, report.vocabulary)
        ],
    )


def launch_columns(profile: Profile) -> Columns:
    return by_column(
        LAUNCHES,
        sorted(
            (launch.launch, number, extent(launch.grid), extent(launch.block), launch.dynamic_shared_nbytes,
             launch.stream, launch.task, launch.start_cycle, launch.end_cycle, launch.cycles, launch.samples_due,
             launch.samples_kept, launch.samples_dropped, launch.complete)
            for number, kernel in enumerate(profile.report.kernels)
            for launch in kernel.launches
        ),
    )  # fmt: skip


TABLES = (
    PageTable("kernels", "The kernels, most cycles first.", KERNELS, kernel_columns),
    PageTable("summary", "What the summary says of each kernel.", SUMMARY, summary_columns),
    PageTable("advice", "What to look at first, by kernel.", ADVICE, advice_columns),
    PageTable("launches", "The launches, in the order of their numbers.", LAUNCHES, launch_columns),
)
