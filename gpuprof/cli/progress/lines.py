"""Progress where no bar can be drawn (a log, a pipe, TERM=dumb): a whole line now and then."""

from collections.abc import Sequence
from typing import TextIO

from gpuprof.base.stages import Stage
from gpuprof.cli.progress.words import duration, words

FIRST_SECONDS = (2, 5, 10, 20, 40)  # of the command, when a line is due; later each LATER_SECONDS
LATER_SECONDS = 30
NOTHING_YET = duration(0)  # of a stage that has just begun: it says nothing in a log


class Lines:
    """Writes to `stream`. `start`: time.monotonic() when the command began."""

    def __init__(self, stream: TextIO, start: float):
        self._stream, self._start = stream, start
        self._due = start + FIRST_SECONDS[0]

    def draw(self, stages: Sequence[Stage], now: float, shows_place: bool) -> None:
        if now < self._due:
            return
        self._due = self._start + next_due(now - self._start)
        self.write(plain_line(stages, now, shows_place))

    def write(self, text: str) -> None:
        """Writes a line that stays."""
        self._stream.write(f"gpuprof: {text}\n")
        self._stream.flush()

    def erase(self) -> None:
        """Lines stay."""


def next_due(seconds: float) -> float:
    """The second of the command at which a line comes after the one at `seconds`."""
    for due in FIRST_SECONDS:
        if due > seconds:
            return due
    last = FIRST_SECONDS[-1]
    return last + LATER_SECONDS * ((seconds - last) // LATER_SECONDS + 1)


def plain_line(stages: Sequence[Stage], now: float, shows_place: bool) -> str:
    said = words(stages, now)
    instructions = f"{said.instructions} ({said.rate})" if said.rate else said.instructions
    at = f"at {said.place}" if said.place and shows_place else ""
    facts = [said.count, said.cycles, instructions, at, said.elapsed if said.elapsed != NOTHING_YET else "", said.left]
    return ": ".join(filter(None, [said.title, ", ".join(filter(None, facts))]))
