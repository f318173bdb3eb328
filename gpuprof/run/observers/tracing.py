"""Trace generators of a session: which launches they watch, and what they found.

Attached ─ Tracers.watch(launch) ─> LaunchTrace, listener of the emulation ─ timed ─> tables and findings
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, count
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from gpuprof.base.compared_results import MOST_NAME
from gpuprof.chips import Chip
from gpuprof.device import commands as cmd
from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import LoadedModule
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.watch.listener import WatchRequests
from gpuprof.errors import DeviceMemoryError, GeneratorError, KernelFault, UsageError
from gpuprof.records.writer import RecordWriter
from gpuprof.run.hazards.host_errors import HostError, host_error, leaks
from gpuprof.run.hazards.launch_races import LaunchRaces
from gpuprof.run.observers.kernel_facts import kernel_of, text_of
from gpuprof.run.observers.observer import DrawStage, LaunchResult, SessionObserver
from gpuprof.tables.table import Table
from gpuprof.timing.sampling.filter import NOTHING, Chooser, Filter, filter_of_text
from gpuprof.trace.feed import Feed
from gpuprof.trace.find import LAUNCH_KEYS
from gpuprof.trace.finding_report import Findings
from gpuprof.trace.generator import TraceGenerator, name_of
from gpuprof.trace.kernel import Kernel
from gpuprof.trace.tables import Finding, Results


@dataclass(frozen=True, eq=False)
class Attached:
    """A generator, and the launches that it watches: text of a sampling filter with the keys LAUNCH_KEYS."""

    generator: TraceGenerator
    where: str = ""


class LaunchTrace:
    """The generators that watch one launch, with their names in the recording: the Listener of its emulation."""

    def __init__(
        self,
        feed: Feed,
        names: tuple[str, ...],
        known: Findings,
        races: Callable[[str, Kernel, np.ndarray], list[Finding]],
    ):
        """`races` gives a generator's races of the launch with other commands, by the bytes that it has touched."""
        self.feed, self._known, self._races = feed, known, races
        self.wanted = WatchRequests(
            feed.before, feed.after, feed.operands_after, feed.blocks, feed.refusing, feed.passing
        )
        self.block, self.before, self.after = feed.notify_block, feed.notify_before, feed.notify_after
        self.wrong, self.passes = feed.notify_wrong, feed.passes
        self.results: list[tuple[str, TraceGenerator, Results]] = []
        self.names = names

    def watched(self, run: Callable[..., Iterator[TracePiece]]) -> Iterator[TracePiece]:
        """An emulation with all that the generators do."""
        self.feed.initialize()
        yield from run(listener=self)
        self.finish()

    def finish(self) -> None:
        """The launch has ended; or it is cut short, and its emulation has stopped."""
        named = dict(zip(map(id, self.feed.generators), self.names, strict=True))
        for generator, results in self.feed.finish():
            name = named[id(generator)]
            if generator.compares_launches:
                results.findings.extend(self._races(name, self.feed.kernel, generator.touched))
            results.findings[:] = self._known.unsuppressed(self.feed.kernel, results.findings)
            self.results.append((name, generator, results))

    def errors(self) -> Iterator[str]:
        """A sentence for each error that was found."""
        for _, _, results in self.results:
            yield from self._known.reports(self.feed.kernel, results.findings)

    def record(self, recorder: RecordWriter) -> None:
        """Writes tables and findings; nothing for generators that did not reach the end."""
        for name, generator, results in self.results:
            for table in generator.tables:
                columns = [
                    {"name": column.name, "type": column.type, "unit": column.unit, "text": column.text}
                    for column in table.columns
                ]
                fields = {
                    "launch": results.launch,
                    "generator": name,
                    "table": table.name,
                    "text": table.text,
                    "columns": columns,
                }
                recorder.trace_table(fields, results.tables[table.name])
            for finding in results.findings:
                recorder.finding({"launch": results.launch, "generator": name} | finding._asdict())


