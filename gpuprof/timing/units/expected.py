"""Prefetching on the host: rows that an SM will need are requested while other SMs run.

The state of all SMs is larger than the host's caches, and a quantum reads all of it, so without this most of the time
goes in waiting for memory. Nothing here changes the state of the simulation. An SM that runs in the quantum passes
three stages before: its own rows, then those of the warps that will issue, then what these read.
"""

from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import HOST_LINE_NBYTES, LANE, PARTITION, SM, VECTOR_WORDS, WARP
from gpuprof.timing.state.table_rows import (
    board_place,
    dep_at,
    inst_at,
    lowest_bit,
    part_at,
    prefetch,
    wake_place,
    warp_at,
    words_until,
)

SM_NBYTES, PARTITION_NBYTES, LANE_NBYTES, WARP_NBYTES = (kind.itemsize for kind in (SM, PARTITION, LANE, WARP))
HOT_NBYTES = 4 * HOST_LINE_NBYTES  # of a warp that issues


@inline_njit
def expect_rows(base, row_nbytes, first, count):
    """Asks for `count` rows of a table, from number `first` on."""
    begin = base + first * row_nbytes
    for nbytes in range(0, count * row_nbytes, HOST_LINE_NBYTES):
        prefetch(begin + nbytes, 0)


@call_njit
def expect_sm(machine, sm):
    """The rows of an SM and its partitions."""
    first = sm * machine.partitions
    expect_rows(machine.sm_table, SM_NBYTES, sm, 1)
    expect_rows(machine.part_table, PARTITION_NBYTES, first, machine.partitions)
    expect_rows(machine.wake_table, 8 * machine.warps_per_partition, first, machine.partitions)


@call_njit
def expect_warps(machine, sm, end):
    """The rows of the warps of an SM that are ready, or will be examined before cycle `end`."""
    for partition in range(sm * machine.partitions, (sm + 1) * machine.partitions):
        part = part_at(machine, partition)
        part.expected = 0
        if part.next_event >= end:
            continue
        lanes = part.ready_lanes
        times = wake_place(machine, partition, 0)
        for lane in range(0, machine.warps_per_partition // VECTOR_WORDS * VECTOR_WORDS, VECTOR_WORDS):
            lanes |= words_until(times, lane, end - 1) << lane
        part.expected = lanes
        expect_rows(machine.lane_table, LANE_NBYTES * machine.warps_per_partition, partition, 1)
        while lanes:
            warp = partition * machine.warps_per_partition + lowest_bit(lanes)
            lanes &= lanes - 1
            row = machine.warp_table + warp * WARP_NBYTES
            for nbytes in range(0, HOT_NBYTES, HOST_LINE_NBYTES):
                prefetch(row + nbytes, 0)


@call_njit
def expect_next(machine, sm):
    """Trace and registers that the warps of an SM read for the instruction that they are at and the next one."""
    for partition in range(sm * machine.partitions, (sm + 1) * machine.partitions):
        lanes = part_at(machine, partition).expected
        while lanes:
            warp = partition * machine.warps_per_partition + lowest_bit(lanes)
            lanes &= lanes - 1
            w = warp_at(machine, warp)
            if w.pc < 0:
                continue
            prefetch(w.step, 0)
            prefetch(w.access, 0)
            prefetch(w.sector, 0)
            last = w.pc + 1 if w.pc + 1 < w.block_end else w.pc
            end = inst_at(machine, last).first_dep + inst_at(machine, last).n_deps
            for k in range(inst_at(machine, w.pc).first_dep, end):
                prefetch(board_place(machine, warp, dep_at(machine, k).value), 0)
