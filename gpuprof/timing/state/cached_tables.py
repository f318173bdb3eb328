"""What a GPU makes once for all batches: tables of its units, which are as new when a batch begins, and the static
programs of its modules.

Most launches are small, and making all tables anew takes longer than they do. A table of the units has so many rows for
each SM, and a batch writes the rows of those SMs alone that take a block of it. So the next batch has only these made
new.

    batch ─ of_sms, whole, scratch ─> tables ─ engine ─> ended(SMs that took a block)
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpuprof.chips import Chip
from gpuprof.timing.state.layout import TABLES
from gpuprof.timing.state.static_program import StaticProgram, static_program

if TYPE_CHECKING:
    from gpuprof.device.module import LoadedModule


class _Kept(NamedTuple):
    table: np.ndarray
    address: int
    nbytes: int
    rows: np.ndarray | None = None  # uint8 (SMs, bytes): the same memory, without the rows behind the last SM's
    new: np.ndarray | None = None  # uint8 (1 or SMs, bytes): these rows when they are new
    tail: np.ndarray | None = None  # uint8: the rows behind the last SM's
    new_tail: np.ndarray | None = None


class KeptTables:
    """The tables of one GPU, by their names in layout.TABLES."""

    def __init__(self, sms: int):
        self._sms = sms
        self._kept: dict[str, _Kept] = {}
        # SMs of which the rows are not new; None when that is not known, as after a batch that did not come to its end.
        self._used: np.ndarray | None = np.zeros(0, np.int64)
        self._renewed: np.ndarray | slice = slice(None)

    def begin(self) -> None:
        """A batch begins. Every table of the units is asked for once until it ends."""
        if self._used is None:
            self._kept.clear()
        else:
            self._renewed = slice(None) if len(self._used) == self._sms else self._used
        self._used = None

    def ended(self, used: np.ndarray) -> None:
        """The batch has come to its end. No SM but those numbered `used`, int64, took a block of it."""
        self._used = used

    def of_sms(self, name: str, shape: tuple[int, ...], dtype: np.dtype | type, **initial: int) -> np.ndarray:
        """A table of as many rows for each SM, and perhaps some that belong to none. New rows are zero but for the
        fields `initial`.
        """
        kept = self._there(name, shape)
        if kept is None:
            table = np.zeros(shape, dtype)
            for field, value in initial.items():
                table[field] = value
            return self._keep_rows(name, table, whole=False)
        kept.rows[self._renewed] = kept.new
        if len(kept.tail):
            kept.tail[:] = kept.new_tail
        return kept.table

    def whole(self, name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        """A small table that is wholly new for each batch, of so many rows for each SM."""
        if name not in self._kept:
            return self._keep_rows(name, make(), whole=True)
        kept = self._kept[name]
        kept.rows[:] = kept.new
        return kept.table

    def scratch(self, name: str, shape: tuple[int, ...], dtype: np.dtype | type) -> np.ndarray:
        """A table of which nothing is read before it is written; zeros at first."""
        kept = self._there(name, shape)
        return self.keep(name, np.zeros(shape, dtype)) if kept is None else kept.table

    def keep(self, name: str, table: np.ndarray) -> np.ndarray:
        """The table, of which the address is known from now on."""
        self._kept[name] = _Kept(table, address_of(name, table), table.nbytes)
        return table

    def address(self, name: str, table: np.ndarray) -> int:
        kept = self._kept.get(name)
        # One that has grown may be elsewhere.
        if kept is None or kept.table is not table or kept.nbytes != table.nbytes:
            return address_of(name, table)
        return kept.address

    def _there(self, name: str, shape: tuple[int, ...]) -> _Kept | None:
        kept = self._kept.get(name)
        return kept if kept is not None and kept.table.shape == shape else None

    def _keep_rows(self, name: str, table: np.ndarray, whole: bool) -> np.ndarray:
        of_sms = len(table) // self._sms * self._sms
        nbytes = table.view(np.uint8).reshape(len(table), -1)
        rows, tail = nbytes[:of_sms].reshape(self._sms, -1), nbytes[of_sms:]
        new = rows.copy() if whole else rows[:1].copy()
        self._kept[name] = _Kept(table, address_of(name, table), table.nbytes, rows, new, tail, tail.copy())
        return table

    def __deepcopy__(self, memo: dict) -> "KeptTables":
        """A copy of the GPU has tables of its own."""
        return KeptTables(self._sms)


def address_of(name: str, table: np.ndarray) -> int:
    """Where the engine finds a table of layout.TABLES: it reads rows one behind the other."""
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
