"""The filter of a trace cell: which of the samples that it takes are wanted. What does not pass is not due and takes no
room anywhere.
"""

import numpy as np

from gpuprof.compiled.options import cold, hot
from gpuprof.timing.state.tables import gate_at, grid_at, warp_at, watched_at


@hot
def passes(machine, sm, warp, cycle):
    """Whether a sample of warp `warp` in `cycle` is wanted."""
    if machine.filtered == 0:
        return True
    w = warp_at(machine, warp)
    gate = gate_at(machine, w.grid)
    since = cycle - grid_at(machine, w.grid).start_cycle
    return (
        watched_at(machine, w.grid, sm).value != 0
        and gate.first_block <= linear_block(machine, warp) <= gate.last_block
        and gate.first_warp <= w.in_block <= gate.last_warp
        and gate.first_cycle <= cycle <= gate.last_cycle
        and gate.first_launch_cycle <= since <= gate.last_launch_cycle
    )


@cold
def linear_block(machine, warp):
    """The linear index in the grid of a warp's block. Blocks run cluster by cluster, which is another order where
    clusters extend along y or z.
    """
    w = warp_at(machine, warp)
    grid = grid_at(machine, w.grid)
    number = np.int64(w.block)
    if grid.cluster_y == 1 and grid.cluster_z == 1:
        return number
    cluster, rank = divmod(number, grid.cluster_x * grid.cluster_y * grid.cluster_z)
    x = cluster % grid.clusters_x * grid.cluster_x + rank % grid.cluster_x
    y = cluster // grid.clusters_x % grid.clusters_y * grid.cluster_y + rank // grid.cluster_x % grid.cluster_y
    z = cluster // (grid.clusters_x * grid.clusters_y) * grid.cluster_z + rank // (grid.cluster_x * grid.cluster_y)
    return x + grid.clusters_x * grid.cluster_x * (y + grid.clusters_y * grid.cluster_y * z)
