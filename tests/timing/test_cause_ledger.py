"""What ended each stall, counted by hand: small kernels of one or two warps, every kind of cause."""

from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import altered, load_chip
from gpuprof.isa import causes
from gpuprof.isa.modifiers import pack
from gpuprof.isa.stalls import INDEX
from tests.readable.blame import causes_of
from tests.support.timing_support import access, make, run, warp
from tests.timing.test_timing import random_kernel

A64 = 1 << 6
EXIT = make("EXIT")
OTHER, CONFLICT = causes.OTHER_WARP, causes.CONFLICT


@pytest.fixture(scope="module")
def chip(tmp_path_factory):
    """One SM of an A100 whose code is there at once but for the first line."""
    path = tmp_path_factory.mktemp("chip") / "chip.toml"
    path.write_text('inherits = "a100"\nsms = 1\nblock_launch_cycles = 100\nmio_gap_cycles = 1\nexit_cycles = 1\n')
    return load_chip(path)


def blamed(chip, code, warps, warps_per_block=1):
    """{(instruction, reason): {(kind, cause's instruction, flags): (cycles, stalls)}} without what fetch costs."""
    timing, _ = run(chip, code, warps, warps_per_block=warps_per_block)
    found = {}
    for (pc, reason, *cause), counts in causes_of(timing).items():
        if reason != "no_instructions":
            found.setdefault((pc, reason), {})[tuple(cause)] = counts
    return found


def ffma(dst, a, b=20, c=21):
    return make("FFMA", dst=dst, a=a, b=b, c=c)


def test_a_chain_of_results(chip):
    """Each FFMA reads the one before, 4 cycles after its issue: the 3 between are that one's."""
    found = blamed(chip, [ffma(0, 1), ffma(0, 0), ffma(0, 0), EXIT], [warp([0])])
    assert found[1, "wait"] == {("result", 0, 0): (3, 1)}
    assert found[2, "wait"] == {("result", 1, 0): (3, 1)}


def test_of_two_operands_the_later_one(chip):
    """Instruction 2 reads both; the first is ready a cycle sooner."""
    found = blamed(chip, [ffma(0, 9), ffma(1, 9), make("FADD", dst=2, a=0, b=1), EXIT], [warp([0])])
    assert found[2, "wait"] == {("result", 1, 0): (3, 1)}


def test_levels_of_the_memory(chip):
    """A line that a second load asks for while it is on its way, and a third when it is in the L1; then one that comes
    from the DRAM, and the L2.
    """
    load = make("LDG.32", dst=2, a=30, mods=A64)
    use = make("FADD", dst=3, a=2, b=2)
    again = make("LDG.32", dst=4, a=30, mods=A64)
    code = [load, again, make("FADD", dst=5, a=4, b=4), use, load, use, EXIT]
    found = blamed(chip, code, [warp([0], [access(range(4)), access(range(4)), access(range(4))])])
    assert list(found[2, "long_scoreboard"]) == [("pending", 1, 0)]
    assert (3, "long_scoreboard") not in found  # both came at once
    # Two of the cycles are a "wait": the FADD writes a register that the one before the load does.
    assert found[5, "long_scoreboard"] == {("l1", 4, 0): (chip.latency["memory"] - 1 - 2, 1)}
    found = blamed(
        chip,
        [load, use, make("LDG.32", dst=2, a=30, mods=A64 | 2 << 7), use, EXIT],
        [warp([0], [access(range(4))] * 2)],
    )
    ((kind, pc, flags),) = found[1, "long_scoreboard"]
    assert (kind, pc, flags) == ("dram", 0, 0)
    assert list(found[3, "long_scoreboard"]) == [("l2", 2, 0)]  # ld.cg asks the L2


def test_scattered_loads_and_bank_conflicts_say_so(chip):
    load, use = make("LDG.32", dst=2, a=30, mods=A64), make("FADD", dst=3, a=2, b=2)
    found = blamed(chip, [load, use, EXIT], [warp([0], [access(range(0, 32, 4))])])  # 8 sectors for 128 bytes
    assert list(found[1, "long_scoreboard"]) == [("dram", 0, CONFLICT)]
    load = make("LDS.32", dst=2, a=30)
    for passes, flags in ((1, 0), (2, CONFLICT)):
        found = blamed(chip, [load, use, EXIT], [warp([0], [access((), wavefronts=passes)])])
        assert list(found[1, "short_scoreboard"]) == [("shared", 0, flags)]


