"""Order of the instructions inside a block: longest path first, loads early, registers watched.

The latencies are a rough guide for the order only (issue to use, cycles, Ampere microbenchmarks); the timing model has
its own.
"""

from gpuprof.assemble.ir.body import WORDS, Block, Body, Inst
from gpuprof.assemble.ir.liveness import block_liveness
from gpuprof.assemble.ir.memory_order import conflict, is_access, is_fence, is_read_only, is_write, reads_clock
from gpuprof.assemble.registers.allocate import ALWAYS_FREE, GRANULE, RESERVED_WORDS
from gpuprof.assemble.registers.scratch import SCRATCH_WORDS
from gpuprof.isa.opcodes import TABLE, check_latencies

LATENCY_CYCLES = {
    "alu": 5, "fma": 4, "imad": 5, "imad_hi": 6, "fp64": 8, "half": 6, "xu": 18, "conversion": 14, "division": 40,
    "iterative": 40,
    "iterative64": 80, "memory": 200, "shared": 25, "constant": 25, "store": 1, "atomic": 200, "atomic_shared": 60,
    "shuffle": 24, "vote": 10,
    "s2r": 20, "branch": 1, "barrier": 1, "membar": 1, "texture": 300, "tensor": 16, "tensor_long": 24, "tensor64": 24,
}  # fmt: skip
check_latencies(LATENCY_CYCLES)
_LATENCY = [LATENCY_CYCLES[row.latency] for row in TABLE]
_SCRATCH = [SCRATCH_WORDS.get(row.number, 0) for row in TABLE]
_LONG_CYCLES = 20  # whoever takes longer starts as early as it can: other instructions fill the time

# Each choice looks at all instructions that are ready, so the time grows with the square of this.
_LARGEST_REGION = 256  # instructions


