"""What a program may rely on of its streams: rules one by one, and random streams beside a brute force over a graph."""

import random

import pytest

from gpuprof.relate.happens_before import StreamOrder, is_before

# What is asked between a command on stream 1 and one on stream 2, of which number 3 does not block: whether the second
# is then behind the first.
BETWEEN = {
    "nothing": ([], False),
    "event": ([("record", 0, 1), ("wait", 0, 2)], True),
    "event_not_recorded": ([("wait", 0, 2)], False),
    "event_recorded_too_late": ([("wait", 0, 2), ("record", 0, 1)], False),
    "event_of_another_stream": ([("record", 0, 2), ("wait", 0, 2)], False),
    "another_stream_waits": ([("record", 0, 1), ("wait", 0, 4)], False),
    "event_through_another_stream": ([("record", 0, 1), ("wait", 0, 4), ("record", 1, 4), ("wait", 1, 2)], True),
    "host_waits_for_stream": ([("host_waits_for_stream", 1)], True),
    "host_waits_for_another_stream": ([("host_waits_for_stream", 2)], False),
    "host_waits_for_event": ([("record", 0, 1), ("host_waits_for_event", 0)], True),
    "host_waits_for_all": ([("host_waits_for_all",)], True),
    "default_stream": ([("ask", 0)], True),
    "event_of_the_default_stream": ([("record", 0, 0), ("wait", 0, 2)], True),
    "stream_that_does_not_block": ([("ask", 3)], False),
}


def carried_out(commands):
    order = StreamOrder()
    order.make_non_blocking(3)
    nodes = [getattr(order, name)(*arguments) for name, *arguments in commands]
    return order, [node for node in nodes if node is not None]


@pytest.mark.parametrize("name", BETWEEN)
def test_what_orders_two_streams(name):
    between, expected = BETWEEN[name]
    _, nodes = carried_out([("ask", 1), *between, ("ask", 2)])
    assert is_before(nodes[0], nodes[-1]) == expected


@pytest.mark.parametrize("stream, expected", [(1, True), (3, False)])
def test_the_default_stream_waits_for_blocking_streams_alone(stream, expected):
    _, (first, second, third) = carried_out([("ask", stream), ("ask", 0), ("ask", stream)])
    assert (is_before(first, second), is_before(second, third)) == (expected, expected)
    assert is_before(first, third)


def test_a_dependent_launch_overlaps_the_one_before_it_alone():
    """What comes behind it is behind both."""
    _, nodes = carried_out([("ask", 1), ("ask", 1), ("ask", 1, True), ("ask", 1)])
    assert [is_before(node, nodes[2]) for node in nodes[:2]] == [True, False]
    assert [is_before(node, nodes[3]) for node in nodes[:3]] == [True, True, True]


def test_a_dependent_launch_waits_where_something_comes_between():
    for between in (("host_waits_for_stream", 1), ("ask", 0)):
        _, nodes = carried_out([("ask", 1), between, ("ask", 1, True)])
        assert is_before(nodes[0], nodes[-1])


class Graph:
    """The same rules as edges between points, and an order as a way from one to the other. Points of the default stream
    have edges from the ends of all blocking streams, and to what these do next.
    """

    def __init__(self):
        self.edges, self.ends, self.events, self.host = [], {}, {}, []

    def point(self, stream, *more):
        ends = [self.ends.get(stream), *self.host, *more]
        if stream == 0:
            ends += [end for other, end in self.ends.items() if other != 3]
        elif stream != 3:
            ends.append(self.ends.get(0))
        self.edges.append({end for end in ends if end is not None})
        self.ends[stream] = len(self.edges) - 1
        return self.ends[stream]

    def ask(self, stream):
        return self.point(stream)

    def record(self, event, stream):
        self.events[event] = self.point(stream)

    def wait(self, event, stream):
        self.point(stream, self.events.get(event))

    def wait_for_all(self, stream):
        self.point(stream, *self.ends.values())

    def host_waits_for_event(self, event):
        self.host.append(self.events.get(event))

    def host_waits_for_stream(self, stream):
        self.host.append(self.point(0) if stream == 0 else self.ends.get(stream))

    def host_waits_for_all(self):
        self.host += self.ends.values()

    def reaches(self, first, second):
        seen, left = set(), [second]
        while left:
            point = left.pop()
            if point not in seen:
                seen.add(point)
                left += self.edges[point]
        return first in seen


ARGUMENTS = {
    "ask": "s",
    "record": "es",
    "wait": "es",
    "wait_for_all": "s",
    "host_waits_for_event": "e",
    "host_waits_for_stream": "s",
    "host_waits_for_all": "",
}


def random_commands(seed, length):
    chosen = random.Random(seed)
    names = ["ask"] * 6 + ["record", "wait"] * 3 + list(ARGUMENTS)[3:]
    for _ in range(length):
        name = chosen.choice(names)
        yield name, *(chosen.randrange(4) for _ in ARGUMENTS[name])


@pytest.mark.parametrize("seed", range(8))
def test_random_streams_beside_a_graph(seed):
    order, graph, nodes, n_ordered = StreamOrder(), Graph(), [], 0
    order.make_non_blocking(3)
    for name, *arguments in random_commands(seed, 60):
        found = getattr(order, name)(*arguments), getattr(graph, name)(*arguments)
        if name == "ask":
            for node, point in nodes:
                expected = graph.reaches(point, found[1])
                assert is_before(node, found[0]) == expected
                n_ordered += expected
            nodes.append(found)
    assert 0 < n_ordered < len(nodes) * (len(nodes) - 1) // 2
