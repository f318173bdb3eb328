"""Flows between tasks, beside a replay that knows of every byte who wrote it last and who has read it."""

import random
from collections import Counter

import pytest

from gpuprof.relate.data_flow import NO_TASK, Flows, Rows
from gpuprof.relate.task_kinds import NAMES
from tests.relate.test_byte_ranges import addresses, drawn, ranges


def found(flows):
    """(kind, source, target, buffer, nbytes), (task, buffer, replaced_by, nbytes) and (task, buffer, writer,
    copied_out_by, nbytes) of each flow, of what nobody read, and of what was there already.
    """
    observed = flows.finish()
    named = [(NAMES[kind], *row) for kind, *row in observed.flows.tolist()]
    return named, observed.unread.tolist(), observed.again.tolist()


def test_a_buffer_that_is_filled_read_and_filled_again():
    flows = Flows()
    flows.add(0, 100, 8)
    flows.access(1, 0, [], [(100, 108)])
    flows.access(2, 0, [(100, 104)], [])
    flows.access(3, 0, [], [(102, 106)])
    assert found(flows) == (
        [("produces for", 1, 2, 0, 4), ("writes before", 1, 3, 0, 4), ("reads before", 2, 3, 0, 2)],
        [(1, 0, NO_TASK, 2), (1, 0, 3, 2), (3, 0, NO_TASK, 4)],
        [],
    )


def test_a_task_that_changes_a_buffer_in_place():
    flows = Flows()
    flows.add(7, 0, 4)
    flows.access(1, 7, [], [(0, 4)])
    flows.access(2, 7, [(0, 4)], [(0, 4)])
    flows.access(3, 7, [(0, 4)], [])
    assert found(flows) == (
        [("produces for", 1, 2, 7, 4), ("writes before", 1, 2, 7, 4), ("produces for", 2, 3, 7, 4)],
        [],
        [],
    )


def test_bytes_that_go_to_the_host_and_come_back():
    flows = Flows(copies_out={2})
    flows.add(0, 0, 8)
    flows.access(1, 0, [], [(0, 6)])
    flows.access(2, 0, [(0, 8)], [])
    flows.access(3, 0, [], [(4, 8)], [(4, 8)])
    _, _, again = found(flows)
    assert again == [(3, 0, 1, 2, 2)]


def test_what_a_task_finds_where_it_reads():
    """Two writes of one task that touch are one."""
    flows = Flows()
    flows.add(5, 0, 16)
    flows.access(1, 5, [], [(0, 4)])
    flows.access(1, 5, [], [(4, 6)])
    flows.access(2, 5, [], [(6, 8)])
    assert flows.inputs(5, [(2, 7), (9, 11)]) == [(5, 1, 2, 6), (5, 2, 6, 7), (5, NO_TASK, 9, 11)]


def test_rows_that_were_packed_are_summed(monkeypatch):
    """More flows than wait, of two tasks by turns."""
    monkeypatch.setattr(Rows, "MOST", 10)
    flows = Flows()
    flows.add(0, 0, 8)
    n = 25
    for _ in range(n):
        flows.access(1, 0, [], [(0, 8)])
        flows.access(2, 0, [(0, 1)], [])
        flows.access(1, 0, [], [])
    assert found(flows)[0] == [("produces for", 1, 2, 0, n), ("reads before", 2, 1, 0, n - 1)]


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
            unread[task, NO_TASK] += 1
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
    tied, lost, _ = found(flows)
    expected, expected_lost = replay(accesses)
    assert {(kind, source, target): nbytes for kind, source, target, _, nbytes in tied} == dict(expected)
    assert {(task, by): nbytes for task, _, by, nbytes in lost} == dict(expected_lost)
