"""The order that instructions of a region must have, and the values that take registers between them.

A value is what one write puts into registers: the same register has another value after the next. The registers of a
group of neighbours that one instruction writes are one value: nothing else that needs such a group finds place there
before the last of them is free.
The latencies are a rough guide for the order only (issue to use, cycles, Ampere microbenchmarks); the timing model has
its own.
"""

from functools import cached_property

from gpuprof.assemble.ir.body import Inst
from gpuprof.assemble.ir.memory_order import MAY_TOUCH_MEMORY, Accesses, is_access, is_fence, is_read_only, is_write
from gpuprof.assemble.registers.allocate import SCRATCH_WORDS
from gpuprof.isa.kinds import BLOCK_BARRIERS
from gpuprof.isa.opcodes import TABLE, check_latencies

LATENCY_CYCLES = {
    "alu": 5, "fma": 4, "imad": 5, "imad_hi": 6, "fp64": 8, "half": 6, "xu": 18, "conversion": 14, "division": 40,
    "iterative": 40,
    "iterative64": 80, "memory": 200, "shared": 25, "constant": 25, "store": 1, "atomic": 200, "atomic_shared": 60,
    "shuffle": 24, "vote": 10,
    "s2r": 20, "branch": 1, "barrier": 1, "membar": 1, "texture": 300, "tensor": 16, "tensor_long": 24, "tensor64": 24,
}  # fmt: skip
check_latencies(LATENCY_CYCLES)
LATENCY = [LATENCY_CYCLES[row.latency] for row in TABLE]
_SCRATCH = [SCRATCH_WORDS.get(row.number, 0) for row in TABLE]


