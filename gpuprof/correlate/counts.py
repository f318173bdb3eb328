"""Counts of an instruction: its counters, and the positions of its lanes in shared memory."""

from collections import namedtuple
from typing import TYPE_CHECKING, NamedTuple

from gpuprof.tables.launch import COUNTERS
from gpuprof.tables.table import SUM

NAMES = COUNTERS.names(SUM)


class Counters(namedtuple("Columns", NAMES, defaults=(0,) * len(NAMES))):
    """Exact counts of an instruction or of a sum of instructions, named like the columns of `counters`."""

    __slots__ = ()

    if TYPE_CHECKING:  # the columns, which a type checker does not see

        def __new__(cls, *values: int, **named: int) -> "Counters": ...

        def __getattr__(self, name: str) -> int: ...

    @property
    def l2_sectors_global_excess(self) -> int:
        """Sectors that packed accesses would not request."""
        return self.l2_sectors_global - self.l2_sectors_global_ideal

    @property
    def l1_wavefronts_shared_excess(self) -> int:
        """Passes through the banks that only their conflicts make."""
        return self.l1_wavefronts_shared - self.l1_wavefronts_shared_ideal

    def facts(self) -> dict[str, int]:
        """All of them, and the excess of those that have an ideal."""
        return self._asdict() | {
            name: getattr(self, name) for name in ("l2_sectors_global_excess", "l1_wavefronts_shared_excess")
        }


NO_COUNTS = Counters()


class BankPattern(NamedTuple):
    """Positions of a warp's lanes in shared memory, and how often: a row of `bank_patterns`."""

    mask: int  # lanes that take part; 0: they are in no order
    strides: tuple[int, ...]  # bytes, by level
    lanes: tuple[int, ...]  # by level
    first: int  # lowest byte of the block's shared memory
    end: int  # highest, plus one
    warps: int