class Names:
    """The names of generators in a recording. One name always stands for the same tables."""

    def __init__(self) -> None:
        self._tables: dict[str, tuple[Table, ...]] = {}

    def take(self, generator: TraceGenerator, taken: Collection[str]) -> str:
        """The generator's name, with a number where others have `taken` it or it stood for other tables."""
        plain, tables = name_of(type(generator)), tuple(generator.tables)
        suffixes = chain([""], (f"_{number}" for number in count(2)))
        names = (plain[: MOST_NAME - len(suffix)] + suffix for suffix in suffixes)
        name = next(name for name in names if name not in taken and self._tables.get(name, tables) == tables)
        self._tables[name] = tables
        return name


class Tracers(SessionObserver):
    """The generators attached to one session, in the order they were, each with its name in the recording."""

    def __init__(
        self,
        chip: Chip,
        memory: AddressSpace,
        findings: Findings,
        notice: Callable[[str], None] = lambda text: None,
        recorder: RecordWriter | None = None,
    ):
        """`notice` shows a sentence to the user."""
        self._findings, self._notice, self._recorder = findings, notice, recorder
        self._memory, self._numbers = memory, MappingProxyType(chip.describe())
        self._names = Names()
        self._attached: list[tuple[str, TraceGenerator, Chooser]] = []
        self._idle: dict[str, str] = {}  # name -> filter, of generators that have watched no launch yet
        self._commands: list[str] | None = None  # since the first was attached
        self._races = LaunchRaces(memory)
        self._modules: list[LoadedModule] = []
        self._traces: WeakKeyDictionary[cmd.Launch, LaunchTrace] = WeakKeyDictionary()
        self._last_launch: int | None = None

    def attach(self, attached: Attached) -> None:
        """Raises UsageError for a generator that is there already, or a filter that says more than which launches."""
        if not isinstance(attached.generator, TraceGenerator):
            raise UsageError(f"{attached.generator!r:.60} is no trace generator: give an object of a subclass")
        if any(there is attached.generator for _, there, _ in self._attached):
            raise UsageError("this trace generator is attached already; remove it first, or make another one")
        if not attached.generator.is_ready:
            raise UsageError("this trace generator's __init__ does not call super().__init__(**options)")
        chooser = Chooser(launches_of(attached.where))
        name = self._names.take(attached.generator, {name for name, _, _ in self._attached})
        self._attached.append((name, attached.generator, chooser))
        if attached.generator.shadow is not None:
            attached.generator.shadow.clear()
            self._memory.shadows.append(attached.generator.shadow)
        if attached.generator.compares_launches:
            self._races.watch(name, attached.generator.same_value)
        if attached.where:
            self._idle[name] = attached.where
        self._commands = [] if self._commands is None else self._commands

    def detach(self, generator: TraceGenerator) -> None:
        """Raises UsageError for one that is not attached."""
        rest = [attached for attached in self._attached if attached[1] is not generator]
        for name, there, _ in self._attached:
            if there is generator:
                self._races.unwatch(name)
        if len(rest) == len(self._attached):
            raise UsageError("this trace generator is not attached")
        self._attached = rest
        self._memory.shadows = [shadow for shadow in self._memory.shadows if shadow is not generator.shadow]

    @property
    def compares_launches(self) -> bool:
        return any(generator.compares_launches for _, generator, _ in self._attached)

    # Commands.

    def command(self, command: cmd.Command, cycle: int) -> None:
        if self._commands is not None:
            self._commands.append(text_of(command))

    def loaded(self, module: LoadedModule, image: bytes) -> None:
        self._modules.append(module)

    def done(self, command: cmd.Command, result: Any) -> None:
        """Reports races between commands, of which a launch may be one."""
        for race in self._races.done(command, result):
            finding, kernel = race.finding, race.kernel
            if kernel is None:
                self._report(race.name, finding, self._findings.host_error(finding.kind, finding.text))
            elif self._findings.unsuppressed(kernel, [finding]):
                self._report(race.name, finding, self._findings.reports(kernel, [finding]), kernel.launch)

    def refused(self, command: cmd.Command, error: DeviceMemoryError, call: str) -> None:
        error.is_reported = self._report_host(host_error(command, error, self._memory, call))

    def _report_host(self, errors: Iterable[HostError]) -> bool:
        """Reports errors of the host to the first generator that checks it; gives whether any was."""
        checks_host = [name for name, generator, _ in self._attached if generator.checks_host][:1]
        is_reported = False
        for error in errors:
            for name in checks_host:
                is_reported = True
                finding = Finding(error.kind, "error", error.text)
                self._report(name, finding, self._findings.host_error(error.kind, error.text))
        return is_reported

    def _report(self, name: str, finding: Finding, sentences: Iterable[str], launch: int | None = None) -> None:
        """A finding belongs to a launch: to the one that was requested last, if it is not of another. No sentence: as
        many have been shown as should be.
        """
        if sentence := "".join(sentences):
            self._notice(sentence)
        if self._recorder and self._last_launch is not None:
            launch = self._last_launch if launch is None else launch
            self._recorder.finding({"launch": launch, "generator": name} | finding._asdict())

    # Launches.

    def watch(
        self, launch: cmd.Launch, task: str, parent: int | None = None, shader: DrawStage | None = None
    ) -> LaunchTrace | None:
        """The listener of a launch that the host or launch `parent` has requested; None if no generator watches it."""
        node = self._races.launch(launch, parent)
        self._last_launch = launch.index
        names = (launch.function.display, launch.function.name)
        watching: list[tuple[str, TraceGenerator]] = []
        for name, generator, chooser in self._attached:
            if chooser.choose(launch.index, names, launch.stream, task, *(shader or ())) is not NOTHING:
                watching.append((name, generator))
            elif generator.shadow is not None:
                generator.shadow.clear()
        if not watching:
            return None
        for name, _ in watching:
            self._idle.pop(name, None)

        def races(name: str, kernel: Kernel, runs: np.ndarray) -> list[Finding]:
            return self._races.touched(name, kernel, node, runs)

        kernel = kernel_of(launch, task, self._memory, self._commands or [], self._numbers)
        kernel = replace(kernel, freed=tuple(self._races.freed_before(node)))
        chosen, generators = zip(*watching, strict=True)
        self._traces[launch] = LaunchTrace(Feed(kernel, generators), chosen, self._findings, races)
        return self._traces[launch]

    def untimed(self, launch: cmd.Launch, cycle: int) -> None:
        """It may write any memory, and no generator watches it."""
        for _, generator, _ in self._attached:
            if generator.shadow is not None:
                generator.shadow.clear()

    def timed(self, result: LaunchResult) -> None:
        self._show(self._traces.pop(result.launch, None))

    def run_through(self, launch: cmd.Launch) -> None:
        self._show(self._traces.pop(launch, None))

    def _show(self, trace: LaunchTrace | None) -> None:
        if trace and self._recorder:
            trace.record(self._recorder)
        for sentence in trace.errors() if trace else ():
            self._notice(sentence)

    def stopped(self, launch: cmd.Launch, error: KernelFault | KeyboardInterrupt) -> None:
        """The findings so far are recorded."""
        trace = self._traces.pop(launch, None)
        while trace and trace.feed.is_open:
            try:
                if isinstance(error, KernelFault):
                    trace.feed.fault(str(error) or "interrupted")
                trace.finish()
            except GeneratorError as generator_error:  # the error that ended the launch is the one to be raised
                self._notice(str(generator_error))
        self._show(trace)

    def finish(self) -> None:
        """Reports leaks, and generators whose filter no launch met."""
        if any(generator.finds_leaks for _, generator, _ in self._attached):
            self._report_host(leaks(self._memory, self._modules))
        for name, where in self._idle.items():
            self._notice(f"trace generator {name} watched nothing: no launch met {where}")


def launches_of(where: str) -> Filter:
    """The filter of a text like "kernel=^saxpy launch=0-3". Raises UsageError for keys that say nothing of launches."""
    given = filter_of_text(where)
    allowed = Filter(**{name: getattr(given, name) for name in LAUNCH_KEYS})
    if allowed != given:
        raise UsageError(
            f"{where!r} says more than which launches are watched; the keys for that are {', '.join(LAUNCH_KEYS)}"
        )
    return given
