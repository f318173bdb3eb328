"""Generators that follow memory, beside brute force and hand-worked tables."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

from gpuprof.device.memory import AddressSpace
from gpuprof.errors import GeneratorError
from gpuprof.isa.encoding import make
from gpuprof.trace.event import Access
from gpuprof.trace.generators.memory.cache_hits import Cache, InstructionCache
from gpuprof.trace.generators.memory.memory_traffic import Traffic
from gpuprof.trace.generators.memory.reuse_distance import Reuse
from gpuprof.trace.generators.memory.sets import Sets
from gpuprof.trace.generators.memory.sharing import Sharing
from gpuprof.trace.generators.memory.stack_distance import StackDistances
from gpuprof.trace.generators.memory.units import lines_of, of_access
from gpuprof.trace.generators.memory.watch import Watch
from gpuprof.trace.kernel import Allocation
from tests.support.emulate_harness import ADDR64, special
from tests.support.watching import watch
from tests.trace.test_counts import numbered, rows
from tests.trace.test_events import below, wide

# Streams.


def slow_distances(units: list[int]) -> list[int]:
    stack, found = [], []
    for unit in units:
        found.append(stack.index(unit) if unit in stack else -1)
        if unit in stack:
            stack.remove(unit)
        stack.insert(0, unit)
    return found


@pytest.mark.parametrize("n_units, length", [(1, 20), (7, 300), (500, 9000), (9000, 9500)])
def test_stack_distances(n_units, length):
    rng = random.Random(n_units)
    units = [rng.randrange(n_units) * 977 for _ in range(length)]
    distances, found, at = StackDistances(), [], 0
    while at < length:  # in pieces of any length
        step = rng.randrange(1, 6000)
        found += distances.take(np.array(units[at : at + step], np.int64)).tolist()
        at += step
    assert found == slow_distances(units)
    assert distances.n_units == len(set(units))


def slow_cache(lines: list[int], n_sets: int, ways: int, policy: str) -> tuple[int, int]:
    sets, hits, evictions = [[] for _ in range(n_sets)], 0, 0
    for line in lines:
        here = sets[line % n_sets]
        if line in here:
            hits += 1
            if policy == "lru":
                here.remove(line)
                here.append(line)
            continue
        if len(here) == ways:
            here.pop(0)
            evictions += 1
        here.append(line)
    return hits, evictions


@pytest.mark.parametrize("policy", ["lru", "fifo"])
@pytest.mark.parametrize("n_sets, ways", [(1, 1), (4, 2), (8, 4), (1, 16), (3, 5)])
def test_sets(policy, n_sets, ways):
    rng = random.Random(ways)
    lines = [min(rng.randrange(60), rng.randrange(60)) for _ in range(2000)]
    assert Sets(n_sets, ways, policy).take(np.array(lines, np.int64)) == slow_cache(lines, n_sets, ways, policy)


def test_a_random_policy_keeps_what_fits_and_repeats():
    lines = np.arange(64, dtype=np.int64).repeat(2)
    assert Sets(16, 4, "random").take(lines) == (64, 0)
    rng = np.random.default_rng(1)
    lines = rng.integers(0, 200, 5000)
    hits, evictions = Sets(16, 4, "random").take(lines)
    assert (hits, evictions) == Sets(16, 4, "random").take(lines)
    assert hits + evictions == 5000 - 64 and 1100 < hits < 1900


def test_units_are_coalesced_by_warp():
    addresses = np.zeros((2, 32), np.int64)
    addresses[0, :4] = 0, 64, 124, 300
    addresses[1, :2] = 4096, 4096
    access = Access("global", "load", 8, np.array([0b1111, 0b10], np.uint32), addresses, None)
    units, of_rows = of_access(access, 7)
    assert (units.tolist(), of_rows.tolist()) == ([0, 1, 2, 32], [0, 0, 0, 1])


def slow_units(addresses, mask, nbytes, shift):
    """Of one warp: each unit once, in the order of the lanes."""
    found = []
    for lane in range(32):
        if mask >> lane & 1:
            low, high = addresses[lane] >> shift, (addresses[lane] + nbytes - 1) >> shift
            found += [unit for unit in range(low, high + 1) if unit not in found]
    return found


@pytest.mark.parametrize("nbytes, spread", [(4, 40), (4, 100_000), (8, 3_000), (16, 1_000_000)])
def test_units_are_those_of_a_slow_list(nbytes, spread):
    """Sectors, and lines both from addresses and from the sectors."""
    rng = np.random.default_rng(spread)
    addresses = rng.integers(0, spread, (40, 32)) * nbytes + rng.integers(0, 2, (40, 1)) * 4
    masks = rng.integers(1, 1 << 32, 40, dtype=np.uint32)
    access = Access("global", "load", nbytes, masks, addresses, None)
    for shift in (5, 7):
        units, rows = of_access(access, shift)
        for row in range(40):
            assert units[rows == row].tolist() == slow_units(addresses[row].tolist(), int(masks[row]), nbytes, shift)
    lines, rows = lines_of(*of_access(access, 5), 2)
    expected, of_rows = of_access(access, 7)
    assert (lines.tolist(), rows.tolist()) == (expected.tolist(), of_rows.tolist())


def test_distances_far_back_and_numbered_again():
    """Three passes over many units, then the last of them backwards: distances beyond what is counted without the tree,
    over several renewals of the times.
    """
    n = 3000
    units = [*range(n)] * 3 + list(range(n - 1, n - 1000, -1))
    distances = StackDistances()
    found = [d for start in range(0, len(units), 700) for d in distances.take(np.array(units[start : start + 700]))]
    assert found == [-1] * n + [n - 1] * 2 * n + list(range(999))


def test_traffic_tells_allocations_apart():
    """Two allocations with a gap, whose order is not that of their addresses; 4 bytes of the gap are read, too."""
    allocations = (Allocation(4096, 100, "far"), Allocation(1024, 64, "near"))
    traffic = Traffic()
    traffic.initialize(SimpleNamespace(allocations=allocations))
    addresses = np.zeros((1, 32), np.int64)
    addresses[0, :5] = 1024, 1084, 4096, 4192, 2000
    instruction = SimpleNamespace(file="k.cu", line=3)
    for operation, mask in (("load", 0b11111), ("store", 0b01000)):
        access = Access("global", operation, 4, np.array([mask], np.uint32), addresses, None)
        traffic.event(SimpleNamespace(instruction=instruction, accesses=(access,)))
    traffic.finish()
    tables = traffic.end_launch(0).tables
    assert tables["lines"] == [
        ("", "k.cu", 3, "load", 1, 4),
        ("near", "k.cu", 3, "load", 2, 8),
        ("far", "k.cu", 3, "load", 2, 8),
        ("far", "k.cu", 3, "store", 1, 4),
    ]
    assert tables["allocations"] == [("near", 1024, 64, 8, 0, 64), ("far", 4096, 100, 8, 4, 64)]


# A launch: each thread loads x[thread] and y[0], adds, and the first 8 lanes store to x.


def program():
    memory = AddressSpace()
    x, y = memory.allocate(4 * 64, "x, f32[64]").address, memory.allocate(4, "y").address
    code = [
        special("tid.x", 0),
        special("laneid", 1),
        below(0, 1, 8),
        wide(2, x),
        wide(3, y),
        make("IMAD.WIDE.U32", dst=4, a=0, imm=4, slot="b", c=2),
        make("LDG.32", dst=10, a=4, mods=ADDR64),
        make("LDG.32", dst=11, a=3, mods=ADDR64),
        make("FADD", dst=10, a=10, b=11),
        make("STG.32", a=4, b=10, mods=ADDR64, guard=0),
        make("EXIT"),
    ]
    return memory, code, x, y


def launched(generator, table: str, **launch) -> list[tuple]:
    memory, code, _, _ = program()
    return rows(generator, table, code, memory=memory, **{"grid": (1, 1, 1), "block": (64, 1, 1)} | launch)


def test_traffic():
    traffic = Traffic()
    assert launched(traffic, "lines") == [
        ("x, f32[64]", "k.cu", 7, "load", 64, 256),
        ("x, f32[64]", "k.cu", 10, "store", 16, 64),
        ("y", "k.cu", 8, "load", 64, 256),
    ]
    _, _, x, y = program()
    assert traffic.results[0].tables["allocations"] == [("x, f32[64]", x, 256, 256, 64, 256), ("y", y, 4, 256, 0, 4)]


def test_reuse():
    # Warps ask for lines: x0 x1 | y y | x0 x1, where the two warps run together.
    reuse = Reuse()
    assert launched(reuse, "distances") == [
        ("line", -1, 3), ("line", 0, 1), ("line", 2, 2), ("sector", -1, 9), ("sector", 0, 1), ("sector", 5, 1),
        ("sector", 8, 1),
    ]  # fmt: skip
    assert reuse.results[0].tables["curve"][:4] == [
        ("line", 128, 6, 1, 1 / 6),
        ("line", 256, 6, 1, 1 / 6),
        ("line", 512, 6, 3, 0.5),
        ("sector", 32, 12, 1, pytest.approx(1 / 12)),
    ]


def test_a_block_may_have_a_stream_of_its_own():
    # Of each of 3 blocks: the lines are new, though the block before has had them.
    lines = [row for row in launched(Reuse(per="block"), "distances", grid=(3, 1, 1)) if row[0] == "line"]
    assert lines == [("line", -1, 9), ("line", 0, 3), ("line", 2, 6)]


def test_cache():
    # One set of four lines, which the three lines fit in.
    assert launched(Cache(size=512, line=128, ways=0), "hits") == [
        (-1, 6, 3, 3, 0),
        (6, 2, 0, 2, 0),
        (7, 2, 1, 1, 0),
        (9, 2, 2, 0, 0),
    ]


def test_instruction_cache():
    # 11 instructions of 16 bytes from 0x100000 on are in two lines, and two warps execute them.
    assert launched(InstructionCache(), "hits") == [(-1, 4, 2, 2, 0), (0, 4, 2, 2, 0)]


@pytest.mark.parametrize("options", [{"line": 96}, {"size": 0}, {"ways": 3}, {"ways": -1}, {"policy": "plru"}])
def test_a_cache_that_cannot_be(options):
    with pytest.raises(GeneratorError, match="cache"):
        launched(Cache(**options), "hits")


def test_watch():
    _, _, x, y = program()
    assert launched(Watch(allocation="x", address=120, nbytes=12), "touches") == [
        (6, "load", 0, 30, x + 120, 4),
        (6, "load", 0, 31, x + 124, 4),
        (6, "load", 0, 32, x + 128, 4),
        (9, "store", 0, 32, x + 128, 4),
    ]
    assert len(launched(Watch(address=y), "touches")) == 64
    assert len(launched(Watch(allocation="y", most=3), "touches")) == 3


def test_a_watch_calls_back():
    class Stores(Watch):
        def touched(self, touch):
            if touch.operation == "store":
                seen.append((touch.instruction.opcode, touch.thread))

    seen = []
    launched(Stores(allocation="x"), "touches")
    assert seen == [("STG.32", thread) for thread in (*range(8), *range(32, 40))]


@pytest.mark.parametrize(
    "options, text", [({}, "nothing to watch"), ({"allocation": "z"}, "no allocation is called 'z'; there are x, y")]
)
def test_nothing_to_watch(options, text):
    with pytest.raises(GeneratorError, match=text):
        launched(Watch(**options), "touches")


def test_sharing():
    # Each thread stores its word, then loads its own, that of the lane above, and that of the other warp.
    code = [
        special("tid.x", 0),
        make("SHL", dst=1, a=0, imm=2, slot="b"),
        make("STS.32", a=1, b=0),
        make("BAR.SYNC"),
        make("LDS.32", dst=2, a=1),
        make("XOR", dst=3, a=1, imm=4, slot="b"),
        make("LDS.32", dst=4, a=3),
        make("XOR", dst=3, a=1, imm=128, slot="b"),
        make("LDS.32", dst=5, a=3),
        make("LDS.32", dst=6, a=1, imm=256),  # nobody's
        make("EXIT"),
    ]
    sharing = Sharing(blocks_watched=2)
    watch(code, sharing, grid=(3, 1, 1), block=(64, 1, 1), dynamic_shared_nbytes=512)
    found = [
        (numbered(load, True), numbered(store, True), *words)
        for load, store, *words in sharing.results[0].tables["pairs"]
    ]
    assert found == [
        (4, 2, 128, 128, 0, 0),
        (6, 2, 128, 0, 128, 0),
        (8, 2, 128, 0, 0, 128),
        (9, -1, 128, 0, 0, 0),
    ]
