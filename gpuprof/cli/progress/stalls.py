"""Kernels of which no block ends for a while: endless loops, or just long ones. It is said once where they are."""

from collections.abc import Sequence
from typing import NamedTuple

from gpuprof.base.stages import Stage
from gpuprof.cli.progress.words import cycles, place, title, warp_instructions

STALLED_SECONDS = 5.0


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

    def look(self, stages: Sequence[Stage], now: float) -> Stall:
        """`now`: time.monotonic()."""
        main, work = stages[-1], (warp_instructions(stages), cycles(stages))
        if (main, main.done) != self._block:
            self._block, self._since, self._work = (main, main.done), now, work
        # Without more instructions or cycles it waits for something else, such as a compiler.
        if not main.unit or not place(stages) or now - self._since < STALLED_SECONDS or work == self._work:
            return FLOWS
        is_new, self._told = self._told is not main, main
        return Stall(
            f"{title(stages)}: no block has finished for {STALLED_SECONDS:.0f} s; it is at {place(stages)}, after "
            f"{work[0]:,} warp instructions; --max-instructions N or Ctrl-C stops it",
            is_new,
        )
