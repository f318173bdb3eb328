"""Shared memory and the L1: latency, conflicts, strides, bandwidth."""

from gpuprof.chips import Chip
from tests.microbench.figure import Figure, Measure, Published, everywhere, on
from tests.microbench.lab import per_instruction


def shared_latency(chip: str) -> float:
    return per_instruction(chip, "memory.cu", "shared_latency<{body}><<<1, 32>>>({trips}, out: u32[32])")


def loads_of_a_warp(kernel: str, arguments: str) -> Measure:
    """Cycles of the SM per warp-wide load, by 32 warps."""
    launch = f"{kernel}<{{body}}><<<1, 1024>>>({{trips}}, {arguments})"
    return lambda chip: per_instruction(chip, "memory.cu", launch) / 32


def shared_stride(stride: int) -> Measure:
    return loads_of_a_warp("shared_throughput", f"{stride}, out: u32[1024]")


def l1_stride(stride: int, kernel="stride_throughput", element="u32") -> Measure:
    return loads_of_a_warp(kernel, f"{stride}, data: {element}[4096]=zeros, out: {element}[1024]")


def l1_bandwidth(chip: str) -> float:
    return 512 / loads_of_a_warp("l1_throughput", "data: u32[4096]=zeros, out: u32[1024]")(chip)


NARROW = ("rtx3090", "rtx4090", "rtx5090", "t4")  # 16 lanes of the load/store unit


def conflicts(ways: int) -> Published:
    """An RTX 3090's load/store unit takes a memory instruction every other cycle, conflicts or not."""
    return everywhere(ways, "R", but=NARROW) | on("R" if ways > 1 else "D", rtx3090=max(ways, 2))


def strides(a100: float, h200: float | None) -> Published:
    return on("B", a100=a100) | ({} if h200 is None else on("B", h200=h200))


def of_another_block(chip: str) -> float:
    return per_instruction(chip, "memory.cu", "cluster_latency<{body}><<<2, 32, cluster=2>>>({trips}, 1, out: u32[32])")


def between_blocks(chip: str) -> float:
    """Bytes a cycle of each of two SMs that read the other's shared memory, with 32 warps."""
    return (
        32
        * 128
        / per_instruction(
            chip, "memory.cu", "cluster_throughput<{body}><<<2, 1024, cluster=2>>>({trips}, out: u32[1024])"
        )
    )


def has_clusters(chip: Chip) -> bool:
    return chip.cluster_shared_cycles > 0


LATENCY = on("J", v100=19, t4=19, a100=(24, "D"), rtx3090=(24, "D"), hopper=(24, "D"), mi210=(50, "M"))
LATENCY |= on("G", rtx5090=34, rtxpro6000=34)
BANDWIDTH = on("B", v100=126, a100=125, rtx3090=(64, "B, A40"), rtx4090=(64, "B, L40"), hopper=(128, "R"), mi210=48)

FIGURES = [
    Figure("shared load latency", "cycles", shared_latency, LATENCY),
    *(Figure(f"shared load, {n}-way bank "
        "conflict", "cycles/warp", shared_stride(n), conflicts(n)) for n in (1, 2, 4, 8, 16, 32)),
    Figure("load of another block's shared "
        "memory", "cycles", of_another_block, on("C", hopper=191), where=has_clusters),
    Figure("shared memory of another "
        "block", "B/clk/SM", between_blocks, on("L, H800", hopper=16.4), where=has_clusters),
    Figure("L1 bandwidth", "B/clk/SM", l1_bandwidth, BANDWIDTH),
    *(
        Figure(f"L1 hit, stride {n} words", "cycles/warp", l1_stride(n), strides(*values))
        for n, *values in (
            (2, 2.00, 2.01), (3, 1.63, 1.63), (4, 4.00, 4.01), (5, 2.20, 2.00), (8, 8.0, 8.0), (9, 3.03, 3.00),
            (15, 4.45, 4.60),
            (33, 8.8, None), (40, 9.8, None), (53, 11.1, None),
        )
    ),
    *(
        Figure(f"L1 hit, stride {n} doubles", "cycles/warp", l1_stride(n, "stride64_throughput", "u64"),
            strides(*values))
        for n, *values in ((1, 2.01, 2.01), (8, 16.0, 16.0), (40, 16.0, None))
    ),
]  # fmt: skip
