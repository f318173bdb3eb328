"""The twin of a slow kernel computes the same, in fewer cycles."""

import numpy as np
import pytest

from tests.advice.pairs import CORPUS, TOPICS, Pair, read_pairs
from tests.support.running import run_file

SPEEDUP = 1.1  # of every twin, at least

# The others are marked `long`: all together take minutes.
QUICK = {
    "append_hits", "axpy_rows", "histogram_global", "invert_bytes", "scale_slices", "segment_scores", "transpose_rows",
    "warm_colours",
}  # fmt: skip

PAIRS = read_pairs()


def measured(pair: Pair, kind: str) -> tuple[int, dict[str, np.ndarray]]:
    """Cycles of all launches of the pair's slow or fixed file, and its results."""
    arrays, ran = run_file(getattr(pair, kind), chip_name=pair.chip, cache="cold")
    cycles = sum(result.timing.cycles for result in ran.launches)
    return cycles, {name: arrays[name].copy_to_host() for name in pair.results}


@pytest.mark.parametrize(
    "pair",
    [pytest.param(pair, id=pair.name, marks=[] if pair.name in QUICK else pytest.mark.long) for pair in PAIRS],
)
def test_a_twin_computes_the_same_in_fewer_cycles(pair):
    slow_cycles, slow = measured(pair, "slow")
    fixed_cycles, fixed = measured(pair, "fixed")
    for name in pair.results:
        assert slow[name].any(), f"{name} is as it was made"
        if pair.tolerance:
            np.testing.assert_allclose(fixed[name], slow[name], rtol=pair.tolerance)
        else:
            assert fixed[name].tobytes() == slow[name].tobytes()
    assert slow_cycles >= SPEEDUP * fixed_cycles


def test_every_folder_is_a_pair_of_the_table():
    folders = sorted(path.name for path in CORPUS.iterdir() if path.is_dir())
    assert folders == sorted(pair.name for pair in PAIRS)
    assert {pair.name for pair in PAIRS} >= QUICK


def test_every_topic_has_a_pair():
    assert {topic for pair in PAIRS for topic in pair.topics} == set(TOPICS)


def test_places_are_lines_of_code():
    """A place is inside of a function: a line that is indented, and no brace by itself."""
    for pair in PAIRS:
        if pair.place is not None:
            line = pair.slow.read_text(encoding="utf-8").splitlines()[pair.place - 1]
            assert line.startswith("    ") and any(map(str.isalpha, line)), f"{pair.name}: {line!r}"
