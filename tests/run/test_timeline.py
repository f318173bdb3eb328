"""The clock of a program, by hand: a host of round numbers, and a GPU of one cycle a nanosecond."""

from dataclasses import replace

import pytest

from gpuprof.chips import load_chip
from gpuprof.chips.changes import renamed_with
from gpuprof.hosts import load_host
from gpuprof.run.launching.timeline import LAUNCH_QUEUE, Timeline
from gpuprof.run.observers.observer import StreamOperation
from gpuprof.tables.engines import ENGINE_IN, ENGINE_OUT

COSTS = {
    "launch_ns": 100, "record_ns": 10, "idle_wait_ns": 5, "wait_return_ns": 20, "graph_launch_ns": 70,
    "graph_node_ns": 1, "graph_instantiate_ns": 1000, "graph_instantiate_node_ns": 30, "graph_update_node_ns": 7,
    "cross_stream_ns": 300, "submit_ns": 0, "both_ways_share": 0.7, "row_ns": 2,
}  # fmt: skip
CHIP = renamed_with(load_chip("a100"), {"clock_mhz": 1000.0})


def timeline() -> Timeline:
    host = load_host("pcie4")
    return Timeline(replace(host, values=host.values | COSTS), CHIP)


def test_calls_take_the_hosts_time_and_a_graph_only_its_launch():
    clock = timeline()
    clock.call("record")
    clock.launch()
    seen = [clock.host_ns]
    clock.host_call("graph_instantiate", 3)
    clock.host_call("graph_update", 3)
    seen.append(clock.host_ns)
    clock.call("graph_launch")
    clock.begin_together("graph")
    for _ in range(3):
        clock.launch()
    clock.end_together()
    clock.launch()
    assert [*seen, clock.host_ns] == [110, 110 + 1000 + 90 + 21, 1221 + 70 + 100]


@pytest.mark.parametrize(
    ("end", "wanted"),
    [
        (0, 105),  # all is done
        (100, 105),
        (101, 121),  # the host sees the end 20 ns later
        (5000, 5020),
    ],
)
def test_a_wait(end, wanted):
    clock = timeline()
    clock.launch()
    clock.wait(end)
    assert clock.host_ns == wanted


def test_a_full_queue_of_launches_keeps_the_host():
    """The launch that finds LAUNCH_QUEUE others waits for the end of the oldest."""
    clock = timeline()
    for number in range(LAUNCH_QUEUE):
        clock.launch()
        clock.launch_ended(0, 1_000_000 + number)
    clock.begin_together("graph")
    clock.launch()
    clock.end_together()
    assert clock.host_ns == 100 * LAUNCH_QUEUE
    clock.launch()
    assert clock.host_ns == 1_000_000 + 100


def test_a_request_reaches_the_gpu_later():
    """By submit_ns, which a busy stream hides."""
    clock = timeline()
    clock.host = replace(clock.host, values=clock.host.values | {"submit_ns": 40})
    clock.launch()
    clock.ended(1, 130)
    clock.ended(2, 200)
    assert [clock.arrival(stream) for stream in (1, 2)] == [140, 200]


def test_which_streams_wait_for_the_default_stream():
    """Stream 2 does not block: CUDA C++ Programming Guide, implicit synchronization."""
    clock = timeline()
    clock.set_non_blocking(2)
    clock.ended(1, 500)
    clock.ended(2, 900)
    assert [clock.arrival(stream) for stream in (0, 1, 2, 3)] == [500, 500, 900, 0]
    clock.ended(0, 700)
    assert [clock.arrival(stream) for stream in (0, 1, 2, 3)] == [700, 700, 900, 700]
    assert clock.end_of_all == 900


def test_a_stream_sees_an_event_of_another_later():
    """By cross_stream_ns; a branch of a graph has no such delay."""
    clock = timeline()
    clock.sees(1, 1000)
    clock.begin_together("graph")
    clock.sees(2, 1000)
    assert (clock.end_of(1), clock.end_of(2)) == (1300, 1000)


def test_operations_on_engines():
    """The second copy out waits for the first; while it goes, the one in has 0.4 of its rate: 2 x 0.7 - 1."""
    clock = timeline()
    made = [
        StreamOperation(ENGINE_OUT, 0, 10, 1000, stream=1),
        StreamOperation(ENGINE_OUT, 0, 10, 1000, stream=2),
        StreamOperation(ENGINE_IN, 1500, 10, 100, stream=3),
    ]
    for operation in made:
        clock.carry_out(operation)
    times = [(operation.start_cycle, operation.end_cycle) for operation in made]
    assert times == [(0, 1010), (1010, 2020), (1500, 1510 + 250)]
    assert [clock.end_of(stream) for stream in (1, 2, 3)] == [1010, 2020, 1760]


def test_rows_of_one_copy_follow_each_other():
    clock = timeline()
    alone = clock.latency_ns(1500)
    clock.begin_together("copy")
    rows = [clock.latency_ns(1500) for _ in range(3)]
    clock.end_together()
    assert [alone, *rows, clock.latency_ns(1500)] == [1500, 1500, 2, 2, 1500]


def test_without_a_host_only_the_gpu_takes_time():
    clock = Timeline(None, CHIP)
    clock.launch()
    clock.call("allocate")
    assert clock.arrival(1) == 0
    clock.launch_ended(1, 400)
    clock.wait(400)
    assert (clock.present, clock.arrival(2)) == (400, 400)
