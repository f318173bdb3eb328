"""The timing model against cycles worked out by hand, on a chip whose numbers are those of a100 but whose instruction
fetch is free.
"""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import altered, load_chip
from gpuprof.errors import KernelFault
from gpuprof.isa.modifiers import pack
from gpuprof.isa.slow_paths import slow_path_of
from gpuprof.isa.stalls import INDEX, NAMES
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate
from gpuprof.timing.state.machine import power_on
from tests.support.timing_support import COUNTED, access, encode, launch, make, piece, run, slept, warp

A64 = 1 << 6  # 64-bit address


@pytest.fixture(scope="module")
def chip(tmp_path_factory):
    """a100 with fetch of 1 + 1 cycles and one SM half, so that a few cycles tell the whole story."""
    path = Path(tmp_path_factory.mktemp("chip")) / "quick.toml"
    path.write_text(
        'inherits = "a100"\nsms = 2\nl0i_miss_cycles = 1\nl1i_miss_cycles = 1\nl2_far_cycles = 206\n' + COUNTED
    )
    return load_chip(path)


def rows(timing):
    """The ledger by instruction, as names and cycles."""
    return [{NAMES[k]: int(n) for k, n in enumerate(row) if n} for row in timing.ledger]


def ffma(dst, a, **more):
    return make("FFMA", dst=dst, a=a, b=20, c=21, **more)


def test_dependent_chain_issues_every_four_cycles(chip):
    timing, _ = run(chip, [ffma(0, 0), ffma(0, 0), ffma(0, 0), make("EXIT")], [warp([0])])
    # Fetch takes 2 cycles: from the block's start at 100, issues at 102, 106, 110; EXIT depends on nothing: 111.
    assert rows(timing) == [
        {"selected": 1, "no_instructions": 2},
        {"selected": 1, "wait": 3},
        {"selected": 1, "wait": 3},
        {"selected": 1},
    ]
    assert (timing.start_cycle, timing.end_cycle, timing.issue_slots) == (0, 112, 4)


def test_a_result_for_another_pipe_takes_a_cycle_more(chip):
    timing, _ = run(chip, [ffma(0, 0), make("IADD", dst=1, a=0, b=20), make("EXIT")], [warp([0])])
    assert rows(timing)[1] == {"selected": 1, "wait": 4}


def test_a_sixteen_lane_pipe_takes_an_instruction_every_two_cycles(chip):
    """What the warp itself keeps busy is in ptxas' stall count: a wait, and no throttle."""
    timing, _ = run(chip, [ffma(0, 4), ffma(1, 5), ffma(2, 6), make("EXIT")], [warp([0])])
    assert rows(timing)[1:3] == [{"selected": 1, "wait": 1}] * 2


def test_two_operations_side_by_side_take_the_pipe_twice(chip):
    pair = make("FFMA2", dst=0, a=4, b=20, c=22)
    timing, _ = run(chip, [pair, ffma(2, 6), make("EXIT")], [warp([0])])
    assert rows(timing)[1] == {"selected": 1, "wait": 3}


def test_a_warp_waits_between_memory_instructions_and_behind_its_exit(tmp_path):
    """ptxas writes 4 cycles between two loads, two reads of special registers, or one of each. Behind EXIT samples show
    4 cycles more of wait, and 11 of branch_resolving.
    """
    path = tmp_path / "chip.toml"
    path.write_text('inherits = "a100"\nsms = 1\n')
    code = [
        make("S2R", dst=0),
        make("S2R", dst=1),
        make("LDS.32", dst=2, a=8),
        ffma(4, 9),
        make("LDS.32", dst=3, a=8),
        make("EXIT"),
    ]
    timing, _ = run(load_chip(path), code, [warp([0], [access(())] * 2)])
    assert rows(timing)[1:] == [
        {"selected": 1, "wait": 3},
        {"selected": 1, "wait": 3},
        {"selected": 1},
        {"selected": 1},
        {"selected": 1, "wait": 4, "branch_resolving": 11},
    ]


