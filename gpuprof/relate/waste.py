"""Work that is not needed: copies and results that are not read, copies back and forth, the same computation twice."""

import numpy as np

from gpuprof.relate.data_flow import NO_TASK, Observed

NEVER_READ_COPY, NEVER_READ, BACK_AND_FORTH, COPIED_AGAIN, COMPUTED_TWICE = FINDINGS = (
    "copied in and never read",
    "written and never read",
    "copied back and forth",
    "copied again",
    "computed twice",
)

# kind: the index in FINDINGS. other: the task that it is related to, NO_TASK for no single task. buffer: NO_BUFFER for
# several.
FINDING = np.dtype([(name, np.int64) for name in ("kind", "task", "other", "buffer", "nbytes")])
# The work of a launch (a hash), the data that it read (a hash), and the number of bytes that it wrote.
WORK = np.dtype([(name, np.int64) for name in ("task", "work", "inputs", "nbytes")])
NO_BUFFER = -1


def findings(copies_in: np.ndarray, observed: Observed, works: np.ndarray) -> np.ndarray:
    """FINDING (n,), by task. copies_in: int64, tasks that copy to the device; works: WORK, of launches, in the order of
    execution.
    """
    unread, again = observed.unread, observed.again
    is_copy = np.isin(unread["task"], copies_in)
    read_out = again["copied_out_by"] != NO_TASK
    back, twice = again[read_out], again[~read_out]
    rows = np.concatenate(
        [
            _of(NEVER_READ_COPY, unread[is_copy], unread["replaced_by"][is_copy]),
            _of(NEVER_READ, unread[~is_copy], unread["replaced_by"][~is_copy]),
            _of(BACK_AND_FORTH, back, back["copied_out_by"]),
            _of(COPIED_AGAIN, twice, twice["writer"]),
            _twice(works),
        ]
    )
    return rows[np.lexsort([rows[name] for name in ("other", "buffer", "kind", "task")])]


def _of(kind: str, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    made = np.empty(len(rows), FINDING)
    made["kind"], made["other"] = FINDINGS.index(kind), others
    for name in ("task", "buffer", "nbytes"):
        made[name] = rows[name]
    return made


def _twice(works: np.ndarray) -> np.ndarray:
    """Launches that do the same work with the same data as one before them."""
    order = np.lexsort((works["inputs"], works["work"]))  # stable: the first of each comes first
    works = works[order]
    is_new = np.ones(len(works), bool)
    is_new[1:] = (works["work"][1:] != works["work"][:-1]) | (works["inputs"][1:] != works["inputs"][:-1])
    firsts = works["task"][is_new][np.cumsum(is_new) - 1]
    rows = np.empty(len(works), FINDING)
    rows["kind"], rows["task"], rows["other"] = FINDINGS.index(COMPUTED_TWICE), works["task"], firsts
    rows["buffer"], rows["nbytes"] = NO_BUFFER, works["nbytes"]
    return rows[works["task"] != firsts]
