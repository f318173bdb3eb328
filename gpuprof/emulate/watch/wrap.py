"""Basic blocks that tell a listener: their instructions do what they did, and say so before and after."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpuprof.emulate.core.graph import BasicBlock, Graph
from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.core.operation import Env, Op, read_predicate
from gpuprof.emulate.watch.accesses import accesses_reader
from gpuprof.emulate.watch.executed import Executed, Site
from gpuprof.emulate.watch.listener import Wanted
from gpuprof.emulate.watch.operands import results_of, sources_of
from gpuprof.isa.encoding import PT, Instruction
from gpuprof.isa.opcodes import ends_block

if TYPE_CHECKING:
    from gpuprof.emulate.blocks import Block


def site_of(inst: Instruction, at: int, env: Env) -> Site:
    """Adds what it reads to the pool of constants."""
    guard = None if inst.guard == PT else read_predicate(inst.guard, env)
    # A block that ends hands its lanes on: where their registers are then is not known here.
    results = () if ends_block(inst.op) else results_of(inst)
    return Site(at, guard, accesses_reader(inst, env), sources_of(inst, env), results)


def keep(executed: Executed, wanted: Wanted) -> None:
    """What is asked for after the instruction has run."""
    if executed.at in wanted.after:
        executed.keep(executed.at in wanted.operands_after)


def watched(op: Op, site: Site, wanted: Wanted) -> Op:
    """`op`, or the end of a block, which tells the chunk's listener."""
    told_after = site.at in wanted.after

    def told(lanes: Lanes) -> None:
        chunk = lanes.chunk
        chunk.executing = executed = Executed(site, lanes)
        keep(executed, wanted)
        chunk.listener.before(executed)
        op(lanes)
        if told_after:
            chunk.listener.after(executed)

    return told


class WatchedBlocks:
    """The blocks of a module (blocks.Block) with what is wanted watched, each made when it is first asked for. `sites`:
    of the watched instructions, by number.
    """

    def __init__(self, blocks: Mapping[int, "Block"], graph: Graph, env: Env, wanted: Wanted):
        self._plain, self._graph, self._env, self._wanted = blocks, graph, env, wanted
        self._blocks: dict[int, Block] = {}
        self.sites: dict[int, Site] = {}

    def prepare(self) -> None:
        """Makes all that the module has by now: that adds to the pool of constants."""
        for index in self._plain:
            if index not in self._blocks:
                self._blocks[index] = self._watched(self._plain[index], self._graph.block(index))

    def __getitem__(self, index: int) -> "Block":
        return self._blocks[index]

    def _watched(self, block: "Block", code: BasicBlock) -> "Block":
        ops, end = list(block.ops), block.end
        for k, inst in enumerate(code.instructions):
            at = block.first + k
            if at not in self._wanted.before:
                continue
            self.sites[at] = site = site_of(inst, at, self._env)
            if k < len(ops):
                ops[k] = watched(ops[k], site, self._wanted)
            else:
                end = watched(end, site, self._wanted)
        return block._replace(ops=tuple(ops), end=end)
