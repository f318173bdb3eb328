"""Tasks on the tracks of their rows, and an arrow for each flow of data or other need."""

from collections.abc import Mapping

from gpuprof.correlate.tasks.task_queries import Tasks
from gpuprof.export.timeline.timeline import Flow, Slice, Track, lanes
from gpuprof.isa.printing.printable import printable
from gpuprof.relate.critical import Needs

ROWS = "tasks"  # key of the track that rows are under
VIRTUAL = "virtual"
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
    place_of: dict[int, int] = {}  # task -> place of its slice
    for name, rows in _by_row(tasks).items():
        spans = [(tasks.value("begin_cycle", row), tasks.value("end_cycle", row)) for row in rows]
        lane_of = lanes(spans)
        for lane in range(max(lane_of) + 1):
            tracks.append(Track(f"{ROWS} {name}.{lane}", f"{name}, beside" if lane else name, ROWS))
        for row, lane, (begin, end) in zip(rows, lane_of, spans, strict=True):
            place_of[tasks.value("task", row)] = len(slices)
            told = {"kind": tasks.kind(row)} | {cost: tasks.value(cost, row) for cost in COSTS}
            told |= of_launches.get(tasks.value("launch", row), {})
            slices.append(Slice(f"{ROWS} {name}.{lane}", printable(tasks.name(row)), begin, end, told))
    flows = [
        Flow(place_of[before], place_of[after])
        for before, after in zip(memoryview(needs.before), memoryview(needs.after), strict=True)
        if before in place_of and after in place_of
    ]
    return tracks, slices, flows


def _by_row(tasks: Tasks) -> dict[str, list[int]]:
    """Row's name -> its tasks that have cycles, in the order of their beginnings, the longer first."""
    found: dict[str, list[int]] = {}
    for place in range(len(tasks)):
        if tasks.value("begin_cycle", place) >= 0:
            name = VIRTUAL if tasks.value("is_virtual", place) else printable(tasks.row(place))
            found.setdefault(name, []).append(place)
    for places in found.values():
        places.sort(key=lambda place: (tasks.value("begin_cycle", place), -tasks.value("end_cycle", place), place))
    return found
