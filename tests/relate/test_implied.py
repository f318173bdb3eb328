"""What follows from relations, worked out by hand: spans, longest chains, pairs without need, rules, wasted work."""

import pytest

from gpuprof.errors import UsageError
from gpuprof.relate.critical import Path, longest, reaches
from gpuprof.relate.flow import Again, Unread
from gpuprof.relate.independent import Order, Pair, independent
from gpuprof.relate.journal import AccessRow, Journal, RelationRow, TaskRow
from gpuprof.relate.kinds import COPY_IN, LAUNCH, NONE, NUMBERS, RELATIONS, STATED
from gpuprof.relate.rules import Candidate, Group, Rule, groups, rules_of
from gpuprof.relate.spans import Leaf, Span, happened, spans
from gpuprof.relate.waste import Finding, Work, findings

# Spans.


def test_a_copy_happens_when_all_that_it_waits_for_has_ended():
    launches = {1: Leaf(10, 30), 2: Leaf(15, 50)}
    assert happened({3: 0, 4: 70, 5: 0}, launches, [(1, 3), (2, 3), (3, 5)]) == {
        1: Leaf(10, 30),
        2: Leaf(15, 50),
        3: Leaf(50, 50),
        4: Leaf(70, 70),
        5: Leaf(50, 50),
    }


def test_tasks_span_their_parts():
    """0 { 1 { 2, 3 }, 4 }, and the virtual task 5 of 3 and 4."""
    leaves = {2: Leaf(10, 20), 3: Leaf(15, 40), 4: Leaf(50, 60)}
    assert spans(range(6), {0: [1, 4], 1: [2, 3], 5: [3, 4]}, leaves) == {
        0: Span(10, 60, 0, 45),
        1: Span(10, 40, 0, 35),
        2: Span(10, 20, 10, 0),
        3: Span(15, 40, 25, 0),
        4: Span(50, 60, 10, 0),
        5: Span(15, 60, 0, 35),
    }


def test_a_part_that_is_reached_twice_counts_once():
    leaves = {2: Leaf(0, 7)}
    assert spans(range(3), {0: [1, 2], 1: [2]}, leaves)[0] == Span(0, 7, 0, 7)


def test_tasks_that_contain_each_other_have_an_end():
    found = spans(range(3), {0: [1], 1: [0, 2]}, {2: Leaf(3, 5)})
    assert (found[0].begin, found[0].end, found[1].begin, found[1].end) == (3, 5, 3, 5)


def test_a_task_without_parts_or_cycles_has_no_span():
    assert spans([0], {}, {}) == {}


# Chains.


def test_the_longest_chain():
    """A diamond whose lower side is longer, and a task beside it."""
    durations = {0: 5, 1: 10, 2: 20, 3: 1, 4: 25}
    assert longest(durations, [(0, 1), (0, 2), (1, 3), (2, 3)]) == Path(26, (0, 2, 3))
    assert longest({}, []) == Path(0, ())


@pytest.mark.parametrize("start, end, found", [(0, 3, True), (1, 2, False), (0, 4, False), (2, 3, True)])
def test_chains_of_needs(start, end, found):
    assert (
        reaches(
            start,
            end,
            {
                0: [1, 2],
                1: [3],
                2: [3],
            },
        )
        is found
    )


def test_orders_without_need():
    """Three launches in a row, of which the third reads what the first wrote; the second is alone."""
    of = {1: (0, 100), 2: (110, 150), 3: (160, 260)}
    orders = [Order(1, 2, "stream"), Order(2, 3, "stream")]
    assert list(independent(of, orders, [(1, 3)])) == [
        # without the first order task 2 begins with task 1, so 110 earlier, but 1 still has to end: 150 - 100
        Pair(1, 2, "stream", 50),
        # task 3 could begin with task 2, 50 earlier
        Pair(2, 3, "stream", 50),
    ]


def test_a_need_over_a_third_task_counts():
    of = {1: (0, 100), 2: (110, 150), 3: (160, 260)}
    assert list(independent(of, [Order(1, 3, "event")], [(1, 2), (2, 3)])) == []


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
        ({}, "F: expected tables [[virtual]] alone"),
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


def test_findings():
    kinds = {0: COPY_IN, 1: LAUNCH, 2: LAUNCH, 3: COPY_IN, 4: COPY_IN}
    same = [(0, None, 0, 8)]
    assert findings(
        kinds,
        [Unread(0, 7, 16, None), Unread(1, 7, 4, 2)],
        [Again(3, 7, 1, 9, 8), Again(4, 7, 1, None, 8)],
        [Work(1, 77, same, 4), Work(2, 77, same, 4), Work(5, 77, [], 4), Work(6, 78, same, 4)],
    ) == [
        Finding("copied in and never read", 0, None, 7, 16),
        Finding("written and never read", 1, 2, 7, 4),
        Finding("computed twice", 2, 1, None, 4),
        Finding("copied back and forth", 3, 9, 7, 8),
        Finding("copied again", 4, 1, 7, 8),
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
