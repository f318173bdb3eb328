"""The tensor pipe: `mma.sync` and what feeds it."""

from tests.microbench.figure import Figure, Measure, Published, by_generation, everywhere, on
from tests.microbench.lab import per_instruction

PRODUCTS = {"f16": 16 * 8 * 16, "bf16": 16 * 8 * 16, "tf32": 16 * 8 * 8, "s8": 16 * 8 * 32, "f64": 8 * 8 * 4}


def matrix_latency(kind: str) -> Measure:
    return lambda chip: per_instruction(
        chip, "tensor.cu", f"{kind}_latency<{{body}}><<<1, 32>>>({{trips}}, out: u32[32])"
    )


def matrix_throughput(kind: str) -> Measure:
    """Multiply-adds per cycle and SM, by 16 warps."""
    element = "f64" if kind == "f64" else "u32"
    launch = f"{kind}_throughput<{{body}}><<<1, 512>>>({{trips}}, out: {element}[512])"
    return lambda chip: 16 * PRODUCTS[kind] / per_instruction(chip, "tensor.cu", launch)


def ldmatrix(stride: int) -> Measure:
    """Bytes per cycle and SM, by 8 warps of which each loads 512 at a time."""
    launch = f"ldmatrix_throughput<{{body}}><<<1, 256>>>({{trips}}, {stride}, out: u32[256])"
    return lambda chip: 8 * 512 / per_instruction(chip, "tensor.cu", launch)


LATENCY = by_generation("P", None, None, 24, 24, 24, 24, 24, 20, 29)
OF_HALVES = (  # with sums in f32
    on("W", a100=1024, rtx3090=256, rtx4090=256, hopper=(1290, "L"))
    | on("W", a10g=256, l4=512, l40s=512, h20=512, rtx5090=256, rtxpro6000=(512, "G"))
)
RATES: dict[str, Published] = {
    "f16": OF_HALVES,
    "bf16": OF_HALVES,
    "tf32": on("W", a100=512, rtx3090=128, rtx4090=128)
    | on("W", a10g=128, l4=256, l40s=256, h20=256, rtx5090=128, rtxpro6000=256),
    "s8": on("W", a100=2048, rtx3090=1024, rtx4090=1024)
    | on("W", a10g=512, l4=1024, l40s=1024, h20=1024, rtx5090=1024, rtxpro6000=1024),
    "f64": on("W", a100=64, hopper=128),
}

FIGURES = [
    Figure("mma m16n8k16 f16 latency", "cycles", matrix_latency("f16"), LATENCY),
    Figure("mma m16n8k32 s8 latency", "cycles", matrix_latency("s8"), LATENCY | on("P", rtx5090=27, rtxpro6000=27)),
    *(Figure(f"mma {kind}", "FMA/clk/SM", matrix_throughput(kind), published) for kind, published in RATES.items()),
    Figure("ldmatrix.x4, rows 16 bytes apart", "B/clk/SM", ldmatrix(16), everywhere(128, "R", but=("v100",))),
    Figure("ldmatrix.x4, rows 128 bytes apart", "B/clk/SM", ldmatrix(128), everywhere(16, "R", but=("v100",))),
]
