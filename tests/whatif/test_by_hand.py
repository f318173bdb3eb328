"""Interventions on launches written by hand, whose gains are known to the cycle."""

import pytest

from gpuprof.isa.encoding import make
from gpuprof.whatif.changes.on_program import AT_ONCE
from tests.support.timing_support import COUNTED, access, warp
from tests.timing.test_timing import A64, ffma
from tests.whatif.hand import LOOP, after, at, cycles, rows, sector_rows, shape, subject, turns, warps_of

L1, L2, DRAM = 33, 200, 552  # cycles from load to use
LINES = f"""inherits = "a100"
sms = 1
l2_near_cycles = {L2}
l2_far_cycles = {L2}
l2_spread_cycles = 0
{COUNTED}"""
N = 4  # instructions of a chain: all but the last are waited for
ALL = range(N)
EXIT = make("EXIT")


@pytest.fixture
def chip(chip_of):
    return chip_of(LINES)


def chain(instruction):
    return [*([instruction] * N), EXIT]


@pytest.fixture
def loads(chip):
    """A chain of loads, each of a sector that nothing has."""
    code = chain(make("LDG.32", dst=0, a=0, mods=A64))
    return subject(chip, code, [warp([0], [access([k << 20]) for k in ALL])])


@pytest.mark.parametrize(
    "kind, amount, gain",
    [
        ("l1_hits", 0, DRAM - L1),
        ("l2_hits", 0, DRAM - L2),
        ("sooner", 1, 1),
        ("sooner", 100, 100),
        # The next load issues where a quantum of 64 cycles begins, and what it asks for is there when that ends.
        ("sooner", AT_ONCE, DRAM - 64),
        # One issue after the other is left: that of the exit, after the load before it.
        ("free", 0, DRAM),
    ],
)
def test_chain_of_loads(loads, kind, amount, gain):
    one_issue = 1 if kind == "free" else 0
    assert cycles(loads) - cycles(loads, at(kind, *ALL, amount=amount)) == (N - 1) * gain + one_issue


def test_one_load_of_the_chain(loads):
    assert cycles(loads) - cycles(loads, at("l1_hits", 1)) == DRAM - L1


def test_two_interventions_add_up(loads):
    both = cycles(loads, at("l1_hits", 0), at("l2_hits", 1))
    assert cycles(loads) - both == (DRAM - L1) + (DRAM - L2)


@pytest.mark.parametrize("amount, gain", [(1, 1), (2, 2), (3, 2), (AT_ONCE, 2)])
def test_results_of_arithmetic_come_sooner(chip, amount, gain):
    """A multiplication takes 4 cycles; 2 of them to the next one that takes its result are issue and port."""
    chained = subject(chip, chain(ffma(0, 0)), [warp([0])])
    assert cycles(chained) - cycles(chained, at("sooner", *ALL, amount=amount)) == (N - 1) * gain


def test_conflicts_in_shared_memory(chip):
    """Eight passes, each of which makes the result two cycles later."""
    code = chain(make("LDS.32", dst=0, a=0))
    some = subject(chip, code, [warp([0], [access((), wavefronts=8) for _ in ALL])])
    assert cycles(some) - cycles(some, at("no_conflicts", *ALL)) == (N - 1) * 7 * 2


def test_double_precision_in_the_time_of_single(chip):
    some = subject(chip, chain(make("DFMA", dst=0, a=0, b=7, c=8)), [warp([0])])
    gain = cycles(some) - cycles(some, at("f32", *ALL))
    assert gain == (N - 1) * (chip.latency["fp64"] - chip.latency["fma"])


def test_barrier_that_waits_for_nobody(chip):
    """The second warp has a chain of loads before the barrier; the first one ends without it."""
    slow = [make("LDG.32", dst=0, a=0, mods=A64), ffma(1, 0)]
    code = [*slow, make("BAR.SYNC"), EXIT]
    some = subject(chip, code, [warp([0, 1], [access([k << 20])]) for k in range(2)], 2)
    waits = timed_barrier(some)
    assert waits > 0 and timed_barrier(some, at("open_barrier", 2)) == 0


