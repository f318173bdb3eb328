"""What is stored of whole kernels is of this version of the model, and the page shows it."""

import fnmatch
import re

import pytest

from gpuprof.chips.fidelity import published_kernels
from gpuprof.chips.fidelity.published_kernels import HIGH, LOW, Row
from gpuprof.timing.state.model_version import MODEL_VERSION
from tests.silicon import write
from tests.silicon.case import Case, Run
from tests.silicon.cases import all_cases
from tests.silicon.measure import COMPILERS, Job, row_of
from tests.silicon.reasons import REASONS, named, with_reasons
from tests.silicon.run import published_size
from tests.silicon.show import line

AGAIN = "measure them anew: python -m tests.silicon --compiler both --write"
JOB = Job("sib", all_cases()["sib"][10], "clang")  # sib-a100-k1


def test_the_rows_are_of_this_version_of_the_model():
    assert {row.model_version for row in published_kernels.rows()} == {MODEL_VERSION}, AGAIN


def test_every_row_is_a_case_as_it_stands():
    """Whatever of a row is not measured is that of its case."""
    cases = {case.id: (name, case) for name, cases in all_cases().items() for case in cases}
    for row in published_kernels.rows():
        name, case = cases[row.id]
        anew = row_of(Job(name, case, row.compiler), row.kind, row.model_cycles, row.reason)
        assert anew._replace(published_cycles=0) == row._replace(published_cycles=0), AGAIN
        assert row.published_cycles == pytest.approx(anew.published_cycles, rel=1e-3), AGAIN


def test_every_row_that_is_far_off_has_a_reason():
    rows = published_kernels.rows()
    known = published_kernels.ratios(rows)
    far = {
        row.id
        for row in rows
        if not LOW <= known.get((row.id, row.compiler), 0) <= HIGH and row.trust != "low" and not row.reason
    }
    assert far == set()


def test_every_reason_is_of_a_case():
    ids = [case.id for cases in all_cases().values() for case in cases]
    for pattern, text in REASONS:
        assert any(named(id) == text for id in ids), pattern


def test_what_was_held_back_is_a_case():
    ids = [case.id for cases in all_cases().values() for case in cases]
    assert sum(map(write.is_held_back, ids)) == 15
    assert not write.is_held_back("cub-b200-scan-i8-216")
    for pattern in write.HELD_BACK:
        assert fnmatch.filter(ids, pattern), pattern


def test_the_page_shows_what_is_stored():
    page = write.PAGE.read_text()
    assert write.with_tables(page) == page, "write it anew: python -m tests.silicon --page"


def test_a_line_and_a_reason():
    row = row_of(JOB, "strides", 331_716_748.7)
    assert row == Row(
        MODEL_VERSION, "sib-a100-k1", "sib", "products", "strides", "a100-80", "a100", "clang", "medium",
        pytest.approx(663_433_497.4), 331_716_748.7, "", "sib-a100", "",
    )  # fmt: skip
    assert line(row, 1.25) == (
        "sib-a100-k1                                    clang    663433497    331716749   0.50 strides   medium        "
        "1.2 s"
    )
    (far,) = with_reasons([row])
    assert far.reason == named("sib-a100-k1")
    missing = row_of(JOB, "", None, "it does not compile")
    assert with_reasons([missing]) == [missing]
    assert re.sub(" +", " ", line(missing, 1.0)) == "sib-a100-k1 clang 663433497 - - medium 1.0 s it does not compile"


def test_what_is_measured_anew_takes_the_place_of_what_was_stored(monkeypatch):
    old, other = row_of(JOB, "strides", 1e8), row_of(JOB._replace(compiler="nvcc"), "strides", 2e8)
    gone = old._replace(id="no such case")
    monkeypatch.setattr(published_kernels, "rows", lambda: (old, other, gone))
    new = old._replace(model_cycles=6.634e8)
    assert write.merged([new]) == with_reasons([new, other])
    assert COMPILERS == ("clang", "nvcc")


def test_the_line_through_two_sizes():
    """100 cycles at 10 and 160 at 20 are 6 a step: 640 at 100."""
    case = Case("x", "products", "v100", "x.cu", (Run((), 10), Run((), 20)), whole_size=100)
    assert published_size(case, [100, 160]) == 640
    assert published_size(Case("x", "products", "v100", "x.cu", (Run(()),)), [100]) == 100
