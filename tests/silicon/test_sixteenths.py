"""A sixteenth has its cases of each family."""

from collections import Counter

import pytest

from tests.silicon.case import Case
from tests.silicon.cases import all_cases
from tests.silicon.sixteenths import SIXTEENTHS, sixteenth

CASES = [case for cases in all_cases().values() for case in cases]


def test_each_sixteenth_case_of_a_family_by_cards():
    """Twenty products on two cards, one transpose: the fourth sixteenth has the fourth product and, sixteen later, the
    last; the fifth has no second one.
    """
    products = [Case(f"p{number:02}", "products", "ab"[number >= 10], "", ()) for number in range(20)]
    cases = [Case("t", "transposes", "c", "", ()), *reversed(products)]
    assert sixteenth(cases, 4) == {"p03", "p19", "t"}
    assert sixteenth(cases, 5) == {"p04", "t"}


def test_all_sixteenths_have_every_case():
    parts = [sixteenth(CASES, which + 1) for which in range(SIXTEENTHS)]
    assert frozenset().union(*parts) == {case.id for case in CASES}


@pytest.mark.parametrize("which", [1, 16])
def test_a_sixteenth_has_its_share_of_each_family(which):
    found = sixteenth(CASES, which)
    chosen = Counter(case.family for case in CASES if case.id in found)
    for family, count in Counter(case.family for case in CASES).items():
        assert chosen[family] in (max(1, count // SIXTEENTHS), -(-count // SIXTEENTHS))
