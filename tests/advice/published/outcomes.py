"""Asks advice on the kernel before a published step; `outcomes.csv` has what it said.

The kernel runs as the comparison with real cards runs it: on a part of the chip, at one or two sizes, and a full wave
of a grid that is run by waves. Of two sizes, the cycles before and after each follow from the line through both, as the
cycles of the published launch do.
"""

import csv
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from gpuprof.advise.advise import advise
from gpuprof.advise.draft import Advice
from gpuprof.chips.fidelity.published_kernels import DEFAULT_COMPILER
from gpuprof.correlate.database import reading
from gpuprof.device.requests import run_requests
from gpuprof.records.writer import RecordWriter
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.timing.state.model_version import MODEL_VERSION
from gpuprof.whatif.choose import choose
from gpuprof.whatif.prepare import prepare
from tests.advice.published.steps import Step
from tests.silicon.case import Case, Run
from tests.silicon.run import KERNELS, chip_of_case, loaded, published_size, steps

PATH = Path(__file__).parent / "outcomes.csv"


class Piece(NamedTuple):
    """A piece of advice; gain: of the published launch."""

    topic: str
    place: str
    gain: float


class Outcome(NamedTuple):
    """first: the topic of the first piece of advice, "" where there is none. place: that of the first piece on the
    step's topic, from 1; 0 where there is none. promised: its gain; 0.0 where there is none.
    """

    model_version: str
    before: str
    first: str
    place: int
    promised: float


def outcome_of(step: Step) -> Outcome:
    pieces = pieces_of(step.case)
    first = pieces[0].topic if pieces else ""
    for place, piece in enumerate(pieces, 1):
        if piece.topic in step.topics:
            return Outcome(MODEL_VERSION, step.before, first, place, round(piece.gain, 2))
    return Outcome(MODEL_VERSION, step.before, first, 0, 0.0)


def pieces_of(case: Case) -> list[Piece]:
    """The advice on a case, the largest gain first; of two sizes, what is found at both."""
    of_runs = [advice_on(case, run) for run in case.runs]
    found = [
        Piece(topic, place, _gain(case, [of_run[topic, place] for of_run in of_runs]))
        for topic, place in of_runs[-1]
        if all((topic, place) in of_run for of_run in of_runs)
    ]
    return sorted(found, key=lambda piece: (-piece.gain, piece.topic, piece.place))


def _gain(case: Case, advice: Sequence[Advice]) -> float:
    """Gives the gain of the published launch, whose cycles follow from those of the case's runs."""
    before = published_size(case, [each.cycles_before for each in advice])
    return before / published_size(case, [each.cycles_after for each in advice])


def advice_on(case: Case, run: Run) -> dict[tuple[str, str], Advice]:
    """The advice on the last launch of a run, by topic and place."""
    requests = steps(case, run, DEFAULT_COMPILER)[0].requests
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "before.gprec"
        with RecordWriter(recording) as recorder:
            device = open_device(Settings(chip=chip_of_case(case), recorder=recorder, save_stream=True))
            module = loaded(device, KERNELS / case.file, requests, DEFAULT_COMPILER)
            run_requests(device, module, requests, folder=KERNELS)
            device.executor.finish()
        with reading(recording) as database:
            chosen = choose(database, launch=len(requests) - 1)
            (found,) = advise(database, chosen, prepare(recording, chosen), [""], None)
    return {(each.draft.topic, each.draft.place): each for each in found.advice}


def read_outcomes() -> list[Outcome]:
    with PATH.open(encoding="utf-8", newline="") as file:
        return [
            Outcome(**{**row, "place": int(row["place"]), "promised": float(row["promised"])})
            for row in csv.DictReader(file)
        ]


def write_outcomes(outcomes: Iterable[Outcome]) -> None:
    with PATH.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Outcome._fields)
        table.writerows(outcomes)