class Dependences:
    """The dependences of the instructions of a region, by index.

    `live_after`: registers that are read after the region. `weight`: 32-bit words of each register.
    """

    def __init__(self, region: list[Inst], live: set[int], live_after: set[int], weight: list[int]):
        self.region = region
        n = len(region)
        # (index, cycles); an index may be there twice
        self.successors: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        self.n_before = [0] * n  # edges that lead here
        self.reads: list[list[int]] = []  # values, of each instruction
        self.makes: list[list[int]] = [[] for _ in range(n)]  # values, of each instruction
        self.words: list[int] = []  # of each value
        self.readers: list[list[int]] = []  # of each value, in the order of the region
        self.stays: list[bool]  # of each value: whether it is live after the region
        self.words_before = sum([weight[r] for r in live])
        self.scratch = [_SCRATCH[inst.op.number] for inst in region]  # words, of each instruction while it runs
        self._values(live, live_after, weight)
        touching = [(index, inst) for index, inst in enumerate(region) if MAY_TOUCH_MEMORY[inst.op.number]]
        if touching:
            self._memory(touching)
            self._barriers()

    def _edge(self, source: int, target: int, cycles: int):
        self.successors[source].append((target, cycles))
        self.n_before[target] += 1

    def _values(self, live: set[int], live_after: set[int], weight: list[int]):  # noqa: C901  # a case for each kind of instruction
        successors, n_before, words, all_readers, makes = (
            self.successors, self.n_before, self.words, self.readers, self.makes
        )  # fmt: skip
        writer: dict[int, int] = {}
        readers: dict[int, list[int]] = {}
        value: dict[int, int] = {}  # register -> the value it has now
        latencies = [LATENCY[inst.op.number] for inst in self.region]

        for index, inst in enumerate(self.region):
            read_values: list[int] = []
            reads = inst.read
            for register in reads if len(reads) < 2 else dict.fromkeys(reads):
                if register in writer:
                    source = writer[register]
                    successors[source].append((index, latencies[source]))
                    n_before[index] += 1
                if register in readers:
                    readers[register].append(index)
                else:
                    readers[register] = [index]
                if register in value:
                    read = value[register]
                    if read in read_values:
                        continue
                else:
                    value[register] = read = len(words)
                    words.append(weight[register])
                    all_readers.append([])
                read_values.append(read)
                all_readers[read].append(index)
            self.reads.append(read_values)
            made: list[int] = []
            kills = inst.guard is None or inst.fresh
            for register in inst.written:
                if register in writer:
                    source = writer[register]
                    # A guarded write leaves the old value to some lanes: it needs that.
                    successors[source].append((index, 1 if kills else latencies[source]))
                    n_before[index] += 1
                for reader in readers.pop(register, ()):
                    if reader != index:
                        # No cycles: an instruction does not wait for a register's readers (docs/model/instructions.md,
                        # Scoreboard).
                        successors[reader].append((index, 0))
                        n_before[index] += 1
                writer[register] = index
                if kills or (register not in value and register not in live):
                    made.append(register)
            if not made:
                continue
            if len(made) > 1 and made == list(inst.dst if inst.dst.__class__ is tuple else ()):
                value.update(dict.fromkeys(made, len(words)))
                words.append(sum([weight[r] for r in made]))
                all_readers.append([])
            else:
                for register in made:
                    value[register] = len(words)
                    words.append(weight[register])
                    all_readers.append([])
            if len(made) == 1:
                makes[index] = [value[made[0]]]
            else:
                makes[index] = list(dict.fromkeys([value[register] for register in made]))
        self.stays = [False] * len(words)
        for register in live_after & value.keys():
            self.stays[value[register]] = True

    def _memory(self, touching: list[tuple[int, Inst]]):
        """Reads keep their order against writes, writes against both; no access passes a fence."""
        since: list[int] = []  # accesses since the last fence
        known = Accesses()
        fence = -1
        for index, inst in touching:
            if is_fence(inst):
                for earlier in (*since, *((fence,) if fence >= 0 else ())):
                    self._edge(earlier, index, 1)
                fence, since, known = index, [], Accesses()
            elif is_access(inst):
                if fence >= 0:
                    self._edge(fence, index, 1)
                since.append(index)
                # No store of the kernel can change such data, so only fences keep their place.
                if not is_read_only(inst):
                    for earlier in known.conflicts(inst):
                        self._edge(earlier, index, 1)
                    known.add(index, inst)

    def _barriers(self):
        """Values made from loads of shared memory before a block's barrier stay before it: with ptxas 13.0
        the barrier comes after a chain of eighty dependent products, and passes one of values from elsewhere.
        """
        if not any(inst.op.kind in BLOCK_BARRIERS for inst in self.region):
            return
        of_shared: set[int] = set()  # values
        waiting: list[int] = []  # that made them, since the last barrier
        for index, inst in enumerate(self.region):
            if inst.op.kind in BLOCK_BARRIERS:
                for earlier in waiting:
                    self._edge(earlier, index, 1)
                waiting = []
            elif inst.op.space == "shared" and not is_write(inst):
                of_shared.update(self.makes[index])
            elif not of_shared.isdisjoint(self.reads[index]):
                of_shared.update(self.makes[index])
                waiting.append(index)

    @cached_property
    def heights(self) -> list[int]:
        """Cycles from each instruction to the end of the region."""
        height = [0] * len(self.region)
        for index in range(len(self.region) - 1, -1, -1):
            highest = 0
            for successor, cycles in self.successors[index]:
                if cycles + height[successor] > highest:
                    highest = cycles + height[successor]
            height[index] = highest + 1
        return height

    @cached_property
    def longest_waits(self) -> list[int]:
        """The longest latency, in cycles, among each instruction and what needs its result in this region."""
        longest = [LATENCY[inst.op.number] for inst in self.region]
        for index in range(len(self.region) - 1, -1, -1):
            for successor, cycles in self.successors[index]:
                # One cycle or none: it needs no result, it only comes later.
                if cycles > 1 and longest[successor] > longest[index]:
                    longest[index] = longest[successor]
        return longest
