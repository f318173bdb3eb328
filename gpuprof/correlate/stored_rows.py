"""Recorded rows of a launch as rows of the database. All raise FileFormatError for values that no run can have.

Most tables have their recorded columns there, in the order that their declaration gives. COMPUTED has the others.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from gpuprof.errors import FileFormatError
from gpuprof.isa.causes import CONFLICT, KINDS, OTHER_LAUNCH, OTHER_WARP
from gpuprof.isa.stalls import N_REASONS
from gpuprof.records.encoding import MAX_COUNT
from gpuprof.records.reader import Recording
from gpuprof.tables.blocks import REUSE_DISTANCES, REUSE_SCOPES
from gpuprof.tables.launch import ACTIVITY, ACTIVITY_STALLS, BANK_PATTERNS, CAUSES, STALL_LENGTHS
from gpuprof.tables.order import STORED
from gpuprof.tables.table import Table

OF_LAUNCHES = tuple(table for table in STORED if table.chunk and table.of_launch)
PLACES = {table: place for place, table in enumerate(OF_LAUNCHES)}
KNOWN = {"reason": N_REASONS, "kind": len(KINDS)}  # numbers of stall reasons and of kinds of causes
LAST_BIN = 62  # of stall lengths whose least is such an integer
FLAGS = (OTHER_WARP, OTHER_LAUNCH, CONFLICT)
FIRST_ACCESS = -1


def all_rows(recording: Recording, launch: int) -> Iterator[tuple[Table, Iterable[tuple]]]:
    """The rows of a launch in each table of the database that has some, in the order of the schema."""
    there = recording.launches[launch].rows.keys()
    if ACTIVITY_STALLS in there:
        there = there | {ACTIVITY}  # its bins may be missing
    for table in sorted(there & PLACES.keys(), key=PLACES.__getitem__):
        if rows := rows_of(recording, launch, table):
            yield table, rows


def rows_of(recording: Recording, launch: int, table: Table) -> Iterable[tuple]:
    """The rows of a launch in a table of the database."""
    rows = recording.launches[launch].rows[table]
    if not len(rows) and table is not ACTIVITY:  # the bins of activity may be missing
        return ()
    for name, n_known in KNOWN.items():
        if name in rows.dtype.names and int(rows[name].max(initial=0)) >= n_known:
            raise _wrong(recording, launch, f"has {name} {rows[name].max()} in {table.name}; there are {n_known}")
    if table in COMPUTED:
        return COMPUTED[table](recording, launch, rows)
    return plain(recording, launch, table, rows)


def plain(recording: Recording, launch: int, table: Table, rows: np.ndarray) -> Iterable[tuple]:
    """(launch, values of the columns) in the order of the database."""
    return _tuples(recording, launch, rows, [column.name for column in table.in_database[1:]])


def _tuples(recording: Recording, launch: int, rows: np.ndarray, names: Iterable[str]) -> Iterable[tuple]:
    columns = [rows[name].tolist() for name in names]
    for name, column in zip(names, columns, strict=True):
        if column and max(column) > MAX_COUNT:
            raise _wrong(recording, launch, f"has {name} {max(column)}, more than 2^63 - 1")
    return zip([launch] * len(rows), *columns, strict=True)


def _wrong(recording: Recording, launch: int, what: str) -> FileFormatError:
    return FileFormatError(f"{recording.path}: launch {launch} {what}")


def length_rows(recording: Recording, number: int, rows: np.ndarray) -> Iterable[tuple]:
    if int(rows["bin"].max(initial=0)) > LAST_BIN:
        raise _wrong(recording, number, f"has stalls of 2^{rows['bin'].max()} cycles and more")
    each = _tuples(recording, number, rows, STALL_LENGTHS.dtype.names)
    return ((launch, pc, reason, 1 << bin_, stalls) for launch, pc, reason, bin_, stalls in each)


def cause_rows(recording: Recording, number: int, rows: np.ndarray) -> Iterable[tuple]:
    each = _tuples(recording, number, rows, ("pc", "reason", "cause_pc", "kind", "flags", "cycles", "stalls"))
    return ((*row[:5], *(int(row[5] & flag != 0) for flag in FLAGS), *row[6:]) for row in each)


def pattern_rows(recording: Recording, number: int, rows: np.ndarray) -> Iterable[tuple]:
    """Patterns are numbered from 0 for each instruction."""
    ordered = rows[rows["mask"] != 0]
    if any(int(ordered[name].min(initial=1)) == 0 for name in ("lanes_0", "lanes_1", "lanes_2")):
        raise _wrong(recording, number, "has a pattern of shared memory with runs of no lanes")
    names = [column.name for column in BANK_PATTERNS.in_database if column.name not in ("launch", "pattern")]
    seen: dict[int, int] = {}
    for launch, pc, *rest in _tuples(recording, number, rows, names):
        seen[pc] = seen.get(pc, -1) + 1
        yield launch, pc, seen[pc], *rest


def reuse_rows(recording: Recording, number: int, rows: np.ndarray) -> Iterable[tuple]:
    if int(rows["scope"].max(initial=0)) >= len(REUSE_SCOPES):
        raise _wrong(recording, number, f"has reuse distances of scope {rows['scope'].max()}")
    if int(rows["least_lines"].min(initial=0)) < FIRST_ACCESS:
        raise _wrong(recording, number, f"has reuse distances of {rows['least_lines'].min()} lines")
    each = plain(recording, number, REUSE_DISTANCES, rows)
    return ((launch, REUSE_SCOPES[scope], *rest) for launch, scope, *rest in each)


def activity_rows(recording: Recording, number: int, rows: np.ndarray) -> Iterable[tuple]:
    """Bins end where the next ones begin. Raises FileFormatError if they do not follow each other within the launch."""
    launch = recording.launches[number]
    stalls = launch.rows[ACTIVITY_STALLS]
    if launch.end is None:
        return
    if not len(rows):
        if len(stalls):
            raise _wrong(recording, number, "lacks the bins of its activity")
        return
    begins = [*rows["cycle"].tolist(), launch.end["end_cycle"]]
    lengths = rows["bin_cycles"].tolist()
    each = zip(begins[:-2], lengths[:-1], begins[1:-1], strict=True)
    follow = all(begin + length == after for begin, length, after in each)
    inside = launch.end["start_cycle"] <= begins[0] and begins[-2] <= begins[-1]
    if not follow or not inside or int(stalls["bin"].max(initial=0)) >= len(rows):
        raise _wrong(recording, number, "has bins of time that do not follow each other")
    for bin_, sm_cycles in enumerate(rows["sm_active_cycles"].tolist()):
        yield number, bin_, begins[bin_], begins[bin_ + 1], sm_cycles


COMPUTED: dict[Table, Callable[[Recording, int, np.ndarray], Iterable[tuple]]] = {
    STALL_LENGTHS: length_rows,
    CAUSES: cause_rows,
    BANK_PATTERNS: pattern_rows,
    REUSE_DISTANCES: reuse_rows,
    ACTIVITY: activity_rows,
}
