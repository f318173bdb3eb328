"""A kernel's derived numbers, summed or averaged over its launches, and their overlap; None where the database lacks
what they need.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpuprof.report.model import ChipFacts, Kernel, Launch
from gpuprof.report.number_text import duration, grouped, product


def known_sum(values: Iterable[float | None]) -> float | None:
    """The sum of the values; None where one of them is not known."""
    total: float = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def metric_sum(kernel: Kernel, name: str) -> float | None:
    return known_sum(launch.metric(name) for launch in kernel.launches) if kernel.launches else None


@dataclass(frozen=True)
class Totals:
    theoretical_occupancy: float | None  # 0..1, of the last launch
    achieved_occupancy: float | None  # 0..1
    limiter: str  # what bounds the theoretical occupancy; "" unknown
    issue_utilisation: float | None  # 0..1, issued slots of those the active SMs had
    # 0..1, of the tensor pipes of the active SMs; None too where nothing is multiplied
    tensor_utilisation: float | None
    l1_hit_rate: float | None
    l2_hit_rate: float | None
    dram_read_nbytes: float | None
    dram_write_nbytes: float | None


def totals(kernel: Kernel, chip: ChipFacts) -> Totals:
    resident = metric_sum(kernel, "resident_warp_cycles")
    active = metric_sum(kernel, "sm_active_cycles")
    slots = metric_sum(kernel, "issue_slots")
    last = kernel.launches[-1] if kernel.launches else None
    return Totals(
        theoretical_occupancy=theoretical_occupancy(last, chip) if last else None,
        achieved_occupancy=ratio(resident, active and chip.warp_slots and active * chip.warp_slots),
        limiter=str(last.metrics.get("occupancy_limiter", "")) if last else "",
        issue_utilisation=ratio(slots, active and chip.partitions and active * chip.partitions * chip.dispatch_units),
        tensor_utilisation=ratio(
            metric_sum(kernel, "tensor_busy_cycles") or None, active and chip.partitions and active * chip.partitions
        ),
        l1_hit_rate=ratio(metric_sum(kernel, "l1_hits"), metric_sum(kernel, "l1_sectors")),
        l2_hit_rate=ratio(metric_sum(kernel, "l2_hits"), metric_sum(kernel, "l2_sectors")),
        dram_read_nbytes=metric_sum(kernel, "dram_read_nbytes"),
        dram_write_nbytes=metric_sum(kernel, "dram_write_nbytes"),
    )


def theoretical_occupancy(launch: Launch, chip: ChipFacts) -> float | None:
    blocks = launch.metric("blocks_per_sm")
    if blocks is None or not chip.warp_slots:
        return None
    warps = -(-product(launch.block) // chip.lanes)
    return blocks * warps / chip.warp_slots


def ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def overlaps(launches: list[Launch]) -> dict[int, int]:
    """The number of other launches that ran at the same time as each, by launch."""
    starts = sorted(launch.start_cycle for launch in launches)
    ends = sorted(launch.end_cycle for launch in launches)
    return {
        launch.launch: max(0, bisect_left(starts, launch.end_cycle) - bisect_right(ends, launch.start_cycle) - 1)
        for launch in launches
    }


def span_fact(launches: Sequence[Launch], chip: ChipFacts) -> str:
    """The time from the first start to the last end, where some launches ran at the same time, so that their durations
    sum to more. "" where none did.
    """
    ended = [launch for launch in launches if launch.complete]
    if not any(overlaps(ended).values()):
        return ""
    cycles = max(launch.end_cycle for launch in ended) - min(launch.start_cycle for launch in ended)
    time = f"{duration(cycles, chip.clock_mhz)}, " if chip.clock_mhz else ""
    return f"some at the same time: {time}{grouped(cycles)} cycles from the first start to the last end"