def test_two_warps_of_a_partition_share_its_pipe(chip):
    """A block of five warps: 0 and 4 are in partition 0. The younger goes first when both are ready; then they take
    turns.
    """
    timing, _ = run(chip, [ffma(0, 4), make("EXIT")], [warp([0])] * 5, warps_per_block=5)
    # Warp 4 issues FFMA at 102 and, greedy, EXIT at 103; warp 0 is not selected in 102 and 103 would be throttled: it
    # waits 102 and 103.
    assert rows(timing) == [
        {"selected": 5, "no_instructions": 10, "not_selected": 1, "math_pipe_throttle": 1},
        {"selected": 5},
    ]


def test_a_wide_instruction_takes_its_slots_and_chain(chip):
    timing, _ = run(chip, [make("MOVI.64", dst=0, imm=1), make("EXIT")], [warp([0])])
    # Two slots, two cycles apart: the second waits one cycle.
    assert rows(timing) == [{"selected": 2, "no_instructions": 2, "wait": 1}, {"selected": 1}]


@pytest.mark.parametrize(
    ("name", "cycles"),
    [
        ("DDIV", 32),  # 16 slots, every second on 8 lanes of fp64: 8 * 4 cycles
        # 24 slots, every third on 16 lanes of the ALU: 8 * 2 cycles, but each slot takes one to issue
        ("IDIV.S32", 24),
        ("FDIV", 10),  # 10 slots, every second on 16 lanes of the FMA pipe: 5 * 2
        ("MUFU.EX2", 8),  # 4 slots, one of them on 4 lanes of the transcendental unit
        ("FLO.U64", 16),  # 7 slots, one for each word there
    ],
)
def test_how_much_of_an_expansion_runs_on_its_own_pipe(chip, name, cycles):
    """A partition of eight warps that do nothing else: cycles from one instruction to the next, or up to a fourth more:
    another of the warps' slots may issue in the very cycle in which the pipe is free. All slots on the pipe would be
    twice that, or more."""

    def total(n):
        code = [make(name, dst=2 * k, a=40, **({} if name in ("MUFU.EX2", "FLO.U64") else {"b": 42})) for k in range(n)]
        records = [access((), conflicts=0)] * n if slow_path_of(code[0]) else []
        return run(chip, [*code, make("EXIT")], [warp([0], records)] * 32, warps_per_block=32)[0].cycles

    assert 0.98 * cycles < (total(12) - total(4)) / (8 * 8) < 1.27 * cycles


def test_a_folded_instruction_costs_nothing_and_passes_the_wait_on(chip):
    code = [
        make("LDG.64", dst=0, a=1, mods=A64),
        make("LO.64", dst=0, a=0),
        make("IADD", dst=1, a=0, b=20),
        make("EXIT"),
    ]
    timing, _ = run(chip, code, [warp([0], [access(range(8))])])
    assert rows(timing)[1] == {}
    assert rows(timing)[2]["long_scoreboard"] > 500
    assert timing.issue_slots == 3


LOADS = [
    make("LDG.32", dst=0, a=1, mods=A64),
    ffma(1, 0),
    make("LDG.32", dst=2, a=1, mods=A64),
    ffma(3, 2),
    make("EXIT"),
]


def test_miss_goes_to_dram_and_the_next_load_hits_the_l1(chip):
    timing, _ = run(chip, LOADS, [warp([0], [access(range(4))] * 2)])
    ledger = rows(timing)
    assert ledger[1] == {"selected": 1, "long_scoreboard": chip.dram_cycles - 1}
    assert ledger[3] == {"selected": 1, "long_scoreboard": 33 - 1}
    assert (timing.l1_sectors, timing.l1_hits, timing.l2_sectors, timing.l2_hits, timing.dram_read_nbytes) == (
        8,
        4,
        4,
        0,
        128,
    )


