"""Flows between tasks, beside a replay that knows of every byte who wrote it last and who has read it."""

import random
from collections import Counter

import pytest

from gpuprof.relate.flow import Flow, Flows, Unread
from gpuprof.relate.ranges import none, one
from tests.relate.test_ranges import addresses, drawn, ranges


def test_a_buffer_that_is_filled_read_and_filled_again():
    flows = Flows()
    flows.open(0, 100, 8)
    flows.access(1, 0, none(), one(100, 8))
    flows.access(2, 0, one(100, 4), none())
    flows.access(3, 0, none(), one(102, 4))
    assert flows.finish() == (
        [
            Flow("produces for", 1, 2, 0, 4),
            Flow("writes before", 1, 3, 0, 4),
            Flow("reads before", 2, 3, 0, 2),
        ],
        [Unread(1, 0, 2, None), Unread(1, 0, 2, 3), Unread(3, 0, 4, None)],
    )


def test_a_task_that_changes_a_buffer_in_place():
    flows = Flows()
    flows.open(7, 0, 4)
    flows.access(1, 7, none(), one(0, 4))
    flows.access(2, 7, one(0, 4), one(0, 4))
    flows.access(3, 7, one(0, 4), none())
    assert flows.finish() == (
        [Flow("produces for", 1, 2, 7, 4), Flow("writes before", 1, 2, 7, 4), Flow("produces for", 2, 3, 7, 4)],
        [],
    )


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
    flows.open(0, 0, 80)
    accesses = []
    for task in sorted(rng.choices(range(8), k=rng.randrange(1, 12))):
        reads, writes = ranges(*drawn(rng)), ranges(*drawn(rng))
        flows.access(task, 0, reads, writes)
        accesses.append((task, addresses(reads), addresses(writes)))
    found, lost = flows.finish()
    expected, expected_lost = replay(accesses)
    assert {(flow.kind, flow.source, flow.target): flow.nbytes for flow in found} == dict(expected)
    assert {(row.task, row.replaced_by): row.nbytes for row in lost} == dict(expected_lost)
