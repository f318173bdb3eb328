"""Times what is in flight on one GPU, once somebody waits for it, and records it.

    Flights ─ Grid, pieces of trace ─> timing ─ samples, LaunchTiming ─> RecordWriter, Observer

Everything in flight is timed together. The emulation goes on meanwhile, to the orders of the timing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from gpuprof.base.stages import stage
from gpuprof.chips import Chip
from gpuprof.device import commands as cmd
from gpuprof.emulate.trace_log.trace import REST, Order, TracePiece
from gpuprof.errors import GeneratorError, KernelFault
from gpuprof.jit.cached import complaint
from gpuprof.jit.compile_stage import show_compiling
from gpuprof.records.writer import RECORD_NBYTES
from gpuprof.run.chunks import record_end, record_samples
from gpuprof.run.drawing.recorded_draw import RecordedDraws
from gpuprof.run.emulation_progress import under_way
from gpuprof.run.pending import InFlight, PendingLaunch
from gpuprof.run.relating import Relating
from gpuprof.run.run_settings import LaunchResult, Settings
from gpuprof.run.sampling_overhead import copy_of, simulate_twice
from gpuprof.run.trace_counts.launch_counts import TraceCounts
from gpuprof.run.trace_counts.line_accesses import Recorded, recorded
from gpuprof.run.trace_counts.reuse_distances import DeviceStream
from gpuprof.run.trace_records import record_traces
from gpuprof.tables.blocks import ACCESS_COUNTERS, REUSE_DISTANCES
from gpuprof.timing.auto import simulate_with_period
from gpuprof.timing.batch import Grid
from gpuprof.timing.extrapolate import extrapolated, issue_slots, note
from gpuprof.timing.first_run import Compilation, is_compiled
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.activity_bins import MOST_BINS
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.machine import Machine, power_on

# Bins of a launch's activity in a recording: its share of MOST_BINS by the cycles of all launches so far. So a long run
# has bins for its logarithm alone, and one launch has all.
LEAST_BINS = 16
NO_LIMIT_CYCLES = 1 << 62  # without a limit of the user's, what the emulator ends is timed to its end


class Settler:
    """The flights of one GPU, and its state between them."""

    def __init__(self, settings: Settings, chip: Chip, in_flight: InFlight, relating: Relating, draws: RecordedDraws):
        self.settings, self.chip, self.in_flight, self.relating = settings, chip, in_flight, relating
        self.draws = draws
        self.recorder, self.observer = settings.recorder, settings.observer
        self.machine = power_on(chip)
        self.device_stream = DeviceStream()
        self.counts: dict[int, TraceCounts] = {}  # by launch, of those in flight that are counted
        self._recorded: dict[int, Recorded] = {}  # by id of the module
        self.cycles = 0  # of all launches that were recorded
        self.undisturbed: Machine | None = None  # a GPU that is not sampled, once sampling disturbs
        show_compiling()
        self._compilation = None if is_compiled() else Compilation()
        self._notice = self._compilation.notice if self._compilation else ""

    def settle(self, sampling: Sampling) -> list[LaunchTiming]:
        """Waits for what is in flight: times and records it, and gives the timings, in the order asked."""
        flights = self.in_flight.flights
        if not flights:
            return []
        if self._notice:  # not before: a file or a launch that is refused compiles nothing
            self.observer.notice(self._notice)
            self._notice = ""
        self.counts = {flight.launch.index: self._counts(flight) for flight in flights if sampling.counts_blocks}
        with under_way((flight.launch, flight.counters) for flight in flights), self.marking():
            timings = self._timed([self._grid(flight) for flight in flights], sampling)
            if timings[0].extrapolation:
                # The blocks that were not timed are emulated all the same: results and counters are exact
                # (docs/model.md).
                flights[0].pieces.order(Order(REST, traced=False))
            self.in_flight.finish_emulation()  # the counters are whole
        timings = [self._whole(flight, timing) for flight, timing in zip(flights, timings, strict=True)]
        self.in_flight.landed(lambda number: timings[number].end_cycle)
        with stage("writing the results"):
            for flight, timing in zip(flights, timings, strict=True):
                self._tell(flight, timing)
            self.draws.write()
        if text := complaint():
            self.observer.notice(text)
        return timings

    @contextmanager
    def marking(self, spares: tuple[type[Exception], ...] = ()) -> Iterator[None]:
        """A fault inside, or an interrupt, ends all that is in flight. The recording says why, and what kernels printed
        before is the best hint. Errors that `spares` names leave all as it is.
        """
        flights = self.in_flight.flights
        try:
            yield
        except spares:
            raise
        except BaseException as error:
            self.in_flight.drop()
            # a script may catch a fault and go on
            if isinstance(error, KernelFault | KeyboardInterrupt):
                self._cut_all_short(flights, error)
            for flight in flights:
                self.observer.output("".join(flight.counters.output))
            raise

    def fault_in_draw(self, first: int, fault: KernelFault, settle: Callable[[], object]) -> None:
        """A shader's fault ends its draw, whose flights begin with number `first`. The draws before it came to their
        end: they are timed as if it had not been asked for.
        """
        ended = self.in_flight.take_back(first)
        try:
            settle()
        finally:
            self._cut_all_short(ended, fault)
            for flight in ended:
                self.observer.output("".join(flight.counters.output))

    def _cut_all_short(self, flights: list[PendingLaunch], error: KernelFault | KeyboardInterrupt) -> None:
        self.draws.write()
        self.relating.flush()
        for flight in flights:
            self._cut_short(flight, error)

    def run_through(self) -> None:
        """Emulates what is in flight to its end. Nothing is timed."""
        flights = list(self.in_flight.flights)
        with self.marking():
            self.in_flight.run_through()
            self.in_flight.drop()
        for flight in flights:
            self.observer.output("".join(flight.counters.output))
            self._tell_errors(flight)

    def _tell_errors(self, flight: PendingLaunch) -> None:
        for sentence in flight.trace.errors() if flight.trace else ():
            self.observer.notice(sentence)

    def _cut_short(self, flight: PendingLaunch, error: KernelFault | KeyboardInterrupt) -> None:
        """Keeps what trace generators found until now, and says why there is no more."""
        why = str(error) or "interrupted"
        while flight.trace and flight.trace.feed.is_open:
            try:
                if isinstance(error, KernelFault):
                    flight.trace.feed.fault(why)
                flight.trace.finish()
            except GeneratorError as error:  # what ended the launch is the one to be told of
                self.observer.notice(str(error))
        if self.recorder:
            if flight.trace:
                record_traces(self.recorder, flight.trace)
            self.recorder.mark(why, flight.launch.index)
        self._tell_errors(flight)

    def _timed(self, grids: list[Grid], sampling: Sampling) -> list[LaunchTiming]:
        """Once records have gone through the load/store unit, everything is timed twice: what they did to the caches
        may show later.
        """
        if self.undisturbed is None and sampling.stream == "lsu" and sampling.is_on:
            # From the first sampled launch on: until then both GPUs have the same caches.
            self.undisturbed = copy_of(self.machine)
        record_nbytes, limit = RECORD_NBYTES[self.settings.record], self.settings.max_cycles or NO_LIMIT_CYCLES
        if self.undisturbed is not None:
            return simulate_twice(self.machine, self.undisturbed, grids, sampling, self._sink, limit, record_nbytes)
        simulate = simulate_with_period if sampling.auto_period else simulate_batch
        return simulate(self.machine, grids, sampling, self._sink, limit, self.settings.sample_blocks, record_nbytes)

    def _grid(self, flight: PendingLaunch) -> Grid:
        return Grid(
            flight.launch,
            self._trace(flight),
            flight.after,
            flight.after_signal,
            flight.priority,
            self.chip.launch_cycles if not flight.shades else 0,
            flight.pieces.order,
            flight.launched_by,
            flight.filter,
            flight.shades,
            flight.draw,
        )

    def _trace(self, flight: PendingLaunch) -> Iterator[TracePiece]:
        """The flight's trace. The first piece waits until the timing model is compiled."""
        counts = self.counts.get(flight.launch.index)
        for piece in counts.counting(flight.pieces) if counts else flight.pieces:
            self._wait_for_timing_model()
            yield piece

    def _counts(self, flight: PendingLaunch) -> TraceCounts:
        module = flight.launch.module
        if id(module) not in self._recorded:
            program = self.machine.programs.of(module)  # which keeps the module, and so its id
            self._recorded[id(module)] = recorded(module.code, program.inst["has_access"] != 0)
        return TraceCounts(flight.launch, self._recorded[id(module)], self.device_stream)

    def _wait_for_timing_model(self) -> None:
        if self._compilation:
            self._compilation.wait()
            self._compilation = None

    def _sink(self, samples: np.ndarray) -> None:
        if self.recorder:
            record_samples(self.recorder, samples)

    def _whole(self, flight: PendingLaunch, timing: LaunchTiming) -> LaunchTiming:
        """The timing of all blocks, also when only some were timed; the recording has a note of that."""
        launch = flight.launch
        if timing.extrapolation is None:
            if self.settings.sample_blocks:
                self.observer.notice(_all_timed(launch, alone=len(self.in_flight.flights) == 1))
            return timing
        slots = issue_slots(launch.module, self.chip, flight.counters)
        whole = extrapolated(timing, slots, launch.module.load_base)
        # The next launch comes after the whole of this one, not after the part that was timed.
        self.machine.cycle = whole.end_cycle
        if self.recorder:
            self.recorder.mark(note(launch.function.display, whole), launch.index)
        return whole

    def _tell(self, flight: PendingLaunch, timing: LaunchTiming) -> None:
        self.observer.output("".join(flight.counters.output))
        if self.recorder:
            if counts := self.counts.get(flight.launch.index):
                self.recorder.rows(ACCESS_COUNTERS, flight.launch.index, counts.access_rows())
                self.recorder.rows(REUSE_DISTANCES, flight.launch.index, counts.reuse_rows())
            self.cycles += timing.cycles
            most_bins = max(LEAST_BINS, MOST_BINS * timing.cycles // max(1, self.cycles))
            record_end(self.recorder, flight.launch, timing, flight.counters, most_bins)
            if timing.draw:
                self.draws.timed(flight.launch.index, timing.draw)
            if flight.trace:
                record_traces(self.recorder, flight.trace)
        self._tell_errors(flight)
        self.observer.finished(LaunchResult(flight.launch, timing, flight.counters))


def _all_timed(launch: cmd.Launch, alone: bool) -> str:
    """Why --sample-blocks has left no block out."""
    why = "too few blocks, or no steady rate" if alone else "launches in flight together"
    return f"{launch.function.display}: --sample-blocks timed all {launch.n_blocks:,} blocks: {why}"
