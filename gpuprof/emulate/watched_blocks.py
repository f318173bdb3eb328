"""A module's basic blocks for a listener's requests, made once for all launches with the same requests."""

from dataclasses import replace
from weakref import WeakKeyDictionary

from gpuprof.emulate.blocks import Block, CompiledModule, build_op
from gpuprof.emulate.watch.executed import Site
from gpuprof.emulate.watch.listener import WatchRequests
from gpuprof.emulate.watch.wrap import site_of, watched
from gpuprof.isa.flow.graph import BasicBlock


class WatchedBlocks:
    """The blocks of a module (blocks.Block) with the requested instructions watched, each made on first use. `sites`:
    those of the watched instructions, by number.
    """

    def __init__(self, module: CompiledModule, requests: WatchRequests):
        self._plain, self._graph, self._env, self._wanted = module.blocks, module.graph, module.env, requests
        self._blocks: dict[int, Block] = {}
        self.sites: dict[int, Site] = {}

    def prepare(self) -> None:
        """Makes all that the module has by now: that adds to the pool of constants."""
        for index in self._plain:
            if index not in self._blocks:
                self._blocks[index] = self._watched(self._plain[index], self._graph.block(index))

    def __getitem__(self, index: int) -> Block:
        return self._blocks[index]

    def _watched(self, block: Block, code: BasicBlock) -> Block:
        ops, end = list(block.ops), block.end
        for k, inst in enumerate(code.instructions):
            at = block.first + k
            if at not in self._wanted.before:
                continue
            self.sites[at] = site = site_of(inst, at, self._env)
            if k < len(ops):
                may_refuse = at in self._wanted.refusing
                refusing = build_op(inst, replace(self._env, at=at, refuses=True)) if may_refuse else None
                ops[k] = watched(ops[k], site, self._wanted, refusing)
            else:
                end = watched(end, site, self._wanted)
        return block._replace(ops=tuple(ops), fused=tuple(ops), end=end)


_made: WeakKeyDictionary = WeakKeyDictionary()


def watched_blocks(module: CompiledModule, requests: WatchRequests) -> WatchedBlocks:
    """All blocks that the module has by now, watched."""
    made = _made.setdefault(module, {})
    if requests not in made:
        made[requests] = WatchedBlocks(module, requests)
    made[requests].prepare()
    return made[requests]
