"""Which thread consumes what another produced through shared memory."""

import numpy as np

from gpuprof.trace.event import Access, TraceEvent
from gpuprof.trace.generator import Option, TraceGenerator
from gpuprof.trace.generators.memory.exchange import NOBODY, take
from gpuprof.trace.kernel import Kernel
from gpuprof.trace.tables import Column, Table

PAIRS = Table(
    "pairs",
    "4-byte words of shared memory that are loaded, by who stored them",
    (
        Column("pc", "integer", "", "code address of the load"),
        Column("store_pc", "integer", "", "code address of the store; -1: nobody has stored the word"),
        Column("words", "integer", "words", "loaded by threads"),
        Column("own", "integer", "words", "that the same thread stored"),
        Column("same_warp", "integer", "words", "that another thread of the same warp stored"),
        Column("other_warp", "integer", "words", "that a thread of another warp stored"),
    ),
)


class Sharing(TraceGenerator):
    """Finds which stores to shared memory feed which loads: from the same thread, its warp, or another warp.

    Words that nobody but the storing thread reads need no shared memory; words that stay within a warp need no barrier
    of the block.
    """

    name = "sharing"
    kinds = ("load", "store", "atomic", "reduction", "copy")
    spaces = ("shared",)
    tables = (PAIRS,)
    blocks_watched = Option(256, "blocks at most, the first ones of the grid")

    def initialize(self, kernel: Kernel) -> None:
        n_blocks = min(kernel.n_blocks, self.blocks_watched)
        n_words = -(-kernel.shared_nbytes // 4)
        # Of each word: the instruction that stored it, by number, and the thread.
        self.store = np.full((n_blocks, n_words), NOBODY, np.int32)
        self.thread = np.zeros((n_blocks, n_words), np.int32)
        self.counts: dict[tuple[int, int], np.ndarray] = {}
        self.n_instructions = len(kernel.instructions)
        self.pcs = [instruction.pc for instruction in kernel.instructions]

    def event(self, event: TraceEvent) -> None:
        for access in event.accesses:
            if access.space == "shared":
                self._take(event, access)

    def _take(self, event: TraceEvent, access: Access) -> None:
        number = event.instruction.number
        loads, stores = access.operation != "store", access.operation != "load"
        found = np.zeros((self.n_instructions + 1, 3), np.int64) if loads else np.zeros((1, 3), np.int64)
        take(access.addresses, access.masks, access.nbytes, event.block, event.warp, self.store, self.thread, number,
             loads, stores, found)  # fmt: skip
        for row in np.flatnonzero(found.any(axis=1)).tolist():
            key = number, row - 1
            self.counts[key] = self.counts[key] + found[row] if key in self.counts else found[row]

    def finish(self) -> None:
        for (load, store), words in sorted(self.counts.items()):
            total = int(words.sum()) if store >= 0 else int(words[0])
            of_whom = words.tolist() if store >= 0 else [0, 0, 0]
            self.add_row("pairs", self.pcs[load], self.pcs[store] if store >= 0 else -1, total, *of_whom)
