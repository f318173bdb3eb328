"""The work distributor: blocks go to SMs in index order, as slots become free.

A block goes to the SM whose slot has been free for longest, among those to the one with the fewest blocks: at first breadth-first over
all SMs. Its warps go to the partitions with the most free warp slots.
"""

from gpuprof.timing.jit import cold, hot
from gpuprof.timing.layout import EMPTY, NEVER, STARTING, TICK_BITS
from gpuprof.timing.scoreboard import sleep


@cold
def start_blocks(m):
    """Starts every block that finds a slot. Returns 0 when a slot is free and blocks remain, but none is known yet; else 1."""
    gpu = m.gpu[0]
    while gpu.next_block < gpu.total_blocks:
        sm = free_sm(m)
        if sm < 0:
            break
        if gpu.next_block == gpu.known_blocks:
            return 0
        start_block(m, sm)
        gpu.next_block += 1
    return 1


@hot
def free_sm(m):
    best = -1
    for sm in range(m.chip[0].sms):
        s = m.core.sm[sm]
        if s.block_free < NEVER and (best < 0 or sooner(s, m.core.sm[best])):
            best = sm
    return best


@hot
def sooner(a, b):
    return a.block_free < b.block_free or (a.block_free == b.block_free and a.blocks < b.blocks)


@hot
def start_block(m, sm):
    """Puts the next block on an SM."""
    chip = m.chip[0]
    gpu = m.gpu[0]
    s = m.core.sm[sm]
    slot = take_slot(m, sm)
    block = m.core.block[slot]
    tick = max((block.free + chip.block_launch_cycles) << TICK_BITS, gpu.distributor_tick)
    gpu.distributor_tick = tick + chip.distributor_ticks
    start = tick >> TICK_BITS
    block.used = 1
    block.index = gpu.next_block
    block.live = chip.warps_per_block
    block.waiting = 0
    m.core.arrived[slot, :] = 0
    if s.warps == 0:
        s.active_since = start
        if chip.period_cycles:
            s.next_sample = (start + chip.period_cycles - 1) // chip.period_cycles * chip.period_cycles
    s.blocks += 1
    for number in range(chip.warps_per_block):
        start_warp(m, sm, slot, number, start)


@hot
def take_slot(m, sm):
    """The block slot that has been free for longest, the SM's next best noted."""
    chip = m.chip[0]
    first = sm * chip.max_blocks
    best = -1
    second = NEVER
    for slot in range(first, first + chip.blocks_per_sm):
        block = m.core.block[slot]
        if block.used:
            continue
        if best < 0 or block.free < m.core.block[best].free:
            if best >= 0:
                second = min(second, m.core.block[best].free)
            best = slot
        else:
            second = min(second, block.free)
    m.core.sm[sm].block_free = second
    return best


@hot
def take_lane(m, sm):
    """A free warp slot in the partition that has the most of them: its number among the warps of the GPU."""
    chip = m.chip[0]
    best = -1
    most = 0
    for p in range(sm * chip.partitions, (sm + 1) * chip.partitions):
        free = 0
        first = -1
        for wi in range(p * chip.warps_per_partition, (p + 1) * chip.warps_per_partition):
            if m.core.warp[wi].state == EMPTY:
                free += 1
                if first < 0:
                    first = wi
        if free > most:
            most = free
            best = first
    return best


@hot
def start_warp(m, sm, slot, number, start):
    chip = m.chip[0]
    gpu = m.gpu[0]
    wi = take_lane(m, sm)
    w = m.core.warp[wi]
    row = (gpu.next_block - gpu.first_block) * chip.warps_per_block + number
    w.state = STARTING
    w.pc = -1
    w.block_end = -1
    w.partition = wi // chip.warps_per_partition
    w.lane = wi % chip.warps_per_partition
    w.block_slot = slot
    w.in_block = number
    w.block = gpu.next_block
    w.alias = 0
    w.mask = 0
    w.line = -1
    w.stores_done = 0
    w.stores_quantum = -1
    w.start = start
    w.last = start - 1
    w.ready = start
    w.step = m.trace.step_start[row]
    w.step_end = m.trace.step_start[row + 1]
    w.access = m.trace.access_start[row]
    w.sector = m.trace.sector_start[row]
    m.core.board[wi, :] = 0
    m.core.lane[w.partition, w.lane].age = gpu.ages
    gpu.ages += 1
    m.core.sm[sm].warps += 1
    sleep(m, wi, start)