@pytest.mark.parametrize(
    "operation, l1_hits",
    [
        (0, 4),
        (pack(sem="volatile"), 0),
        (pack(sem="acquire", scope="gpu"), 0),
        (pack(sem="relaxed", scope="sys"), 0),
        (pack(sem="relaxed", scope="cta"), 4),
        (pack(cache="cg"), 0),
        (pack(cache="ca"), 4),
    ],
)
def test_loads_that_must_see_other_multiprocessors_pass_the_l1_by(chip, operation, l1_hits):
    """The second load of the same sectors, after the first one's data came."""
    code = [LOADS[0], LOADS[1], LOADS[2]._replace(mods=A64 | operation), *LOADS[3:]]
    timing, _ = run(chip, code, [warp([0], [access(range(4))] * 2)])
    assert (timing.l1_hits, timing.l2_hits) == (l1_hits, 4 - l1_hits)


def test_l2_keeps_its_content_from_launch_to_launch_and_l1_does_not(chip):
    machine = power_on(chip)
    run(chip, LOADS, [warp([0], [access(range(4))] * 2)], machine=machine)
    timing, _ = run(chip, LOADS, [warp([0], [access(range(4))] * 2)], machine=machine)
    assert rows(timing)[1] == {"selected": 1, "long_scoreboard": 206 - 1}
    assert (timing.l1_hits, timing.l2_hits, timing.dram_read_nbytes) == (4, 4, 0)
    assert timing.start_cycle > 0 and machine.cycle == timing.end_cycle


def test_a_load_of_a_sector_on_its_way_waits_for_it(chip):
    code = [make("LDG.32", dst=0, a=1, mods=A64), make("LDG.32", dst=2, a=1, mods=A64), ffma(1, 2), make("EXIT")]
    timing, _ = run(chip, code, [warp([0], [access(range(4))] * 2)])
    # The first load leaves at 102 and its data comes at 102 + 552; the second one waits for the same data.
    assert rows(timing)[2] == {"selected": 1, "long_scoreboard": chip.dram_cycles - 2}
    assert (timing.l2_sectors, timing.l1_hits) == (4, 4)


@pytest.mark.parametrize("ways", [1, 2, 8, 32])
def test_bank_conflicts_take_further_wavefronts(chip, ways):
    code = [make("LDS.32", dst=0, a=1), ffma(1, 0), make("EXIT")]
    timing, _ = run(chip, code, [warp([0], [access((), wavefronts=ways)])])
    latency = chip.latency["shared"] + (ways - 1) * chip.shared_wavefront_cycles
    assert rows(timing)[1] == {"selected": 1, "short_scoreboard": latency - 1}
    assert timing.shared_wavefronts == ways


def test_a_full_memory_queue_throttles(chip):
    n = 8
    code = [*(make("LDG.32", dst=k, a=20, mods=A64) for k in range(n)), make("EXIT")]
    timing, _ = run(chip, code, [warp([0], [access(range(4 * k, 4 * k + 4)) for k in range(n)])])
    # The queue holds 5: they issue back to back. Entry k is served at 102 + 4k and leaves 8 cycles later, so the sixth
    # issues at 110.
    throttled = [row.get("lg_throttle", 0) for row in rows(timing)[:n]]
    assert throttled == [0, 0, 0, 0, 0, 110 - 107, 114 - 111, 118 - 115]


def test_barrier_holds_the_early_warp_at_the_barrier(chip):
    """Warp 1 waits for its load before it arrives; warp 0 arrives at once."""
    code = [
        make("BRA", guard=0, imm=32),
        make("LDS.32", dst=0, a=1),
        ffma(1, 0),
        make("BAR.SYNC"),
        ffma(2, 4),
        make("EXIT"),
    ]
    early = warp([0, 2, 3])
    late = warp([0, 1, 2, 3], [access(())])
    timing, _ = run(chip, code, [early, late], warps_per_block=2)
    bar = rows(timing)[3]
    # Warp 0 jumps at 102, arrives 6 cycles later at 108. Warp 1: the jump it does not take at 102, 5 cycles later the
    # load at 107, FFMA at 130, BAR at 131; both go on 5 cycles later. Of a jump's wait 4 cycles are any branch's.
    assert bar == {"selected": 2, "branch_resolving": 5, "barrier": (136 - 109) + (136 - 132)}


