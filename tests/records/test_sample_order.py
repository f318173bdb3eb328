"""Samples on their way from the engine to the file: in order, each to its launch, in whole chunks."""

import numpy as np
from hypothesis import given, settings, strategies as st

from gpuprof.records.writer import RecordWriter
from gpuprof.tables.samples import SM_SHIFT, WIDE
from gpuprof.timing.buffer import by_launch, in_order

# (cycle, SM, slot, launch), few values of each, so that equal ones are drawn; and the largest there can be
PLACES = st.lists(
    st.tuples(
        st.sampled_from([0, 7, 1 << 40]), st.sampled_from([0, 1, 1023]), st.sampled_from([0, 3, 255]), st.integers(0, 2)
    ),
    min_size=1,
    max_size=60,
)


def samples(places) -> np.ndarray:
    rows = np.zeros(len(places), WIDE.dtype)
    for number, (row, (cycle, sm, slot, launch)) in enumerate(zip(rows, places, strict=True)):
        row["cycle"], row["stall_sm"], row["warp_slot"], row["launch"] = cycle, sm << SM_SHIFT | 5, slot, launch
        row["pc"] = number
    return rows


@given(PLACES)
@settings(max_examples=100)
def test_order_is_cycle_sm_slot_and_then_as_they_came(places):
    expected = sorted(range(len(places)), key=lambda number: places[number][:3])  # Python's sort is stable
    assert in_order(samples(places)).tolist() == expected


@given(PLACES)
@settings(max_examples=50)
def test_each_launch_gets_its_own_in_order(places):
    found = {launch: rows["pc"].tolist() for launch, rows in by_launch(samples(places))}
    assert found == {
        launch: [number for number, place in enumerate(places) if place[3] == launch]
        for launch in {place[3] for place in places}
    }
    assert list(found) == sorted(found)
    assert list(by_launch(samples([]))) == []


def test_a_chunk_does_not_keep_what_stood_in_its_room(tmp_path):
    """A full chunk of one launch, then one sample of the next in the same room: the second chunk has the one row
    alone.
    """
    sizes = {}
    for n in (8192, 8193):
        with RecordWriter(tmp_path / f"{n}.gprec") as writer:
            for launch, rows in by_launch(samples([(cycle, 0, 0, cycle // 8192) for cycle in range(n)])):
                writer.samples(launch, rows)
        sizes[n] = (tmp_path / f"{n}.gprec").stat().st_size
    assert sizes[8193] - sizes[8192] == 12 + 8 + 32  # a chunk's header, its launch and count, a row
