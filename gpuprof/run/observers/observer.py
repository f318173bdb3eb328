"""The events of a session, and the plain values that come with them.

a command:  command ─ loaded | happens | launch | draw_begins ... drawn, draw_ends ─> done, or refused
a launch:   launch (or untimed) ─ emulated ─ trace, samples ─> timed ─> settled; or stopped, or run_through
the end:    finish; or flush, when an error or Ctrl-C ends it
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpuprof.base.cache_control import AS_THE_PROGRAM, CacheControl
from gpuprof.chips import Chip
from gpuprof.device import commands as cmd
from gpuprof.device.module import LoadedModule
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.watch.footprint import Bytes
from gpuprof.errors import DeviceMemoryError, KernelFault
from gpuprof.graphics.draw_counts import DrawCounts
from gpuprof.timing.batch import Operation
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.state.launch_timing import LaunchTiming


@dataclass(frozen=True)
class LaunchResult:
    """The result of one launch, in addition to its effect on memory."""

    launch: cmd.Launch
    timing: LaunchTiming
    counters: LaunchCounters


class DrawStage(NamedTuple):
    """The draw that a shader's launch belongs to, by number, and the shader's stage."""

    draw: int
    stage: str


class LaunchStart(NamedTuple):
    """A launch that was requested, to be counted and timed.

    parent: the index of the launch whose kernel launched it. task: the open tasks, as a path. sampling: the sampler's
    registers in force. priority: the stream's. traces: the names of the trace generators that watch it. control: how it
    is measured.
    """

    launch: cmd.Launch
    parent: int | None
    task: str
    sampling: Sampling
    priority: int
    shader: DrawStage | None
    traces: tuple[str, ...]
    control: CacheControl = AS_THE_PROGRAM


class LaunchOrder(NamedTuple):
    """A launch of a batch that was timed, and the launches of the batch that it waited for, as in timing.batch.Grid."""

    launch: cmd.Launch
    after: tuple[int, ...]
    after_signal: tuple[int, ...]
    launched_by: tuple[int, int, int] | None


@dataclass(eq=False)
class StreamOperation(Operation):
    """An operation of a stream, with what the recording has of it: `flags` are those of relate.task_kinds. is_timed:
    there is a host whose link and calls say what it takes. launch: that it brings memory to, None for others.
    """

    stream: int = 0
    nbytes: int = 0
    flags: int = 0
    is_timed: bool = False
    launch: cmd.Launch | None = None


@dataclass(frozen=True)
class HostMemoryTouched:
    """In place of a command: a launch touches memory that the host has, or the host memory that the GPU has. kind: of
    relate.task_kinds; name: of the allocation; stream: the launch's, or commands.HOST.
    """

    kind: int
    name: str
    stream: int


class CompletedDraw(NamedTuple):
    """A draw that has drawn all. task: its task's number; buffer: that of its command buffer, if it is in one. blocks:
    stage and tables.draws.PRIMITIVES of each of its launches.
    """

    draw: int
    task: int
    of_pass: int
    name: str
    command: cmd.Draw
    buffer: int | None
    state_changes: int
    drains: bool
    counts: DrawCounts
    blocks: Sequence[tuple[str, np.ndarray]]


def listening(observers: Iterable["SessionObserver"], event: str) -> list[Callable]:
    """The methods for an event of the observers that do something with it."""
    default = getattr(SessionObserver, event)
    return [getattr(one, event) for one in observers if getattr(type(one), event) is not default]


class SessionObserver:
    """Every event does nothing here; an observer overrides the ones that it needs."""

    def begin(self, chip: Chip, command: str) -> None:
        """A recording begins; `command` is gpuprof's command line."""

    def command(self, command: cmd.Command, cycle: int) -> None:
        """A command is carried out next; `cycle` is the GPU's present one."""

    def done(self, command: cmd.Command, result: Any) -> None:
        """The command has been carried out."""

    def refused(self, command: cmd.Command, error: DeviceMemoryError, call: str) -> None:
        """The command misuses memory. call: the host's line and call, if they are known. An observer that reports the
        error sets `error.is_reported`.
        """

    def loaded(self, module: LoadedModule, image: bytes) -> None:
        """A module has been loaded; `image` is its ELF file."""

    def happens(
        self,
        command: cmd.Command | HostMemoryTouched,
        cycle: int,
        after: Iterable[cmd.Launch],
        operation: StreamOperation | None = None,
    ) -> None:
        """A copy, fill, resolve, wait or free, or the move of memory that is touched, takes its place in the order of
        execution, after the launches in flight that end its stream, or that the event waits for which the stream waits
        for. operation: what takes its time.
        """

    def operated(self, operation: StreamOperation) -> None:
        """The time of an operation is known."""

    def launch(self, start: LaunchStart) -> None:
        """A launch was requested."""

    def untimed(self, launch: cmd.Launch, cycle: int) -> None:
        """A launch was requested that is only emulated."""

    def emulated(self, launch: cmd.Launch) -> None:
        """A launch's emulation has ended, or was stopped."""

    def trace(self, launch: cmd.Launch, pieces: Iterator[TracePiece], sampling: Sampling) -> Iterator[TracePiece]:
        """The launch's trace, as the timing takes it."""
        return pieces

    def samples(self, rows: np.ndarray) -> None:
        """The timing gives samples, or rows of counters, of any launches."""

    def timed(self, result: LaunchResult) -> None:
        """A launch has been timed."""

    def run_through(self, launch: cmd.Launch) -> None:
        """A launch has been emulated to its end, and is not timed."""

    def note(self, launch: cmd.Launch, text: str) -> None:
        """A sentence on a launch that belongs in the recording: why its numbers are not exact, or why it ended."""

    def settled(self, batch: Sequence[LaunchOrder]) -> None:
        """A batch of launches has been timed: they end before everything that is requested from now on."""

    def draw_begins(self, name: str, cycle: int) -> None:
        """A draw is carried out next."""

    def touched(self, flags: int, touched: Bytes) -> None:
        """Fixed-function units access bytes, for the shader that was launched last. flags: of relate.task_kinds."""

    def drawn(self, draw: CompletedDraw) -> None:
        """The draw has drawn all."""

    def draw_ends(self, name: str) -> None:
        """The draw has ended, also by an error."""

    def flush(self) -> None:
        """The session is cut short: rows that wait are written."""

    def stopped(self, launch: cmd.Launch, error: KernelFault | KeyboardInterrupt) -> None:
        """A launch in flight was stopped by an error, its own or another launch's."""

    def finish(self) -> None:
        """No command follows, and everything has been timed."""
