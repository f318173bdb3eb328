"""The filter of a trace cell: it selects the samples that are wanted. A sample that does not pass is not due and takes
no room anywhere.
"""

import numpy as np

from gpuprof.base.block_order import linear_block
from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.table_rows import gate_at, grid_at, warp_at, watched_at

linear = inline_njit(linear_block)


@inline_njit
def passes(machine, sm, warp, cycle):
    """True when a sample of warp `warp` in `cycle` is selected."""
    if machine.filtered == 0:
        return True
    w = warp_at(machine, warp)
    gate = gate_at(machine, w.grid)
    since = cycle - grid_at(machine, w.grid).start_cycle
    return (
        watched_at(machine, w.grid, sm).value != 0
        and gate.first_block <= block_in_grid(machine, warp) <= gate.last_block
        and gate.first_warp <= w.in_block <= gate.last_warp
        and gate.first_cycle <= cycle <= gate.last_cycle
        and gate.first_launch_cycle <= since <= gate.last_launch_cycle
    )


@call_njit
def block_in_grid(machine, warp):
    """The linear index in the grid of a warp's block."""
    w = warp_at(machine, warp)
    grid = grid_at(machine, w.grid)
    return linear(np.int64(w.block), grid.clusters_x, grid.clusters_y, grid.cluster_x, grid.cluster_y, grid.cluster_z)
