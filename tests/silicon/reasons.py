"""Why rows are far off: outside 0.6 to 1.6 of what is published. The first pattern that an id has gives the reason."""

from collections.abc import Sequence
from fnmatch import fnmatch

from gpuprof.fidelity.kernels import HIGH, LOW, Row, ratios

FEW_LOADS = "its loads take turns in three registers, so few are in flight: ptxas gives each a register of its own"
NARROW_LOADS = (
    "clang's code reads shared memory a word at a time, and takes so many registers that one block fits an SM"
)
WARM = "what was in the caches is not published: the card has what the model fetches from DRAM"
SHORT = "a launch of a few microseconds, whose published time has more than the kernel in it"

REASONS: tuple[tuple[str, str], ...] = (
    ("sib-*-k2", FEW_LOADS),
    ("leimao-3090-V01", FEW_LOADS),
    ("rtx3080-nv-mat_mat_mul-279", FEW_LOADS),
    ("rtx3080-nv-mat_mat_mul-28[01]", FEW_LOADS),
    ("wz-3090-k1-*", FEW_LOADS),
    ("wz-3090-k2-*", "unknown: beside its group, whose tuned kernels are too fast"),
    ("wz-3090-k6-2048", "unknown: beside its group, whose kernels of smaller tiles are too slow"),
    ("rtx3080-nv-conv-294", "clang's code takes 1.3 times the cycles of nvcc's; the rest is unknown"),
    ("leimao-3090-V04*", NARROW_LOADS),
    ("leimao-3090-V05*", NARROW_LOADS),
    ("leimao-3090-V06vec", NARROW_LOADS),
    ("rtx3080-nv-array_add-252", SHORT),
    ("v100-liu-sgemv*", SHORT),
    ("fau-a40-fma*-float-*", "the card runs these loops of float FMA at half its rate, and nobody knows why"),
    ("fau-a*-stream-*", "within the L2, launched again and again: the gap between launches is not the model's"),
    ("a100-ayush-tr-14421bf", WARM),
    ("a100-olcf-column_sums", "few warps an SM: misses in flight of one SM, and the latency of DRAM under load"),
    ("a100-80-random", "unknown: sectors at random over 256 MB take twice the model's time"),
    (
        "bh-3090-pnpoly-*",
        "its corners are not published: an edge takes 50 slots on the card, 19 in ptxas' code, and 47 with 0 / 0",
    ),
    ("a100-*red*", "sums of floats by atomics to one address"),
    ("bh-*-conv-*", "tiles in local arrays, which our code keeps in memory or in more registers than ptxas' does"),
)


def with_reasons(rows: Sequence[Row]) -> list[Row]:
    """The rows, with their reasons where they are far off; of rows that do not run, the reason stays."""
    known = ratios(rows)
    return [
        row
        if row.model_cycles is None
        else row._replace(reason="" if LOW <= known[row.id, row.compiler] <= HIGH else named(row.id))
        for row in rows
    ]


def named(id: str) -> str:
    """The reason of a row; "" where none is named."""
    return next((text for pattern, text in REASONS if fnmatch(id, pattern)), "")
