"""Searches of tables four words at a time, for compiled code: those of the timing model's inner loop are short, so
LLVM's vectoriser is off (jit.compiler), and these say what to do with a vector.
"""

from gpuprof.jit.internal import inline_njit
from gpuprof.timing.state.layout import VECTOR_WORDS
from gpuprof.timing.state.table_rows import equal_words, least_word, lowest_bit, word_at


@inline_njit
def find_word(table, first, count, number):
    """The place of the first word that is `number`, of `count` from place `first` on; -1: none is."""
    at = first
    while at + VECTOR_WORDS <= first + count:
        bits = equal_words(table, at, number)
        if bits:
            return at + lowest_bit(bits)
        at += VECTOR_WORDS
    while at < first + count:
        if word_at(table, at).value == number:
            return at
        at += 1
    return -1


@inline_njit
def find_least(table, first, count):
    """The place of the least of `count` words from place `first` on, of several the first."""
    least = word_at(table, first).value
    at = first
    while at + VECTOR_WORDS <= first + count:
        least = min(least, least_word(table, at))
        at += VECTOR_WORDS
    while at < first + count:
        least = min(least, word_at(table, at).value)
        at += 1
    return find_word(table, first, count, least)
