"""Carries out a command stream: loads, copies and launches, in order; each launch is emulated, timed and recorded.

    command ─> Session.submit ─> result of the command
    Launch  ─> Launcher ─ TracePiece ─> timing ─ LaunchTiming ─> observers: recording, findings, tasks

The host waits for the results of the default stream, as for everything requested before. Launches on other streams are
in flight until the host waits: then they are timed, together.

There is one Session per `gpuprof collect`, or per Device of a script that runs on its own (nothing is recorded then).
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gpuprof.base.heap import give_back_large_arrays
from gpuprof.chips import Chip
from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.device.load_map import LoadMap, move_nbytes
from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import LoadedModule, load
from gpuprof.errors import DeviceMemoryError, UsageError
from gpuprof.graphics.draw_counts import DrawCounts
from gpuprof.isa.program import Program
from gpuprof.records.command_stream.codec import VERSION as STREAM_VERSION, Header
from gpuprof.records.command_stream.write import StreamWriter
from gpuprof.run.compile_file import build, build_ptx, other_arch
from gpuprof.run.host_clock import HostClock
from gpuprof.run.launching.gpu_timing import GpuTiming
from gpuprof.run.launching.launcher import Launcher, check_sampling
from gpuprof.run.observers.block_counts import BlockCounts
from gpuprof.run.observers.observer import SessionObserver
from gpuprof.run.observers.recorded_draws import RecordedDraws
from gpuprof.run.observers.recording import Recording
from gpuprof.run.observers.tasks import Tasks
from gpuprof.run.observers.tracing import Attached, Tracers
from gpuprof.run.run_settings import Settings
from gpuprof.trace.generator import TraceGenerator

if TYPE_CHECKING:
    from gpuprof.compile import PtxModule
    from gpuprof.run.drawing.draw_executor import DrawExecutor

MOST_PRIORITY = 1 << 31  # CUDA's is an int
# Commands for observers only: nothing overlaps the default stream here, and tasks are no work.
REPORTED = (
    cmd.NonBlocking,
    cmd.HostTime,
    cmd.HostCall,
    cmd.HostFunction,
    cmd.Together,
    cmd.TogetherEnd,
    cmd.TaskBegin,
    cmd.TaskEnd,
    cmd.CallBegin,
    cmd.CallEnd,
    cmd.Identify,
    cmd.Relate,
    cmd.Parameter,
)


class Session:
    """Carries out commands on one emulated GPU. It is the Executor of `device.api`."""

    def __init__(self, settings: Settings, chip: Chip, memory: AddressSpace | None = None):
        """`memory`: the global memory, if another process shares it."""
        check_sampling(settings.sampling, chip, settings.sample_blocks)
        self.settings, self.chip, self.recorder = settings, chip, settings.recorder
        give_back_large_arrays()
        self.memory = memory or AddressSpace()
        # A stream that is replayed has the addresses of one without guards.
        if settings.traces and not settings.save_stream:
            self.memory.separate_allocations([attached.generator.guard_nbytes for attached in settings.traces])
        self.modules: list[LoadedModule] = []
        self.load_map = _load_map(settings, chip)
        self._images: dict[int, tuple[Program, bytes]] = {}  # id(program) -> the program, so that it lives, and its ELF
        self.place_of_call: Callable[[], str] = str  # the line and call of the host, if they are known
        self.stream: StreamWriter | None = None
        self._host = HostClock(chip.clock_mhz)
        timing = GpuTiming(chip, settings.record, settings.sample_blocks, settings.max_cycles)
        self.tracers = Tracers(chip, self.memory, settings.findings, settings.observer.notice, settings.recorder)
        self.tasks = Tasks(self.memory, settings.recorder, settings.observe, settings.rules)
        self.observers = [*self._recording(timing), self.tracers, self.tasks]
        for attached in settings.traces:
            self.tracers.attach(attached)
        self.launcher = Launcher(settings, chip, self.memory, timing, self.observers, self.tasks, self.tracers)
        self.in_flight = self.launcher.in_flight
        self._handlers: dict[type, Callable] = dict.fromkeys(REPORTED, lambda command: None) | {
            cmd.Allocate: lambda c: self.memory.allocate(c.nbytes, c.name, c.is_undefined),
            cmd.Free: self._free,
            cmd.FreeLater: self._free_later,
            cmd.Map: lambda c: self.memory.map(c.address, c.nbytes),
            cmd.Unmap: self._unmap,
            cmd.MakeImage: lambda c: self.memory.images.add(c.image),
            cmd.CopyIn: self._copy_in,
            cmd.HostWrite: self._host_write,
            cmd.CopyOut: self._copy_out,
            cmd.CopyWithin: self._copy_within,
            cmd.Fill: self._fill,
            cmd.Load: self._load,
            cmd.Launch: self.launcher.launch,
            cmd.Draw: self._draw,
            cmd.Resolve: self._resolve,
            cmd.Event: self._event,
            cmd.EventTime: self._event_time,
            cmd.Priority: self._set_priority,
            cmd.Wait: self._wait,
            cmd.SetSampler: lambda c: self.launcher.set_sampler(c.registers),
        }

    def _recording(self, timing: GpuTiming) -> list[SessionObserver]:
        """The observers that write the recording, in the order of its chunks."""
        recorder, settings = self.recorder, self.settings
        if not recorder:
            return []
        recording = Recording(recorder, settings.sampling, settings.record)
        return [BlockCounts(recorder, timing.machine.programs), recording, RecordedDraws(recorder)]

    def begin_recording(self) -> None:
        """Before the first command."""
        settings = self.settings
        for observer in self.observers:
            observer.begin(self.chip, settings.command)
        if settings.save_stream:
            header = Header(
                STREAM_VERSION,
                settings.sampling,
                settings.record,
                settings.sample_blocks,
                settings.max_cycles,
                self.memory.alignment,
                settings.max_instructions,
            )
            self.stream = StreamWriter(self.recorder.stream, header)

    @property
    def n_launches(self) -> int:
        """Launch commands carried out so far, and those of their kernels."""
        return self.launcher.n_launches

    @property
    def host_ns(self) -> int:
        """The host's clock, in ns since the session began."""
        return self._host.ns

    def compile(self, path: Path, names: Iterable[str] = (), compiler: str | None = None) -> Program:
        """The program of a source file, by the settings' compiler if none is named; see `build`."""
        options = replace(self.settings.options, compiler=compiler) if compiler else self.settings.options
        program, image = build(Path(path), arch=self.chip.arch, names=names, options=options)
        if notice := other_arch(program, Path(path), self.chip.arch):
            self.settings.observer.notice(notice)
        self.adopt(program, image)
        return program

    def assemble(self, module: "PtxModule") -> Program:
        """The program of PTX that the caller has compiled; see `build_ptx`."""
        program, image = build_ptx(module, self.settings.options)
        self.adopt(program, image)
        return program

    def adopt(self, program: Program, image: bytes) -> None:
        """Takes a program that is going to be loaded, with its ELF image, from elsewhere."""
        self._images[id(program)] = (program, image)

    def submit(self, command: cmd.Command):
        """Carries out one command; returns the result that the command's docstring names."""
        return self.stream.through(command, self._carry_out) if self.stream else self._carry_out(command)

    def _carry_out(self, command: cmd.Command):
        for observer in self.observers:
            observer.command(command, self.launcher.cycle)
        try:
            result = self._handlers[type(command)](command)
        except DeviceMemoryError as error:
            for observer in self.observers:
                observer.refused(command, error, self.place_of_call())
            raise
        self._host.passes(command, self.launcher.cycle)
        for observer in self.observers:
            observer.done(command, result)
        return result

    def finish_emulation(self) -> None:
        """Memory is as all launches so far leave it."""
        self.launcher.finish_emulation()

    def add_trace_generator(self, generator: TraceGenerator, where: str = "") -> None:
        """The generator watches launches from now on, those that `where` names; see `Tracers.attach`."""
        self.tracers.attach(Attached(generator, where))

    def remove_trace_generator(self, generator: TraceGenerator) -> None:
        """Launches from now on are not watched by it. Those before have their results when this returns."""
        self.launcher.settle()
        self.tracers.detach(generator)

    def finish(self) -> None:
        """No command follows."""
        self.launcher.settle()
        for observer in self.observers:
            observer.finish()
        if self.stream:
            self.stream.end()

    def drop(self) -> None:
        """No command follows, and what is in flight is abandoned."""
        self.in_flight.drop()
        for observer in self.observers:
            observer.flush()

    def _load(self, command: cmd.Load) -> LoadedModule:
        program = command.program
        base = self.load_map.place(program.code.nbytes) if command.load_base is None else command.load_base
        module = load(program, self.memory, base, command.placed)
        self.modules.append(module)
        for observer in self.observers:
            observer.loaded(module, self._images[id(program)][1])
        return module

    # Copies between host and device take no GPU time. They see memory as the commands before them leave it.

    def _free(self, command: cmd.Free) -> None:
        self._reach(0)
        self._happens(command)
        self.memory.free(command.address)

    def _free_later(self, command: cmd.FreeLater) -> None:
        """Orders between launches are checked: the bytes that were touched before must be known."""
        if self.tracers.compares_launches:
            self.launcher.finish_emulation()

    def _unmap(self, command: cmd.Unmap) -> None:
        self._reach(0)
        self.memory.unmap(command.address, command.nbytes)

    def _copy_in(self, command: cmd.CopyIn) -> None:
        self._reach(command.stream)
        self.memory.check(command.address, len(command.data), "write")
        self._happens(command)
        self.memory.write(command.address, command.data)

    def _host_write(self, command: cmd.HostWrite) -> None:
        self.finish_emulation()
        self.memory.write(command.address, command.data)

    def _copy_out(self, command: cmd.CopyOut) -> bytes:
        """The host waits for the bytes where its memory is not page-locked."""
        if command.is_pinned:
            self._reach(command.stream)
        else:
            self.launcher.settle()
        data = self.memory.read(command.address, command.nbytes)
        self._happens(command if command.is_pinned else replace(command, stream=0))
        return data

    def _copy_within(self, command: cmd.CopyWithin) -> None:
        self._reach(command.stream)
        self.memory.check(command.source, command.nbytes, "read")
        self.memory.check(command.destination, command.nbytes, "write")
        self._happens(command)
        self.memory.copy(command.destination, command.source, command.nbytes)

    def _fill(self, command: cmd.Fill) -> None:
        self._reach(command.stream)
        self.memory.fill(command.address, command.nbytes, command.pattern)
        self._happens(command)

    def _happens(self, command: cmd.Command, event: int | None = None) -> None:
        """Reports the command after the launches in flight that end its stream, or that an event waits for."""
        stream = getattr(command, "stream", 0)
        flights = self.in_flight.tail(stream) if stream > 0 else []
        if event is not None:
            flights = self.in_flight.before_event(event)
        for observer in self.observers:
            observer.happens(command, self.launcher.cycle, [flight.launch for flight in flights])

    def _reach(self, stream: int) -> None:
        """Memory is as all launches before leave it. The default stream waits for them, too, but for draws: their
        commands follow each other in a buffer of their own.
        """
        if self.in_flight.are_draws:
            return
        if stream == 0:
            self.launcher.settle()
        else:
            self.launcher.finish_emulation()

    def _event(self, command: cmd.Event) -> None:
        if command.stream == 0:
            self.launcher.settle()
        self.in_flight.mark(command.event, command.stream, self.launcher.cycle)

    def _event_time(self, command: cmd.EventTime) -> int:
        if self.in_flight.depends(command.event):
            self.launcher.settle()
        self._happens(command)
        return self.in_flight.cycle_of(command.event)

    def _wait(self, command: cmd.Wait) -> int | None:
        if command.stream == cmd.HOST or command.stream == 0 or command.event == cmd.EVERYTHING:
            self.launcher.settle()
            self._happens(replace(command, stream=cmd.HOST))
            return self.launcher.cycle if command.stream == cmd.HOST else None
        self.in_flight.wait(command.event, command.stream)
        self._happens(command, command.event)
        return None

    def _set_priority(self, command: cmd.Priority) -> None:
        if not -MOST_PRIORITY <= command.priority < MOST_PRIORITY:
            raise UsageError(f"a stream's priority of {command.priority}: it must be -2^31 to 2^31 - 1")
        self.launcher.priorities[command.stream] = command.priority

    @cached_property
    def _drawing(self) -> "DrawExecutor":
        # the stages take 30 ms to import, which a run without draws need not spend
        from gpuprof.run.drawing.draw_executor import DrawExecutor

        return DrawExecutor(self.launcher)

    def _draw(self, command: cmd.Draw) -> DrawCounts:
        return self._drawing.draw(command)

    def _resolve(self, command: cmd.Resolve) -> None:
        self.launcher.settle()
        self._drawing.resolve(command)
        self._happens(command)


def open_session(settings: Settings, chip_name: str | None = None, memory: AddressSpace | None = None) -> Session:
    """A Session that has begun its recording. The settings' chip takes precedence over `chip_name`."""
    session = Session(settings, settings.chosen_chip(chip_name), memory)
    if session.recorder:
        session.begin_recording()
        if session.chip.is_foreign:
            settings.observer.notice(f"chip {session.chip.name}: {session.chip.notes}")
    return session


def open_device(settings: Settings, chip_name: str | None = None, memory: AddressSpace | None = None) -> Device:
    """A Device of its own GPU; see `open_session`."""
    session = open_session(settings, chip_name, memory)
    return Device(session, session.chip)


def _load_map(settings: Settings, chip: Chip) -> LoadMap:
    if settings.load_base is None:
        return LoadMap(seed=settings.sampling.seed, move_nbytes=move_nbytes(chip))
    return LoadMap(settings.load_base)
