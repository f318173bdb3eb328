"""The draws of a database, as plain values."""

from dataclasses import dataclass
from typing import NamedTuple

from gpuprof.predict.counters import LaunchCounters
from gpuprof.predict.draws.waves import Waves


class UnitBytes(NamedTuple):
    """In whole sectors: of the L2, and what missed it or had to leave it."""

    l2_read_nbytes: int
    l2_write_nbytes: int
    dram_read_nbytes: int
    dram_write_nbytes: int


@dataclass(frozen=True)
class RecordedDraw:
    """On the reference chip. Cycles count from power-on. `busy_cycles` of each fixed-function unit; `work`: what it was
    asked for (chips.draws); `nbytes`: what units that access memory read and wrote; `waves` and `launches` of each
    shader stage, in the order of the stages.
    """

    draw: int
    name: str
    epoch: int  # waits of the host before it
    drains: bool  # it begins when all draws before it have ended: as a pass does, or behind a kernel
    start_cycle: int  # the command processor takes it
    first_cycle: int  # the unit behind that begins its first item
    end_cycle: int
    busy_cycles: dict[str, float]
    work: dict[str, int]
    nbytes: dict[str, UnitBytes]
    waves: dict[str, Waves]
    launches: dict[str, tuple[LaunchCounters, ...]]

    @property
    def logged_cycles(self) -> float:
        """From its command to its end, without its turn in the line behind the command processor."""
        return self.busy_cycles["command"] + self.end_cycle - self.first_cycle

    @property
    def shaders(self) -> tuple[LaunchCounters, ...]:
        return tuple(each for launches in self.launches.values() for each in launches)
