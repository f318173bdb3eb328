"""What ended a stall when two things did in one cycle: counted by hand, one cycle earlier and one later beside it, and
by the readable twin.
"""

from pathlib import Path

import pytest

from gpuprof.chips import load_chip
from tests.readable.blame import causes_of
from tests.support.timing_support import access, make, run, warp
from tests.timing.test_hopper import A64, EXIT, TMA, TRY, agree, event

FILL = make("FFMA", dst=20, a=21, b=22, c=23)
GONE = (3, "self", 3)  # the fixed time behind the exit
STORES = [make("STG.32", a=40, b=k, mods=A64) for k in range(3)]


@pytest.fixture
def chip(tmp_path: Path):
    """Gives a chip of one SM like one that there is, with other numbers, and no address to be translated."""

    def like(name, **numbers):
        path = tmp_path / "chip.toml"
        path.write_text(
            "\n".join(
                [
                    f'inherits = "{name}"',
                    "sms = 1",
                    "tlb_entries = 0",
                    *(f"{key} = {value}" for key, value in numbers.items()),
                ]
            )
        )
        return load_chip(path)

    return like


def ended(chip, code, warps, reason, per_block=1) -> list[tuple]:
    """(instruction, kind of cause, cause's instruction) of the stalls for a reason. Engine and twin agree on them, and
    on everything else.
    """
    agree(chip, code, warps, per_block)
    timing, _ = run(chip, code, warps, warps_per_block=per_block)
    return sorted((pc, kind, cause_pc) for pc, why, kind, cause_pc, _ in causes_of(timing) if why == reason)


def test_two_registers(chip):
    """IADD issues at t, and its result is there for the FMA pipe at t + 4 + 1; that of an IMAD from that pipe at t + 1
    + 4. One cycle further apart it is the IMAD alone."""
    code = [make("IADD", dst=4, a=1, b=2), make("IMAD", dst=5, a=1, b=2, c=3), make("FADD", dst=9, a=4, b=5), EXIT]
    assert ended(chip("a100"), code, [warp([0])], "wait") == [(2, "result", 1), GONE]
    reads_one = [*code[:2], make("FADD", dst=9, a=4, b=6), EXIT]
    assert ended(chip("a100"), reads_one, [warp([0])], "wait") == [(2, "result", 0), GONE]
    assert [run(chip("a100"), each, [warp([0])])[0].cycles for each in (code, reads_one)] == [
        run(chip("a100"), code, [warp([0])])[0].cycles
    ] * 2


def test_two_stores(chip):
    """Behind a store of 32 sectors, which has the link for 16 cycles, two of one sector come at 16 and 16.5:
    acknowledged in one cycle, and the later one it is. Behind one of 31, at 15.5 and 16, that is so, too, but in two
    cycles."""
    warps = [[warp([0], [access(range(n)), access([400]), access([404])])] for n in (32, 31)]
    assert [ended(chip("a100"), [*STORES, EXIT], each, "drain") for each in warps] == [[(3, "store", 2)]] * 2


@pytest.mark.parametrize("gap, cause", [(45, "store"), (46, "self"), (47, "self")])
def test_a_store_and_the_fences_own_time(chip, gap, cause):
    """A fence keeps its warp until the last store is acknowledged, and membar_l2_cycles at least. The later it issues
    the shorter is the first: in one case both end at once, and then it is the fence."""
    code = [STORES[0], *[FILL] * gap, make("MEMBAR"), EXIT]
    at = gap + 1
    expected = (at, cause, 0 if cause == "store" else at)
    quick = chip("a100", membar_l2_cycles=20)
    assert ended(quick, code, [warp([0], [access([1])])], "membar") == [expected]


def test_two_copies_that_land_together(chip):
    """Two lines of one row of DRAM, which is opened once for both. A warp that comes after the phases ended, and before
    what they brought is there, waits for the copy that was asked for last."""
    code = [TMA, TMA, *[FILL] * 80, TRY, EXIT]
    warps = [warp([0], [event(0, 1, [0]), event(0, 1, [4]), event(0, 2)])]
    assert ended(chip("h200"), code, warps, "long_scoreboard") == [(82, "copy", 1)]


@pytest.mark.parametrize("gap, cause", [(11, "constant_miss"), (12, "constant"), (13, "constant")])
def test_a_constant_that_is_there_when_it_is_asked_for(chip, gap, cause):
    """The line that a first load has missed is there in the very cycle in which a second one looks: that has not waited
    for a miss.
    """
    loads = [make("LDC.32", dst=register, a=1) for register in (0, 2)]
    warps = [warp([0], [access([2]), access([2])])]
    reads_second = [loads[0], *[FILL] * gap, loads[1], make("FADD", dst=3, a=2, b=2), EXIT]
    like = chip("a100", constant_segment_cycles=46)
    assert ended(like, reads_second, warps, "short_scoreboard") == [(gap + 2, cause, gap + 1)]
    ended(like, [*reads_second[:-2], make("FADD", dst=3, a=0, b=2), EXIT], warps, "short_scoreboard")


@pytest.mark.parametrize("cycles, missed", [(19, "l0_miss"), (20, "l0_miss"), (21, "l1i_miss")])
def test_code_that_is_there_when_it_is_asked_for(chip, cycles, missed):
    """Two blocks start 20 cycles apart on two partitions. The line is on its way into the L1 for as long, or a cycle
    less or more: for the second it has missed the L1 in the last case alone."""
    found = chip("a100", prefetch_lines=0, l1i_miss_cycles=cycles, distributor_cycles=20)
    kinds = {("l1i_miss", 0), (missed, 0)}
    assert {(kind, pc) for _, kind, pc in ended(found, [FILL, EXIT], [warp([0])] * 2, "no_instructions")} == kinds
