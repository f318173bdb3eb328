"""How much work a function does, in counts that are the same on a slow machine."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest


def n_calls(function: Callable[[], object]) -> int:
    """Calls of functions, Python's and C's, while it runs."""
    calls = 0

    def count(frame, event: str, argument) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(before)
    return calls


def read_nbytes(function: Callable[[], object]) -> int:
    """Bytes that this process reads from files while it runs; skips the test where the system does not count them."""
    counts = Path("/proc/self/io")
    if not counts.exists():
        pytest.skip("the system does not count what a process reads")

    def so_far() -> int:
        return int(dict(line.split(": ") for line in counts.read_text().splitlines())["rchar"])

    before = so_far()
    function()
    return so_far() - before
