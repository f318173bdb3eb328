"""The columns of the source, PTX and instruction pages as CSV, as Nsight Compute exports its source page.

Nsight Compute's columns come first, in its order and with its names, then ours. A cell is empty where nothing was
measured. Text is the source's own, but control characters are written out.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from gpuprof.correlate.counts import Counters
from gpuprof.isa.printing.printable import printable
from gpuprof.isa.stalls import COLUMNS
from gpuprof.isa.vocabularies import Vocabulary
from gpuprof.report.estimates import Estimate, Scale, wilson
from gpuprof.report.model import SELECTED, Cost, Instruction, Kernel, Report, Row, Section
from gpuprof.report.pages.intensity import intensity_of
from gpuprof.report.waits import joined
from gpuprof.report.warp_ends import attributed


class Line(NamedTuple):
    """The values that a CSV row is made from."""

    row: Row
    section: Section
    kernel: Kernel
    report: Report
    scale: Scale  # of the kernel's samples

    @property
    def counters(self) -> Counters:
        return self.row.cost.counters


class CsvColumn(NamedTuple):
    name: str
    cell: Callable[[Line], object]


def ratio(part: float, whole: float) -> object:
    return round(part / whole, 6) if whole else ""


def distinct(instructions: Sequence[Instruction], fact: Callable[[Instruction], str]) -> str:
    return ", ".join(sorted({fact(i) for i in instructions if i.space}))


def sampled(number: Callable[[Cost], int]) -> Callable[[Line], object]:
    """A number of samples; empty when there was no sampling."""
    return lambda line: number(line.row.cost) if line.report.header.is_sampled else ""


def not_issued(number: Callable[[Cost], int]) -> Callable[[Line], object]:
    return lambda line: number(line.row.cost) if line.report.has_not_issued else ""


def counter(name: str) -> Callable[[Line], object]:
    return lambda line: getattr(line.counters, name)


def n_stalls(row: Row) -> int:
    return sum(stalls.stalls for stalls in joined(row.instructions).values())


def longest_stall(row: Row) -> int:
    return max((stalls.longest_cycles for stalls in joined(row.instructions).values()), default=0)


def operations_per_byte(line: Line) -> object:
    """Operations per byte; empty where none were counted."""
    intensity = intensity_of(line.kernel.works, line.row.instructions)
    return ratio(intensity.operations, intensity.nbytes) if intensity else ""


def reason_of(column: str) -> int:
    return COLUMNS.index(column)


def reason_column(column: str) -> CsvColumn:
    index = reason_of(column)
    return CsvColumn(column, sampled(lambda cost: cost.samples[index]))


def not_issued_column(column: str) -> CsvColumn:
    index = reason_of(column)
    return CsvColumn(f"{column} (Not Issued)", not_issued(lambda cost: cost.not_issued[index]))


def exact_column(column: str) -> CsvColumn:
    index = reason_of(column)
    return CsvColumn(f"{column} (Exact)", lambda line: line.row.cost.cycles[index])


def bound(end: int) -> Callable[[Line], object]:
    """The lower (0) or upper (1) end of the sampled share's 95 % interval; empty without samples."""

    def cell(line: Line) -> object:
        n = line.kernel.cost.n_samples
        return round(wilson(line.row.cost.n_samples, n)[end], 6) if n else ""

    return cell


def estimated(field: Callable[[Estimate], float]) -> Callable[[Line], object]:
    """A field of the row's `Estimate`; empty without samples."""
    return lambda line: round(field(line.scale.estimate(line.row.cost)), 6) if line.scale.whole else ""


# stall_gmma is not among the columns of the chips Nsight Compute's list was taken from; it is one of ours.
NCU_REASONS = tuple(sorted(column for column in COLUMNS if column != "stall_gmma"))

