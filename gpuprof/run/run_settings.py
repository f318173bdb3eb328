"""The settings of a session, and its reports to its caller."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gpuprof.chips import Chip, load_chip
from gpuprof.chips.changes import Value, renamed_with
from gpuprof.device import commands as cmd
from gpuprof.device.load_map import FIRST_LOAD_BASE
from gpuprof.device.memory import AddressSpace
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.errors import UsageError
from gpuprof.hosts import Host, host_named, load_host
from gpuprof.records.writer import RecordWriter
from gpuprof.relate.relation_rules import Rule
from gpuprof.run.compile_file import DEFAULT_CHIP, DEFAULT_OPTIONS, BuildOptions
from gpuprof.run.observers.observer import LaunchResult
from gpuprof.run.observers.tracing import Attached
from gpuprof.run.trace_file.read_sweep import SweptTraces
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.trace_keeper import TraceKeeper
from gpuprof.trace.finding_report import Findings

NO_SAMPLING = Sampling()


class Observer:
    """Gets what a session reports while it works. A command overrides the methods whose reports it shows."""

    def notice(self, text: str) -> None: ...

    def output(self, text: str) -> None: ...

    def finished(self, result: LaunchResult) -> None: ...

    def copied_out(self, data: bytes) -> None: ...

    def tuned(self, configs: Sequence[str]) -> None:
        """A kernel with @triton.autotune is about to be launched; its Configs, as run.triton_config has them."""


class Supervisor(Protocol):
    def carry_out(self, launch: cmd.Launch, memory: AddressSpace, counters: LaunchCounters, run: Callable) -> None:
        """Emulates a launch to its end, as often as it likes: `run(counters=..., listener=...)` does it once, as an
        iterator. Memory and counters are then those of one run.
        """


@dataclass(frozen=True)
class Settings:
    """How a session runs; the flags of `gpuprof collect`. Without a recorder nothing is recorded."""

    chip_name: str | None = None  # None: what the script asks for, or DEFAULT_CHIP
    chip: Chip | None = None  # goes before any name
    has_host: bool = False  # True: a program or a script, whose calls and copies take time
    chip_changes: Mapping[str, Value] = field(default_factory=dict)  # of whatever chip it is: --param
    host_name: str | None = None  # None: the chip's own
    host: Host | None = None  # goes before any name
    sampling: Sampling = NO_SAMPLING
    recorder: RecordWriter | None = None
    record: str = "wide"
    cache: str | None = None  # of base.cache_control, for all launches; None: as each launch says, or else KEEP
    repeat: int | None = None  # timings of each launch; None: as each launch says, or else 1
    sample_blocks: bool = False  # time only as many blocks of a launch as show its rate, and extrapolate
    max_cycles: int | None = None  # of a launch; a warp takes at least as many cycles as instructions
    max_instructions: int | None = None  # of a warp
    save_stream: bool = False  # into the recording
    load_base: int | None = FIRST_LOAD_BASE  # of the first module; None: every module at random, by the sampler's seed
    profiles_from_start: bool = True  # launches of a program are timed before cudaProfilerStart, too
    # False: launches are only emulated, and take no cycles; None: they are timed if a program measures time with events
    is_timed: bool | None = True
    options: BuildOptions = DEFAULT_OPTIONS
    observer: Observer = field(default_factory=Observer)
    command: str = ""
    observe: bool = False  # which bytes each launch and copy reads and writes
    rules: tuple[Rule, ...] = ()  # that make virtual tasks
    traces: tuple[Attached, ...] = ()  # generators that watch from the start
    findings: Findings = field(default_factory=Findings)  # of the whole run
    supervisor: Supervisor | None = None  # carries out launches in place of the session: a debugger
    keeper: TraceKeeper | None = None  # of the traces of launches, for further timings
    stored_traces: SweptTraces | None = None  # of launches, which are not emulated then

    def chosen_chip(self, asked: str | None = None) -> Chip:
        """The chip of a run whose script asks for the chip named `asked`."""
        chip = self.chip or load_chip(self.chip_name or asked or DEFAULT_CHIP)
        return renamed_with(chip, self.chip_changes)

    def chosen_host(self, chip: Chip) -> Host | None:
        """The host of a run on `chip`; None of launches that no program makes. Raises UsageError for one that there is
        not, naming the chip if it asks.
        """
        if not self.has_host:
            return None
        if self.host:
            return self.host
        if self.host_name:
            return load_host(self.host_name)
        try:
            return host_named(chip.host)
        except UsageError as error:
            raise UsageError(f"chip {chip.name}: host: {error}") from None
