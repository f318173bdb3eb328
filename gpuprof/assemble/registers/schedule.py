"""Order of the instructions inside a block: longest path first, loads early, as far as registers go.

Each region first gets the order that keeps the fewest registers alive. From there instructions move up to where their
operands are there, as long as no place between gets more registers than the budget. So the budget holds wherever any
order was found that keeps it. Between two instructions of the transcendental pipe others come, as far as there are any.
"""

from bisect import insort
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gpuprof.assemble.ir.body import Block, Body, Inst, words_of
from gpuprof.assemble.ir.liveness import Liveness
from gpuprof.assemble.ir.memory_order import MAY_TOUCH_MEMORY, is_access, is_write, reads_clock
from gpuprof.assemble.registers.allocate import RESERVED_WORDS
from gpuprof.assemble.registers.dependences import LATENCY, Dependences
from gpuprof.assemble.registers.pressure import lowest_order, pressure

_LONG_CYCLES = 20  # whoever takes longer starts as early as it can: other instructions fill the time
_OWN = RESERVED_WORDS + 1  # the program counter and the stack pointer

# Latencies over which a load, and what it needs, moves up that takes registers of the budget; fitted to ptxas'
# registers.
_AHEAD = 2
_XU_CYCLES = 8  # from one MUFU, POPC or FLO to the next: stall counts of ptxas 13.0, sm_75 to sm_90
_LARGEST_REGION = 16384  # instructions
_MOST_PAIRS = 1 << 20  # of a store and another access to memory, in a region: each is looked at for their order
_WINDOW = 256  # instructions over which one may move up; each choice looks at all that are ready among them


_ISSUED = np.iinfo(np.int64).min // 2  # words of a place that is no longer one of the rest


class _Part(NamedTuple):
    """A region of a block with its order of least pressure, and the words that are live along it; None: it stays."""

    insts: list[Inst]
    graph: Dependences | None
    order: list[int]
    words: list[int]


class Schedule:
    """The orders of a body's instructions, for any budget of registers. `liveness`: of the body as it is."""

    def __init__(self, body: Body, liveness: Liveness):
        weight = words_of(body)
        self.body = body
        self.liveness = liveness
        self.parts: list[list[_Part]] = [
            _parts(body, block, set(liveness.members(out)), weight)
            for block, out in zip(body.blocks, liveness.live_out, strict=True)
        ]
        most = max((max(part.words) for parts in self.parts for part in parts if part.words), default=0)
        self.fewest = most + _OWN  # registers of a thread that the orders of least pressure need

    def crowded(self, budget: int) -> Iterator[tuple[Inst, int, set[int]]]:
        """The instructions, in the orders of least pressure, at which a thread has more than `budget` registers; the
        words too many; and the registers that are live after each, a set that changes.
        """
        for parts, live_out in zip(self.parts, self.liveness.live_out, strict=True):
            live = set(self.liveness.members(live_out))
            for part in reversed(parts):
                for index, words in zip(reversed(part.order), reversed(part.words), strict=True):
                    inst = part.insts[index]
                    if words > budget - _OWN:
                        yield inst, words - (budget - _OWN), live
                    if inst.guard is None or inst.fresh:
                        live.difference_update(inst.written)
                    live.update(inst.read)

    def apply(self, budget: int) -> None:
        """Orders every block. A thread stays within `budget` registers where it can."""
        for block, parts in zip(self.body.blocks, self.parts, strict=True):
            block.insts = [inst for part in parts for inst in _ordered(part, budget - _OWN, self.body.free_registers)]


def _ordered(part: _Part, budget: int, free_registers: int) -> list[Inst]:
    if part.graph is None:
        return part.insts
    return [part.insts[index] for index in _Ordering(part, budget, free_registers).order()]


