"""The data of the pages about tasks, from a database."""

import sqlite3
from collections import defaultdict
from collections.abc import Set
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gpuprof.base.wording import suggestion
from gpuprof.correlate.tasks.task_queries import Tasks, contained, critical_path, pairs, read_tasks
from gpuprof.errors import UsageError
from gpuprof.isa.stalls import N_REASONS
from gpuprof.relate.critical import Path
from gpuprof.relate.independent import Pair
from gpuprof.relate.task_kinds import CONTAINS
from gpuprof.report.tasks.task_activity import Activity, read_activity
from gpuprof.report.tasks.task_filter import list_shown, tasks_of
from gpuprof.report.tasks.timeline_lanes import Lane, read_lanes
from gpuprof.report.tasks.whole_tasks import Wholes

MOST_PAIRS = 10
MOST_LINES = 200  # of a tree on a terminal


class Node(NamedTuple):
    """A line of the tree: a task, or several parts of one task that have the same name."""

    depth: int
    places: tuple[int, ...]  # rows of Tasks
    hottest: int  # number of the stall reason with the most cycles, -1 none

    @property
    def n_tasks(self) -> int:
        return len(self.places)


class Flow(NamedTuple):
    """Relations of one kind between tasks of two names, through buffers of one name."""

    kind: str
    source: str
    target: str
    via: str
    count: int
    nbytes: int
    origin: str


class Waste(NamedTuple):
    kind: str
    task: str
    other: str
    via: str
    count: int
    nbytes: int


class Neighbour(NamedTuple):
    """A task that one is related to. `steps`: relations in a row, 1 for its own."""

    kind: str
    task: int | None
    name: str
    via: str
    nbytes: int
    origin: str


class Touch(NamedTuple):
    """A task reads or writes a buffer."""

    task: int
    name: str
    is_write: bool
    nbytes: int
    first: int
    end: int
    is_exact: bool


@dataclass(frozen=True)
class TaskReport:
    """neighbours, touches: of the tasks and buffers that were requested by name. `shown`: the tasks of the requested
    launches, and those that these are parts of; None: all.
    """

    tasks: Tasks
    tree: tuple[Node, ...]
    flows: tuple[Flow, ...]
    waste: tuple[Waste, ...]
    pairs: tuple[Pair, ...]
    path: Path
    observed: bool
    neighbours: tuple[tuple[str, tuple[Neighbour, ...]], ...] = ()
    touches: tuple[tuple[str, tuple[Touch, ...]], ...] = ()
    activity: Activity | None = None  # only for the page of the timeline, and so are these
    lanes: tuple[Lane, ...] = ()
    shown: frozenset[int] | None = None

    def places(self) -> list[int]:
        """Rows of `tasks` that are shown."""
        numbers = self.tasks.columns["task"].tolist()
        return [place for place, task in enumerate(numbers) if self.shown is None or task in self.shown]


MOST_CHOSEN = 20  # tasks of one name


def read_task_report(
    database: sqlite3.Connection, page: str | None, chosen: str | None, launches: Set[int] | None = None
) -> TaskReport:
    """The data of one page, or of all of them, for the tasks of these launches; None: of all. The longest chain of
    needs is that of all. Raises UsageError where `chosen` names neither a task nor a buffer.
    """
    tasks = read_tasks(database)
    shown = None if launches is None else tasks_of(database, tasks, launches)
    list_shown(database, shown)
    is_relations = page in ("relations", None)
    neighbours, touches = _chosen(database, chosen) if chosen is not None else ((), ())
    whole = is_relations and chosen is None
    path = critical_path(database, tasks) if whole or page in ("timeline", None) else Path(0, ())
    (observed,) = database.execute("SELECT EXISTS (SELECT 1 FROM accesses_by_task)").fetchone()
    return TaskReport(
        tasks,
        tuple(tree(database, tasks, shown)) if page in ("tasks", "timeline", None) else (),
        tuple(_flows(database)) if whole else (),
        tuple(_waste(database)) if whole else (),
        tuple(pairs(database, tasks, MOST_PAIRS, shown)) if whole else (),
        path,
        bool(observed),
        neighbours,
        touches,
        read_activity(database) if page in ("timeline", None) else None,
        read_lanes(database) if page in ("timeline", None) else (),
        shown,
    )


