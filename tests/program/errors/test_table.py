"""Each row of the table of errors, in the program that makes its calls."""

import pytest

from tests.paths import ROOT
from tests.program.errors.page import page
from tests.program.errors.table import Step, rows, said_by, steps_of, wrong
from tests.program.hosts import WHY_NOT


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_every_row_of_the_table():
    steps: list[tuple[int, Step]] = [(number, step) for number, row in enumerate(rows(), 2) for step in steps_of(row)]
    said = said_by(step.line for _, step in steps)
    faults = [
        f"table.csv:{number}: {text}"
        for (number, step), each in zip(steps, said, strict=True)
        if (text := wrong(step, each))
    ]
    assert not faults, "\n".join(faults)


def test_the_page_is_the_table():
    text = (ROOT / "docs" / "programs-errors.md").read_text()
    assert text == page(), "python -m tests.program.errors.page > docs/programs-errors.md"
