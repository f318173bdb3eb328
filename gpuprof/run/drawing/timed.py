"""Shaders of draws in flight: launches that the fixed-function units feed, timed together once somebody waits."""

from collections.abc import Callable

from gpuprof.device import commands as cmd
from gpuprof.run.drawing.work import WorkOfDraw
from gpuprof.run.inflight import Begun, Flight, InFlight

# The pixels of draws before go first: they make room for what comes behind.
PIXELS_FIRST, VERTICES_LATER = 0, 1


class TimedShaders:
    """The shaders of one draw. `begin` counts and records a launch (Session)."""

    def __init__(self, in_flight: InFlight, begin: Callable[[cmd.Launch], Begun], work: WorkOfDraw):
        self._in_flight, self._begin, self._work = in_flight, begin, work
        self._vertices: Flight | None = None
        self._number = len(in_flight.flights)

    def run(self, launch: cmd.Launch) -> None:
        """Emulates a shader; its trace is kept for the timing. The first one is that of the vertices."""
        begun = self._begin(launch)
        if self._vertices is None:
            self._vertices = self._in_flight.add_shader(begun._replace(priority=VERTICES_LATER))
        else:
            flight = self._in_flight.add_shader(begun._replace(priority=PIXELS_FIRST))
            flight.pixels_of = self._number, self._work.n_waves
        self._in_flight.finish_emulation()

    def drawn(self) -> bool:
        """The draw is over, or an error ended it; its work is known, as far as it came. Whether a shader ran at all."""
        if self._vertices:
            self._vertices.draw = self._work.whole()
        return self._vertices is not None


def changes(before: cmd.Draw | None, command: cmd.Draw) -> int:
    """Changes of state between two draws: shaders, their parameters, buffers, targets and fixed-function state."""
    if before is None:
        return 0
    pairs = [(getattr(before, name), getattr(command, name)) for name in ("buffers", "targets")]
    pairs += [(getattr(before.state, name), getattr(command.state, name)) for name in before.state.__dataclass_fields__]
    for old, new in ((before.vertex, command.vertex), (before.pixel, command.pixel)):
        pairs += [(old and old.function, new and new.function), (old and old.params, new and new.params)]
    return sum(old != new for old, new in pairs)


def drains(before: cmd.Draw | None, command: cmd.Draw) -> bool:
    """Whether a draw begins a pass: it has other targets, and may read those of the pass before."""
    return before is not None and before.targets != command.targets
