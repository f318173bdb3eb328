"""From one instruction of a warp to the next: the dependencies that it waits for, and the cycles in which they end."""

import numpy as np

from gpuprof.isa.stalls import INDEX
from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import (
    ACCESS_NBYTES,
    CLASS_BRANCH,
    CLASS_CONSTANT,
    CLASS_FETCH,
    CLASS_WAIT,
    ENTRY_CLASS_MASK,
    ENTRY_MAKER_MASK,
    ENTRY_MAKER_SHIFT,
    ENTRY_SHIFT,
    HOLDING,
    KIND,
    NEVER,
    PORT_LSU,
    PORT_NONE,
    PORT_TENSOR,
    READY,
    STEP_NBYTES,
    TOKEN,
    WAITING,
)
from gpuprof.timing.state.static_program import COPY_WAIT, FOLDED, JOINED, MULTIPLY, SLOW_PATH
from gpuprof.timing.state.table_rows import (
    access_of,
    blocked_at,
    board_at,
    bypass_at,
    cause_at,
    dep_at,
    first_of_block_at,
    grid_at,
    inst_at,
    lane_at,
    lowest_bit,
    maker_at,
    part_at,
    port_at,
    second_at,
    second_maker_at,
    sm_at,
    step_of,
    until_at,
    wake_at,
    warp_at,
)
from gpuprof.timing.units.async_copies import group_waits
from gpuprof.timing.units.instruction_fetch import constant_line, fetch, missed
from gpuprof.timing.units.ledger import busy_cycles, held_cycles
from gpuprof.timing.units.trace_cursor import more_steps

MOST_BYPASS = 8  # the most that a chip's bypass may be
DRAIN = INDEX["drain"]
SELF, BRANCH, CONSTANT_MISS, PIPE = KIND["self"], KIND["branch"], KIND["constant_miss"], KIND["pipe"]


@call_njit
def write_results(machine, warp, inst, cycle, maker):
    """The registers an instruction writes are ready at `cycle`, which may be a token, and `maker` is the cause of
    that.
    """
    write_class(machine, warp, inst, cycle, maker, inst.result_class)


@inline_njit
def write_class(machine, warp, inst, cycle, maker, result_class):
    """Enters the registers that an instruction writes, for which dependents wait with the class `result_class`."""
    cycle = brought_forward(machine, warp, inst, cycle)
    entry = cycle << ENTRY_SHIFT | inst.bypass_kind << ENTRY_MAKER_SHIFT | result_class
    set_written(machine, warp, inst, entry, maker, 0, 0)


@inline_njit
def brought_forward(machine, warp, inst, cycle):
    """The cycle of a result that comes sooner by as much as is asked, the one after its issue at the soonest; a token
    stays (stage_units.settle_load).
    """
    if inst.sooner_cycles == 0 or cycle >= TOKEN:
        return cycle
    return max(warp_at(machine, warp).last + 1, cycle - inst.sooner_cycles)


@inline_njit
def set_written(machine, warp, inst, entry, maker, second, second_maker):
    """Gives an instruction's written registers their scoreboard entries."""
    end = inst.first_dep + inst.n_deps
    for k in range(end - inst.n_writes, end):
        board_at(machine, warp, dep_at(machine, k).value).value = entry
        maker_at(machine, warp, dep_at(machine, k).value).value = maker
    if second or warp_at(machine, warp).joined:
        for k in range(end - inst.n_writes, end):
            second_at(machine, warp, dep_at(machine, k).value).value = second
            second_maker_at(machine, warp, dep_at(machine, k).value).value = second_maker


@inline_njit
def comes_after(entry, maker, other, other_maker):
    """True when the first of two scoreboard entries is the later one; at equal times, when it has the greater cause."""
    return entry > other or (entry == other and maker > other_maker)


@call_njit
def fold(machine, warp, inst):
    """A folded instruction renames registers: its result is ready when both its sources are. They may come from units
    whose times are not known yet, so that the later one cannot be determined: the result then has two entries.
    """
    w = warp_at(machine, warp)
    entry = 0
    second = 0
    maker = np.int64(0)
    second_maker = np.int64(0)
    for k in range(inst.first_dep, inst.first_dep + inst.n_deps - inst.n_writes):
        source = dep_at(machine, k).value
        for which in range(2):
            candidate = board_at(machine, warp, source).value if which == 0 else second_at(machine, warp, source).value
            candidate_maker = np.int64(
                maker_at(machine, warp, source).value if which == 0 else second_maker_at(machine, warp, source).value
            )
            if comes_after(candidate, candidate_maker, entry, maker):
                candidate, entry = entry, candidate
                candidate_maker, maker = maker, candidate_maker
            if comes_after(candidate, candidate_maker, second, second_maker):
                second = candidate
                second_maker = candidate_maker
    # Ready so long ago that no reader can wait for it: one entry is enough.
    if (second >> ENTRY_SHIFT) + MOST_BYPASS < w.last:
        second = 0
    w.alias |= entry >> ENTRY_SHIFT >= TOKEN
    w.joined |= second > 0
    set_written(machine, warp, inst, entry, maker, second, second_maker)


