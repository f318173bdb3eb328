"""Nsight Compute's words for the numbers of a launch: the metric's name, unit, section and label on the details page.

The names are those of Nsight Compute 2024. A number that the database does not have is left out.
"""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from gpuprof.correlate.metrics import launch_values
from gpuprof.errors import NotComparable
from gpuprof.isa.printing.printable import printable
from gpuprof.isa.stalls import NAMES
from gpuprof.report.model import ChipFacts, Kernel, Launch, Report
from gpuprof.report.number_text import product
from gpuprof.report.queries import read_report
from gpuprof.report.throughput import throughput
from gpuprof.report.totals import Totals, totals

IDENTITY = (
    *("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size"),
    *("Device", "CC"),
)
SPEED, LAUNCH, OCCUPANCY = "GPU Speed Of Light Throughput", "Launch Statistics", "Occupancy"
MEMORY, INSTRUCTIONS, SOURCE = "Memory Workload Analysis", "Instruction Statistics", "Source Counters"


class Measured(NamedTuple):
    """A launch, as the values that a metric is worked out from; `kernel` has only that launch. `exact`: those of
    correlate.metrics. `shares`: of the peaks of resources that it used.
    """

    launch: Launch
    kernel: Kernel
    chip: ChipFacts
    totals: Totals
    exact: dict[str, int]
    shares: dict[str, float]


class Metric(NamedTuple):
    name: str
    unit: str
    section: str
    label: str
    value: Callable[[Measured], float | int | None]


def _metric(name: str) -> Callable[[Measured], float | int | None]:
    def value(m: Measured) -> float | int | None:
        found = m.launch.metrics.get(name)
        assert not isinstance(found, str), name
        return found

    return value


def _percent(share: Callable[[Measured], float | None]) -> Callable[[Measured], float | None]:
    def value(m: Measured) -> float | None:
        found = share(m)
        return None if found is None else round(100 * found, 6)

    return value


def _nanoseconds(m: Measured) -> float | None:
    return round(1000 * m.launch.cycles / m.chip.clock_mhz, 3) if m.chip.clock_mhz else None


def _exact(name: str) -> Callable[[Measured], int | None]:
    return lambda m: m.exact.get(name)


def _peak(*resources: str) -> Callable[[Measured], float | None]:
    """The largest share of the peaks of these resources, or of all others than the memory's."""

    def value(m: Measured) -> float | None:
        wanted = resources or m.shares.keys() - set(MEMORIES)
        return round(100 * max((m.shares.get(name, 0.0) for name in wanted), default=0.0), 6) if m.shares else None

    return value


def _dram_nbytes_per_second(m: Measured) -> float | None:
    nbytes, time_ns = m.exact.get("dram_nbytes"), _nanoseconds(m)
    return round(1e9 * nbytes / time_ns, 3) if nbytes is not None and time_ns else None


