"""Searches of the timing model's tables, four words at a time, against Python's own."""

import numpy as np
import pytest

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import OPTIONS, SCALAR
from gpuprof.timing.state.four_words import find_least, find_word
from gpuprof.timing.state.layout import NEVER, VECTOR_WORDS
from gpuprof.timing.state.table_rows import least_word_after, words_until


@cached_njit(**OPTIONS, **SCALAR)
def searches(address, first, count, number):
    return (
        find_word(address, first, count, number),
        find_least(address, first, count),
        words_until(address, first, number),
        least_word_after(address, first, number),
    )


def expected(words, first, count, number):
    run, four = words[first : first + count].tolist(), words[first : first + VECTOR_WORDS].tolist()
    return (
        first + run.index(number) if number in run else -1,
        first + run.index(min(run)),
        sum((word <= number) << lane for lane, word in enumerate(four)),
        min([word for word in four if word > number], default=NEVER),
    )


@pytest.mark.parametrize("count", [1, 3, 4, 5, 8, 12, 16, 17])
def test_they_find_what_python_finds(count):
    random = np.random.default_rng(count)
    # few values, so that several words are equal, and words before and after the run that would be found there
    words = random.integers(-2, 4, 64)
    words[random.integers(0, 64, 4)] = NEVER
    for first in range(8):
        for number in (-3, -1, 0, 3, NEVER - 1):
            got = searches(words.ctypes.data, first, count, number)
            assert got == expected(words, first, count, number), (first, number)
