"""Producers and consumers of words in shared memory."""

import numpy as np

from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import Access, TraceEvent
from gpuprof.trace.generator import Option, TraceGenerator
from gpuprof.trace.generators.memory.exchange import NO_STORE, take
from gpuprof.trace.kernel import ADDRESSING, Kernel

PAIRS = Table(
    "pairs",
    "4-byte words of shared memory that are loaded, by the store that wrote them",
    (
        Column("pc", "integer", "", "code address of the load"),
        Column("store_pc", "integer", "", "code address of the store; -1: the word was never stored"),
        Column("words", "integer", "words", "loaded by threads"),
        Column("own", "integer", "words", "that the same thread stored"),
        Column("same_warp", "integer", "words", "that another thread of the same warp stored"),
        Column("other_warp", "integer", "words", "that a thread of another warp stored"),
    ),
)


NO_COUNTS = np.zeros((0, 3), np.int64)


class Sharing(TraceGenerator):
    """Finds which stores to shared memory feed which loads: from the same thread, its warp, or another warp.

    Words that only the storing thread reads need no shared memory; words that stay within a warp need no barrier of the
    block.
    """

    name = "sharing"
    kinds = ADDRESSING
    spaces = ("shared",)
    tables = (PAIRS,)
    blocks_watched = Option(256, "blocks at most, the first ones of the grid")

    def initialize(self, kernel: Kernel) -> None:
        n_blocks = min(kernel.n_blocks, self.blocks_watched)
        n_words = -(-kernel.shared_nbytes // 4)
        # For each word: the instruction that stored it, by number, and the thread.
        self.store = np.full((n_blocks, n_words), NO_STORE, np.int32)
        self.thread = np.zeros((n_blocks, n_words), np.int32)
        self.stores: dict[int, int] = {}  # index of each instruction that stores, by number
        self.counts: dict[int, np.ndarray] = {}  # for each instruction that loads, by number: in the form of `take`
        self.pcs = [instruction.pc for instruction in kernel.instructions]

    def event(self, event: TraceEvent) -> None:
        for access in event.accesses:
            if access.space == "shared":
                self._take(event, access)

    def _take(self, event: TraceEvent, access: Access) -> None:
        number = event.instruction.number
        loads, stores = access.operation != "store", access.operation != "load"
        store_index = self.stores.setdefault(number, len(self.stores)) if stores else NO_STORE
        counts = self._counts(number) if loads else NO_COUNTS
        take(access.addresses, access.masks, access.nbytes, event.block, event.warp, self.store, self.thread,
             store_index, loads, stores, counts)  # fmt: skip

    def _counts(self, number: int) -> np.ndarray:
        """The counts of a load, with room for all stores so far."""
        counts = self.counts.get(number, NO_COUNTS)
        if len(counts) <= len(self.stores):
            more = np.zeros((2 * len(self.stores) + 1 - len(counts), 3), np.int64)
            counts = self.counts[number] = np.concatenate((counts, more))
        return counts

    def finish(self) -> None:
        pcs = [-1, *(self.pcs[number] for number in self.stores)]
        for load, counts in sorted(self.counts.items()):
            rows = np.flatnonzero(counts.any(axis=1)).tolist()
            for row in sorted(rows, key=pcs.__getitem__):
                words = counts[row].tolist()
                self.add_row("pairs", self.pcs[load], pcs[row], sum(words), *(words if row else (0, 0, 0)))