def timed_barrier(some, *interventions):
    from gpuprof.isa.stalls import INDEX
    from gpuprof.whatif.timing_again import timed

    return int(timed(some, interventions).ledger[2, INDEX["barrier"]])


# What the trace is afterwards.

BRANCH = make("BRA", guard=0, imm=32)


def test_shorter_side_of_a_branch(chip):
    """Blocks: 0 ends with the branch; 1 (two instructions) and 2 (four) are its sides; 3 is where they meet."""
    blocks = [0, 1, 2, 3]
    masks = [0xFFFFFFFF, 0xFF, 0xFFFFFF00, 0xFFFFFFFF]
    code = [BRANCH, ffma(0, 0), make("BRA", imm=64), *[ffma(1, 1)] * 3, make("BRA", imm=0), EXIT]
    scene = after(chip, code, [warp(blocks, masks=masks)], at("one_side", 0))
    (found,) = [warps_of(piece) for piece in scene.pieces]
    assert found == [([0, 2, 3], [], [0xFFFFFFFF, 0xFFFFFF00, 0xFFFFFFFF])]


def test_packed_sectors(chip):
    """Two loads of a column of 32 rows, each a line of its own: the first takes the first row's line, the second the
    next one's.
    """
    column = [4 * row for row in range(32)]
    code = [*[make("LDG.32", dst=0, a=2, mods=A64)] * 2, EXIT]
    scene = after(chip, code, [warp([0], [access(column), access(column)])], at("packed", 0, 1))
    assert sector_rows(scene.pieces[0]) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_what_is_packed_stays(chip):
    code = [make("LDG.32", dst=0, a=2, mods=A64), EXIT]
    scene = after(chip, code, [warp([0], [access([8, 9, 10, 11])])], at("packed", 0))
    assert sector_rows(scene.pieces[0]) == [[8, 9, 10, 11]]


def test_longest_block_first(chip):
    """Block 1 runs its basic block three times."""
    code = [ffma(0, 0), make("BRA", guard=0, imm=-32 & 0xFFFFFFFF), EXIT]
    warps = [warp([0, 1]), warp([0, 0, 0, 1]), warp([0, 0, 1])]
    scene = after(chip, code, warps, at("dealt"))
    assert [blocks for blocks, _, _ in warps_of(scene.pieces[0])] == [[0, 0, 0, 1], [0, 0, 1], [0, 1]]


def test_block_in_two_parts(chip):
    """The parts of a block follow each other. Each has a part of the turns of each of its warps, and what is after its
    loop.
    """
    scene = after(chip, LOOP, [turns(1, 2, 3), turns(5, 6, 7)], at("split", amount=2), 2)
    assert shape(scene.pieces[0]) == (2, 2)
    assert rows(scene.pieces[0]) == [([0, 1], [1]), ([0, 1], [5]), ([0, 0, 1], [2, 3]), ([0, 0, 1], [6, 7])]


def test_turns_dealt_to_blocks(chip):
    scene = after(chip, LOOP, [turns(1, 2, 3, 4, 5, 6), turns(7)], at("dealt_turns"))
    assert rows(scene.pieces[0]) == [([0, 0, 0, 0, 1], [1, 3, 5, 7]), ([0, 0, 0, 1], [2, 4, 6])]


def test_turns_dealt_to_warps(chip):
    """Two blocks of two warps; the first has all turns: one after the other they go to another block, and every second
    one in a block to its other warp.
    """
    warps = [turns(1, 3, 5, 7), turns(2, 4, 6, 8), warp([1]), warp([1])]
    scene = after(chip, LOOP, warps, at("dealt_turns"), 2)
    assert [sectors for _, sectors in rows(scene.pieces[0])] == [[1, 5], [3, 7], [2, 6], [4, 8]]


