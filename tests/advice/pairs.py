"""The corpus: slow kernels, each with a twin in which one fault is fixed.

A folder of pairs has a folder NAME for each, with `slow.cu` and `fixed.cu`, whose launches are in comments and have
arrays of the same names and data, and a table `corpus.csv`:

    name       the pair's folder
    chip       where the fault matters
    topic      of TOPICS: what to change; several with | where they are equally right
    place      the line of slow.cu that costs: an access, a branch, a barrier; empty for faults of a whole kernel
    results    the arrays that both compute, with | between them
    tolerance  how far their elements may differ, relative; empty: not a bit
    source     how such code comes about, and where its remedy is known from
"""

import csv
from pathlib import Path
from typing import NamedTuple

from tests.paths import TESTS

CORPUS = TESTS / "advice" / "corpus"

TOPICS = {
    "coalesce": "neighbouring lanes touch neighbouring words",
    "vectorize": "wider accesses",
    "shared_tiling": "data that is read again and again goes through shared memory",
    "bank_conflicts": "another layout of shared memory",
    "atomics": "counts are privatised, or aggregated before they are added",
    "independent_work": "more loads in flight: unroll, prefetch, double buffering",
    "register_blocking": "several outputs a thread, in registers",
    "barriers": "fewer or narrower barriers",
    "occupancy": "registers, shared memory or the block's size leave more warps room",
    "spills": "more registers",
    "local_arrays": "indexed arrays leave local memory",
    "f64": "single precision is enough",
    "divergence": "lanes of a warp take the same way",
    "redundant_threads": "threads share what each computes for itself",
    "more_blocks": "the work is split among more blocks",
    "tail": "blocks fill whole waves",
    "load_balance": "blocks of equal length",
    "launches": "one launch instead of many",
    "costly_instructions": "divisions and functions leave the inner loop, or become cheaper ones",
    "constant_serial": "lanes read different constants from another memory",
    "locality": "another order of blocks or loops, so that caches serve",
    "fences": "fewer fences",
    "async_copy": "copies to shared memory that overlap with work",
    "tensor_cores": "products of small types by tensor cores",
    "warp_shuffle": "a reduction by shuffles",
}


class Pair(NamedTuple):
    """A slow kernel and its twin. place: a line of `slow`, None for a whole kernel. tolerance: relative, 0.0 where the
    results are the same bit for bit.
    """

    name: str
    slow: Path
    fixed: Path
    chip: str
    topics: tuple[str, ...]
    place: int | None
    results: tuple[str, ...]
    tolerance: float


def read_pairs(folder: Path = CORPUS) -> list[Pair]:
    """The pairs of a folder with a table `corpus.csv`, in its order."""
    with (folder / "corpus.csv").open(encoding="utf-8", newline="") as table:
        return [_pair(folder, row) for row in csv.DictReader(table)]


def _pair(folder: Path, row: dict[str, str]) -> Pair:
    return Pair(
        name=row["name"],
        slow=folder / row["name"] / "slow.cu",
        fixed=folder / row["name"] / "fixed.cu",
        chip=row["chip"],
        topics=tuple(row["topic"].split("|")),
        place=int(row["place"]) if row["place"] else None,
        results=tuple(row["results"].split("|")),
        tolerance=float(row["tolerance"] or 0),
    )
