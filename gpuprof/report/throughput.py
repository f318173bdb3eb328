"""How much a launch, or a kernel's launches together, used of the peak of each of the chip's resources, and which of
them limits. docs/peak.md has the rules.

Work is summed over the launches, and so is their time; a time in which several of them ran counts once. Launches that
did not end have no time, and are left out with their work.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gpuprof.chips.peaks import RESOURCES, Peak, Resource
from gpuprof.isa.operations import PRECISIONS
from gpuprof.isa.stalls import INDEX
from gpuprof.report.model import SELECTED, ChipFacts, Kernel, Launch, ranked
from gpuprof.report.totals import known_sum, ratio

BOUND, HIGH = 0.8, 0.6  # shares of a peak: Nsight Compute's thresholds
SECTOR_NBYTES, PASS_NBYTES = 32, 128
NOT_SELECTED = INDEX["not_selected"]
# Reasons to wait for a pipe or a queue that is full, as a unit is that no resource here has the work of.
THROTTLES = frozenset(
    INDEX[name] for name in ("math_pipe_throttle", "mio_throttle", "lg_throttle", "tex_throttle", "dispatch_stall")
)

# For `gpuprof explain`: label and sentence.
WHAT_PEAKS_ARE = {
    "what it is": "The share of a resource's peak that a kernel reached: its work, over the cycles from the start of "
    "a launch to its end, divided by the work that the whole GPU could have done in that time.",
    "limits": f"A share of {100 * BOUND:.0f} % and more limits the kernel: less of that work makes it faster. From "
    f"{100 * HIGH:.0f} % on it is high. Where all shares are less, too few SMs have work, or a unit without a rate of "
    "its own is full, or the kernel is bound by latency: more warps, or more independent work of each, make it faster, "
    "and less waiting does.",
}

# Resource -> the metrics of a launch whose sum is its work, and what one is worth.
METRICS = {
    "dram": (("dram_read_nbytes", "dram_write_nbytes"), 1),
    "l2": (("l2_sectors",), SECTOR_NBYTES),
    "atomics": (("l2_atomic_cycles",), 1),
    "l1": (("l1_sectors",), SECTOR_NBYTES),
    "shared": (("shared_wavefronts",), PASS_NBYTES),
    "issue": (("issue_slots",), 1),
    "tensor_pipe": (("tensor_busy_cycles",), 1),
}
# Resource -> the precisions whose operations are its work.
ARITHMETIC = {resource.name: (resource.name,) for resource in RESOURCES if resource.is_arithmetic} | {
    "f16": ("f16", "bf16")
}


class Use(NamedTuple):
    """How much of a resource was used: rates in the resource's unit, `share` 0..1 of the peak."""

    resource: Resource
    work: float
    achieved: float
    peak: float
    share: float


class Limit(NamedTuple):
    """`kind`: "bound" or "high" with the resource nearest to its peak. Where none is near it: "idle" where most SMs
    have no warps, "pipe" where warps wait for a unit that is full, "latency" for the rest. `reason`: the number of the
    stall reason with the most cycles, or None; `not_selected` limits only a resource that is near its peak.
    """

    kind: str
    use: Use
    reason: int | None


@dataclass(frozen=True)
class Throughput:
    """`cycles`: of the launches' time. `uses`: of the resources that were used, in the order of the chip's table."""

    launches: int
    left_out: int  # launches that did not end
    cycles: int
    uses: tuple[Use, ...]

    @property
    def top(self) -> Use | None:
        return max(self.uses, key=lambda use: use.share, default=None)


class Roof(NamedTuple):
    """A point of the roofline model for one precision: operations a byte of DRAM; those from which on the roof is the
    chip's arithmetic, and no longer its DRAM; and the rate of the roof there, in 10^9 operations a second."""

    use: Use
    dram_nbytes: float
    operations_per_byte: float
    ridge_operations_per_byte: float
    attainable: float