MEMORIES = ("dram", "l2", "l1", "shared")  # resources of the chip whose work is to move bytes
METRICS = (
    Metric("sm__cycles_elapsed.max", "cycle", SPEED, "Elapsed Cycles", lambda m: m.launch.cycles),
    Metric("gpu__time_duration.sum", "ns", SPEED, "Duration", _nanoseconds),
    Metric("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%", SPEED, "Memory Throughput",
        _peak(*MEMORIES)),
    Metric("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", SPEED, "Compute (SM) Throughput", _peak()),
    Metric("dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", SPEED, "DRAM Throughput", _peak("dram")),
    Metric("lts__throughput.avg.pct_of_peak_sustained_elapsed", "%", SPEED, "L2 Cache Throughput", _peak("l2")),
    Metric("l1tex__throughput.avg.pct_of_peak_sustained_elapsed", "%", SPEED, "L1/TEX Cache Throughput",
        _peak("l1", "shared")),
    Metric("launch__block_size", "", LAUNCH, "Block Size", lambda m: product(m.launch.block)),
    Metric("launch__grid_size", "", LAUNCH, "Grid Size", lambda m: product(m.launch.grid)),
    Metric("launch__registers_per_thread", "register/thread", LAUNCH, "Registers Per Thread",
        lambda m: m.kernel.registers),
    Metric(
        "launch__shared_mem_per_block_dynamic", "byte/block", LAUNCH, "Dynamic Shared Memory Per Block",
        lambda m: m.launch.dynamic_shared_nbytes,
    ),
    Metric(
        "launch__shared_mem_per_block_static", "byte/block", LAUNCH, "Static Shared Memory Per Block",
        lambda m: m.kernel.shared_nbytes,
    ),
    Metric(
        "launch__thread_count", "thread", LAUNCH, "Threads", lambda m: product(m.launch.block) * product(m.launch.grid)
    ),
    Metric(
        "sm__maximum_warps_per_active_cycle_pct", "%", OCCUPANCY, "Theoretical Occupancy",
        _percent(lambda m: m.totals.theoretical_occupancy),
    ),
    Metric(
        "sm__warps_active.avg.pct_of_peak_sustained_active", "%", OCCUPANCY, "Achieved Occupancy",
        _percent(lambda m: m.totals.achieved_occupancy),
    ),
    Metric("smsp__inst_issued.sum", "inst", INSTRUCTIONS, "Issued Instructions", _metric("issue_slots")),
    Metric(
        "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", "%", MEMORY, "L1/TEX Hit Rate",
        _percent(lambda m: m.totals.l1_hit_rate),
    ),
    Metric("lts__t_sector_hit_rate.pct", "%", MEMORY, "L2 Hit Rate", _percent(lambda m: m.totals.l2_hit_rate)),
    Metric("lts__t_sectors.sum", "sector", MEMORY, "L2 Sectors", _metric("l2_sectors")),
    Metric("dram__bytes_read.sum", "byte", MEMORY, "DRAM Read", _metric("dram_read_nbytes")),
    Metric("dram__bytes_write.sum", "byte", MEMORY, "DRAM Written", _metric("dram_write_nbytes")),
    Metric("dram__bytes.sum", "byte", MEMORY, "DRAM Bytes", _exact("dram_nbytes")),
    Metric("dram__bytes.sum.per_second", "byte/second", MEMORY, "DRAM Bytes Per Second", _dram_nbytes_per_second),
    Metric("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "", MEMORY, "Shared Memory Wavefronts",
        _exact("l1_wavefronts_shared")),
    Metric("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "", MEMORY, "Shared Memory Bank Conflicts",
        _exact("l1_wavefronts_shared_excessive")),
)  # fmt: skip


class Row(NamedTuple):
    """A launch: the cells of IDENTITY, and (metric, value) of those that are known."""

    identity: tuple[object, ...]
    kernel: Kernel
    values: tuple[tuple[Metric, float | int], ...]


def report_of(database: sqlite3.Connection) -> Report:
    """Raises NotComparable where there is no launch."""
    report = read_report(database)
    if not report.kernels:
        raise NotComparable("nothing to export: the file has no launches; collect again")
    return report


def read_rows(database: sqlite3.Connection) -> tuple[Report, list[Row]]:
    """The launches in their order, and the report that they are of."""
    report = report_of(database)
    arch = dict(database.execute("SELECT name, arch FROM modules"))
    found = sorted(
        ((launch, kernel) for kernel in report.kernels for launch in kernel.launches), key=lambda each: each[0].launch
    )
    samples, exact = samples_by_launch(database), launch_values(database)
    return report, [
        Row(
            identity(launch, kernel, arch[kernel.module]),
            kernel,
            tuple(values(launch, kernel, report.chip, samples, exact[launch.launch])),
        )
        for launch, kernel in found
    ]


def samples_by_launch(database: sqlite3.Connection) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    for launch, reason, n in database.execute(
        "SELECT launch, name, SUM(samples) FROM samples JOIN stall_reasons USING (reason) GROUP BY launch, reason"
    ):
        found.setdefault(launch, {})[reason] = n
    return found


def identity(launch: Launch, kernel: Kernel, arch: str) -> tuple[object, ...]:
    digits = arch.removeprefix("sm_").rstrip("abcdefghijklmnopqrstuvwxyz")
    capability = f"{digits[:-1]}.{digits[-1]}" if len(digits) > 1 else ""
    shapes = (f"({', '.join(map(str, extent))})" for extent in (launch.block, launch.grid))
    return (launch.launch, 0, "gpuprof", "", printable(kernel.name), 1, launch.stream, *shapes, 0, capability)


def values(
    launch: Launch, kernel: Kernel, chip: ChipFacts, samples: dict[int, dict[str, int]], exact: dict[str, int]
) -> Iterator[tuple[Metric, float | int]]:
    alone = replace(kernel, launches=(launch,))
    shares = {use.resource.name: use.share for use in throughput([launch], chip).uses}
    measured = Measured(launch, alone, chip, totals(alone, chip), exact, shares)
    for metric in METRICS:
        value = metric.value(measured)
        if value is not None:
            yield metric, value
    counted = samples.get(launch.launch, {})
    for reason in NAMES if counted else ():
        name = f"smsp__pcsamp_warps_issue_stalled_{reason}"
        yield Metric(name, "warp", SOURCE, f"# Samples {reason}", lambda m: None), counted.get(reason, 0)
