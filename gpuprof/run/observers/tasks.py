"""The tasks of a session: which there are, what they wait for, and which bytes they read and write.

    commands, footprints of launches ─> relate.journal ─ rows ─> recording

A launch's bytes are recorded when it has been emulated, those of a copy when it happens: both in the order of
execution.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.graphics_state.draw_state import FORMATS
from gpuprof.device.memory import AddressSpace
from gpuprof.emulate.watch.footprint import Bytes, Footprint
from gpuprof.errors import UsageError
from gpuprof.records.writer import RecordWriter
from gpuprof.relate import task_kinds
from gpuprof.relate.byte_ranges import Ranges, coarser
from gpuprof.relate.journal import AccessRow, CallRow, ConstraintRow, Journal, RelationRow, TaskRow
from gpuprof.relate.relation_rules import Candidate, Rule, checked, groups
from gpuprof.relate.task_kinds import NONE, PARAMETERS
from gpuprof.run.observers.observer import (
    CompletedDraw,
    HostMemoryTouched,
    LaunchOrder,
    LaunchStart,
    SessionObserver,
    StreamOperation,
)
from gpuprof.tables.tasks import ACCESSES, CALLS, CONSTRAINTS, OPERATIONS, RELATIONS, TASKS

# Separate ranges of one task in one buffer. If there are more, the smallest gaps are filled, which is recorded.
MOST_RANGES = 4096
MOST_OPERATED = 4096  # rows that are written together
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
    cmd.Fill: task_kinds.FILL,
    cmd.Wait: task_kinds.WAIT,
    cmd.EventTime: task_kinds.WAIT,
    cmd.Free: task_kinds.FREE,
    cmd.Resolve: task_kinds.COPY_WITHIN,
    cmd.HostFunction: task_kinds.HOST_FUNCTION,
    cmd.Prefetch: task_kinds.PREFETCH,
}


def kind_of(command: cmd.Command | HostMemoryTouched) -> int:
    """The kind of a command's task. A copy between page-locked memory and the device is one to the device, or to the
    host.
    """
    if isinstance(command, cmd.CopyWithin):
        return task_kinds.COPIES_OF[command.direction]
    if isinstance(command, HostMemoryTouched):
        return command.kind
    return KINDS[type(command)]


class Ruled(NamedTuple):
    """A rule for the tasks with numbers first..last-1, of a virtual task; `task` NONE: of the whole session."""

    rule: Rule
    task: int = NONE
    first: int = 0
    last: int = NONE


class Tasks(SessionObserver):
    """The tasks of one session. `footprint` records the bytes of its launches; None if they are not recorded."""

    def __init__(self, memory: AddressSpace, recorder: RecordWriter | None, observe: bool, rules: Sequence[Rule] = ()):
        """Without a recorder nothing is written, but the statements of scripts are checked."""
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
        self._before: dict[int, tuple[int, ...]] = {}  # a shader's task: those that had ended when it was requested
        self._of_stream: dict[int, int] = {}  # a copy, fill or wait at the end of a stream that has launches in flight
        self._launches: dict[int, int] = {}  # task by index of a timed launch
        self._tasks: WeakKeyDictionary[cmd.Launch, int] = WeakKeyDictionary()
        self._after_copy: dict[int, int] = {}  # launch's task -> copy on its stream before it
        self._call: cmd.CallBegin | None = None  # that is open
        self._operations: dict[StreamOperation, int] = {}  # tasks of those whose time is not known
        self._operated: list[tuple] = []  # rows that wait
        self._draws_of_pass: dict[int, list[int]] = {}  # tasks by pass
        self._statements: dict[type, Callable] = {
            cmd.TaskBegin: self._begin,
            cmd.TaskEnd: self._end,
            cmd.CallBegin: self._begin_call,
            cmd.CallEnd: self._end_call,
            cmd.Identify: self._identify,
            cmd.Relate: self._relate,
            cmd.Parameter: self._parameter,
        }

    @property
    def path(self) -> str:
        """The names of the script's open tasks, outermost first, joined by /."""
        return self.journal.path

    @property
    def innermost(self) -> int:
        """The innermost task that is open."""
        return self.journal.parent

    @property
    def command_buffer(self) -> int | None:
        """The command buffer that is open."""
        buffer = self.journal.command_buffer
        return buffer.task if buffer else None

    def command(self, command: cmd.Command, cycle: int) -> None:
        if statement := self._statements.get(type(command)):
            statement(command, cycle)

    # Launches, copies, waits and draws.

    def launch(self, start: LaunchStart) -> None:
        launch, parent = start.launch, start.parent
        task = self.journal.leaf(
            task_kinds.LAUNCH,
            launch.function.display,
            row_of(launch.stream),
            launch=launch.index,
            parent=NONE if parent is None else self._launches[parent],
            work=0 if self._is_drawing else work_of(launch),  # units hand it more than its parameters
        )
        self._launches[launch.index] = self._tasks[launch] = task
        if self._rules:
            self._leaves[task] = launch.function.display
        if parent is None and launch.stream in self._of_stream:
            self._after_copy[task] = self._of_stream.pop(launch.stream)
        if start.shader:
            # Copies that come while draws are in flight do not come before it.
            self._before[task] = self._front

    def draw_begins(self, name: str, cycle: int) -> None:
        """A draw is a task. Buffers that its stages hand to each other are in no relation."""
        self._begin(cmd.TaskBegin(name), cycle)
        if self.footprint:
            self._look()
        self._is_drawing = True

    def drawn(self, draw: CompletedDraw) -> None:
        self._draws_of_pass.setdefault(draw.of_pass, []).append(draw.task)

    def draw_ends(self, name: str) -> None:
        self._is_drawing = False
        self._end(cmd.TaskEnd(name))

    def touched(self, flags: int, touched: Bytes) -> None:
        self._look()
        self._touched(self.journal.last, flags, touched)

    def untimed(self, launch: cmd.Launch, cycle: int) -> None:
        """It begins once all before it is done."""
        task = self.journal.leaf(task_kinds.TASK, launch.function.display, row_of(launch.stream), cycle=cycle)
        self._constrain(task_kinds.HOST_WAIT, {*self._front, *self._of_stream.values()}, task)
        self._front, self._of_stream = (task,), {}
        self._tasks[launch] = task

    def happens(
        self,
        command: cmd.Command | HostMemoryTouched,
        cycle: int,
        after: Iterable[cmd.Launch] = (),
        operation: StreamOperation | None = None,
    ) -> None:
        stream = getattr(command, "stream", 0)
        task = self.journal.leaf(
            kind_of(command), self._name(command), HOST if stream == cmd.HOST else row_of(stream), cycle=cycle
        )
        if operation:
            self._operations[operation] = task
        if operation and operation.launch:
            self._brings_to(operation.launch, task, after)
        elif stream in (0, cmd.HOST):
            self._constrain(task_kinds.HOST_WAIT, {*self._front, *self._of_stream.values()}, task)
            self._front, self._of_stream = (task,), {}
        elif isinstance(command, cmd.Wait):
            self._constrain(task_kinds.EVENT, {self._tasks[launch] for launch in after}, task)
        else:
            before = {self._tasks[launch] for launch in after}
            before |= {self._of_stream[stream]} if stream in self._of_stream else set()
            self._constrain(task_kinds.STREAM, before or {*self._front}, task)
            self._of_stream[stream] = task
        if self._rules:
            self._leaves[task] = ""
        self._note(task, command)

    def _brings_to(self, launch: cmd.Launch, task: int, after: Iterable[cmd.Launch]) -> None:
        """A task comes between a launch that was requested and all that the launch waits for. Constraints lead to later
        requests, so there is none from it to the launch.
        """
        sources = {self._tasks[each] for each in after}
        copy = self._after_copy.get(self._tasks[launch])
        sources |= set() if copy is None else {copy}
        self._constrain(task_kinds.STREAM if sources else task_kinds.HOST_WAIT, sources or {*self._front}, task)

    def operated(self, operation: StreamOperation) -> None:
        if not operation.is_timed:
            return
        times = (operation.start_cycle, operation.end_cycle)
        row = (self._operations.pop(operation), operation.engine, operation.flags, operation.stream, *times)
        self._operated.append((*row, operation.nbytes))
        if len(self._operated) >= MOST_OPERATED:
            self._put_operated()

    def _put_operated(self) -> None:
        if self._recorder and self._operated:
            self._recorder.table(OPERATIONS, np.array(self._operated, OPERATIONS.dtype))
        self._operated = []

    def _constrain(self, kind: int, sources: Iterable[int], task: int) -> None:
        for source in sorted(sources):
            self.journal.constrain(kind, source, task)

    def settled(self, batch: Sequence[LaunchOrder]) -> None:
        waited_for: set[int] = set()
        for ordered in batch:
            waited_for |= self._ordered(ordered, batch)
        ends = [self._tasks[ordered.launch] for number, ordered in enumerate(batch) if number not in waited_for]
        self._front = (*ends, *self._of_stream.values())
        self._of_stream = {}

    def _ordered(self, ordered: LaunchOrder, batch: Sequence[LaunchOrder]) -> set[int]:
        """Writes what a launch waited for; gives the numbers of these launches in the batch."""
        launch, sources = ordered.launch, list[tuple[int, int]]()
        for number in ordered.after:
            same = batch[number].launch.stream == launch.stream
            sources.append((task_kinds.STREAM if same else task_kinds.EVENT, number))
        sources += [(task_kinds.PROGRAMMATIC, number) for number in ordered.after_signal]
        if ordered.launched_by:
            sources.append((task_kinds.DEVICE_LAUNCH, ordered.launched_by[0]))
        task = self._tasks[launch]
        for kind, number in sources:
            self.journal.constrain(kind, self._tasks[batch[number].launch], task)
        if task in self._after_copy:
            self.journal.constrain(task_kinds.STREAM, self._after_copy.pop(task), task)
        elif not sources:
            kind = task_kinds.DEFAULT_STREAM if launch.stream == 0 else task_kinds.HOST_WAIT
            self._constrain(kind, self._before.pop(task, self._front), task)
        return {number for _, number in sources}

    # Statements of scripts.

    def _begin(self, command: cmd.TaskBegin, cycle: int) -> None:
        if command.rule:
            checked(Rule(command.name, command.rule, command.pattern), f"virtual task {command.name!r}")
        kind = task_kinds.COMMAND_BUFFER if command.is_command_buffer else task_kinds.TASK
        row = command.row or HOST
        task = self.journal.begin(
            command.name, row, command.identifier, command.parent, command.is_virtual, cycle, kind
        )
        if command.rule:
            self._rules.append(Ruled(Rule(command.name, command.rule, command.pattern), task, self.journal.n_tasks))

    def _end(self, command: cmd.TaskEnd, cycle: int = 0) -> None:
        task = self.journal.end(command.name, command.identifier)
        self._rules = [
            ruled._replace(last=self.journal.n_tasks) if ruled.task == task else ruled for ruled in self._rules
        ]

    def _begin_call(self, command: cmd.CallBegin, cycle: int) -> None:
        if self._call:
            raise UsageError(f"{command.name} begins within {self._call.name}")
        self._call = command
        row = f"{HOST} thread {command.thread}" if command.thread else HOST
        self.journal.begin_call(command.name, row, command.identifier, cycle)

    def _end_call(self, command: cmd.CallEnd, cycle: int) -> None:
        task, begun = self.journal.end_call(), self._call
        self._call = None
        file = self.journal.name(begun.file) if begun.file else NONE
        times = (begun.begin_ns, command.end_ns, command.waited_ns)
        self.journal.call(CallRow(task, file, begun.line, begun.thread, command.status, *times, command.nbytes))

    def _identify(self, command: cmd.Identify, cycle: int) -> None:
        if self.journal.last is None:
            raise UsageError("nothing was asked of the GPU yet that a task could stand for")
        self.journal.assign(command.identifier, self.journal.last)

    def _relate(self, command: cmd.Relate, cycle: int) -> None:
        self._look()
        self.journal.relate(command.kind, command.identifier, command.others, map(self._buffer_at, command.buffers))

    def _parameter(self, command: cmd.Parameter, cycle: int) -> None:
        if command.kind not in PARAMETERS[1:]:
            raise UsageError(f"a parameter is a {', '.join(PARAMETERS[1:])}, not a {command.kind!r}")
        task = self.journal.task_of(command.identifier)
        self._declare(command.name, command.kind, command.value, {"task": task})

    # Bytes.

    def emulated(self, launch: cmd.Launch) -> None:
        """The footprint has the bytes that the launch read and wrote. Its constants are read as a whole."""
        if self.footprint is None:
            return
        task, module = self._tasks[launch], launch.module
        self._look()
        reads = self.footprint.reads()
        if module.const_segment:
            start, end = module.const_base, module.const_base + len(module.const_segment)
            self._touched_run(task, task_kinds.APPROXIMATE, start, end)
            others = (reads.end <= start) | (reads.start >= end)
            reads = Bytes(reads.start[others], reads.end[others])
        for flags, accessed in ((0, reads), (task_kinds.WRITES, self.footprint.writes())):
            self._touched(task, flags, accessed)

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

    def _touched(self, task: int, flags: int, accessed: Bytes) -> None:
        """Bytes by buffer. Bytes of memory that has been freed belong to no buffer."""
        starts, ends = self._memory.starts, self._memory.ends
        if not len(accessed.start) or not len(starts):
            return
        if len(accessed.start) == 1:  # as of most kernels
            start, end = int(accessed.start[0]), int(accessed.end[0])
            allocation = self._memory.at(start)
            if allocation is not None and end <= allocation.address + allocation.nbytes:
                self._touched_run(task, flags, start, end)
            return
        owner = np.searchsorted(starts, accessed.start, "right") - 1
        inside = (owner >= 0) & (accessed.end <= ends[owner])
        owner, start, end = owner[inside], accessed.start[inside], accessed.end[inside]
        bounds = [*np.flatnonzero(np.diff(owner, prepend=-1)).tolist(), len(owner)]
        for first, after in pairwise(bounds):  # ranges ascend, and so do their buffers
            if after - first == 1:
                self._touched_run(task, flags, int(start[first]), int(end[first]))
            else:
                self._touched_buffer(task, flags, Ranges(start[first:after], end[first:after]))

    def _touched_buffer(self, task: int, flags: int, exact: Ranges) -> None:
        ranges = coarser(exact, MOST_RANGES)
        flags |= 0 if ranges is exact else task_kinds.APPROXIMATE
        for start, end in ranges.pairs():
            self._touched_run(task, flags, start, end)

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
            location = {"address": allocation.address, "nbytes": allocation.nbytes}
            self._buffers[allocation.address] = self._declare(allocation.name, PARAMETERS[0], "", location)

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

    def _name(self, command: cmd.Command | HostMemoryTouched) -> str:
        """A name for the command's task, with the buffer of the device that it reads or writes."""
        if isinstance(command, cmd.Resolve):
            return f"resolve {self._memory.at(command.targets.colors[0]).name}"
        if isinstance(command, cmd.HostFunction):
            return "host function"
        if isinstance(command, HostMemoryTouched):
            return f"{task_kinds.TASKS[command.kind]} {command.name}".strip()
        address = getattr(command, "address", getattr(command, "destination", None))
        if isinstance(command, cmd.CopyWithin) and command.direction == "out":
            address = command.source
        if address is not None:
            allocation = self._memory.at(address)
            return f"{task_kinds.TASKS[kind_of(command)]} {allocation.name if allocation else ''}".strip()
        return "wait for everything" if command.event == cmd.EVERYTHING else f"wait for event {command.event}"

    # Writing.

    def flush(self) -> None:
        self._put_operated()
        self.journal.flush()

    def finish(self) -> None:
        """Passes of draws become virtual tasks, and so do the tasks that rules gather."""
        for number, tasks in self._draws_of_pass.items():
            self.journal.gather(self.journal.virtual(task_kinds.pass_name(number), NONE), tasks)
        for ruled in self._rules:
            self._gather(ruled)
        self._rules = []
        self._put_operated()
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
    """(flags, address, bytes) of a copy, fill or resolve about to happen: what it reads, then what it writes. Of
    page-locked memory it touches nothing here: it is not known what the host does there, as with its other memory.
    """
    if isinstance(command, cmd.CopyOut):
        yield 0, command.address, command.nbytes
    elif isinstance(command, cmd.CopyIn):
        same = memory.has(command.address, command.data)
        yield task_kinds.WRITES | (task_kinds.UNCHANGED if same else 0), command.address, len(command.data)
    elif isinstance(command, cmd.CopyWithin):
        if command.direction in ("within", "out"):
            yield 0, command.source, command.nbytes
        if command.direction == "within":
            yield task_kinds.WRITES, command.destination, command.nbytes
        if command.direction == "in":
            same = memory.has(command.destination, memory.read(command.source, command.nbytes))
            flags = task_kinds.WRITES | (task_kinds.UNCHANGED if same else 0)
            yield flags, command.destination, command.nbytes
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
    """A hash of the work that a launch does: not 0."""
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
