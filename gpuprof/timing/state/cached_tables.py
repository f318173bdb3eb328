"""Tables that a GPU makes once for all batches: those of its units, which are reset when a batch begins, and the static
programs of its modules.

Most launches are small, and making all tables again takes longer than they do. A table of the units has so many rows
for each SM, and a batch writes only the rows of those SMs that take a block of it. So only these are reset for the next
batch that has the table. Kernels that need a table in different lengths, as their L1 is smaller or larger, have one of
each.

    batch ─ of_sms, rebuilt, scratch ─> tables ─ engine ─> ended(SMs that took a block)
"""

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from gpuprof.chips import Chip
from gpuprof.timing.state.layout import HOST_LINE_NBYTES
from gpuprof.timing.state.machine_tables import TABLES
from gpuprof.timing.state.static_program import StaticProgram, static_program

if TYPE_CHECKING:
    from gpuprof.device.module import LoadedModule

T = TypeVar("T")
NAMES = tuple(TABLES)


MOST_PLANS = 64
MOST_SHAPES = 8  # of a table: an L1 has as many sizes
MOST_RENEWED_NBYTES = 1 << 20  # of a small table; a larger one is cheaper as new memory, which is zero by itself


class _Dirty:
    """The SMs whose rows of a table are not new, as an index of its rows."""

    __slots__ = ("sms",)

    def __init__(self) -> None:
        self.sms: np.ndarray | slice = slice(0)


class _CachedTable(NamedTuple):
    table: np.ndarray
    rows: np.ndarray | None = None  # uint8 (SMs, bytes): the same memory, without the rows after the last SM's
    new: np.ndarray | None = None  # uint8 (1 or SMs, bytes): these rows when they are new
    tail: np.ndarray | None = None  # uint8: the rows after the last SM's
    new_tail: np.ndarray | None = None
    dirty: _Dirty | None = None


class _Plan(NamedTuple):
    """How the tables of a batch become new: rows by SM, and whole tables, each with what they are then. `things` are
    what the tables follow from, `made` the tables.
    """

    things: tuple
    made: Any
    of_sms: list[tuple[np.ndarray, np.ndarray, _Dirty]]
    whole: list[tuple[np.ndarray, np.ndarray | int]]


