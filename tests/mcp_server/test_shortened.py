"""Outputs that are too long, and what a call's end says."""

import pytest

from gpuprof.errors import UsageError
from gpuprof.mcp_server.outcome import Outcome, may_lack_memory, refused
from gpuprof.mcp_server.shortened import Shortened


def shortened(text: str, most_nbytes: int, piece: int) -> Shortened:
    data, made = text.encode(), Shortened(most_nbytes)
    for at in range(0, len(data), piece):
        made.add(data[at : at + piece])
    return made


LINES = "".join(f"line {number}\n" for number in range(10))  # 70 bytes


@pytest.mark.parametrize("piece", [1, 3, 100])
@pytest.mark.parametrize(
    "text, most_nbytes, expected, n_omitted",
    [
        ("", 10, "", 0),
        (LINES, 70, LINES, 0),
        (LINES, 40, "line 0\nline 1\n[... 42 bytes left out ...]\nline 8\nline 9\n", 30),
        (LINES, 42, "line 0\nline 1\nline 2\n[... 35 bytes left out ...]\nline 8\nline 9\n", 28),
        ("x" * 100, 20, "xxxxxxxxxx\n[... 80 bytes left out ...]\nxxxxxxxxxx", 80),
        ("é" * 10, 6, "é\ufffd\n[... 14 bytes left out ...]\n\ufffdé", 14),
        ("abc", 0, "\n[... 3 bytes left out ...]\n", 3),
    ],
)
def test_what_stays(text, most_nbytes, expected, n_omitted, piece):
    made = shortened(text, most_nbytes, piece)
    assert (made.text(), made.n_omitted) == (expected, n_omitted)


def test_the_parts_are_bounded_while_more_is_added():
    made = shortened("x" * 100_000, 1000, 4096)
    assert (len(made._head), len(made._tail)) == (500, 500)


@pytest.mark.parametrize(
    "outcome, texts, is_error",
    [
        (Outcome("gpuprof a", 0, "out\n"), ["out\n", "[gpuprof a: exit code 0]"], False),
        (Outcome("gpuprof a", 3, "", "slower\n"), ["slower\n[gpuprof a: exit code 3]"], False),
        (Outcome("gpuprof a", 1, "o", "e", "n"), ["o", "e\nn\n[gpuprof a: exit code 1]"], True),
        (Outcome("gpuprof a", None, note="late"), ["late\n[gpuprof a: stopped]"], True),
        (refused("gpuprof a", UsageError("no")), ["gpuprof: no\n[gpuprof a: exit code 2]"], True),
    ],
)
def test_ends(outcome, texts, is_error):
    assert (outcome.texts(), outcome.is_error) == (texts, is_error)


@pytest.mark.parametrize(
    "exit_code, stderr, expected",
    [
        (1, "gpuprof: no room on the host for f32[9]", True),
        (1, "MemoryError", True),
        (-6, "", True),
        (0, "out of memory", False),
        (1, "k.cu does not compile", False),
        (None, "", False),
    ],
)
def test_what_a_limit_on_memory_explains(exit_code, stderr, expected):
    assert may_lack_memory(exit_code, stderr) == expected
