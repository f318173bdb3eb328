"""A launch's cycles, of those of its blocks' units.

Blocks that run together wait for each other at the units: a warp takes as long as its own latencies, or as long as the
busiest unit is busy with all of them, whichever is longer. Warps start together, so what is shorter shows once: for the
share of one wait among all (interval analysis, Karkhanis and Smith 2004; GCoM, Lee et al. 2022).
"""

from dataclasses import dataclass

import numpy as np

from gpuprof.predict.traffic import Traffic, traffic_of
from gpuprof.predict.units.blocks import Residency, residency
from gpuprof.predict.units.dram import dram
from gpuprof.predict.units.issue import issue, slots
from gpuprof.predict.units.latency import Latency, latency
from gpuprof.predict.units.link import link
from gpuprof.predict.units.lsu import address, lsu
from gpuprof.predict.units.pipes import pipes
from gpuprof.predict.units.register_file import register_file
from gpuprof.predict.units.slices import atomic, slices
from gpuprof.predict.work import Work


@dataclass(frozen=True)
class Blocks:
    """float64 (chips,), of a wave of blocks. `alone`: cycles of one of them without others, for `own` of which it keeps
    its busiest unit; `busy_sm` and `busy_chip`: of each unit of the fullest SM and of those that all SMs share, by its
    name.
    """

    alone: np.ndarray
    own: np.ndarray
    busy_sm: dict[str, np.ndarray]
    busy_chip: dict[str, np.ndarray]

    @property
    def on_sm(self) -> np.ndarray:
        """Cycles of the wave on its SM."""
        return np.maximum.reduce([self.alone, *self.busy_sm.values()])

    @property
    def on_chip(self) -> np.ndarray:
        """Cycles for which it keeps the busiest unit that all SMs share."""
        return np.maximum.reduce(list(self.busy_chip.values()))

    @property
    def busy(self) -> dict[str, np.ndarray]:
        return self.busy_sm | self.busy_chip


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
    """Cycles of one instance of each unit, for a warp."""

    partition: dict[str, np.ndarray]
    sm: dict[str, np.ndarray]
    chip: dict[str, np.ndarray]


def demands(work: Work, traffic: Traffic) -> Demands:
    return Demands(
        {"issue": issue(work), "registers": register_file(work), **pipes(work), "address": address(work)},
        {"lsu": lsu(work), "link": link(work, traffic)},
        {
            "slice": slices(work, traffic),
            "atomic": atomic(work),
            "dram": dram(work, traffic),
        },
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
    others = [np.maximum(busiest(wave) - wave.own, 0) for wave in (full, last)]
    cycles += np.minimum(full.alone, np.where(several, *others)) / waits.rounds
    without = fits.waves * full.alone + rest * last.alone
    # What the distributor takes to start one block after the other, they wait that much less for units.
    starts = np.where(rest, fits.left, at_a_time) * chips["distributor_cycles"]
    cycles += np.maximum(0, starts - np.maximum(0, cycles - without))
    cycles = np.maximum(cycles, work.counters.blocks * chips["distributor_cycles"] + full.alone)
    first_warps = np.minimum(work.counters.blocks, at_a_time)[0] * work.block_warps[0]
    start = chips["grid_overhead_cycles"]
    return Modelled(start + cycles + waits.cold_cycles / max(1, first_warps), start, fits, full, last)


def busiest(blocks: Blocks) -> np.ndarray:
    return np.maximum.reduce(list(blocks.busy.values()))


def together(work: Work, needs: Demands, waits: Latency, on_sm: np.ndarray, on_chip: np.ndarray) -> Blocks:
    """`on_sm` blocks on the fullest SM, `on_chip` on all."""
    own = np.maximum.reduce(list(of_sm(work, needs, work.block_warps).values()))
    of_chip = {name: on_chip * work.block_warps * cycles for name, cycles in needs.chip.items()}
    return Blocks(alone(work, waits, own), own, of_sm(work, needs, on_sm * work.block_warps), of_chip)


def of_sm(work: Work, needs: Demands, warps: np.ndarray) -> dict[str, np.ndarray]:
    """For how long so many warps keep each unit of an SM."""
    of_partition = np.ceil(warps / work.chips["partitions"])
    partition = {name: of_partition * cycles for name, cycles in needs.partition.items()}
    return partition | {name: warps * cycles for name, cycles in needs.sm.items()}


def alone(work: Work, waits: Latency, own: np.ndarray) -> np.ndarray:
    """A block without others, whose warps keep their busiest unit for `own`. While all of them wait for memory, to meet
    at a barrier, the unit has nothing to do.
    """
    latencies = waits.cycles + slots(work) - waits.at_once
    together = np.maximum(latencies, own) + np.minimum(latencies, own) / waits.rounds
    return work.chips["block_launch_cycles"] + waits.at_once + together
