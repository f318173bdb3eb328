"""Flows between tasks, beside a replay that knows of every byte who wrote it last and who has read it."""

import random
from collections import Counter

import pytest

from gpuprof.relate.flow import Again, Flow, Flows, Unread
from tests.relate.test_ranges import addresses, drawn, ranges


def test_a_buffer_that_is_filled_read_and_filled_again():
    flows = Flows()
    flows.add(0, 100, 8)
    flows.access(1, 0, [], [(100, 108)])
    flows.access(2, 0, [(100, 104)], [])
    flows.access(3, 0, [], [(102, 106)])
    assert flows.finish() == (
        [
            Flow("produces for", 1, 2, 0, 4),
            Flow("writes before", 1, 3, 0, 4),
            Flow("reads before", 2, 3, 0, 2),
        ],
        [Unread(1, 0, 2, None), Unread(1, 0, 2, 3), Unread(3, 0, 4, None)],
        [],
    )


def test_a_task_that_changes_a_buffer_in_place():
    flows = Flows()
    flows.add(7, 0, 4)
    flows.access(1, 7, [], [(0, 4)])
    flows.access(2, 7, [(0, 4)], [(0, 4)])
    flows.access(3, 7, [(0, 4)], [])
    assert flows.finish() == (
        [Flow("produces for", 1, 2, 7, 4), Flow("writes before", 1, 2, 7, 4), Flow("produces for", 2, 3, 7, 4)],
        [],
        [],
    )


def test_bytes_that_go_to_the_host_and_come_back():
    flows = Flows(copies_out={2})
    flows.add(0, 0, 8)
    flows.access(1, 0, [], [(0, 6)])
    flows.access(2, 0, [(0, 8)], [])
    flows.access(3, 0, [], [(4, 8)], [(4, 8)])
    assert flows.inputs[2] == [(0, 1, 0, 6), (0, None, 6, 8)]
    _, _, again = flows.finish()
    assert again == [Again(3, 0, 1, 2, 2)]


def replay(accesses) -> tuple[Counter, Counter]:
    """The flows and the unread bytes of one buffer, byte by byte."""
    writer, readers = {}, {}
    flows, unread = Counter(), Counter()
    for task, reads, writes in accesses:
        for byte in sorted(reads):
            if writer.get(byte, task) != task:
                flows["produces for", writer[byte], task] += 1
            readers.setdefault(byte, set()).add(task)
        for byte in sorted(writes):
            if writer.get(byte, task) != task:
                flows["writes before", writer[byte], task] += 1
                if not readers.get(byte, set()) - {writer[byte]}:
                    unread[writer[byte], task] += 1
            for reader in readers.get(byte, set()) - {task}:
                flows["reads before", reader, task] += 1
            writer[byte], readers[byte] = task, set()
    for byte, task in writer.items():
        if not readers[byte] - {task}:
            unread[task, None] += 1
    return flows, unread


@pytest.mark.parametrize("seed", range(300))
def test_random_accesses(seed):
    rng = random.Random(seed)
    flows = Flows()
    flows.add(0, 0, 80)
    accesses = []
    for task in sorted(rng.choices(range(8), k=rng.randrange(1, 12))):
        reads, writes = ranges(*drawn(rng)), ranges(*drawn(rng))
        flows.access(task, 0, reads.pairs(), writes.pairs())
        accesses.append((task, addresses(reads), addresses(writes)))
    found, lost, _ = flows.finish()
    expected, expected_lost = replay(accesses)
    assert {(flow.kind, flow.source, flow.target): flow.nbytes for flow in found} == dict(expected)
    assert {(row.task, row.replaced_by): row.nbytes for row in lost} == dict(expected_lost)
