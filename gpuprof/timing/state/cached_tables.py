"""Tables that a GPU makes once for all batches: those of its units, which are reset when a batch begins, and the static
programs of its modules.

Most launches are small, and making all tables again takes longer than they do. A table of the units has so many rows
for each SM, and a batch writes only the rows of those SMs that take a block of it. So only these are reset for the next
batch.

    batch ─ of_sms, rebuilt, scratch ─> tables ─ engine ─> ended(SMs that took a block)
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpuprof.chips import Chip
from gpuprof.timing.state.layout import HOST_LINE_NBYTES
from gpuprof.timing.state.machine_tables import TABLES
from gpuprof.timing.state.static_program import StaticProgram, static_program

if TYPE_CHECKING:
    from gpuprof.device.module import LoadedModule


class _CachedTable(NamedTuple):
    table: np.ndarray
    address: int
    nbytes: int
    rows: np.ndarray | None = None  # uint8 (SMs, bytes): the same memory, without the rows after the last SM's
    new: np.ndarray | None = None  # uint8 (1 or SMs, bytes): these rows when they are new
    tail: np.ndarray | None = None  # uint8: the rows after the last SM's
    new_tail: np.ndarray | None = None


class CachedTables:
    """The tables of one GPU, by their names in machine_tables.TABLES."""

    def __init__(self, sms: int):
        self._sms = sms
        self._cached: dict[str, _CachedTable] = {}
        # SMs whose rows are not new; None when that is not known, as after a batch that did not end.
        self._used: np.ndarray | None = np.zeros(0, np.int64)
        self._renewed: np.ndarray | slice = slice(None)

    def begin(self) -> None:
        """Begins a batch. Every table of the units is requested once until it ends."""
        if self._used is None:
            self._cached.clear()
        else:
            self._renewed = slice(None) if len(self._used) == self._sms else self._used
        self._used = None

    def ended(self, used: np.ndarray) -> None:
        """Ends the batch. No SM but those numbered `used`, int64, took a block of it."""
        self._used = used

    def of_sms(self, name: str, shape: tuple[int, ...], dtype: np.dtype | type, **initial: int) -> np.ndarray:
        """A table of as many rows for each SM, and perhaps some that belong to none. New rows are zero but for the
        fields `initial`.
        """
        cached = self._existing(name, shape)
        if cached is None:
            table = zeros(shape, dtype)
            for field, value in initial.items():
                table[field] = value
            return self._store_rows(name, table, is_rebuilt=False)
        cached.rows[self._renewed] = cached.new
        if len(cached.tail):
            cached.tail[:] = cached.new_tail
        return cached.table

    def rebuilt(self, name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        """A small table that is wholly new for each batch, of so many rows for each SM."""
        if name not in self._cached:
            return self._store_rows(name, make(), is_rebuilt=True)
        cached = self._cached[name]
        cached.rows[:] = cached.new
        return cached.table

    def scratch(self, name: str, shape: tuple[int, ...], dtype: np.dtype | type) -> np.ndarray:
        """A table of which nothing is read before it is written; zeros at first."""
        cached = self._existing(name, shape)
        return self.store(name, zeros(shape, dtype)) if cached is None else cached.table

    def store(self, name: str, table: np.ndarray) -> np.ndarray:
        """The table, of which the address is known from now on."""
        self._cached[name] = _CachedTable(table, address_of(name, table), table.nbytes)
        return table

    def address(self, name: str, table: np.ndarray) -> int:
        cached = self._cached.get(name)
        # One that has grown may be elsewhere.
        if cached is None or cached.table is not table or cached.nbytes != table.nbytes:
            return address_of(name, table)
        return cached.address

    def _existing(self, name: str, shape: tuple[int, ...]) -> _CachedTable | None:
        cached = self._cached.get(name)
        return cached if cached is not None and cached.table.shape == shape else None

    def _store_rows(self, name: str, table: np.ndarray, is_rebuilt: bool) -> np.ndarray:
        of_sms = len(table) // self._sms * self._sms
        nbytes = table.view(np.uint8).reshape(len(table), -1)
        rows, tail = nbytes[:of_sms].reshape(self._sms, -1), nbytes[of_sms:]
        new = rows.copy() if is_rebuilt else rows[:1].copy()
        self._cached[name] = _CachedTable(table, address_of(name, table), table.nbytes, rows, new, tail, tail.copy())
        return table

    def __deepcopy__(self, memo: dict) -> "CachedTables":
        """A copy of the GPU has tables of its own."""
        return CachedTables(self._sms)


def zeros(shape: tuple[int, ...], dtype: np.dtype | type) -> np.ndarray:
    """An array of zeros that begins with a line of the cache, so that rows of whole lines share none."""
    nbytes = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(nbytes + HOST_LINE_NBYTES, np.uint8)
    first = -memory.ctypes.data % HOST_LINE_NBYTES
    return memory[first : first + nbytes].view(dtype).reshape(shape)


def address_of(name: str, table: np.ndarray) -> int:
    """The address of a table of machine_tables.TABLES for the engine, which reads consecutive rows."""
    assert table.flags.c_contiguous and table.dtype.itemsize == TABLES[name].dtype.itemsize, name
    return table.ctypes.data


class Programs:
    """The static programs of the modules that a GPU has run, each made once: a kernel is often launched many times.
    They live as long as the GPU, like its modules.
    """

    def __init__(self, chip: Chip):
        self._chip = chip
        # By the module's id. The module is stored, too, so that no other object gets its id.
        self._made: dict[int, tuple[LoadedModule, StaticProgram]] = {}

    def of(self, module: "LoadedModule") -> StaticProgram:
        """The program of a loaded module."""
        if id(module) not in self._made:
            self._made[id(module)] = (
                module,
                static_program(module.code, module.program.functions, self._chip, module.load_base),
            )
        return self._made[id(module)][1]

    def __deepcopy__(self, memo: dict) -> "Programs":
        """A copy of the GPU runs the same modules."""
        return self
