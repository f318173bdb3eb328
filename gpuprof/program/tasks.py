"""Parts of a program that it names, as tasks: ranges of NVTX, and what gpuprof/task.h says."""

from itertools import count

from gpuprof.device import commands as cmd
from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.device.tasks import Submit

NONE = (1 << 64) - 1  # for another task: there is none


class ProgramTasks:
    """A task that lies within the one before it holds what is asked meanwhile by its place. Others (ranges that end
    in any order, tasks of a thread next to another one's) are virtual, and calls are related to them one by one.
    """

    def __init__(self, submit: Submit):
        self._submit = submit
        self._numbers = count()
        self._nested: list[tuple[int, str]] = []
        self._owner = 0  # the thread of the nested ones
        self._loose: dict[int, tuple[str, int | None]] = {}  # name, and the thread whose calls are its parts; None: all

    def begin(self, name: str, thread: int, is_nested: bool) -> int:
        """The task's identifier."""
        identifier = self.new()
        if is_nested and (not self._nested or self._owner == thread):
            self._owner = thread
            self._nested.append((identifier, name))
            self._submit(cmd.TaskBegin(name, identifier))
        else:
            self._loose[identifier] = (name, thread if is_nested else None)
            self._submit(cmd.TaskBegin(name, identifier, is_virtual=True))
        return identifier

    def end(self, identifier: int) -> bool:
        """Ends a task and those that were begun within it. False if there is no such task."""
        if identifier in self._loose:
            name, _ = self._loose.pop(identifier)
            self._submit(cmd.TaskEnd(name, identifier))
            return True
        if not any(number == identifier for number, _ in self._nested):
            return False
        while self._nested:
            number, name = self._nested.pop()
            self._submit(cmd.TaskEnd(name, number))
            if number == identifier:
                break
        return True

    def new(self) -> int:
        """An identifier that no task has."""
        return next(self._numbers)

    def wants_calls(self, thread: int) -> bool:
        """True if calls of a thread are to be reported with `call`."""
        return any(whose in (None, thread) for _, whose in self._loose.values())

    def call(self, identifier: int, thread: int) -> None:
        """A call is a part of the open tasks, next to their others."""
        for number, (_, whose) in self._loose.items():
            if whose in (None, thread):
                self._submit(cmd.Relate("contains", number, (identifier,)))

    def last(self) -> int:
        """An identifier of the launch, copy or wait that was requested last."""
        identifier = self.new()
        self._submit(cmd.Identify(identifier))
        return identifier

    def relate(self, kind: str, identifier: int, other: int, address: int) -> None:
        others = () if other == NONE else (other,)
        self._submit(cmd.Relate(kind, identifier, others, (address,) if address >= GLOBAL_BASE else ()))

    def parameter(self, identifier: int, name: str, kind: str, value: str) -> None:
        self._submit(cmd.Parameter(identifier, name, kind, value))
