"""The choice of a program's launches that are timed; the others are only emulated."""

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class LaunchChoice:
    """`kernel`: a regular expression that finds something in the kernel's name or symbol. Of the launches that it
    finds, while the program profiles, the first `skip` are left out; `count` of the others are timed, 0: all.
    `from_start`: the program profiles before cudaProfilerStart, too.
    """

    kernel: str = ""
    skip: int = 0
    count: int = 0
    from_start: bool = True


ALL_LAUNCHES = LaunchChoice()


class Chooser:
    """Says of one launch after the other whether it is timed."""

    def __init__(self, choice: LaunchChoice):
        self.is_profiling = choice.from_start
        self._choice, self._finds = choice, re.compile(choice.kernel).search
        self._n_found = 0

    def wants(self, names: Iterable[str]) -> bool:
        """`names`: the kernel's, as written and as a symbol."""
        if not self.is_profiling or not any(map(self._finds, names)):
            return False
        self._n_found += 1
        number = self._n_found - self._choice.skip
        return number > 0 and (not self._choice.count or number <= self._choice.count)
