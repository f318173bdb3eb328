"""Tasks of the Python face: a script's names for parts of its work, and the relations between them."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from gpuprof.device import commands as cmd
from gpuprof.device.array import DeviceArray
from gpuprof.errors import UsageError

Submit: TypeAlias = Callable[[cmd.Command], Any]


class Row:
    """A row of tasks in addition to those of the host and the streams: a thread of the script, say."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"<row {self.name}>"


class Task:
    """Anything with a beginning and an end: a part of a script, or the most recently requested launch or copy."""

    def __init__(self, submit: Submit, identifier: int, name: str, is_virtual: bool = False):
        self._submit, self.identifier, self.name, self._is_virtual = submit, identifier, name, is_virtual

    def relate(self, kind: str, others: "Related", via: DeviceArray | None = None) -> None:
        """States that this task "depends on", "contains", "produces for" (or the inverse of these, or another kind in
        docs/relations.md) another task, or each of several, through an array; or that it "produces" or "consumes" an
        array, or several. Raises UsageError for another kind.
        """
        tasks, arrays = _tasks_and_arrays(others)
        if via is not None:
            arrays = (via, *arrays)
        self._submit(
            cmd.Relate(
                kind, self.identifier, tuple(task.identifier for task in tasks), tuple(a.address for a in arrays)
            )
        )

    def parameter(self, name: str, value: Any) -> None:
        """A value that belongs to the task: a number, a text, or a structure of these (a dict or list)."""
        self._submit(cmd.Parameter(self.identifier, name, *_described(name, value)))

    def add(self, *tasks: "Task") -> None:
        """Other tasks are parts of this one."""
        self.relate("contains", tasks)

    def end(self) -> None:
        """Ends a virtual task; others end with their `with` block."""
        if not self._is_virtual:
            raise UsageError(f"task {self.name!r} ends with its block; only a virtual task is ended by end()")
        self._submit(cmd.TaskEnd(self.name, self.identifier))

    def __repr__(self) -> str:
        return f"<task {self.name}>"


Related: TypeAlias = Task | DeviceArray | Iterable[Task | DeviceArray]


def state(task: Task, relations: Mapping[str, Related | None]) -> None:
    """Relations by kind, those that are None aside."""
    for kind, others in relations.items():
        if others is not None:
            task.relate(kind, others)


def _tasks_and_arrays(others: Related) -> tuple[tuple[Task, ...], tuple[DeviceArray, ...]]:
    """Tasks and arrays, one of them or several."""
    given = (others,) if isinstance(others, Task | DeviceArray) else tuple(others)
    for other in given:
        if not isinstance(other, Task | DeviceArray):
            raise UsageError(f"a task is related to tasks and arrays, not to {other!r}")
    tasks = tuple(other for other in given if isinstance(other, Task))
    return tasks, tuple(other for other in given if isinstance(other, DeviceArray))


def _described(name: str, value: Any) -> tuple[str, str]:
    """The kind and the text of a parameter's value. Raises UsageError for one that is neither."""
    if isinstance(value, str):
        return "text", value
    kind = "number" if isinstance(value, int | float) and not isinstance(value, bool) else "structure"
    try:
        return kind, json.dumps(value, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError):
        raise UsageError(
            f"the value of parameter {name!r} is no number, text or structure of these: {value!r}"
        ) from None
