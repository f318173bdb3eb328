"""Loads and stores that could be removed."""

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
        Column("redundant", "integer", "words", "of these, last accessed by the same thread"),
        Column("stores", "integer", "words", "stored by threads"),
        Column("silent", "integer", "words", "of these, that memory is known to contain already"),
        Column("dead", "integer", "words", "of these, that are overwritten before they are read"),
    ),
)
SHARE, LEAST = 0.5, 64  # a finding needs this share of an instruction's words, and this many words


class Redundancy(TraceGenerator):
    """Finds redundant loads, silent stores and dead stores of global memory, by line.

    The value that a store leaves at the end of the launch counts as read. Accesses of 8 and 16 bits are not followed.
    """

    name = "redundancy"
    kinds = ADDRESSING
    spaces = ("global",)
    values = True
    tables = (LINES,)
    most = Option(1 << 30, "bytes of allocations at most: the shadow takes four times as much memory")

    def initialize(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.starts = np.array([allocation.address for allocation in kernel.allocations], np.int64)
        sizes = np.array([-(-allocation.nbytes // WORD) for allocation in kernel.allocations], np.int64)
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
        word_numbers = self._places(access.addresses)
        shadow = self.shadow.arrays
        words = self._words(event, access)
        if not words:
            n_words = -(-access.nbytes // WORD)
            is_read, is_written = access.operation != "store", access.operation != "load"
            float_shadow.forget(word_numbers, access.masks, n_words, is_read, is_written, *shadow)
            return
        take = float_shadow.load if access.operation == "load" else float_shadow.store
        take(word_numbers, access.masks, threads, np.stack(words), event.instruction.number, *shadow)

    def _words(self, event: TraceEvent, access: Access) -> list[np.ndarray]:
        """The loaded or stored words; none if they are not in registers, or only in parts of them."""
        if access.nbytes % WORD or event.instruction.kind not in ("load", "store"):
            return []
        values = event.results if access.operation == "load" else stored(event)
        words = [word for value in values for word in words_of(value.bits)]
        return words if len(words) * WORD == access.nbytes else []

    def _places(self, addresses: np.ndarray) -> np.ndarray:
        """int64 (n, 32): the number of the word at each address; -1 outside of allocations."""
        number = np.maximum(np.searchsorted(self.starts, addresses, side="right") - 1, 0)
        words = self.first[number] + (addresses - self.starts[number] >> 2)
        return np.where((addresses >= self.starts[number]) & (addresses < self.ends[number]), words, -1)

    def finish(self) -> None:
        for number in np.flatnonzero(self.shadow.counts.any(axis=1)).tolist():
            counts = self.shadow.counts[number].tolist()
            instruction = self.kernel.instructions[number]
            self.add_row("lines", instruction.pc, *counts)
            self._find(instruction.pc, *counts)
        del self.shadow

    def _find(self, pc: int, loads: int, redundant: int, stores: int, silent: int, dead: int) -> None:
        for kind, part, total, text in (
            ("redundant_load", redundant, loads, "loads words that the thread already has in a register"),
            ("silent_store", silent, stores, "stores words that memory already contains"),
            ("dead_store", dead, stores, "stores words that are overwritten before they are read"),
        ):
            if part >= LEAST and part >= SHARE * total:
                self.find(kind, "advice", f"{text}: {part} of {total}", pc=pc, count=part)
