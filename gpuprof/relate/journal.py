"""The tasks of a session while it runs, as rows for a recording.

    tasks, parameters, stated relations, accesses, constraints ─ Journal ─ `put`, once there are many ─> recording

Tasks, parameters and names have numbers from 0, in the order in which they begin. A script calls a task by an
identifier of its own, which it registers first and assigns to the task.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from gpuprof.errors import UsageError
from gpuprof.relate.task_kinds import CALL, COMMAND_BUFFER, CONTAINS, NONE, NUMBERS, OF_BUFFERS, STATED, TASK

MOST_ROWS = 4096  # that wait to be written
VIRTUAL = 1  # of a task's flags


class TaskRow(NamedTuple):
    """A task. `work`: a hash of the work of a launch, 0 for none; `cycle`: when it happened, for tasks that take
    no time.
    """

    task: int
    parent: int
    kind: int
    flags: int
    name: int
    row: int
    launch: int
    begin: int
    end: int
    cycle: int
    work: int


class RelationRow(NamedTuple):
    kind: int
    source: int
    target: int
    parameter: int


class AccessRow(NamedTuple):
    """Bytes [first, end) of a buffer; see the flags in `kinds`."""

    task: int
    parameter: int
    flags: int
    first: int
    end: int


class ConstraintRow(NamedTuple):
    kind: int
    source: int
    target: int


class CallRow(NamedTuple):
    """A call of a program's: the number of its file's name, or NONE; its line; times in ns of the host's."""

    task: int
    file: int
    line: int
    thread: int
    status: int
    begin_ns: int
    end_ns: int
    waited_ns: int
    nbytes: int


class Open(NamedTuple):
    task: int
    parent: int
    name: int
    text: str
    row: int
    begin: int
    cycle: int
    flags: int
    kind: int


ROWS = (TaskRow, RelationRow, AccessRow, ConstraintRow, CallRow)
Put = Callable[[type, list], None]  # a class of rows, and rows of it
PutName = Callable[[int, str], None]


