"""Several grids on one machine: by hand, beside the readable twin, and sums that must come out."""

from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.causes import OTHER_LAUNCH, OTHER_WARP
from gpuprof.isa.encoding import encode
from gpuprof.isa.special import LAUNCH_SERVICE
from gpuprof.isa.stalls import INDEX, NAMES
from gpuprof.timing.batch import Grid
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate, simulate_batch
from gpuprof.timing.state.machine import power_on
from tests.readable.blame import causes_of
from tests.readable.grids import Job, time_grids
from tests.readable.timing import recorded_stalls, stalls_of
from tests.support.matrices import long_from
from tests.support.timing_support import access, launch, make, piece, warp
from tests.timing.test_timing import ffma, random_kernel

QUICK = (
    'inherits = "a100"\nsms = 2\nl0i_miss_cycles = 1\nl1i_miss_cycles = 1\nl2_far_cycles = '
    "206\nblock_launch_cycles = 100\n"
    "exit_cycles = 1\n"  # a warp is gone right behind its exit
)


def chip_of(tmp_path: Path, text: str = QUICK):
    path = tmp_path / "chip.toml"
    path.write_text(text)
    return load_chip(path)


def grid(code, warps, *, per_block=1, index=0, load_base=0x1000, registers=16, shared=0, **more) -> Grid:
    job = launch(
        encode(code),
        blocks=len(warps) // per_block,
        threads=32 * per_block,
        index=index,
        registers=registers,
        shared=shared,
    )
    job.module.load_base = load_base
    return Grid(job, iter([piece(warps, per_block)]), **more)


def batch(chip, grids, *, sampling=None, machine=None):
    records = []
    timings = simulate_batch(
        machine or power_on(chip), grids, sampling or Sampling(), lambda some: records.append(some.copy()), 1 << 40
    )
    return timings, np.concatenate(records) if records else None


CHAIN = [ffma(0, 0)] * 3 + [make("EXIT")]  # 102, 106, 110, 111 from a start at 100: gone at 112


def chain(n_blocks, **more) -> Grid:
    return grid(CHAIN, [warp([0])] * n_blocks, **more)


def times(timings):
    return [(timing.start_cycle, timing.end_cycle) for timing in timings]


def test_two_grids_at_once(tmp_path):
    """One block each: the second goes to the SM that has none, half a cycle later (distributor_cycles), and takes as
    long as it does alone.
    """
    chip = chip_of(tmp_path, QUICK + "distributor_cycles = 2.0\n")
    timings, _ = batch(chip, [chain(1), chain(1, index=1)])
    assert times(timings) == [(0, 112), (0, 114)]
    assert [timing.sm_active_cycles for timing in timings] == [12, 12]
    assert [timing.active_cycles_of_sm.tolist() for timing in timings] == [[12, 0], [0, 12]]


def test_one_after_the_other(tmp_path):
    """A grid that waits is ready launch_cycles after the end of the other, and its first block starts
    block_launch_cycles later.
    """
    timings, _ = batch(chip_of(tmp_path), [chain(1), chain(1, index=1, after=(0,), launch_cycles=5000)])
    # Cold fetch is gone: the second run's instructions issue at 0, 4, 8 and 9 of its 10 cycles.
    assert times(timings) == [(0, 112), (5112, 5112 + 110)]


@pytest.mark.parametrize("longer_first", [True, False])
def test_after_two_that_end_in_one_quantum(tmp_path, longer_first):
    """SMs run one after the other, so the end that comes first may be seen last: a grid that waits for both waits for
    the later one.
    """
    lengths = (4, 3) if longer_first else (3, 4)
    both = [grid([ffma(0, 0)] * n + [make("EXIT")], [warp([0])], index=k) for k, n in enumerate(lengths)]
    timings, _ = batch(chip_of(tmp_path), [*both, chain(1, index=2, after=(0, 1), launch_cycles=5000)])
    (_, one), (_, other), (start, _) = times(timings)
    assert one != other and one // 64 == other // 64
    assert start == max(one, other) + 5000


