"""Blocks that an SM holds, by the model's rules, beside what cuda_occupancy.h 13.0 says of the chip."""

from gpuprof.chips import load_chip
from gpuprof.isa.program import Function
from gpuprof.timing.state.occupancy import occupancy
from tests.microbench.figure import Figure, Measure, by_generation


def blocks(threads: int, registers: int, shared_nbytes: int) -> Measure:
    function = Function("k", "k", 0, 1, True, registers=registers)
    return lambda chip: occupancy(load_chip(chip), function, threads, shared_nbytes).blocks_per_sm


# threads, registers a thread, bytes of shared memory; blocks on each chip
KNOWN = (
    ((32, 16, 0), (32, 16, 32, 16, 24, 32, 32, 32, 24)),
    ((256, 40, 0), (6, 4, 6, 6, 6, 6, 6, 6, 6)),
    ((256, 72, 0), (3, 3, 3, 3, 3, 3, 3, 3, 3)),
    ((128, 32, 24576), (4, 2, 6, 4, 4, 9, 9, 9, 4)),
    ((96, 168, 9999), (4, 4, 4, 4, 4, 4, 4, 4, 4)),
)

FIGURES = [
    Figure(f"blocks of {threads} threads, {registers} registers, {nbytes} "
        "B", "per SM", blocks(threads, registers, nbytes), by_generation("O", *values), follows=True)
    for (threads, registers, nbytes), values in KNOWN
]  # fmt: skip
