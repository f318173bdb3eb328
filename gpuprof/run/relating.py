"""What a session notes of its tasks: which there are, what they wait for, and which bytes they read and write.

    commands, footprints of launches ─> relate.journal ─ rows ─> recording

A launch's bytes are noted when it has been emulated, those of a copy when it happens: both in the order of execution.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.graphics_state.draw_state import FORMATS
from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import LoadedModule
from gpuprof.emulate.watch.footprint import Bytes, Footprint
from gpuprof.errors import UsageError
from gpuprof.records.writer import RecordWriter
from gpuprof.relate import task_kinds
from gpuprof.relate.byte_ranges import Ranges, coarser
from gpuprof.relate.journal import AccessRow, CallRow, ConstraintRow, Journal, RelationRow, TaskRow
from gpuprof.relate.relation_rules import Candidate, Rule, checked, groups
from gpuprof.relate.task_kinds import NONE, PARAMETERS
from gpuprof.run.pending import PendingLaunch
from gpuprof.tables.tasks import ACCESSES, CALLS, CONSTRAINTS, RELATIONS, TASKS

# Ranges of one task in one buffer that are kept apart. Beyond, the smallest gaps are filled, and it is noted.
MOST_RANGES = 4096
HOST = "host"
TABLES = {
    TaskRow: TASKS,
    RelationRow: RELATIONS,
    AccessRow: ACCESSES,
    ConstraintRow: CONSTRAINTS,
    CallRow: CALLS,
}
KINDS = {
    cmd.CopyIn: task_kinds.COPY_IN,
    cmd.CopyOut: task_kinds.COPY_OUT,
    cmd.CopyWithin: task_kinds.COPY_WITHIN,
    cmd.Fill: task_kinds.FILL,
    cmd.Wait: task_kinds.WAIT,
    cmd.EventTime: task_kinds.WAIT,
    cmd.Free: task_kinds.FREE,
    cmd.Resolve: task_kinds.COPY_WITHIN,
}


class Ruled(NamedTuple):
    """A rule for the tasks with numbers first..last-1, of a virtual task; `task` NONE: of the whole session."""

    rule: Rule
    task: int = NONE
    first: int = 0
    last: int = NONE


class Relating:
    """The tasks of one session. `footprint`: what notes the bytes of its launches; None where nobody wants them."""

    def __init__(self, memory: AddressSpace, recorder: RecordWriter | None, observe: bool, rules: Sequence[Rule] = ()):
        """Without a recorder nothing is written; what scripts state is checked all the same."""
        self._memory, self._recorder = memory, recorder
        self.footprint = Footprint() if observe and recorder else None
        self.journal = Journal(self._put, recorder.task_name if recorder else lambda number, text: None)
        self._rules = [Ruled(rule) for rule in rules]
        self._leaves: dict[int, str] = {}  # kernels' names of the tasks that rules may gather, "" of others
        self._written: dict[int, dict[str, None]] = {}  # names of buffers
        self._n_parameters = 0
        self._is_drawing = False
        self._buffers: dict[int, int] = {}  # parameter by address of a live allocation, or of one that was freed
        self._front: tuple[int, ...] = ()  # tasks that have ended before all that is asked from now on
        self._before: dict[int, tuple[int, ...]] = {}  # of a shader's task: those that had ended when it was asked for
        self._of_stream: dict[int, int] = {}  # a copy, fill or wait at the end of a stream that has launches in flight
        self._launches: dict[int, int] = {}  # task by launch
        self._call: cmd.CallBegin | None = None  # that is open
        self._after_copy: dict[int, int] = {}  # launch's task -> copy on its stream before it

    # Tasks.

    def launch(self, launch: cmd.Launch, parent: int | None) -> int:
        """A launch is asked for, by launch task `parent` or the host. Gives its task."""
        task = self.journal.leaf(
            task_kinds.LAUNCH,
            launch.function.display,
            row_of(launch.stream),
            launch=launch.index,
            parent=NONE if parent is None else self._launches[parent],
            work=0 if self._is_drawing else work_of(launch),  # units hand it more than its parameters
        )
        self._launches[launch.index] = task
        if self._rules:
            self._leaves[task] = launch.function.display
        if parent is None and launch.stream in self._of_stream:
            self._after_copy[task] = self._of_stream.pop(launch.stream)
        return task

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """A draw. What the stages hand to each other is in no relation: buffers that it takes, and gives back."""
        if self.footprint:
            self._look()
        self._is_drawing = True
        try:
            yield
        finally:
            self._is_drawing = False

    def passes(self, draws: dict[int, list[int]]) -> None:
        """Passes become virtual tasks. draws: tasks by pass."""
        for number, tasks in draws.items():
            self.journal.gather(self.journal.virtual(task_kinds.pass_name(number), NONE), tasks)

    def touched(self, flags: int, found: Bytes) -> None:
        """What the fixed-function units access for the shader that was launched last."""
        self._look()
        self._touched(self.journal.last, flags, found)

    def shader(self, task: int) -> None:
        """The launch that was asked for last belongs to a draw: copies that come while draws are in flight are not
        behind it.
        """
        self._before[task] = self._front

    def untimed(self, launch: cmd.Launch, cycle: int) -> int:
        """A launch that takes no time, once all before it is done. Gives its task."""
        task = self.journal.leaf(task_kinds.TASK, launch.function.display, row_of(launch.stream), cycle=cycle)
        self._constrain(task_kinds.HOST_WAIT, {*self._front, *self._of_stream.values()}, task)
        self._front, self._of_stream = (task,), {}
        return task

    def happens(self, command: cmd.Command, cycle: int, tail: Iterable[PendingLaunch] = ()) -> None:
        """A copy, fill, wait or free happens, not before a cycle, behind launches in flight: those on its stream, or of
        the event that the stream waits for.
        """
        stream = getattr(command, "stream", 0)
        task = self.journal.leaf(
            KINDS[type(command)], self._name(command), HOST if stream == cmd.HOST else row_of(stream), cycle=cycle
        )
        if stream in (0, cmd.HOST):
            self._constrain(task_kinds.HOST_WAIT, {*self._front, *self._of_stream.values()}, task)
            self._front, self._of_stream = (task,), {}
        elif isinstance(command, cmd.Wait):
            self._constrain(task_kinds.EVENT, {flight.task for flight in tail}, task)
        else:
            before = {flight.task for flight in tail} | (
                {self._of_stream[stream]} if stream in self._of_stream else set()
            )
            self._constrain(task_kinds.STREAM, before or {*self._front}, task)
            self._of_stream[stream] = task
        if self._rules:
            self._leaves[task] = ""
        self._note(task, command)

    def _constrain(self, kind: int, sources: Iterable[int], task: int) -> None:
        for source in sorted(sources):
            self.journal.constrain(kind, source, task)

    def settled(self, flights: Sequence[PendingLaunch]) -> None:
        """Launches have ended, before all that is asked from now on."""
        if not flights:
            return
        waited_for: set[int] = set()
        for flight in flights:
            waited_for |= self._ordered(flight, flights)
        ends = [flight.task for number, flight in enumerate(flights) if number not in waited_for]
        self._front = (*ends, *self._of_stream.values())
        self._of_stream = {}

    def _ordered(self, flight: PendingLaunch, flights: Sequence[PendingLaunch]) -> set[int]:
        """Writes what a launch waited for; gives the flights."""
        found: list[tuple[int, int]] = []
        for number in flight.after:
            same = flights[number].launch.stream == flight.launch.stream
            found.append((task_kinds.STREAM if same else task_kinds.EVENT, number))
        found += [(task_kinds.PROGRAMMATIC, number) for number in flight.after_signal]
        if flight.launched_by:
            found.append((task_kinds.DEVICE_LAUNCH, flight.launched_by[0]))
        for kind, number in found:
            self.journal.constrain(kind, flights[number].task, flight.task)
        if flight.task in self._after_copy:
            self.journal.constrain(task_kinds.STREAM, self._after_copy.pop(flight.task), flight.task)
        elif not found:
            kind = task_kinds.DEFAULT_STREAM if flight.launch.stream == 0 else task_kinds.HOST_WAIT
            self._constrain(kind, self._before.pop(flight.task, self._front), flight.task)
        return {number for _, number in found}

    # What scripts state.

    def begin(self, command: cmd.TaskBegin, cycle: int) -> None:
        if command.rule:
            checked(Rule(command.name, command.rule, command.pattern), f"virtual task {command.name!r}")
        kind = task_kinds.COMMAND_BUFFER if command.is_command_buffer else task_kinds.TASK
        row = command.row or HOST
        task = self.journal.begin(
            command.name, row, command.identifier, command.parent, command.is_virtual, cycle, kind
        )
        if command.rule:
            self._rules.append(Ruled(Rule(command.name, command.rule, command.pattern), task, self.journal.n_tasks))

    def end(self, command: cmd.TaskEnd) -> None:
        task = self.journal.end(command.name, command.identifier)
        self._rules = [
            ruled._replace(last=self.journal.n_tasks) if ruled.task == task else ruled for ruled in self._rules
        ]

    def begin_call(self, command: cmd.CallBegin, cycle: int) -> None:
        if self._call:
            raise UsageError(f"{command.name} begins within {self._call.name}")
        self._call = command
        row = f"{HOST} thread {command.thread}" if command.thread else HOST
        self.journal.begin_call(command.name, row, command.identifier, cycle)

    def end_call(self, command: cmd.CallEnd) -> None:
        task, begun = self.journal.end_call(), self._call
        self._call = None
        file = self.journal.name(begun.file) if begun.file else NONE
        times = (begun.begin_ns, command.end_ns, command.waited_ns)
        self.journal.call(CallRow(task, file, begun.line, begun.thread, command.status, *times, command.nbytes))

    @property
    def path(self) -> str:
        """The names of the script's open tasks, outermost first, joined by /."""
        return self.journal.path

    def identify(self, command: cmd.Identify) -> None:
        if self.journal.last is None:
            raise UsageError("nothing was asked of the GPU yet that a task could stand for")
        self.journal.assign(command.identifier, self.journal.last)

    def relate(self, command: cmd.Relate) -> None:
        self._look()
        self.journal.relate(command.kind, command.identifier, command.others, map(self._buffer_at, command.buffers))

    def parameter(self, command: cmd.Parameter) -> None:
        if command.kind not in PARAMETERS[1:]:
            raise UsageError(f"a parameter is a {', '.join(PARAMETERS[1:])}, not a {command.kind!r}")
        task = self.journal.task_of(command.identifier)
        self._declare(command.name, command.kind, command.value, {"task": task})

    # Bytes.

    def emulated(self, task: int, module: LoadedModule) -> None:
        """The launch that was emulated last is this task, of a kernel in the module: its footprint is what it read and
        wrote. Its constants are read as a whole.
        """
        if self.footprint is None:
            return
        self._look()
        reads = self.footprint.reads()
        if module.const_segment:
            start, end = module.const_base, module.const_base + len(module.const_segment)
            self._touched_run(task, task_kinds.APPROXIMATE, start, end)
            others = (reads.end <= start) | (reads.start >= end)
            reads = Bytes(reads.start[others], reads.end[others])
        for flags, found in ((0, reads), (task_kinds.WRITES, self.footprint.writes())):
            self._touched(task, flags, found)

    def _note(self, task: int, command: cmd.Command) -> None:
        if self.footprint is None:
            return
        self._look()
        for flags, address, nbytes in touched_by(command, self._memory):
            if nbytes:
                self._touched_run(task, flags, address, address + nbytes)
        freed = self._memory.at(command.address) if isinstance(command, cmd.Free) else None
        if freed and freed.address == command.address:
            self.journal.access(task, self._buffers[freed.address], task_kinds.FREES, 0, freed.nbytes)

    def _touched(self, task: int, flags: int, found: Bytes) -> None:
        """Bytes by buffer. Those of memory that is in no buffer any more are nobody's."""
        starts, ends = self._memory.starts, self._memory.ends
        if not len(found.start) or not len(starts):
            return
        owner = np.searchsorted(starts, found.start, "right") - 1
        inside = (owner >= 0) & (found.end <= ends[owner])
        owner, start, end = owner[inside], found.start[inside], found.end[inside]
        bounds = [*np.flatnonzero(np.diff(owner, prepend=-1)).tolist(), len(owner)]
        for first, after in pairwise(bounds):  # ranges ascend, and so do their buffers
            if after - first == 1:
                self._touched_run(task, flags, int(start[first]), int(end[first]))
            else:
                self._touched_buffer(task, flags, Ranges(start[first:after], end[first:after]))

    def _touched_buffer(self, task: int, flags: int, whole: Ranges) -> None:
        kept = coarser(whole, MOST_RANGES)
        told = flags | (0 if kept is whole else task_kinds.APPROXIMATE)
        for start, end in kept.pairs():
            self._touched_run(task, told, start, end)

    def _touched_run(self, task: int, flags: int, start: int, end: int) -> None:
        """Addresses of one buffer."""
        allocation = self._memory.at(start)
        assert allocation is not None, hex(start)
        buffer = self._buffers[allocation.address]
        if buffer == NONE:
            return
        if self._rules and flags & task_kinds.WRITES:
            self._written.setdefault(task, {})[allocation.name] = None
        address = allocation.address
        self.journal.access(task, buffer, flags, start - address, end - address)

    def _look(self) -> None:
        """Declares the buffers that are new."""
        for allocation in self._memory.take_new():
            if self._is_drawing:
                self._buffers[allocation.address] = NONE
                continue
            place = {"address": allocation.address, "nbytes": allocation.nbytes}
            self._buffers[allocation.address] = self._declare(allocation.name, PARAMETERS[0], "", place)

    def _declare(self, name: str, kind: str, value: str, more: dict) -> int:
        number = self._n_parameters
        self._n_parameters += 1
        fields = {
            "parameter": number,
            "name": name,
            "kind": PARAMETERS.index(kind),
            "value": value,
            "begin": self.journal.order,
        }
        if self._recorder:
            self._recorder.parameter(fields | more)
        return number

    def _buffer_at(self, address: int) -> int:
        allocation = self._memory.at(address)
        if allocation is None:
            raise UsageError(f"no buffer is at 0x{address:x}: relate a task to an array that is in memory")
        return self._buffers[allocation.address]

    def _name(self, command: cmd.Command) -> str:
        """What the command works on, in words."""
        if isinstance(command, cmd.Resolve):
            return f"resolve {self._memory.at(command.targets.colors[0]).name}"
        address = getattr(command, "address", getattr(command, "destination", None))
        if address is not None:
            allocation = self._memory.at(address)
            return f"{task_kinds.TASKS[KINDS[type(command)]]} {allocation.name if allocation else ''}".strip()
        return "wait for everything" if command.event == cmd.EVERYTHING else f"wait for event {command.event}"

    # Writing.

    def flush(self) -> None:
        self.journal.flush()

    def finish(self) -> None:
        """Nothing follows: all tasks that rules gather are there."""
        for ruled in self._rules:
            self._gather(ruled)
        self._rules = []
        self.journal.finish()

    def _gather(self, ruled: Ruled) -> None:
        candidates = [
            Candidate(task, kernel, tuple(self._written.get(task, ())))
            for task, kernel in self._leaves.items()
            if ruled.first <= task < ruled.last
        ]
        for group in groups(ruled.rule, candidates):
            if ruled.task == NONE or ruled.rule.key == "starts":
                self.journal.gather(self.journal.virtual(group.name, ruled.task), group.tasks)
            else:
                self.journal.gather(ruled.task, group.tasks)

    def _put(self, kind: type, rows: list) -> None:
        if not self._recorder:
            return
        table = TABLES[kind]
        columns = np.zeros(len(rows), table.dtype)
        for name, values in zip(kind._fields, zip(*rows, strict=True), strict=True):
            columns[name] = values
        self._recorder.table(table, columns)


