"""How a launch is measured: the content of caches before it, in the words of `collect --cache`, and its timings."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import NamedTuple

COLD, WARM, KEEP = "cold", "warm", "keep"
# In the words of a report's head.
STATES = {
    COLD: "emptied before each launch",
    WARM: "each launch was made once before",
    KEEP: "as the launches before left them",
}
MOST_REPEATS = 10_000


class CacheControl(NamedTuple):
    """How a launch is measured. `repeat`: the number of its timings, of which the last is reported."""

    cache: str = KEEP
    repeat: int = 1

    def __str__(self) -> str:
        """ "cold"; "keep, timing 5 of 5"."""
        return self.cache if self.repeat == 1 else f"{self.cache}, timing {self.repeat} of {self.repeat}"

    @property
    def sentence(self) -> str:
        """ "cold (emptied before each launch)"."""
        known = STATES.get(self.cache)
        return f"{self} ({known})" if known else str(self)

    @property
    def timings(self) -> int:
        """Timings of the launch, with those that are not reported."""
        return self.repeat + (self.cache == WARM)


AS_THE_PROGRAM = CacheControl()


def timings_text(cycles: Iterable[int]) -> str:
    """ "3,771 3,314 x4": the cycles of timings that follow each other."""
    runs = [(value, len(list(alike))) for value, alike in groupby(cycles)]
    return " ".join(f"{value:,} x{n}" if n > 1 else f"{value:,}" for value, n in runs)


def control_of(metrics: Mapping[str, int | float | str]) -> CacheControl:
    """How a launch with these metrics was measured."""
    return CacheControl(str(metrics.get("cache", KEEP)), int(metrics.get("repeat", 1)))
