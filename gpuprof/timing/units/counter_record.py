"""The counter record: what an SM's counters say in a cycle that is sampled."""

import numpy as np

from gpuprof.isa.row import PIPES
from gpuprof.jit.internal import call_njit
from gpuprof.timing.state.layout import N_PORTS, PORTS, SECTOR_NBYTES
from gpuprof.timing.state.table_rows import counted_at, grid_at, part_at, port_at, presence_at, warp_at
from gpuprof.timing.units.ledger import NOT_SELECTED
from gpuprof.timing.units.warp_state import holding_reasons, resident

# The bit of each port's pipe; what needs no pipe keeps none busy.
PIPE_BIT = np.array([0 if port == "none" else 1 << PIPES.index(port) for port in PORTS], np.int64)


@call_njit
def write_counters(machine, sm, grid_index, cycle):
    """Writes a row of counters for `cycle`, whose issues are done, in addition to the records of the grid's warps."""
    r = counted_at(machine, machine.n_counted)
    grid = grid_at(machine, grid_index)
    presence = presence_at(machine, grid_index, sm)
    issued = 0
    pipes = 0
    for p in range(sm * machine.partitions, (sm + 1) * machine.partitions):
        issued += part_at(machine, p).issued == cycle
        for k in range(N_PORTS):
            # Busy is a pipe that takes an instruction in this cycle or can take none (docs/model/samples.md, The
            # record).
            if port_at(machine, p, k).issued == cycle or port_at(machine, p, k).free > cycle:
                pipes |= PIPE_BIT[k]
    active = 0
    eligible = 0
    for wi in range(sm * machine.warp_slots, (sm + 1) * machine.warp_slots):
        if resident(machine, wi, cycle):
            active += 1
            eligible += warp_at(machine, wi).last == cycle or holding_reasons(machine, wi, cycle) == 1 << NOT_SELECTED
    r.cycle = cycle
    r.launch = grid.launch
    r.pipes_busy = pipes
    r.sm = sm
    r.issued = issued
    r.eligible = eligible
    r.active = active
    r.l1_sectors = presence.l1_sectors
    r.l1_hits = presence.l1_hits
    # L2 and DRAM serve requests after the quantum, so these counts are as of its start.
    r.l2_sectors = grid.l2_sectors
    r.l2_hits = grid.l2_hits
    r.dram_nbytes = (grid.dram_read_sectors + grid.dram_write_sectors) * SECTOR_NBYTES
    machine.n_counted += 1
