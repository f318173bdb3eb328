"""What advice says of a pair, and what its twin gets: model against model."""

from pathlib import Path
from typing import NamedTuple

from gpuprof.advise.advise import Advised, advise
from gpuprof.correlate.database import reading
from gpuprof.whatif.choose import choose
from gpuprof.whatif.prepare import prepare
from tests.advice.pairs import Pair
from tests.support.command import gpuprof

NEAR = 0.15  # of the twin's gain


class Outcome(NamedTuple):
    """first: topic and line of the first piece of advice, "" where there is none. promised: the gain of the piece on
    the pair's topic, None where there is no such piece; twin: what the twin gets.
    """

    pair: Pair
    first: str
    first_line: int
    promised: float | None
    twin: float

    @property
    def is_right(self) -> bool:
        return self.first in self.pair.topics

    @property
    def names_the_line(self) -> bool:
        return self.is_right and self.first_line == (self.pair.place or 0)

    @property
    def is_near(self) -> bool:
        return self.promised is not None and abs(self.promised / self.twin - 1) <= NEAR


def outcome_of(pair: Pair, folder: Path) -> Outcome:
    """Collects both sides into a folder, and takes advice on the slow one."""
    for side in ("slow", "fixed"):
        code, _, error = gpuprof(
            folder, "collect", str(getattr(pair, side)), "--chip", pair.chip, "--save-stream", "-o", f"{side}.gprec"
        )
        assert code == 0, error
    advised = first_kernel(folder / "slow.gprec")
    pieces = advised.advice
    first = pieces[0].draft if pieces else None
    promised = next((piece.speedup for piece in pieces if piece.draft.topic in pair.topics), None)
    slow, fixed = (cycles_of(folder / f"{side}.gprec", advised.chosen.kernel) for side in ("slow", "fixed"))
    return Outcome(pair, first.topic if first else "", first.line if first else 0, promised, slow / fixed)


def first_kernel(recording: Path) -> Advised:
    """The advice on the costliest kernel."""
    with reading(recording) as database:
        chosen = choose(database)[:1]
        return advise(database, chosen, prepare(recording, chosen), [""], None)[0]


def cycles_of(recording: Path, kernel: str) -> int:
    """The cycles of all launches of a kernel; of all kernels where it has another name."""
    with reading(recording) as database:
        by_kernel = dict(database.execute("SELECT kernel, SUM(cycles) FROM launches GROUP BY kernel"))
    return by_kernel.get(kernel, sum(by_kernel.values()))