def tree(database: sqlite3.Connection, tasks: Tasks, shown: Set[int] | None = None) -> list[Node]:
    """Tasks, those shown or all, in the order of their beginnings, each with its parts below; parts without parts of
    their own are one line for each name.
    """
    children: dict[int, list[int]] = defaultdict(list)
    parents = tasks.columns["parent"]
    above = np.where(parents < 0, -1, np.searchsorted(tasks.columns["task"], parents))
    for place, parent in enumerate(above.tolist()):
        children[parent].append(place)
    for whole, part in contained(database):
        children[tasks.place(whole)].append(tasks.place(part))
    # a part of a virtual task is listed only there, where it is a part of nothing else
    inside = {tasks.place(part) for _, part in contained(database)}
    children[-1] = [place for place in children[-1] if place not in inside]
    if shown is not None:
        numbers = tasks.columns["task"].tolist()
        left = {whole: [part for part in parts if numbers[part] in shown] for whole, parts in children.items()}
        children = defaultdict(list, {whole: parts for whole, parts in left.items() if parts})
    reasons = _reasons(database)
    nodes: list[Node] = []
    stack = [(0, group) for group in reversed(_grouped(children[-1], children, tasks))]
    on_path: list[int] = []
    while stack:
        depth, places = stack.pop()
        del on_path[depth:]
        hottest = _hottest(places, children, tasks, reasons)
        nodes.append(Node(depth, places, hottest))
        if len(places) == 1 and places[0] in children and places[0] not in on_path:
            on_path.append(places[0])
            stack += [(depth + 1, group) for group in reversed(_grouped(children[places[0]], children, tasks))]
    return nodes


def _grouped(places: list[int], children: dict[int, list[int]], tasks: Tasks) -> list[tuple[int, ...]]:
    groups: dict[tuple, list[int]] = {}
    unique = list(dict.fromkeys(places))
    columns = [tasks.columns[name][unique].tolist() for name in ("kind", "name", "row")]
    for place, *words in zip(unique, *columns, strict=True):
        groups.setdefault((place,) if place in children else (-1, *words), []).append(place)
    return [tuple(group) for group in groups.values()]


def _reasons(database: sqlite3.Connection) -> dict[int, np.ndarray]:
    """Warp-cycles by stall reason, int64 (N_REASONS,), of each launch."""
    by_launch: dict[int, np.ndarray] = {}
    query = "SELECT launch, reason, SUM(cycles) FROM ledger WHERE reason <> 0 GROUP BY launch, reason"
    for launch, reason, cycles in database.execute(query):
        by_launch.setdefault(launch, np.zeros(N_REASONS, np.int64))[reason] = cycles
    return by_launch


def _hottest(
    places: tuple[int, ...], children: dict[int, list[int]], tasks: Tasks, reasons: dict[int, np.ndarray]
) -> int:
    if not reasons:
        return -1
    total = np.zeros(N_REASONS, np.int64)
    seen, stack = set(places), [*places]
    while stack:
        place = stack.pop()
        total += reasons.get(tasks.value("launch", place), 0)
        new = [child for child in children.get(place, ()) if child not in seen]
        seen.update(new)
        stack += new
    return int(total.argmax()) if total.any() else -1


FLOWS = """
SELECT r.kind, s.name, COALESCE(t.name, ''), COALESCE(p.name, ''), COUNT(*), SUM(r.nbytes), r.origin
FROM stored_relations r JOIN tasks s ON s.task = r.source LEFT JOIN tasks t ON t.task = r.target
    LEFT JOIN parameters p ON p.parameter = r.via
WHERE r.target IN temp.tasks_shown OR (r.source IN temp.tasks_shown AND r.kind <> ?)
GROUP BY r.kind, s.name, t.name, p.name, r.origin
ORDER BY MIN(r.source), MIN(COALESCE(r.target, -1)), r.kind, p.name, r.origin
"""
WASTE = """
SELECT f.kind, t.name, COALESCE(o.name, ''), COALESCE(p.name, ''), COUNT(*), SUM(f.nbytes)
FROM task_findings f JOIN tasks t USING (task) LEFT JOIN tasks o ON o.task = f.other
    LEFT JOIN parameters p ON p.parameter = f.parameter
WHERE f.task IN temp.tasks_shown OR f.other IN temp.tasks_shown
GROUP BY f.kind, t.name, o.name, p.name
ORDER BY SUM(f.nbytes) DESC, MIN(f.finding)
"""


