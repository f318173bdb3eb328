"""Kernels of which no block ends for a while: endless loops, or just long ones. It is said once where they are."""

from collections.abc import Sequence
from typing import NamedTuple

from gpuprof.base.stages import Stage
from gpuprof.cli.progress.words import cycles, place, title, warp_instructions

# Blocks of a normal kernel may be long: the first one has time, and later ones several times what others took.
FIRST_SECONDS, LEAST_SECONDS, TIMES_LONGEST = 30.0, 5.0, 4


class Stall(NamedTuple):
    """`text`: what to say, "" where blocks finish. `is_new`: it has not been said of this launch."""

    text: str
    is_new: bool


FLOWS = Stall("", False)


class Stalls:
    """Watches the stages of one command."""

    def __init__(self) -> None:
        self._told: Stage | None = None
        self._block: tuple[Stage | None, int] = None, 0  # the stage, and how many blocks had finished
        self._work = 0, 0
        self._since = 0.0
        self._longest = 0.0  # seconds between two blocks' ends, of this stage

    def look(self, stages: Sequence[Stage], now: float) -> Stall:
        """`now`: time.monotonic()."""
        main, work = stages[-1], (warp_instructions(stages), cycles(stages))
        if (main, main.done) != self._block:
            is_same = self._block[0] is main
            self._longest = max(self._longest, now - self._since) if is_same else 0.0
            self._block, self._since, self._work = (main, main.done), now, work
        limit = max(LEAST_SECONDS, TIMES_LONGEST * self._longest) if main.done else FIRST_SECONDS
        # Without more instructions or cycles it waits for something else, such as a compiler.
        if not main.unit or not place(stages) or now - self._since < limit or work == self._work:
            return FLOWS
        is_new, self._told = self._told is not main, main
        return Stall(
            f"{title(stages)}: no block has finished for {limit:.0f} s; it is at {place(stages)}, after "
            f"{work[0]:,} warp instructions; --max-instructions N or Ctrl-C stops it",
            is_new,
        )
