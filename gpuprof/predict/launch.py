"""Cycles of a launch from the cycles of its blocks' units.

Blocks that run together wait for each other at the units: a warp takes as long as its own latencies, or as long as the
busiest unit needs for all warps, and longer where both are similar (`queued`). Warps start together, so the shorter of
the two is visible once: for the share of one wait among all (interval analysis, Karkhanis and Smith 2004; GCoM, Lee et
al. 2022).
"""

from dataclasses import dataclass

import numpy as np

from gpuprof.predict.chip_numbers import Numbers
from gpuprof.predict.launch_counters import LaunchCounters
from gpuprof.predict.units.caches import Traffic, traffic_of
from gpuprof.predict.units.dram import buses, dram, pieces
from gpuprof.predict.units.l2_side import atomic, link, slices
from gpuprof.predict.units.latency import Latency, latency
from gpuprof.predict.units.lsu import address, lsu
from gpuprof.predict.units.partition import issue, pipes, register_file, slots
from gpuprof.predict.units.resident_blocks import Residency, residency
from gpuprof.predict.work import Work

# The units that an access passes through in turn; warps compute before and after.
MEMORY = ("address", "lsu", "link", "slice", "atomic", "dram")
EQUAL_TURNS = 2  # with service times of equal length the queue is half as long


@dataclass(frozen=True)
class Blocks:
    """float64 (chips,), for a wave of blocks. `single`: cycles of one block without others, of which it occupies each
    unit for `own`; `on_sm`: cycles of all blocks on the fullest SM; `busy_sm` and `busy_chip`: busy cycles of each unit
    of that SM and of those that all SMs share, by name.
    """

    single: np.ndarray
    on_sm: np.ndarray
    own: dict[str, np.ndarray]
    busy_sm: dict[str, np.ndarray]
    busy_chip: dict[str, np.ndarray]

    @property
    def on_chip(self) -> np.ndarray:
        """Busy cycles of the busiest unit that all SMs share."""
        return np.maximum.reduce(list(self.busy_chip.values()))

    @property
    def busy(self) -> dict[str, np.ndarray]:
        return self.busy_sm | self.busy_chip

    @property
    def shorter(self) -> np.ndarray:
        """Cycles of latencies, of memory and of computing, without the longest of the three."""
        others = {name: np.maximum(cycles - self.own[name], 0) for name, cycles in self.busy.items()}
        memory = np.maximum.reduce([others.pop(name) for name in MEMORY])
        parts = [self.single, memory, np.maximum.reduce(list(others.values()))]
        return sum(parts) - np.maximum.reduce(parts)


@dataclass(frozen=True)
class Modelled:
    """float64 (chips,). `cycles` of the launch, of which `start` are its overhead without any block."""

    cycles: np.ndarray
    start: np.ndarray
    fits: Residency
    full: Blocks
    last: Blocks


@dataclass(frozen=True)
class Demands:
    """Cycles of one instance of each unit, per warp. `channel` and `pieces`: for an average DRAM channel, cycles per
    warp and the pieces of memory that the address hash assigns to it.
    """

    partition: dict[str, np.ndarray]
    sm: dict[str, np.ndarray]
    chip: dict[str, np.ndarray]
    channel: np.ndarray
    pieces: np.ndarray


def demands(work: Work, traffic: Traffic) -> Demands:
    warps = work.counters.warps
    return Demands(
        {"issue": issue(work), "registers": register_file(work), **pipes(work), "address": address(work)},
        {"lsu": lsu(work), "link": link(work, traffic)},
        {
            "slice": slices(work, traffic),
            "atomic": atomic(work),
            "dram": dram(work, traffic),
        },
        buses(work, traffic) / warps,
        pieces(work, traffic) / work.chips["dram_channels"] / warps,
    )


