"""One row: a launch of a card that was measured and published, and how this project runs the same.

A case is a plain value. Its id is a row of published.csv, which has the value, its unit, the card's clock and how far
it is trusted.
"""

from dataclasses import dataclass
from fractions import Fraction

FAMILIES = (
    "products",  # tiled and naive matrix products
    "tensor",  # matrix products on tensor pipes
    "streams",  # each element read or written once, in order
    "strides",  # strided and random accesses to global memory
    "transposes",
    "reductions",  # to one value, or by rows and columns
    "atomics",  # atomics and histograms
    "conflicts",  # shared-memory bank conflicts
    "ladders",  # loops of arithmetic in registers
    "convolutions",
    "vectors",  # matrix-vector products
    "stencils",
    "barriers",  # of the whole grid
    "norms",  # norms, softmax and activations, row by row
    "attention",  # two products and a softmax in between
    "device-wide",  # sums, scans and sorts of whole arrays in several launches
    "gathers",  # loads through computed indices: dedispersion, polygons
)


@dataclass(frozen=True)
class Run:
    """Launches one after another on one GPU that starts with cold caches; the last one is measured. An array is
    declared where it is used first. `size` is what the cycles grow with where a case has two runs.
    """

    launches: tuple[str, ...]  # as `collect --launch` takes them
    size: float = 0


@dataclass(frozen=True)
class Case:
    """`file` is in kernels/, `card` in cards/. The launches are those of one of `parts` equal parts of the chip: a part
    has its share of SMs, slices, channels and bandwidth, so its cycles are the chip's.

    With two runs of different sizes, the cycles of the published launch follow from the line through both, at
    `whole_size`: a product at two K, or a grid of two numbers of waves.
    `by_waves`: the launches have the published grid, which is run wave by wave (waves.py).

    `work` is what a published rate counts, of the whole published launch: FLOP or bytes; 0 where a time is published.
    `period`: the published time is that of back-to-back launches, end to end, not only of the kernel.
    `together`: so many launches at a run's end are the published one, whose cycles are their sum; with `period`, those
    from the end of the launch before to their end.
    `overhead_us` is what the published time has besides: it is subtracted from it.
    `empty_us`: the same measurement of a kernel that does nothing; what of it is not the launch's own is subtracted.
    `turns`: the published time is that of one of so many turns of the published launch.
    `group` names rows that are compared only by their ratios to each other; `ladder` those that are steps, each one's
    cycles compared with the next one's.
    """

    id: str
    family: str
    card: str
    file: str
    runs: tuple[Run, ...]
    parts: int | Fraction = 1
    whole_size: float = 0
    by_waves: bool = False
    work: float = 0
    period: bool = False
    together: int = 1
    overhead_us: float = 0
    empty_us: float = 0
    turns: int = 1
    group: str = ""
    ladder: str = ""


def once(*launches: str) -> tuple[Run, ...]:
    """The runs of a case that needs one: the last launch is measured, those before it warm the caches."""
    return (Run(launches),)


def warm(launch: str, again: str) -> tuple[Run, ...]:
    """The same launch twice; `again` is its text with the arrays named, without their shapes."""
    return once(launch, again)
