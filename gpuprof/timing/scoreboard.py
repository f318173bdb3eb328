"""From one instruction of a warp to the next: what it must wait for, and until when."""

from gpuprof.isa.stalls import INDEX
from gpuprof.timing.fetch import constant_line, fetch
from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import (
    CLASS_BRANCH,
    CLASS_CONSTANT,
    CLASS_FETCH,
    CLASS_WAIT,
    ENTRY_CLASS_MASK,
    ENTRY_PORT_MASK,
    ENTRY_PORT_SHIFT,
    ENTRY_SHIFT,
    HOLDING,
    N_CLASSES,
    NEVER,
    PORT_LSU,
    PORT_NONE,
    READY,
    TOKEN,
    WAITING,
)
from gpuprof.timing.ledger import busy_cycles
from gpuprof.timing.static import FOLDED

DRAIN = INDEX["drain"]


@hot
def write_results(m, wi, inst, cycle):
    """The registers an instruction writes are ready at `cycle`, which may be a token."""
    entry = cycle << ENTRY_SHIFT | inst.port << ENTRY_PORT_SHIFT | inst.result_class
    end = inst.first_dep + inst.n_deps
    for k in range(end - inst.n_writes, end):
        m.core.board[wi, m.prog.dep[k]] = entry


@hot
def fold(m, wi, inst):
    """A folded instruction renames registers: its result is ready when its last source is."""
    w = m.core.warp[wi]
    end = inst.first_dep + inst.n_deps
    entry = 0
    for k in range(inst.first_dep, end - inst.n_writes):
        entry = max(entry, m.core.board[wi, m.prog.dep[k]])
    if entry >> ENTRY_SHIFT >= TOKEN:
        w.alias = 1
    for k in range(end - inst.n_writes, end):
        m.core.board[wi, m.prog.dep[k]] = entry


@hot
def register_waits(m, wi, inst):
    """Raises the ends of the register classes to those of the registers that an instruction names."""
    for k in range(inst.first_dep, inst.first_dep + inst.n_deps):
        entry = m.core.board[wi, m.prog.dep[k]]
        kind = entry & ENTRY_CLASS_MASK
        cycle = entry >> ENTRY_SHIFT
        if kind == CLASS_WAIT and (entry >> ENTRY_PORT_SHIFT & ENTRY_PORT_MASK) != inst.port:
            cycle += m.chip[0].cross_pipe_cycles
        if cycle > m.core.until[wi, kind]:
            m.core.until[wi, kind] = cycle


@hot
def slot_port(inst, slots_left):
    """The port that the next issue slot of an instruction needs."""
    if slots_left > 1 and inst.port == PORT_LSU:
        return PORT_NONE
    if inst.mixed and (inst.slots - slots_left) % 3:
        return PORT_NONE
    return inst.port


@cold
def sleep(m, wi, cycle):
    """Warp `wi` is looked at again at `cycle`."""
    w = m.core.warp[wi]
    m.core.lane[w.partition, w.lane].wake = cycle
    part = m.core.part[w.partition]
    part.next_wake = min(part.next_wake, cycle)
    part.next_event = min(part.next_event, cycle)
    sm = m.core.sm[part.sm]
    sm.next_event = min(sm.next_event, cycle)


@cold
def block_until_served(m, wi):
    """Warp `wi` depends on memory whose time is known when the quantum's requests are served."""
    m.core.blocked[m.gpu[0].n_blocked] = wi
    m.gpu[0].n_blocked += 1


@cold
def become_ready(m, wi, cycle):
    """No dependency is left from `cycle` on."""
    w = m.core.warp[wi]
    inst = m.prog.inst[w.pc]
    lane = m.core.lane[w.partition, w.lane]
    lane.port = slot_port(inst, w.slots_left)
    lane.ready = 1
    lane.wake = NEVER
    m.core.part[w.partition].n_ready += 1
    w.state = READY
    w.ready = cycle
    w.busy_mark = busy_cycles(m.core.port[w.partition, lane.port], max(cycle, w.last + 1))


@cold
def wait_for_dependencies(m, wi, earliest):
    """Puts the warp to sleep until the last of its dependencies ends; ready at once when that is by `earliest`."""
    w = m.core.warp[wi]
    ready = earliest
    for c in range(N_CLASSES):
        ready = max(ready, m.core.until[wi, c])
    if ready == earliest:
        become_ready(m, wi, ready)
        return
    w.state = WAITING
    w.ready = ready
    if ready >= TOKEN:
        block_until_served(m, wi)
    else:
        sleep(m, wi, ready)


@cold
def hold(m, wi, reason, cycle):
    """The instruction has issued, but keeps its warp until `cycle`; NEVER: until somebody else says so."""
    w = m.core.warp[wi]
    w.state = HOLDING
    w.hold_reason = reason
    w.ready = cycle
    if cycle < NEVER:
        sleep(m, wi, cycle)


@hot
def advance(m, wi):
    """Moves to the next instruction of the trace: 0 there is none, 1 it follows in the code, 2 it is the target of a jump."""
    w = m.core.warp[wi]
    if w.pc + 1 < w.block_end:
        w.pc += 1
        return 1
    if w.step == w.step_end:
        return 0
    step = m.trace.step[w.step]
    w.step += 1
    w.mask = step.mask
    before = w.pc
    w.pc = m.prog.block[step.block]
    w.block_end = m.prog.block[step.block + 1]
    return 1 if w.pc == before + 1 else 2


@cold
def next_instruction(m, wi, earliest):
    """Moves warp `wi` on to its next instruction that takes an issue slot; it may issue from cycle `earliest` on.

    Returns 1, or 0 when the warp has come to its end and stands at its last instruction.
    """
    w = m.core.warp[wi]
    last = w.pc
    jumped = False
    while True:
        way = advance(m, wi)
        if way == 0:
            w.pc = last
            return 0
        jumped = jumped or (way == 2 and last >= 0)
        if m.prog.inst[w.pc].kind != FOLDED:
            break
        fold(m, wi, m.prog.inst[w.pc])
    inst = m.prog.inst[w.pc]
    w.slots_left = inst.slots
    for c in range(N_CLASSES):
        m.core.until[wi, c] = 0
    register_waits(m, wi, inst)
    asked = w.last + 1
    if jumped:
        asked = w.last + m.chip[0].branch_cycles
        m.core.until[wi, CLASS_BRANCH] = asked
    if inst.line != w.line:
        w.line = inst.line
        m.core.until[wi, CLASS_FETCH] = fetch(m, w.partition, inst.line, asked)
    if inst.constant_line >= 0:
        m.core.until[wi, CLASS_CONSTANT] = constant_line(m, m.core.part[w.partition].sm, inst.constant_line, asked)
    wait_for_dependencies(m, wi, earliest)
    return 1
