"""How many registers a function may take: the orders of its instructions are tried until one fits."""

from gpuprof.assemble.ir.body import Body, Inst, words_of
from gpuprof.assemble.ir.defs import remove_dead
from gpuprof.assemble.ir.liveness import Liveness, block_liveness
from gpuprof.assemble.registers.allocate import LIMITS, RESERVED_WORDS, Allocation
from gpuprof.assemble.registers.halves import keep_lower_halves
from gpuprof.assemble.registers.rematerialize import Rematerializer
from gpuprof.assemble.registers.schedule import Schedule
from gpuprof.assemble.registers.spill import allocate_unspilled, allocate_within
from gpuprof.assemble.registers.split import split_shared_loads
from gpuprof.assemble.registers.uniform import uniform_registers

MOST_REGISTERS = LIMITS["R"] + RESERVED_WORDS

# The most registers with which so many warps of a partition (of 512 registers a lane, in granules of 8) are resident:
# 16, 12, 11 (also 40), 10, 9, 8, 7, 6, 5, 4, 3, 2. More registers cost nothing up to the next of these numbers.
OCCUPANCY_STEPS = (32, 40, 48, 56, 64, 72, 80, 96, 128, 168, MOST_REGISTERS)
_LARGEST_BLOCKS = 64  # the most registers with which a block of 1024 threads can be launched: room is not worth that
_ROOM = 8  # registers for loads that wait, where not all are free; fitted to ptxas 13.0
_PLENTY = 20  # registers for what blocks do; with so many, uniform registers would save nothing
_FEW = 48  # registers: room for loads that wait is worth more there; fitted to ptxas 13.0, as the next
_LARGEST_SHARE = 0.02  # of a function's instructions that may be added for a step of occupancy
_TIGHTER = (0, 4, 8, 16)  # registers fewer for the schedule to aim at, when the allocation takes more than that
_MOST_SHARED = 16  # registers that values may find among the dead words of groups, which the schedule counts as live


def fit(body: Body, limit: int, is_wanted: bool) -> Allocation:
    """Orders the instructions of a body and allocates at most `limit` registers, spilling where nothing else helps.
    `is_wanted`: the user chose the limit, so that the budget is the whole of it, as with ptxas.

    Raises DoesNotFit.
    """
    liveness = block_liveness(body)
    if _words_between_blocks(body, liveness) > min(limit, body.free_registers) - _PLENTY:
        body.uniform = uniform_registers(body)
        if keep_lower_halves(body):
            liveness = block_liveness(body)
    if allocation := _fit_unspilled(body, limit, is_wanted, liveness):
        return allocation
    if split_shared_loads(body):
        liveness = block_liveness(body)
        if allocation := _fit_unspilled(body, limit, is_wanted, liveness):
            return allocation
    Schedule(body, block_liveness(body)).apply(limit)
    return allocate_within(body, limit)


def _words_between_blocks(body: Body, liveness: Liveness) -> int:
    """The most registers that hold something from one block to another."""
    words = words_of(body)
    return max(sum(words[register] for register in liveness.members(live)) for live in liveness.live_in)


def _fit_unspilled(body: Body, limit: int, is_wanted: bool, liveness: Liveness) -> Allocation | None:
    schedule = Schedule(body, liveness)
    budget = limit if is_wanted else min(limit, _step(schedule.fewest, body.free_registers))
    if relieved := _relieved(body, limit, is_wanted, schedule):
        schedule, liveness, budget = relieved
    if schedule.fewest > limit + _MOST_SHARED:
        return None
    fits: list[tuple[Allocation, list[list[Inst]]]] = []
    for tighter in _TIGHTER:
        schedule.apply(budget - tighter)
        if allocation := allocate_unspilled(body, limit, liveness):
            fits.append((allocation, [block.insts for block in body.blocks]))
            if allocation.words + RESERVED_WORDS <= budget:
                break
    if not fits:
        return None
    allocation, orders = min(fits, key=lambda each: each[0].words)
    for block, insts in zip(body.blocks, orders, strict=True):
        block.insts = insts
    return allocation


def _relieved(body: Body, limit: int, is_wanted: bool, schedule: Schedule) -> tuple[Schedule, Liveness, int] | None:
    """The orders of a body in which values are computed again, and the budget for them, where that saves spills or
    brings it to another step of occupancy.
    """
    is_over = schedule.fewest > limit
    if is_over:
        aims, largest_share = (limit,), 1.0  # a spill takes a store and loads
    elif not is_wanted and schedule.fewest > _FEW:
        aims, largest_share = tuple(step for step in OCCUPANCY_STEPS if step < schedule.fewest), _LARGEST_SHARE
    else:
        return None
    again = Rematerializer(body, schedule.liveness)
    for aim in aims:
        plan = again.plan(schedule, aim, in_part=is_over)
        if plan and plan.share <= largest_share:
            before = [block.insts for block in body.blocks]
            again.apply(plan)
            remove_dead(body)
            relieved = Schedule(body, block_liveness(body))
            if relieved.fewest <= aim or (is_over and relieved.fewest < schedule.fewest):
                return relieved, relieved.liveness, aim
            for block, insts in zip(body.blocks, before, strict=True):
                block.insts = insts
            block_liveness(body)
    return None


def _step(fewest: int, free_registers: int) -> int:
    """The occupancy step that holds the fewest registers that the body needs, and some that hide latencies."""
    if fewest <= OCCUPANCY_STEPS[0] or fewest + _ROOM <= free_registers:
        return free_registers
    if _LARGEST_BLOCKS - _ROOM < fewest <= _LARGEST_BLOCKS:
        return _LARGEST_BLOCKS
    return next(step for step in OCCUPANCY_STEPS if step >= min(fewest + _ROOM, MOST_REGISTERS))
