"""The order that instructions of a region must have, and the values that take registers between them.

A value is what one write puts into registers: the same register has another value after the next. The registers of a
group of neighbours that one instruction writes are one value: nothing else that needs such a group finds place there
before the last of them is free.
The latencies are a rough guide for the order only (issue to use, cycles, Ampere microbenchmarks); the timing model has
its own.
"""

from gpuprof.assemble.ir.body import Inst
from gpuprof.assemble.ir.memory_order import conflict, is_access, is_fence, is_read_only, is_write
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
        self.stays: list[bool] = []  # of each value: whether it is live after the region
        self.words_before = sum([weight[r] for r in live])
        self._values(live, live_after, weight)
        self._memory()
        self._barriers()

    def _edge(self, source: int, target: int, cycles: int):
        self.successors[source].append((target, cycles))
        self.n_before[target] += 1

    def _value(self, words: int) -> int:
        self.words.append(words)
        self.readers.append([])
        self.stays.append(False)
        return len(self.words) - 1

    def _values(self, live: set[int], live_after: set[int], weight: list[int]):  # noqa: C901  # a case for each kind of instruction
        writer: dict[int, int] = {}
        readers: dict[int, list[int]] = {}
        value: dict[int, int] = {}  # register -> the value it has now
        for index, inst in enumerate(self.region):
            reads, writes = inst.reads(), inst.writes()
            if len(reads) > 1:
                reads = list(dict.fromkeys(reads))
            read_values: list[int] = []
            for register in reads:
                if register in writer:
                    source = writer[register]
                    self._edge(source, index, LATENCY[self.region[source].op.number])
                readers.setdefault(register, []).append(index)
                if register not in value:
                    value[register] = self._value(weight[register])
                read = value[register]
                if read not in read_values:
                    read_values.append(read)
                    self.readers[read].append(index)
            self.reads.append(read_values)
            made: list[int] = []
            for register in writes:
                if register in writer:
                    source = writer[register]
                    # A guarded write leaves the old value to some lanes: it needs that.
                    self._edge(source, index, 1 if inst.kills else LATENCY[self.region[source].op.number])
                for reader in readers.pop(register, ()):
                    if reader != index:
                        # No cycles: an instruction does not wait for a register's readers (docs/model/instructions.md,
                        # Scoreboard).
                        self._edge(reader, index, 0)
                writer[register] = index
                if inst.guard is None or inst.fresh or (register not in value and register not in live):
                    made.append(register)
            if len(made) > 1 and made == list(inst.dst if inst.dst.__class__ is tuple else ()):
                value.update(dict.fromkeys(made, self._value(sum([weight[r] for r in made]))))
            else:
                for register in made:
                    value[register] = self._value(weight[register])
            self.makes[index] = list(dict.fromkeys(value[register] for register in made))
        for register in live_after:
            if register in value:
                self.stays[value[register]] = True

    def _memory(self):
        """Reads keep their order against writes, writes against both; no access passes a fence."""
        reads: list[int] = []
        writes: list[int] = []
        fence = -1
        for index, inst in enumerate(self.region):
            if is_fence(inst):
                for earlier in (*reads, *writes, *((fence,) if fence >= 0 else ())):
                    self._edge(earlier, index, 1)
                fence, reads, writes = index, [], []
            elif is_access(inst):
                if fence >= 0:
                    self._edge(fence, index, 1)
                # No store of the kernel can change such data, so only fences keep their place.
                if is_read_only(inst):
                    reads.append(index)
                    continue
                stores = is_write(inst)
                for earlier in (*reads, *writes) if stores else writes:
                    first = self.region[earlier]
                    if not is_read_only(first) and conflict(first, inst):
                        self._edge(earlier, index, 1)
                (writes if stores else reads).append(index)

    def _barriers(self):
        """Values made from loads of shared memory before a block's barrier stay before it: with ptxas 13.0
        the barrier comes after a chain of eighty dependent products, and passes one of values from elsewhere.
        """
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

    def longest_waits(self) -> list[int]:
        """The longest latency, in cycles, among each instruction and what needs its result in this region."""
        longest = [LATENCY[inst.op.number] for inst in self.region]
        for index in range(len(self.region) - 1, -1, -1):
            for successor, cycles in self.successors[index]:
                # One cycle or none: it needs no result, it only comes later.
                if cycles > 1 and longest[successor] > longest[index]:
                    longest[index] = longest[successor]
        return longest
