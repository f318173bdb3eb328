"""Bandwidth of the L2 and the DRAM: data sets of growing size that all blocks read, fills, loads and copies of vectors,
and additions by rows and by columns.

A quarter of the chip has a quarter of each data set. The published launches of data sets have 200,000 blocks, about a
thousand for each that is resident: their rate is what more blocks add to a launch that finds the L2 as the one before
left it. Fills and copies begin cold, and grow by two lengths so that what fits into the L2 cancels out.
"""

from tests.silicon.case import Case, Run

PARTS = 4
CHUNK = 64 * 1024 * 8
SET_BLOCKS = 200000  # of the published launch
A100_SETS_KB = (10240, 19968, 30720, 40448, 52736, 63488, 100352)
H200_SETS_KB = (10240, 19968, 30720, 40448, 52736, 63488, 100352)
GIB = 2**30


def by_footprint(card: str, nbytes_kb: int, resident: int) -> Case:
    """The part holds `resident` blocks at a time."""
    chunks = max(1, nbytes_kb * 1024 // CHUNK // PARTS)
    text = f"read_chunk<<<%d, 1024>>>(%s, %s, {chunks}, {resident})"
    first = text % (2 * resident, "out: f64[1024]", f"a: f64[{chunks * CHUNK // 8}]")
    runs = tuple(Run((first, text % (blocks, "out", "a")), blocks) for blocks in (2 * resident, 4 * resident))
    id = f"{card}-l2-{nbytes_kb}"
    return Case(id, "streams", card, "footprints.cu", runs, PARTS, SET_BLOCKS / PARTS, work=SET_BLOCKS * CHUNK)


def vector(card: str, kernel: str, threads: int, arrays: tuple[str, ...], nbytes: int, l2_nbytes: int) -> Case:
    """The rate of a vector of 1 GiB, of which each thread moves `nbytes`: what more of it adds."""
    few = 2 * l2_nbytes // PARTS // (threads * nbytes)
    whole = GIB // (threads * nbytes) // PARTS
    runs = tuple(
        Run((f"{kernel}<<<{blocks}, {threads}>>>({', '.join(arrays).format(n=blocks * threads)})",), blocks)
        for blocks in (few, 2 * few)
    )
    id = f"{card}-{kernel.replace('_', '-')}"
    return Case(id, "streams", card, "footprints.cu", runs, PARTS, whole, work=GIB)


def vectors(card: str, l2_nbytes: int) -> tuple[Case, ...]:
    return (
        vector(card, "fill", 256, ("f32[{n}*4]",), 16, l2_nbytes),
        vector(card, "sum_up", 256, ("f32[4]", "f32[{n}*4]"), 16, l2_nbytes),
    )


def matrices(number: int, kernel: str) -> Case:
    """RTX 3080, 8192 x 8192, blocks of 16 x 16, a quarter of the rows or columns."""
    blocks = 8192 // 16
    array = f"f32[{8192 * 8192}]"
    runs = tuple(
        Run((f"{kernel}<<<({blocks}, {many}), (16, 16)>>>({array}, {array}, {array}, 8192, 8192)",), many)
        for many in (4, 8)
    )
    family = "streams" if kernel == "add_rows" else "strides"
    return Case(f"rtx3080-nv-8192-{number}", family, "rtx3080", "streams.cu", runs, 4, blocks / 4)


CASES = (
    *(by_footprint("a100-80", kb, 54) for kb in A100_SETS_KB),
    *(by_footprint("h200", kb, 66) for kb in H200_SETS_KB),
    *vectors("v100", 6291456),
    *vectors("a100-40", 41943040),
    *vectors("h100", 52428800),
    vector("a100-80", "copy", 1024, ("f64[{n}]", "f64[{n}]"), 8, 41943040),
    vector("h100", "copy", 1024, ("f64[{n}]", "f64[{n}]"), 8, 52428800),
    vector("h200", "copy", 1024, ("f64[{n}]", "f64[{n}]"), 8, 62914560),
    matrices(219, "add_columns"),
    matrices(221, "add_rows"),
)
