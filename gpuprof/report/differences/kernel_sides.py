"""A kernel of a report as one side of a difference: its lines, costs, instructions, numbers and findings."""

from collections.abc import Iterator, Mapping, Sequence

from gpuprof.base.wording import base_name
from gpuprof.compare.code import opcode_of
from gpuprof.compare.difference import (
    WARP_CYCLES,
    Cause,
    FindingSide,
    KernelSide,
    LaunchSide,
    Where,
)
from gpuprof.compare.kernels import KernelName
from gpuprof.compare.lines import Line, Passage, Spot
from gpuprof.correlate.findings import Found
from gpuprof.correlate.identity.code_text import relative_text
from gpuprof.correlate.metrics import METRICS
from gpuprof.report.model import Instruction, Kernel, Report, Section
from gpuprof.report.sections import source_sections
from gpuprof.report.totals import totals

# Of a kernel, and not of each of its launches.
OF_KERNEL = ("registers", "shared_nbytes", "local_nbytes", "spill_nbytes")
SHARES = ("theoretical_occupancy", "achieved_occupancy", "issue_utilisation", "l1_hit_rate", "l2_hit_rate")


def kernel_name(kernel: Kernel) -> KernelName:
    return KernelName(kernel.function, kernel.name, kernel.symbol, kernel.module)


def opcodes(kernel: Kernel) -> list[str]:
    return [opcode_of(instruction.text) for instruction in kernel.instructions]


def kernel_side(
    report: Report, kernel: Kernel, launches: Sequence[LaunchSide], values: Mapping[int, Mapping[str, int]], unit: str
) -> KernelSide:
    """`launches`: the kernel's; `values`: metrics of the database's launches, where they are wanted."""
    sections = source_sections(kernel)
    spots = dict(_spots(sections))
    return KernelSide(
        tuple(passage_of(kernel, section) for section in sections),
        costs_of(kernel, spots, unit),
        tuple(launches),
        tuple((text, spots[pc], cost) for pc, text, cost in _code(kernel, unit)),
        numbers_of(report, kernel, [values.get(launch.launch, {}) for launch in launches]),
        tuple(_finding(report, kernel, spots, each) for each in _findings(report, launches)),
    )


def passage_of(kernel: Kernel, section: Section) -> Passage:
    lines = tuple(Line(row.number, row.text) for row in section.rows)
    return Passage(section.function, section.path, lines, section.function == kernel.name)


def _spots(sections: Sequence[Section]) -> Iterator[tuple[int, Spot]]:
    """The line of each instruction, by address."""
    for passage, section in enumerate(sections):
        for line, row in enumerate(section.rows):
            for instruction in row.instructions:
                yield instruction.pc, Spot(passage, line)


def costs_of(kernel: Kernel, spots: Mapping[int, Spot], unit: str) -> dict[Where, int]:
    """The costs by line, reason and cause; their sum is the sum of the instructions' costs. Samples have no causes."""
    left = {
        (instruction.pc, reason): cost
        for instruction in kernel.instructions
        for reason, cost in enumerate(_reasons(instruction, unit))
        if cost
    }
    costs: dict[Where, int] = {}
    for blame in kernel.blames if unit == WARP_CYCLES else ():
        if not 0 < blame.cycles <= left.get((blame.pc, blame.reason), 0):
            continue  # a hand-made file: the ledger is the whole
        left[blame.pc, blame.reason] -= blame.cycles
        end = blame.ending
        at = None if end.other_launch else spots.get(blame.cause_pc)
        cause = Cause(end.kind, end.other_warp, end.other_launch, end.conflict, at)
        where = Where(spots[blame.pc], blame.reason, cause)
        costs[where] = costs.get(where, 0) + blame.cycles
    for (pc, reason), cost in left.items():
        if cost:
            where = Where(spots[pc], reason)
            costs[where] = costs.get(where, 0) + cost
    return costs


def _reasons(instruction: Instruction, unit: str) -> tuple[int, ...]:
    return instruction.cost.cycles if unit == WARP_CYCLES else instruction.cost.samples


def _code(kernel: Kernel, unit: str) -> Iterator[tuple[int, str, int]]:
    """(address, text, cost) of each instruction."""
    for instruction in kernel.instructions:
        text = relative_text(instruction.opcode, instruction.text, instruction.pc)
        yield instruction.pc, text, sum(_reasons(instruction, unit))


def numbers_of(report: Report, kernel: Kernel, values: Sequence[Mapping[str, int]]) -> dict[str, int | float]:
    """Counters are sums over the launches, shares of 0 to 1; what is not known is left out."""
    numbers: dict[str, int | float] = {name: getattr(kernel, name) for name in OF_KERNEL}
    of_all = totals(kernel, report.chip)
    for name in SHARES:
        share = getattr(of_all, name)
        if share is not None:
            numbers[name] = share
    for metric in METRICS:
        known = [each[metric.name] for each in values if metric.name in each]
        if known and metric.name not in numbers and metric.name != "cycles":
            numbers[metric.name] = sum(known)
    return numbers


def _findings(report: Report, launches: Sequence[LaunchSide]) -> Iterator[Found]:
    wanted = {launch.launch for launch in launches}
    return (finding for finding in report.findings if finding.launch in wanted)


def _finding(report: Report, kernel: Kernel, spots: Mapping[int, Spot], found: Found) -> FindingSide:
    position = kernel.positions.get(found.pc) if found.pc is not None else None
    place = f"{base_name(position.path)}:{position.line}" if position and position.line else ""
    spot = None if found.pc is None else spots.get(found.pc)
    return FindingSide(found.kind, found.severity, found.text, place, spot, found.cost_cycles)
