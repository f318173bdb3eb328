"""Shaders of draws in flight: launches that the fixed-function units feed, timed together once somebody waits."""

from collections.abc import Callable

from gpuprof.chips.draw_units import SHADER_STAGES
from gpuprof.device import commands as cmd
from gpuprof.run.drawing.pixel_work import WorkOfDraw
from gpuprof.run.pending import BegunLaunch, InFlight, PendingLaunch
from gpuprof.timing.batch import Shades

# The later stages of draws before go first: they make room for what comes behind.
PRIORITIES = {stage: number for number, stage in enumerate(reversed(SHADER_STAGES))}


class TimedShaders:
    """The shaders of one draw. `begin` counts and records a launch (Session)."""

    def __init__(self, in_flight: InFlight, begin: Callable[[cmd.Launch], BegunLaunch], work: WorkOfDraw):
        self._in_flight, self._begin, self._work = in_flight, begin, work
        self._first: PendingLaunch | None = None
        self._number = len(in_flight.flights)
        self._n_shaded = dict.fromkeys(SHADER_STAGES, 0)  # warps so far

    def run(self, shader: cmd.Shader, launch: cmd.Launch) -> None:
        """Emulates a shader of the draw, or the next part of what it shades; its trace is kept for the timing."""
        stage = shader.interface.stage
        shades = Shades(self._number, stage, self._n_shaded[stage])
        begun = self._begin(launch)._replace(priority=PRIORITIES[stage])
        flight = self._in_flight.add_shader(begun, shades)
        self._n_shaded[stage] += launch.grid[0]
        self._first = self._first or flight
        self._in_flight.finish_emulation()

    def drawn(self) -> bool:
        """The draw is over, or an error ended it; its work is known, as far as it came. Whether a shader ran at all."""
        if self._first:
            self._first.draw = self._work.whole()
        return self._first is not None


def changes(before: cmd.Draw | None, command: cmd.Draw) -> int:
    """Changes of state between two draws: shaders, their parameters, buffers, targets and fixed-function state."""
    if before is None:
        return 0
    pairs = [(getattr(before, name), getattr(command, name)) for name in ("buffers", "targets")]
    pairs += [(getattr(before.state, name), getattr(command.state, name)) for name in before.state.__dataclass_fields__]
    for old, new in [(before.shader(stage), command.shader(stage)) for stage in SHADER_STAGES]:
        pairs += [(old and old.function, new and new.function), (old and old.params, new and new.params)]
    return sum(old != new for old, new in pairs)


def drains(before: cmd.Draw | None, command: cmd.Draw) -> bool:
    """Whether a draw begins a pass: it has other targets, and may read those of the pass before."""
    return before is not None and before.targets != command.targets