def test_an_access_behind_another(chip):
    """A load of one pass issues in the cycle after one of 32 and waits 31 for it, longer than its own 23 cycles."""
    code = [make("LDS.32", dst=2, a=30), make("LDS.32", dst=3, a=30), make("FADD", dst=4, a=3, b=3), EXIT]
    found = blamed(chip, code, [warp([0], [access((), wavefronts=32), access(())])])
    assert list(found[2, "short_scoreboard"]) == [("queued", 0, CONFLICT)]
    found = blamed(chip, code, [warp([0], [access((), wavefronts=16), access(())])])
    assert list(found[2, "short_scoreboard"]) == [("shared", 1, 0)]


def test_atomics(chip):
    code = [make("ATOMG.ADD.U32", dst=8, a=1, b=6, mods=A64), make("IADD", dst=9, a=8, b=8), EXIT]
    assert list(blamed(chip, code, [warp([0], [access([1])])])[1, "long_scoreboard"]) == [("atomic", 0, 0)]
    assert list(blamed(chip, code, [warp([0], [access([1], conflicts=9)])])[1, "long_scoreboard"]) == [
        ("atomic", 0, CONFLICT)
    ]


def test_the_last_warp_at_a_barrier(chip):
    """Three warps wait for one that slept: its line is the sleep's, and itself it waits only for the barrier to
    open.
    """
    code = [
        make("BRA", guard=0, imm=16 * 2), make("NANOSLEEP", imm=1000, slot="b"), make("FADD", dst=4, a=5, b=5),
        make("BAR.SYNC"), EXIT,
    ]  # fmt: skip
    found = blamed(chip, code, [warp([0, 2, 3])] * 3 + [warp([0, 1, 2, 3])], 4)
    blame = found[3, "barrier"]
    assert set(blame) == {("barrier", 1, OTHER), ("self", 3, 0)}
    assert blame["barrier", 1, OTHER][1] == 3
    assert blame["self", 3, 0] == (chip.barrier_cycles - 1, 1)
    assert found[1, "sleeping"] == {("self", 1, 0): (round(chip.clock_mhz) - 1, 1)}


def test_a_barrier_that_an_exit_opens(chip):
    """The warp that leaves instead of coming is the last; its longest stall is the sleep before."""
    code = [make("BRA", guard=0, imm=16 * 2), make("NANOSLEEP", imm=1000, slot="b"), EXIT, make("BAR.SYNC"), EXIT]
    found = blamed(chip, code, [warp([0, 2, 3]), warp([0, 1])], 2)
    assert list(found[3, "barrier"]) == [("barrier", 1, OTHER)]


def test_stalls_before_the_last_barrier_do_not_count(chip):
    """Both sleep before the first barrier, one before the second for less: that is what the other waits for there."""
    sleep = [make("NANOSLEEP", imm=n, slot="b") for n in (3000, 500)]
    code = [sleep[0], make("BAR.SYNC"), make("BRA", guard=0, imm=16), sleep[1], make("BAR.SYNC"), EXIT]
    found = blamed(chip, code, [warp([0, 1, 2, 3, 4]), warp([0, 1, 3, 4])], 2)
    assert ("barrier", 3, OTHER) in found[4, "barrier"]


def test_the_pipe_is_full(chip):
    """Two warps of one partition: the FP64 pipe takes one instruction in two cycles, so the second waits for the
    first.
    """
    more = [warp([0], [])] * 5  # the first and the fifth share a partition
    found = blamed(chip, [make("DADD", dst=2, a=10, b=11), EXIT], more)
    ((kind, pc, flags),) = found[0, "math_pipe_throttle"]
    assert (kind, pc, flags) == ("pipe", 0, OTHER)


def test_what_was_issued_instead(chip):
    """Two warps of one partition run independent instructions: the older one waits for the younger, which is served
    first.
    """
    code = [ffma(k, 30, 31, 32) for k in range(4)] + [EXIT]
    found = blamed(chip, code, [warp([0])] * 5, 5)
    others = {cause for (_, reason), rows in found.items() if reason == "not_selected" for cause in rows}
    assert others and all(kind == "scheduler" and flags == OTHER for kind, _, flags in others)


def test_the_queue_is_full(chip):
    """So many stores in a row that the queue is full: each waits for the one that leaves, `queue_depth` before it."""
    n = chip.queue_depth + 3
    code = [*[make("STS.32", a=1, b=2)] * n, EXIT]
    found = blamed(chip, code, [warp([0], [access((), wavefronts=16)] * n)])
    for k in range(chip.queue_depth, n):
        assert list(found[k, "mio_throttle"]) == [("queue", k - chip.queue_depth, CONFLICT)]


