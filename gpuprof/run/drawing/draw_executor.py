"""Carries out the draws of one GPU: each is a task, whose parts are the launches of its shaders.

Draws that are recorded are in flight together until the host waits for them: the fixed-function units feed their
shaders, and all are timed together.
"""

from dataclasses import replace
from functools import partial

from gpuprof.chips.draw_units import SHADER_STAGES
from gpuprof.device import commands as cmd
from gpuprof.device.launching.config import LaunchConfig, checked_launch
from gpuprof.emulate.watch.footprint import Bytes
from gpuprof.errors import DeviceMemoryError, KernelFault, UsageError
from gpuprof.graphics.draw_counts import DrawCounts
from gpuprof.graphics.sizes import BLOCK
from gpuprof.run.drawing.draw import draw, resolve_target
from gpuprof.run.drawing.draw_listener import DrawListener
from gpuprof.run.drawing.indirect import direct
from gpuprof.run.drawing.pixel_work import WorkOfDraw
from gpuprof.run.drawing.touched_bytes import TouchedTargets
from gpuprof.run.launching.launcher import Launcher
from gpuprof.run.launching.pending import PendingLaunch
from gpuprof.run.observers.observer import CompletedDraw, DrawStage
from gpuprof.timing.batch import Shades
from gpuprof.timing.draw_tables import check_graphics

# The later stages of draws before go first: they make room for the next draws.
PRIORITIES = {stage: number for number, stage in enumerate(reversed(SHADER_STAGES))}


class TimedShaders:
    """The shaders of one draw, in flight."""

    def __init__(self, launcher: Launcher, work: WorkOfDraw):
        self._launcher, self._work = launcher, work
        self._first: PendingLaunch | None = None
        self._number = len(launcher.in_flight.flights)
        self._n_shaded = dict.fromkeys(SHADER_STAGES, 0)  # warps so far

    def run(self, launch: cmd.Launch, shader: DrawStage) -> None:
        """Emulates a shader of the draw, or the next part of its lanes; its trace is stored for the timing."""
        stage, in_flight = shader.stage, self._launcher.in_flight
        shades = Shades(self._number, stage, self._n_shaded[stage])
        begun = self._launcher.begin(launch, shader=shader)._replace(priority=PRIORITIES[stage])
        flight = in_flight.add_shader(begun, shades)
        self._n_shaded[stage] += launch.grid[0]
        self._first = self._first or flight
        in_flight.finish_emulation()

    def drawn(self) -> bool:
        """The draw is over, or an error ended it; the units' work is known until there. Gives whether a shader ran."""
        if self._first:
            self._first.draw = self._work.complete()
        return self._first is not None


class UntimedShaders:
    """The shaders of a draw that is not recorded: their time is not needed."""

    def __init__(self, launcher: Launcher):
        self._launcher = launcher

    def run(self, launch: cmd.Launch, shader: DrawStage) -> None:
        self._launcher.launch(replace(launch, is_timed=self._launcher.settings.recorder is not None), shader)

    def drawn(self) -> bool:
        return False


class DrawExecutor:
    """The draws of one GPU, and what each has changed since the one before."""

    def __init__(self, launcher: Launcher):
        self._launcher = launcher
        self._last: cmd.Draw | None = None
        self._n_draws = self._pass = 0

    def draw(self, command: cmd.Draw) -> DrawCounts:
        launcher, settings = self._launcher, self._launcher.settings
        is_timed = settings.recorder is not None and settings.is_timed
        if is_timed:
            check_graphics(launcher.chip)
        if not (is_timed and launcher.in_flight.are_draws):
            launcher.settle()
            launcher.reach_present()
        command = direct(command, launcher.memory)
        name = command.name or "draw"
        for observer in launcher.observers:
            observer.draw_begins(name, launcher.cycle)
        counts = self._draw(command, name, is_timed)
        launcher.settle_if_full()
        return counts

    def _draw(self, command: cmd.Draw, name: str, is_timed: bool) -> DrawCounts:
        launcher = self._launcher
        first = len(launcher.in_flight.flights)
        number, state_changes, drained = self._n_draws, changes(self._last, command), drains(self._last, command)
        self._n_draws += 1
        touched = TouchedTargets(command, self._touched) if launcher.tasks.footprint else None
        work = WorkOfDraw(command, state_changes, drained, touched) if is_timed else None
        shaders = TimedShaders(launcher, work) if work else UntimedShaders(launcher)
        run_shader = partial(self._run_shader, shaders, number, touched)
        try:
            # a draw that is refused, or has no memory, leaves the draws before it in flight
            with launcher.settler.stopping(spares=(UsageError, DeviceMemoryError, KernelFault)):
                counts = draw(command, launcher.memory, run_shader, work or DrawListener())
                if touched:
                    touched.finish(counts)
                blocks = work.blocks.rows if work else []
                self._report(
                    CompletedDraw(
                        number,
                        launcher.tasks.innermost,
                        self._pass + drained,
                        name,
                        command,
                        launcher.tasks.command_buffer,
                        state_changes,
                        drained,
                        counts,
                        blocks,
                    )
                )
        except KernelFault as fault:
            launcher.settler.fault_in_draw(first, fault, launcher.settle)
            raise
        finally:
            for observer in launcher.observers:
                observer.draw_ends(name)
            # One that has run no shader changes nothing: the next one still begins the pass.
            if shaders.drawn():
                self._last = command
        return counts

    def _run_shader(
        self,
        shaders: TimedShaders | UntimedShaders,
        draw: int,
        touched: TouchedTargets | None,
        shader: cmd.Shader,
        params: bytes,
        n_lanes: int,
    ) -> None:
        launcher, stage = self._launcher, shader.interface.stage
        config = LaunchConfig((n_lanes // BLOCK, 1, 1), (BLOCK, 1, 1))
        text = f"{shader.function.display}{config}"
        index = launcher.n_launches
        launch = checked_launch(launcher.chip, index, shader.module, shader.function, config, params, text)
        shaders.run(launch, DrawStage(draw, stage))
        if touched and stage == "vertex":
            touched.indices()

    def _touched(self, flags: int, touched: Bytes) -> None:
        for observer in self._launcher.observers:
            observer.touched(flags, touched)

    def _report(self, draw: CompletedDraw) -> None:
        """A draw that has run no shader begins no pass."""
        for observer in self._launcher.observers:
            observer.drawn(draw)
        if draw.counts.vertex_waves:
            self._pass = draw.of_pass

    def resolve(self, command: cmd.Resolve) -> None:
        resolve_target(command, self._launcher.memory)


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
    """True for a draw that begins a pass: it has other targets, and may read those of the pass before."""
    return before is not None and before.targets != command.targets
