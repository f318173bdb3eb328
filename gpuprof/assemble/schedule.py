"""Order of the instructions inside a block: longest path first, loads early, registers watched.

The latencies are a rough guide for the order only (issue to use, cycles, Ampere microbenchmarks); the timing model has its own.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from gpuprof.assemble.fold import constant_of
from gpuprof.assemble.ir import Block, Body, Inst
from gpuprof.assemble.liveness import block_liveness, members
from gpuprof.assemble.memory_order import conflict, is_access, is_fence, is_read_only, is_write, reads_clock
from gpuprof.isa.opcodes import TABLE

LATENCY_CYCLES = {
    "alu": 5, "fma": 4, "imad": 5, "imad_hi": 6, "fp64": 8, "half": 6, "xu": 18, "conversion": 14, "division": 40, "iterative": 40,
    "iterative64": 80, "memory": 200, "shared": 25, "constant": 25, "store": 1, "atomic": 200, "atomic_shared": 60, "shuffle": 24, "vote": 10,
    "s2r": 20, "branch": 1, "barrier": 1, "membar": 1, "texture": 300, "tensor": 16, "tensor_long": 24, "tensor64": 24,
}  # fmt: skip
assert all(row.latency in LATENCY_CYCLES for row in TABLE)

_LARGEST_REGION = 256  # instructions; the work grows with its square
_ALWAYS_FREE = 30  # registers a thread may use without a thought: 2048 threads of an SM share 65536
_SLACK = 8  # registers the schedule may add to what the program's own order needs, and fill up to
_GRANULE = 8  # what an SM gives a thread at least: the rest of a granule is free


@dataclass(slots=True)
class _Node:
    inst: Inst
    index: int
    successors: dict[int, int] = field(default_factory=dict)  # node -> cycles
    waiting: int = 0
    height: int = 0  # cycles from here to the end of the region
    ready: int = 0
    is_constant: bool = False


def schedule(body: Body, max_registers: int) -> None:
    """Reorders the instructions of every block; a thread should stay below `max_registers` (R + 2 * D) where it can."""
    _, live_out = block_liveness(body)
    floor = most_live(body)
    generous = -(-(floor["R"] + 2 * floor["D"] + _SLACK) // _GRANULE) * _GRANULE
    budget = Budget(floor, min(max(_ALWAYS_FREE, generous), max_registers))
    for block, out in zip(body.blocks, live_out, strict=True):
        _schedule_block(body, block, set(members(out)), budget)


class Budget(NamedTuple):
    """A thread pays for the most R and the most D it ever has live, also when that is at different places."""

    floor: dict[str, int]  # what the program's own order needs anyway, by file
    limit: int  # of R + 2 * D

    def cost(self, r: int, d: int) -> int:
        return max(r, self.floor["R"]) + 2 * max(d, self.floor["D"])


def most_live(body: Body) -> dict[str, int]:
    """The largest number of registers of each file that are live at once in the order as it stands."""
    _, live_out = block_liveness(body)
    most = {"R": 0, "D": 0, "P": 0}
    for block, out in zip(body.blocks, live_out, strict=True):
        live = set(members(out))
        count = {"R": 0, "D": 0, "P": 0}
        for register in live:
            count[body.files[register]] += 1
        most = {file: max(n, count[file]) for file, n in most.items()}
        for inst in reversed(block.insts):
            if inst.kills:
                for register in inst.writes():
                    if register in live:
                        live.discard(register)
                        count[body.files[register]] -= 1
            for register in inst.reads():
                if register not in live:
                    live.add(register)
                    file = body.files[register]
                    count[file] += 1
                    most[file] = max(most[file], count[file])
    return most


def _schedule_block(body: Body, block: Block, live_out: set[int], budget: Budget):
    """Regions are scheduled from the last to the first, so that what later ones read is known."""
    live = live_out
    result: list[list[Inst]] = []
    for region, movable in reversed(_regions(body, block.insts)):
        before = _live_before(region, live)
        result.append(_list_schedule(body, region, before, live, budget) if movable and len(region) > 2 else region)
        live = before
    block.insts = [inst for region in reversed(result) for inst in region]


def _regions(body: Body, insts: list[Inst]) -> list[tuple[list[Inst], bool]]:
    """(instructions, may be reordered): calls and what stands in fixed registers for them stay where they are, and so do readings of a
    clock and the last jump."""
    regions: list[tuple[list[Inst], bool]] = []
    for inst in insts:
        pinned = inst.op.pipe == "cbu" or reads_clock(inst) or any(r in body.fixed for r in (*inst.reads(), *inst.writes()))
        if regions and regions[-1][1] != pinned and len(regions[-1][0]) < _LARGEST_REGION:
            regions[-1][0].append(inst)
        else:
            regions.append(([inst], not pinned))
    return regions


def _live_before(region: list[Inst], live_after: set[int]) -> set[int]:
    live = set(live_after)
    for inst in reversed(region):
        if inst.kills:
            live.difference_update(inst.writes())
        live.update(inst.reads())
    return live


def _list_schedule(body: Body, region: list[Inst], live: set[int], live_after: set[int], budget: Budget) -> list[Inst]:
    nodes = _dependences(region)
    _heights(nodes)
    pressure = _Pressure(body.files, region, live, live_after)
    ready = [node for node in nodes if not node.waiting]
    order: list[Inst] = []
    now = 0
    while ready:
        node = _choose(_wanted(ready, nodes), now, pressure, budget)
        ready.remove(node)
        order.append(node.inst)
        pressure.issue(node.inst)
        now = max(now, node.ready)
        for successor, cycles in node.successors.items():
            other = nodes[successor]
            other.ready = max(other.ready, now + cycles)
            other.waiting -= 1
            if not other.waiting:
                ready.append(other)
        now += max(node.inst.op.slots, 1)
    return order


def _wanted(ready: list[_Node], nodes: list[_Node]) -> list[_Node]:
    """Without the constants nobody waits for yet: they have no operands and would all come first."""
    wanted = [node for node in ready if not node.is_constant or any(nodes[s].waiting == 1 for s in node.successors)]
    return wanted or ready


def _choose(ready: list[_Node], now: int, pressure: "_Pressure", budget: Budget) -> _Node:
    """The longest path among what can start now; when registers run short, what frees most."""
    if len(ready) == 1:
        return ready[0]
    if budget.cost(pressure.r, pressure.d) < budget.limit:
        fits = [node for node in ready if budget.cost(*pressure.after(node.inst)) <= budget.limit]
        if fits:
            return min(fits, key=lambda node: (max(node.ready - now, 0), -node.height, node.index))
    return min(ready, key=lambda node: (pressure.change(node.inst), node.index))


class _Pressure:
    """Registers (r, d) that are live between the instructions issued so far and the rest."""

    def __init__(self, files: list[str], region: list[Inst], live: set[int], live_after: set[int]):
        self.files = files
        self.live = set(live)
        self.live_after = live_after
        self.r = sum(files[r] == "R" for r in live)
        self.d = sum(files[r] == "D" for r in live)
        self.readers: dict[int, int] = {}
        for inst in region:
            for register in set(inst.reads()):
                self.readers[register] = self.readers.get(register, 0) + 1

    def _ends(self, register: int) -> bool:
        return self.readers[register] == 1 and register not in self.live_after

    def after(self, inst: Inst) -> tuple[int, int]:
        """(r, d) if it were issued now."""
        change = {"R": 0, "D": 0, "P": 0}
        for register in set(inst.reads()):
            if self._ends(register) and register in self.live:
                change[self.files[register]] -= 1
        for register in inst.writes():
            if register not in self.live:
                change[self.files[register]] += 1
        return self.r + change["R"], self.d + change["D"]

    def change(self, inst: Inst) -> int:
        """What it adds to R + 2 * D."""
        r, d = self.after(inst)
        return r - self.r + 2 * (d - self.d)

    def issue(self, inst: Inst):
        for register in set(inst.reads()):
            if self._ends(register):
                self._count(register, register in self.live, -1)
                self.live.discard(register)
            self.readers[register] -= 1
        for register in inst.writes():
            if register not in self.live and (self.readers.get(register) or register in self.live_after):
                self._count(register, True, 1)
                self.live.add(register)

    def _count(self, register: int, counts: bool, step: int):
        self.r += step if counts and self.files[register] == "R" else 0
        self.d += step if counts and self.files[register] == "D" else 0


def _dependences(region: list[Inst]) -> list[_Node]:
    nodes = [_Node(inst, index, is_constant=constant_of(inst) is not None) for index, inst in enumerate(region)]
    writer: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    for node in nodes:
        index = node.index
        for register in node.inst.reads():
            if register in writer:
                _edge(nodes, writer[register], index, LATENCY_CYCLES[nodes[writer[register]].inst.op.latency])
            readers.setdefault(register, []).append(index)
        for register in node.inst.writes():
            if register in writer:
                _edge(nodes, writer[register], index, 1)
            for reader in readers.pop(register, ()):
                _edge(nodes, reader, index, 0)
            writer[register] = index
    _memory_edges(nodes)
    return nodes


def _edge(nodes: list[_Node], source: int, target: int, cycles: int):
    if source == target:
        return
    successors = nodes[source].successors
    if target not in successors:
        nodes[target].waiting += 1
        successors[target] = cycles
    else:
        successors[target] = max(successors[target], cycles)


def _memory_edges(nodes: list[_Node]):
    accesses: list[int] = []
    fence = -1
    for node in nodes:
        inst = node.inst
        if is_fence(inst):
            for earlier in accesses:
                _edge(nodes, earlier, node.index, 1)
            if fence >= 0:
                _edge(nodes, fence, node.index, 1)
            fence, accesses = node.index, []
        elif is_access(inst):
            if fence >= 0:
                _edge(nodes, fence, node.index, 1)
            for earlier in accesses:
                _order(nodes, earlier, node)
            accesses.append(node.index)


def _order(nodes: list[_Node], earlier: int, node: _Node):
    first = nodes[earlier].inst
    writes = (is_write(first), is_write(node.inst))
    if not any(writes) or (is_read_only(first) or is_read_only(node.inst)):
        return
    if conflict(first, node.inst):
        _edge(nodes, earlier, node.index, 1)


def _heights(nodes: list[_Node]):
    for node in reversed(nodes):
        node.height = max((cycles + nodes[s].height for s, cycles in node.successors.items()), default=0) + 1
