"""When a quantum's memory requests have been served: registers get their cycles, and warps that waited go to sleep until then."""

from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import ENTRY_SHIFT, HOLDING, N_CLASSES, TOKEN
from gpuprof.timing.scoreboard import register_waits, sleep


@cold
def settle(m):
    """Replaces this quantum's tokens by cycles."""
    gpu = m.gpu[0]
    for index in range(gpu.n_loads):
        settle_load(m, index)
    for k in range(gpu.n_blocked):
        unblock(m, m.core.blocked[k])
    gpu.n_loads = 0
    gpu.n_blocked = 0


@hot
def settle_load(m, index):
    """Writes a load's completion to its registers, and to those that folded instructions copied it to."""
    load = m.memory.load[index]
    wi = load.warp
    inst = m.prog.inst[load.pc]
    end = inst.first_dep + inst.n_deps
    for k in range(end - inst.n_writes, end):
        settle_register(m, wi, m.prog.dep[k], index, load.done)
    if m.core.warp[wi].alias:
        for register in range(m.core.board.shape[1]):
            settle_register(m, wi, register, index, load.done)


@hot
def settle_register(m, wi, register, index, done):
    entry = m.core.board[wi, register]
    if entry >> ENTRY_SHIFT == TOKEN + index:
        m.core.board[wi, register] = done << ENTRY_SHIFT | (entry & ((1 << ENTRY_SHIFT) - 1))


@cold
def unblock(m, wi):
    w = m.core.warp[wi]
    if w.state == HOLDING:
        w.ready = max(w.ready, w.stores_done)
    else:
        inst = m.prog.inst[w.pc]
        m.core.until[wi, 0:3] = 0
        register_waits(m, wi, inst)
        w.ready = w.last + 1
        for c in range(N_CLASSES):
            w.ready = max(w.ready, m.core.until[wi, c])
    sleep(m, wi, w.ready)