def test_a_warp_that_leaves_opens_the_barrier(chip):
    code = [make("BRA", guard=0, imm=16), make("BAR.SYNC"), make("EXIT")]
    timing, _ = run(chip, code, [warp([0, 1, 2]), warp([0, 2])], warps_per_block=2)
    # Warp 0 arrives at 107, behind the branch that it does not take at 102; warp 1 jumps at 102, exits at 108 and is
    # gone at 109; 5 cycles later the barrier opens.
    assert rows(timing)[1] == {"selected": 1, "wait": 4, "barrier": 114 - 108}


ROUNDS = {
    0.25: [(1, 5), (2, 7), (3, 9), (4, 11), (8, 14), (16, 15), (32, 15)],
    # Arrivals take 2.1 cycles each. The last of 32 comes 31 turns, or 65.1 cycles, behind the first.
    2.1: [(1, 5), (2, 8), (4, 12), (8, 20), (32, 70)],
}


@pytest.mark.parametrize(("each", "warps", "cycles"), [(each, *row) for each, found in ROUNDS.items() for row in found])
def test_the_round_of_a_barrier_by_warps(tmp_path, each, warps, cycles):
    """Warps that do nothing but meet: from the first issue behind a barrier to that behind the next. 15.3 cycles are
    15; between 2 and 4 warps lies 9.
    """
    path = tmp_path / "chip.toml"
    path.write_text(f'inherits = "a100"\nsms = 1\nbarrier_lsu_cycles = {each}\n' + COUNTED)
    chip = load_chip(path)
    few, _ = run(chip, [make("BAR.SYNC")] * 2 + [make("EXIT")], [warp([0, 1, 2])] * warps, warps_per_block=warps)
    many, _ = run(chip, [make("BAR.SYNC")] * 5 + [make("EXIT")], [warp(list(range(6)))] * warps, warps_per_block=warps)
    assert many.end_cycle - few.end_cycle == 3 * cycles


def test_a_barrier_waits_for_the_accesses_in_front_of_it(chip):
    """The store's 32 passes keep the load/store unit from 102 to 134. The arrival issues at 103, is taken at 134, and
    the barrier opens 5 cycles later."""
    code = [make("STS.32", a=1, b=0), make("BAR.SYNC"), make("EXIT")]
    timing, _ = run(chip, code, [warp([0, 1], [access((), wavefronts=32)])])
    assert rows(timing)[1] == {"selected": 1, "barrier": 139 - 104}


def test_a_late_warp_opens_a_barrier_soon(chip):
    """The round of two warps, 7 cycles from the first arrival on, is long over when the second comes: 5 cycles behind
    it, as for one.
    """
    code = [make("BRA", imm=16 * 8, guard=0), *[ffma(0, 0)] * 8, make("BAR.SYNC"), make("EXIT")]
    timing, _ = run(chip, code, [warp([0, 1, 2, 3]), warp([0, 2, 3])], warps_per_block=2)
    # Warp 1 jumps at 102 and arrives at 108. Warp 0 issues its multiplications from 107 to 135 and arrives at 136; both
    # go on at 141.
    assert rows(timing)[9]["barrier"] == (141 - 109) + (141 - 137)


def test_a_nanosleep_takes_the_time_it_names(chip):
    """100 ns at 1410 MHz are 141 cycles, of which the instruction issues in the first; 200 ns are 282. A time in a
    register is in the trace, and so is a sleep with a guard, which no lane of the second warp passes.
    """
    code = [make("NANOSLEEP", imm=100, slot="b"), make("NANOSLEEP", b=3), make("NANOSLEEP", imm=9, slot="b", guard=0)]
    warps = [warp([0], [slept(200), slept(100)]), warp([0], [slept(0), slept(0)])]
    for each, sleeping in zip(warps, [(140, 281, 140), (140, 0, 0)], strict=True):
        timing, _ = run(chip, [*code, make("EXIT")], [each])
        assert tuple(row.get("sleeping", 0) for row in rows(timing)[:3]) == sleeping