def throughput(launches: Sequence[Launch], chip: ChipFacts) -> Throughput:
    ended = [launch for launch in launches if launch.complete and launch.cycles > 0]
    # Its cycles begin before its first block does: rates are over the time that the screen shows.
    cycles = covered([(launch.end_cycle - launch.cycles, launch.end_cycle) for launch in ended])
    candidates = [use_of(resource, ended, cycles, chip.peaks) for resource in RESOURCES] if cycles else []
    uses = tuple(use for use in candidates if use is not None)
    return Throughput(len(ended), sum(not launch.complete for launch in launches), cycles, uses)


def use_of(resource: Resource, launches: Sequence[Launch], cycles: int, peaks: dict[str, Peak]) -> Use | None:
    """The use of a resource; None where it was not used, and where work or peak is not known."""
    work = work_of(resource.name, launches)
    peak = peaks.get(resource.name)
    if not work or peak is None:
        return None
    a_cycle = work / cycles
    return Use(resource, work, a_cycle * peak.factor, peak.rate, a_cycle / peak.per_cycle)


def work_of(name: str, launches: Sequence[Launch]) -> float | None:
    if name in ARITHMETIC:
        return sum(launch.operations.get(precision, 0) for launch in launches for precision in ARITHMETIC[name])
    metrics, worth = METRICS[name]
    total = known_sum(launch.metric(metric) for launch in launches for metric in metrics)
    return None if total is None else worth * total


def covered(spans: Iterable[tuple[int, int]]) -> int:
    """The cycles in which at least one of the spans was."""
    total, reached = 0, None
    for start, end in sorted(spans):
        total += max(0, end - (start if reached is None else max(start, reached)))
        reached = end if reached is None else max(end, reached)
    return total


def operations(launches: Iterable[Launch]) -> dict[str, int]:
    """Operations of the launches that ended, by precision, without zeros, in the order of PRECISIONS."""
    ended = [launch for launch in launches if launch.complete]
    sums = {precision: sum(launch.operations.get(precision, 0) for launch in ended) for precision in PRECISIONS}
    return {precision: n for precision, n in sums.items() if n}


def limit(used: Throughput, reasons: tuple[int, ...], active: float | None) -> Limit | None:
    """The limit of the launches; None where nothing is known. `reasons`: warp-cycles by stall reason; `active`: 0..1 of
    the SMs' time, None where it is not known.
    """
    if used.top is None:
        return None
    waits = [reason for reason in ranked(reasons) if reason != SELECTED]
    reason = waits[0] if waits else None
    if used.top.share >= HIGH:
        return Limit("bound" if used.top.share >= BOUND else "high", used.top, reason)
    if active is not None and active < HIGH:
        return Limit("idle", used.top, reason)
    # A warp that another one goes before waits for an issue slot, and there are slots left. Where a pipe takes an
    # instruction every second cycle, half of its warps' waiting looks like that.
    reason = next((wait for wait in waits if wait != NOT_SELECTED), reason)
    return Limit("pipe" if reason in THROTTLES else "latency", used.top, reason)


def limit_of(kernel: Kernel, chip: ChipFacts) -> Limit | None:
    """The limit of all of a kernel's launches together."""
    used = throughput(kernel.launches, chip)
    return limit(used, kernel.cost.cycles, active_share(kernel, chip, used.cycles))


def roofline(used: Throughput) -> tuple[Roof, ...]:
    """A point for each precision that a unit has a rate of; none where no byte went to or from DRAM."""
    dram = next((use for use in used.uses if use.resource.name == "dram"), None)
    return tuple(roof_of(use, dram) for use in used.uses if use.resource.is_arithmetic) if dram else ()


def roof_of(use: Use, dram: Use) -> Roof:
    intensity = use.work / dram.work
    return Roof(use, dram.work, intensity, use.peak / dram.peak, min(use.peak, intensity * dram.peak))


def active_share(kernel: Kernel, chip: ChipFacts, cycles: int) -> float | None:
    """0..1, of the SMs' time, that in which a warp was resident. Of launches that ran at the same time the most that it
    can be: each counts an SM that they share.
    """
    active = known_sum(launch.metric("sm_active_cycles") for launch in kernel.launches if launch.complete)
    share = ratio(active, cycles * chip.sms) if chip.sms else None
    return None if share is None else min(1.0, share)