@inline_njit
def raise_until(machine, warp, kind, cycle, cause):
    """A class of waits lasts until `cycle` at least. What ended before the warp's last issue holds it no more."""
    w = warp_at(machine, warp)
    if cycle <= w.last:
        return
    until = until_at(machine, warp, kind)
    if w.held >> kind & 1 == 0 or cycle > until.value:
        w.held |= 1 << kind
        until.value = cycle
        cause_at(machine, warp, kind).value = cause
    elif cycle == until.value and cause > cause_at(machine, warp, kind).value:
        cause_at(machine, warp, kind).value = cause


@inline_njit
def set_until(machine, warp, kind, cycle, cause):
    """A class of waits that had no end lasts until `cycle`."""
    warp_at(machine, warp).held |= 1 << kind
    until_at(machine, warp, kind).value = cycle
    cause_at(machine, warp, kind).value = cause


@inline_njit
def entry_waits(machine, warp, inst, entry, cause):
    """Raises the end of an entry's class to its cycle."""
    kind = entry & ENTRY_CLASS_MASK
    cycle = entry >> ENTRY_SHIFT
    if cycle + MOST_BYPASS <= warp_at(machine, warp).last:
        return
    if kind == CLASS_WAIT:
        maker = entry >> ENTRY_MAKER_SHIFT & ENTRY_MAKER_MASK
        if maker == PORT_TENSOR and inst.kind == MULTIPLY:  # accumulators stay in the pipe
            return
        cycle += bypass_at(machine, inst.bypass_kind, maker).value
    raise_until(machine, warp, kind, cycle, cause)


@inline_njit
def guard_waits(machine, warp, entry, cause):
    """A predicate can guard an instruction later than a select can read it."""
    # ptxas' stall counts: 13 cycles after the compare, where a select needs 4 (tests/ptxas/distances.csv).
    if entry & ENTRY_CLASS_MASK == CLASS_WAIT:
        raise_until(machine, warp, CLASS_WAIT, (entry >> ENTRY_SHIFT) + machine.guard_cycles, cause)


@inline_njit
def register_waits(machine, warp, inst):
    """Raises the ends of the register classes to those of the registers that an instruction names."""
    for k in range(inst.first_dep, inst.first_dep + inst.n_deps):
        register = dep_at(machine, k).value
        entry_waits(
            machine, warp, inst, board_at(machine, warp, register).value, maker_at(machine, warp, register).value
        )
    if warp_at(machine, warp).joined:
        for k in range(inst.first_dep, inst.first_dep + inst.n_deps):
            register = dep_at(machine, k).value
            entry_waits(
                machine,
                warp,
                inst,
                second_at(machine, warp, register).value,
                second_maker_at(machine, warp, register).value,
            )
    if inst.guard >= 0:
        guard_waits(machine, warp, board_at(machine, warp, inst.guard).value, maker_at(machine, warp, inst.guard).value)
    if inst.kind == COPY_WAIT:
        group_waits(machine, warp, inst.newest)


@inline_njit
def gap_waits(machine, warp, inst):
    """The waits that the warp's last issued instruction imposes on the next one, `inst`."""
    w = warp_at(machine, warp)
    last = w.before
    if last < 0:
        return
    before = inst_at(machine, last)
    # ptxas writes the time for which the warp keeps a pipe itself into stall counts, so it is no throttle.
    if before.again > 1 and before.port == inst.port:
        port = slot_port(inst, w.slots_left)
        if port != PORT_NONE and port == slot_port(before, 1):
            raise_until(machine, warp, CLASS_WAIT, w.last + before.again, PIPE | last)
    # After a jump the warp waits for the branch instead.
    if before.gap > 1 and not w.jumped:
        raise_until(machine, warp, CLASS_WAIT, w.last + before.gap, BRANCH | last)
    if before.meets:
        raise_until(machine, warp, CLASS_BRANCH, w.last + before.meets, BRANCH | last)


@inline_njit
def slot_port(inst, slots_left):
    """The port that the next issue slot of an instruction needs."""
    # Only the last slot of an expansion is the access itself. A wgmma queues in front of its pipe and never waits for
    # it.
    if (slots_left > 1 and inst.port == PORT_LSU) or inst.kind == MULTIPLY:
        return PORT_NONE
    if inst.slot_interval > 1 and (inst.slots - slots_left) % inst.slot_interval:
        return PORT_NONE
    return inst.port


@call_njit
def sleep(machine, warp, cycle):
    """`warp` is examined again at `cycle`."""
    w = warp_at(machine, warp)
    wake_at(machine, w.partition, w.lane).value = cycle
    part = part_at(machine, w.partition)
    part.next_wake = min(part.next_wake, cycle)
    part.next_event = min(part.next_event, cycle)
    sm = sm_at(machine, part.sm)
    sm.next_event = min(sm.next_event, cycle)


