"""The draws of a database, as plain values."""

from dataclasses import dataclass

from gpuprof.predict.counters import LaunchCounters
from gpuprof.predict.draws.shader_waves import Waves
from gpuprof.predict.draws.targets import NO_TARGETS, TargetReuse, UnitBytes


@dataclass(frozen=True)
class RecordedDraw:
    """On the reference chip. Cycles count from power-on. `busy_cycles` of each fixed-function unit; `work`: what it was
    asked for (chips.draw_units); `nbytes`: what units that access memory read and wrote, and `targets`, what of it they
    had before; `waves` and `launches` of each shader stage, in the order of the stages.
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
    targets: TargetReuse = NO_TARGETS

    @property
    def logged_cycles(self) -> float:
        """From its command to its end, without its turn in the line behind the command processor."""
        return self.busy_cycles["command"] + self.end_cycle - self.first_cycle

    @property
    def shaders(self) -> tuple[LaunchCounters, ...]:
        return tuple(each for launches in self.launches.values() for each in launches)
