"""Draws on one machine, to be read: the fixed-function units that feed the shaders' grids.

Every time is worked out anew from the ends of blocks that are known, by recursion from an item to those that it waits
for. None: not known yet.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from gpuprof.timing.state.occupancy import occupancy
from tests.readable.grids import Grids, Slot
from tests.readable.timing import QUANTUM, in_ticks

BATCH_STAGES = ("fetch", "vertices", "assembly", "setup")
WAVE_STAGES = ("scan", "depth", "pixels", "write")
ROOM = {
    "fetch": "batches_in_flight",
    "assembly": "assembled_batches",
    "setup": "set_up_batches",
    "scan": "scanned_waves",
    "depth": "waves_in_flight",
}
TAKEN_BY = {"fetch": "assembly", "assembly": "setup", "scan": "depth", "depth": "write"}  # who makes room in the buffer


@dataclass
class Draw:
    """`batches`: (indices, primitives, accepted); `waves`: (last batch of all draws or None, tiles, pixels, samples
    tested before and behind the shader, pixels written, bytes written). `vertex` and `pixel` are numbers of jobs.
    """

    batches: list
    waves: list
    vertex: int | None = None
    pixel: int | None = None
    state_changes: int = 0
    drains: bool = False
    shades: bool = True  # pixels


def latest(*times):
    return None if None in times else max(times)


class Draws(Grids):
    def __init__(self, chip, jobs, draws, load_base=0x1000, **more):
        super().__init__(chip, jobs, load_base, **more)
        for job in jobs:
            job.fit = occupancy(chip, job.function, job.threads, of_draw=True)
        for sm in self.sms:
            sm.slots = [Slot() for _ in range(chip.warp_slots)]
        self.draws = draws
        self.batches = [(draw, batch) for draw in draws for batch in draw.batches]
        self.waves = [(draw, wave) for draw in draws for wave in draw.waves]
        self.started, self.ended = {}, {}  # (stage, item) -> cycle

    # ---- the units ---------------------------------------------------------------------------------

    def cycles(self, stage, item):
        """How long an item keeps a unit."""
        rate = self.chip.graphics
        if stage in BATCH_STAGES:
            amount = dict(zip(("fetch", "assembly", "setup"), self.batches[item][1], strict=True))[stage]
            name = {
                "fetch": "indices_per_cycle", "assembly": "primitives_per_cycle", "setup": "triangles_per_cycle"
            }[stage]  # fmt: skip
            return in_ticks(amount / rate[name])
        _, tiles, pixels, samples, late, written, nbytes = self.waves[item][1]
        return {
            "scan": max(in_ticks(tiles / rate["tiles_per_cycle"]), in_ticks(pixels / rate["pixels_per_cycle"])),
            "depth": in_ticks(samples / rate["depth_samples_per_cycle"]),
            "write": max(
                in_ticks(late / rate["depth_samples_per_cycle"]),
                in_ticks(written / rate["color_pixels_per_cycle"]),
                in_ticks(nbytes / rate["color_nbytes_per_cycle"]),
            ),
        }[stage]

    def begun(self, stage, item):
        """When an item began in a stage."""
        if stage in ("vertices", "pixels"):
            return self.started.get((stage, item))
        stages = BATCH_STAGES if stage in BATCH_STAGES else WAVE_STAGES
        place = stages.index(stage)
        free = self.left(stage, item - 1) if item else 0
        if stage == "write" and not self.waves[item][0].shades:
            return latest(free, self.left("depth", item))
        if place:
            return latest(free, self.left(stages[place - 1], item))
        draw, *work = self.batches[item] if stage == "fetch" else self.waves[item]
        needed = work[0][0] if stage == "scan" else None
        return latest(free, self.command(self.draws.index(draw)) if needed is None else self.left("setup", needed))

    def left(self, stage, item):
        """When it left the stage: it is through, and the buffer behind has room."""
        if (stage, item) not in self.known:
            self.known[stage, item] = self.work_out(stage, item)
        return self.known[stage, item]

    def work_out(self, stage, item):
        if stage in ("vertices", "pixels"):
            return self.ended.get((stage, item))
        begun = self.begun(stage, item)
        if begun is None or stage == "write":
            return None if begun is None else begun + self.cycles(stage, item)
        ahead = item - self.chip.graphics[ROOM[stage]]
        room = 0
        if ahead >= 0 and stage == "setup":
            # Room comes when all waves that need no later batch have begun.
            waves, most = [], -1
            for number, (_, wave) in enumerate(self.waves):
                most = max(most, -1 if wave[0] is None else wave[0])
                waves += [number] if most <= ahead else []
            room = self.begun("scan", waves[-1]) if waves else 0
        elif ahead >= 0:
            room = self.begun(TAKEN_BY[stage], ahead)
        return latest(begun + self.cycles(stage, item), room)

    def command(self, number):
        """When a draw's command has been processed."""
        draw, rate = self.draws[number], self.chip.graphics
        ready = self.command(number - 1) if number else self.origin
        if draw.drains:
            batches = sum(len(other.batches) for other in self.draws[:number])
            waves = sum(len(other.waves) for other in self.draws[:number])
            ready = latest(
                ready,
                *([self.left("setup", batches - 1)] if batches else []),
                *([self.left("write", waves - 1)] if waves else []),
            )
        cycles = in_ticks(rate["draw_cycles"] + draw.state_changes * rate["state_cycles"])
        return None if ready is None else ready + cycles

    # ---- the shaders' grids ------------------------------------------------------------------------

    def stage_of(self, job):
        return "vertices" if any(draw.vertex == job.number for draw in self.draws) else "pixels"

    def item_of(self, job, block):
        stage, first = self.stage_of(job), 0
        for draw in self.draws:
            if (draw.vertex if stage == "vertices" else draw.pixel) == job.number:
                return stage, first + block
            first += len(draw.batches if stage == "vertices" else draw.waves)
        raise AssertionError("a job of no draw")

    def released(self, job):
        """The cycle from which its next block may start, None: not known yet."""
        stage, item = self.item_of(job, job.next_block)
        left = self.left({"vertices": "fetch", "pixels": "depth"}[stage], item)
        return None if left is None else math.ceil(left)

    def start_blocks(self, t):
        self.known = {}
        super().start_blocks(t)

    def pick_head(self, t):
        for job in self.jobs:
            job.active = job.end is None
        waiting = [
            job
            for job in self.jobs
            if job.next_block < job.total and (since := self.released(job)) is not None and since <= t
        ]
        head = min(waiting, key=lambda job: (job.priority, job.number), default=None)
        if head is not self.head:
            if head:
                self.head_since = t if self.head else max(head.ready, t - QUANTUM)
            self.head = head

    def start_block(self, job, sm, since, slot, t):
        since = max(since, self.released(job))
        begin = max(Fraction(since + self.chip.block_launch_cycles), Fraction(t), self.distributor)
        self.started[self.item_of(job, job.next_block)] = Fraction(math.floor(begin))
        super().start_block(job, sm, since, slot, t)

    def release(self, sm, partition, lane, warp, t):
        block, job = warp.block, warp.block.job
        super().release(sm, partition, lane, warp, t)
        if not block.warps:
            self.ended[self.item_of(job, block.index)] = Fraction(t)

    def times(self):
        """(begin, end) of each draw, in whole cycles."""
        self.known, found, batch, wave = {}, [], 0, 0
        for number, draw in enumerate(self.draws):
            ends = [self.left(stage, batch + k) for k in range(len(draw.batches)) for stage in BATCH_STAGES]
            passed = [stage for stage in WAVE_STAGES if draw.shades or stage != "pixels"]
            ends += [self.left(stage, wave + k) for k in range(len(draw.waves)) for stage in passed]
            batch, wave = batch + len(draw.batches), wave + len(draw.waves)
            found.append((math.floor(self.command(number)), math.ceil(max([self.command(number), *ends]))))
        return found


__all__ = ["Draw", "Draws"]
