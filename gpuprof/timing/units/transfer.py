"""How long a copy takes, in plain arithmetic that compiled code and Python share."""

from gpuprof.jit.internal import inline_njit
from gpuprof.tables.engines import ENGINE_IN, ENGINE_OUT


@inline_njit
def other_way(engine):
    """The copy engine of the other direction, -1 of what has none."""
    if engine == ENGINE_IN:
        return ENGINE_OUT
    if engine == ENGINE_OUT:
        return ENGINE_IN
    return -1


@inline_njit
def transfer_end(moving, transfer_cycles, busy_until, second_way_permille):
    """The cycle in which a copy ends whose bytes move from cycle `moving` on, and would in `transfer_cycles` if no
    other went the other way.

    While the other engine is busy, up to cycle `busy_until`, the copy that began later has what the link has left:
    both together move 1 + second_way_permille / 1000 times the bytes of one. A stream of copies each way then has half
    of that.
    """
    slow_cycles = max(0, busy_until - moving)
    moved_cycles = slow_cycles * second_way_permille // 1000
    if transfer_cycles <= moved_cycles:
        return moving + transfer_cycles * 1000 // second_way_permille
    return moving + slow_cycles + transfer_cycles - moved_cycles
