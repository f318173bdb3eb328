"""Whole kernels and published cycles: ratios, spreads, steps, the kinds of kernels, and what reports say of them."""

from math import sqrt

import pytest

from gpuprof.chips.fidelity import published_kernels, sentence
from gpuprof.chips.fidelity.likeness import KINDS, Totals, Use, kind, totals
from gpuprof.chips.fidelity.published_kernels import Likeness, Row, Spread, Step
from gpuprof.isa.opcodes import TABLE
from gpuprof.timing.state.model_version import MODEL_VERSION
from tests.silicon.balanced import balanced_error


def row(id, published, model, family="streams", card="one", **others) -> Row:
    known = {"set": "s", "kind": "streams", "chip": "a100", "compiler": "clang", "trust": "high", "group": ""}
    return Row("1", id, family=family, card=card, **(known | {"ladder": "", "reason": ""} | others),
               published_cycles=published, model_cycles=model)  # fmt: skip


def test_the_error_is_averaged_by_family_and_card():
    """10 and 30 % on one card, 0 on another: 10 % for the family. 50 % for the other family: 30 % over both."""
    rows = [
        row("a", 100, 110),
        row("b", 100, 70),
        row("c", 100, 100, card="two"),
        row("d", 100, 150, "tiles"),
        row("e", 100, 900, "tiles", trust="low"),
        row("f", 100, None, "tiles", reason="does not compile"),
    ]
    assert published_kernels.errors(rows) == pytest.approx(
        {("a", "clang"): 0.1, ("b", "clang"): 0.3, ("c", "clang"): 0, ("d", "clang"): 0.5}
    )
    assert balanced_error(rows) == pytest.approx(0.3)
    assert balanced_error([]) is None


def test_a_group_is_compared_by_its_ratios():
    """Twice and 4.5 times too slow, together three times: 2 / 3 and 1.5."""
    rows = [row("a", 100, 200, group="g"), row("b", 10, 45, group="g"), row("c", 10, 20)]
    assert published_kernels.ratios(rows) == pytest.approx(
        {("a", "clang"): 2 / 3, ("b", "clang"): 1.5, ("c", "clang"): 2}
    )
    assert sqrt(2 * 4.5) == 3


def test_the_spread_of_rows():
    """Errors of 0, 10, 20 and 100 %. The two in the middle change places: a rank correlation of 0.8."""
    rows = [row("a", 10, 10), row("b", 20, 22), row("c", 22, 17.6), row("d", 30, 60)]
    assert published_kernels.spread(rows) == Spread(
        4, pytest.approx(0.325), pytest.approx(1.05), pytest.approx(1), pytest.approx(0.8)
    )
    assert published_kernels.spread([]) == Spread(0, None, None, None, None)


def test_the_steps_of_a_ladder():
    rows = [row("a", 100, 90, ladder="l"), row("b", 50, 60, ladder="l"), row("c", 1, 1)]
    (step,) = published_kernels.steps(rows)
    assert step == Step("l", "clang", "a", "b", 2.0, 1.5)
    assert step.error == -0.25


# ---- kinds ----

LIKE_NONE = Totals(1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("tensor", {"matrices": 11, "shared_accesses": 100, "wavefronts": 300, "ideal_wavefronts": 100}),
        ("atomics", {"atomics": 10, "global_accesses": 20}),
        ("tiles", {"shared_accesses": 100, "multiply_adds": 50, "wavefronts": 300, "ideal_wavefronts": 100}),
        ("conflicts", {"shared_accesses": 100, "multiply_adds": 10, "wavefronts": 300, "ideal_wavefronts": 100}),
        ("exchanges", {"shared_accesses": 100, "multiply_adds": 10, "wavefronts": 100, "ideal_wavefronts": 100}),
        ("ladders", {"global_accesses": 19, "sectors": 19, "ideal_sectors": 19}),
        ("strides", {"global_accesses": 30, "sectors": 100, "ideal_sectors": 40}),
        ("streams", {"global_accesses": 30, "sectors": 40, "ideal_sectors": 40, "dram_nbytes": 1280}),
        ("caches", {"global_accesses": 30, "sectors": 40, "ideal_sectors": 40, "dram_nbytes": 320}),
    ],
)
def test_a_kind_by_its_counters(name, counts):
    assert kind(LIKE_NONE._replace(**counts)) == name


def test_every_kind_is_tested_and_the_stored_ones_are_known():
    assert {row.kind for row in published_kernels.rows()} <= {each.name for each in KINDS} | {""}


def first(**wanted):
    return next(op for op in TABLE if all(getattr(op, name) == value for name, value in wanted.items()))


def test_totals_of_instructions():
    """Ten loads of four sectors each, ten FFMA, two reductions, three products of matrices."""
    load, add = first(kind="load", space="global"), first(semantics="ffma", types=("f32",))
    reduction, product = first(kind="reduction", space="global"), first(kind="matrix")
    uses = [Use(load, 10, 40, 40), Use(add, 10), Use(reduction, 2, 2, 2), Use(product, 3)]
    slots = 10 * load.slots + 10 * add.slots + 2 * reduction.slots + 3 * product.slots
    assert totals(uses, 1280) == Totals(slots, 10, 3, 10, 0, 2, 42, 42, 0, 0, 1280)


# ---- words ----


def test_words_on_kernels_like_it(monkeypatch):
    rows = (row("a", 100, 110), row("b", 100, 130), row("c", 100, 140, kind="tiles", chip="v100"))
    monkeypatch.setattr(published_kernels, "rows", lambda: rows)
    assert published_kernels.of_chip("a100") == Likeness(2, pytest.approx(0.2))
    assert published_kernels.of_chip("t4") is None
    assert sentence.like("streams", "a100") == (
        "kernels like these were 20 % off on average against 2 timings of real cards"
    )
    assert sentence.like("tiles", "a100") == (
        "kernels like these were 40 % off on average against 1 timing of real cards of other chips"
    )
    assert sentence.like("atomics", "a100") == ""
    assert (
        sentence.of_kernels("a100", "1")
        == "cycles of 2 launches of kernels compared with such cards: 20 % off on average"
    )
    assert sentence.of_kernels("a100", MODEL_VERSION) == "kernel cycles not compared with hardware"
    assert sentence.of_kernels("t4", "1") == "kernel cycles not compared with hardware"


STORED = (
    "within 5 % of what is published: 7 of 18 figures that follow from the model, 74 of 77 that it was given; worst "
    "-17 % (triad); cycles of 62 launches of kernels compared with such cards: 14 % off on average"
)


def test_the_line_of_a_sentence():
    assert sentence.line(STORED) == "kernels were 14 % off on average against 62 timings of real cards"
    alike = sentence.LIKE_ELSEWHERE.format(16, "40 timings")
    assert sentence.line(STORED, alike) == alike
    assert len(f"# fidelity   {alike}") <= 110
