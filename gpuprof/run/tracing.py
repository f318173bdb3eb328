"""Trace generators of a session: which launches they watch, and what they get to know of each.

Attached ─ Tracers.watch(launch) ─> LaunchTrace ─ listener of the emulation ─> Results, once it has ended
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from gpuprof.emulate.blocks import compiled
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.watch.listener import WatchRequests
from gpuprof.errors import UsageError
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.isa.program import Param
from gpuprof.run.hazards.host_errors import HostError
from gpuprof.run.hazards.launch_races import LaunchRaces, Told
from gpuprof.tables.table import Table
from gpuprof.timing.sampling.filter import NOTHING, Chooser, Filter, filter_of_text
from gpuprof.trace.feed import Feed
from gpuprof.trace.find import LAUNCH_KEYS
from gpuprof.trace.findings import Findings
from gpuprof.trace.generator import TraceGenerator, name_of
from gpuprof.trace.kernel import Allocation, BasicBlock, Code, Instruction, Kernel, Parameter, Variable
from gpuprof.trace.tables import Finding, Results


@dataclass(frozen=True, eq=False)
class Attached:
    """A generator, and the launches that it watches: text of a sampling filter with the keys LAUNCH_KEYS."""

    generator: TraceGenerator
    where: str = ""


class Beginning(Sequence):
    """The first `length` elements of a list that only grows: as it is now, without a copy."""

    def __init__(self, elements: list[str], length: int):
        self._elements, self._length = elements, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place):
        if isinstance(place, slice):
            return [self._elements[k] for k in range(*place.indices(self._length))]
        if not -self._length <= place < self._length:
            raise IndexError(place)
        return self._elements[place if place >= 0 else self._length + place]


class LaunchTrace:
    """The generators that watch one launch, with their names in the recording: the Listener of its emulation."""

    def __init__(
        self,
        feed: Feed,
        names: tuple[str, ...],
        known: Findings,
        beside: Callable[[str, Kernel, np.ndarray], list[Finding]],
    ):
        """`beside`: what a generator's launch finds beside other commands, by what it has touched."""
        self.feed, self._known, self._beside = feed, known, beside
        self.wanted = WatchRequests(
            feed.before, feed.after, feed.operands_after, feed.blocks, feed.refusing, feed.passing
        )
        self.block, self.before, self.after = feed.tell_block, feed.tell_before, feed.tell_after
        self.wrong, self.passes = feed.tell_wrong, feed.passes
        self.results: list[tuple[str, TraceGenerator, Results]] = []
        self.names = names

    def watched(self, run: Callable[..., Iterator[TracePiece]]) -> Iterator[TracePiece]:
        """An emulation with all that the generators do."""
        self.feed.initialize()
        yield from run(listener=self)
        self.finish()

    def finish(self) -> None:
        """The launch has ended, or is cut short: then when its emulation has stopped."""
        named = dict(zip(map(id, self.feed.generators), self.names, strict=True))
        for generator, found in self.feed.finish():
            name = named[id(generator)]
            if generator.compares_launches:
                found.findings.extend(self._beside(name, self.feed.kernel, generator.touched))
            found.findings[:] = self._known.wanted(self.feed.kernel, found.findings)
            self.results.append((name, generator, found))

    def errors(self) -> Iterator[str]:
        """A sentence for each error that was found."""
        for _, _, found in self.results:
            yield from self._known.told(self.feed.kernel, found.findings)


class Names:
    """The names that a recording has for generators. One name always stands for the same tables."""

    def __init__(self) -> None:
        self._tables: dict[str, tuple[Table, ...]] = {}

    def take(self, generator: TraceGenerator, taken: Collection[str]) -> str:
        """The generator's name, with a number where others have `taken` it or it stood for other tables."""
        plain, tables = name_of(type(generator)), tuple(generator.tables)
        suffixes = chain([""], (f"_{number}" for number in count(2)))
        names = (plain[: MOST_NAME - len(suffix)] + suffix for suffix in suffixes)
        name = next(each for each in names if each not in taken and self._tables.get(each, tables) == tables)
        self._tables[name] = tables
        return name


