"""Asynchronous units in the compiled model and in its readable twin: bulk copies, memory barriers, clusters,
multiplications of warp groups.
"""

from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.encoding import encode
from gpuprof.isa.stalls import INDEX
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate
from gpuprof.timing.state.machine import power_on
from tests.readable.blame import causes_of
from tests.readable.timing import ledger_of, recorded_stalls, stalls_of, time_launch
from tests.references.block_order import blocks_in_order
from tests.support.matrices import long_from
from tests.support.timing_support import access, launch, make, piece, run, warp

A64 = 1 << 6
WARPGROUP, LONG = INDEX["warpgroup_arrive"], INDEX["long_scoreboard"]
TMA = make("TMA.LOAD", a=60, b=8, c=62, mods=A64)
BULK_STORE = make("BULK.STORE", a=60, b=8, mods=A64)
BULK_RED = make("BULK.RED", a=60, b=8, mods=A64)
TRY = make("MBAR.TRY_WAIT.PARITY", dst=1, a=16, b=17)
ARRIVE = make("MBAR.ARRIVE", dst=9, a=16, b=17)
FENCE, COMMIT = make("WARPGROUP.ARRIVE"), make("WARPGROUP.COMMIT")
EXIT = make("EXIT")


def wgmma(columns: int, d: int = 64, kind: str = "SS"):
    """The rows of one m64n(columns)k16."""
    a = 12 if kind == "SS" else 24
    return [
        make(f"HGMMA.64x8x16.F32.{kind}", dst=d + 4 * k, a=a, b=14, c=d + 4 * k, e=7, imm=k)
        for k in range(columns // 8)
    ]


def wait(newest: int):
    return make("WARPGROUP.DEPBAR", imm=newest)


def event(key: int, count: int, sectors=(), *, wavefronts: int = 1, lanes: int = 1):
    """A record of a memory barrier: its key, and the phases that end, or must have."""
    sectors = sorted(sectors)
    lines = len({s >> 2 for s in sectors})
    return (len(sectors) & 255, min(lines, 255), wavefronts, wavefronts, lanes, key, count, len(sectors) >> 8), sectors


def arrival(key: int, count: int, lanes: int = 1):
    """A record of lanes that arrive at one memory barrier: its key, and the phases that end."""
    return (0, 0, 1, key, lanes, lanes, count, 0), []


def chip_of(tmp_path: Path, text: str):
    path = tmp_path / "chip.toml"
    path.write_text(text)
    return load_chip(path)


@pytest.fixture
def chip(tmp_path: Path):
    return chip_of(tmp_path, 'inherits = "h200"\nsms = 2\nblock_launch_cycles = 100\n')


def agree(chip, code, warps, per_block, cluster=1):
    """Runs both; every cycle of every resident warp is in the ledger (simulate asserts it), and both say the same of
    all.
    """
    sampling = Sampling(32, "all", fifo_depth=24, drain_cycles=3)
    timing, records = run(chip, code, warps, warps_per_block=per_block, sampling=sampling, cluster=cluster)
    job = launch(encode(code))
    twin = time_launch(
        chip, job.module.code, job.module.load_base, job.function, 32 * per_block, warps,
        period=32, every_warp=True, fifo_depth=24, drain=3, cluster=cluster,
    )  # fmt: skip
    assert ledger_of(timing) == dict(twin.ledger)
    assert recorded_stalls(timing) == stalls_of(twin)
    assert causes_of(timing) == twin.blame.rows()
    assert (timing.end_cycle, timing.samples_dropped, timing.issue_slots) == (
        twin.end,
        twin.dropped,
        twin.counts["issue_slots"],
    )
    assert [getattr(timing, name) for name in ("l2_sectors", "l2_hits")] == [
        twin.counts[name] for name in ("l2_sectors", "l2_hits")
    ]
    found = [
        (int(r["cycle"]), int(r["warp_slot"]), int(r["pc"]), int(r["stall_sm"]) & 0x3FFFFF, int(r["flags"]))
        for r in records
    ]
    assert sorted(found) == sorted((t, slot, pc, bits, flags) for t, _, slot, pc, bits, _, _, flags, *_ in twin.samples)
    return timing


@pytest.mark.parametrize("seed", long_from(2, range(4)))
def test_producer_and_consumers(chip, seed):
    """One warp of each block brings tiles, three multiply them: each stage has a barrier that says full and one that
    says empty.
    """
    random = np.random.default_rng(seed)
    stages, trips = int(random.integers(1, 4)), 6
    columns = int(random.choice([8, 64, 128]))
    kind = "SS" if seed % 2 else "RS"
    produce = [TRY, TMA, make("BRA", guard=0, imm=-16 * 3)]
    multiply = [
        FENCE,
        *wgmma(columns, kind=kind),
        *wgmma(columns, kind=kind),
        COMMIT,
        wait(int(random.integers(0, 2))),
        ARRIVE,
    ]
    consume = [TRY, *multiply, make("BRA", guard=0, imm=-16 * (len(multiply) + 2))]
    code = [make("BRA", guard=0, imm=16 * len(produce) + 16), *produce, EXIT, *consume, wait(0), BULK_STORE,
        make("BULK.COMMIT"),
            make("BULK.WAIT", imm=0), EXIT]  # fmt: skip
    # Blocks: 0 the branch; 1 try, 2 copy and jump; 3 exit; 4 try, 5 multiply and jump; 6 the end.
    warps = []
    for block in range(5):
        for number in range(4):
            if number == 0:
                accesses = []
                for k in range(trips):
                    first = int(random.integers(0, 4000)) * 4
                    accesses += [event(8 + k % stages, max(0, k // stages), lanes=int(k >= stages)),
                                 event(k % stages, 1, range(first, first + 4 * int(random.integers(1, 40))),
                                     wavefronts=int(random.integers(1, 60)))]  # fmt: skip
                warps.append(warp([0, *[1, 2] * trips, 3], accesses))
            else:
                accesses = []
                for k in range(trips):
                    accesses += [event(k % stages, k // stages + 1), arrival(8 + k % stages, int(number == 3))]
                accesses.append(event(0, 0, range(64 * block, 64 * block + 32), wavefronts=8))
                warps.append(warp([0, *[4, 5] * trips, 6], accesses))
    timing = agree(chip, code, warps, 4)
    assert timing.ledger[:, WARPGROUP].sum() > 0 and timing.ledger[:, LONG].sum() > 0


def test_blocks_that_wait_for_what_never_comes_are_let_go(chip):
    """Phases of another block, and barriers at which nobody else arrives: the trace says that the program got on."""
    code = [TRY, make("BAR.SYNC"), TRY, EXIT]
    warps = []
    for number in range(8):
        warps.append(warp([0, 1, 2, 3], [event(number % 3, 1), event(number % 2, 2)]))
    agree(chip, code, warps, 4)


def test_reductions_and_copies_of_nothing(chip):
    """A box that lies outside of its tensor brings zeros, and reads nothing; an unused copy has no lanes."""
    code = [TMA, BULK_RED, TRY, make("BULK.WAIT", imm=0), make("BULK.WAIT.READ", imm=0), EXIT]
    warps = [
        warp([0, 1], [event(number, 1, wavefronts=3), event(0, 0, range(number, number + 9)), event(number, 1)])
        for number in range(4)
    ] + [warp([0, 1], [event(number, 0, lanes=0), event(0, 0, lanes=0), event(number, 0)]) for number in range(4)]
    agree(chip, code, warps, 4)


@pytest.mark.parametrize("cluster", long_from(1, [4, 2]))
def test_clusters_start_together(tmp_path, cluster):
    chip = chip_of(tmp_path, 'inherits = "h200"\nsms = 2\nblock_launch_cycles = 100\nwarp_slots = 8\n')
    code = [
        *[make("LDG.32", dst=4, a=1, mods=A64), make("FADD", dst=5, a=4, b=4)] * 2,
        make("BAR.CLUSTER.ARRIVE"),
        make("BAR.CLUSTER.WAIT"),
        EXIT,
    ]
    blocks = basic(code)
    warps = [warp(blocks, [access([k, 40 * k]), access([7 * k])]) for k in range(12 * 4)]
    agree(chip, code, warps, 4, cluster)


def test_a_cluster_waits_for_its_last_slot(tmp_path):
    """Two slots, clusters of two. Of the second cluster one slot has been free for long when the other becomes so: both
    start after that.
    """
    chip = chip_of(tmp_path, 'inherits = "h200"\nsms = 1\nwarp_slots = 8\nblock_launch_cycles = 700\n')
    code = [make("BRA", guard=0, imm=16), *[make("NANOSLEEP", imm=400, slot="b")] * 3, EXIT]
    warps = [warp([0, 1, 2] if block == 1 else [0, 2]) for block in range(4) for _ in range(4)]
    timing, records = run(
        chip, code, warps, warps_per_block=4, sampling=Sampling(32, "all", fifo_depth=4096, drain_cycles=1), cluster=2
    )
    first, last = zip(
        *((int(c.min()), int(c.max())) for c in (records["cycle"][records["block"] == k] for k in range(4))),
        strict=True,
    )
    assert timing.samples_dropped == 0
    assert last[1] - last[0] > chip.block_launch_cycles
    assert 700 < first[2] - last[1] <= 700 + 64  # two sampling periods
    assert 0 <= first[3] - first[2] <= 64


@pytest.mark.parametrize("cluster", [(1, 1, 1), (2, 1, 1), (1, 2, 1), (2, 3, 1), (1, 1, 2), (2, 2, 2)])
def test_samples_have_the_blocks_number_in_the_grid(chip, cluster):
    """The block that is the k-th to run has an instruction of its own, number 2k."""
    grid = (4, 6, 2)
    n = 48
    code = encode([*[make("NANOSLEEP", imm=100, slot="b"), make("BRA", guard=0, imm=0)] * n, EXIT])
    job, records = launch(code, cluster=cluster, grid=grid), []
    traces = piece([warp([k, n]) for k in range(n)])
    sampling = Sampling(32, "all", fifo_depth=4096, drain_cycles=1)
    simulate(power_on(chip), job, iter([traces]), sampling, lambda rows: records.append(rows.copy()), 1 << 40)
    rows = np.concatenate(records)
    place = (rows["pc"].astype(int) - 0x1000) // 32
    assert set(place) >= set(range(n))
    inside = place < n
    order = blocks_in_order(grid, cluster)
    assert rows["block"][inside].tolist() == [order[k] for k in place[inside].tolist()]


def basic(code):
    """All basic blocks of a straight piece of code, in order."""
    from tests.support.timing_support import basic_block_starts

    return list(range(len(basic_block_starts(encode(code)))))


@pytest.mark.parametrize("seed", range(3))
def test_both_kinds_of_multiplication(tmp_path, seed):
    """mma.sync and wgmma of many warps on one pipe, with loads from shared memory between, on chips that issue one and
    two a cycle.
    """
    chip = chip_of(tmp_path, 'inherits = "h200"\nsms = 1\n' + ("dispatch_units = 2\n" if seed == 2 else ""))
    random = np.random.default_rng(seed)
    pieces = [
        lambda: wgmma(int(random.choice([8, 16, 64])), 64, str(random.choice(["SS", "RS"]))),
        lambda: [make("HMMA.16816.F32", dst=32, a=24, b=28, c=32)],
        lambda: [make("HMMA.16816.F32", dst=36, a=24, b=28, c=40)],
        lambda: [COMMIT], lambda: [wait(int(random.integers(0, 8)))], lambda: [FENCE],
        lambda: [make("LDS.32", dst=4, a=9)], lambda: [make("FADD", dst=5, a=4, b=64)],
        lambda: [make("FADD", dst=64, a=5, b=5)],
    ]  # fmt: skip
    code = [inst for _ in range(60) for inst in pieces[int(random.integers(0, len(pieces)))]()] + [wait(0), EXIT]
    loads = sum(inst.op.name == "LDS.32" for inst in code)
    warps = [
        warp(basic(code), [access((), wavefronts=int(random.integers(1, 9))) for _ in range(loads)]) for _ in range(12)
    ]
    agree(chip, code, warps, 4)


def test_a_multiplication_issues_once_and_does_not_hold_its_warp(chip):
    """m64n64k16: 8 rows of the table, one issue; the pipe is busy for 64 * 8 / 16 cycles, and the warp waits where the
    program does.
    """
    timing, _ = run(
        chip, [*wgmma(64), COMMIT, make("FADD", dst=5, a=4, b=4), wait(0), EXIT], [warp([0])] * 4, warps_per_block=4
    )
    assert timing.issue_slots == 4 * 5
    assert 15 <= timing.ledger[10, WARPGROUP] / 4 <= 40
    assert timing.ledger[:10, WARPGROUP].sum() == 0


@pytest.mark.parametrize(
    "columns, kind, cycles", [(256, "SS", 128), (128, "SS", 64), (64, "RS", 32), (16, "SS", 20), (8, "SS", 18)]
)
def test_throughput_of_warp_groups(chip, columns, kind, cycles):
    """Cycles of an m64nNk16 of f16: N / 2 on the pipe, unless its operands take longer: 16 cycles for A and N / 4 for
    B.
    """
    ends = []
    for times in (64, 32):
        code = [inst for k in range(times) for inst in wgmma(columns, kind=kind)] + [COMMIT, wait(0), EXIT]
        ends.append(run(chip, code, [warp([0])] * 4, warps_per_block=4)[0].cycles)
    assert (ends[0] - ends[1]) / 32 == pytest.approx(cycles, rel=0.02)


@pytest.mark.parametrize("passes", [1, 9])
def test_accesses_go_before_operands(chip, passes):
    """A group queues 128 m64n8k16, whose operands take 18 cycles each, and then 8 more. Another warp loads 32
    times from shared memory meanwhile: each load takes as long as without the group, and the last products as much
    longer as all loads keep the banks.
    """
    first, last = ([inst for _ in range(times) for inst in wgmma(8)] for times in (128, 8))
    multiply = [*first, COMMIT, wait(0), *last, COMMIT, wait(0), EXIT]
    load = [inst for _ in range(32) for inst in (make("LDS.32", dst=4, a=9), make("FADD", dst=9, a=4, b=4))] + [EXIT]
    code = [make("BRA", guard=0, imm=16 * len(multiply)), *multiply, *load]
    accesses = [access((), wavefronts=passes, conflicts=passes)] * 32
    idle, group, loader = warp([0, 3]), warp([0, 1]), warp([0, 2], accesses)
    together = agree(chip, [*code, EXIT], [group] * 4 + [loader] + [idle] * 3, 8)
    loads = agree(chip, [*code, EXIT], [idle] * 4 + [loader] + [idle] * 3, 8)
    products = agree(chip, [*code, EXIT], [group] * 4 + [idle] * 4, 8)
    short = INDEX["short_scoreboard"]
    assert together.ledger[:, short].sum() == loads.ledger[:, short].sum() > 0
    later = together.ledger[:, WARPGROUP].sum() - products.ledger[:, WARPGROUP].sum()
    assert later == pytest.approx(4 * 32 * passes, abs=16)


def test_all_but_the_newest_groups(chip):
    """Waiting for all but one group of two takes half as long as waiting for both."""
    code = [*wgmma(256), COMMIT, *wgmma(256), COMMIT, wait(1), wait(0), EXIT]
    timing, _ = run(chip, code, [warp([0])] * 4, warps_per_block=4)
    first, second = timing.ledger[66, WARPGROUP] / 4, timing.ledger[67, WARPGROUP] / 4
    assert first == pytest.approx(128, abs=12) and second == pytest.approx(128, abs=12)


def test_lanes_that_arrive_at_one_memory_barrier_take_turns(chip):
    """32 warps of 32 lanes keep the load/store unit for 1,024 cycles, those of one lane for 32. What each then loads
    from shared memory comes after its turns.
    """
    code = [ARRIVE, make("LDS.32", dst=2, a=9), make("FADD", dst=3, a=2, b=3), EXIT]
    cycles = {}
    for lanes in (1, 32):
        warps = [warp([0], [arrival(3, int(number == 31), lanes), access()]) for number in range(32)]
        cycles[lanes] = agree(chip, code, warps, 32).end_cycle
    assert cycles[32] - cycles[1] == pytest.approx(1024 - 32, abs=64)


def test_barriers_in_registers_are_told_apart(chip):
    """Two pairs of warps meet at barriers 1 and 2 of 64 threads; the second pair comes late, and the first does not
    wait for it.
    """
    code = [
        make("BRA", guard=0, imm=16 * 2), make("NANOSLEEP", imm=60, slot="b"), make("NANOSLEEP", imm=60, slot="b"),
        make("BAR.SYNC", a=20, b=21), make("FADD", dst=4, a=4, b=4), EXIT,
    ]  # fmt: skip
    barrier = [(0, 0, 0, 0, 1, 1 + pair, 2, 0) for pair in range(2)]
    warps = [warp([0, 2, 3], [(barrier[0], [])])] * 2 + [warp([0, 1, 2, 3], [(barrier[1], [])])] * 2
    timing = agree(chip, code, warps, 4)
    waited = int(timing.ledger[3, INDEX["barrier"]])
    assert waited < 4 * 3 * chip.barrier_cycles
    joined = [warp(blocks, [((0, 0, 0, 0, 1, 1, 4, 0), [])]) for blocks, _, _ in warps]
    assert agree(chip, code, joined, 4).ledger[3, INDEX["barrier"]] > 120 * chip.clock_mhz / 1000
    nobody = [warp(blocks, [((0, 0, 0, 0, 0, 0, 0, 0), [])]) for blocks, _, _ in warps]
    assert agree(chip, code, nobody, 4).ledger[3, INDEX["barrier"]] == 0


def test_banks_that_asynchronous_copies_write_to(chip):
    """Sixteen passes through the banks keep the load/store unit for sixteen cycles."""
    code = [*[make("CP.ASYNC.16", a=1, b=9, mods=A64)] * 8, make("CP.ASYNC.COMMIT"), make("CP.ASYNC.WAIT", imm=0), EXIT]
    cycles = [agree(chip, code, [warp([0], [access([1, 2], conflicts=n)] * 8)] * 16, 16).cycles for n in (16, 8)]
    assert cycles[0] - cycles[1] == pytest.approx(16 * 8 * 8, rel=0.1)
