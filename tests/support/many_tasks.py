"""A recording of many tasks, for what grows with their number."""

from pathlib import Path

import numpy as np

from gpuprof.records.writer import RecordWriter
from gpuprof.relate import task_kinds
from gpuprof.relate.task_kinds import COPY_IN, COPY_OUT, LAUNCH, NONE, TASK
from gpuprof.tables.tasks import ACCESSES, CONSTRAINTS, RELATIONS, TASKS
from tests.support.recordings import LAUNCH_END, write_saxpy_launch

GROUP = 1000  # copies in a task of the script
BUFFERS = 16
VIEWS = 10  # virtual tasks
LAUNCH_TASK = 1


def write_many_tasks(path: Path, n_tasks: int) -> Path:
    """A launch, then copies to and from a few buffers by turns, a thousand in each task of the script; virtual tasks,
    with a quarter of the copies.
    """
    number = np.arange(n_tasks, dtype=np.int64)
    tasks = np.zeros(n_tasks, TASKS.dtype)
    is_virtual = number >= n_tasks - VIEWS
    is_group = (number % GROUP == 0) & ~is_virtual
    is_whole = is_group | is_virtual
    tasks["task"] = tasks["begin"] = tasks["end"] = tasks["cycle"] = number
    tasks["cycle"] += LAUNCH_END["end_cycle"]
    tasks["end"][is_group] += GROUP
    tasks["flags"] = is_virtual
    tasks["parent"] = np.where(is_whole, NONE, number - number % GROUP)
    tasks["kind"] = np.where(is_whole, TASK, np.where(number % 2, COPY_IN, COPY_OUT))
    tasks["kind"][LAUNCH_TASK], tasks["launch"] = LAUNCH, NONE
    tasks["launch"][LAUNCH_TASK] = 0
    tasks["name"] = tasks["kind"]
    tasks["row"] = task_kinds.TASKS.index("wait")
    copies = number[~is_whole]
    accesses = np.zeros(len(copies), ACCESSES.dtype)
    accesses["task"], accesses["parameter"], accesses["end"] = copies, copies // 2 % BUFFERS, 64
    accesses["flags"] = copies % 2
    constraints = np.zeros(len(copies) - 1, CONSTRAINTS.dtype)
    constraints["source"], constraints["target"], constraints["kind"] = copies[:-1], copies[1:], 3
    parts = copies[copies % 4 == 2]
    contains = np.zeros(len(parts), RELATIONS.dtype)
    contains["kind"], contains["source"] = task_kinds.NUMBERS[task_kinds.CONTAINS], n_tasks - VIEWS + parts // 4 % VIEWS
    contains["target"], contains["parameter"] = parts, NONE
    with RecordWriter(path) as writer:
        write_saxpy_launch(writer)
        for k, name in enumerate(task_kinds.TASKS):
            writer.task_name(k, name)
        for k in range(BUFFERS):
            place = {"address": 0x700000000 + 1024 * k, "nbytes": 64}
            writer.parameter({"parameter": k, "name": f"b{k}", "kind": 0, "value": "", "begin": 0} | place)
        for table, rows in ((TASKS, tasks), (ACCESSES, accesses), (CONSTRAINTS, constraints), (RELATIONS, contains)):
            writer.table(table, rows)
    return path
