"""Races between commands: launches, copies and fills that touch the same bytes, one of them to write, in an order that
is not guaranteed.

    Node of the command (relate.happens_before), runs of bytes (checkers.races.touched_lines) ─ Between ─> Conflicts

Bytes that may still race with a later command are retained. If two ordered commands touch the same bytes, only the
second is: a command that is not ordered after the first is not ordered after the second either.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gpuprof.relate.happens_before import Node, is_before
from gpuprof.trace.checkers.races.touched_lines import (
    AT,
    DOES,
    END,
    FREES,
    IS_OF_BLOCK,
    IS_STRONG,
    START,
    WRITES,
    WRITTEN,
    run_of_bytes,
    threads_at,
)
from gpuprof.trace.kernel import Kernel

MOST_PASTS = 256  # commands that are retained; the oldest are forgotten
WRITE_WRITE, WRITE_READ, READ_WRITE = "stream_write_write_race", "stream_write_read_race", "stream_read_write_race"
USE_AFTER_FREE = "stream_use_after_free"


class Did(NamedTuple):
    """A command: what it is called ("launch 3 (fill) on stream 2"), its launch if it is one, and its node."""

    text: str
    kernel: Kernel | None
    node: Node


@dataclass(eq=False)
class _Past:
    did: Did
    runs: np.ndarray  # int64 (n, touched.N_COLUMNS), ascending


class Conflict(NamedTuple):
    """Two commands that race: instructions (-1 of a copy) and threads of the grid at the first common byte."""

    kind: str
    first: Did
    second: Did
    first_at: int
    second_at: int
    first_thread: int
    second_thread: int
    address: int
    nbytes: int  # that they have in common at these two instructions
    first_frees: bool = False


class Between:
    """The commands that may still race. `same_value`: writes of one value are races, too."""

    def __init__(self, same_value: bool = False):
        self._same_value = same_value
        self._pasts: list[_Past] = []

    def add(self, did: Did, runs: np.ndarray) -> list[Conflict]:
        """A command has touched `runs`: its races with those before."""
        if not len(runs):
            return []
        conflicts: list[Conflict] = []
        left: list[_Past] = []
        for past in self._pasts:
            if past.runs[0, START] < runs[-1, END] and runs[0, START] < past.runs[-1, END]:
                if is_before(past.did.node, did.node) and not past.runs[0, DOES] & FREES:
                    past.runs = _not_covered(past.runs, runs)
                else:
                    conflicts += self._conflicts(past, did, runs)
            if len(past.runs):
                left.append(past)
        left.append(_Past(did, runs))
        self._pasts = left[-MOST_PASTS:]
        return conflicts

    def forget(self, is_over) -> None:
        """Nothing races with commands whose node is over."""
        self._pasts = [past for past in self._pasts if not is_over(past.did.node)]

    def forget_bytes(self, address: int, nbytes: int) -> None:
        """Memory is freed."""
        gone = run_of_bytes(address, nbytes, 0)
        for past in self._pasts:
            past.runs = _without(past.runs, gone)
        self._pasts = [past for past in self._pasts if len(past.runs)]

    def _conflicts(self, past: _Past, did: Did, runs: np.ndarray) -> Iterator[Conflict]:
        of_past, of_new, start, end = common(past.runs, runs)
        first, second = past.runs[of_past], runs[of_new]
        is_race = (first[:, DOES] | second[:, DOES]) & WRITES != 0
        strong = first[:, DOES] & second[:, DOES] & IS_STRONG != 0
        is_race &= ~(strong & ((first[:, DOES] | second[:, DOES]) & IS_OF_BLOCK == 0))
        if not self._same_value:
            both = first[:, DOES] & second[:, DOES] & WRITES != 0
            is_race &= ~(both & (first[:, WRITTEN] != 0) & (first[:, WRITTEN] == second[:, WRITTEN]))
        first, second, start, end = first[is_race], second[is_race], start[is_race], end[is_race]
        does = WRITES | FREES
        places = np.stack((first[:, AT], second[:, AT], first[:, DOES] & does, second[:, DOES] & does), 1)
        _, begins, of_place = np.unique(places, axis=0, return_index=True, return_inverse=True)
        nbytes = np.bincount(of_place.reshape(-1), end - start, len(begins)).astype(np.int64)
        first_threads, second_threads = threads_at(first, start), threads_at(second, start)
        for place in np.argsort(begins):
            k = begins[place]
            first_at, second_at, first_does, second_does = places[k].tolist()
            yield Conflict(
                _kind(first_does, second_does),
                past.did,
                did,
                first_at,
                second_at,
                int(first_threads[k]),
                int(second_threads[k]),
                int(start[k]),
                int(nbytes[place]),
                bool(first_does & FREES),
            )


def _kind(first_does: int, second_does: int) -> str:
    if (first_does | second_does) & FREES:
        return USE_AFTER_FREE
    return READ_WRITE if not first_does else WRITE_WRITE if second_does else WRITE_READ


def common(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """int64 (n,) each: rows of `a` and of `b` that have bytes in common, the first and the end of these; ascending."""
    first = np.searchsorted(a[:, END], b[:, START], side="right")
    after = np.searchsorted(a[:, START], b[:, END], side="left")
    counts = np.maximum(after - first, 0)
    of_b = np.repeat(np.arange(len(b)), counts)
    of_a = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(first, counts)
    return of_a, of_b, np.maximum(a[of_a, START], b[of_b, START]), np.minimum(a[of_a, END], b[of_b, END])


def _not_covered(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The part of `old` that the later `new` does not replace: a read replaces only reads."""
    writes = old[:, DOES] & WRITES != 0
    left = [_without(old[writes], new[new[:, DOES] & WRITES != 0]), _without(old[~writes], new)]
    rows = np.concatenate(left)
    return rows[np.argsort(rows[:, START], kind="stable")]


