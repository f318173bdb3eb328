"""Carries out a command stream: loads, copies and launches, in order; each launch is emulated, timed and recorded.

    command ─> Session.submit ─> result of the command
    Launch  ─> emulate ─ TracePiece ─> timing (`settling`) ─ records ─> RecordWriter

A launch's first piece of trace is emulated at once; what comes behind it, on a thread beside the timing.

The host waits for what it asks of the default stream, as for all that was asked before. Launches on other streams are
in flight until somebody waits for them: then they are timed, together.

There is one Session per `gpuprof collect`, or per Device of a script that runs on its own (nothing is recorded then).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gpuprof.base.heap import give_back_large_arrays
from gpuprof.chips import Chip
from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.device.launching.config import LaunchConfig, checked_launch
from gpuprof.device.load_map import LoadMap, move_nbytes
from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import LoadedModule, load
from gpuprof.emulate.run import emulate
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.emulate.trace_log.trace import Order, TracePiece
from gpuprof.errors import DeviceMemoryError, KernelFault, UsageError
from gpuprof.graphics.draw_counts import DrawCounts
from gpuprof.graphics.sizes import BLOCK
from gpuprof.isa.program import Program
from gpuprof.records.command_stream.write import StreamWriter
from gpuprof.run.chunks import (
    launch_fields,
    record_module,
    record_preamble,
    sampling_fields,
    stream_header,
)
from gpuprof.run.compile_file import build, build_ptx, other_arch
from gpuprof.run.drawing.recorded_draw import OfDraw, RecordedDraws
from gpuprof.run.hazards.host_errors import HostError, host_error, leaks
from gpuprof.run.nested import Descent, launches_grids
from gpuprof.run.pending import BegunLaunch, InFlight
from gpuprof.run.relating import Relating
from gpuprof.run.run_settings import Settings
from gpuprof.run.settling import Settler
from gpuprof.run.trace_records import record_finding
from gpuprof.run.tracing import Attached, LaunchTrace, Tracers
from gpuprof.timing.draw_tables import check_graphics
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.sampling.control_registers import changed, registers
from gpuprof.timing.sampling.filter import Chooser
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.tables import Finding

if TYPE_CHECKING:
    from gpuprof.compile import PtxModule
    from gpuprof.run.drawing.draw_timing import TimedShaders
    from gpuprof.run.drawing.touched_bytes import TouchedTargets

# Without a limit of the user's, a warp that takes more instructions is taken for an endless loop.
MAX_WARP_INSTRUCTIONS = 1 << 22
MOST_PRIORITY = 1 << 31  # CUDA's is an int


class Session:
    """Carries out commands on one emulated GPU. It is the Executor of `device.api`."""

    def __init__(self, settings: Settings, chip: Chip, memory: AddressSpace | None = None):
        """`memory`: where global memory is, if another process shares it."""
        self.settings, self.chip = settings, chip
        self._check(settings.sampling)
        self.sampling, self.chooser = settings.sampling, Chooser(settings.sampling.filter)
        self.recorder = settings.recorder
        give_back_large_arrays()
        self.memory = memory or AddressSpace()
        # A stream that is replayed has the addresses of one without guards.
        if settings.traces and not settings.save_stream:
            self.memory.separate_allocations([attached.generator.guard_nbytes for attached in settings.traces])
        self.in_flight = InFlight()
        self.modules: list[LoadedModule] = []
        self.load_map = _load_map(settings, chip)
        self.relating = Relating(self.memory, self.recorder, settings.observe, settings.rules)
        self.draws = RecordedDraws(self.recorder)
        self.settling = Settler(settings, chip, self.in_flight, self.relating, self.draws)
        self.n_launches = 0
        self.tracers = Tracers(chip, self.memory, settings.findings)
        for attached in settings.traces:
            self.tracers.attach(attached)
        self.priorities: dict[int, int] = {}  # of streams
        self.drawn: cmd.Draw | None = None  # the last draw
        self.shading: OfDraw | None = None  # whose shader is being launched
        self._images: dict[int, tuple[Program, bytes]] = {}  # id(program) -> the program, kept alive, and its ELF
        self.place_of_call: Callable[[], str] = str  # where the host is, as far as somebody knows
        self.stream: StreamWriter | None = None
        self._handlers: dict[type, Callable] = {
            cmd.Allocate: lambda c: self.memory.allocate(c.nbytes, c.name, c.is_undefined),
            cmd.Free: self._free,
            cmd.FreeLater: self._free_later,
            cmd.MakeImage: lambda c: self.memory.images.add(c.image),
            cmd.CopyIn: self._copy_in,
            cmd.CopyOut: self._copy_out,
            cmd.CopyWithin: self._copy_within,
            cmd.Fill: self._fill,
            cmd.Load: self._load,
            cmd.Launch: self._launch,
            cmd.Draw: self._draw,
            cmd.Resolve: self._resolve,
            cmd.Event: self._event,
            cmd.EventTime: self._event_time,
            cmd.Priority: self._set_priority,
            cmd.NonBlocking: lambda c: None,  # for whoever looks at orders; nothing overlaps the default stream here
            cmd.Wait: self._wait,
            cmd.SetSampler: self._set_sampler,
            cmd.TaskBegin: lambda c: self.relating.begin(c, self.settling.machine.cycle),
            cmd.TaskEnd: self.relating.end,
            cmd.CallBegin: lambda c: self.relating.begin_call(c, self.settling.machine.cycle),
            cmd.CallEnd: self.relating.end_call,
            cmd.Identify: self.relating.identify,
            cmd.Relate: self.relating.relate,
            cmd.Parameter: self.relating.parameter,
        }

    def begin_recording(self) -> None:
        """Before the first command."""
        record_preamble(self.settings, self.chip)
        if self.settings.save_stream:
            self.stream = StreamWriter(self.recorder.stream, stream_header(self.settings, self.memory.alignment))

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
        """Carries out one command; returns what the command says it gives."""
        return self.stream.through(command, self._carry_out) if self.stream else self._carry_out(command)

    def _carry_out(self, command: cmd.Command):
        self.tracers.note(command)
        try:
            result = self._handlers[type(command)](command)
        except DeviceMemoryError as error:
            error.is_reported = self._tell_host_errors(host_error(command, error, self.memory, self.place_of_call()))
            raise
        for told, sentence in self.tracers.done(command, result):
            if sentence:
                self.settings.observer.notice(sentence)
            if self.recorder and self.n_launches:
                launch = told.kernel.launch if told.kernel else self.n_launches - 1
                record_finding(self.recorder, told.name, launch, told.finding)
        return result

    def _tell_host_errors(self, errors: Iterable[HostError]) -> bool:
        """They are findings of the launch that was asked for before them: a finding belongs to one. Whether a generator
        has taken one.
        """
        is_reported = False
        for error in errors:
            for generator, sentence in self.tracers.host_errors(error):
                is_reported = True
                if sentence:
                    self.settings.observer.notice(sentence)
                if self.recorder and self.n_launches:
                    finding = Finding(error.kind, "error", error.text)
                    record_finding(self.recorder, generator, self.n_launches - 1, finding)
        return is_reported

    def add_trace_generator(self, generator: TraceGenerator, where: str = "") -> None:
        """Launches from now on are watched, those that `where` names; see `Tracers.attach`."""
        self.tracers.attach(Attached(generator, where))

    def remove_trace_generator(self, generator: TraceGenerator) -> None:
        """Launches from now on are not watched by it. Those before have their results when this returns."""
        self._settle()
        self.tracers.detach(generator)

    def finish(self) -> None:
        """No command follows."""
        self._settle()
        self.draws.write()
        if self.tracers.finds_leaks:
            self._tell_host_errors(leaks(self.memory, self.modules))
        for sentence in self.tracers.idle():
            self.settings.observer.notice(sentence)
        self.relating.passes(self.draws.passes)
        self.relating.finish()
        if self.stream:
            self.stream.end()

    def drop(self) -> None:
        """No command follows, and nobody waits for what is in flight."""
        self.in_flight.drop()
        self.draws.write()
        self.relating.flush()

    def _load(self, command: cmd.Load) -> LoadedModule:
        program = command.program
        base = self.load_map.place(program.code.nbytes) if command.load_base is None else command.load_base
        module = load(program, self.memory, base)
        self.modules.append(module)
        if self.recorder:
            record_module(self.recorder, len(self.modules) - 1, module, self._images[id(program)][1])
        return module

    # Copies between host and device take no GPU time. What they read and write is what was asked before them.

    def _free(self, command: cmd.Free) -> None:
        self._reach(0)
        self._happens(command)
        self.memory.free(command.address)

    def _free_later(self, command: cmd.FreeLater) -> None:
        """For whoever looks at orders, and knows then what was touched before."""
        if self.tracers.compares_launches:
            with self.settling.marking():
                self.in_flight.finish_emulation()

    def _copy_in(self, command: cmd.CopyIn) -> None:
        self._reach(command.stream)
        self.memory.check(command.address, len(command.data), "write")
        self._happens(command)
        self.memory.write(command.address, command.data)

    def _copy_out(self, command: cmd.CopyOut) -> bytes:
        """The host has the bytes when this returns, so it waits: as for a copy to memory that is not page-locked."""
        self._settle()
        data = self.memory.read(command.address, command.nbytes)
        self._happens(replace(command, stream=0))
        return data

    def _copy_within(self, command: cmd.CopyWithin) -> None:
        self._reach(command.stream)
        self.memory.copy(command.destination, command.source, command.nbytes)
        self._happens(command)

    def _fill(self, command: cmd.Fill) -> None:
        self._reach(command.stream)
        self.memory.fill(command.address, command.nbytes, command.pattern)
        self._happens(command)

    def _happens(self, command: cmd.Command) -> None:
        stream = getattr(command, "stream", 0)
        tail = self.in_flight.tail(stream) if stream > 0 else ()
        self.relating.happens(command, self.settling.machine.cycle, tail)

    def _reach(self, stream: int) -> None:
        """Memory is as all launches before leave it. The default stream waits for them, too, but for draws: their
        commands follow each other in a buffer of their own.
        """
        if self.in_flight.are_draws:
            return
        if stream == 0:
            self._settle()
        else:
            with self.settling.marking():
                self.in_flight.finish_emulation()

    def _event(self, command: cmd.Event) -> None:
        if command.stream == 0:
            self._settle()
        self.in_flight.mark(command.event, command.stream, self.settling.machine.cycle)

    def _event_time(self, command: cmd.EventTime) -> int:
        if self.in_flight.depends(command.event):
            self._settle()
        self._happens(command)
        return self.in_flight.cycle_of(command.event)

    def _wait(self, command: cmd.Wait) -> int | None:
        if command.stream == cmd.HOST or command.stream == 0 or command.event == cmd.EVERYTHING:
            self._settle()
            self._happens(replace(command, stream=cmd.HOST))
            return self.settling.machine.cycle if command.stream == cmd.HOST else None
        self.in_flight.wait(command.event, command.stream)
        self.relating.happens(command, self.settling.machine.cycle, self.in_flight.before_event(command.event))
        return None

    def _set_priority(self, command: cmd.Priority) -> None:
        if not -MOST_PRIORITY <= command.priority < MOST_PRIORITY:
            raise UsageError(f"a stream's priority of {command.priority}: it must be -2^31 to 2^31 - 1")
        self.priorities[command.stream] = command.priority

    def _set_sampler(self, command: cmd.SetSampler) -> dict[str, int | str]:
        """A launch keeps the filter that it was asked for with. The rest belongs to the cells, which all that runs at a
        time shares: so that what is in flight keeps it, too, it is waited for."""
        sampling = changed(self.sampling, command.registers)
        self._check(sampling)
        if replace(sampling, filter=self.sampling.filter) != self.sampling:
            self._settle()
        if sampling.filter != self.sampling.filter:
            self.chooser = Chooser(sampling.filter)
        self.sampling = sampling
        return registers(sampling)

    def _check(self, sampling: Sampling) -> None:
        sampling.filter.check(self.chip)
        if sampling.stream == "lsu" and self.settings.sample_blocks:
            raise UsageError(
                "--sample-blocks times part of the blocks, but --stream lsu needs all of them; leave out one of the two"
            )

    def _launch(self, launch: cmd.Launch) -> LaunchTiming | None:
        """Gives the timing of a launch on the default stream, None for one in flight or without timing."""
        if not launch.is_timed:
            return self._emulate_alone(launch)
        if launch.stream == 0:
            self._settle()
        self.in_flight.add(self._begin(launch))
        flights = self.in_flight.flights
        if launches_grids(launch.module):
            with self.settling.marking():
                emulate = self.in_flight.finish_emulation if self.settings.is_timed else self.in_flight.run_through
                Descent(self.in_flight, emulate, self._begin, self.chip).run(len(flights) - 1)
        if not self.settings.is_timed:
            self.settling.run_through()
            return None
        if launch.stream == 0:
            return self._settle()[0]
        if self.in_flight.is_full:
            self._settle()
        return None

    def _emulate_alone(self, launch: cmd.Launch) -> None:
        """It is no launch of the recording, but a task, as others may need what it writes."""
        self._settle()
        self.in_flight.add(self._begin_alone(launch))
        if launches_grids(launch.module):
            with self.settling.marking():
                Descent(self.in_flight, self.in_flight.run_through, self._begin_alone, self.chip).run(0)
        self.settling.run_through()

    def _draw(self, command: cmd.Draw) -> DrawCounts:
        """A draw is a task, whose parts are the launches of its shaders. Draws that are recorded are in flight together
        until somebody waits for them.
        """
        # the stages take 30 ms to import, which a run without draws need not spend
        from gpuprof.run.drawing.draw import draw
        from gpuprof.run.drawing.draw_timing import TimedShaders, changes, drains
        from gpuprof.run.drawing.indirect import direct
        from gpuprof.run.drawing.pixel_work import WorkOfDraw
        from gpuprof.run.drawing.touched_bytes import TouchedTargets

        is_timed = self.recorder is not None and self.settings.is_timed
        if is_timed:
            check_graphics(self.chip)
        if not (is_timed and self.in_flight.are_draws):
            self._settle()
        command = direct(command, self.memory)
        before = len(self.in_flight.flights)
        state_changes, drained = changes(self.drawn, command), drains(self.drawn, command)
        touched = TouchedTargets(command, self.relating.touched) if self.relating.footprint else None
        work = WorkOfDraw(command, state_changes, drained, touched) if is_timed else None
        shaders = TimedShaders(self.in_flight, self._begin_shader, work) if work else None
        name = command.name or "draw"
        self.relating.begin(cmd.TaskBegin(name), self.settling.machine.cycle)
        number, of_pass = self.draws.begin(drained)
        fields = {"draw": number, "task": self.relating.journal.parent, "pass": of_pass, "name": name}
        fields |= {side: getattr(command.targets, side) for side in ("width", "height", "samples")}
        if buffer := self.relating.journal.command_buffer:
            fields["buffer"] = buffer.task
        try:
            # what is refused, or has no memory, leaves the draws before it in flight
            with self.settling.marking(spares=(UsageError, DeviceMemoryError, KernelFault)), self.relating.drawing():
                counts = draw(command, self.memory, partial(self._run_shader, shaders, number, touched), work)
                if touched:
                    touched.finish(counts)
                blocks = work.blocks.rows if work else []
                self.draws.drawn(fields | {"state_changes": state_changes, "drains": drained}, counts, blocks)
        except KernelFault as fault:
            self.settling.fault_in_draw(before, fault, self._settle)
            raise
        finally:
            self.relating.end(cmd.TaskEnd(name))
            # One that has run no shader changes nothing: the next one still begins the pass.
            if shaders and shaders.drawn():
                self.drawn = command
        if self.in_flight.is_full:
            self._settle()
        return counts

    def _run_shader(
        self,
        shaders: "TimedShaders | None",
        draw: int,
        touched: "TouchedTargets | None",
        shader: cmd.Shader,
        params: bytes,
        n_lanes: int,
    ) -> None:
        config = LaunchConfig((n_lanes // BLOCK, 1, 1), (BLOCK, 1, 1))
        text = f"{shader.function.display}{config}"
        launch = checked_launch(self.chip, self.n_launches, shader.module, shader.function, config, params, text)
        self.shading = OfDraw(draw, shader.interface.stage)
        try:
            if shaders:
                shaders.run(shader, launch)
            else:  # nobody asks for its time where nothing is recorded
                self._launch(replace(launch, is_timed=self.recorder is not None))
        finally:
            self.shading = None
        if touched and shader.interface.stage == "vertex":
            touched.indices()

    def _begin_shader(self, launch: cmd.Launch) -> BegunLaunch:
        begun = self._begin(launch)
        self.relating.shader(begun.task)
        return begun

    def _resolve(self, command: cmd.Resolve) -> None:
        from gpuprof.run.drawing.draw import resolve_target

        self._settle()
        resolve_target(command, self.memory)
        self._happens(command)

    def _begin_alone(self, launch: cmd.Launch, parent: int | None = None) -> BegunLaunch:
        self.tracers.pass_over()
        counters = LaunchCounters.zeros(len(launch.module.code))
        task = self.relating.untimed(launch, self.settling.machine.cycle)
        emulation = partial(self._emulation, launch, counters, None, task, False)
        return BegunLaunch(launch, counters, emulation, self.sampling.filter, 0, None, task)

    def _begin(self, launch: cmd.Launch, parent: int | None = None) -> BegunLaunch:
        """Counts and records a launch, of the host or of launch `parent`."""
        counters = LaunchCounters.zeros(len(launch.module.code))
        self.n_launches += 1
        function, task = launch.function, self.relating.path
        shading = self.shading if parent is None else None
        names = (function.display, function.name)
        filter = self.chooser.choose(launch.index, names, launch.stream, task, *(shading or ()))
        priority = self.priorities.get(launch.stream, 0)
        trace = self.tracers.watch(launch, task, parent, *(shading or ()))
        if self.recorder:
            own = (
                {}
                if self.sampling == self.settings.sampling
                else {"sampling": sampling_fields(self.sampling, self.settings)}
            )
            self.recorder.launch_begin(
                launch_fields(
                    launch, self.modules.index(launch.module), task, parent, priority, trace.names if trace else ()
                )
                | own
                | (shading._asdict() if shading else {})
            )
        if shading:
            self.draws.launched(shading, launch.index)
        number = self.relating.launch(launch, parent)
        emulation = partial(self._emulation, launch, counters, trace, number, self.settings.is_timed)
        return BegunLaunch(launch, counters, emulation, filter, priority, trace, number)

    def _emulation(
        self,
        launch: cmd.Launch,
        counters: LaunchCounters,
        trace: LaunchTrace | None,
        task: int,
        is_counted: bool,
        orders: Iterable[Order],
    ) -> Iterator[TracePiece]:
        launch.module.refresh_constants(self.memory)
        limit = self.settings.max_instructions or self.settings.max_cycles or MAX_WARP_INSTRUCTIONS
        run = partial(
            emulate,
            launch,
            self.memory,
            chip=self.chip,
            max_warp_instructions=limit,
            counters=counters,
            orders=orders,
            footprint=self.relating.footprint,
            is_counted=is_counted,
        )
        try:
            if self.settings.supervisor is not None:
                self.settings.supervisor.carry_out(launch, self.memory, counters, partial(run, orders=None))
            else:
                yield from trace.watched(run) if trace else run()
        finally:
            self.relating.emulated(task, launch.module)

    def _settle(self) -> list[LaunchTiming]:
        flights = self.in_flight.flights
        timings = self.settling.settle(self.sampling)
        self.relating.settled(flights)
        return timings


def open_session(settings: Settings, chip_name: str | None = None, memory: AddressSpace | None = None) -> Session:
    """A Session that has begun its recording. The settings' chip goes before the one asked for."""
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