@call_njit
def block_until_served(machine, warp):
    """`warp` depends on memory whose time is known when the quantum's requests are served."""
    blocked_at(machine, machine.n_blocked).value = warp
    machine.n_blocked += 1


@call_njit
def become_ready(machine, warp, cycle):
    """No dependency is left from `cycle` on."""
    w = warp_at(machine, warp)
    inst = inst_at(machine, w.pc)
    lane = lane_at(machine, w.partition, w.lane)
    lane.port = slot_port(inst, w.slots_left)
    lane.ready = cycle
    wake_at(machine, w.partition, w.lane).value = NEVER
    part = part_at(machine, w.partition)
    part.ready_lanes |= 1 << np.int64(w.lane)
    w.state = READY
    w.ready = cycle
    # The ledger charges as throttle only what the port is busy from here on, and so with the register file.
    w.busy_mark = busy_cycles(part, port_at(machine, w.partition, lane.port), max(cycle, w.last + 1))
    w.held_mark = held_cycles(part, max(cycle, w.last + 1))


@inline_njit
def latest_end(machine, warp):
    """The last of the ends in a warp's `until`, 0 when there is none."""
    latest = 0
    held = np.int64(warp_at(machine, warp).held)
    while held:
        latest = max(latest, until_at(machine, warp, lowest_bit(held)).value)
        held &= held - 1
    return latest


@call_njit
def wait_for_dependencies(machine, warp, earliest):
    """Puts the warp to sleep until the last of its dependencies ends; ready at once when that is by `earliest`."""
    w = warp_at(machine, warp)
    ready = max(earliest, latest_end(machine, warp))
    if ready == earliest:
        become_ready(machine, warp, ready)
        return
    w.state = WAITING
    w.ready = ready
    if ready >= TOKEN:
        block_until_served(machine, warp)
    else:
        sleep(machine, warp, ready)


@call_njit
def hold(machine, warp, reason, cycle):
    """The instruction has issued, but keeps its warp until `cycle`; NEVER: until another event ends the hold. Until
    that event is known, the instruction itself is the cause.
    """
    w = warp_at(machine, warp)
    w.state = HOLDING
    w.hold_reason = reason
    w.hold_cause = SELF | w.pc
    w.ready = cycle
    if cycle < NEVER:
        sleep(machine, warp, cycle)


@inline_njit
def advance(machine, warp):
    """Moves to the next instruction of the trace: 0 there is none, 1 it follows in the code, 2 it is the target of a
    jump.
    """
    w = warp_at(machine, warp)
    if w.pc + 1 < w.block_end:
        w.pc += 1
        return 1
    if w.step == w.step_end and more_steps(machine, warp) == 0:
        return 0
    step = step_of(w.step)
    w.step += STEP_NBYTES
    w.mask = step.mask
    before = w.pc
    block = grid_at(machine, w.grid).first_basic_block + step.block
    w.pc = first_of_block_at(machine, block).value
    w.block_end = first_of_block_at(machine, block + 1).value
    return 1 if w.pc == before + 1 else 2


@call_njit
def slow_slots(warp):
    """Slots beyond the row's that the warp takes at an instruction with a slow path: `conflicts` of its record."""
    record = access_of(warp.access)
    warp.access += ACCESS_NBYTES
    return np.int64(record.conflicts)


@call_njit
def next_instruction(machine, warp, earliest):
    """Moves warp `warp` on to its next instruction that takes an issue slot; it may issue from cycle `earliest` on.

    Returns 1, or 0 when the warp has reached its end and is at its last instruction.
    """
    w = warp_at(machine, warp)
    last = w.pc
    jumped = False
    while True:
        way = advance(machine, warp)
        if way == 0:
            w.pc = last
            return 0
        jumped = jumped or (way == 2 and last >= 0)
        kind = inst_at(machine, w.pc).kind
        if kind == FOLDED:
            fold(machine, warp, inst_at(machine, w.pc))
        elif kind != JOINED:
            break
    inst = inst_at(machine, w.pc)
    w.slots_left = inst.slots
    if inst.kind == SLOW_PATH:
        w.slots_left += slow_slots(w)
    w.held = 0
    w.before = last
    w.jumped = jumped
    register_waits(machine, warp, inst)
    gap_waits(machine, warp, inst)
    requested = w.last + 1
    if jumped:
        requested = w.last + machine.branch_cycles
        raise_until(machine, warp, CLASS_BRANCH, requested, BRANCH | last)
    # A warp fetches a line once, for all instructions that it runs there in a row.
    if inst.line != w.line:
        w.line = inst.line
        fetched = fetch(machine, w.partition, inst.line, requested, grid_at(machine, w.grid).last_line)
        set_until(machine, warp, CLASS_FETCH, fetched >> 1, missed(fetched) | w.pc)
    if inst.constant_line >= 0:
        ready = constant_line(machine, part_at(machine, w.partition).sm, w.grid, inst.constant_line, requested, 0)
        set_until(machine, warp, CLASS_CONSTANT, ready, CONSTANT_MISS | w.pc)
    wait_for_dependencies(machine, warp, earliest)
    return 1
