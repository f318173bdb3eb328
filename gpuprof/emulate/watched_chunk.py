"""A chunk whose launch has a listener."""

from collections.abc import Iterator

import numpy as np

from gpuprof.emulate.blocks import Block
from gpuprof.emulate.chunk import Chunk
from gpuprof.emulate.core.contended_loops import Key
from gpuprof.emulate.core.lanes import Lanes
from gpuprof.emulate.core.late_accesses import RangesFunction, WrongRange
from gpuprof.emulate.trace_log.trace import TraceLog
from gpuprof.emulate.warp_sync import Meetings, Pause, fetch
from gpuprof.emulate.watch.executed import BlockRun, Executed
from gpuprof.emulate.watch.wrap import store_inputs


class WatchedChunk(Chunk):
    """`executing`: the watched instruction that runs, or ran last. `unset`, where the state is read: registers (codes
    of `Lanes`) whose rows hold nothing before the block that runs has written them.
    """

    is_watched = True

    def __init__(self, run, first_block: int, n_blocks: int):
        super().__init__(run, first_block, n_blocks)
        self.listener, self.watched = run.listener, run.watched
        self.meetings = WatchedMeetings(self)
        self.executing: Executed | None = None
        self.places_of_warps = (
            None,
            None,
            None,
        )  # warps, and what OfWarps.grid_blocks and warps_of_block gave for them
        self.unset: frozenset[int] = frozenset()

    def move_to(self, run) -> None:
        """Continues the chunk in another run of its launch."""
        self.listener, self.watched = run.listener, run.watched
        self.tally, self.pulse, self.log = run.tally, run.counters.pulse, run.log
        if self.pacing is not None:
            self.pacing.clocks = run.clocks
        self.spaces |= {"global": run.global_space, "const": run.const_space, "param": run.param_space}

    def run(self, segment_nbytes: int) -> Iterator[None]:
        for _ in super().run(segment_nbytes):
            self.is_due = False
            if self.listener.wanted.state:
                self.listener.rests(self)
            yield

    def block_at(self, key: Key) -> Block:
        return self.watched[self.block_of_rank[key[1]]]

    def execute(self, block: Block, lanes: Lanes) -> None:
        if self.listener.wanted.state and self.listener.passes_over(block, lanes):
            self.executing, block = None, self.module.blocks[block.index]
        super().execute(block, lanes)

    def count_step(self, block: Block, lanes: Lanes) -> None:
        super().count_step(block, lanes)
        if self.listener.wanted.state:
            self.unset = frozenset(block.fresh) - lanes.held
        if block.index in self.listener.wanted.blocks:
            self.listener.block(BlockRun(block.index, lanes))

    def touches(self, at: int, ranges: RangesFunction) -> None:
        super().touches(at, ranges)
        if self.executing is not None and self.executing.at == at:
            self.executing.add_ranges(ranges())

    def refuses(self, at: int, wrong: WrongRange) -> bool:
        if self.executing is None or self.executing.at != at or at not in self.listener.wanted.refusing:
            return False
        self.listener.wrong(self.executing, self.executing.wrong_range(wrong))
        return True

    def refused(self, at: int) -> np.ndarray | None:
        return self.executing.refused if self.executing is not None and self.executing.at == at else None


class WatchedMeetings(Meetings):
    """Lanes that execute one operation together at several instructions: each instruction is reported on its own."""

    def go_on(self, lanes: Lanes, block: Block, at: int, log: TraceLog) -> None:
        self.chunk.unset = frozenset()  # all rows are fetched (`fetch`)
        super().go_on(lanes, block, at, log)

    def operate_separately(self, kind: tuple, parts: list[Pause]) -> None:
        self.chunk.executing = None  # several are executed at once
        reported = [self._before(pause) for pause in parts if pause.site.at in self.chunk.watched.sites]
        super().operate_separately(kind, parts)
        for executed, pause in reported:
            fetch(pause.lanes, pause.block)
            if executed.at in self.chunk.listener.wanted.after:
                self.chunk.listener.after(executed)

    def _before(self, pause: Pause) -> tuple[Executed, Pause]:
        fetch(pause.lanes, pause.block)
        executed = Executed(self.chunk.watched.sites[pause.site.at], pause.lanes)
        store_inputs(executed, self.chunk.listener.wanted)
        self.chunk.listener.before(executed)
        return executed, pause
