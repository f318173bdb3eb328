"""Loads and stores that could be left out."""

import numpy as np

from gpuprof.errors import UsageError
from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import Access, TraceEvent
from gpuprof.trace.generator import Option, TraceGenerator
from gpuprof.trace.generators.values import float_shadow
from gpuprof.trace.generators.values.repeats import stored, words_of
from gpuprof.trace.kernel import ADDRESSING, Kernel

WORD = 4
LINES = Table(
    "lines",
    "32-bit words of global memory that instructions load and store",
    (
        Column("pc", "integer", "", "code address of the instruction"),
        Column("loads", "integer", "words", "loaded by threads"),
        Column("redundant", "integer", "words", "of these, that the thread has loaded or stored itself, last of all"),
        Column("stores", "integer", "words", "stored by threads"),
        Column("silent", "integer", "words", "of these, that memory is known to hold already"),
        Column("dead", "integer", "words", "of these, that are stored over before anybody reads them"),
    ),
)
SHARE, LEAST = 0.5, 64  # a finding needs this share of an instruction's words, and so many


class Redundancy(TraceGenerator):
    """Finds redundant loads, silent stores and stores that nobody reads, of global memory, by line.

    What a store leaves at the end of the launch counts as read. Bytes and 16-bit accesses are not followed.
    """

    name = "redundancy"
    kinds = ADDRESSING
    spaces = ("global",)
    values = True
    tables = (LINES,)
    most = Option(1 << 30, "bytes of allocations at most: the notes take four times as much memory")

    def initialize(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.starts = np.array([each.address for each in kernel.allocations], np.int64)
        sizes = np.array([-(-each.nbytes // WORD) for each in kernel.allocations], np.int64)
        if WORD * int(sizes.sum()) > self.most:
            raise UsageError(f"allocations of {WORD * int(sizes.sum())} bytes; raise most=N, which is {self.most}")
        self.ends = self.starts + WORD * sizes
        self.first = np.cumsum(sizes) - sizes  # number of each allocation's first word
        self.shadow = float_shadow.Shadow(int(sizes.sum()), len(kernel.instructions))

    def post_event(self, event: TraceEvent) -> None:
        if not len(self.starts):
            return
        threads = 32 * (event.block * self.kernel.warps_per_block + event.warp)
        for access in event.accesses:
            if access.space == "global":
                self._take(event, access, threads)

    def _take(self, event: TraceEvent, access: Access, threads: np.ndarray) -> None:
        places = self._places(access.addresses)
        notes = self.shadow.arrays
        words = self._words(event, access)
        if not words:
            n_words = -(-access.nbytes // WORD)
            is_read, is_written = access.operation != "store", access.operation != "load"
            float_shadow.forget(places, access.masks, n_words, is_read, is_written, *notes)
            return
        take = float_shadow.load if access.operation == "load" else float_shadow.store
        take(places, access.masks, threads, np.stack(words), event.instruction.number, *notes)

    def _words(self, event: TraceEvent, access: Access) -> list[np.ndarray]:
        """What is loaded or stored, word by word; none where it is not in registers, or in parts of them."""
        if access.nbytes % WORD or event.instruction.kind not in ("load", "store"):
            return []
        found = event.results if access.operation == "load" else stored(event)
        words = [word for value in found for word in words_of(value.bits)]
        return words if len(words) * WORD == access.nbytes else []

    def _places(self, addresses: np.ndarray) -> np.ndarray:
        """int64 (n, 32): the number of the word at each address; -1 where no allocation is."""
        number = np.maximum(np.searchsorted(self.starts, addresses, side="right") - 1, 0)
        places = self.first[number] + (addresses - self.starts[number] >> 2)
        return np.where((addresses >= self.starts[number]) & (addresses < self.ends[number]), places, -1)

    def finish(self) -> None:
        for number in np.flatnonzero(self.shadow.counts.any(axis=1)).tolist():
            counts = self.shadow.counts[number].tolist()
            instruction = self.kernel.instructions[number]
            self.add_row("lines", instruction.pc, *counts)
            self._find(instruction.pc, *counts)
        del self.shadow

    def _find(self, pc: int, loads: int, redundant: int, stores: int, silent: int, dead: int) -> None:
        for kind, part, whole, text in (
            ("redundant_load", redundant, loads, "loads words that the thread has in a register"),
            ("silent_store", silent, stores, "stores words that memory holds already"),
            ("dead_store", dead, stores, "stores words that are stored over before anybody reads them"),
        ):
            if part >= LEAST and part >= SHARE * whole:
                self.find(kind, "advice", f"{text}: {part} of {whole}", pc=pc, count=part)