def _flows(database: sqlite3.Connection) -> list[Flow]:
    return [Flow(*row) for row in database.execute(FLOWS, (CONTAINS,))]


def _waste(database: sqlite3.Connection) -> list[Waste]:
    return [Waste(*row) for row in database.execute(WASTE)]


NEIGHBOURS = """
SELECT r.kind, r.to_task, COALESCE(t.name, ''), COALESCE(p.name, ''), r.nbytes, r.origin
FROM relations r LEFT JOIN tasks t ON t.task = r.to_task LEFT JOIN parameters p ON p.parameter = r.via
WHERE r.from_task = ? ORDER BY r.kind, r.to_task, r.via
"""
TOUCHES = """
SELECT a.task, t.name, a.is_write, SUM(a.end - a.first), MIN(a.first), MAX(a.end), MIN(a.is_exact)
FROM accesses_by_task a JOIN tasks t USING (task)
WHERE a.parameter = ? GROUP BY a.task, a.is_write ORDER BY a.task, a.is_write
"""
# What a task needs, over any number of others, and who needs it: chains of needs.
FURTHER = """
WITH RECURSIVE edges(before, after) AS (
    SELECT source, target FROM stored_relations WHERE kind = 'produces for'
    UNION SELECT target, source FROM stored_relations WHERE kind = 'depends on'
), chain(task, steps) AS (
    SELECT {to}, 1 FROM edges WHERE {of} = ?1
    UNION SELECT {to}, 2 FROM edges JOIN chain ON {of} = chain.task
)
SELECT DISTINCT task, name FROM chain JOIN tasks USING (task)
WHERE task NOT IN (SELECT {to} FROM edges WHERE {of} = ?1) AND task <> ?1 ORDER BY task
"""


def _all_neighbours(database: sqlite3.Connection, tasks: list[tuple[int, str]]) -> tuple:
    wholes = Wholes(database)
    return tuple((f"{name} (task {task})", tuple(_neighbours(database, task, wholes))) for task, name in tasks)


def _chosen(database: sqlite3.Connection, chosen: str) -> tuple[tuple, tuple]:
    number = chosen.removeprefix("#")
    is_number = number != chosen and number.isdecimal() and len(number) < 19
    condition, value = ("task = ?", int(number)) if is_number else ("name = ?", chosen)
    query = f"SELECT task, name FROM tasks WHERE {condition} ORDER BY task LIMIT {MOST_CHOSEN}"
    tasks = database.execute(query, (value,)).fetchall()
    buffers = database.execute(
        "SELECT parameter, name FROM parameters WHERE kind = 'buffer' AND name = ? ORDER BY parameter", (chosen,)
    ).fetchall()
    if not tasks and not buffers:
        names = [name for (name,) in database.execute("SELECT name FROM tasks UNION SELECT name FROM parameters")]
        near = suggestion(chosen, names)
        raise UsageError(
            f"--task {chosen!r}: no task and no buffer has this name{f'; {near}' if near else ''}; give #N for task N"
        )
    neighbours = _all_neighbours(database, tasks) if tasks else ()
    touches = tuple(
        (
            name,
            tuple(
                Touch(*row[:2], bool(row[2]), *row[3:6], bool(row[6])) for row in database.execute(TOUCHES, (number,))
            ),
        )
        for number, name in buffers
    )
    return neighbours, touches


def _neighbours(database: sqlite3.Connection, task: int, wholes: Wholes) -> list[Neighbour]:
    neighbours = [Neighbour(*row) for row in database.execute(NEIGHBOURS, (task,))]
    ways = (("depends on", "before", "after"), ("is needed by", "after", "before"))
    for kind, to, of in ways:
        for number, name in database.execute(FURTHER.format(to=to, of=of), (task,)):
            neighbours.append(Neighbour(kind, number, name, "", 0, "implied"))
    for kind, other, via, nbytes in wholes.between(task):
        neighbours.append(Neighbour(kind, other, *_names(database, other, via), nbytes, "implied"))
    return list(dict.fromkeys(neighbours))


def _names(database: sqlite3.Connection, task: int, buffer: int | None) -> tuple[str, str]:
    return database.execute(
        "SELECT name, COALESCE((SELECT name FROM parameters WHERE parameter = ?), '') FROM tasks WHERE task = ?",
        (buffer, task),
    ).fetchone()