def touched_by(command: cmd.Command, memory: AddressSpace) -> Iterator[tuple[int, int, int]]:
    """(flags, address, bytes) of a copy, fill or resolve about to happen: what it reads, then what it writes."""
    if isinstance(command, cmd.CopyOut):
        yield 0, command.address, command.nbytes
    elif isinstance(command, cmd.CopyIn):
        same = memory.has(command.address, command.data)
        yield task_kinds.WRITES | (task_kinds.UNCHANGED if same else 0), command.address, len(command.data)
    elif isinstance(command, cmd.CopyWithin):
        yield 0, command.source, command.nbytes
        yield task_kinds.WRITES, command.destination, command.nbytes
    elif isinstance(command, cmd.Resolve):
        targets = command.targets
        nbytes = targets.width * targets.height * FORMATS[targets.formats[0]]
        yield 0, targets.colors[0], nbytes * targets.samples
        yield task_kinds.WRITES, command.color, nbytes
    elif isinstance(command, cmd.Fill):
        yield task_kinds.WRITES, command.address, command.nbytes


def row_of(stream: int) -> str:
    return f"stream {stream}" if stream else "default stream"


def work_of(launch: cmd.Launch) -> int:
    """A hash of what a launch is asked to do: not 0."""
    what = (
        launch.module.load_base,
        launch.function.name,
        launch.grid,
        launch.block,
        launch.cluster,
        launch.dynamic_shared_nbytes,
        launch.params,
    )
    return int.from_bytes(sha256(repr(what).encode()).digest()[:8], "little") >> 1 | 1
