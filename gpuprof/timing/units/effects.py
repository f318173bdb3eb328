"""The effects of SMs, in a quantum, on what is not their own: on grids, on the pool, on the rows of blocks and warps
that have ended. An SM only notes it, since other SMs may run on other threads; it is carried out when the quantum ends,
in the order of the SMs (engine.carry_out). No SM sees it sooner: what follows from it begins after the quantum.
"""

from gpuprof.jit.internal import call_njit
from gpuprof.timing.state.table_rows import effect_at

BLOCK_ENDS, BLOCK_SIGNALS, WARP_ENDS, WARP_LAUNCHES, WARP_POLLS = range(5)


@call_njit
def note(machine, kind, subject, cycle):
    """A block slot's, or a warp's, effect in `cycle`."""
    effect = effect_at(machine, machine.n_effects)
    effect.kind = kind
    effect.subject = subject
    effect.cycle = cycle
    machine.n_effects += 1
