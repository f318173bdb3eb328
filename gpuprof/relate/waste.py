"""Work that nobody needed: copies and results that are not read, copies back and forth, the same computation twice."""

import numpy as np

from gpuprof.relate.data_flow import NOBODY, Observed

NEVER_READ_COPY, NEVER_READ, BACK_AND_FORTH, COPIED_AGAIN, COMPUTED_TWICE = FINDINGS = (
    "copied in and never read",
    "written and never read",
    "copied back and forth",
    "copied again",
    "computed twice",
)

# kind: the place in FINDINGS. other: the task that it has to do with, NOBODY for no one task. buffer: NO_BUFFER where
# it is of several.
FINDING = np.dtype([(name, np.int64) for name in ("kind", "task", "other", "buffer", "nbytes")])
# What a launch was asked to do (a hash), what it found where it read (a hash), and the bytes that it wrote.
WORK = np.dtype([(name, np.int64) for name in ("task", "work", "inputs", "nbytes")])
NO_BUFFER = -1


def findings(copies_in: np.ndarray, observed: Observed, works: np.ndarray) -> np.ndarray:
    """FINDING (n,), by task. copies_in: int64, tasks that copy to the device; works: WORK, of launches, in the order of
    execution.
    """
    unread, again = observed.unread, observed.again
    is_copy = np.isin(unread["task"], copies_in)
    read_out = again["copied_out_by"] != NOBODY
    back, twice = again[read_out], again[~read_out]
    found = np.concatenate(
        [
            _of(NEVER_READ_COPY, unread[is_copy], unread["replaced_by"][is_copy]),
            _of(NEVER_READ, unread[~is_copy], unread["replaced_by"][~is_copy]),
            _of(BACK_AND_FORTH, back, back["copied_out_by"]),
            _of(COPIED_AGAIN, twice, twice["writer"]),
            _twice(works),
        ]
    )
    return found[np.lexsort([found[name] for name in ("other", "buffer", "kind", "task")])]


def _of(kind: str, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    found = np.empty(len(rows), FINDING)
    found["kind"], found["other"] = FINDINGS.index(kind), others
    for name in ("task", "buffer", "nbytes"):
        found[name] = rows[name]
    return found


def _twice(works: np.ndarray) -> np.ndarray:
    """Those that do the same with the same as one before them."""
    order = np.lexsort((works["inputs"], works["work"]))  # stable: the first of each comes first
    works = works[order]
    is_new = np.ones(len(works), bool)
    is_new[1:] = (works["work"][1:] != works["work"][:-1]) | (works["inputs"][1:] != works["inputs"][:-1])
    firsts = works["task"][is_new][np.cumsum(is_new) - 1]
    found = np.empty(len(works), FINDING)
    found["kind"], found["task"], found["other"] = FINDINGS.index(COMPUTED_TWICE), works["task"], firsts
    found["buffer"], found["nbytes"] = NO_BUFFER, works["nbytes"]
    return found[works["task"] != firsts]