def _parts(body: Body, block: Block, live_out: set[int], weight: list[int]) -> list[_Part]:
    """Regions from the last to the first, so that what later ones read is known."""
    live = live_out
    result: list[_Part] = []
    for region, movable in reversed(_regions(body, block.insts)):
        before = _live_before(region, live)
        graph = Dependences(region, before, live, weight)
        if movable and not body.keeps_order and len(region) > 2:
            result.append(_Part(region, graph, *lowest_order(graph, body.free_registers)))
        else:
            order = list(range(len(region)))
            result.append(_Part(region, None, order, pressure(graph, order)))
        live = before
    return result[::-1]


def _regions(body: Body, insts: list[Inst]) -> list[tuple[list[Inst], bool]]:
    """(instructions, may be reordered): calls and their fixed registers stay where they are, and so
    do readings of a clock and the last jump."""
    regions: list[tuple[list[Inst], bool]] = []
    fixed = body.fixed
    region: list[Inst] = []
    movable = False
    accesses = writes = 0
    for inst in insts:
        pinned = inst.op.pipe == "cbu" or reads_clock(inst)
        if fixed and not pinned:
            pinned = not (fixed.keys().isdisjoint(inst.read) and fixed.keys().isdisjoint(inst.written))
        if region and pinned != movable and len(region) < _LARGEST_REGION and accesses * writes < _MOST_PAIRS:
            region.append(inst)
        else:
            region, movable = [inst], not pinned
            regions.append((region, movable))
            accesses = writes = 0
        if MAY_TOUCH_MEMORY[inst.op.number]:
            accesses += is_access(inst)
            writes += is_write(inst)
    return regions


def _live_before(region: list[Inst], live_after: set[int]) -> set[int]:
    live = set(live_after)
    for inst in reversed(region):
        if inst.guard is None or inst.fresh:
            live.difference_update(inst.written)
        live.update(inst.read)
    return live