def test_alone_a_launch_takes_as_long_whenever_it_starts(tmp_path):
    code, warps, per_block = random_kernel(3, 24, 3)
    chip = chip_of(tmp_path)
    timings = [
        batch(chip, [grid(code, warps, per_block=per_block, launch_cycles=cycles)])[0][0] for cycles in (0, 5000, 12345)
    ]
    assert [timing.start_cycle for timing in timings] == [0, 5000, 12345]
    assert len({timing.cycles for timing in timings}) == 1
    assert (timings[0].ledger == timings[2].ledger).all()


def test_a_later_grid_gets_what_is_left_over(tmp_path):
    """Two SMs with room for one block each (of 32 warps, by warp slots). The second grid's blocks follow the last of
    the first.
    """
    chip = chip_of(tmp_path, QUICK + "warp_slots = 32\n")
    first = grid(CHAIN, [warp([0])] * 32 * 3, per_block=32)
    timings, _ = batch(chip, [first, grid(CHAIN, [warp([0])] * 32, per_block=32, index=1)])
    alone, _ = batch(chip, [grid(CHAIN, [warp([0])] * 32 * 3, per_block=32)])
    assert times(timings)[0] == times(alone)[0]
    begin, end = times(timings)[1]
    # The third block takes the SM that was free first; the other is free a little later, while the third has yet to
    # start.
    assert begin < times(alone)[0][1] < end


def test_nobody_overtakes_the_head(tmp_path):
    """A block of 32 warps waits for the SM on which 16 run; a small one behind it would find room, and waits, too."""
    chip = chip_of(tmp_path, QUICK.replace("sms = 2", "sms = 1") + "warp_slots = 32\n")
    long = grid([ffma(0, 0)] * 200 + [make("EXIT")], [warp([0])] * 16, per_block=16)
    large = grid(CHAIN, [warp([0])] * 32, per_block=32, index=1)
    timings, _ = batch(chip, [long, large, chain(1, index=2)])
    (_, first_end), (second, _), (third, _) = times(timings)
    assert second == first_end <= third
    free, _ = batch(
        chip, [grid([ffma(0, 0)] * 200 + [make("EXIT")], [warp([0])] * 16, per_block=16), chain(1, index=1)]
    )
    assert times(free)[1][0] == 0


def test_the_smaller_number_has_priority(tmp_path):
    """Both are ready at once on one SM with room for one block: the later launch goes first, all of it."""
    chip = chip_of(tmp_path, QUICK.replace("sms = 2", "sms = 1") + "warp_slots = 32\n")
    blocks = [warp([0])] * 64
    timings, _ = batch(
        chip, [grid(CHAIN, blocks, per_block=32), grid(CHAIN, blocks, per_block=32, index=1, priority=-1)]
    )
    (low, low_end), (high, high_end) = times(timings)
    assert high == 0 and low == high_end < low_end


def test_a_full_pool(tmp_path):
    """With room for one active grid, the second's first block starts when the first grid has ended."""
    timings, _ = batch(chip_of(tmp_path, QUICK + "max_active_grids = 1\n"), [chain(1), chain(1, index=1)])
    assert times(timings)[0] == (0, 112)
    assert times(timings)[1][0] == 112


@pytest.mark.parametrize("longer_first", [True, False])
def test_two_that_end_in_one_quantum_free_a_full_pool(tmp_path, longer_first):
    """There is room for a third grid from the end of the shorter one on, which may be seen after the longer one's."""
    lengths = (4, 3) if longer_first else (3, 4)
    both = [grid([ffma(0, 0)] * n + [make("EXIT")], [warp([0])], index=k) for k, n in enumerate(lengths)]
    timings, _ = batch(chip_of(tmp_path, QUICK + "max_active_grids = 2\n"), [*both, chain(1, index=2)])
    (_, one), (_, other), (start, _) = times(timings)
    assert one != other and one // 64 == other // 64
    assert start == min(one, other)


