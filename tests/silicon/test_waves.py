"""How a grid is run wave by wave."""

from dataclasses import replace
from fractions import Fraction

import pytest

from gpuprof.device.launching.launch_text import parse_launch
from tests.silicon.cases import all_cases
from tests.silicon.ladder import Matrices, Rung, launches
from tests.silicon.run import steps
from tests.silicon.waves import Wave, check_sharing, corner, sharing_blocks, steps_of_grid, waves


@pytest.mark.parametrize(
    ("blocks", "parts", "sms", "resident", "wanted"),
    [
        # 1,024 blocks on 84 SMs of two: six times 168; a twelfth of the other 16 is less than two.
        (1024, 12, 7, 2, [Wave(14, 6), Wave(2, 1)]),
        # Four full waves.
        (1024, 16, 8, 2, [Wave(16, 4)]),
        # 1,024 on 82 SMs of one: the last 40 leave SMs free, and are about four on a part of eight.
        (1024, Fraction(41, 4), 8, 1, [Wave(8, 12), Wave(4, 1)]),
        # 256 on 82 SMs of two: the last 92 are two on some SMs.
        (256, Fraction(41, 4), 8, 2, [Wave(16, 1), Wave(9, 1)]),
        # Fewer blocks than parts.
        (4, Fraction(41, 4), 8, 2, [Wave(1, 1)]),
    ],
)
def test_waves(blocks, parts, sms, resident, wanted):
    assert waves(blocks, parts, sms, resident) == wanted


@pytest.mark.parametrize(
    ("grid", "blocks", "sms", "whole_sms", "wanted"),
    [
        # No more blocks than SMs: the most square rectangle.
        ((32, 32, 1), 16, 16, 128, (4, 4, 1)),
        ((2, 2, 1), 1, 7, 84, (1, 1, 1)),
        ((4, 4, 1), 7, 7, 84, (3, 2, 1)),  # 7 blocks are no rectangle of it
        # 84 SMs and rows of 32: an SM's blocks are of different columns, as with rows of 2 on 7 SMs, not of 7.
        ((32, 32, 1), 14, 7, 84, (2, 7, 1)),
        # 108 SMs and rows of 32, 9 SMs with three blocks each: 3 divides 9, as 9 does; all rectangles are in columns.
        ((32, 32, 1), 27, 9, 108, (9, 3, 1)),
        # 128 SMs and rows of 32: an SM has blocks of one column.
        ((32, 32, 1), 32, 16, 128, (8, 4, 1)),
        # Rows of one block.
        ((1, 64, 1), 12, 6, 108, (1, 12, 1)),
    ],
)
def test_corner(grid, blocks, sms, whole_sms, wanted):
    assert corner(grid, blocks, sms, whole_sms) == wanted


@pytest.mark.parametrize(
    ("grid", "blocks", "wanted"),
    [
        ((32, 32, 1), 160, 5),  # five rows of 32: a column has five blocks of them
        ((32, 32, 1), 168, 6),
        ((128, 128, 1), 84, 1),  # less than a row: no two are of a column
        ((2, 2, 1), 4, 2),
        ((4, 64, 1), 256, 4),  # rows are shorter than columns
        ((1, 64, 1), 64, 1),  # no two are of a row
        ((1024, 1, 1), 340, 1),
    ],
)
def test_blocks_that_share_a_tile(grid, blocks, wanted):
    assert sharing_blocks(grid, blocks) == wanted


def test_a_part_with_fewer_blocks_than_share_a_tile_is_refused():
    """132 SMs of one block have five rows of 32, the last one begun: five blocks share a tile. A part of four SMs runs
    four of them; of six it runs six.
    """
    check_sharing((32, 32, 1), 22, 6, 1)
    with pytest.raises(ValueError) as refused:
        check_sharing((32, 32, 1), 33, 4, 1)
    assert str(refused.value) == (
        "a part of 4 of 132 SMs runs 4 blocks at a time of a grid of (32, 32, 1), and 5 blocks share a tile on the "
        "chip: take fewer parts than 33, so that as many run at a time"
    )


def test_a_case_of_such_a_part_is_refused():
    """Sixteen blocks on a tenth of 80 SMs: two of them, and four share a tile. The case itself has all SMs."""
    (case,) = [case for case in all_cases()["wz"] if case.id == "wz-3090-k6-512"]
    assert [step.requests[-1].config.grid for step in steps(case, case.runs[0], "clang")] == [(4, 4, 1)]
    with pytest.raises(ValueError, match=r"runs 2 blocks at a time .* and 4 blocks share a tile"):
        steps(replace(case, parts=10), case.runs[0], "clang")


def test_a_step_has_the_corner_of_the_grid():
    request = parse_launch("k<<<(32, 32), 256>>>(1)")
    found = steps_of_grid([request], [Wave(14, 6), Wave(2, 1)], 7, 84)
    assert [(step.requests[0].config.grid, step.times) for step in found] == [((2, 7, 1), 6), ((2, 1, 1), 1)]


def test_what_the_l2_holds_is_brought_there():
    """Of matrices of 16 x 16: all three fit 3,072 bytes; one fits 1,024; none fits less."""
    rung = Rung("k", 4, "16")
    first = Matrices("a: f32[16*8]=random", "b: f32[8*16]=random", "c: f32[16*16]")
    assert launches(rung, 16, 8, 3072) == [first, Matrices("a", "b", "c")]
    assert launches(rung, 16, 8, 1024) == [first, Matrices("other: f32[16*8]=random", "b", "c")]
    by_rows = rung._replace(rows_first=True)
    assert launches(by_rows, 16, 8, 1024) == [first, Matrices("a", "other: f32[8*16]=random", "c")]
    assert launches(rung, 16, 8, 1023) == [first]


@pytest.mark.long
def test_as_many_blocks_as_are_resident():
    """46 to 48 warps of the 16-warp blocks are resident on an SM of GA102: three blocks on each of seven."""
    (case,) = [case for case in all_cases()["sib"] if case.id == "sib-a6000-k4"]
    full, last = steps(case, case.runs[0], "clang")
    assert (full.requests[-1].config.grid, full.times) == ((7, 3, 1), 16)
    assert last.requests[-1].config.grid == (3, 2, 1)