def test_own_slots_jumps_fences_and_the_drain(chip):
    store = make("STG.32", a=30, b=9, mods=A64)
    found = blamed(chip, [make("DDIV", dst=3, a=3, b=4), EXIT], [warp([0])])
    assert all(cause == ("slot", 0, 0) for cause in found[0, "wait"])
    found = blamed(chip, [make("BRA", imm=16), EXIT, make("MEMBAR", mods=pack(scope="cta")), EXIT], [warp([0, 2])])
    assert found[2, "branch_resolving"] == {("branch", 0, 0): (chip.branch_cycles - 1, 1)}
    assert found[2, "membar"] == {("self", 2, 0): (chip.membar_cycles - 1, 1)}
    found = blamed(chip, [store, store, EXIT], [warp([0], [access(range(4)), access(range(9, 17))])])
    assert list(found[2, "drain"]) == [("store", 1, CONFLICT)]
    code = [store, make("MEMBAR"), EXIT], [warp([0], [access(range(4))])]
    # A fence's own way to the L2 and back is longer than the store's, unless it is a short one.
    assert blamed(chip, *code)[1, "membar"] == {("self", 1, 0): (chip.membar_l2_cycles - 1, 1)}
    assert list(blamed(altered(chip, {"membar_l2_cycles": 20}, "quick"), *code)[1, "membar"]) == [("store", 0, 0)]


def test_constants_and_units(chip):
    code = [make("LDC.32", dst=3, a=4), ffma(0, 3), make("MUFU.EX2", dst=6, a=4, mods=pack(ftz=1)), ffma(1, 6), EXIT]
    found = blamed(chip, code, [warp([0], [access([2])])])
    assert list(found[1, "short_scoreboard"]) == [("constant_miss", 0, 0)]
    assert list(found[3, "short_scoreboard"]) == [("unit", 2, 0)]
    found = blamed(chip, [make("FADD", dst=0, a=3, imm=128, slot="b", const=True), EXIT], [warp([0])])
    assert list(found[0, "imc_miss"]) == [("constant_miss", 0, 0)]


def test_which_instruction_caches_missed(chip):
    """The first line is nowhere. A warp of another partition that comes later finds it in the L1."""
    timing, _ = run(chip, [ffma(0, 1), EXIT], [warp([0])] * 2)
    kinds = {cause[2] for cause in causes_of(timing) if cause[1] == "no_instructions"}
    assert "l1i_miss" in kinds
    cold = chip.l1i_miss_cycles + chip.l0i_miss_cycles
    assert sum(cycles for cause, (cycles, _) in causes_of(timing).items() if cause[2] == "l1i_miss") >= cold - 1


@pytest.mark.parametrize("seed", range(4))
def test_causes_have_the_cycles_and_stalls_of_the_ledger(chip, seed):
    instructions, warps, per_block = random_kernel(200 + seed, 24, 3)
    timing, _ = run(chip, instructions, warps, warps_per_block=per_block)
    ledger = timing.ledger.copy()
    ledger[:, INDEX["selected"]] = 0
    cycles, stalls = np.zeros_like(ledger), np.zeros_like(ledger)
    at = (timing.causes["pc"] - 0x1000) // 16, timing.causes["reason"]
    np.add.at(cycles, at, timing.causes["cycles"])
    np.add.at(stalls, at, timing.causes["stalls"])
    assert (cycles == ledger).all()
    counted = np.zeros_like(ledger)
    counted[timing.stalls["instruction"], timing.stalls["reason"]] = timing.stalls["bins"].sum(axis=1)
    assert (stalls == counted).all()


def test_more_causes_than_the_table_has_room_for(tmp_path: Path, monkeypatch):
    """It grows between two quanta; nothing is lost."""
    path = tmp_path / "chip.toml"
    path.write_text('inherits = "a100"\nsms = 1\nblock_launch_cycles = 100\nmio_gap_cycles = 1\nexit_cycles = 1\n')
    instructions, warps, per_block = random_kernel(7, 48, 3)
    whole, _ = run(load_chip(path), instructions, warps, warps_per_block=per_block)
    monkeypatch.setattr("gpuprof.timing.stall_causes.ROOM", 2)
    grown, _ = run(load_chip(path), instructions, warps, warps_per_block=per_block)
    assert (grown.causes == whole.causes).all()


def test_every_kind_has_a_name_of_its_own():
    assert len(set(causes.NAMES)) == len(causes.KINDS) <= 32
    assert len({kind.label for kind in causes.KINDS}) == len(causes.KINDS)
