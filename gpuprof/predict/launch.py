"""A launch's cycles, of those of its blocks' units.

Blocks that run together wait for each other at the units: a warp takes as long as its own latencies, or as long as the
busiest unit is busy with all of them, and longer where both are alike (waiting.py). Warps start together, so what is
shorter shows once: for the share of one wait among all (interval analysis, Karkhanis and Smith 2004; GCoM, Lee et al.
2022).
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

# What an access goes through, one after the other; warps compute before and behind.
MEMORY = ("address", "lsu", "link", "slice", "atomic", "dram")
EQUAL_TURNS = 2  # customers with turns of equal length are as many of half the line


@dataclass(frozen=True)
class Blocks:
    """float64 (chips,), of a wave of blocks. `alone`: cycles of one of them without others, for `own` of which it keeps
    each unit; `on_sm`: of all on the fullest SM; `busy_sm` and `busy_chip`: of each unit of that SM and of those that
    all SMs share, by its name.
    """

    alone: np.ndarray
    on_sm: np.ndarray
    own: dict[str, np.ndarray]
    busy_sm: dict[str, np.ndarray]
    busy_chip: dict[str, np.ndarray]

    @property
    def on_chip(self) -> np.ndarray:
        """Cycles for which it keeps the busiest unit that all SMs share."""
        return np.maximum.reduce(list(self.busy_chip.values()))

    @property
    def busy(self) -> dict[str, np.ndarray]:
        return self.busy_sm | self.busy_chip

    @property
    def shorter(self) -> np.ndarray:
        """Cycles of latencies, of memory and of what computes, without the longest of the three."""
        others = {name: np.maximum(cycles - self.own[name], 0) for name, cycles in self.busy.items()}
        memory = np.maximum.reduce([others.pop(name) for name in MEMORY])
        parts = [self.alone, memory, np.maximum.reduce(list(others.values()))]
        return sum(parts) - np.maximum.reduce(parts)


@dataclass(frozen=True)
class Modelled:
    """float64 (chips,). `cycles` of the launch, of which the launch itself, without any block, takes `start`."""

    cycles: np.ndarray
    start: np.ndarray
    fits: Residency
    full: Blocks
    last: Blocks


@dataclass(frozen=True)
class Demands:
    """Cycles of one instance of each unit, for a warp. `channel` and `pieces`: of an average DRAM channel, cycles of a
    warp and pieces of memory that a hash gives it.
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
    # Blocks of the next wave start as those before them end, so a unit of all SMs goes on from wave to wave.
    chip = fits.waves * full.on_chip + last.on_chip
    cycles = np.maximum(fits.waves * full.on_sm + rest * last.on_sm, chip)
    cycles += np.where(several, full.shorter, last.shorter) / waits.rounds
    without = fits.waves * full.alone + rest * last.alone
    # What the distributor takes to start one block after the other, they wait that much less for units.
    starts = np.where(rest, fits.left, at_a_time) * chips["distributor_cycles"]
    cycles += np.maximum(0, starts - np.maximum(0, cycles - without))
    cycles = np.maximum(cycles, work.counters.blocks * chips["distributor_cycles"] + full.alone)
    first_warps = np.minimum(work.counters.blocks, at_a_time)[0] * work.block_warps[0]
    start = chips["grid_overhead_cycles"]
    return Modelled(start + cycles + waits.cold_cycles / max(1, first_warps), start, fits, full, last)


def together(work: Work, needs: Demands, waits: Latency, on_sm: np.ndarray, on_chip: np.ndarray) -> Blocks:
    """`on_sm` blocks on the fullest SM, `on_chip` on all. While all warps of a block wait for memory, to meet at a
    barrier, its units have nothing to do but for other blocks.
    """
    start, latencies = work.chips["block_launch_cycles"], waits.cycles + slots(work)
    warps, all_warps = on_sm * work.block_warps, on_chip * work.block_warps
    own, busy = of_sm(work, needs, work.block_warps), of_sm(work, needs, warps)
    alone = start + waits.at_once + at_units(work, needs, latencies - waits.at_once, own, work.block_warps)
    several = np.maximum(alone, at_units(work, needs, start + latencies, busy, warps))
    several = np.maximum(several, queued(alone, all_warps * needs.channel, all_warps * needs.pieces))
    own |= {name: work.block_warps * cycles for name, cycles in needs.chip.items()}
    return Blocks(alone, several, own, busy, {name: all_warps * cycles for name, cycles in needs.chip.items()})


def at_units(work: Work, needs: Demands, latencies: np.ndarray, busy: dict[str, np.ndarray], warps) -> np.ndarray:
    """Cycles of so many warps on an SM, whose units are `busy`. A partition's units take equally long for each warp, so
    half as many wait there for their turn (Pollaczek 1930) as at the SM's, whose accesses have more or fewer passes.
    """
    computing = np.maximum.reduce([busy[name] for name in needs.partition])
    memory = np.maximum.reduce([busy[name] for name in needs.sm])
    of_partition = EQUAL_TURNS * warps / work.chips["partitions"]
    return np.maximum(queued(latencies, computing, of_partition), queued(latencies, memory, warps))


def of_sm(work: Work, needs: Demands, warps: np.ndarray) -> dict[str, np.ndarray]:
    """For how long so many warps keep each unit of an SM."""
    of_partition = np.ceil(warps / work.chips["partitions"])
    partition = {name: of_partition * cycles for name, cycles in needs.partition.items()}
    return partition | {name: warps * cycles for name, cycles in needs.sm.items()}


def queued(thinking: np.ndarray, busy: np.ndarray, customers: np.ndarray) -> np.ndarray:
    """Cycles that `customers` take, each of which is away from a unit for `thinking` cycles, and which keep it `busy`
    together. As long as the longer of both where that is by far the longer; longer than both where they are alike,
    since customers meet at the unit by chance.

    The closed queue's mean values (Reiser and Lavenberg 1980) with Schweitzer's estimate of the line that an arrival
    finds (1979): for one unit that is a quadratic equation.
    """
    both = thinking + busy
    overlapped = thinking * busy * (1 - 1 / np.maximum(customers, 1))
    return (both + np.sqrt(np.maximum(both**2 - 4 * overlapped, 0))) / 2


def naive_cycles(counters: LaunchCounters, chips: Numbers) -> np.ndarray:
    """The cycles of the slowest unit, all of its instances equally busy."""
    work = Work(counters, chips)
    needs, warps = demands(work, traffic_of(work)), counters.warps
    partitions = chips["sms"] * chips["partitions"]
    of_units = [cycles * warps / partitions for cycles in needs.partition.values()]
    of_units += [cycles * warps / chips["sms"] for cycles in needs.sm.values()]
    of_units += [cycles * warps for cycles in needs.chip.values()]
    return np.maximum.reduce(of_units)
