"""Patterns of two parts of a launch, added up, are those of the whole."""

import numpy as np
from hypothesis import given, settings, strategies as st

from gpuprof.emulate.trace_log.pattern_counts import note
from gpuprof.emulate.trace_log.patterns import MOST_PATTERNS, Patterns, add_patterns

# Accesses of a warp: its lowest byte, the distance of its lanes, and the lanes that take part.
accesses = st.tuples(st.integers(0, 3), st.integers(0, 5), st.sampled_from((0xFFFFFFFF, 0xFFFF, 1)))


def note_all(found: list, patterns: Patterns) -> None:
    for low, stride, mask in found:
        address = 4 * low + 4 * stride * np.arange(32, dtype=np.int64)
        note(address, np.array([mask], np.uint32), 4, *patterns)


@settings(deadline=None)
@given(st.lists(accesses, max_size=20), st.lists(accesses, max_size=MOST_PATTERNS))
def test_parts_add_up(first, second):
    whole, parts, later = Patterns.none(), Patterns.none(), Patterns.none()
    note_all(first + second, whole)
    note_all(first, parts)
    note_all(second, later)
    add_patterns(later, parts)
    assert [values.tolist() for values in parts] == [values.tolist() for values in whole]