def test_turns_with_a_barrier_stay_together(chip):
    code = [make("LDG.32", dst=0, a=2, mods=A64), make("BAR.SYNC"), make("BRA", guard=0, imm=-48 & 0xFFFFFFFF), EXIT]
    warps = [
        warp([0, 1] * len(some) + [2], [access([sector]) for sector in some])
        for some in ([1, 2, 3], [5, 6, 7], [8], [9])
    ]
    scene = after(chip, code, warps, at("dealt_turns"), 2)
    assert [sectors for _, sectors in rows(scene.pieces[0])] == [[1, 3], [5, 7], [2, 8], [6, 9]]


def test_smaller_blocks(chip):
    scene = after(chip, LOOP, [turns(k) for k in range(4)], at("smaller_blocks", amount=2), 4)
    assert shape(scene.pieces[0]) == (2, 2) and len(rows(scene.pieces[0])) == 4


@pytest.mark.parametrize(
    "what, blocks",
    [
        (at("one_in", amount=2), [0, 2]),
        (at("first_blocks", amount=3), [0, 1, 2]),
        (at("first_blocks", amount=9), [0, 1, 2, 3]),
        (at("repeated", amount=2), [0, 1, 2, 3, 0, 1, 2, 3]),
    ],
)
def test_other_blocks(chip, what, blocks):
    scene = after(chip, LOOP, [turns(k) for k in range(4)], what)
    assert [sectors for _, sectors in rows(scene.pieces[0])] == [[k] for k in blocks]


def test_one_turn_of_three(chip):
    scene = after(chip, LOOP, [turns(1, 2, 3, 4)], at("thinned", 0, amount=3))
    assert rows(scene.pieces[0]) == [([0, 0, 1], [1, 4])]


def test_lanes_that_leave_a_loop_early(chip):
    """Two warps, half of whose lanes stay for a second turn: one warp full of those that stay has it."""
    half = [0xFFFFFFFF, 0xFFFF, 0xFFFFFFFF]
    two = [warp([0, 0, 1], [access([k]), access([k + 8])], half) for k in range(2)]
    scene = after(chip, LOOP, two, at("full_warps"))
    assert rows(scene.pieces[0]) == [([0, 1], [0]), ([0, 0, 1], [1, 9])]


def test_one_warp_with_wide_accesses(chip):
    """Two blocks become one, whose load has the sectors of both."""
    code = [make("LDG.32", dst=0, a=2, mods=A64), make("STG.32", a=2, b=0, mods=A64), EXIT]
    warps = [warp([0], [access([4 * k]), access([64 + 4 * k])]) for k in range(2)]
    scene = after(chip, code, warps, at("wide", 0, 1, amount=2))
    assert sector_rows(scene.pieces[0]) == [[0, 4], [64, 68]]
    assert scene.program.inst["width"][:2].tolist() == [2, 2]


def test_atomics_on_addresses_of_their_own(chip):
    code = [make("RED.ADD.U32", a=2, b=0, mods=A64), EXIT]
    warps = [warp([0], [access([7], lanes=32, conflicts=32)]) for _ in range(2)]
    scene = after(chip, code, warps, at("own_addresses", 0))
    first = (1 << 39) * 4  # beyond all addresses: 128 bytes for the 32 lanes of each warp
    assert sector_rows(scene.pieces[0]) == [[first, first + 1, first + 2, first + 3], [*range(first + 4, first + 8)]]
    assert scene.pieces[0].accesses["conflicts"].tolist() == [1, 1]


def test_one_atomic_a_warp(chip):
    code = [make("RED.ADD.U32", a=2, b=0, mods=A64), EXIT]
    scene = after(chip, code, [warp([0], [access([7, 9], lanes=32, conflicts=30)])], at("one_a_warp", 0))
    (record,) = scene.pieces[0].accesses
    assert (sector_rows(scene.pieces[0]), record["lanes"], record["conflicts"]) == ([[7]], 1, 1)
