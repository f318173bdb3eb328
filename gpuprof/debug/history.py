"""What the past is made of again: the memory that launches began with, and states in their midst.

Pages that did not change between two of them are kept once.
"""

from copy import copy
from dataclasses import dataclass, field

import numpy as np

from gpuprof.device.memory import AddressSpace
from gpuprof.emulate.core.device_launches import Launched
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.emulate.watch.duplicate import duplicate
from gpuprof.emulate.watched_chunk import WatchedChunk

PAGE_NBYTES = 1 << 16
MOST_NBYTES = 1 << 30  # of pages; the oldest checkpoints go first
MOST_STATES = 40  # in the midst of a launch; see `States`
MOST_STATES_NBYTES = 1 << 30  # that they take


@dataclass(eq=False)
class Checkpoint:
    """`pages`: bytes of global memory from its begin on; behind them it is zero."""

    bookkeeping: tuple
    pages: list[bytes]

    def restore(self, memory: AddressSpace) -> None:
        """Memory is as it was. What was allocated since is zero again."""
        end = memory.written_nbytes
        memory.restore(self.bookkeeping)
        at = 0
        for page in self.pages:
            memory.arena[at : at + len(page)] = np.frombuffer(page, np.uint8)
            at += len(page)
        memory.arena[at:end] = 0


def checkpoint(memory: AddressSpace, before: Checkpoint | None) -> Checkpoint:
    """Of memory as it is. `before`: the last one."""
    arena, nbytes, pages = memory.arena, memory.written_nbytes, []
    known = before.pages if before else []
    for number, start in enumerate(range(0, nbytes, PAGE_NBYTES)):
        content = arena[start : min(start + PAGE_NBYTES, nbytes)]
        same = number < len(known) and np.array_equal(content, np.frombuffer(known[number], np.uint8))
        pages.append(known[number] if same else content.tobytes())
    return Checkpoint(memory.bookkeeping(), pages)


def kept_nbytes(checkpoints: list[Checkpoint]) -> int:
    """Bytes that checkpoints take: a page that several have counts once."""
    pages = {id(page): len(page) for each in checkpoints for page in each.pages}
    return sum(pages.values())


@dataclass(eq=False)
class Kept:
    """A launch in its midst: in front of event `event`, where it rested between two basic blocks."""

    event: int
    chunk: WatchedChunk
    chunk_nbytes: int
    memory: Checkpoint
    output: list[str]
    launched: Launched

    def restore(self, memory: AddressSpace, counters: LaunchCounters) -> WatchedChunk:
        """The chunk to go on with."""
        self.memory.restore(memory)
        counters.output, counters.launched = list(self.output), _copied(self.launched)
        return duplicate(self.chunk)[0]


def kept(event: int, chunk: WatchedChunk, memory: AddressSpace, counters: LaunchCounters, before: Checkpoint) -> Kept:
    """A launch as it is. `before`: memory a while before."""
    made, nbytes = duplicate(chunk)
    return Kept(event, made, nbytes, checkpoint(memory, before), list(counters.output), _copied(counters.launched))


def _copied(launched: Launched) -> Launched:
    return Launched(list(launched.grids), {at: copy(each) for at, each in launched.buffers.items()}, launched.n_streams)


@dataclass(eq=False)
class States:
    """Those kept of one launch, by event. When there are too many, the one goes whose neighbours are closest, for its
    distance from the newest: so the distances grow with the age, and a place `age` events back is run to again from at
    most a fraction of `age` before it.
    """

    all: list[Kept] = field(default_factory=list)

    def before(self, event: int) -> Kept | None:
        """The last one that is not behind an event."""
        return next((each for each in reversed(self.all) if each.event <= event), None)

    def add(self, made: Kept) -> None:
        self.all = sorted([*self.all, made], key=lambda each: each.event)
        while len(self.all) > 2 and (len(self.all) > MOST_STATES or self.nbytes > MOST_STATES_NBYTES):
            self.all.pop(self._least())

    def drop_behind(self, event: int) -> None:
        self.all = [each for each in self.all if each.event <= event]

    @property
    def nbytes(self) -> int:
        return sum(each.chunk_nbytes for each in self.all) + kept_nbytes([each.memory for each in self.all])

    def _least(self) -> int:
        events = [0, *(each.event for each in self.all)]
        newest = events[-1]
        gaps = [(events[k + 1] - events[k - 1]) / (newest - events[k - 1] + 1) for k in range(1, len(events) - 1)]
        return gaps.index(min(gaps))