def test_a_dependent_grid_starts_when_it_is_let_and_waits_where_it_says(tmp_path):
    """The first grid's only block issues at 102, 106 and 110 and lets the second start at 111. That one's block starts
    100 later, waits at its first instruction, and goes on block_launch_cycles after the first grid has ended."""
    signals = [*[ffma(0, 0)] * 3, make("GRIDDEP.LAUNCH"), *[ffma(0, 0)] * 200, make("EXIT")]
    waits = [make("GRIDDEP.WAIT"), ffma(0, 0), make("EXIT")]
    grids = [grid(signals, [warp([0])]), grid(waits, [warp([0])], index=1, after_signal=(0,), launch_cycles=50)]
    (first, second), _ = batch(chip_of(tmp_path), grids)
    assert (first.start_cycle, second.start_cycle) == (0, 111)
    assert second.end_cycle == first.end_cycle + 100 + 2  # FFMA, EXIT
    assert second.ledger[0, INDEX["membar"]] == first.end_cycle + 100 - (211 + 2) - 1
    # Of two blocks both must say so; one that says nothing does when it ends.
    grids = [
        grid(signals, [warp([0])] * 2),
        grid(CHAIN, [warp([0])], index=1),
        grid(waits, [warp([0])], index=2, after_signal=(1,)),
    ]
    (_, quiet, last), _ = batch(chip_of(tmp_path), grids)
    assert last.start_cycle == quiet.end_cycle


def test_a_warp_that_waits_for_a_grid_that_has_just_ended(tmp_path):
    """The first grid lets the second start in cycle 102 and ends before its block begins, in 202. Its wait, which
    issues in 204, sees that no sooner than one that had begun to wait before: 100 cycles after the end. Had it ended
    100 cycles before, there would be nothing to wait for."""
    signals = [make("GRIDDEP.LAUNCH"), *[ffma(0, 0)] * 6, make("EXIT")]
    waits = [make("GRIDDEP.WAIT"), ffma(0, 0), make("EXIT")]
    grids = [grid(signals, [warp([0])]), grid(waits, [warp([0])], index=1, after_signal=(0,))]
    (first, second), _ = batch(chip_of(tmp_path), grids)
    assert second.start_cycle == 102 and 104 < first.end_cycle < 202
    assert second.ledger[0, INDEX["membar"]] == first.end_cycle + 100 - 204 - 1
    grids = [
        grid(signals[:1] + signals[-1:], [warp([0])]),
        grid(waits, [warp([0])], index=1, after_signal=(0,), load_base=0x2000),
    ]
    (first, second), _ = batch(chip_of(tmp_path), grids)
    assert first.end_cycle + 100 <= 205 and second.ledger[0, INDEX["membar"]] == 0


def test_an_empty_sm_is_divided_anew_for_who_wants_more_shared_memory(tmp_path):
    """Two blocks of 32 warps, one after the other, load one sector: the first load misses, 63 hit. If a grid that wants
    100 KB of shared memory comes during the first block, the second finds the SM divided anew, and its L1 empty. If
    that grid comes during the second, it waits for it."""
    chip = chip_of(tmp_path, QUICK.replace("sms = 2", "sms = 1") + "warp_slots = 32\n")
    code = [make("LDG.32", dst=0, a=20, mods=1 << 6), ffma(1, 0), make("EXIT")]

    def hits(*others):
        timings, _ = batch(chip, [grid(code, [warp([0], [access([0])])] * 64, per_block=32), *others])
        assert all(timing.start_cycle >= timings[0].end_cycle for timing in timings[1:])  # all warp slots are taken
        return timings[0].l1_hits

    assert hits() == 63
    assert [hits(chain(1, index=1, launch_cycles=cycles, shared=100 << 10)) for cycles in (300, 1000)] == [62, 63]
    # One that wants as little (of 1 KB a block that the chip keeps for itself) changes nothing.
    assert hits(grid(CHAIN, [warp([0])] * 32, per_block=32, index=1, launch_cycles=300)) == 63