def test_a_fence_of_a_block_does_not_wait_for_the_l2(chip):
    code = [make("STG.32", a=1, b=0, mods=A64), make("MEMBAR", mods=pack(scope="cta")), make("EXIT")]
    timing, _ = run(chip, code, [warp([0], [access(range(4))])])
    assert rows(timing)[1] == {"selected": 1, "membar": chip.membar_cycles - 1}


def test_how_long_the_tensor_pipe_is_busy(chip):
    """Two of 16 x 8 x 16 products, 256 a cycle: 8 cycles each; half of that for a shape half as deep. The rest is
    another pipe's.
    """
    code = [
        *[make("HMMA.16816.F32", dst=8 * k, a=40, b=44, c=8 * k) for k in range(2)],
        make("HMMA.1688.F32", dst=20, a=40, b=44, c=20),
        ffma(0, 1),
        make("EXIT"),
    ]
    timing, _ = run(chip, code, [warp([0])] * 3)
    assert timing.tensor_busy_cycles == 3 * (8 + 8 + 4)


def test_stores_drain_before_the_warp_leaves(chip):
    code = [make("STG.32", a=1, b=0, mods=A64), make("EXIT")]
    timing, _ = run(chip, code, [warp([0], [access(range(4))])])
    assert rows(timing)[1] == {"selected": 1, "drain": chip.store_drain_cycles - 2}
    assert timing.dram_write_nbytes == 0  # it stays in the L2


def test_membar_waits_for_the_stores(chip):
    code = [make("STG.32", a=1, b=0, mods=A64), make("MEMBAR"), make("EXIT")]
    quick = altered(chip, {"membar_l2_cycles": 20}, "quick fences")
    timing, _ = run(quick, code, [warp([0], [access(range(4))])])
    # Three slots (MEMBAR, ERRBAR, CCTL.IVALL), two cycles apart, the first one a cycle behind the store.
    assert rows(timing)[1] == {"selected": 3, "wait": 2, "membar": chip.l2_store_cycles - 6}


def test_first_use_of_a_constant_misses(chip):
    code = [
        make("FADD", dst=0, a=1, imm=8, slot="b", const=True),
        make("FADD", dst=2, a=1, imm=16, slot="b", const=True),
        make("EXIT"),
    ]
    timing, _ = run(chip, code, [warp([0])])
    assert rows(timing)[0] == {"selected": 1, "imc_miss": chip.constant_cold_cycles}
    assert "imc_miss" not in rows(timing)[1]


def test_doubles_on_a_unit_that_partitions_share(tmp_path):
    """Two lanes an SM: an instruction takes 16 cycles. The second waits in the queue, and its reader for the
    scoreboard, until 54 cycles after the unit has taken it: cycle 70, of which two are issues.
    """
    path = tmp_path / "narrow.toml"
    path.write_text('inherits = "t4"\nsms = 1\n')
    code = [make("DADD", dst=0, a=20, b=21), make("DADD", dst=1, a=20, b=21), make("DADD", dst=2, a=1, b=21)]
    timing, _ = run(load_chip(path), [*code, make("EXIT")], [warp([0])])
    assert rows(timing)[1] == {"selected": 1}
    assert rows(timing)[2] == {"selected": 1, "short_scoreboard": 68}


def test_what_a_branch_and_a_meeting_point_hold_up(chip):
    """Four cycles behind a branch that is not taken and a guarded exit; behind the place where lanes meet as long, and
    until the chip's number is over.
    """
    code = [
        make("BRA", guard=0, imm=16 * 3),
        make("EXIT", guard=0),
        make("BSYNC"),
        ffma(0, 0),
        make("EXIT"),
    ]
    timing, _ = run(chip, code, [warp([0, 1, 2])])
    assert rows(timing)[1] == {"selected": 1, "wait": 4}
    assert rows(timing)[2] == {"selected": 1, "wait": 4}
    assert rows(timing)[3] == {"selected": 1, "wait": 4, "branch_resolving": chip.meet_cycles - 5}


