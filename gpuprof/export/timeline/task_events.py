"""Tasks on the tracks of their rows, and an arrow for each flow of data or other need."""

from collections.abc import Mapping

import numpy as np

from gpuprof.correlate.tasks.task_queries import Tasks
from gpuprof.export.timeline.timeline import Flow, Slice, Track, lanes
from gpuprof.isa.printing.printable import printable
from gpuprof.relate.critical import Needs

ROWS = "tasks"  # key of the track that rows are under
VIRTUAL = "virtual"
NOWHERE = -1  # instead of the place of a slice
COSTS = ("task", "own_cycles", "parts_cycles")


def has_cycles(tasks: Tasks) -> bool:
    """True where there is a task that can be drawn."""
    return bool((tasks.columns["begin_cycle"] >= 0).any())


def on_rows(
    tasks: Tasks, needs: Needs, of_launches: Mapping[int, Mapping[str, str | int]]
) -> tuple[list[Track], list[Slice], list[Flow]]:
    """A track for each row, and more where its tasks overlap. `of_launches`: facts of launches in addition
    to their costs.
    """
    tracks, slices = [Track(ROWS, "tasks")], []
    # a view of memory gives Python's numbers one by one: an array is slower, and a list five times as large
    begins, ends, launches = (tasks.columns[name].data for name in ("begin_cycle", "end_cycle", "launch"))
    kinds, names = (tasks.columns[name].data for name in ("kind", "name"))
    numbers, owns, parts = (tasks.columns[name].data for name in COSTS)
    shown = [printable(word) for word in tasks.words]
    place_of = np.full(len(tasks) + 1, NOWHERE)  # of the slice of each task; the last stands for all others
    for name, rows in _by_row(tasks).items():
        place_of[rows] = np.arange(len(slices), len(slices) + len(rows))
        lane_of = lanes((begins[row], ends[row]) for row in rows)
        keys = [f"{ROWS} {name}.{lane}" for lane in range(max(lane_of) + 1)]
        tracks += [Track(key, f"{name}, beside" if lane else name, ROWS) for lane, key in enumerate(keys)]
        for row, lane in zip(rows, lane_of, strict=True):
            costs = dict(zip(COSTS, (numbers[row], owns[row], parts[row]), strict=True))
            told = {"kind": tasks.words[kinds[row]]} | costs
            if launches[row] in of_launches:
                told |= of_launches[launches[row]]
            slices.append(Slice(keys[lane], shown[names[row]], begins[row], ends[row], told))
    return tracks, slices, _flows(tasks, needs, place_of)


def _flows(tasks: Tasks, needs: Needs, place_of: np.ndarray) -> list[Flow]:
    """Between tasks that have slices."""
    before, after = (place_of[_rows(tasks, numbers)] for numbers in (needs.before, needs.after))
    both = (before != NOWHERE) & (after != NOWHERE)
    return list(map(Flow, before[both].tolist(), after[both].tolist()))


def _rows(tasks: Tasks, numbers: np.ndarray) -> np.ndarray:
    """The rows of tasks, by their numbers; the number of rows for one that is not there."""
    there = tasks.columns["task"]
    rows = np.searchsorted(there, numbers)
    found = np.isin(numbers, there)
    return np.where(found, rows, len(there))


def _by_row(tasks: Tasks) -> dict[str, list[int]]:
    """Row's name -> its tasks that have cycles, in the order of their beginnings, the longer first."""
    begin, end, row = (tasks.columns[name] for name in ("begin_cycle", "end_cycle", "row"))
    numbers, row_of = np.unique(row, return_inverse=True)
    groups: dict[str, int] = {VIRTUAL: 0}
    group_of = np.array([groups.setdefault(printable(tasks.rows[number]), len(groups)) for number in numbers.tolist()])
    group = np.where(tasks.columns["is_virtual"] != 0, groups[VIRTUAL], group_of[row_of])
    drawn = np.flatnonzero(begin >= 0)
    names = list(groups)
    used, firsts = np.unique(group[drawn], return_index=True)
    drawn = drawn[np.lexsort((drawn, -end[drawn], begin[drawn]))]
    return {names[used[k]]: drawn[group[drawn] == used[k]].tolist() for k in np.argsort(firsts)}
