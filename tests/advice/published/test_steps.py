"""The table of published steps in docs/advice.md; all of it is measured by `python -m tests.advice --published`."""

import pytest

from gpuprof.timing.state.model_version import MODEL_VERSION
from tests.advice.__main__ import PAGE
from tests.advice.pairs import TOPICS
from tests.advice.published import outcomes, table
from tests.advice.published.outcomes import Outcome, outcome_of, read_outcomes
from tests.advice.published.steps import Step, cases, read_steps
from tests.silicon.case import Case, Run

AGAIN = "measure them again: python -m tests.advice --published --write"
CHEAP = ("a100-80-smemstride32", "a100-olcf-atomic_red")
STRIDES = Step("a100-80-smemstride32", "a100-80-smemstride33", ("bank_conflicts",), "a stride of 33 words")


def test_a_step_is_one_of_the_same_card_to_a_faster_kernel():
    for step in read_steps():
        assert step.case.card == cases()[step.after].card, step
        assert step.published > 1.1, step
        assert set(step.topics) <= TOPICS.keys(), step


def test_every_step_has_an_outcome_of_this_version_of_the_model():
    found = [(outcome.before, outcome.model_version) for outcome in read_outcomes()]
    assert found == [(step.before, MODEL_VERSION) for step in read_steps()], AGAIN


def test_the_page_shows_what_is_stored():
    page = PAGE.read_text(encoding="utf-8")
    shown = page.partition(table.BEGIN)[2].partition(table.END)[0]
    assert shown.splitlines()[2:] == list(table.block(list(zip(read_steps(), read_outcomes(), strict=True)))), AGAIN


def test_a_line_and_the_summary():
    """The card took 369,600 and 51,970 cycles, the model 362,600 and 47,420."""
    near, far, none = (
        Outcome(MODEL_VERSION, STRIDES.before, *rest)
        for rest in (("bank_conflicts", 1, 7.7), ("barriers", 2, 1.5), ("", 0, 0.0))
    )
    head = "| a100-80-smemstride32 | a100-80-smemstride33 | a100-80 | a stride of 33 words | bank_conflicts |"
    assert [table.line(STRIDES, each) for each in (near, far, none)] == [
        f"{head} bank_conflicts | 1 | 7.11 | 7.65 | 7.70 |",
        f"{head} barriers | 2 | 7.11 | 7.65 | 1.50 (off) |",
        f"{head} - | - | 7.11 | 7.65 | - (off) |",
    ]
    assert table.summary([(STRIDES, near), (STRIDES, far), (STRIDES, none)]) == (
        "The author's topic is first in 1 of 3, further down in 1.",
        "1 promised gains are within 15 % of the published, 1 of the model's.",
    )


def test_the_gain_of_two_sizes_is_that_of_the_line_through_both(monkeypatch):
    """From 10 to 20, 100 cycles become 160 and, with the advice, 80 become 90: at 100, 640 and 170."""

    class Advice:
        def __init__(self, before, after):
            self.cycles_before, self.cycles_after = before, after

    of_size = {
        10: {("coalesce", "x.cu:1"): Advice(100, 80), ("barriers", "x.cu:2"): Advice(100, 50)},
        20: {("tail", "kernel"): Advice(160, 40), ("coalesce", "x.cu:1"): Advice(160, 90)},
    }
    monkeypatch.setattr(outcomes, "advice_on", lambda case, run: of_size[run.size])
    case = Case("x", "products", "v100", "x.cu", (Run((), 10), Run((), 20)), whole_size=100)
    assert outcomes.pieces_of(case) == [("coalesce", "x.cu:1", 640 / 170)]


@pytest.mark.long
@pytest.mark.parametrize("before", CHEAP)
def test_the_stored_outcome_is_measured_again(before):
    (step,) = (step for step in read_steps() if step.before == before)
    assert outcome_of(step) in read_outcomes()
