"""Carries out a command stream: loads, copies and launches, in order; each launch is emulated, timed and recorded.

    command ─> Session.submit ─> result of the command
    Launch  ─> Launcher ─ TracePiece ─> timing ─ LaunchTiming ─> observers: recording, findings, tasks

The host waits for the results of the default stream, as for everything requested before. Launches on other streams are
in flight until the host waits: then they are timed, together.

There is one Session per `gpuprof collect`, or per Device of a script that runs on its own (nothing is recorded then).
"""

import json
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
from gpuprof.device.memory import AddressSpace, Allocation
from gpuprof.device.module import LoadedModule, load
from gpuprof.errors import DeviceMemoryError, UsageError
from gpuprof.graphics.draw_counts import DrawCounts
from gpuprof.isa.program import Program
from gpuprof.records.command_stream.codec import VERSION as STREAM_VERSION, Header
from gpuprof.records.command_stream.write import StreamWriter
from gpuprof.relate.task_kinds import PAGE_FAULTS
from gpuprof.run.compile_file import build, build_ptx, other_arch
from gpuprof.run.launching.gpu_timing import GpuTiming
from gpuprof.run.launching.launcher import Launcher, check_sampling
from gpuprof.run.launching.operations import Cost, cost_of, cost_of_host_faults, cost_of_prefetch
from gpuprof.run.launching.pending import PendingLaunch
from gpuprof.run.launching.timeline import DEFAULT_STREAM, Timeline
from gpuprof.run.observers.block_counts import BlockCounts
from gpuprof.run.observers.observer import HostMemoryTouched, SessionObserver, StreamOperation, listening
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
# Commands for observers only: tasks are no work.
REPORTED = (
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
        self.timeline = Timeline(settings.chosen_host(chip), chip)
        timing = GpuTiming(chip, settings.record, settings.sample_blocks, settings.max_cycles, settings.keeper)
        self.tracers = Tracers(chip, self.memory, settings.findings, settings.observer.notice, settings.recorder)
        self.tasks = Tasks(self.memory, settings.recorder, settings.observe, settings.rules)
        self.observers = [*self._recording(timing), self.tracers, self.tasks]
        for attached in settings.traces:
            self.tracers.attach(attached)
        self.launcher = Launcher(
            settings, chip, self.memory, timing, self.observers, self.tasks, self.tracers, self.timeline
        )
        self.in_flight = self.launcher.in_flight
        self._handlers: dict[type, Callable] = dict.fromkeys(REPORTED, lambda command: None) | {
            cmd.Allocate: self._allocate,
            cmd.Free: self._free,
            cmd.FreeLater: self._free_later,
            cmd.Map: self._map,
            cmd.Unmap: self._unmap,
            cmd.MakeImage: lambda c: self.memory.images.add(c.image),
            cmd.CopyIn: self._copy_in,
            cmd.HostWrite: self._host_write,
            cmd.HostTouch: self._host_touch,
            cmd.Prefetch: self._prefetch,
            cmd.Advise: self._advise,
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
            cmd.NonBlocking: lambda c: self.timeline.set_non_blocking(c.stream),
            cmd.HostTime: lambda c: self.timeline.reach_ns(c.ns),
            cmd.HostCall: lambda c: self.timeline.host_call(c.kind, c.n),
            cmd.HostFunction: self._host_function,
            cmd.Together: self._begin_together,
            cmd.TogetherEnd: lambda c: self.timeline.end_together(),
        }

    def _recording(self, timing: GpuTiming) -> list[SessionObserver]:
        """The observers that write the recording, in the order of its chunks."""
        recorder, settings = self.recorder, self.settings
        if not recorder:
            return []
        host = self.timeline.host
        recording = Recording(recorder, settings.sampling, settings.record, host.name if host else "")
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
                json.dumps(host.describe(), sort_keys=True) if (host := self.timeline.host) else "",
            )
            self.stream = StreamWriter(self.recorder.stream, header)

    @property
    def n_launches(self) -> int:
        """Launch commands carried out so far, and those of their kernels."""
        return self.launcher.n_launches

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
        if self.stream is None:
            return self._carry_out(command)
        return self.stream.through(self._as_measured(command), self._carry_out)

    def _as_measured(self, command: cmd.Command) -> cmd.Command:
        """A launch with the measurement that the settings ask for: a saved stream has no settings."""
        cache, repeat = self.settings.cache, self.settings.repeat
        if not isinstance(command, cmd.Launch) or (cache is None and repeat is None):
            return command
        return replace(command, cache=cache or command.cache, repeat=repeat or command.repeat)

    # The observers that do something with each command: there are many commands.
    _before_commands = cached_property(lambda self: listening(self.observers, "command"))
    _after_commands = cached_property(lambda self: listening(self.observers, "done"))

    def _carry_out(self, command: cmd.Command):
        cycle = self.launcher.cycle
        for tell in self._before_commands:
            tell(command, cycle)
        try:
            result = self._handlers[type(command)](command)
        except DeviceMemoryError as error:
            for observer in self.observers:
                observer.refused(command, error, self.place_of_call())
            raise
        for tell in self._after_commands:
            tell(command, result)
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

    @property
    def host_ns(self) -> int:
        """The host's clock, in nanoseconds since the program began."""
        return round(self.timeline.host_ns)

    # Memory is as the commands before leave it, whatever the time of each is.

    def _allocate(self, command: cmd.Allocate) -> Allocation:
        self.timeline.call("allocate_later" if command.is_later else "allocate")
        made = self.memory.allocate(command.nbytes, command.name, command.is_undefined)
        if self.launcher.host_memory:
            self.launcher.host_memory.add(command, made.address)
        return made

    def _map(self, command: cmd.Map) -> None:
        self.timeline.call("allocate")
        self.memory.map(command.address, command.nbytes)

    def _free(self, command: cmd.Free) -> None:
        self._reach(0)
        self.timeline.call("free")
        self._happens(command)
        self.memory.free(command.address)
        if self.launcher.host_memory:
            self.launcher.host_memory.remove(command.address)

    def _free_later(self, command: cmd.FreeLater) -> None:
        """Orders between launches are checked: the bytes that were touched before must be known."""
        self.timeline.call("allocate_later")
        if self.tracers.compares_launches:
            self.launcher.finish_emulation()

    def _unmap(self, command: cmd.Unmap) -> None:
        self._reach(0)
        self.timeline.call("free")
        self.memory.unmap(command.address, command.nbytes)

    def _copy_in(self, command: cmd.CopyIn) -> None:
        self.timeline.call("copy")
        self._reach(command.stream, self._is_blocking(command))
        self.memory.check(command.address, len(command.data), "write")
        self._operate(command)
        self.memory.write(command.address, command.data)

    def _host_write(self, command: cmd.HostWrite) -> None:
        self.finish_emulation()
        self.memory.write(command.address, command.data)

    def _host_touch(self, command: cmd.HostTouch) -> None:
        """Pages that launches in flight have move once these have ended; other touches take no time, and wait for
        nothing.
        """
        host, host_memory = self.timeline.host, self.launcher.host_memory
        if host_memory is None:
            return
        moved, n_groups = host_memory.host_touches(command.ranges, host.host_fault_nbytes)
        if moved.n_pages:
            self.launcher.settle()
            operation = self.launcher.touch(cost_of_host_faults(moved, n_groups, host))
            touched = HostMemoryTouched(PAGE_FAULTS, moved.name, cmd.HOST)
            self._report(touched, operation.start_cycle, [], operation)
            for observer in self.observers:
                observer.operated(operation)

    def _prefetch(self, command: cmd.Prefetch) -> None:
        self.timeline.call("copy")
        host, host_memory = self.timeline.host, self.launcher.host_memory
        if host_memory is None:
            return
        self._reach(command.stream)
        moved = host_memory.prefetch(command)
        if moved.nbytes:
            self._operate(command, cost_of_prefetch(moved, command.to_host, host))

    def _advise(self, command: cmd.Advise) -> None:
        if self.launcher.host_memory:
            self.launcher.host_memory.advise(command)

    def _copy_out(self, command: cmd.CopyOut) -> bytes:
        """The host waits for a copy to memory that is not page-locked."""
        self.timeline.call("copy")
        self._reach(command.stream, not command.is_pinned)
        data = self.memory.read(command.address, command.nbytes)
        self._operate(command)
        self.settings.observer.copied_out(data)
        return data

    def _copy_within(self, command: cmd.CopyWithin) -> None:
        self.timeline.call("copy")
        self._reach(command.stream)
        self.memory.check(command.source, command.nbytes, "read")
        self.memory.check(command.destination, command.nbytes, "write")
        self._operate(command)
        self.memory.copy(command.destination, command.source, command.nbytes)

    def _fill(self, command: cmd.Fill) -> None:
        self.timeline.call("fill")
        self._reach(command.stream)
        self.memory.fill(command.address, command.nbytes, command.pattern)
        self._operate(command)

    def _host_function(self, command: cmd.HostFunction) -> None:
        self.launcher.settle()
        self._operate(command)

    def _is_blocking(self, command: cmd.CopyIn) -> bool:
        """True for a copy that the host stays with until its end, and so until that of what its stream has."""
        host = self.timeline.host
        return host is not None and (
            command.is_waited or (not command.is_pinned and len(command.data) > host.staged_nbytes)
        )

    def _operate(self, command: cmd.Command, cost: Cost | None = None) -> None:
        """A copy, fill or function of the host takes its time, and its place in the order of execution. cost: None for
        the command's own.
        """
        after, host = self._tail(command.stream), self.timeline.host
        if host and cost is None:
            cost = cost_of(command, host, self.chip)
        operation = self.launcher.operate(cost, command.stream)
        is_out = isinstance(command, cmd.CopyOut) and not command.is_pinned
        reported = replace(command, stream=DEFAULT_STREAM) if is_out else command
        self._report(reported, max(operation.start_cycle, operation.arrival), after, operation)
        if operation.end_cycle >= 0:
            for observer in self.observers:
                observer.operated(operation)
        if is_out or getattr(command, "is_waited", False):
            self.timeline.wait(operation.end_cycle)
        elif isinstance(command, cmd.CopyIn) and self._is_blocking(command):
            self.timeline.reach_ns(self.timeline.ns(operation.end_cycle))

    def _begin_together(self, command: cmd.Together) -> None:
        if command.what == "graph":
            self.timeline.call("graph_launch")
            self.timeline.call("graph_node", command.n)
        else:
            self.timeline.call("copy")
        self.timeline.begin_together(command.what)

    def _happens(self, command: cmd.Command, event: int | None = None) -> None:
        """Reports the command after the launches in flight that end its stream, or that an event waits for."""
        flights = self._tail(getattr(command, "stream", 0))
        if event is not None:
            flights = self.in_flight.before_event(event)
        self._report(command, self.launcher.cycle, flights)

    def _tail(self, stream: int) -> list[PendingLaunch]:
        """The launches in flight that end a stream."""
        return self.in_flight.tail(stream) if stream > 0 else []

    def _report(
        self,
        command: cmd.Command | HostMemoryTouched,
        cycle: int,
        after: list[PendingLaunch],
        operation: StreamOperation | None = None,
    ) -> None:
        for observer in self.observers:
            observer.happens(command, cycle, [flight.launch for flight in after], operation)

    def _reach(self, stream: int, is_blocking: bool = False) -> None:
        """Memory is as all launches before leave it. The default stream waits for them, too, and so does a host that
        stays with a copy; but not for draws: their commands follow each other in a buffer of their own.
        """
        if self.in_flight.are_draws and not is_blocking:
            return
        if stream == 0 or is_blocking:
            self.launcher.settle()
        else:
            self.launcher.finish_emulation()

    def _event(self, command: cmd.Event) -> None:
        self.timeline.call("record")
        if command.stream == 0:
            self.launcher.settle()
        # Without times of kernels, the time between two events would be the host's: there is none.
        cycle = self.timeline.arrival(command.stream) if self.settings.is_timed else 0
        self.in_flight.mark(command.event, command.stream, cycle)

    def _event_time(self, command: cmd.EventTime) -> int:
        if self.in_flight.depends(command.event):
            self.launcher.settle()
        self.timeline.call("other")
        self._happens(command)
        return self.in_flight.cycle_of(command.event)

    def _wait(self, command: cmd.Wait) -> int | None:
        if command.stream == cmd.HOST or command.stream == 0 or command.event == cmd.EVERYTHING:
            self.launcher.settle()
            end = self._awaited(command)
            if command.stream == cmd.HOST:
                self.timeline.wait(end)
            else:
                self.timeline.call("wait_event")
                self.timeline.ended(command.stream, end)
            self._happens(replace(command, stream=cmd.HOST))
            return self.launcher.cycle if command.stream == cmd.HOST else None
        self.timeline.call("wait_event")
        self.in_flight.wait(command.event, command.stream)
        if (cycle := self.in_flight.known_cycle(command.event)) is not None:
            self.timeline.sees(command.stream, cycle)
        self._happens(command, command.event)
        return None

    def _awaited(self, command: cmd.Wait) -> int:
        """The cycle in which what a Wait waits for has ended; all of it has been timed."""
        if command.event != cmd.EVERYTHING:
            return self.in_flight.known_cycle(command.event) or 0
        if command.of == cmd.NO_STREAM:
            return 0
        return self.timeline.end_of_all if command.of == cmd.EVERY_STREAM else self.timeline.end_of(command.of)

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