class Tracers:
    """The generators attached to one session, in the order they were, each with its name in the recording."""

    def __init__(self, chip: Chip, memory: AddressSpace, findings: Findings):
        self._findings = findings
        self._memory, self._numbers = memory, MappingProxyType(chip.describe())
        self._names = Names()
        self._attached: list[tuple[str, TraceGenerator, Chooser]] = []
        self._idle: dict[str, str] = {}  # name -> filter, of those that no launch met so far
        self._commands: list[str] | None = None  # since the first was attached
        self._races = LaunchRaces(memory)

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
        rest = [each for each in self._attached if each[1] is not generator]
        for name, there, _ in self._attached:
            if there is generator:
                self._races.unwatch(name)
        if len(rest) == len(self._attached):
            raise UsageError("this trace generator is not attached")
        self._attached = rest
        self._memory.shadows = [each for each in self._memory.shadows if each is not generator.shadow]

    def idle(self) -> Iterator[str]:
        """A sentence for each generator whose filter no launch met."""
        for name, where in self._idle.items():
            yield f"trace generator {name} watched nothing: no launch met {where}"

    @property
    def finds_leaks(self) -> bool:
        return any(generator.finds_leaks for _, generator, _ in self._attached)

    @property
    def compares_launches(self) -> bool:
        return any(generator.compares_launches for _, generator, _ in self._attached)

    def host_errors(self, error: HostError) -> Iterator[tuple[str, str]]:
        """The name of the first generator that checks the host, if there is one, and a sentence of what the host did
        wrong, "" where enough was said.
        """
        for name in [name for name, generator, _ in self._attached if generator.checks_host][:1]:
            yield name, "".join(self._findings.host_error(error.kind, error.text))

    def note(self, command: cmd.Command) -> None:
        """Something is asked of the GPU."""
        if self._commands is not None:
            self._commands.append(text_of(command))

    def done(self, command: cmd.Command, result: Any) -> Iterator[tuple[Told, str]]:
        """A command has been carried out: what it finds beside launches, each with a sentence of it, "" where enough
        was said.
        """
        for told in self._races.done(command, result):
            if told.kernel is None:
                yield told, "".join(self._findings.host_error(told.finding.kind, told.finding.text))
            elif self._findings.wanted(told.kernel, [told.finding]):
                yield told, "".join(self._findings.told(told.kernel, [told.finding]))

    def watch(
        self, launch: cmd.Launch, task: str, parent: int | None = None, draw: int | None = None, stage: str = ""
    ) -> LaunchTrace | None:
        """None when nobody wants to see the launch, which the host or launch `parent` has asked for. draw, stage: of a
        draw's shader.
        """
        node = self._races.launch(launch, parent)
        function = launch.function
        names = (function.display, function.name)
        wanting = []
        for name, generator, chooser in self._attached:
            if chooser.choose(launch.index, names, launch.stream, task, draw, stage) is not NOTHING:
                wanting.append((name, generator))
            elif generator.shadow is not None:
                generator.shadow.clear()
        if not wanting:
            return None
        found, generators = zip(*wanting, strict=True)
        for name in found:
            self._idle.pop(name, None)

        def beside(name: str, kernel: Kernel, runs: np.ndarray) -> list[Finding]:
            return self._races.touched(name, kernel, node, runs)

        kernel = replace(self._kernel(launch, task), freed=tuple(self._races.freed_before(node)))
        return LaunchTrace(Feed(kernel, generators), found, self._findings, beside)

    def pass_over(self) -> None:
        """A launch comes that nobody watches: it may write any of the memory."""
        for _, generator, _ in self._attached:
            if generator.shadow is not None:
                generator.shadow.clear()

    def _kernel(self, launch: cmd.Launch, task: str) -> Kernel:
        module, function = launch.module, launch.function
        allocations = tuple(Allocation(each.address, each.nbytes, each.name) for each in self._memory.allocations)
        kernel = Kernel(
            launch.index,
            function.display,
            function.name,
            launch.name,
            task,
            launch.stream,
            launch.grid,
            launch.block,
            launch.cluster,
            launch.shared_nbytes,
            function,
            code_of(module),
            (),
            tuple(
                Variable(each.name, each.space, module.global_symbols[each.name], each.nbytes)
                for each in module.program.variables
            ),
            allocations,
            Beginning(self._commands or [], len(self._commands or [])),
            self._numbers,
        )
        return replace(kernel, parameters=tuple(map(partial(argument, launch, kernel), function.params)))


def launches_of(where: str) -> Filter:
    """The filter of a text like "kernel=^saxpy launch=0-3". Raises UsageError for keys that say nothing of launches."""
    found = filter_of_text(where)
    allowed = Filter(**{name: getattr(found, name) for name in LAUNCH_KEYS})
    if allowed != found:
        raise UsageError(
            f"{where!r} says more than which launches are watched; the keys for that are {', '.join(LAUNCH_KEYS)}"
        )
    return found


def argument(launch: cmd.Launch, kernel: Kernel, param: Param) -> Parameter:
    value = launch.params[param.offset : param.offset + param.nbytes]
    number: int | float | None = None
    if param.type in ("f32", "f64"):
        number = float(np.frombuffer(value, f"<f{param.nbytes}")[0])
    elif param.type != "b8" and param.nbytes <= 8:
        number = int.from_bytes(value, "little", signed=param.type.startswith("s"))
    found = kernel.allocation_at(number) if isinstance(number, int) and param.nbytes == 8 else None
    return Parameter(param.name, param.type, value, number, found.name if found else "")


_codes: WeakKeyDictionary = WeakKeyDictionary()


def code_of(module: LoadedModule) -> Code:
    """The code of a loaded module, as generators see it; made once."""
    if module not in _codes:
        _codes[module] = _code(module)
    return _codes[module]


def _code(module: LoadedModule) -> Code:
    program, graph = module.program, compiled(module).graph
    owner = {at: function.display for function in program.functions
             for at in range(function.first, function.first + function.count)}  # fmt: skip
    blocks = []
    for index in range(len(graph.starts)):
        plain = graph.block(index)
        instructions = tuple(
            Instruction(
                at,
                module.load_base + INSTRUCTION_NBYTES * at,
                encoded,
                owner.get(at, ""),
                index,
                int(program.ptx_lines[at]),
                program.locations[at],
            )
            for at, encoded in enumerate(plain.instructions, plain.first)
        )
        blocks.append(BasicBlock(index, instructions, tuple(graph.successors(index)), tuple(graph.callees(index))))
    return Code(
        program.name,
        module.load_base,
        program.ptx,
        MappingProxyType(dict(program.sources)),
        program.functions,
        tuple(instruction for block in blocks for instruction in block.instructions),
        tuple(blocks),
        program.facts,
    )


def text_of(command: cmd.Command) -> str:
    """A command as a line: its name and its plain numbers and names."""
    told = []
    for name, value in vars(command).items():
        if isinstance(value, bytes):
            told.append(f"{name}={len(value)} bytes")
        elif isinstance(value, int | str | tuple):
            told.append(f"{name}={value}")
    return f"{type(command).__name__}({', '.join(told)})"
