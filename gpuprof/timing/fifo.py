"""The way of a record out of the SM: a FIFO of a few places, which drains over a port of its own. What finds it full is dropped."""

from gpuprof.timing.jit import cold
from gpuprof.timing.tables import drained_at, grid_at, sm_at


@cold
def enter(m, sm, g, t):
    """A record of grid g comes to the FIFO in cycle t: 1 when it finds a place. It is due, and counted as dropped when it does not."""
    s = sm_at(m, sm)
    grid = grid_at(m, g)
    grid.samples_due += 1
    depth = m.fifo_depth
    place = s.records % depth
    if drained_at(m, sm, place).value > t:
        grid.samples_dropped += 1
        return 0
    newest = drained_at(m, sm, (s.records - 1) % depth).value
    drained_at(m, sm, place).value = max(t, newest) + m.drain_cycles
    s.records += 1
    return 1