def _without(old: np.ndarray, gone: np.ndarray) -> np.ndarray:
    """The parts of `old` that lie in none of the ranges `gone`."""
    if not len(old) or not len(gone):
        return old
    gaps = np.zeros((len(gone) + 1, old.shape[1]), np.int64)
    gaps[1:, START], gaps[:-1, END] = gone[:, END], gone[:, START]
    gaps[0, START], gaps[-1, END] = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    of_old, _, start, end = common(old, gaps)
    rows = old[of_old]
    rows[:, START], rows[:, END] = start, end
    return rows[end > start]


def text_of(conflict: Conflict, thread_text) -> str:
    """A sentence for a conflict: the threads, the address, and the effect of the other order.
    `thread_text(did, thread)` gives "thread ..." of a launch.
    """
    first_writes, second_writes = conflict.kind != READ_WRITE, conflict.kind != WRITE_READ
    first, second = conflict.first, conflict.second
    if conflict.kind == USE_AFTER_FREE:
        return _text_of_free(conflict, thread_text)
    result = {
        WRITE_WRITE: f"the bytes of {first.text} stay",
        WRITE_READ: "the old bytes are read",
        READ_WRITE: "the new bytes are read",
    }[conflict.kind]
    second_does, first_did = "writes" if second_writes else "reads", "wrote" if first_writes else "read"
    return (
        f"{thread_text(second, conflict.second_thread)} {second_does} global memory at {conflict.address:#x}, which "
        f"{thread_text(first, conflict.first_thread)} {first_did}; nothing orders the two: if the other one is first, "
        f"{result}; {conflict.nbytes} bytes in common"
    )


def _text_of_free(conflict: Conflict, thread_text) -> str:
    """The sentence does not say which of the two writes."""
    first, second = conflict.first, conflict.second
    free, other, thread = first, second, conflict.second_thread
    if not conflict.first_frees:
        free, other, thread = second, first, conflict.first_thread
    order = "frees before it" if is_before(first.node, second.node) else "frees; nothing orders the two"
    return (
        f"{thread_text(other, thread)} touches global memory at {conflict.address:#x}, which {free.text} {order}; "
        f"{conflict.nbytes} bytes in common"
    )
