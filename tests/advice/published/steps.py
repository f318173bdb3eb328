"""Steps that authors published: a kernel's time on a card before and after one change.

`steps.csv` has the pairs. They were chosen from the published rows, before advice was asked on any of them:

    before, after  rows of tests/silicon/published.csv: the same work, card and size
    topic          of tests.advice.pairs.TOPICS: what the author changed; several with | where they are equally right
    step           the change in words
"""

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gpuprof.chips.fidelity.published_kernels import DEFAULT_COMPILER, Row, rows
from tests.silicon.case import Case
from tests.silicon.cases import all_cases

PATH = Path(__file__).parent / "steps.csv"


class Step(NamedTuple):
    before: str
    after: str
    topics: tuple[str, ...]
    words: str

    @property
    def case(self) -> Case:
        """How the kernel before the step is run."""
        return cases()[self.before]

    @property
    def published(self) -> float:
        """The step's gain on the card."""
        return stored()[self.before].published_cycles / stored()[self.after].published_cycles

    @property
    def model(self) -> float:
        """The step's gain by the model, which ran both kernels."""
        before, after = (stored()[id].model_cycles for id in (self.before, self.after))
        assert before and after, self
        return before / after


def read_steps() -> list[Step]:
    with PATH.open(encoding="utf-8", newline="") as table:
        return [
            Step(row["before"], row["after"], tuple(row["topic"].split("|")), row["step"])
            for row in csv.DictReader(table)
        ]


@cache
def cases() -> dict[str, Case]:
    return {case.id: case for some in all_cases().values() for case in some}


@cache
def stored() -> dict[str, Row]:
    """The published and the model's cycles, by id."""
    return {row.id: row for row in rows() if row.compiler == DEFAULT_COMPILER}
