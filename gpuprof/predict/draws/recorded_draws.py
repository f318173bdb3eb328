"""The draws of a database, as plain values."""

from dataclasses import dataclass

from gpuprof.predict.draws.shader_waves import Waves
from gpuprof.predict.draws.targets import NO_TARGETS, TargetReuse, UnitBytes
from gpuprof.predict.launch_counters import LaunchCounters


@dataclass(frozen=True)
class RecordedDraw:
    """A draw on the reference chip. Cycles count from power-on. `busy_cycles` by fixed-function unit; `work`: its
    amounts of work for the units (chips.draws); `nbytes`: reads and writes of units that access memory, and `targets`,
    the part of them that was accessed before; `waves` and `launches` by shader stage, in the order of the stages.
    """

    draw: int
    name: str
    epoch: int  # number of waits of the host before it
    drains: bool  # it begins when all previous draws have ended: it begins a pass, or follows a kernel
    start_cycle: int  # the command processor begins it
    first_cycle: int  # the next unit begins its first item
    end_cycle: int
    busy_cycles: dict[str, float]
    work: dict[str, int]
    nbytes: dict[str, UnitBytes]
    waves: dict[str, Waves]
    launches: dict[str, tuple[LaunchCounters, ...]]
    targets: TargetReuse = NO_TARGETS

    @property
    def logged_cycles(self) -> float:
        """From its command to its end, without its wait in the queue of the command processor."""
        return self.busy_cycles["command"] + self.end_cycle - self.first_cycle

    @property
    def shaders(self) -> tuple[LaunchCounters, ...]:
        return tuple(counters for launches in self.launches.values() for counters in launches)