@pytest.mark.parametrize(
    ("resource", "more"),
    # An SM has 65,536 registers and gives a warp of 128-register threads 4,096; 100 KB of shared memory go into its 164
    # once.
    [("registers", {"registers": 128}), ("shared", {"shared": 100 << 10})],
)
def test_blocks_of_two_grids_share_registers_and_shared_memory(tmp_path, resource, more):
    chip = chip_of(tmp_path, QUICK.replace("sms = 2", "sms = 1"))
    per_block = 16 if resource == "registers" else 1

    def large(index):
        return grid(CHAIN, [warp([0])] * per_block, per_block=per_block, index=index, **more)

    timings, _ = batch(chip, [large(0), large(1)])
    (_, first_end), (second, _) = times(timings)
    assert second == first_end
    timings, _ = batch(chip, [large(0), chain(1, index=1, registers=8)])
    beside = resource == "shared"  # a warp with few registers finds none either where all are taken
    assert (times(timings)[1][0] == 0) == beside


TWIN_CHIPS = {
    "two": 'inherits = "a100"\nsms = 2\nprefetch_lines = 0\n',
    "crowded": 'inherits = "v100"\nsms = 1\nwarp_slots = 16\nl1_mshrs = 16\nl2_nbytes = 16384\nprefetch_lines = '
    "0\nmax_active_grids = 2\n",
    "hopper": 'inherits = "h200"\nsms = 3\nprefetch_lines = 0\n',
}


@pytest.mark.parametrize("chip_name", long_from(1, TWIN_CHIPS))
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)])
def test_twin(tmp_path, chip_name, seed):
    """Five grids of different kernels: two at once, one after the first, one of higher priority that comes late, and
    one that depends on it.
    """
    chip = chip_of(tmp_path, TWIN_CHIPS[chip_name])
    kernels = [
        random_kernel(50 + 10 * seed + k, n, per_block)
        for k, (n, per_block) in enumerate([(24, 3), (16, 2), (8, 4), (10, 1), (12, 2)])
    ]
    kernels[3][0].insert(5, make("GRIDDEP.LAUNCH"))
    kernels[4][0].insert(3, make("GRIDDEP.WAIT"))
    how = [
        {},
        {},
        {"after": (0,), "launch_cycles": 300},
        {"launch_cycles": 700, "priority": -2},
        {"after_signal": (3,), "launch_cycles": 90},
    ]
    resources = [
        {"registers": 40},
        {"registers": 64},
        {"registers": 16, "shared": 3000},
        {"registers": 24},
        {"registers": 32},
    ]
    beside_the_twin(chip, kernels, how, resources)


def beside_the_twin(chip, kernels, how, resources):
    """Times kernels, with what each waits for and needs, twice."""
    grids, jobs, load_base = [], [], 0x1000
    for index, ((code, warps, per_block), more, needs) in enumerate(zip(kernels, how, resources, strict=True)):
        grids.append(grid(code, warps, per_block=per_block, index=index, load_base=load_base, **needs, **more))
        function = launch(encode(code), **needs).function
        jobs.append(Job(encode(code), function, 32 * per_block, warps, **more))
        load_base += 16 * len(code)
    timings, _ = batch(chip, grids)
    twin = time_grids(chip, jobs)
    assert times(timings) == [(job.start, job.end) for job in jobs]
    ledger = np.concatenate([timing.ledger for timing in timings])
    assert {(pc, NAMES[k]): int(n) for pc, row in enumerate(ledger) for k, n in enumerate(row) if n} == dict(
        twin.ledger
    )
    assert recorded_stalls(*timings) == stalls_of(twin)
    assert causes_of(*timings) == twin.blame.rows()
    for name in ("issue_slots", "l1_sectors", "l1_hits", "l2_sectors", "l2_hits"):
        assert sum(getattr(timing, name) for timing in timings) == twin.counts[name], name
    return timings