def model(work: Work) -> Modelled:
    traffic = traffic_of(work)
    chips, fits, needs, waits = work.chips, residency(work), demands(work, traffic), latency(work, traffic)
    at_a_time = fits.blocks_per_sm * chips["sms"]
    full = together(work, needs, waits, fits.blocks_per_sm, at_a_time)
    last = together(work, needs, waits, np.ceil(fits.left / chips["sms"]), fits.left)
    several, rest = fits.waves > 0, fits.left > 0
    # Blocks of the next wave start as those before them end, so a unit of all SMs stays busy from wave to wave.
    chip = fits.waves * full.on_chip + last.on_chip
    cycles = np.maximum(fits.waves * full.on_sm + rest * last.on_sm, chip)
    cycles += np.where(several, full.shorter, last.shorter) / waits.rounds
    without = fits.waves * full.single + rest * last.single
    # The distributor starts blocks one after the other; by that much less they wait for units.
    starts = np.where(rest, fits.left, at_a_time) * chips["distributor_cycles"]
    cycles += np.maximum(0, starts - np.maximum(0, cycles - without))
    cycles = np.maximum(cycles, work.counters.blocks * chips["distributor_cycles"] + full.single)
    first_warps = np.minimum(work.counters.blocks, at_a_time)[0] * work.block_warps[0]
    start = chips["grid_overhead_cycles"]
    return Modelled(start + cycles + waits.cold_cycles / max(1, first_warps), start, fits, full, last)


def together(work: Work, needs: Demands, waits: Latency, on_sm: np.ndarray, on_chip: np.ndarray) -> Blocks:
    """The cycles of `on_sm` blocks on the fullest SM and `on_chip` on all SMs. While all warps of a block wait for
    memory in order to meet at a barrier, its units only have the work of other blocks.
    """
    start, latencies = work.chips["block_launch_cycles"], waits.cycles + slots(work)
    warps, all_warps = on_sm * work.block_warps, on_chip * work.block_warps
    own, busy = of_sm(work, needs, work.block_warps), of_sm(work, needs, warps)
    single = start + waits.at_once + at_units(work, needs, latencies - waits.at_once, own, work.block_warps)
    several = np.maximum(single, at_units(work, needs, start + latencies, busy, warps))
    several = np.maximum(several, queued(single, all_warps * needs.channel, all_warps * needs.pieces))
    own |= {name: work.block_warps * cycles for name, cycles in needs.chip.items()}
    return Blocks(single, several, own, busy, {name: all_warps * cycles for name, cycles in needs.chip.items()})


def at_units(work: Work, needs: Demands, latencies: np.ndarray, busy: dict[str, np.ndarray], warps) -> np.ndarray:
    """Cycles of `warps` warps on an SM whose units are `busy`. The units of a partition take equally long for each
    warp, so the queue there is half as long (Pollaczek 1930) as at the SM's units, whose accesses have more or fewer
    passes.
    """
    computing = np.maximum.reduce([busy[name] for name in needs.partition])
    memory = np.maximum.reduce([busy[name] for name in needs.sm])
    of_partition = EQUAL_TURNS * warps / work.chips["partitions"]
    return np.maximum(queued(latencies, computing, of_partition), queued(latencies, memory, warps))


def of_sm(work: Work, needs: Demands, warps: np.ndarray) -> dict[str, np.ndarray]:
    """Cycles for which `warps` warps occupy each unit of an SM."""
    of_partition = np.ceil(warps / work.chips["partitions"])
    partition = {name: of_partition * cycles for name, cycles in needs.partition.items()}
    return partition | {name: warps * cycles for name, cycles in needs.sm.items()}


def queued(thinking: np.ndarray, busy: np.ndarray, customers: np.ndarray) -> np.ndarray:
    """The cycles that `customers` take, each of which spends `thinking` cycles away from a unit, and which together
    occupy it for `busy` cycles. The result is the longer of both where one is by far the longer, and longer than both
    where they are similar, since customers meet at the unit by chance.

    Mean values of the closed queue (Reiser and Lavenberg 1980), with Schweitzer's estimate (1979) of the queue that an
    arriving customer meets: for one unit that is a quadratic equation.
    """
    both = thinking + busy
    overlapped = thinking * busy * (1 - 1 / np.maximum(customers, 1))
    return (both + np.sqrt(np.maximum(both**2 - 4 * overlapped, 0))) / 2


def naive_cycles(counters: LaunchCounters, chips: Numbers) -> np.ndarray:
    """Cycles of the busiest unit, with all of its instances equally busy: the baseline that predictions are compared
    with. All units work in parallel, so a launch takes as long as its busiest one, and no longer.
    """
    work = Work(counters, chips)
    needs, warps = demands(work, traffic_of(work)), counters.warps
    partitions = chips["sms"] * chips["partitions"]
    of_units = [cycles * warps / partitions for cycles in needs.partition.values()]
    of_units += [cycles * warps / chips["sms"] for cycles in needs.sm.values()]
    of_units += [cycles * warps for cycles in needs.chip.values()]
    return np.maximum.reduce(of_units)
