"""Barriers, atomics, and what a launch costs."""

from tests.microbench.figure import Figure, Measure, on
from tests.microbench.lab import cycles, gaps, per_instruction


def synchronising(kernel: str, threads: int, arguments: str) -> Measure:
    launch = f"{kernel}<{{body}}><<<1, {threads}>>>({{trips}}, {arguments})"
    return lambda chip: per_instruction(chip, "synchronise.cu", launch)


def per_cycle(measure: Measure, lanes: int) -> Measure:
    return lambda chip: lanes / measure(chip)


def shared_atomics(stride: int) -> Measure:
    """Cycles of the SM per warp-wide atomic, by 32 warps."""
    measure = synchronising("shared_atomic_throughput", 1024, f"{stride}, out: u32[1024]")
    return lambda chip: measure(chip) / 32


def reductions(stride: int) -> Measure:
    return per_cycle(synchronising("atomic_throughput", 1024, f"{stride}, data: u32[1024]"), 1024)


def empty_launch(chip: str) -> float:
    """From the end of a kernel to the turn of the first block of the next of its stream."""
    return gaps(chip, "synchronise.cu", *["nothing<<<1, 32>>>()"] * 3)[-1]


def waves(chip: str) -> float:
    """Cycles that one more wave of blocks that do nothing adds: what the start of a block costs where all SMs are
    full.
    """
    from gpuprof.chips import load_chip

    sms = load_chip(chip).sms
    few, many = (cycles(chip, "synchronise.cu", *[f"nothing<<<{sms * n}, 1024>>>()"] * 2)[-1] for n in (8, 16))
    return (many - few) / 8


# The series is of a GB202, and other generations' reductions have slower arrivals.
ROUNDS = ((1, 5), (2, 7), (4, 11), (8, 14), (16, 15.3), (32, 15.3))
BARRIERS = tuple((n, on("G", b200=cycles, rtx5090=cycles, rtxpro6000=cycles)) for n, cycles in ROUNDS)

FIGURES = [
    *(
        Figure(
            f"__syncthreads, warps: {n}",
            "cycles",
            synchronising("barrier_latency", 32 * n, "out: u32[1024]"),
            published,
        )
        for n, published in BARRIERS
    ),
    Figure("atomicAdd on global memory, waiting", "cycles", synchronising("atomic_latency", 32, "data: u32[32]")),
    Figure("atomicAdd on shared memory, waiting", "cycles", synchronising("shared_atomic_latency", 32, "out: u32[32]")),
    Figure("reductions of one SM to one address", "lanes/clk", reductions(0)),
    Figure("reductions of one SM to many addresses", "lanes/clk", reductions(1)),
    Figure("shared atomics, a bank each", "cycles/warp", shared_atomics(1)),
    Figure("shared atomics, one bank", "cycles/warp", shared_atomics(32)),
    Figure("shared atomics, one address", "cycles/warp", shared_atomics(0)),
    Figure("launch of a kernel after another", "cycles", empty_launch, on("A", hopper=3000)),
    Figure("a further block of 32 empty warps", "cycles", waves),
]