def test_sums_of_three_that_overlap(tmp_path):
    chip = chip_of(tmp_path, 'inherits = "a100"\nsms = 4\n')
    kernels = [random_kernel(70 + k, 48, 4) for k in range(3)]
    sampling = Sampling(32, "all", fifo_depth=4096, drain_cycles=1)
    grids = [grid(code, warps, per_block=4, index=k) for k, (code, warps, _) in enumerate(kernels)]
    timings, records = batch(chip, grids, sampling=sampling)
    assert len({timing.start_cycle for timing in timings}) == 1 and all(timing.cycles > 0 for timing in timings)
    for k, (timing, (code, warps, _)) in enumerate(zip(timings, kernels, strict=True)):
        mine = records[records["launch"] == k]
        assert int(timing.ledger.sum()) == timing.resident_warp_cycles
        assert int(timing.ledger[:, INDEX["selected"]].sum()) == timing.issue_slots
        assert timing.warps_launched == len(warps) and timing.samples_kept == len(mine) and timing.samples_dropped == 0
        assert mine["pc"].min() >= 0x1000 and mine["pc"].max() < 0x1000 + 16 * len(code)
        n_sectors = sum(
            len(sectors) for _, accesses, _ in warps for (_, _, _, _, lanes, *_), sectors in accesses if lanes
        )
        loads = timing.l1_sectors
        assert timing.l1_hits <= loads <= n_sectors
        # What goes to the L2: what the loads missed, and what was stored.
        assert timing.l2_sectors == (loads - timing.l1_hits) + (n_sectors - loads)
    resident = sum(timing.resident_warp_cycles for timing in timings)
    assert abs(len(records) * 32 - resident) < 0.1 * resident  # every resident warp is seen every 32 cycles
    assert (np.diff(records["cycle"].astype(np.int64)) >= 0).all()
    alone = [batch(chip, [grid(code, warps, per_block=4)])[0][0] for code, warps, _ in kernels]
    assert max(timing.end_cycle for timing in timings) < sum(timing.cycles for timing in alone)


def test_a_stall_that_another_launch_ended_says_so(tmp_path):
    """Two launches whose warps share the partitions of one SM: the flag stands at each cause whose code is the other's,
    and nowhere else.
    """
    chip = chip_of(tmp_path, QUICK.replace("sms = 2", "sms = 1"))
    code = [ffma(k % 8, 9) for k in range(60)] + [make("EXIT")]
    size = 16 * len(code)
    grids = [grid(code, [warp([0])] * 4, per_block=4, index=k, load_base=0x1000 + size * k) for k in (0, 1)]
    timings, _ = batch(chip, grids)
    found = []
    for number, timing in enumerate(timings):
        others = (timing.causes["cause_pc"] - 0x1000) // size != number
        assert ((timing.causes["flags"] & OTHER_LAUNCH != 0) == others).all()
        assert (timing.causes["flags"][others] & OTHER_WARP).all()
        found += others.tolist()
    assert 0 < sum(found) < len(found)  # the second one comes to its turn when the first has ended


def test_in_a_chain_as_one_by_one(tmp_path):
    """Grids that follow each other in a batch take as long as launches one by one on the same machine: caches and
    all.
    """
    chip = chip_of(tmp_path, 'inherits = "a100"\nsms = 2\n')
    kernels = [random_kernel(90 + k, 24, 3) for k in range(3)]
    machine, alone, gaps = power_on(chip), [], [0]
    for index, (code, warps, per_block) in enumerate(kernels):
        one = grid(code, warps, per_block=per_block, index=index)
        alone.append(simulate(machine, one.launch, one.pieces, Sampling(), lambda _: None, 1 << 40))
        gaps.append(-machine.cycle % 64 + 64)  # so that both begin where a quantum does
        machine.cycle += gaps[-1]
    chained = [
        grid(code, warps, per_block=per_block, index=k, after=(k - 1,) if k else (), launch_cycles=gaps[k])
        for k, (code, warps, per_block) in enumerate(kernels)
    ]
    timings, _ = batch(chip, chained)
    assert times(timings) == times(alone)
    assert all((one.ledger == other.ledger).all() for one, other in zip(timings, alone, strict=True))
    assert [timing.l2_hits for timing in timings] == [timing.l2_hits for timing in alone]


