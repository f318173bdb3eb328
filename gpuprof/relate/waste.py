"""Work that nobody needed: copies and results that are not read, copies back and forth, the same computation twice."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gpuprof.relate.flow import Again, Unread
from gpuprof.relate.kinds import COPY_IN

NEVER_READ_COPY, NEVER_READ, BACK_AND_FORTH, COPIED_AGAIN, COMPUTED_TWICE = FINDINGS = (
    "copied in and never read",
    "written and never read",
    "copied back and forth",
    "copied again",
    "computed twice",
)


class Finding(NamedTuple):
    """`other`: the task that it has to do with, None for no one task; `buffer`: None where it is of several."""

    kind: str
    task: int
    other: int | None
    buffer: int | None
    nbytes: int


class Work(NamedTuple):
    """What a launch was asked to do (a hash), what it found where it read, and the bytes that it wrote."""

    task: int
    work: int
    inputs: Sequence[tuple]
    nbytes: int


def findings(
    kinds: Mapping[int, int], unread: Sequence[Unread], again: Sequence[Again], works: Sequence[Work]
) -> list[Finding]:
    """By task; `kinds`: of tasks. works: of launches, in the order of execution."""
    found = [
        Finding(
            NEVER_READ_COPY if kinds[row.task] == COPY_IN else NEVER_READ,
            row.task,
            row.replaced_by,
            row.buffer,
            row.nbytes,
        )
        for row in unread
    ]
    for row in again:
        if row.copied_out_by is None:
            found.append(Finding(COPIED_AGAIN, row.task, row.writer, row.buffer, row.nbytes))
        else:
            found.append(Finding(BACK_AND_FORTH, row.task, row.copied_out_by, row.buffer, row.nbytes))
    seen: dict[tuple, int] = {}
    for work in works:
        first = seen.setdefault((work.work, tuple(work.inputs)), work.task)
        if first != work.task:
            found.append(Finding(COMPUTED_TWICE, work.task, first, None, work.nbytes))
    return sorted(found, key=lambda row: (row.task, FINDINGS.index(row.kind), str(row.buffer), str(row.other)))