class _Ordering:
    """One order of a region. The rest, in the order of least pressure, is what it falls back to: `along` has the words
    that are live at each of its places, and no move up may bring one of them over the budget.
    """

    def __init__(self, part: _Part, budget: int, free_registers: int):
        self.graph = graph = part.graph
        self.fallback = part.order
        self.place = [0] * len(part.order)
        for place, index in enumerate(part.order):
            self.place[index] = place
        self.along = np.array(part.words, np.int64)
        self.most = max(part.words)  # no place of `along` has more
        self.budget = max(budget, self.most)
        self.free = min(self.budget, free_registers - _OWN)
        self.first = 0  # the first place of the fallback that is not issued yet
        self.words = graph.words_before  # live now
        self.height = graph.heights
        self.waits = [LATENCY[inst.op.number] >= _LONG_CYCLES for inst in graph.region]
        self.ahead = [_AHEAD * cycles for cycles in graph.longest_waits]
        self.start = [0] * len(part.order)  # when the operands are there
        self.on_xu = [inst.op.latency == "xu" for inst in graph.region]
        self.xu_free = 0  # from when on its pipe takes the next one
        # Of equals the longest path, and then what is first in the fallback.
        self.rank = [0] * len(part.order)
        by_rank = sorted(range(len(part.order)), key=lambda index: (-self.height[index], self.place[index]))
        for rank, index in enumerate(by_rank):
            self.rank[index] = rank
        self.waiting = list(graph.n_before)
        self.left = [sorted(self.place[i] for i in readers) for readers in graph.readers]  # places still to read it
        self.issued = [False] * len(part.order)
        self.takes = [sum(graph.words[v] for v in made if graph.readers[v] or graph.stays[v]) for made in graph.makes]
        self.change = list(self.takes)  # words that this takes if it is issued now, less those that end
        for value, places in enumerate(self.left):
            if len(places) == 1 and not graph.stays[value]:
                self.change[self.fallback[places[0]]] -= graph.words[value]

        # Words that loads which are not issued yet take, by place.
        self.loads = np.array([self.takes[i] if self.waits[i] else 0 for i in self.fallback], np.int64)

    def order(self) -> list[int]:
        graph, start, height, waiting = self.graph, self.start, self.height, self.waiting
        place = self.place.__getitem__
        ready = sorted((index for index, waiting in enumerate(self.waiting) if not waiting), key=place)
        order: list[int] = []
        now = 0
        slots = [inst.op.slots or 1 for inst in graph.region]
        finish = max(self.height)  # when the longest path from what is issued ends
        while ready:
            index = self._choose(ready, now, finish)
            ready.remove(index)
            order.append(index)
            self._issue(index)
            if start[index] > now:
                now = start[index]
            if self.on_xu[index]:
                now = max(now, self.xu_free)
                self.xu_free = now + _XU_CYCLES
            for successor, cycles in graph.successors[index]:
                ready_at = now + cycles
                if ready_at > start[successor]:
                    start[successor] = ready_at
                    if ready_at + height[successor] > finish:
                        finish = ready_at + height[successor]
                waiting[successor] -= 1
                if not waiting[successor]:
                    insort(ready, successor, key=place)
            # A row without a slot of its own still takes a place in the order.
            now += slots[index]
        return order

    def _choose(self, ready: list[int], now: int, finish: int) -> int:
        """The longest path among what can start (`ready`, by place); what only takes registers waits as long as the
        longest path lets it.
        """
        if len(ready) == 1:
            return ready[0]
        following = self.fallback[self.first]
        reach: dict[int, tuple[int, int]] = {}  # words -> the first places that have no room for them
        nearer = None  # words of the loads before each place that are not issued yet
        best, best_key = following, -1
        start, height, place, rank = self.start, self.height, self.place, self.rank
        changes, scratch, waits = self.change, self.graph.scratch, self.waits
        on_xu, xu_free = self.on_xu, self.xu_free
        n = len(place)
        last = self.first + _WINDOW
        for index in ready:
            if place[index] > last:
                break
            change = changes[index]
            needs = change + scratch[index]
            if needs > 0 and index != following:
                if needs not in reach:
                    reach[needs] = (self._reach(needs, self.free), self._reach(needs, self.budget))
                freely, at_most = reach[needs]
                if place[index] > freely and place[index] > min(at_most, self.first + self.ahead[index]):
                    continue
                if waits[index]:
                    if nearer is None:
                        nearer = np.cumsum(self.loads[self.first : last + 1]) + self.words
                    # A load that is needed earlier may have to wait for its address, but not for a register.
                    if nearer[place[index] - self.first] > self.budget:
                        continue
            begin = start[index] if start[index] > now else now
            if on_xu[index] and xu_free > begin:
                begin = xu_free
            if change > 0 and not waits[index] and finish - height[index] > begin:
                begin = finish - height[index]
            key = begin * n + rank[index]
            if key < best_key or best_key < 0:
                best, best_key = index, key
        return best

    def _reach(self, words: int, budget: int) -> int:
        if self.words + words > budget:
            return self.first
        if self.most + words <= budget:
            return len(self.fallback)
        self.most = int(self.along[self.first :].max())
        if self.most + words <= budget:
            return len(self.fallback)
        over = self.along[self.first : self.first + _WINDOW] > budget - words
        nearest = int(over.argmax())
        return self.first + nearest if over[nearest] else len(self.fallback)

    def _issue(self, index: int):
        graph, place, first, along = self.graph, self.place[index], self.first, self.along
        self.words += self.change[index]
        if place > first and self.takes[index]:
            along[first:place] += self.takes[index]
            self.most += self.takes[index]
        for value in graph.reads[index]:
            left = self.left[value]
            if place > first and left[-1] == place and not graph.stays[value]:
                # It is free from the previous reader on, where it was held up to here.
                along[max(left[-2], first) if len(left) > 1 else first : place] -= graph.words[value]
            left.remove(place)
            if len(left) == 1 and not graph.stays[value]:
                self.change[self.fallback[left[0]]] -= graph.words[value]
        along[place] = _ISSUED
        if self.waits[index]:
            self.loads[place] = 0
        self.issued[index] = True
        while self.first < len(self.fallback) and self.issued[self.fallback[self.first]]:
            self.first += 1
