"""Draws on one machine, to be read: the fixed-function units that feed the shaders' grids.

Every time is worked out anew from the ends of blocks that are known, by recursion from an item to those that it waits
for. None: not known yet.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

from gpuprof.timing.state.occupancy import occupancy
from tests.readable.grids import Grids, Slot
from tests.readable.timing import QUANTUM, QUEUE, Request, in_ticks

# What items of a series pass: units, and the shader.
CHAINS = {
    "vertex": ("fetch", "warps", "retired"),
    "hull": ("fed", "warps", "retired"),
    "domain": ("tessellate", "warps", "retired"),
    "geometry": ("fed", "warps", "retired"),
    "primitive": ("assembly", "setup"),
    "pixel": ("scan", "depth", "warps", "write"),
}
RATES = {
    "fetch": {"n_indices": "indices_per_cycle"},
    "tessellate": {"n_tessellated": "tessellated_vertices_per_cycle"},
    "assembly": {"n_primitives": "primitives_per_cycle"},
    "setup": {"n_accepted": "triangles_per_cycle"},
    "scan": {"n_tiles": "tiles_per_cycle", "n_pixels": "pixels_per_cycle"},
    "depth": {"n_samples": "depth_samples_per_cycle", "depth_nbytes": "depth_nbytes_per_cycle"},
    "write": {
        "n_late_samples": "depth_samples_per_cycle",
        "late_depth_nbytes": "depth_nbytes_per_cycle",
        "n_written": "color_pixels_per_cycle",
        "written_nbytes": "color_nbytes_per_cycle",
    },
    "fed": {},
    "retired": {},
}
# Of the buffer behind a unit: how much there is room for, and of what; items where nothing is named.
ROOM = {
    ("vertex", "fetch"): ("batches_in_flight", None),
    ("hull", "fed"): ("control_points_in_flight", "n_control_points"),
    ("domain", "tessellate"): ("tessellated_vertices_in_flight", "n_tessellated"),
    ("geometry", "fed"): ("emitted_vertices_in_flight", "n_emitted"),
    ("primitive", "assembly"): ("assembled_batches", None),
    ("primitive", "setup"): ("set_up_batches", None),
    ("pixel", "scan"): ("scanned_waves", None),
    ("pixel", "depth"): ("waves_in_flight", None),
    ("pixel", "write"): ("writes_in_flight", None),
}
ASKING = (("vertex", "fetch"), ("pixel", "depth"), ("pixel", "write"))  # units that access memory
TAKEN_BY = {("primitive", "assembly"): "setup", ("pixel", "scan"): "depth", ("pixel", "depth"): "write"}


@dataclass
class Item:
    """`needs`: the last item that it needs of those of the draw's series before, None: it needs none. accesses: of each
    unit that accesses memory for it: (line, sectors read, sectors written, words of these that are not).
    """

    needs: int | None
    is_shaded: bool
    amounts: dict
    draw: int = 0
    accesses: dict = field(default_factory=dict)


@dataclass
class Draw:
    """`items` by series. `jobs`: the number of the grid of each shader."""

    items: dict
    state_changes: int = 0
    drains: bool = False
    jobs: dict = field(default_factory=dict)


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
        self.items = {series: [] for series in CHAINS}
        self.first = {}  # (draw, series) -> place of the draw's first item there
        for number, draw in enumerate(draws):
            for series, items in draw.items.items():
                self.first[number, series] = len(self.items[series])
                for item in items:
                    item.draw = number
                self.items[series] += items
        self.started, self.ended = {}, {}  # (series, item) -> cycle
        self.distributors = {}  # SM -> cycle from which it takes a warp
        self.answers = {}  # (series, unit, item) -> when the L2 has answered all that the unit asked for
        self.ahead = {
            (series, unit, k): self.ahead_of(series, unit, k)
            for series, unit in ROOM
            for k in range(len(self.items[series]))
        }

    # ---- the units ---------------------------------------------------------------------------------

    def cycles(self, series, unit, k):
        """How long an item keeps a unit."""
        rate, amounts = self.chip.graphics, self.items[series][k].amounts
        return max([Fraction(0)] + [in_ticks(amounts[what] / rate[name]) for what, name in RATES[unit].items()])

    def begun(self, series, unit, k):
        """When an item began in a unit, or at the shader."""
        chain, item = CHAINS[series], self.items[series][k]
        if unit == "warps":
            return self.started.get((series, k))
        free = self.left(series, unit, k - 1) if k else 0
        before = [other for other in chain[: chain.index(unit)] if other != "warps" or item.is_shaded]
        if before:
            return latest(free, self.through(series, before[-1], k))
        if item.needs is None:
            return latest(free, self.command(item.draw))
        producer = self.beside(item.draw, series, -1)
        last = CHAINS[producer][-1]
        return latest(free, self.through(producer, last, self.first[item.draw, producer] + item.needs))

    def beside(self, draw, series, step):
        """The series of a draw before, or behind, another; None: there is none."""
        its = [name for name in CHAINS if name in self.draws[draw].items]
        place = its.index(series) + step
        return its[place] if 0 <= place < len(its) else None

    def left(self, series, unit, k):
        """When it left the unit: it is through, and the buffer behind has room."""
        if (series, unit, k) not in self.known:
            self.known[series, unit, k] = self.work_out(series, unit, k)
        return self.known[series, unit, k]

    def through(self, series, unit, k):
        """When it had left the unit, and been answered."""
        return latest(self.left(series, unit, k), self.answered(series, unit, k))

    def answered(self, series, unit, k):
        """When that and those before it were."""
        if (series, unit) not in ASKING or k < 0:
            return 0
        if ("answered", unit, k) not in self.known:
            own = self.answers.get((series, unit, k)) if self.items[series][k].accesses.get(unit) else 0
            self.known["answered", unit, k] = latest(own, self.answered(series, unit, k - 1))
        return self.known["answered", unit, k]

    def work_out(self, series, unit, k):
        if unit == "warps":
            return self.ended.get((series, k))
        begun = self.begun(series, unit, k)
        if begun is None:
            return None
        return latest(begun + self.cycles(series, unit, k), self.room(series, unit, k))

    def room(self, series, unit, k):
        """When there was room for an item behind a unit."""
        if (series, unit) not in ROOM:
            return 0
        return self.gone(series, unit, self.ahead[series, unit, k])

    def ahead_of(self, series, unit, k):
        """The item that must have given its place behind a unit back before there is one for another."""
        name, what = ROOM[series, unit]
        sizes = [item.amounts[what] if what else 1 for item in self.items[series]]
        ahead, total = k - 1, sizes[k]
        while ahead >= 0 and total + sizes[ahead] <= self.chip.graphics[name]:
            total += sizes[ahead]
            ahead -= 1
        return ahead

    def gone(self, series, unit, k):
        """When an item gave its place behind a unit back: it was taken, or all that need no later item were."""
        if k < 0:
            return 0
        if (series, unit) == ("pixel", "write"):
            return self.answered(series, unit, k)
        if (series, unit) in TAKEN_BY:
            return self.begun(series, TAKEN_BY[series, unit], k)
        number = self.items[series][k].draw
        taker = self.beside(number, series, +1)
        takers, most = [], -1
        for other, item in enumerate(self.draws[number].items[taker] if taker else []):
            most = max(most, -1 if item.needs is None else item.needs)
            takers += [other] if most <= k - self.first[number, series] else []
        if not takers:
            return self.gone(series, unit, k - 1)
        return self.begun(taker, CHAINS[taker][0], self.first[number, taker] + takers[-1])

    def command(self, number):
        """When a draw's command has been processed."""
        ready = self.command(number - 1) if number else self.origin
        if self.draws[number].drains:
            lasts = [
                self.through(series, CHAINS[series][-1], len(before) - 1)
                for series, items in self.items.items()
                if (before := [item for item in items if item.draw < number])
            ]
            ready = latest(ready, *lasts)
        return None if ready is None else ready + self.command_cycles(number)

    def command_cycles(self, number):
        rate = self.chip.graphics
        return in_ticks(rate["draw_cycles"] + self.draws[number].state_changes * rate["state_cycles"])

    # ---- what they access --------------------------------------------------------------------------

    def unanswered(self):
        """(place of the unit, series, unit, item) of what is not answered yet."""
        for place, (series, unit) in enumerate(ASKING):
            for k, item in enumerate(self.items[series]):
                if item.accesses.get(unit) and (series, unit, k) not in self.answers:
                    yield place, series, unit, k

    def arrivals(self, quantum_start):
        """Units come behind the SMs of the same cycle."""
        yield from super().arrivals(quantum_start)
        self.known = {}
        for place, series, unit, k in [*self.unanswered()]:
            begun = self.begun(series, unit, k)
            if begun is not None and begun < quantum_start + QUANTUM:
                yield (math.floor(begun), self.chip.sms + place, k), partial(self.answer, series, unit, k, begun)

    def answer(self, series, unit, k, begun):
        self.grid = ("draw", self.items[series][k].draw, unit)
        self.answers[series, unit, k] = max(self.access(begun, *line) for line in self.items[series][k].accesses[unit])

    def access(self, begun, line, reads, writes, missing):
        """When the L2 has answered; each half answers for its own lines."""
        chip, number = self.chip, self.slice_of(line)
        home = SimpleNamespace(half=number * 2 // chip.l2_slices)
        way, done = (chip.l2_near_cycles - chip.l2_far_cycles) // 2, 0
        for kind, sectors, left_out in (("read", reads, 0), ("write", writes, missing)):
            if not sectors:
                continue
            r = Request(0, 0, home, line, sectors, kind, None, missing=left_out, asked_by=(None, None))
            time = max(begun, self.slices[number])
            self.slices[number] = time + self.busy_in_slice(r)
            _, held = self.held_sectors(r, home.half)
            self.written_back = chip.dram_cycles
            arrives = self.touch_l2(r, sectors.bit_count(), time, way, held)
            self.count_for_grid(f"{kind}_sectors", sectors.bit_count())
            if kind == "read":
                done = max(math.floor(time) + chip.l2_near_cycles, arrives)
            else:  # it has its place when what was there has one in the queue of a channel
                sector = in_ticks(32 / (chip.dram_gbytes_per_s * 1000 / chip.clock_mhz / chip.dram_channels))
                queued = math.ceil(self.written_back - chip.dram_cycles - QUEUE * sector)
                done = max(done, math.floor(time) + chip.l2_store_cycles, queued)
        return done

    def is_over(self):
        return super().is_over() and not [*self.unanswered()]

    def traffic(self, number):
        """Sectors that units accessed for a draw, and those of the DRAM that this cost: reads and writes of both."""
        names = ("read_sectors", "write_sectors", "dram_read_sectors", "dram_write_sectors")
        return {
            unit: tuple(self.counts[name, ("draw", number, unit)] for name in names)
            for series, unit in ASKING
            if self.draws[number].items.get(series)
        }

    # ---- the shaders' grids ------------------------------------------------------------------------

    def item_of(self, job, block):
        for number, draw in enumerate(self.draws):
            for series, its in draw.jobs.items():
                if its == job.number:
                    return series, self.first[number, series] + block
        raise AssertionError("a job of no draw")

    def released(self, job):
        """The cycle from which its next block may start, None: not known yet."""
        series, k = self.item_of(job, job.next_block)
        chain = CHAINS[series]
        left = self.through(series, chain[chain.index("warps") - 1], k)
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

    def place(self, sm):
        """There is room for a block since it came, at most."""
        found = super().place(sm)
        return found and (max(found[0], self.released(self.head)), found[1])

    def start_block(self, job, sm, since, slot, t):
        self.started[self.item_of(job, job.next_block)] = Fraction(math.floor(self.begins(sm, since, t)))
        super().start_block(job, sm, since, slot, t)

    def begins(self, sm, since, t):
        """No work distributor stands between: each SM takes one warp after the other."""
        return max(Fraction(since + self.chip.block_launch_cycles), Fraction(t), self.distributors.get(sm, 0))

    def distribute(self, sm, free):
        self.distributors[sm] = free

    def release(self, sm, partition, lane, warp, t):
        block, job = warp.block, warp.block.job
        had_room, freed = self.fitting(job, sm) > 0, sm.freed
        super().release(sm, partition, lane, warp, t)
        if not block.warps:
            sm.freed = freed if had_room else sm.freed
            self.ended[self.item_of(job, block.index)] = Fraction(t)

    def times(self):
        """Of each draw: begin and end in whole cycles; by unit (first begun, last left, cycles at work and blocked);
        and of each shader's warp (start, series, end), sorted.
        """
        self.known, found = {}, []
        for number, draw in enumerate(self.draws):
            command = self.command(number)
            busy = self.command_cycles(number)
            units, waves, answers = {"command": (math.floor(command - busy), math.ceil(command), busy, 0)}, [], [0]
            for series, items in draw.items.items():
                rows = range(first := self.first[number, series], first + len(items))
                answers += [self.answered(series, unit, k) for its, unit in ASKING if its == series for k in rows]
                waves += [
                    (int(self.started[series, k]), series, int(self.ended[series, k]))
                    for k in rows
                    if (series, k) in self.started
                ]
                for unit in set(CHAINS[series]) - {"warps", "fed", "retired"} if rows else ():
                    busy = sum(self.cycles(series, unit, k) for k in rows)
                    there = sum(self.left(series, unit, k) - self.begun(series, unit, k) for k in rows)
                    first_begun, last_left = self.begun(series, unit, rows[0]), self.left(series, unit, rows[-1])
                    units[unit] = math.floor(first_begun), math.ceil(last_left), busy, there - busy
            end = max([last for _, last, *_ in units.values()] + [end for *_, end in waves] + answers)
            found.append((units["command"][0], end, units, sorted(waves)))
        return found


__all__ = ["Draw", "Draws", "Item"]