def schedule(body: Body, max_registers: int) -> None:
    """Reorders the instructions of every block; a thread should stay below `max_registers` where it can."""
    liveness = block_liveness(body)
    live_outs = [set(liveness.members(out)) for out in liveness.live_out]
    weight = [WORDS[file] for file in body.files]
    most = max((_most_live(weight, block, out) for block, out in zip(body.blocks, live_outs, strict=True)), default=0)
    own = RESERVED_WORDS + 1  # the program counter and the stack pointer
    # The rest of a granule costs no occupancy, so the limit goes up to its end.
    generous = max(ALWAYS_FREE, -(-(most + own + 4) // GRANULE) * GRANULE)
    limit = min(generous, max_registers) - own
    for block, out in zip(body.blocks, live_outs, strict=True):
        if len(block.insts) > 2:
            _schedule_block(body, block, out, weight, limit)


def _most_live(weight: list[int], block: Block, live_out: set[int]) -> int:
    """The largest number of words that are live at once in the order as it stands."""
    live = set(live_out)
    words = most = sum([weight[r] for r in live])
    for inst in reversed(block.insts):
        if inst.guard is None or inst.fresh:
            for register in inst.writes():
                if register in live:
                    live.discard(register)
                    words -= weight[register]
        for register in inst.reads():
            if register not in live:
                live.add(register)
                words += weight[register]
        if words > most:
            most = words
    return most


def _schedule_block(body: Body, block: Block, live_out: set[int], weight: list[int], limit: int):
    """Regions are scheduled from the last to the first, so that what later ones read is known."""
    live = live_out
    result: list[list[Inst]] = []
    for region, movable in reversed(_regions(body, block.insts)):
        before = _live_before(region, live)
        result.append(_Region(region, before, live, weight, limit).ordered() if movable and len(region) > 2 else region)
        live = before
    block.insts = [inst for region in reversed(result) for inst in region]


def _regions(body: Body, insts: list[Inst]) -> list[tuple[list[Inst], bool]]:
    """(instructions, may be reordered): calls and what stands in fixed registers for them stay where they are, and so
    do readings of a clock and the last jump."""
    regions: list[tuple[list[Inst], bool]] = []
    fixed = body.fixed
    for inst in insts:
        pinned = inst.op.pipe == "cbu" or reads_clock(inst)
        if fixed and not pinned:
            pinned = any(r in fixed for r in (*inst.reads(), *inst.writes()))
        if regions and regions[-1][1] != pinned and len(regions[-1][0]) < _LARGEST_REGION:
            regions[-1][0].append(inst)
        else:
            regions.append(([inst], not pinned))
    return regions


def _live_before(region: list[Inst], live_after: set[int]) -> set[int]:
    live = set(live_after)
    for inst in reversed(region):
        if inst.guard is None or inst.fresh:
            live.difference_update(inst.writes())
        live.update(inst.reads())
    return live


class _Region:
    """Instructions that may change places, by index, and the values that are live between those issued so far and the
    rest.

    A value is what one write puts into a register: the same register has another value after the next.
    """

    def __init__(self, region: list[Inst], live: set[int], live_after: set[int], weight: list[int], limit: int):
        self.region, self.limit = region, limit
        n = len(region)
        # (index, cycles); an index may stand there twice
        self.successors: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        self.waiting = [0] * n  # for so many of those before
        self.height = [0] * n  # cycles from here to the end of the region
        self.start = [0] * n  # when its operands are there
        self.words = sum([weight[r] for r in live])
        self.reads: list[list[int]] = []  # values, of each instruction
        self.value_words: list[int] = []  # of each value; 0 for one that stays, since it cannot end
        self.n_readers: list[int] = []  # of each value, still to come
        self.readers: list[int] = []  # the sum of their indexes: when one is left, this is it
        self.frees = [0] * n  # words that end when this is issued now
        self.takes = [0] * n  # words that it begins
        self._depend(live, live_after, weight)
        _memory_edges(self)
        self._weigh()

    def edge(self, source: int, target: int, cycles: int):
        self.successors[source].append((target, cycles))
        self.waiting[target] += 1

    def _value(self, words: int) -> int:
        self.value_words.append(words)
        self.n_readers.append(0)
        self.readers.append(0)
        return len(self.value_words) - 1

    def _depend(self, live: set[int], live_after: set[int], weight: list[int]):
        writer: dict[int, int] = {}
        readers: dict[int, list[int]] = {}
        value: dict[int, int] = {}  # register -> the value it has now
        made: list[tuple[int, int]] = []  # (instruction, value)
        for index, inst in enumerate(self.region):
            reads, writes = inst.reads(), inst.writes()
            if len(reads) > 1:
                reads = list(dict.fromkeys(reads))
            read_values = []
            for register in reads:
                if register in writer:
                    source = writer[register]
                    self.successors[source].append((index, _LATENCY[self.region[source].op.number]))
                    self.waiting[index] += 1
                if register in readers:
                    readers[register].append(index)
                else:
                    readers[register] = [index]
                if register not in value:
                    value[register] = self._value(weight[register])
                read = value[register]
                read_values.append(read)
                self.n_readers[read] += 1
                self.readers[read] += index
            self.reads.append(read_values)
            for register in writes:
                if register in writer:
                    self.edge(writer[register], index, 1)
                for reader in readers.pop(register, ()):
                    if reader != index:
                        # No cycles: an instruction does not wait for a register's readers (docs/model.md, Scoreboard).
                        self.edge(reader, index, 0)
                writer[register] = index
                if inst.guard is None or inst.fresh or (register not in value and register not in live):
                    value[register] = self._value(weight[register])
                    made.append((index, value[register]))
        last = {value[register] for register in live_after if register in value}
        for index, new in made:
            if self.n_readers[new] or new in last:
                self.takes[index] += self.value_words[new]
        for stays in last:
            self.value_words[stays] = 0

    def _weigh(self):
        height, successors = self.height, self.successors
        for index in range(len(self.region) - 1, -1, -1):
            highest = 0
            for successor, cycles in successors[index]:
                if cycles + height[successor] > highest:
                    highest = cycles + height[successor]
            height[index] = highest + 1
        for value, n in enumerate(self.n_readers):
            if n == 1:
                self.frees[self.readers[value]] += self.value_words[value]

    def ordered(self) -> list[Inst]:
        ready = [index for index, waiting in enumerate(self.waiting) if not waiting]
        start, region = self.start, self.region
        order: list[Inst] = []
        now = 0
        finish = max(self.height)  # when the longest path from what is issued ends
        while ready:
            index = self._choose(ready, now, finish) if len(ready) > 1 else ready[0]
            ready.remove(index)
            order.append(region[index])
            self._issue(index)
            now = max(now, start[index])
            for successor, cycles in self.successors[index]:
                if now + cycles > start[successor]:
                    start[successor] = now + cycles
                    if start[successor] + self.height[successor] > finish:
                        finish = start[successor] + self.height[successor]
                self.waiting[successor] -= 1
                if not self.waiting[successor]:
                    ready.append(successor)
            # A row without a slot of its own still takes a place in the order.
            now += region[index].op.slots or 1
        return order

    def _choose(self, ready: list[int], now: int, finish: int) -> int:
        """The longest path among what can start; what only takes registers waits as long as the longest path lets it.
        When registers run short, what takes none."""
        room = self.limit - self.words
        best, best_key = -1, None
        short, short_key = -1, None
        start, height, takes, frees = self.start, self.height, self.takes, self.frees
        for index in ready:
            change = takes[index] - frees[index]
            op = self.region[index].op.number
            begin = start[index] if start[index] > now else now
            if change + _SCRATCH[op] > room or room <= 0:
                key = (change if change > 0 else 0, begin, change, index)
                if short_key is None or key < short_key:
                    short, short_key = index, key
                continue
            if change > 0 and _LATENCY[op] < _LONG_CYCLES and finish - height[index] > begin:
                begin = finish - height[index]
            key = (begin, -height[index], index)
            if best_key is None or key < best_key:
                best, best_key = index, key
        return best if best >= 0 else short

    def _issue(self, index: int):
        self.words += self.takes[index] - self.frees[index]
        for value in self.reads[index]:
            left = self.n_readers[value] - 1
            self.n_readers[value] = left
            self.readers[value] -= index
            if left == 1:
                self.frees[self.readers[value]] += self.value_words[value]


def _memory_edges(region: _Region):
    """Reads keep their order against writes, writes against both; nothing passes a fence."""
    reads: list[int] = []
    writes: list[int] = []
    fence = -1
    for index, inst in enumerate(region.region):
        if is_fence(inst):
            for earlier in (*reads, *writes, *((fence,) if fence >= 0 else ())):
                region.edge(earlier, index, 1)
            fence, reads, writes = index, [], []
        elif is_access(inst):
            if fence >= 0:
                region.edge(fence, index, 1)
            # No store of the kernel can change such data, so only fences keep their place.
            if is_read_only(inst):
                reads.append(index)
                continue
            stores = is_write(inst)
            for earlier in (*reads, *writes) if stores else writes:
                first = region.region[earlier]
                if not is_read_only(first) and conflict(first, inst):
                    region.edge(earlier, index, 1)
            (writes if stores else reads).append(index)
