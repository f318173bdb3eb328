"""Flows from columns, next to those that are followed access by access."""

import random

import numpy as np
import pytest

from gpuprof.correlate.tasks.observed_accesses import at_once, one_by_one
from gpuprof.correlate.tasks.task_rows import Accesses, Tasks
from gpuprof.relate import flow_columns
from gpuprof.relate.task_kinds import COPY_OUT, FREES, LAUNCH, UNCHANGED, WRITES

SIZES = (1, 7, 30)


def drawn_tasks(rng: random.Random, n: int) -> Tasks:
    """Launches, some with the same work, and copies to the host."""
    columns = {name: np.zeros(n, np.int64) for name in Tasks._fields}
    columns["task"] = np.sort(np.array(rng.sample(range(3 * n), n)))
    columns["kind"] = np.array([rng.choice((LAUNCH, COPY_OUT)) for _ in range(n)])
    columns["work"] = np.where(columns["kind"] == LAUNCH, [rng.randrange(3) for _ in range(n)], 0)
    return Tasks(**columns)


def drawn_accesses(rng: random.Random, tasks: Tasks, n: int) -> Accesses:
    """A task may come back; ranges of a visit are apart, or touch, or are empty."""
    rows, task = [], 0
    for _ in range(n):
        task = rng.choice((task, *tasks.task.tolist()))
        buffer = rng.randrange(len(SIZES))
        for writes in rng.choice(((0,), (WRITES,), (0, WRITES))):
            edges = sorted(rng.choices(range(SIZES[buffer] + 1), k=2 * rng.randrange(3)))
            for first, end in zip(edges[::2], edges[1::2], strict=True):
                rows.append((task, buffer, writes | rng.choice((0, UNCHANGED)) * (writes > 0), first, end))
        if rng.random() < 0.02:
            rows.append((task, buffer, FREES, 0, 0))
    return Accesses(*np.array(rows, np.int64).reshape(-1, 5).T)


@pytest.mark.parametrize("seed", range(60))
def test_random_accesses(seed):
    rng = random.Random(seed)
    tasks = drawn_tasks(rng, 8)
    parameters = [{"nbytes": nbytes} for nbytes in SIZES]
    accesses = drawn_accesses(rng, tasks, rng.choice((0, 1, 5, 100)))
    accesses = one_visit_a_turn(accesses)
    (observed, works), (expected, expected_works) = (
        each(tasks, parameters, accesses) for each in (at_once, one_by_one)
    )
    assert [rows.tolist() for rows in observed] == [rows.tolist() for rows in expected]
    assert works.tolist() == expected_works.tolist()


def one_visit_a_turn(accesses: Accesses) -> Accesses:
    """Without the rows that follow a row of the same turn, buffer and direction and begin before it has ended."""
    kept, ends, before = [], {}, None
    for k, (task, buffer, flags, first, end) in enumerate(zip(*(c.tolist() for c in accesses), strict=True)):
        if task != before:
            ends, before = {}, task
        key = (buffer, flags & WRITES)
        if flags & FREES or first >= ends.get(key, 0):
            kept.append(k)
            ends[key] = max(end, ends.get(key, 0))
    return Accesses(*(column[kept] for column in accesses))


def test_what_columns_do_not_take(monkeypatch):
    """A byte that a visit reads twice; ranges that are cut into too many pieces."""
    tasks = drawn_tasks(random.Random(0), 2)
    parameters = [{"nbytes": 8}]
    task = tasks.task[0]
    twice = Accesses(*np.array([(task, 0, 0, 0, 4), (task, 0, 0, 3, 5)], np.int64).T)
    assert at_once(tasks, parameters, twice) is None
    apart = Accesses(*np.array([(task, 0, 0, 0, 4), (task, 0, 0, 5, 6)], np.int64).T)
    assert at_once(tasks, parameters, apart) is not None
    monkeypatch.setattr(flow_columns, "LEAST_EVENTS", 1)
    monkeypatch.setattr(flow_columns, "MOST_EVENTS_PER_RANGE", 0)
    assert at_once(tasks, parameters, apart) is None
