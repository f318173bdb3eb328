"""The launches of a profile that are worth timing again: of each kernel the longest."""

import re
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from gpuprof.errors import NotComparable, UsageError

LEAST_SHARE = 0.05  # of the cycles of all kernels: a kernel with less is left out unless it is named


class Chosen(NamedTuple):
    launch: int
    kernel: str
    cycles: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]


def choose(database: sqlite3.Connection, kernel: str | None = None, launch: int | None = None) -> tuple[Chosen, ...]:
    """Gives the longest launch of each kernel whose name matches, costliest first; or one launch.

    Raises UsageError for a pattern that is none, or names no kernel; NotComparable where no launch was timed.
    """
    found = [each for each in _launches(database) if launch is None or each.launch == launch]
    if not found:
        what = "no launch of the profile" if launch is None else f"no launch {launch} of the profile"
        raise NotComparable(f"{what} was timed to its end")
    by_kernel: dict[str, list[Chosen]] = {}
    for each in found:
        by_kernel.setdefault(each.kernel, []).append(each)
    if kernel is not None:
        by_kernel = {name: some for name, some in by_kernel.items() if _pattern(kernel).search(name)}
        if not by_kernel:
            raise UsageError(f"--kernel {kernel}: no kernel of the profile has such a name")
    total = sum(sum(each.cycles for each in some) for some in by_kernel.values())
    cost = {name: sum(each.cycles for each in some) for name, some in by_kernel.items()}
    names = sorted((name for name in by_kernel if cost[name] >= LEAST_SHARE * total), key=lambda name: -cost[name])
    return tuple(max(by_kernel[name], key=lambda each: (each.cycles, -each.launch)) for name in names)


def _pattern(text: str) -> re.Pattern:
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(f"--kernel {text}: no regular expression: {error}") from None


def _launches(database: sqlite3.Connection) -> Iterator[Chosen]:
    drawn = {launch for (launch,) in database.execute("SELECT launch FROM draw_launches")}
    for launch, kernel, cycles, grid, block in database.execute(
        "SELECT launch, kernel, cycles, grid, block FROM launches WHERE complete AND cycles > 0 ORDER BY launch"
    ):
        if launch not in drawn:
            yield Chosen(launch, kernel, cycles, _extent(grid), _extent(block))


def _extent(text: str) -> tuple[int, int, int]:
    x, y, z = map(int, text.split(","))
    return x, y, z
