"""Several grids on one machine, to be read: what tests/readable/timing.py is for one.

The grids' code is one program here, loaded without a gap; each grid's steps name basic blocks of it. What one SM does
is as before, only the distributor is another.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from gpuprof.isa.program import basic_block_starts
from gpuprof.timing.state.machine import carve_out
from gpuprof.timing.state.occupancy import occupancy
from tests.readable.blame import Cause
from tests.readable.timing import QUANTUM, Block, Gpu, Warp, in_ticks


@dataclass
class Job:
    """A grid: its own code and traces, and what it waits for, by number."""

    code: np.ndarray
    function: object
    threads: int
    warps: list
    after: tuple = ()
    after_signal: tuple = ()
    priority: int = 0
    launch_cycles: int = 0
    launched_by: tuple | None = None  # job, warp, turn
    filter: object = None  # None: the sampling's
    load_base: int | None = None  # None: behind the job before
    # Worked out.
    number: int = 0
    fit: object = None
    total: int = 0
    next_block: int = 0
    done: int = 0
    ready: int | None = None
    launched: int | None = None  # when the instruction issued that did it
    active: bool = False
    start: int = 0
    end: int | None = None
    signalled: set = field(default_factory=set)
    held: list = field(default_factory=list)  # warps that wait for those before


class Slot:
    def __init__(self):
        self.job, self.used, self.free = None, False, 0


class Grids(Gpu):
    def __init__(self, chip, jobs, load_base, samplings=None, record_nbytes=32, before=None):
        code, traces, first_basic_block = [], [], 0
        for number, job in enumerate(jobs):
            job.number, job.fit = number, occupancy(chip, job.function, job.threads)
            job.total = len(job.warps) // job.fit.warps_per_block
            traces.append(
                [([first_basic_block + b for b in blocks], accesses, masks) for blocks, accesses, masks in job.warps]
            )
            first_basic_block += len(basic_block_starts(job.code))
            code.append(job.code)
        alone = jobs[0].function, jobs[0].threads, jobs[0].warps
        super().__init__(
            chip, np.concatenate(code), load_base, *alone, samplings=samplings, record_nbytes=record_nbytes
        )
        starts, first = [], 0
        for job in jobs:
            job.first = first
            starts += [first + start for start in basic_block_starts(job.code).tolist()]
            first += len(job.code)
        self.starts = [*starts, first]
        self.parts = self.parts_of_multiplications()
        self.jobs, self.traces_of = jobs, traces
        self.head, self.head_since, self.pool_freed = None, 0, 0
        self.present = before.end if before else 0
        for job in jobs:
            job.ready = None if job.after or job.after_signal or job.launched_by else self.present + job.launch_cycles
        self.origin = min(job.ready for job in jobs if job.ready is not None)
        for sm in self.sms:
            sm.slots = [Slot() for _ in range(chip.max_blocks)]
            sm.freed, sm.carve_out, sm.seen = 0, None, set()
        if before:
            self.go_on_from(before)

    def go_on_from(self, before):
        """What a machine has kept of the jobs before: the L2, with its DRAM, translations, and code."""
        self.tlbs, self.l2_tlb = before.tlbs, before.l2_tlb
        self.posted, self.activates, self.joined = before.posted, before.activates, before.joined
        self.written, self.read_since = before.written, before.read_since
        self.l2, self.slices, self.channels, self.banks, self.copies = (
            before.l2,
            before.slices,
            before.channels,
            before.banks,
            before.copies,
        )
        for sm, other in zip(self.sms, before.sms, strict=True):
            sm.l1i = other.l1i
            for partition, its in zip(sm.partitions, other.partitions, strict=True):
                partition.l0 = its.l0

    def grid_of(self, warp):
        return warp.block.job.number

    def function_of(self, warp):
        return warp.block.job.function

    def address(self, pc):
        job = max((job for job in self.jobs if job.first <= pc), key=lambda job: job.first)
        return super().address(pc) if job.load_base is None else job.load_base + 16 * (pc - job.first)

    def run(self):
        t = self.origin
        while True:
            if (t - self.origin) % QUANTUM == 0:
                self.serve(t - QUANTUM)
                self.start_blocks(t)
                if self.is_over() and not self.cells.waits():
                    return self
            for sm in self.sms:
                self.cycle(sm, t)
            t += 1

    def is_over(self):
        return all(job.end is not None for job in self.jobs)

    # ---- the pool --------------------------------------------------------------------------------

    def pick_head(self, t):
        for job in self.jobs:
            full = sum(j.active for j in self.jobs) == self.chip.max_active_grids
            if not job.active and job.end is None and job.ready is not None and job.ready <= t and not full:
                job.active, job.ready = True, max(job.ready, self.pool_freed)
        waiting = [job for job in self.jobs if job.active and job.next_block < job.total]
        head = min(waiting, key=lambda job: (job.priority, job.number), default=None)
        if head is not self.head:
            self.head_since = t if self.head else max(head.ready, t - QUANTUM)
            self.head = head

    def job_ends(self, job, t):
        if sum(j.active for j in self.jobs) == self.chip.max_active_grids:
            self.pool_freed = t
        elif self.pool_freed >= self.served + QUANTUM:
            self.pool_freed = min(self.pool_freed, t)  # the first end of a quantum made room
        job.end, job.active = max(job.end or 0, t), False
        for other in self.jobs:
            if job.number in other.after + other.after_signal:
                self.see_whether_ready(other)
            if job.number in other.after_signal and all(self.jobs[k].end is not None for k in other.after_signal):
                for warp in other.held:
                    self.see_end_of_grids(warp, warp.issued)

    def see_whether_ready(self, job):
        ends = [self.jobs[k].end for k in job.after]
        signals = [max(self.jobs[k].signalled,
            key=lambda s: s[1])[1] if len(self.jobs[k].signalled) == self.jobs[k].total else None
                   for k in job.after_signal]  # fmt: skip
        launched = [job.launched] if job.launched_by else []
        if None not in ends + signals + launched and job.ready is None:
            job.ready = max(
                [self.present + job.launch_cycles, *(end + job.launch_cycles for end in ends + launched), *signals]
            )

    def end_of_program(self, warp):
        """Each grid's own, though the code follows on without a gap."""
        return sum(len(job.code) for job in self.jobs[: warp.block.job.number + 1])

    def launch(self, warp, t):
        """The warp's next turn: the jobs that it launches first of those that it has not."""
        who = warp.block.job.number, warp.block.index * warp.block.job.fit.warps_per_block + warp.number
        waiting = [job for job in self.jobs if job.launched_by and job.launched_by[:2] == who and job.launched is None]
        turn = min((job.launched_by[2] for job in waiting), default=None)
        for job in (each for each in waiting if each.launched_by[2] == turn):
            job.launched = t
            self.see_whether_ready(job)

    # ---- the SMs' room ---------------------------------------------------------------------------

    def fitting(self, job, sm):
        """Blocks of the job that the SM could take now."""
        chip, there = self.chip, [slot.job for slot in sm.slots if slot.used]
        warps = sum(j.fit.warps_per_block for j in there)
        limits = [
            job.fit.blocks_per_sm - sum(j is job for j in there),
            len(sm.slots) - len(there),
            (chip.warp_slots - warps) // job.fit.warps_per_block,
            (chip.registers - sum(self.registers(j) for j in there)) // self.registers(job),
        ]
        if there and job.fit.shared_nbytes_per_block:
            taken = sum(j.fit.shared_nbytes_per_block for j in there)
            limits.append((sm.carve_out - taken) // job.fit.shared_nbytes_per_block)
        return max(0, min(limits))

    def registers(self, job):
        of_warp = -(-job.function.registers // 8) * 8 * 32
        return job.fit.warps_per_block * -(-of_warp // self.chip.register_granularity) * self.chip.register_granularity

    def place(self, sm):
        """(since when, slot) for the head's next block on an SM, or None."""
        if not self.fitting(self.head, sm):
            return None
        own = [slot for slot in sm.slots if slot.job is self.head]
        choices = [(slot.free, 0, k, slot) for k, slot in enumerate(sm.slots) if slot in own and not slot.used]
        if len(own) < self.head.fit.blocks_per_sm:
            others = [(sm.freed, -1, k, slot) for k, slot in enumerate(sm.slots) if slot not in own and not slot.used]
            if others and (not choices or sm.freed < min(choices)[0]):
                choices = others
        since, _, _, slot = min(choices, key=lambda choice: choice[:3])
        return max(since, self.head_since), slot

    def start_blocks(self, t):
        self.pick_head(t)
        while self.head:
            job = self.head
            places = {sm: place for sm in self.sms if (place := self.place(sm))}
            if not places:
                return
            sm = min(places, key=lambda sm: (places[sm][0], sm.blocks, sm.number))
            self.start_block(job, sm, *places[sm], t)
            self.pick_head(t)

    def start_block(self, job, sm, since, slot, t):
        begin = self.begins(sm, since, t)
        self.distribute(sm, begin + in_ticks(self.chip.distributor_cycles))
        job.start = since if job.next_block == 0 else job.start
        wanted = max(carve_out(self.chip, j.fit) for j in self.jobs if j.active)
        if job.number not in sm.seen or (sm.blocks == 0 and sm.carve_out != wanted):
            sm.l1 = {}
        if sm.blocks == 0:
            sm.carve_out = wanted
        sm.seen.add(job.number)
        slot.job, slot.used = job, True
        block = Block(job.next_block, slot)
        block.job = job
        sm.blocks += 1
        for number in range(job.fit.warps_per_block):
            blocks, accesses, masks = self.traces_of[job.number][job.next_block * job.fit.warps_per_block + number]
            warp = Warp(
                block, number, self.ages, math.floor(begin), list(zip(blocks, masks, strict=True)), list(accesses)
            )
            self.ages += 1
            block.warps.append(warp)
            partition = max(sm.partitions, key=lambda p: (p.lanes.count(None), -sm.partitions.index(p)))
            partition.lanes[partition.lanes.index(None)] = warp
        job.next_block += 1

    def begins(self, sm, since, t):
        return max(Fraction(since + self.chip.block_launch_cycles), Fraction(t), self.distributor)

    def distribute(self, sm, free):
        """The next block starts from `free` on."""
        self.distributor = free

    def release(self, sm, partition, lane, warp, t):
        block = warp.block
        super().release(sm, partition, lane, warp, t)
        job = block.job
        job.last = max(getattr(job, "last", 0), t)
        if block.warps:
            return
        block.slot.used, block.slot.free = False, t
        if job is not self.head:
            sm.freed = max(sm.freed, t)
        self.signal(block, t)
        job.done += 1
        if job.done == job.total:
            self.job_ends(job, job.last)

    def signal(self, block, t):
        """A block lets dependent jobs start, once."""
        job = block.job
        if block.index not in [index for index, _ in job.signalled]:
            job.signalled.add((block.index, t))
        for other in self.jobs:
            if job.number in other.after_signal:
                self.see_whether_ready(other)

    def wait_for_grids(self, warp, t):
        """Until those before, that let this one start, have ended, and a block's launch longer; that is not known yet
        while they run.
        """
        job = warp.block.job
        self.hold(warp, "membar", math.inf)
        if any(self.jobs[k].end is None for k in job.after_signal):
            job.held.append(warp)
        else:
            self.see_end_of_grids(warp, t)

    def see_end_of_grids(self, warp, t):
        ends = [self.jobs[k].end for k in warp.block.job.after_signal]
        warp.hold_until = max([t + 1, *(end + self.chip.block_launch_cycles for end in ends)])
        if warp.hold_until > t + 1:
            warp.hold_cause = Cause("grid", warp.pc)

    def look_up_l1(self, sm, line, mask, start, t):
        self.l1_sets = max(
            1, (self.chip.l1_nbytes - self.chip.l1_shared_pool * sm.carve_out) // 128 // self.chip.l1_ways
        )
        return super().look_up_l1(sm, line, mask, start, t)


def time_grids(chip, jobs, load_base=0x1000, **more) -> Grids:
    """Runs jobs to their end, after those `before` on the same machine: `ledger` by instruction of all programs in a
    row, each job's `start` and `end`."""
    return Grids(chip, jobs, load_base, **more).run()


__all__ = ["Job", "time_grids"]
