"""The sentences of a difference."""

import pytest

from gpuprof.compare.changes import Change
from gpuprof.compare.difference import KernelSide, LaunchSide, Where, difference_of
from gpuprof.compare.kernels import CONTENT, KernelName, KernelPair
from gpuprof.compare.lines import Line, Passage, Spot
from gpuprof.isa.causes import NAMES as KINDS
from gpuprof.isa.stalls import INDEX, NAMES
from gpuprof.report.differences.words import (
    CONFLICTS,
    ENDED_BY,
    WAITS_FOR,
    Group,
    amount,
    headline,
    kernel_notes,
    speed,
    waits_for,
)


@pytest.mark.parametrize(
    "number, text",
    [(7, "7"), (99_999, "99,999"), (100_000, "100 K"), (999_499, "999 K"), (2_712_345, "2.71 M"), (9 * 10**9, "9 G")],
)
def test_amounts(number, text):
    assert amount(number) == text


@pytest.mark.parametrize(
    "old, new, text",
    [
        (10_000, 11_200, "12.0 % slower (10,000 -> 11,200 cycles)"),
        (11_200, 10_000, "10.7 % faster (11,200 -> 10,000 cycles)"),
        (100_000, 100_001, "0.001 % slower (100,000 -> 100,001 cycles)"),
        (500, 500, "as fast as before (500 cycles)"),
        (1000, 1999, "99.9 % slower (1,000 -> 1,999 cycles)"),
        (1000, 2000, "2.0 times as long as before (1,000 -> 2,000 cycles)"),
        (0, 5, "slower (0 -> 5 cycles)"),
    ],
)
def test_speed(old, new, text):
    assert speed(Change("cycles", old, new)) == text


def test_every_stall_reason_has_words():
    assert {*WAITS_FOR, "selected"} == set(NAMES)
    assert CONFLICTS.keys() < WAITS_FOR.keys()
    assert ENDED_BY.keys() < set(KINDS)


@pytest.mark.parametrize(
    "reason, kind, conflict, words",
    [
        ("short_scoreboard", "shared", True, "bank conflicts"),
        ("short_scoreboard", "queued", True, "bank conflicts"),
        ("short_scoreboard", "shared", False, "data from shared memory"),
        ("long_scoreboard", "dram", True, "uncoalesced accesses"),
        ("long_scoreboard", "dram", False, "data from DRAM"),
        ("long_scoreboard", "", False, "data from global or local memory"),
        ("barrier", "barrier", True, "other warps at a barrier"),
    ],
)
def test_what_a_line_waits_for(reason, kind, conflict, words):
    assert waits_for(Group(0, INDEX[reason], kind, conflict)) == words


def side(text: str, cycles: int, reason: str, cost: int, path: str = "a.cu", shape: str = "<<<1, 32>>>") -> KernelSide:
    lines = tuple(Line(n, line) for n, line in enumerate(text.split("|"), 1))
    own, other = Passage("k", "a.cu", (Line(9, "{"),), True), Passage("f", path, lines)
    launch = LaunchSide(0, f"k{shape}", shape, cycles, cost)
    return KernelSide((own, other), {Where(Spot(1, len(lines) - 1), INDEX[reason]): cost}, (launch,))


PAIR = KernelPair(KernelName(0, "k", "k", "a.cu"), KernelName(0, "k2", "k2", "a.cu"), CONTENT)


@pytest.mark.parametrize(
    "old, new, text",
    [
        (side("a = 1;", 100, "wait", 50), side("// put in|a = 1;", 150, "wait", 90),
         "50.0 % slower (100 -> 150 cycles): line 2 waits 40 warp-cycles more for results of arithmetic"),
        (side("a = 1;", 100, "selected", 50), side("a = 1;", 90, "selected", 20),
         "10.0 % faster (100 -> 90 cycles): line 1 issues for 30 warp-cycles less"),
        (side("a = 1;", 100, "drain", 50), side("b = f(x);", 90, "drain", 20),
         "10.0 % faster (100 -> 90 cycles): line 1 is gone, which waited 50 warp-cycles for its last stores"),
        (side("a = 1;", 90, "drain", 5), side("b = f(x);", 100, "drain", 20),
         "11.1 % slower (90 -> 100 cycles): line 1 is new, and waits 20 warp-cycles for its last stores"),
        (side("a = 1;", 100, "wait", 50, "h.cuh"), side("a = 1;", 150, "wait", 90, "h.cuh"),
         "50.0 % slower (100 -> 150 cycles): h.cuh:1 waits 40 warp-cycles more for results of arithmetic"),
        (side("a = 1;", 100, "wait", 50), side("a = 1;", 100, "wait", 50), "as fast as before (100 cycles)"),
    ],
)  # fmt: skip
def test_headlines(old, new, text):
    assert headline(difference_of(PAIR, old, new), "warp-cycles") == text


def test_notes():
    old, new = side("a;", 1, "wait", 1), side("a;", 1, "wait", 1, shape="<<<2, 16>>>")
    assert list(kernel_notes(difference_of(PAIR, old, new))) == [
        "paired by its instructions, which are the most alike",
        "its instructions are the same",
        "shape changed from <<<1, 32>>> to <<<2, 16>>>",
    ]
