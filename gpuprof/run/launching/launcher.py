"""Begins and emulates the launches of one GPU, and waits for those in flight.

    Launch ─ begin ─> BegunLaunch ─> InFlight ─ settle ─> LaunchTiming

A launch on the default stream is waited for at once. Launches on other streams are in flight until the host waits.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial

from gpuprof.base.cache_control import KEEP, CacheControl
from gpuprof.chips import Chip
from gpuprof.device import commands as cmd
from gpuprof.device.memory import AddressSpace
from gpuprof.emulate.run import emulate
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.emulate.trace_log.trace import Order, TracePiece
from gpuprof.emulate.watch.footprint import Bytes, Footprint
from gpuprof.errors import UsageError
from gpuprof.run.launching.gpu_timing import GpuTiming
from gpuprof.run.launching.host_memory import HostMemory
from gpuprof.run.launching.nested import Descent, launches_grids
from gpuprof.run.launching.operations import Cost, costs_of_touches, flags_of
from gpuprof.run.launching.pending import BegunLaunch, InFlight
from gpuprof.run.launching.settling import Settler
from gpuprof.run.launching.timeline import DEFAULT_STREAM, Timeline
from gpuprof.run.observers.observer import (
    DrawStage,
    HostMemoryTouched,
    LaunchStart,
    SessionObserver,
    StreamOperation,
)
from gpuprof.run.observers.tasks import Tasks
from gpuprof.run.observers.tracing import LaunchTrace, Tracers
from gpuprof.run.run_settings import Settings
from gpuprof.tables.engines import ENGINE_MEMORY
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.sampling.control_registers import changed, registers
from gpuprof.timing.sampling.filter import Chooser
from gpuprof.timing.state.launch_timing import LaunchTiming


class Launcher:
    """The launches of one GPU. Two of the observers also answer: `tasks` which tasks are open and which bytes are
    recorded, `tracers` which trace generators watch a launch.
    """

    def __init__(
        self,
        settings: Settings,
        chip: Chip,
        memory: AddressSpace,
        timing: GpuTiming,
        observers: Sequence[SessionObserver],
        tasks: Tasks,
        tracers: Tracers,
        timeline: Timeline,
    ):
        self.settings, self.chip, self.memory, self.timing = settings, chip, memory, timing
        self.timeline = timeline
        self.observers, self.tasks, self.tracers = observers, tasks, tracers
        self.in_flight = InFlight()
        self.settler = Settler(settings, chip, self.in_flight, timing, observers, timeline)
        self.sampling, self.chooser = settings.sampling, Chooser(settings.sampling.filter)
        self.priorities: dict[int, int] = {}  # of streams
        self.n_launches = 0
        # None without a host: memory then moves in no time.
        self.host_memory = HostMemory(timeline.host.page_nbytes) if timeline.host and settings.is_timed else None
        self._footprint: Footprint | None = None  # of launches that may touch memory of the host
        self._touched: list[tuple[Bytes, Bytes]] | None = None  # read and written, by such a launch and its children

    @property
    def cycle(self) -> int:
        """The GPU's cycle at the host's present."""
        return self.timeline.present

    def settle(self) -> list[LaunchTiming]:
        """Waits for everything in flight; see `Settler.settle`."""
        return self.settler.settle(self.sampling)

    def finish_emulation(self) -> None:
        """Memory is then as all launches so far leave it. They are still in flight."""
        with self.settler.stopping():
            self.in_flight.finish_emulation()

    def launch(self, launch: cmd.Launch, shader: DrawStage | None = None) -> LaunchTiming | None:
        """Gives the timing of a launch on the default stream, None for one in flight or without timing."""
        self.timeline.launch()
        if not launch.is_timed:
            return self._only_emulate(launch)
        if launch.stream == 0:
            self.settle()
        brings = self.host_memory is not None and self.host_memory.is_touched_by(launch.params)
        if brings:
            self.finish_emulation()  # so that what is emulated next is this launch
        begun = self.begin(launch, shader=shader)._replace(arrival=self.timeline.arrival(launch.stream))
        chip, is_node = self.chip, self.timeline.is_graph
        self.in_flight.add(
            begun, chip.graph_node_cycles if is_node else chip.launch_cycles, self.timeline.cross_stream_cycles
        )
        number = len(self.in_flight.flights) - 1
        with self._watching_touches() if brings else nullcontext():
            if launches_grids(launch.module):
                emulate = self.in_flight.finish_emulation if self.settings.is_timed else self.in_flight.run_through
                with self.settler.stopping():
                    Descent(self.in_flight, emulate, self.begin, self.chip).run(number)
            if brings:
                self._bring(number)
        if not self.settings.is_timed:
            self.settler.run_through()
            return None
        if launch.stream == 0:
            return self.settle()[0]
        self.settle_if_full()
        return None

    def reach_present(self) -> None:
        """Nothing is in flight: the GPU has been idle up to the host's present, and to the end of its copies."""
        machine = self.timing.machine
        machine.cycle = max(machine.cycle, self.timeline.arrival(DEFAULT_STREAM))

    def operate(self, cost: Cost | None, stream: int) -> StreamOperation:
        """A copy, fill or function of the host takes its place on a stream; its time is known once what it waits for
        has been timed. cost: None without a host.
        """
        operation = self._operation(cost, stream)
        if self.in_flight.flights and not self.in_flight.are_draws:
            self.in_flight.operate(operation)
        else:
            self.timeline.carry_out(operation)
        return operation

    def touch(self, cost: Cost) -> StreamOperation:
        """The host, with nothing in flight, touches memory that the GPU has, and waits until it has moved."""
        operation = replace(self._operation(cost, DEFAULT_STREAM), arrival=self.timeline.present)
        self.timeline.carry_out(operation)
        self.timeline.reach_ns(self.timeline.ns(operation.end_cycle))
        return operation

    @contextmanager
    def _watching_touches(self) -> Iterator[None]:
        """The bytes that launches touch which are emulated meanwhile are noted."""
        self._touched = []
        try:
            yield
        finally:
            self._touched = None

    def _bring(self, number: int) -> None:
        """Memory of the host that a launch in flight touches moves to the GPU before it."""
        with self.settler.stopping():
            self.in_flight.finish_emulation()
        flight = self.in_flight.flights[number]
        launch, before = flight.launch, [self.in_flight.flights[k].launch for k in flight.after if k >= 0]
        operations = list[StreamOperation]()
        for reads, writes in self._touched:
            touches = self.host_memory.launch_touches(reads, writes)
            for kind, name, cost in costs_of_touches(touches, launch.n_blocks, self.timeline.host, self.chip):
                operation = replace(self._operation(cost, launch.stream), launch=launch)
                operations.append(operation)
                command = HostMemoryTouched(kind, name, launch.stream)
                for observer in self.observers:
                    observer.happens(command, operation.arrival, before, operation)
        self.in_flight.operate_before(number, operations)

    def _operation(self, cost: Cost | None, stream: int) -> StreamOperation:
        timeline = self.timeline
        if cost is None:
            return StreamOperation(ENGINE_MEMORY, timeline.arrival(stream), 0, 0, stream=stream)
        timeline.pass_ns(cost.host_ns)
        latency_ns = timeline.latency_ns(cost.latency_ns)
        return StreamOperation(
            cost.engine,
            timeline.arrival(stream),
            timeline.cycles(latency_ns),
            timeline.cycles(cost.transfer_ns),
            stream=stream,
            nbytes=cost.nbytes,
            flags=flags_of(cost, timeline.is_graph),
            is_timed=True,
        )

    def settle_if_full(self) -> None:
        if self.in_flight.is_full:
            self.settle()

    def _only_emulate(self, launch: cmd.Launch) -> None:
        """It is no launch of the recording, but a task, as others may need what it writes."""
        self.settle()
        self.in_flight.add(self._begin_untimed(launch))
        if launches_grids(launch.module):
            with self.settler.stopping():
                Descent(self.in_flight, self.in_flight.run_through, self._begin_untimed, self.chip).run(0)
        self.settler.run_through()

    def begin(self, launch: cmd.Launch, parent: int | None = None, shader: DrawStage | None = None) -> BegunLaunch:
        """Counts a launch of the host or of launch `parent`, and reports it. shader: of a draw."""
        self.n_launches += 1
        task, priority = self.tasks.path, self.priorities.get(launch.stream, 0)
        names = (launch.function.display, launch.function.name)
        control = self._control(launch)
        filter = self.chooser.choose(launch.index, names, launch.stream, task, *(shader or ()))
        trace = self.tracers.watch(launch, task, parent, shader)
        watching = trace.names if trace else ()
        start = LaunchStart(launch, parent, task, self.sampling, priority, shader, watching, control)
        for observer in self.observers:
            observer.launch(start)
        counters = LaunchCounters.zeros(len(launch.module.code))
        emulation = partial(self._emulation, launch, counters, trace, self.settings.is_timed)
        return BegunLaunch(launch, counters, emulation, filter, priority, control)

    def _control(self, launch: cmd.Launch) -> CacheControl:
        """How the launch is measured: as the settings say, or else the launch. Launches in flight together are measured
        together; raises UsageError for one that asks for another way.
        """
        settings, together = self.settings, self.in_flight.control
        cache, repeat = settings.cache or launch.cache, settings.repeat or launch.repeat
        if together is None:
            control = CacheControl(cache or KEEP, repeat or 1)
            self.timing.check(control)
            return control
        if (cache or together.cache, repeat or together.repeat) != together:
            raise UsageError(
                f"{launch.function.display}: launches in flight together are measured together, and one before it has "
                f"cache {together}; say the same of all of them"
            )
        return together

    def _begin_untimed(self, launch: cmd.Launch, parent: int | None = None) -> BegunLaunch:
        for observer in self.observers:
            observer.untimed(launch, self.cycle)
        counters = LaunchCounters.zeros(len(launch.module.code))
        emulation = partial(self._emulation, launch, counters, None, False)
        return BegunLaunch(launch, counters, emulation, self.sampling.filter, 0)

    def _emulation(
        self,
        launch: cmd.Launch,
        counters: LaunchCounters,
        trace: LaunchTrace | None,
        is_counted: bool,
        orders: Iterable[Order],
    ) -> Iterator[TracePiece]:
        launch.module.refresh_constants(self.memory)
        footprint = self.tasks.footprint
        if self._touched is not None and footprint is None:
            footprint = self._footprint = self._footprint or Footprint()
        limit = self.settings.max_instructions or self.settings.max_cycles  # a warp takes at least as many cycles
        run = partial(
            emulate,
            launch,
            self.memory,
            chip=self.chip,
            max_warp_instructions=limit,
            counters=counters,
            orders=orders,
            footprint=footprint,
            is_counted=is_counted,
        )
        try:
            if self.settings.supervisor is not None:
                self.settings.supervisor.carry_out(launch, self.memory, counters, partial(run, orders=None))
            elif self.settings.stored_traces is not None:
                program = self.timing.machine.programs.of(launch.module)
                yield from self.settings.stored_traces.pieces(launch, program, counters, orders)
            else:
                yield from trace.watched(run) if trace else run()
        finally:
            if self._touched is not None:
                self._touched.append((footprint.reads(), footprint.writes()))
            for observer in self.observers:
                observer.emulated(launch)

    def set_sampler(self, values: tuple[tuple[str, int | str], ...]) -> dict[str, int | str]:
        """Sets registers of the sampler; gives all. A launch keeps the filter of its request. The rest belongs to the
        cells, which everything that runs at a time shares, so what is in flight is waited for.
        """
        sampling = changed(self.sampling, values)
        check_sampling(sampling, self.chip, self.settings.sample_blocks)
        if replace(sampling, filter=self.sampling.filter) != self.sampling:
            self.settle()
        if sampling.filter != self.sampling.filter:
            self.chooser = Chooser(sampling.filter)
        self.sampling = sampling
        return registers(sampling)


def check_sampling(sampling: Sampling, chip: Chip, sample_blocks: bool) -> None:
    """Raises UsageError for a sampling that the chip, or --sample-blocks, does not allow."""
    sampling.filter.check(chip)
    if sampling.stream == "lsu" and sample_blocks:
        raise UsageError(
            "--sample-blocks times part of the blocks, but --stream lsu needs all of them; leave out one of the two"
        )