NCU_FACTS = (
    CsvColumn("Address", lambda line: f"{line.row.instructions[0].pc:#x}" if line.row.instructions else ""),
    CsvColumn("Source", lambda line: printable(line.row.text, keep="\t")),
    CsvColumn("Warp Stall Sampling (All Samples)", sampled(lambda cost: cost.n_samples)),
    CsvColumn("Warp Stall Sampling (Not-issued Samples)", not_issued(lambda cost: sum(cost.not_issued))),
    CsvColumn("# Samples", sampled(lambda cost: cost.n_samples)),
    CsvColumn("Instructions Executed", counter("inst_executed")),
    CsvColumn("Thread Instructions Executed", counter("thread_inst_executed")),
    CsvColumn("Predicated-On Thread Instructions Executed", counter("thread_inst_executed_pred_on")),
    CsvColumn(
        "Avg. Threads Executed", lambda line: ratio(line.counters.thread_inst_executed, line.counters.inst_executed)
    ),
    CsvColumn(
        "Avg. Predicated-On Threads Executed",
        lambda line: ratio(line.counters.thread_inst_executed_pred_on, line.counters.inst_executed),
    ),
    CsvColumn("Divergent Branches", counter("divergent_branches")),
    CsvColumn("Address Space", lambda line: distinct(line.row.instructions, lambda i: i.space.capitalize())),
    CsvColumn("Access Operation", lambda line: distinct(line.row.instructions, lambda i: i.operation.capitalize())),
    CsvColumn("Access Size", lambda line: distinct(line.row.instructions, lambda i: str(8 * i.access_nbytes))),  # bits
    CsvColumn("L1 Tag Requests Global", counter("l1_tag_requests_global")),
    CsvColumn(
        "L1 Conflicts Shared N-Way",
        lambda line: ratio(line.counters.l1_wavefronts_shared, line.counters.l1_wavefronts_shared_ideal),
    ),
    CsvColumn("L1 Wavefronts Shared Excessive", lambda line: line.counters.l1_wavefronts_shared_excess),
    CsvColumn("L1 Wavefronts Shared", counter("l1_wavefronts_shared")),
    CsvColumn("L1 Wavefronts Shared Ideal", counter("l1_wavefronts_shared_ideal")),
    CsvColumn("L2 Theoretical Sectors Global Excessive", lambda line: line.counters.l2_sectors_global_excess),
    CsvColumn("L2 Theoretical Sectors Global", counter("l2_sectors_global")),
    CsvColumn("L2 Theoretical Sectors Global Ideal", counter("l2_sectors_global_ideal")),
    CsvColumn("L2 Theoretical Sectors Local", counter("l2_sectors_local")),
)
NCU_COLUMNS = (
    *NCU_FACTS,
    *(reason_column(column) for column in NCU_REASONS),
    *(not_issued_column(column) for column in NCU_REASONS),
)

OUR_FACTS = (
    CsvColumn("File", lambda line: printable(line.section.path)),
    CsvColumn("Line", lambda line: line.row.number),
    CsvColumn("Function", lambda line: printable(line.section.function)),
    CsvColumn("Warp Cycles (Exact)", lambda line: line.row.cost.warp_cycles),
    CsvColumn("Exact Share", lambda line: ratio(line.row.cost.warp_cycles, line.kernel.cost.warp_cycles)),
    CsvColumn("Warp Cycles With Inlined (Exact)", lambda line: line.row.inclusive.warp_cycles),
    CsvColumn("Sampled Share", lambda line: ratio(line.row.cost.n_samples, line.kernel.cost.n_samples)),
    CsvColumn("Sampled Share Low 95%", bound(0)),
    CsvColumn("Sampled Share High 95%", bound(1)),
    CsvColumn("Estimated Share", estimated(lambda found: found.share)),
    CsvColumn("Estimated Share Low 95%", estimated(lambda found: found.low)),
    CsvColumn("Estimated Share High 95%", estimated(lambda found: found.high)),
    CsvColumn("Attributed Stalls", lambda line: attributed(line.kernel, line.row) if line.kernel.blames else ""),
    CsvColumn("Stalls (Exact)", lambda line: n_stalls(line.row)),
    CsvColumn(
        "Mean Stall Cycles (Exact)",
        lambda line: ratio(sum(line.row.cost.cycles) - line.row.cost.cycles[SELECTED], n_stalls(line.row)),
    ),
    CsvColumn("Longest Stall Cycles (Exact)", lambda line: longest_stall(line.row)),
    CsvColumn("Operations Per Byte", operations_per_byte),
)
OUR_COLUMNS = (
    *OUR_FACTS,
    reason_column("stall_gmma"),
    not_issued_column("stall_gmma"),
    *(exact_column(column) for column in COLUMNS),
)


def term_columns(
    vocabulary: Vocabulary, ending: str, numbers: Callable[[Cost], Sequence[int]], when: Callable
) -> Iterator[CsvColumn]:
    """A column per term, in the place of Nsight Compute's per reason."""
    for number in vocabulary.numbers():
        yield CsvColumn(
            vocabulary.word(number) + ending, when(lambda cost, number=number: vocabulary.merged(numbers(cost))[number])
        )


def columns_in(vocabulary: Vocabulary) -> tuple[CsvColumn, ...]:
    if vocabulary.is_own:
        return NCU_COLUMNS + OUR_COLUMNS
    return (
        *NCU_FACTS,
        *term_columns(vocabulary, "", lambda cost: cost.samples, sampled),
        *term_columns(vocabulary, " (Not Issued)", lambda cost: cost.not_issued, not_issued),
        *OUR_FACTS,
        *term_columns(
            vocabulary, " (Exact)", lambda cost: cost.cycles, lambda number: lambda line: number(line.row.cost)
        ),
    )
