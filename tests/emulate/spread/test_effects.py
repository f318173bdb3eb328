"""The bytes that chunks read and write, and what comes of them on several processes, next to Python's sets."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings, strategies as st

from gpuprof.device.memory import GLOBAL_BASE, AddressSpace
from gpuprof.emulate.core.marks import Marks
from gpuprof.emulate.core.spaces import GlobalSpace
from gpuprof.emulate.memory.bulk_access import load, store
from gpuprof.emulate.spread import kernels, spread as spreading
from gpuprof.emulate.spread.effects import effects_of, note_written, reads_any, write_bytes
from gpuprof.emulate.trace_log.event_tally import Tally
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.emulate.watch.footprint import Footprint
from tests.support.spreading import spread_over

NBYTES = 3 * 4096


def bytes_of(words: np.ndarray) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(words.reshape(-1).view(np.uint8), bitorder="little")).tolist())


def bytes_of_pages(pages: np.ndarray, rows: np.ndarray) -> set[int]:
    return {4096 * page + byte for page, row in zip(pages.tolist(), rows, strict=True) for byte in bytes_of(row.copy())}


@st.composite
def accesses(draw):
    """(is_store, nbytes, addresses of 64 lanes, masks of two warps)."""
    nbytes = draw(st.sampled_from((1, 2, 4, 8)))
    stride = draw(st.sampled_from((0, nbytes, -nbytes, 3 * nbytes, 128)))
    lanes = draw(st.integers(0, 500)) * nbytes + stride * np.arange(64) % 8000
    whole = st.just(0xFFFFFFFF)
    masks = draw(st.lists(whole | st.integers(0, 0xFFFFFFFF), min_size=2, max_size=2))
    return draw(st.booleans()), nbytes, lanes.astype(np.int64), np.array(masks, np.uint32)


@settings(deadline=None)
@given(st.lists(accesses(), max_size=6))
def test_loads_and_stores_of_one_pass_are_noted(found):
    memory, n_words = np.zeros(NBYTES, np.uint8), NBYTES // 64
    marks = Marks(np.zeros(n_words, np.uint64), np.zeros(n_words, np.uint64), np.zeros(3, np.uint8))
    reads, writes, warps = set(), set(), np.arange(2, dtype=np.int64)
    ranges = np.array([GLOBAL_BASE]), np.array([GLOBAL_BASE + NBYTES])
    for is_store, nbytes, lanes, masks in found:
        row = np.zeros(64, np.uint64 if nbytes == 8 else np.uint32)
        view, shift = memory.view(f"u{nbytes}"), nbytes.bit_length() - 1
        given_layout = (GLOBAL_BASE, 1, 0, 0), *ranges, marks, nbytes, shift, 0, row
        assert (store if is_store else load)(view, lanes - 8 + GLOBAL_BASE, 8, -1, masks, warps, *given_layout)
        active = [at for k, at in enumerate(lanes.tolist()) if masks[k // 32] >> k % 32 & 1]
        touched = {at + byte for at in active for byte in range(nbytes)}
        if is_store:
            writes |= touched
        else:
            reads |= touched - writes
    assert bytes_of(marks.reads) == reads and bytes_of(marks.writes) == writes
    assert set(np.flatnonzero(marks.pages).tolist()) == {at // 4096 for at in reads | writes}


places = st.lists(st.tuples(st.integers(0, NBYTES - 8), st.integers(1, 200)), max_size=5).map(
    lambda found: [(at, min(n, NBYTES - at)) for at, n in found]
)


def noted(footprint: Footprint, reads, writes) -> None:
    for mark, ranges in (("load", reads), ("store", writes)):
        for at, nbytes in ranges:
            one = np.zeros(1, np.int64), np.array([GLOBAL_BASE + at]), np.array([nbytes])
            footprint.touched(SimpleNamespace(space="global", operation=mark, addresses=one[1], nbytes=one[2]))


def set_of(ranges) -> set[int]:
    return {at + byte for at, nbytes in ranges for byte in range(nbytes)}


@settings(deadline=None)
@given(places, places, places, st.integers(0, 2**32))
def test_effects_are_the_bytes_that_were_written(reads, writes, others, seed):
    footprint = Footprint()
    footprint.cover(NBYTES)
    noted(footprint, reads, writes)
    random = np.random.default_rng(seed)
    source, target = (random.integers(0, 256, NBYTES).astype(np.uint8) for _ in range(2))
    effects = effects_of(footprint.marks, source, None)
    assert bytes_of_pages(effects.pages, effects.reads) == set_of(reads)
    assert bytes_of_pages(effects.pages, effects.writes) == set_of(writes)
    expected = target.copy()
    written = sorted(set_of(writes))
    expected[written] = source[written]
    write_bytes(effects, target)
    assert target.tobytes() == expected.tobytes()

    earlier = Footprint()
    earlier.cover(NBYTES)
    noted(earlier, [], others)
    assert reads_any(effects, earlier.marks.writes) == bool(set_of(reads) & set_of(others))
    note_written(effects, earlier.marks.writes)
    assert bytes_of(earlier.marks.writes) == set_of(others) | set_of(writes)


# Chunks: each reads bytes, and writes to others what follows from all that it read.
chunks_of_a_launch = st.lists(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=4), min_size=1, max_size=6
)


def carried_out(chunk: int, pairs, memory: np.ndarray, reads=lambda at: None, writes=lambda at: None) -> None:
    total = chunk + 1
    for source, target in pairs:
        reads(source)
        total = (31 * total + int(memory[source])) % 251
        writes(target)
        memory[target] = total


@settings(deadline=None, max_examples=40)
@given(chunks_of_a_launch, st.integers(2, 4), st.integers(0, 3), st.booleans())
def test_any_chunks_give_the_memory_of_one_after_the_other(chunks, n_processes, n_here, has_footprint):
    memory = AddressSpace()
    memory.allocate(4096)
    expected, reads, writes = memory.arena[:4096].copy(), set(), set()
    for number, pairs in enumerate(chunks):
        carried_out(number, pairs, expected, lambda at: reads.add(at) if at not in writes else None, writes.add)

    footprint = Footprint() if has_footprint else None
    space, module = GlobalSpace(memory, footprint), SimpleModule()
    kernels._may[module] = {0: True}
    counters = LaunchCounters.zeros(1)
    run = SimpleNamespace(
        global_space=space,
        memory=memory,
        tally=Tally(counters, False),
        counters=counters,
        module=module,
        launch=SimpleNamespace(function=SimpleNamespace(first=0)),
    )

    def carry_out(number: int) -> None:
        def note(verb):
            def one(at):
                address = np.full(32, GLOBAL_BASE + at)
                space.footprint.access(verb, address, np.array([1], np.uint32), 1, None)

            return one

        run.counters.pulse.warp_instructions += 1
        carried_out(number, chunks[number], space.views[1], note("read"), note("write"))

    with spread_over(n_processes, n_here):
        spreading.spread(run, len(chunks), carry_out, n_processes, lambda n_left: None)
    assert memory.arena[:4096].tobytes() == expected.tobytes()
    assert counters.pulse.warp_instructions == len(chunks)
    assert space.footprint is footprint
    if has_footprint:
        assert (bytes_of(footprint.marks.reads), bytes_of(footprint.marks.writes)) == (reads, writes)


class SimpleModule:
    """Something that a weak reference may name."""
