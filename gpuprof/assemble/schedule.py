"""Order of the instructions inside a block: longest path first, loads early, registers watched.

The latencies are a rough guide for the order only (issue to use, cycles, Ampere microbenchmarks); the timing model has its own.
"""

from dataclasses import dataclass, field

from gpuprof.assemble.ir import Block, Body, Inst
from gpuprof.assemble.liveness import block_liveness, members
from gpuprof.assemble.memory_order import conflict, is_access, is_fence, is_read_only, is_write
from gpuprof.isa.opcodes import TABLE

LATENCY_CYCLES = {
    "alu": 5, "fma": 4, "imad": 5, "imad_hi": 6, "fp64": 8, "half": 6, "xu": 18, "conversion": 14, "division": 40, "iterative": 40,
    "iterative64": 80, "memory": 200, "shared": 25, "constant": 25, "store": 1, "atomic": 200, "atomic_shared": 60, "shuffle": 24, "vote": 10,
    "s2r": 20, "branch": 1, "barrier": 1, "membar": 1,
}  # fmt: skip
assert all(row.latency in LATENCY_CYCLES for row in TABLE)

WEIGHT = {"R": 1, "D": 2, "P": 0}  # what a register costs a thread
_LARGEST_REGION = 256  # instructions; the work grows with its square
_ALWAYS_FREE = 30  # registers a thread may use without a thought: 2048 threads of an SM share 65536
_SLACK = 1  # registers the schedule may add to what the program's own order needs


@dataclass(slots=True)
class _Node:
    inst: Inst
    index: int
    successors: dict[int, int] = field(default_factory=dict)  # node -> cycles
    waiting: int = 0
    height: int = 0  # cycles from here to the end of the region
    ready: int = 0


def schedule(body: Body, max_registers: int) -> None:
    """Reorders the instructions of every block; a thread should stay below `max_registers` (R + 2 * D) where it can."""
    _, live_out = block_liveness(body)
    limit = min(max(_ALWAYS_FREE, most_pressure(body) + _SLACK), max_registers)
    for block, out in zip(body.blocks, live_out, strict=True):
        _schedule_block(body, block, set(members(out)), limit)


def most_pressure(body: Body) -> int:
    """The largest R + 2 * D that is live at once in the order as it stands."""
    _, live_out = block_liveness(body)
    most = 0
    for block, out in zip(body.blocks, live_out, strict=True):
        live = set(members(out))
        pressure = sum(WEIGHT[body.files[r]] for r in live)
        most = max(most, pressure)
        for inst in reversed(block.insts):
            if inst.kills:
                for register in inst.writes():
                    if register in live:
                        live.discard(register)
                        pressure -= WEIGHT[body.files[register]]
            for register in inst.reads():
                if register not in live:
                    live.add(register)
                    pressure += WEIGHT[body.files[register]]
            most = max(most, pressure)
    return most


def _schedule_block(body: Body, block: Block, live_out: set[int], limit: int):
    """Regions are scheduled from the last to the first, so that what later ones read is known."""
    live = live_out
    result: list[list[Inst]] = []
    for region, movable in reversed(_regions(body, block.insts)):
        before = _live_before(region, live)
        result.append(_list_schedule(body, region, before, live, limit) if movable and len(region) > 2 else region)
        live = before
    block.insts = [inst for region in reversed(result) for inst in region]


def _regions(body: Body, insts: list[Inst]) -> list[tuple[list[Inst], bool]]:
    """(instructions, may be reordered): calls and what stands in fixed registers for them stay where they are, and so does the last jump."""
    regions: list[tuple[list[Inst], bool]] = []
    for inst in insts:
        pinned = inst.op.pipe == "cbu" or any(r in body.fixed for r in (*inst.reads(), *inst.writes()))
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


def _list_schedule(body: Body, region: list[Inst], live: set[int], live_after: set[int], limit: int) -> list[Inst]:
    nodes = _dependences(region)
    _heights(nodes)
    pressure = _Pressure(body.files, region, live, live_after)
    ready = [node for node in nodes if not node.waiting]
    order: list[Inst] = []
    now = 0
    while ready:
        node = _choose(ready, now, pressure, limit)
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


def _choose(ready: list[_Node], now: int, pressure: "_Pressure", limit: int) -> _Node:
    """The longest path among what can start now; when registers run short, what frees most."""
    if len(ready) == 1:
        return ready[0]
    if pressure.now >= limit:
        return min(ready, key=lambda node: (pressure.change(node.inst), node.index))
    fits = [node for node in ready if pressure.now + pressure.change(node.inst) <= limit] or ready
    return min(fits, key=lambda node: (max(node.ready - now, 0), -node.height, node.index))


class _Pressure:
    """Registers that are live between the instructions issued so far and the rest."""

    def __init__(self, files: list[str], region: list[Inst], live: set[int], live_after: set[int]):
        self.files = files
        self.live = set(live)
        self.live_after = live_after
        self.now = sum(WEIGHT[files[r]] for r in live)
        self.readers: dict[int, int] = {}
        for inst in region:
            for register in set(inst.reads()):
                self.readers[register] = self.readers.get(register, 0) + 1

    def _ends(self, register: int) -> bool:
        return self.readers.get(register, 0) == 1 and register not in self.live_after

    def change(self, inst: Inst) -> int:
        """Registers it adds, less those it frees."""
        freed = sum(WEIGHT[self.files[r]] for r in set(inst.reads()) if self._ends(r))
        return sum(WEIGHT[self.files[r]] for r in inst.writes() if r not in self.live) - freed

    def issue(self, inst: Inst):
        for register in set(inst.reads()):
            if self._ends(register) and register in self.live:
                self.live.discard(register)
                self.now -= WEIGHT[self.files[register]]
            self.readers[register] -= 1
        for register in inst.writes():
            if register not in self.live and (self.readers.get(register) or register in self.live_after):
                self.live.add(register)
                self.now += WEIGHT[self.files[register]]


def _dependences(region: list[Inst]) -> list[_Node]:
    nodes = [_Node(inst, index) for index, inst in enumerate(region)]
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
