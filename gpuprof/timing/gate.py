"""The filter of a trace cell: which of the samples that it takes are wanted. What does not pass is not due and takes no room anywhere."""

from gpuprof.timing.jit import hot
from gpuprof.timing.tables import gate_at, grid_at, warp_at, watched_at


@hot
def passes(m, sm, wi, t):
    """Whether a sample of warp `wi` in cycle t is wanted."""
    if m.filtered == 0:
        return True
    w = warp_at(m, wi)
    gate = gate_at(m, w.grid)
    since = t - grid_at(m, w.grid).start_cycle
    return (
        watched_at(m, w.grid, sm).value != 0
        and gate.first_block <= w.block <= gate.last_block
        and gate.first_warp <= w.in_block <= gate.last_warp
        and gate.first_cycle <= t <= gate.last_cycle
        and gate.first_launch_cycle <= since <= gate.last_launch_cycle
    )