class Journal:
    """`put` and `put_name` write rows and names."""

    def __init__(self, put: Put, put_name: PutName):
        self._put, self._put_name = put, put_name
        self._names: dict[str, int] = {}
        self._rows: dict[type, list] = {kind: [] for kind in ROWS}
        self._n_rows = 0
        self._open: list[Open] = []  # tasks of the script, outermost first
        self._virtual: dict[int, Open] = {}  # by task
        self._tasks: dict[int, int] = {}  # by identifier
        self._order = 0
        self.n_tasks = 0
        self.last: int | None = None  # the task that was requested last, without those of scripts

    @property
    def parent(self) -> int:
        """The task that new ones are parts of."""
        return self._open[-1].task if self._open else NONE

    @property
    def path(self) -> str:
        """The names of the script's open tasks, outermost first, joined by /."""
        return "/".join(there.text for there in self._open if there.kind != CALL)

    @property
    def command_buffer(self) -> Open | None:
        """The command buffer that new tasks are parts of."""
        return next((there for there in self._open if there.kind == COMMAND_BUFFER), None)

    @property
    def order(self) -> int:
        """The next place in the order of all that happens."""
        self._order += 1
        return self._order - 1

    def name(self, text: str) -> int:
        number = self._names.get(text)
        if number is None:
            number = self._names[text] = len(self._names)
            self._put_name(number, text)
        return number

    def leaf(
        self, kind: int, text: str, row: str, *, launch: int = NONE, parent: int = NONE, cycle: int = 0, work: int = 0
    ) -> int:
        """A task without parts of the script's own: it is begun and ended at once. Gives its number."""
        task, order = self._new(), self.order
        parent = self.parent if parent == NONE else parent
        self._add(TaskRow(task, parent, kind, 0, self.name(text), self.name(row), launch, order, order, cycle, work))
        self.last = task
        return task

    def begin(
        self, text: str, row: str, identifier: int, parent: int, is_virtual: bool, cycle: int, kind: int = TASK
    ) -> int:
        """A task of the script begins; parent: an identifier, or -1 for the innermost that is open. Raises UsageError
        for a command buffer that is virtual or lies within another one.
        """
        if kind == COMMAND_BUFFER:
            self._check_command_buffer(text, is_virtual)
        above = self.parent if parent < 0 else self.task_of(parent)
        flags = VIRTUAL * is_virtual
        there = Open(self._new(), above, self.name(text), text, self.name(row), self.order, cycle, flags, kind)
        if is_virtual:
            self._virtual[there.task] = there
        else:
            self._open.append(there)
        self.assign(identifier, there.task)
        return there.task

    def _check_command_buffer(self, text: str, is_virtual: bool) -> None:
        if is_virtual:
            raise UsageError(
                f"command buffer {text!r} is virtual: a command buffer holds what is requested inside of it"
            )
        if around := self.command_buffer:
            raise UsageError(f"command buffer {text!r} begins within {around.text!r}: end that one first")

    def begin_call(self, text: str, row: str, identifier: int, cycle: int) -> None:
        """A call of a program's begins."""
        there = Open(self._new(), self.parent, self.name(text), text, self.name(row), self.order, cycle, 0, CALL)
        self._open.append(there)
        self.assign(identifier, there.task)

    def end_call(self) -> int:
        """The call that is open ends; gives its number. Raises UsageError when there is none, or a task within it."""
        if not self._open or self._open[-1].kind != CALL:
            raise UsageError("a call ends that is not the innermost task")
        there = self._open.pop()
        self._close(there)
        return there.task

    def call(self, row: CallRow) -> None:
        self._add(row)

    def end(self, text: str, identifier: int) -> int:
        """The innermost task of the script ends, or a virtual one; gives its number. Raises UsageError when it has
        another name.
        """
        task = self._tasks.get(identifier)
        if task in self._virtual:
            self._close(self._virtual.pop(task))
            return task
        innermost = self._open[-1] if self._open else None
        if innermost is None or innermost.text != text:
            raise UsageError(
                f"task {text!r} ends, but the innermost open task is {innermost.text if innermost else None!r}: end "
                "that one first"
            )
        self._close(self._open.pop())
        return innermost.task

    def virtual(self, text: str, parent: int) -> int:
        """A virtual task that a rule makes once all its parts are there."""
        there = Open(self._new(), parent, self.name(text), text, self.name("virtual"), self.order, 0, VIRTUAL, TASK)
        self._close(there)
        return there.task

    def gather(self, whole: int, parts: Iterable[int]) -> None:
        """Tasks become parts of a virtual one."""
        for part in parts:
            self._add(RelationRow(NUMBERS[CONTAINS], whole, part, NONE))

    def assign(self, identifier: int, task: int) -> None:
        """An identifier stands for a task from now on; a negative one is none."""
        if identifier >= 0:
            self._tasks[identifier] = task

    def task_of(self, identifier: int) -> int:
        """Raises UsageError for an identifier that no task has."""
        if identifier not in self._tasks:
            raise UsageError(f"no task has the identifier {identifier}: begin the task before it is related")
        return self._tasks[identifier]

    def relate(self, kind: str, identifier: int, others: Iterable[int], parameters: Iterable[int]) -> None:
        """States relations of a task to others, by identifiers, or to parameters. Raises UsageError for a kind that
        there is not.
        """
        if kind not in STATED:
            raise UsageError(f"tasks cannot be related by {kind!r}; the kinds are {', '.join(STATED)}")
        stored, turned = STATED[kind]
        task, number = self.task_of(identifier), NUMBERS[stored]
        if stored in OF_BUFFERS:
            for parameter in parameters:
                self._add(RelationRow(number, task, NONE, parameter))
            return
        via = next(iter(parameters), NONE)
        for other in map(self.task_of, others):
            if other == task:
                raise UsageError(f"a task cannot be related to itself by {kind!r}")
            self._add(RelationRow(number, *((other, task) if turned else (task, other)), via))

    def constrain(self, kind: int, source: int, target: int) -> None:
        self._add(ConstraintRow(kind, source, target))

    def access(self, task: int, parameter: int, flags: int, first: int, end: int) -> None:
        self._add(AccessRow(task, parameter, flags, first, end))

    def flush(self) -> None:
        """Writes what waits."""
        for kind, rows in self._rows.items():
            if rows:
                self._put(kind, rows)
                self._rows[kind] = []
        self._n_rows = 0

    def finish(self) -> None:
        """Nothing follows: what is still open ends here."""
        while self._open:
            self._close(self._open.pop())
        for task in list(self._virtual):
            self._close(self._virtual.pop(task))
        self.flush()

    def _new(self) -> int:
        self.n_tasks += 1
        return self.n_tasks - 1

    def _close(self, there: Open) -> None:
        self._add(
            TaskRow(
                there.task,
                there.parent,
                there.kind,
                there.flags,
                there.name,
                there.row,
                NONE,
                there.begin,
                self.order,
                there.cycle,
                0,
            )
        )

    def _add(self, row) -> None:
        self._rows[type(row)].append(row)
        self._n_rows += 1
        if self._n_rows >= MOST_ROWS:
            self.flush()
