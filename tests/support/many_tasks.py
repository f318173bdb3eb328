"""A recording of many tasks, for what grows with their number."""

from pathlib import Path

import numpy as np

from gpuprof.records.schema import ACCESS_DTYPE, CONSTRAINT_DTYPE, TASK_DTYPE
from gpuprof.records.writer import RecordWriter
from gpuprof.relate.kinds import COPY_IN, COPY_OUT, NONE, TASK
from tests.support.recordings import CHIP, META

GROUP = 1000  # copies in a task of the script
BUFFERS = 16


def write_many_tasks(path: Path, n_tasks: int) -> Path:
    """Copies to and from a few buffers by turns, a thousand in each task of the script."""
    number = np.arange(n_tasks, dtype=np.int64)
    tasks = np.zeros(n_tasks, TASK_DTYPE)
    is_group = number % GROUP == 0
    tasks["task"] = tasks["begin"] = tasks["end"] = tasks["cycle"] = number
    tasks["end"][is_group] += GROUP
    tasks["parent"] = np.where(is_group, NONE, number - number % GROUP)
    tasks["kind"] = np.where(is_group, TASK, np.where(number % 2, COPY_IN, COPY_OUT))
    tasks["name"], tasks["launch"] = tasks["kind"] % 4, NONE
    copies = number[~is_group]
    accesses = np.zeros(len(copies), ACCESS_DTYPE)
    accesses["task"], accesses["parameter"], accesses["end"] = copies, copies // 2 % BUFFERS, 64
    accesses["flags"] = copies % 2
    constraints = np.zeros(len(copies) - 1, CONSTRAINT_DTYPE)
    constraints["source"], constraints["target"], constraints["kind"] = copies[:-1], copies[1:], 3
    with RecordWriter(path) as writer:
        writer.meta(META)
        writer.chip(CHIP)
        for k, name in enumerate(("step", "-", "copy in", "copy out")):
            writer.task_name(k, name)
        for k in range(BUFFERS):
            place = {"address": 0x700000000 + 1024 * k, "nbytes": 64}
            writer.parameter({"parameter": k, "name": f"b{k}", "kind": 0, "value": "", "begin": 0} | place)
        writer.table(b"TASK", tasks)
        writer.table(b"ACCS", accesses)
        writer.table(b"CNST", constraints)
    return path