def test_sampling_changes_nothing_where_the_machine_is_idle(tmp_path):
    """Samples make the engine look at quanta in which nothing happens: a grid that gets ready in one is placed at the
    same cycle all the same.
    """
    chip = chip_of(tmp_path, 'inherits = "a100"\nsms = 2\n')

    def spans(sampling):
        code, warps, per_block = random_kernel(95, 24, 3)
        loads = [make("LDG.32", dst=0, a=1, mods=1 << 6), ffma(0, 0), make("EXIT")]
        grids = [
            grid(loads, [warp([0], [access([k])]) for k in range(4)]),
            grid(code, warps, per_block=per_block, index=1, launch_cycles=448),
            grid(CHAIN, [warp([0])], index=2, launch_cycles=64 * 300),
        ]
        return times(batch(chip, grids, sampling=sampling)[0])

    assert spans(None) == spans(Sampling(32, "all", fifo_depth=4096, drain_cycles=1))


def launching(kernel):
    """A random kernel that launches twice: ahead of its sixth instruction, and of its last."""
    code, warps, per_block = kernel
    code = [*code[:5], LAUNCH_ONE, *code[5:-1], LAUNCH_ONE, code[-1]]
    return code, [warp(list(range(len(blocks) + 2)), accesses) for blocks, accesses, _ in warps], per_block


LAUNCH_ONE = make("SYSCALL", imm=LAUNCH_SERVICE)


def test_a_kernel_launches(tmp_path):
    """A launch is ready launch_cycles after its instruction issues for the last time, whatever was launched before
    it.
    """
    code = [ffma(0, 0), LAUNCH_ONE, ffma(0, 0), LAUNCH_ONE, *[ffma(0, 0)] * 200, make("EXIT")]
    by = {"launch_cycles": 700}
    grids = [
        grid(code, [warp([0, 1, 2])]),
        *(chain(1, index=k, launched_by=(0, 0, turn), **by) for k, turn in ((1, 20), (2, 10), (3, 20))),
    ]
    (parent, late, early, late_too), _ = batch(chip_of(tmp_path), grids)
    # FFMA issues at 102, the eight slots of SYSCALL two cycles apart from 103 to 117; the next FFMA at 118, the next
    # SYSCALL from 119 to 133.
    assert parent.ledger[1, INDEX["selected"]] == 8
    assert (early.start_cycle, late.start_cycle) == (117 + 700, 133 + 700)
    # Ready with the one before it, it becomes the head when that has no block left: at the end of the quantum in which
    # they are ready.
    assert late_too.start_cycle == 896
    # Their kernel is still running.
    assert late_too.start_cycle < parent.end_cycle


@pytest.mark.parametrize("seed", long_from(1, range(3)))
def test_the_twin_agrees_on_launches_of_kernels(tmp_path, seed):
    """Two blocks of one grid launch; one that is launched launches; one waits for another, too."""
    chip = chip_of(tmp_path, QUICK + "warp_slots = 16\nmax_active_grids = 3\n")
    kernels = [random_kernel(200 + 10 * seed + k, 8, 2) for k in range(5)]
    kernels[0], kernels[2] = launching(kernels[0]), launching(kernels[2])
    how = [
        {},
        {"launched_by": (0, 5, 7), "launch_cycles": 90},
        {"launched_by": (0, 5, 3), "launch_cycles": 200},
        {"launched_by": (2, 0, 1), "launch_cycles": 35, "after": (1,)},
        {"launched_by": (0, 1, 1), "launch_cycles": 1},
    ]
    timings = beside_the_twin(chip, kernels, how, [{}] * 5)
    assert timings[0].start_cycle < min(timing.start_cycle for timing in timings[1:])
