"""A warp's way through the pieces of its trace.

Of a long block, only a stretch of the trace is in memory. A warp that comes within a quantum's steps of its end asks
for more, and gets it before the next quantum begins: no cycle depends on where a piece ends.
"""

from gpuprof.jit.internal import call_njit
from gpuprof.timing.state.layout import ACCESS_NBYTES, SECTOR_NUMBER_NBYTES, STARVED, STEP_NBYTES
from gpuprof.timing.state.table_rows import grid_at, piece_of, warp_at, word_at


@call_njit
def enter(machine, warp, address):
    """Makes `warp` continue in the piece whose record is at `address`."""
    w = warp_at(machine, warp)
    piece = piece_of(address)
    row = (w.block - piece.first_block) * grid_at(machine, w.grid).warps_per_block + w.in_block
    w.piece = address
    w.step = piece.steps + word_at(piece.step_start, row).value * STEP_NBYTES
    w.trace_end = piece.steps + word_at(piece.step_start, row + 1).value * STEP_NBYTES
    w.access = piece.accesses + word_at(piece.access_start, row).value * ACCESS_NBYTES
    w.sector = piece.sectors + word_at(piece.sector_start, row).value * SECTOR_NUMBER_NBYTES
    w.final = word_at(piece.final, row).value
    w.step_end = w.trace_end if w.final else max(w.step, w.trace_end - machine.lookahead_nbytes)


@call_njit
def more_steps(machine, warp):
    """Called when `warp` has reached `step_end`: returns 1 when its trace continues."""
    w = warp_at(machine, warp)
    while w.step == w.step_end:
        if w.step_end < w.trace_end:
            w.step_end = w.trace_end
            machine.hungry = 1
        elif w.final:
            return 0
        elif piece_of(w.piece).next == 0:
            # The look-ahead was too short for this quantum, which would change cycles: LiveTrace stops there.
            machine.hungry = STARVED
            return 0
        else:
            enter(machine, warp, piece_of(w.piece).next)
    return 1
