"""Our code of published kernels beside ptxas'; the stored table is of tests/ptxas/silicon_code.py."""

import pytest

from tests.ptxas.silicon_code import ours, read_table

BOUND = 0.10
# Where the issue slots are more than that apart, and why.
KNOWN = {
    "shuffles_and_atomic<2097152>": "a turn of the loop takes 7 slots for ptxas' 8",
    "rows": "a load takes 4 slots for ptxas' 2.7",
    "through_shared<32, 32>": "a warp takes 27 slots for ptxas' 23",
    "through_shared<33, 32>": "a warp takes 27 slots for ptxas' 23",
    "add_by_chunk": "a turn of the loop takes fewer slots than ptxas'",
    **dict.fromkeys(
        ("dedisperse<32, 32, 1, false, 192>", "dedisperse<32, 32, 4, true, 192>", "dedisperse<8, 128, 8, false, 192>",
         "dedisperse<4, 256, 1, false, 192>", "dedisperse<1, 256, 1, false, 192>"),
        "ptxas does 24 channels at once, ours 4, and widens an offset in the sum that needs it",
    ),
    **dict.fromkeys(
        (*(f"in_polygon<0, 256, 1, {method}, 200>" for method in range(3)), "in_polygon<0, 256, 4, 1, 200>"),
        "a turn of the loop has an edge, ptxas' has two to eight; it also joins predicates in threes",
    ),
    **dict.fromkeys(
        ("dependent<float, 4096>", "dependent<double, 4096>", "dependent_strided<float, 4096>"),
        "ptxas does more turns of the loop at a time",
    ),
    "line_tiled": "values that ptxas computes again are held, in more registers than there are",
    **dict.fromkeys(
        ("tree_conflicting", "bytes_in_shared"),
        "ptxas multiplies an index by four in the access to shared memory, ours in front of it",
    ),
    "steps_by_hand": "its loop that waits takes as many turns as blocks of either machine are apart",
    **dict.fromkeys(
        ("increment_strided<double>", "increment_strided<float>", "permute", "increment<double>", "increment<float>",
         "scale", "tree_and_atomic<2097152>"),
        "unknown",
    ),
    **dict.fromkeys(("naive", "coalesced"), "products of 64-bit indices"),
}  # fmt: skip
# Where the widths of shared loads differ, and why.
OTHER_WIDTHS = {
    "by_threads_tiled<unsigned>": "ours loads four words at once where ptxas loads two: as many words, half the loads",
    **dict.fromkeys(("tiled<32>", "padded<128, 128, 8, 8, 8>"), "another part of a turn's loads is joined"),
}
SOURCES = sorted({row.source for row in read_table()})


@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES)
def test_the_table_has_our_code(source):
    stored = {row.kernel: row.ours for row in read_table() if row.source == source}
    found = ours(source)
    assert {kernel: found[kernel] for kernel in stored} == stored, "python -m tests.ptxas.silicon_code --write"


def test_slots_are_ptxas_within_ten_percent():
    apart = {row.kernel: round(row.ours.slots / row.theirs.slots, 3) for row in read_table()}
    beyond = {kernel: ratio for kernel, ratio in apart.items() if abs(ratio - 1) > BOUND}
    assert beyond.keys() <= KNOWN.keys(), beyond


def test_barriers_and_shared_loads_are_the_same():
    """Barriers, and loads of shared memory of each width."""
    shared = {row.kernel: [(code.barriers, *code[3:6]) for code in (row.ours, row.theirs)] for row in read_table()}
    assert {kernel for kernel, (ours, theirs) in shared.items() if ours != theirs} == OTHER_WIDTHS.keys()


def test_other_widths_load_the_same_words():
    words = {
        row.kernel: [code.lds_32 + 2 * code.lds_64 + 4 * code.lds_128 for code in (row.ours, row.theirs)]
        for row in read_table()
        if row.kernel == "by_threads_tiled<unsigned>"
    }
    assert words == {"by_threads_tiled<unsigned>": [32768, 32768]}
