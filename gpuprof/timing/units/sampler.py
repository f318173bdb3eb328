"""The trace cell of an SM: the records of a sampled cycle. It does not change the state that it observes.

A cycle is sampled after its issues. A record holds every reason that prevented the warp from issuing in that very
cycle, the instruction it was at, and whether it or its scheduler issued. It is taken (the mode says which warps),
passes the filter, and enters the FIFO.
"""

import numpy as np

from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.tables.samples import ISSUED, SCHEDULER_ISSUED, SM_SHIFT
from gpuprof.timing.sampling.configuration import ALL_WARPS, BY_TRIGGER, RANDOM, ROUND_ROBIN
from gpuprof.timing.sampling.triggers import L2_MISS
from gpuprof.timing.state.table_rows import grid_at, part_at, record_at, sm_at, warp_at
from gpuprof.timing.units.counter_record import write_counters
from gpuprof.timing.units.fifo import enter
from gpuprof.timing.units.ledger import SELECTED
from gpuprof.timing.units.sample_filter import block_in_grid, passes
from gpuprof.timing.units.warp_state import holding_reasons, resident


@inline_njit
def splitmix64(state):
    """The next value of the generator of Steele, Lea and Flood (2014), used as a hash of its state."""
    z = np.uint64(state) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


@inline_njit
def draw(machine, unit, cycle, bound):
    """A random number below `bound` that depends only on the seed, the unit that draws and the cycle: a longer period
    has some of the samples of a shorter one. Units are the SMs, and after them all partitions of the GPU.
    """
    value = splitmix64(splitmix64(splitmix64(machine.seed) ^ np.uint64(unit)) ^ np.uint64(cycle))
    return np.int64(value % np.uint64(bound))


@call_njit
def count_resident(machine, first, last, cycle):
    n = 0
    for warp in range(first, last):
        n += resident(machine, warp, cycle)
    return n


@call_njit
def sample(machine, sm, cycle):
    """Takes the records of `cycle`, whose issues are done."""
    s = sm_at(machine, sm)
    first_partition = sm * machine.partitions + machine.first_partition
    first = first_partition * machine.warps_per_partition
    last = first + machine.partitions_in_scope * machine.warps_per_partition
    n = count_resident(machine, first, last, cycle)
    if machine.mode == RANDOM:
        take_random(machine, sm, first, last, sm, n, cycle)
    elif machine.mode == ALL_WARPS:
        for warp in range(first, last):
            take(machine, sm, warp, n, cycle)
    elif machine.mode == ROUND_ROBIN:
        sample_number = (cycle - machine.phase_cycles) // machine.period_cycles if machine.period_cycles else s.taken
        position = sample_number % (last - first)
        warp = (
            first
            + position % machine.partitions_in_scope * machine.warps_per_partition
            + position // machine.partitions_in_scope
        )
        take(machine, sm, warp, n, cycle)
    elif machine.mode == BY_TRIGGER:
        # The slot of a warp whose miss is known later may be another's by now, which may even issue in the cycle in
        # which it starts.
        if first <= s.event_warp < last and (
            machine.trigger != L2_MISS or warp_at(machine, s.event_warp).start < cycle
        ):
            take(machine, sm, s.event_warp, n, cycle)
    else:
        for p in range(first_partition, first_partition + machine.partitions_in_scope):
            if part_at(machine, p).issued != cycle:
                k = p * machine.warps_per_partition
                n = count_resident(machine, k, k + machine.warps_per_partition, cycle)
                take_random(machine, sm, k, k + machine.warps_per_partition, machine.sms + p, n, cycle)
    s.taken += 1


@call_njit
def take_random(machine, sm, first, last, unit, n_resident, cycle):
    """Takes one of the `n_resident` warps in slots `first` to `last`, each with the same probability."""
    if n_resident == 0:
        return
    chosen = draw(machine, unit, cycle, n_resident)
    for warp in range(first, last):
        if resident(machine, warp, cycle):
            if chosen == 0:
                take(machine, sm, warp, n_resident, cycle)
                return
            chosen -= 1


@call_njit
def take(machine, sm, warp, n_resident, cycle):
    """The record of one warp of n, if it is there, the filter lets it pass and the FIFO has room."""
    # In this order: a sample that the filter stops is not due and takes no place in the FIFO.
    if (
        not resident(machine, warp, cycle)
        or not passes(machine, sm, warp, cycle)
        or enter(machine, sm, warp_at(machine, warp).grid, cycle) == 0
    ):
        return
    w = warp_at(machine, warp)
    grid = grid_at(machine, w.grid)
    r = record_at(machine, machine.n_samples)
    issued = w.last == cycle
    pc = w.issued_pc if issued else w.pc
    if machine.mode == BY_TRIGGER and sm_at(machine, sm).event_pc >= 0:
        pc = sm_at(machine, sm).event_pc
    r.pc = grid.pc_base + 16 * pc
    r.stall_sm = (
        stall_field(machine, 1 << SELECTED if issued else holding_reasons(machine, warp, cycle)) | sm << SM_SHIFT
    )
    r.cycle = cycle
    r.launch = grid.launch
    r.block = block_in_grid(machine, warp)
    r.mask = w.issued_mask if issued else w.mask
    r.warp_slot = w.lane * machine.partitions + w.partition % machine.partitions
    r.flags = issued * ISSUED | (part_at(machine, w.partition).issued == cycle) * SCHEDULER_ISSUED
    r.warp = w.in_block
    r.resident = n_resident
    machine.n_samples += 1
    if machine.with_counters and sm_at(machine, sm).counted_cycle != cycle:
        sm_at(machine, sm).counted_cycle = cycle
        write_counters(machine, sm, w.grid, cycle)


@inline_njit
def stall_field(machine, reasons):
    """All reasons as bits, or the number of the first."""
    if machine.stall_index == 0:
        return reasons
    number = 0
    while reasons >> number & 1 == 0:
        number += 1
    return number