def test_the_next_line_of_the_constant_cache_comes_from_the_cache_behind_it(chip):
    """Its lines are 256 bytes long: bytes 8, 64, 128 and 256 are in four lines of one and in two of the other. Of each
    wait but the first, a cycle is the pipe's.
    """
    code = [make("FADD", dst=imm // 32, a=1, imm=imm, slot="b", const=True) for imm in (8, 64, 128, 256)] + [
        make("EXIT")
    ]
    timing, _ = run(chip, code, [warp([0])])
    cold, miss = chip.constant_cold_cycles, chip.constant_miss_cycles
    assert [rows(timing)[k]["imc_miss"] for k in range(4)] == [cold, miss - 1, miss - 1, cold - 1]


def test_constant_loads_wait_for_no_shared_memory(chip):
    """A store of 32 passes keeps the load/store unit. Constants have a unit of their own, one word a cycle: those of
    the second load wait for the three of the first."""
    code = [
        make("STS.32", a=1, b=0),
        make("LDC.32", dst=2, a=8),
        make("LDC.32", dst=3, a=8),
        ffma(4, 2),
        make("EXIT"),
    ]
    words = [access((), wavefronts=32), access(range(3)), access(range(3))]
    timing, _ = run(chip, code, [warp([0], words)])
    cold = chip.constant_segment_cycles + chip.latency["constant"] + 2
    assert rows(timing)[1:4] == [{"selected": 1}, {"selected": 1}, {"selected": 1, "short_scoreboard": cold - 2}]


def test_cycles_of_a_launch_have_what_it_takes_beside_its_blocks(chip):
    timing, _ = run(chip, [make("EXIT")], [warp([0])])
    assert timing.cycles == timing.end_cycle - timing.start_cycle + chip.grid_overhead_cycles


def test_lanes_on_one_address_take_turns_at_the_l2(chip):
    code = [make("ATOMG.ADD.U32", dst=0, a=1, b=2, mods=A64), ffma(1, 0), make("EXIT")]
    one, _ = run(chip, code, [warp([0], [access([0], conflicts=1)])])
    all_32, _ = run(chip, code, [warp([0], [access([0], conflicts=32)])])
    # 32 cycles of the atomic unit; where nobody competes, four passes of 2.4 for the 128 bytes of 32 lanes.
    assert rows(all_32)[1]["long_scoreboard"] - rows(one)[1]["long_scoreboard"] == 32 - 9


def test_blocks_spread_over_sms_first_and_follow_when_a_slot_is_free(chip):
    code = [ffma(0, 0)] * 20 + [make("EXIT")]
    three, _ = run(chip, code, [warp([0])] * 3)
    assert three.active_cycles_of_sm.tolist()[1] > 0
    many, _ = run(chip, code, [warp([0])] * (2 * 32 + 1))
    first = 100 + 2 + 20 * 4
    assert many.end_cycle > first + chip.block_launch_cycles


def test_the_blocks_of_a_cluster_start_together(chip):
    """63 of 64 slots are taken by long blocks: one long block more finds a slot, a cluster of it and two short ones has
    to wait.
    """
    code = [make("NANOSLEEP", imm=71, slot="b")] * 20 + [make("BRA", imm=-21 * 16, guard=0), make("EXIT")]
    long, short = warp([0] * 50 + [1]), warp([0, 1])
    alone, _ = run(chip, code, [long] * 64 + [short] * 2)
    together, _ = run(chip, code, [long] * 64 + [short] * 2, cluster=3)
    assert together.end_cycle > 1.8 * alone.end_cycle


def random_kernel(seed, n_warps, warps_per_block):
    """Straight-line code of all kinds, the same in every warp, with memory accesses of its own in each."""
    random = np.random.default_rng(seed)
    code, kinds = [], []
    for _ in range(40):
        kind = random.choice(["fma", "alu", "xu", "fp64", "lds", "ldg", "stg", "shfl", "fold", "bar"])
        d, a = (int(x) for x in random.integers(0, 6, 2))
        code.append(
            {
                "fma": lambda d=d, a=a: ffma(d, a),
                "alu": lambda d=d, a=a: make("IADD", dst=d, a=a, b=20),
                "xu": lambda d=d, a=a: make("MUFU.RCP", dst=d, a=a),
                "fp64": lambda d=d, a=a: make("DFMA", dst=d, a=a, b=7, c=8),
                "lds": lambda d=d, a=a: make("LDS.32", dst=d, a=a),
                "ldg": lambda d=d, a=a: make("LDG.32", dst=d, a=a, mods=A64),
                "stg": lambda d=d, a=a: make("STG.32", a=a, b=d, mods=A64),
                "shfl": lambda d=d, a=a: make("SHFL", dst=d, a=a, imm=0xFFFFFFFF),
                "fold": lambda d=d, a=a: make("LO.64", dst=d, a=a),
                "bar": lambda d=d, a=a: make("BAR.SYNC"),
            }[kind]()
        )
        kinds.append(kind)
    code.append(make("EXIT"))
    warps = []
    for _ in range(n_warps):
        accesses = []
        for kind in kinds:
            if kind == "lds":
                accesses.append(access((), wavefronts=int(random.integers(1, 9))))
            elif kind in ("ldg", "stg"):
                sectors = set(random.integers(0, 4000, int(random.integers(1, 33))).tolist())
                left_out = {s: int(random.integers(1, 256)) for s in sectors if kind == "stg" and s % 3}
                accesses.append(access(sectors, missing=left_out))
        warps.append(warp(list(range(kinds.count("bar") + 1)), accesses))
    return code, warps, warps_per_block


@pytest.mark.parametrize("seed", range(6))
def test_ledger_adds_up_and_two_runs_agree(chip, seed):
    code, warps, per_block = random_kernel(seed, 48, 4)
    sampling = Sampling(32, "all", seed=seed, fifo_depth=4096, drain_cycles=1)
    first, records = run(chip, code, warps, warps_per_block=per_block, sampling=sampling)
    again, records_again = run(chip, code, warps, warps_per_block=per_block, sampling=sampling)
    quiet, none = run(chip, code, warps, warps_per_block=per_block)
    assert int(first.ledger.sum()) == first.resident_warp_cycles
    assert int(first.ledger[:, INDEX["selected"]].sum()) == first.issue_slots
    assert (first.ledger == again.ledger).all() and records.tobytes() == records_again.tobytes()
    assert none is None and (first.ledger == quiet.ledger).all() and first.cycles == quiet.cycles


@pytest.mark.parametrize("mode", ["all", "random"])
def test_sampled_shares_converge_to_the_ledger(chip, mode):
    code, warps, per_block = random_kernel(3, 600, 4)
    sampling = Sampling(32 if mode == "random" else 128, mode, seed=1, fifo_depth=4096, drain_cycles=1)
    timing, records = run(chip, code, warps, warps_per_block=per_block, sampling=sampling)
    assert timing.samples_kept == len(records) and timing.samples_dropped == 0
    stall = records["stall_sm"] & ((1 << 22) - 1)
    first_bit = np.log2((stall & -stall.astype(np.int64)).astype(float)).astype(int)
    sampled = np.bincount(first_bit, minlength=len(NAMES)) / len(records)
    exact = timing.ledger.sum(axis=0) / timing.ledger.sum()
    # Two standard errors of a share of one half, widened for the correlation of the warps of one sample, and for the
    # end of the kernel, where fewer warps share an SM: the random mode takes them as often as many (docs/model.md).
    assert np.abs(sampled - exact).max() < 0.05


def test_every_warp_is_recorded_with_all_that_holds_it(chip):
    code = [make("LDS.32", dst=0, a=1), ffma(1, 0), make("EXIT")]
    _, records = run(chip, code, [warp([0], [access(())])], sampling=Sampling(32, "all"))
    # Resident from 100 to 127: cycle 102 issues the load, FFMA waits until 125, EXIT is at 126; only 128 and 96 are
    # sampled.
    assert records is None
    _, records = run(chip, code, [warp([0], [access((), wavefronts=32)])], sampling=Sampling(32, "all"))
    assert records.tolist() == [
        (0x1010, 1 << INDEX["short_scoreboard"], 128, 0, 0, 0xFFFFFFFF, 0, 0, 0, 1),
        (0x1010, 1 << INDEX["short_scoreboard"], 160, 0, 0, 0xFFFFFFFF, 0, 0, 0, 1),
    ]


def test_a_random_sample_says_among_how_many_warps_it_was_drawn(chip):
    """The mode `all` writes them all, so its records of an SM and cycle can be counted."""
    code, warps, per_block = random_kernel(3, 60, 4)
    together, drawn = (run(chip, code, warps, warps_per_block=per_block,
        sampling=Sampling(64, mode, fifo_depth=4096, drain_cycles=1))[1]
                       for mode in ("all", "random"))  # fmt: skip
    present = Counter(zip(together["cycle"].tolist(), (together["stall_sm"] >> 22).tolist(), strict=True))
    assert len(set(present.values())) > 4
    assert dict(present) == {(int(r["cycle"]), int(r["stall_sm"]) >> 22): int(r["resident"]) for r in drawn}
    assert (together["resident"] == [present[int(r["cycle"]), int(r["stall_sm"]) >> 22] for r in together]).all()


def test_a_full_fifo_drops_and_counts(chip):
    code, warps, per_block = random_kernel(1, 48, 4)
    sampling = Sampling(32, "all", fifo_depth=2, drain_cycles=100)
    timing, records = run(chip, code, warps, warps_per_block=per_block, sampling=sampling)
    assert timing.buffer_full and timing.samples_dropped > 0
    assert timing.samples_due == timing.samples_kept + timing.samples_dropped and timing.samples_kept == len(records)


def test_records_come_in_order_and_pieces_may_be_of_any_size(chip):
    code, warps, per_block = random_kernel(2, 240, 4)
    sampling = Sampling(64, "all", fifo_depth=4096, drain_cycles=1)
    whole, records = run(chip, code, warps, warps_per_block=per_block, sampling=sampling)
    pieces = [piece(warps[k : k + 12], per_block, k // per_block) for k in range(0, 240, 12)]
    parts, records_of_parts = run(chip, code, [], warps_per_block=per_block, sampling=sampling, pieces=pieces)
    assert (whole.ledger == parts.ledger).all() and records.tobytes() == records_of_parts.tobytes()
    order = np.stack([records["cycle"].astype(np.int64), records["stall_sm"] >> 22, records["warp_slot"]], 1).tolist()
    assert order == sorted(order)


def test_records_so_far_survive_a_fault_in_the_trace(chip):
    """The emulator finds the fault after the first piece: its records are in the sink by then."""
    code, warps, per_block = random_kernel(2, 256, 4)

    def pieces():
        yield piece(warps[:252], per_block)
        raise KernelFault("kernel k: out of bounds")

    got = []
    job = launch(encode(code), blocks=64, threads=128)
    with pytest.raises(KernelFault, match="out of bounds"):
        simulate(
            power_on(chip),
            job,
            pieces(),
            Sampling(32, fifo_depth=4096, drain_cycles=1),
            lambda some: got.append(len(some)),
            1 << 40,
        )
    assert sum(got) > 10


def test_a_launch_that_takes_too_long_is_stopped(chip):
    with pytest.raises(KernelFault, match="kernel k: still running after 100 cycles; raise --max-cycles"):
        run(chip, [ffma(0, 0)] * 400 + [make("EXIT")], [warp([0])], max_cycles=100)
