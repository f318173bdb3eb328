"""Saved memory and states, from which the past is rebuilt: the memory with which launches began, and states within
them.

Pages that did not change between two of them are stored once.
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
MOST_STATES = 40  # within a launch; see `States`
MOST_STATES_NBYTES = 1 << 30  # of all states


@dataclass(eq=False)
class Checkpoint:
    """`pages`: bytes of global memory from its begin on; memory after them is zero."""

    bookkeeping: tuple
    pages: list[bytes]

    def restore(self, memory: AddressSpace) -> None:
        """Restores memory. Later allocations are zero again."""
        end = memory.written_nbytes
        memory.restore(self.bookkeeping)
        at = 0
        for page in self.pages:
            memory.arena[at : at + len(page)] = np.frombuffer(page, np.uint8)
            at += len(page)
        memory.arena[at:end] = 0


def checkpoint(memory: AddressSpace, before: Checkpoint | None) -> Checkpoint:
    """A checkpoint of the current memory. `before`: the previous one."""
    arena, nbytes, pages = memory.arena, memory.written_nbytes, []
    known = before.pages if before else []
    for number, start in enumerate(range(0, nbytes, PAGE_NBYTES)):
        content = arena[start : min(start + PAGE_NBYTES, nbytes)]
        same = number < len(known) and np.array_equal(content, np.frombuffer(known[number], np.uint8))
        pages.append(known[number] if same else content.tobytes())
    return Checkpoint(memory.bookkeeping(), pages)


def page_nbytes(checkpoints: list[Checkpoint]) -> int:
    """Bytes of the pages of checkpoints: a page that several share counts once."""
    pages = {id(page): len(page) for each in checkpoints for page in each.pages}
    return sum(pages.values())


@dataclass(eq=False)
class SavedState:
    """A state within a launch: before event `event`, when it rested between two basic blocks."""

    event: int
    chunk: WatchedChunk
    chunk_nbytes: int
    memory: Checkpoint
    output: list[str]
    launched: Launched

    def restore(self, memory: AddressSpace, counters: LaunchCounters) -> WatchedChunk:
        """Restores the state, and gives the chunk to continue with."""
        self.memory.restore(memory)
        counters.output, counters.launched = list(self.output), _copied(self.launched)
        return duplicate(self.chunk)[0]


def saved_state(
    event: int, chunk: WatchedChunk, memory: AddressSpace, counters: LaunchCounters, before: Checkpoint
) -> SavedState:
    """The current state of a launch. `before`: an earlier checkpoint."""
    made, nbytes = duplicate(chunk)
    return SavedState(
        event, made, nbytes, checkpoint(memory, before), list(counters.output), _copied(counters.launched)
    )


def _copied(launched: Launched) -> Launched:
    return Launched(list(launched.grids), {at: copy(each) for at, each in launched.buffers.items()}, launched.n_streams)


@dataclass(eq=False)
class States:
    """Saved states of one launch, by event. If there are too many, the state whose neighbours are closest relative to
    their distance from the newest is dropped: so distances grow with age, and a position `age` events back is reached
    from a state at most a fraction of `age` before it.
    """

    all: list[SavedState] = field(default_factory=list)

    def before(self, event: int) -> SavedState | None:
        """The last state at or before an event."""
        return next((each for each in reversed(self.all) if each.event <= event), None)

    def add(self, made: SavedState) -> None:
        self.all = sorted([*self.all, made], key=lambda each: each.event)
        while len(self.all) > 2 and (len(self.all) > MOST_STATES or self.nbytes > MOST_STATES_NBYTES):
            self.all.pop(self._least())

    def drop_after(self, event: int) -> None:
        self.all = [each for each in self.all if each.event <= event]

    @property
    def nbytes(self) -> int:
        return sum(each.chunk_nbytes for each in self.all) + page_nbytes([each.memory for each in self.all])

    def _least(self) -> int:
        events = [0, *(each.event for each in self.all)]
        newest = events[-1]
        gaps = [(events[k + 1] - events[k - 1]) / (newest - events[k - 1] + 1) for k in range(1, len(events) - 1)]
        return gaps.index(min(gaps))