class CachedTables:
    """The tables of one GPU, by their names in machine_tables.TABLES."""

    def __init__(self, sms: int):
        self._sms = sms
        self._cached: dict[str, dict[tuple[int, ...], _CachedTable]] = {}  # by name and shape
        # SMs that took a block of the last batch; None when that is not known, as after a batch that did not end.
        self._used: np.ndarray | None = np.zeros(0, np.int64)
        self._in_use: list[_Dirty] = []  # of the tables of the last batch
        self._plans: dict[tuple, _Plan] = {}  # of batches whose tables are all there
        self._of_sms: list[tuple[np.ndarray, np.ndarray, _Dirty]] = []  # of the plan that is made, as the next one
        self._whole: list[tuple[np.ndarray, np.ndarray | int]] = []
        self._has_plan = True
        self._linked: list[np.ndarray | None] = [None] * len(TABLES)  # in the order of TABLES, as their addresses
        self._addresses = np.zeros(len(TABLES), np.int64)

    def begin(self) -> None:
        """Begins a batch. Every table of the units is requested once until it ends."""
        if self._used is None:
            self._cached.clear()
            self._plans.clear()
        else:
            used = _as_slice(self._used)
            for dirty in self._in_use:
                dirty.sms = used
        self._used, self._in_use = None, []

    def ended(self, used: np.ndarray) -> None:
        """Ends the batch. No SM but those numbered `used`, int64, ascending, took a block of it."""
        self._used = used

    def again(self, things: tuple, numbers: tuple, make: Callable[[], T]) -> T:
        """Gives what `make` does: tables for a batch, whose shapes follow from `things`, as they are, and `numbers`.
        Where such a batch came before, they become new at once.
        """
        key = (numbers, *map(id, things))
        plan = self._plans.get(key)
        if plan is None:
            self._of_sms, self._whole, self._has_plan = [], [], True
            made = make()
            if self._has_plan:
                if len(self._plans) >= MOST_PLANS:
                    self._plans.clear()
                self._plans[key] = _Plan(things, made, self._of_sms, self._whole)
            return made
        for rows, new, dirty in plan.of_sms:
            rows[dirty.sms] = new
            self._in_use.append(dirty)
        for rows, new in plan.whole:
            rows[...] = new
        return plan.made

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
        cached.rows[cached.dirty.sms] = cached.new
        if len(cached.tail):
            cached.tail[:] = cached.new_tail
        self._note(cached, is_rebuilt=False)
        return cached.table

    def rebuilt(self, name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        """A small table that is wholly new for each batch, of so many rows for each SM."""
        if name not in self._cached:
            return self._store_rows(name, make(), is_rebuilt=True)
        (cached,) = self._cached[name].values()
        cached.rows[:] = cached.new
        self._note(cached, is_rebuilt=True)
        return cached.table

    def filled(self, name: str, shape: tuple[int, ...], dtype: np.dtype | type, byte: int = 0) -> np.ndarray:
        """A table of which every byte is `byte`, 0 or 255, for each batch."""
        cached = self._existing(name, shape)
        if cached is None:
            table = np.zeros(shape, dtype) if byte == 0 else np.full(shape, -1, dtype)
            if table.nbytes > MOST_RENEWED_NBYTES:
                self._has_plan = False
                return table
            cached = self._store(name, _CachedTable(table, table.reshape(-1).view(np.uint8)))
        else:
            cached.rows.fill(byte)
        self._whole.append((cached.rows, byte))
        return cached.table

    def scratch(self, name: str, shape: tuple[int, ...], dtype: np.dtype | type) -> np.ndarray:
        """A table of which nothing is read before it is written; zeros at first."""
        cached = self._existing(name, shape)
        if cached is None:
            cached = self._store(name, _CachedTable(np.zeros(shape, dtype)))
        return cached.table

    def addresses(self, tables: Iterable[np.ndarray]) -> np.ndarray:
        """The addresses of all tables, in the order of TABLES: int64. Those that are known are not looked up again."""
        for place, (linked, table) in enumerate(zip(self._linked, tables, strict=True)):
            if linked is not table:
                self._addresses[place] = address_of(NAMES[place], table)
                self._linked[place] = table
        return self._addresses

    def moved(self, name: str) -> None:
        """A table has grown, and may be elsewhere."""
        self._linked[NAMES.index(name)] = None

    def _existing(self, name: str, shape: tuple[int, ...]) -> _CachedTable | None:
        return self._cached.get(name, {}).get(shape)

    def _store_rows(self, name: str, table: np.ndarray, is_rebuilt: bool) -> np.ndarray:
        of_sms = len(table) // self._sms * self._sms
        nbytes = table.view(np.uint8).reshape(len(table), -1)
        rows, tail = nbytes[:of_sms].reshape(self._sms, -1), nbytes[of_sms:]
        new = rows.copy() if is_rebuilt else rows[:1].copy()
        self._note(self._store(name, _CachedTable(table, rows, new, tail, tail.copy(), _Dirty())), is_rebuilt)
        return table

    def _store(self, name: str, cached: _CachedTable) -> _CachedTable:
        """Takes out all tables of a name that has too many, and the plans that have them."""
        of_name = self._cached.setdefault(name, {})
        if len(of_name) >= MOST_SHAPES:
            of_name.clear()
            self._plans.clear()
        of_name[cached.table.shape] = cached
        return cached

    def _note(self, cached: _CachedTable, is_rebuilt: bool) -> None:
        """For the plan that is made."""
        if is_rebuilt:
            self._whole.append((cached.rows, cached.new))
        else:
            self._of_sms.append((cached.rows, cached.new, cached.dirty))
            self._in_use.append(cached.dirty)
        if len(cached.tail):
            self._whole.append((cached.tail, cached.new_tail))

    def __deepcopy__(self, memo: dict) -> "CachedTables":
        """A copy of the GPU has tables of its own."""
        return CachedTables(self._sms)


def zeros(shape: tuple[int, ...], dtype: np.dtype | type) -> np.ndarray:
    """An array of zeros that begins with a line of the cache, so that rows of whole lines share none."""
    nbytes = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(nbytes + HOST_LINE_NBYTES, np.uint8)
    first = -memory.ctypes.data % HOST_LINE_NBYTES
    return memory[first : first + nbytes].view(dtype).reshape(shape)


def _as_slice(numbers: np.ndarray) -> np.ndarray | slice:
    """Ascending numbers, as a slice where they follow each other: numpy copies a range of rows at once."""
    if not len(numbers):
        return slice(0)
    first, last = int(numbers[0]), int(numbers[-1])
    return slice(first, last + 1) if last - first == len(numbers) - 1 else numbers


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

    def with_program(self, module: "LoadedModule", program: StaticProgram) -> "Programs":
        """The same programs, but for that of one module."""
        programs = Programs(self._chip)
        programs._made = {**self._made, id(module): (module, program)}
        return programs

    def __deepcopy__(self, memo: dict) -> "Programs":
        """A copy of the GPU runs the same modules."""
        return self
