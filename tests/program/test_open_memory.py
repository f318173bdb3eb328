"""What the host writes to memory that is open to it becomes copies: whole pages, and only those that changed."""

import numpy as np
import pytest

from gpuprof.program.open_memory import changed_pages

PAGE = 4096
# length, changed bytes -> ranges
CASES = {
    "nothing": (3 * PAGE, [], []),
    "a byte": (3 * PAGE, [5], [(0, PAGE)]),
    "neighbours": (3 * PAGE, [PAGE - 1, PAGE], [(0, 2 * PAGE)]),
    "apart": (5 * PAGE, [0, 3 * PAGE, 4 * PAGE], [(0, PAGE), (3 * PAGE, 5 * PAGE)]),
    "the last page is not whole": (PAGE + 7, [PAGE + 6], [(PAGE, PAGE + 7)]),
    "less than a page": (7, [0], [(0, 7)]),
    "no bytes": (0, [], []),
}


@pytest.mark.parametrize("case", CASES)
def test_ranges_that_changed(case):
    nbytes, changed, ranges = CASES[case]
    known = np.arange(nbytes, dtype=np.uint8)
    now = known.copy()
    now[changed] ^= 1
    assert changed_pages(known, now) == ranges
