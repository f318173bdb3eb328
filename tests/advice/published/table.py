"""Published steps as a table of docs/advice.md: what authors got, what the model has, and what advice promised."""

from collections.abc import Iterator, Sequence

from tests.advice.pairs_measured import NEAR
from tests.advice.published.outcomes import Outcome
from tests.advice.published.steps import Step

BEGIN, END = "<!-- table: python -m tests.advice --published --write -->", "<!-- end of the published steps -->"
HEAD = (
    "| before | after | card | step | topic | first piece | place | published | model | promised |",
    "|---|---|---|---|---|---|---|---|---|---|",
)


def is_near(promised: float, gain: float) -> bool:
    return abs(promised / gain - 1) <= NEAR


def line(step: Step, outcome: Outcome) -> str:
    promised = f"{outcome.promised:.2f}" if outcome.place else "-"
    cells = (
        step.before,
        step.after,
        step.case.card,
        step.words,
        " or ".join(step.topics),
        outcome.first or "-",
        str(outcome.place or "-"),
        f"{step.published:.2f}",
        f"{step.model:.2f}",
        promised + ("" if is_near(outcome.promised, step.published) else " (off)"),
    )
    return f"| {' | '.join(cells)} |"


def summary(found: Sequence[tuple[Step, Outcome]]) -> tuple[str, str]:
    first = sum(outcome.place == 1 for _, outcome in found)
    later = sum(outcome.place > 1 for _, outcome in found)
    published = sum(is_near(outcome.promised, step.published) for step, outcome in found)
    model = sum(is_near(outcome.promised, step.model) for step, outcome in found)
    return (
        f"The author's topic is first in {first} of {len(found)}, further down in {later}.",
        f"{published} promised gains are within 15 % of the published, {model} of the model's.",
    )


def block(found: Sequence[tuple[Step, Outcome]]) -> Iterator[str]:
    yield from (*summary(found), "", *HEAD, *(line(step, outcome) for step, outcome in found), "")
