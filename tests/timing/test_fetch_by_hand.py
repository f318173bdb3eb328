"""Instruction fetch with its stream buffer, the order of issue, and the queue in front of the texture units, cycle for
cycle by hand.
"""

import pytest

from gpuprof.chips import load_chip
from gpuprof.isa.stalls import INDEX
from gpuprof.timing.sampling.configuration import Sampling
from tests.support.timing_support import access, make, run, warp

LINE = 8  # instructions of 16 bytes
START = 100  # of the block


def chip_of(folder, **changes):
    path = folder / "chip.toml"
    # Memory instructions follow each other at once, and a warp is gone right behind its exit.
    numbers = {"sms": 1, "block_launch_cycles": START, "mio_gap_cycles": 1, "exit_cycles": 1, **changes}
    lines = [f"{name} = {value}" for name, value in numbers.items()]
    path.write_text("\n".join(['inherits = "a100"', "instruction_line_nbytes = 128", *lines, ""]))
    return load_chip(path)


def straight(lines):
    """One instruction a cycle, none of which waits for another: the two pipes in turn, eight registers each."""
    kinds = ("FFMA", "IADD") * (lines * LINE // 2)
    code = [make(kind, dst=k % 16, a=20, b=21, **({"c": 22} if kind == "FFMA" else {})) for k, kind in enumerate(kinds)]
    return [*code[:-1], make("EXIT")]


def waits(timing, reason="no_instructions"):
    """Cycles of that reason by instruction, where there are some."""
    return {k: int(row[INDEX[reason]]) for k, row in enumerate(timing.ledger) if row[INDEX[reason]]}


@pytest.mark.parametrize(
    "prefetch, lines, wanted",
    [
        # Alone, each line takes 200 + 20 cycles from when the warp comes to it.
        (0, 4, {0: 220, 8: 220, 16: 220, 24: 220}),
        # Line 1 is asked for with line 0 and comes with it, in 320. The warp comes to it in 328 and asks for line 2,
        # which is there in 548; it comes to line 2 in 336 and waits 212 cycles. It had asked for line 3 in that cycle:
        # there in 556, when it comes to it. So every other line waits.
        (1, 6, {0: 220, 16: 212, 32: 212}),
        # Lines 0 to 8 come in 320 and take until 391. Line 9 was asked for when the warp came to line 1, in 328: there
        # in 548, while it comes in 392.
        # Line 10, asked for in 336, is there in 556, when it comes to it, and so on to line 17. Line 18 was asked for
        # with line 10, in 556: there in 776, while the warp comes to it in 548 + 9 * 8 = 620. One wait for each nine
        # lines, of a fetch less eight lines.
        (8, 20, {0: 220, 9 * LINE: 156, 18 * LINE: 156}),
    ],
)
def test_the_stream_buffer_fetches_ahead(tmp_path, prefetch, lines, wanted):
    chip = chip_of(tmp_path, l0i_miss_cycles=20, l1i_miss_cycles=200, prefetch_lines=prefetch)
    timing, _ = run(chip, straight(lines), [warp([0])])
    assert waits(timing) == wanted
    assert timing.end_cycle == START + sum(wanted.values()) + lines * LINE


def test_what_another_partition_brought_is_in_the_l1(tmp_path):
    """Two warps, in two partitions. Neither L0 has the line; both ask in one cycle, and the L1 fetches it once: they go
    on together.
    """
    chip = chip_of(tmp_path, l0i_miss_cycles=20, l1i_miss_cycles=200, prefetch_lines=0)
    code = [make("BRA", guard=0, imm=16 * (LINE - 1)), *straight(2)[1:]]
    late = warp([0, 2])  # jumps to the second line
    timing, _ = run(chip, code, [warp([0, 1, 2]), late], warps_per_block=2)
    # Both come to line 0 in 100 and have it in 320. The one that jumps there asks for line 1 in 326 and has it in 546;
    # its six cycles' jump stands for the fetch, too. The other goes on 5 cycles behind the branch, runs through line 0
    # until 331 and comes to line 1 in 332: the L1 has it from 526 on, its own L0 in 546.
    assert waits(timing) == {0: 2 * 220, LINE: (546 - 321) + (546 - 332)}


def order_of_issue(chip, code, warps):
    """The warps in the order they issue, each run of one warp as (warp, instructions)."""
    issues = []
    for phase in range(32):  # a cell looks at every 32nd cycle
        sampling = Sampling(32, "all", phase_cycles=phase, drain_cycles=1)
        _, records = run(chip, code, warps, warps_per_block=len(warps), sampling=sampling)
        issues += [(int(r["cycle"]), int(r["warp"])) for r in records if r["stall_sm"] & 1 << INDEX["selected"]]
    runs = []
    for _, number in sorted(issues):
        if runs and runs[-1][0] == number:
            runs[-1][1] += 1
        else:
            runs.append([number, 1])
    return [tuple(one) for one in runs]


def test_four_warps_of_a_partition_as_published(tmp_path):
    """Huerta et al., MICRO 2025, figure 4a: four warps of one block in one sub-core of an RTX A6000, 32 independent
    instructions each.

    "The scheduler starts issuing instructions from the youngest warp, which is W3, until it misses in the Icache. [...]
    W2 hits [...] and when it reaches the point where W3 missed, the miss has already been served, [...] so the
    scheduler greedily issues that warp until the end. Afterward [...] W3 (the youngest warp) until the end", then W1
    and W0. Here W3 misses once behind the lines that came first, for fewer cycles than W2 has instructions before that.
    """
    chip = chip_of(tmp_path, partitions=1, warp_slots=16, l0i_miss_cycles=4, l1i_miss_cycles=20, prefetch_lines=1)
    assert order_of_issue(chip, straight(4), [warp([0])] * 4) == [(3, 16), (2, 32), (3, 16), (1, 32), (0, 32)]


def test_the_warp_that_became_ready_last_goes_first(tmp_path):
    """Three warps load from shared memory and wait, then issue 32 instructions each.

    The loads issue by age in 102 to 104. The address unit passes them on in 102, 106 and 110, so the warps are ready 23
    cycles later each. Warp 2 is ready first and issues to its end, from 125 to 156. By then both others are ready: warp
    0 since 133, warp 1 since 129. Warp 0 goes first though it is the oldest.
    """
    chip = chip_of(tmp_path, partitions=1, warp_slots=16, l0i_miss_cycles=1, l1i_miss_cycles=1)
    code = [make("LDS.32", dst=30, a=20), make("FFMA", dst=0, a=30, b=21, c=22), *straight(4)[1:]]
    warps = [warp([0], [access()])] * 3
    assert order_of_issue(chip, code, warps) == [(2, 1), (1, 1), (0, 1), (2, 32), (0, 32), (1, 32)]


def test_a_full_queue_throttles_texture_fetches(tmp_path):
    """Of eight passes each: four texture units, 32 lanes of a texel.

    The queue holds five, which issue back to back from 102 on. The address unit passes entry k to the L1's queue in 102
    + 4k, and the entry leaves 8 cycles later: in 110 the sixth issues, in 114 the seventh, in 118 the eighth. They wait
    from the cycle after the issue before: 3 cycles each.
    """
    chip = chip_of(tmp_path, l0i_miss_cycles=1, l1i_miss_cycles=1)
    n = 8
    code = [*(make("TEX.1D", dst=4 * k, a=40, b=42) for k in range(n)), make("EXIT")]
    timing, _ = run(chip, code, [warp([0], [access(range(4), wavefronts=8)] * n)])
    assert waits(timing, "tex_throttle") == {5: 110 - 107, 6: 114 - 111, 7: 118 - 115}
    assert not waits(timing, "lg_throttle") and not waits(timing, "mio_throttle")


def test_a_full_queue_of_the_l1_throttles(tmp_path):
    """Loads of eight passes, served in 102 + 8k, and a queue of two in front of the L1.

    The address unit passes entries 0 to 4 on in 102, 106, 110, 114 and 118; entry 5 waits there until entry 3 is served
    in 126, entry 6 until 134. Entries leave the partition's queue 8 cycles later: the sixth to the tenth load issue in
    110, 114, ..., 126, the eleventh in 134, the twelfth in 142.
    """
    chip = chip_of(tmp_path, l0i_miss_cycles=1, l1i_miss_cycles=1, l1_queue_depth=2)
    n = 12
    code = [*(make("LDG.32", dst=k, a=20, mods=1 << 6) for k in range(n)), make("EXIT")]
    timing, _ = run(chip, code, [warp([0], [access(range(4), wavefronts=8)] * n)])
    assert waits(timing, "lg_throttle") == {5: 3, 6: 3, 7: 3, 8: 3, 9: 3, 10: 7, 11: 7}


def test_a_full_queue_throttles_two_warps(tmp_path):
    """Seven loads each, by two warps of one partition, which take turns: the queue takes the one that has waited
    longer, and first warp 1, the younger. It is full from 106 on.

    Places get free in 110, 114, 118, ... as above, for warp 0 in 110. Its third load has waited in 107 to 109; each
    one after it, of both warps, waits for two places: six cycles, and the one in between for its turn.
    """
    chip = chip_of(tmp_path, partitions=1, warp_slots=16, l0i_miss_cycles=1, l1i_miss_cycles=1, l2_far_cycles=206)
    n = 7
    code = [*(make("LDG.32", dst=k, a=20, mods=1 << 6) for k in range(n)), make("EXIT")]
    timing, _ = run(chip, code, [warp([0], [access(range(4), wavefronts=8)] * n)] * 2, warps_per_block=2)
    assert waits(timing, "lg_throttle") == {2: 3, 3: 6 + 6, 4: 6 + 6, 5: 6 + 6, 6: 6 + 6}
    assert waits(timing, "not_selected") == {0: 1, 1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2}
