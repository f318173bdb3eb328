"""What follows from relations, worked out by hand: spans, longest chains, pairs without need, rules, wasted work."""

import random

import numpy as np
import pytest

from gpuprof.errors import UsageError
from gpuprof.relate.critical import Needs, Path, longest
from gpuprof.relate.data_flow import AGAIN, FLOW, NO_TASK, UNREAD, Observed
from gpuprof.relate.independent import Order, Pair, independent
from gpuprof.relate.journal import AccessRow, Journal, RelationRow, TaskRow
from gpuprof.relate.relation_rules import Candidate, Group, Rule, groups, rules_of
from gpuprof.relate.task_kinds import LAUNCH, NONE, NUMBERS, RELATIONS, STATED
from gpuprof.relate.task_spans import NEVER, Leaves, happened, spans
from gpuprof.relate.waste import FINDINGS, NO_BUFFER, WORK, findings

# Spans.


def leaves_of(n, times):
    begin, end = np.full(n, NEVER, np.int64), np.full(n, NEVER, np.int64)
    for task, (first, last) in times.items():
        begin[task], end[task] = first, last
    return Leaves(begin, end)


def columns(pairs):
    table = np.array(pairs, np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def spans_of(parents, links, times, buffers=(), copies=()):
    """(begin, end, own, parts) of each task."""
    flags = (np.isin(np.arange(len(parents)), each) for each in (buffers, copies))
    found = spans(np.array(parents, np.int64), columns(links), leaves_of(len(parents), times), *flags)
    return list(zip(*(each.tolist() for each in found), strict=True))


def test_a_copy_happens_when_all_that_it_waits_for_has_ended():
    launches = leaves_of(6, {1: (10, 30), 2: (15, 50)})
    floors = np.array([NEVER, NEVER, NEVER, 0, 70, 0], np.int64)
    begin, end = happened(launches, floors, columns([(1, 3), (2, 3), (3, 5)]))
    assert begin.tolist() == [NEVER, 10, 15, 50, 70, 50]
    assert end.tolist() == [NEVER, 30, 50, 50, 70, 50]


def test_tasks_span_their_parts():
    """0 { 1 { 2, 3 }, 4 }, and the virtual task 5 of 3 and 4."""
    leaves = {2: (10, 20), 3: (15, 40), 4: (50, 60)}
    assert spans_of([-1, 0, 1, 1, 0, -1], [(5, 3), (5, 4)], leaves) == [
        (10, 60, 0, 45),
        (10, 40, 0, 35),
        (10, 20, 10, 0),
        (15, 40, 25, 0),
        (50, 60, 10, 0),
        (15, 60, 0, 35),
    ]


def test_a_command_buffer_runs_while_its_draws_do():
    """Task 1 is one of a copy and two draws, with a shader each; 6 is one of copies alone. All are parts of task 0."""
    leaves = {2: (0, 0), 4: (50, 90), 5: (70, 95), 7: (3, 3), 8: (9, 9)}
    found = spans_of([-1, 0, 1, 1, 3, 1, 0, 6, 6], [], leaves, buffers=[1, 6])
    assert [found[task][:2] for task in (0, 1, 3, 6)] == [(0, 95), (50, 95), (50, 90), (3, 9)]
    timed = leaves | {2: (0, 5), 7: (3, 6)}
    found = spans_of([-1, 0, 1, 1, 3, 1, 0, 6, 6], [], timed, buffers=[1, 6], copies=[2, 7])
    assert [found[task] for task in (1, 6)] == [(50, 95, 0, 70), (3, 9, 0, 3)]


def test_a_part_that_is_reached_twice_counts_once():
    assert spans_of([-1, 0, 1], [(0, 2)], {2: (0, 7)})[0] == (0, 7, 0, 7)


def test_tasks_that_contain_each_other_have_an_end():
    found = spans_of([-1, 0, 1], [(1, 0)], {2: (3, 5)})
    assert [span[:2] for span in found] == [(3, 5)] * 3


def test_a_task_without_parts_or_cycles_has_no_span():
    assert spans_of([-1], [], {}) == [(NEVER, NEVER, 0, 0)]


def replayed(parents, links, times):
    """The same by sets of all parts, for graphs without circles."""
    n = len(parents)
    parts = [{k for k in range(n) if parents[k] == task} | {b for a, b in links if a == task} for task in range(n)]

    def below(task):
        return parts[task].union(*(below(part) for part in parts[task]))

    def own(task):
        begin, end = times.get(task, (0, 0))
        return end - begin

    def span(task):
        those = [each for each in map(span, parts[task]) if each is not None]
        if own(task) or not those:
            return times.get(task)
        return min(begin for begin, _ in those), max(end for _, end in those)

    return [(*(span(task) or (NEVER, NEVER)), own(task), sum(own(part) for part in below(task))) for task in range(n)]


def is_below(task, top, parents, links):
    parts = [k for k in range(len(parents)) if parents[k] == top] + [b for a, b in links if a == top]
    return task == top or any(is_below(task, part, parents, links) for part in parts)


@pytest.mark.parametrize("seed", range(200))
def test_spans_of_random_tasks(seed):
    """Virtual tasks that contain parts of others, others whole, and each other."""
    rng = random.Random(seed)
    n = rng.randrange(2, 14)
    parents = [rng.randrange(-1, task) for task in range(n)]
    links = []
    for _ in range(rng.randrange(2 * n)):
        source, target = rng.sample(range(n), 2)
        if (source, target) not in links and not is_below(source, target, parents, links):
            links.append((source, target))
    times = {task: (begin, begin + rng.choice((0, 0, 5, 20))) for task in range(n) if (begin := rng.randrange(50)) % 2}
    assert spans_of(parents, links, times) == replayed(parents, links, times)


@pytest.mark.long
def test_virtual_tasks_over_hundreds_of_thousands_of_others():
    """Three views of the same 300,000 tasks: all of them in frames of 30, each tenth one, and both views in a third.
    Frames and views are each a chain of virtual tasks, too: the last contains all those before it.
    """
    n, size = 300_000, 30
    leaves = {task: (10 * task, 10 * task + 7) for task in range(n)}
    frames = [(n + task // size, task) for task in range(n)]
    last = n + n // size
    chain = [(n + k, n + k - 1) for k in range(1, n // size)]
    tenth = [(last, task) for task in range(0, n, 10)]
    both = [(last + 1, last - 1), (last + 1, last)]
    found = spans_of([-1] * (last + 2), frames + chain + tenth + both, leaves)
    assert found[n + 5] == (0, 10 * 179 + 7, 0, 7 * 180)
    assert found[last - 1] == (0, 10 * (n - 1) + 7, 0, 7 * n)
    assert found[last] == (0, 10 * (n - 10) + 7, 0, 7 * n // 10)
    assert found[last + 1] == (0, 10 * (n - 1) + 7, 0, 7 * n)


# Chains.


def needs_of(*pairs):
    return Needs(*columns(pairs))


def longest_of(durations, *pairs):
    return longest(np.array(sorted(durations)), np.array([durations[k] for k in sorted(durations)]), needs_of(*pairs))


def test_the_longest_chain():
    """A diamond whose lower side is longer, and a task beside it."""
    durations = {10: 5, 11: 10, 12: 20, 13: 1, 14: 25}
    assert longest_of(durations, (11, 13), (10, 11), (12, 13), (10, 12)) == Path(26, (10, 12, 13))
    assert longest_of(durations, (13, 99), (9, 14)) == Path(25, (14,))
    assert longest(np.empty(0, np.int64), np.empty(0, np.int64), needs_of()) == Path(0, ())


@pytest.mark.parametrize("start, end, found", [(0, 3, True), (1, 2, False), (0, 4, False), (2, 3, True)])
def test_chains_of_needs(start, end, found):
    assert needs_of((1, 3), (0, 1), (0, 2), (2, 3), (0, 1)).reaches(start, end) is found


def test_orders_without_need():
    """Three launches in a row, of which the third reads what the first wrote; the second is alone."""
    of = {1: (0, 100), 2: (110, 150), 3: (160, 260)}
    orders = [Order(1, 2, "stream"), Order(2, 3, "stream")]
    assert list(independent(of, orders, needs_of((1, 3)))) == [
        # without the first order task 2 begins with task 1, so 110 earlier, but 1 still has to end: 150 - 100
        Pair(1, 2, "stream", 50),
        # task 3 could begin with task 2, 50 earlier
        Pair(2, 3, "stream", 50),
    ]


def test_a_launch_that_waits_for_several():
    """Without the order of the last to end, the third begins when the other has ended."""
    of = {1: (0, 100), 2: (0, 130), 3: (140, 240)}
    orders = [Order(1, 3, "event"), Order(2, 3, "stream"), Order(2, 3, "event")]
    assert list(independent(of, orders, needs_of())) == [
        Pair(2, 3, "stream", 40),
        Pair(2, 3, "event", 40),
        Pair(1, 3, "event", 10),
    ]


def test_a_need_over_a_third_task_counts():
    of = {1: (0, 100), 2: (110, 150), 3: (160, 260)}
    assert list(independent(of, [Order(1, 3, "event")], needs_of((1, 2), (2, 3)))) == []


# Rules.

CANDIDATES = [
    Candidate(0, "", ("x",)),
    Candidate(1, "first", ("target 1",)),
    Candidate(2, "draw", ("target 1", "x")),
    Candidate(4, "first", ("target 2",)),
    Candidate(5, "", ()),
]


@pytest.mark.parametrize(
    "key, pattern, expected",
    [
        ("kernel", "^first$|dr", [Group("v", (1, 2, 4))]),
        ("writes", "^x$", [Group("v", (0, 2))]),
        ("starts", "first", [Group("v 1", (1, 2)), Group("v 2", (4, 5))]),
        ("starts", "none", []),
    ],
)
def test_rules(key, pattern, expected):
    assert list(groups(Rule("v", key, pattern), CANDIDATES)) == expected


def test_rules_of_a_file():
    assert rules_of({"virtual": [{"name": "a", "kernel": "k"}, {"name": "b", "starts": "s"}]}, "F") == [
        Rule("a", "kernel", "k"),
        Rule("b", "starts", "s"),
    ]


@pytest.mark.parametrize(
    "content, error",
    [
        ({}, "F: expected only tables [[virtual]]"),
        ({"virtual": [{"name": "a"}]}, "F: rule 1: expected a name and one of kernel, writes, starts"),
        ({"virtual": [{"name": "a", "kernel": 3}]}, "F: rule 1: expected a table of texts"),
        (
            {"virtual": [{"name": "a", "reads": "x"}]},
            "F: rule 1: a rule has one of kernel, writes, starts, not 'reads'",
        ),
        (
            {"virtual": [{"name": "a", "kernel": "("}]},
            "F: rule 1: '(' is no regular expression: missing ), unterminated subpattern at position 0",
        ),
    ],
)
def test_what_is_no_file_of_rules(content, error):
    with pytest.raises(UsageError) as caught:
        rules_of(content, "F")
    assert str(caught.value) == error


# Wasted work.


def rows(dtype, *values):
    return np.array(list(values), dtype)


def test_findings():
    same, other = 33, 34  # hashes of what launches found
    found = findings(
        np.array([0, 3, 4]),
        Observed(
            rows(FLOW),
            rows(UNREAD, (0, 7, NO_TASK, 16), (1, 7, 2, 4)),
            rows(AGAIN, (3, 7, 1, 9, 8), (4, 7, 1, NO_TASK, 8)),
        ),
        rows(WORK, (1, 77, same, 4), (2, 77, same, 4), (5, 77, other, 4), (6, 78, same, 4)),
    )
    assert [(FINDINGS[kind], *rest) for kind, *rest in found.tolist()] == [
        ("copied in and never read", 0, NO_TASK, 7, 16),
        ("written and never read", 1, 2, 7, 4),
        ("computed twice", 2, 1, NO_BUFFER, 4),
        ("copied back and forth", 3, 9, 7, 8),
        ("copied again", 4, 1, 7, 8),
    ]


# The journal.


def journal():
    rows, names = [], []
    return Journal(lambda kind, found: rows.extend(found), lambda number, text: names.append(text)), rows, names


def test_what_a_journal_writes():
    told, rows, names = journal()
    told.begin("draw", "host", 5, -1, False, 100)
    launch = told.leaf(LAUNCH, "k", "stream 1", launch=0, work=9)
    told.assign(6, launch)
    virtual = told.begin("target", "host", 7, -1, True, 120)
    told.relate("contains", 7, [6], [])
    told.relate("is needed by", 6, [5], [3])
    told.relate("produces", 6, [], [3])
    told.access(launch, 3, 1, 0, 64)
    told.end("draw", 5)
    told.end("target", 7)
    told.finish()
    assert (launch, virtual, told.n_tasks) == (1, 2, 3)
    assert names == ["draw", "host", "k", "stream 1", "target"]
    assert sorted(rows, key=lambda row: (type(row).__name__, row)) == [
        AccessRow(1, 3, 1, 0, 64),
        RelationRow(NUMBERS["contains"], 2, 1, NONE),
        RelationRow(NUMBERS["depends on"], 0, 1, 3),
        RelationRow(NUMBERS["produces"], 1, NONE, 3),
        TaskRow(0, NONE, 0, 0, 0, 1, NONE, 0, 3, 100, 0),
        TaskRow(1, 0, LAUNCH, 0, 2, 3, 0, 1, 1, 0, 9),
        TaskRow(2, 0, 0, 1, 4, 1, NONE, 2, 4, 120, 0),
    ]


@pytest.mark.parametrize(
    "act, error",
    [
        (lambda told: told.end("b", -1), "task 'b' ends, but the innermost open task is 'a': end that one first"),
        (lambda told: told.relate("likes", 0, [], []), "tasks cannot be related by 'likes'; the kinds are "),
        (lambda told: told.relate("contains", 0, [0], []), "a task cannot be related to itself by 'contains'"),
        (lambda told: told.task_of(9), "no task has the identifier 9: begin the task before it is related"),
    ],
)
def test_what_a_journal_refuses(act, error):
    told, _, _ = journal()
    told.begin("a", "host", 0, -1, False, 0)
    with pytest.raises(UsageError) as caught:
        act(told)
    assert str(caught.value).startswith(error)


def test_every_kind_has_an_inverse_that_can_be_stated():
    for kind in RELATIONS[:-1]:
        assert STATED[kind.name] == (kind.name, False)
    assert STATED["is needed by"] == ("depends on", True)
    assert "is sibling of" not in STATED
