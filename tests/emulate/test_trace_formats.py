"""The packed entries of a trace: the same word for numbers, for arrays and in compiled code."""

import numpy as np
from numba import njit

from gpuprof.emulate.trace_log.coalesce import tag_bank
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE, MOST_SECTORS, access_word, join_sectors

# (sectors, lookups, wavefronts, tag passes, lanes, conflicts, uniform)
ACCESSES = [
    (0, 0, 0, 0, 0, 0, 0),
    (4, 3, 2, 1, 32, 7, 1),
    (300, 255, 254, 253, 252, 251, 250),
    (MOST_SECTORS, *[255] * 6),
]


def test_an_access_is_one_word():
    expected = np.array([(n & 255, *others, n >> 8) for n, *others in ACCESSES], ACCESS_DTYPE)
    assert [int(access_word(*access)) for access in ACCESSES] == expected.view(np.uint64).tolist()
    columns = [np.array(column, np.uint32) for column in zip(*ACCESSES, strict=True)]
    words = access_word(*columns)
    assert words.dtype == np.uint64 and words.tobytes() == expected.tobytes()
    assert join_sectors(expected["n_sectors"], expected["more_sectors"]).tolist() == [0, 4, 300, MOST_SECTORS]


def test_an_access_in_compiled_code():
    pack = njit(access_word)
    assert [int(pack(*access)) for access in ACCESSES] == [int(access_word(*access)) for access in ACCESSES]


def test_tag_banks():
    """Pairs of address bits, exclusive-or'ed; the lines given stay as they are."""
    lines = np.array([0b00, 0b01, 0b11, 0b0111, 0b01_00_10_01, 3 << 40 | 1 << 38], np.int64)
    banks = [0, 1, 3, 2, 2, 2]
    given = lines.copy()
    assert tag_bank(lines).tolist() == banks == [tag_bank(line) for line in lines.tolist()]
    assert (lines == given).all()
