"""The figures: what is measured, how, and what has been published for the real chips.

Sources of published values: [B] gpu-benches; [CC] CUDA C++ Programming Guide, arithmetic throughput by compute capability;
[D] Huerta et al., MICRO 2025 (RTX A6000); [G] a GB202 measured by its report; [J] Jia et al. 2018, recalled; [L] Luo et al. 2024, quoted;
[M] mt4g; [P] stall counts that ptxas 13.0 writes; [R] recalled; [W] vendor whitepapers, recalled: rate of the card by clock and SMs.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from gpuprof.chips import load_chip
from tests.microbench.lab import cycles, per_instruction, per_trip


@dataclass(frozen=True)
class Figure:
    """`measure(chip name)` gives a number; `published` has one per chip, with its source's letter, where there is any."""

    name: str
    unit: str
    measure: Callable[[str], float]
    published: dict[str, tuple[float, str]] = field(default_factory=dict)


def everywhere(value: float, source: str) -> dict[str, tuple[float, str]]:
    return dict.fromkeys(("v100", "a100", "h200"), (value, source))


def chips(v100=None, a100=None, h200=None) -> dict[str, tuple[float, str]]:
    return {name: value for name, value in (("v100", v100), ("a100", a100), ("h200", h200)) if value}


# ---- arithmetic ------------------------------------------------------------------------------------------------------------------------

ELEMENT = {"ffma": "f32", "mufu": "f32", "dfma": "f64"}


def latency(op: str) -> Callable[[str], float]:
    launch = f"{op}_latency<{{body}}><<<1, 32>>>({{trips}}, out: {ELEMENT.get(op, 'u32')}[32])"
    return lambda chip: per_instruction(chip, "arithmetic.cu", launch)


def throughput(op: str) -> Callable[[str], float]:
    """Lanes per cycle and SM, by 32 warps."""
    launch = f"{op}_throughput<{{body}}><<<1, 1024>>>({{trips}}, out: {ELEMENT.get(op, 'u32')}[1024])"
    return lambda chip: 1024 / per_instruction(chip, "arithmetic.cu", launch)


ARITHMETIC = [
    Figure("FFMA latency", "cycles", latency("ffma"), everywhere(4, "P")),
    Figure("IADD latency", "cycles", latency("iadd"), everywhere(4, "P")),
    Figure("IMAD latency", "cycles", latency("imad"), everywhere(4, "P")),
    Figure("IMAD then IADD, both", "cycles", latency("cross"), everywhere(10, "P")),
    Figure("HFMA2 latency", "cycles", latency("hfma2"), chips(None, (6, "P"), (6, "P"))),
    Figure("DFMA latency", "cycles", latency("dfma"), chips((8, "B"), None, (8, "P"))),
    Figure("MUFU.EX2 latency", "cycles", latency("mufu"), chips((20, "R"), (20, "R"))),
    Figure("SHFL latency", "cycles", latency("shuffle")),
    Figure("FFMA", "lanes/clk/SM", throughput("ffma"), chips((64, "CC"), (64, "CC"), (128, "CC"))),
    Figure("IADD", "lanes/clk/SM", throughput("iadd"), everywhere(64, "CC")),
    Figure("IMAD", "lanes/clk/SM", throughput("imad"), everywhere(64, "CC")),
    Figure("HFMA2", "lanes/clk/SM", throughput("hfma2"), chips((64, "CC"), (128, "CC"), (128, "CC"))),
    Figure("DFMA", "lanes/clk/SM", throughput("dfma"), chips((32, "CC"), (32, "CC"), (64, "L"))),
    Figure("MUFU", "lanes/clk/SM", throughput("mufu"), everywhere(16, "CC")),
    Figure("POPC", "lanes/clk/SM", throughput("popc"), everywhere(16, "CC")),
    Figure("SHFL", "lanes/clk/SM", throughput("shuffle"), everywhere(32, "CC")),
]

# ---- shared memory and L1 --------------------------------------------------------------------------------------------------------------


def shared_latency(chip: str) -> float:
    return per_instruction(chip, "memory.cu", "shared_latency<{body}><<<1, 32>>>({trips}, out: u32[32])")


def loads_of_a_warp(kernel: str, arguments: str) -> Callable[[str], float]:
    """Cycles of the SM per warp-wide load, by 32 warps."""
    launch = f"{kernel}<{{body}}><<<1, 1024>>>({{trips}}, {arguments})"
    return lambda chip: per_instruction(chip, "memory.cu", launch) / 32


def shared_stride(stride: int) -> Callable[[str], float]:
    return loads_of_a_warp("shared_throughput", f"{stride}, out: u32[1024]")


def l1_stride(stride: int, kernel="stride_throughput", element="u32") -> Callable[[str], float]:
    return loads_of_a_warp(kernel, f"{stride}, data: {element}[4096]=zeros, out: {element}[1024]")


def l1_bandwidth(chip: str) -> float:
    return 512 / loads_of_a_warp("l1_throughput", "data: u32[4096]=zeros, out: u32[1024]")(chip)


def strides(a100: float, h200: float | None) -> dict[str, tuple[float, str]]:
    return chips(None, (a100, "B"), h200 and (h200, "B"))


NEAR = [
    Figure("shared load latency", "cycles", shared_latency, chips((19, "J"), (24, "D"), (24, "D"))),
    *(Figure(f"shared load, {n}-way bank conflict", "cycles/warp", shared_stride(n), everywhere(n, "R")) for n in (1, 2, 4, 8, 16, 32)),
    Figure("L1 bandwidth", "B/clk/SM", l1_bandwidth, chips((126, "B"), (125, "B"), (128, "R"))),
    *(
        Figure(f"L1 hit, stride {n} words", "cycles/warp", l1_stride(n), strides(*values))
        for n, *values in (
            (2, 2.00, 2.01), (3, 1.63, 1.63), (4, 4.00, 4.01), (5, 2.20, 2.00), (8, 8.0, 8.0), (9, 3.03, 3.00), (15, 4.45, 4.60),
            (33, 8.8, None), (40, 9.8, None), (53, 11.1, None),
        )
    ),
    *(
        Figure(f"L1 hit, stride {n} doubles", "cycles/warp", l1_stride(n, "stride64_throughput", "u64"), strides(*values))
        for n, *values in ((1, 2.01, 2.01), (8, 16.0, 16.0), (40, 16.0, None))
    ),
]  # fmt: skip

# ---- L2 and DRAM -----------------------------------------------------------------------------------------------------------------------

LINE_WORDS = 16  # of 8 bytes
ROWS_APART = 1021  # lines, in which each DRAM channel has more than a row


def ring(lines: int, step: int) -> str:
    """A ring of pointers, one a line, to the line `step` places on."""
    return f"make_ring<<<{max(1, lines // 256)}, {min(lines, 256)}>>>(p: u64[{lines * LINE_WORDS}], {lines}, {LINE_WORDS}, {step})"


def chase(
    lines: int, few: int, many: int, apart: int = 0, between: Callable[[str], list[str]] = lambda chip: [], step: int = 1
) -> Callable[[str], float]:
    """Cycles per load of a chase through a ring, 32 loads a trip. Chases begin `apart` lines from each other; `between` runs before them."""

    def measure(chip: str) -> float:
        places = (0, apart * LINE_WORDS, 2 * apart * LINE_WORDS)
        chases = [f"chase<<<1, 1>>>(p, {place}, {n}, out: u64[1])" for place, n in zip(places, (many, few, many), strict=True)]
        *_, short, long = cycles(chip, "memory.cu", ring(lines, step), *between(chip), *chases)
        return (long - short) / ((many - few) * 32)

    return measure


def other_data(chip_name: str) -> list[str]:
    """A launch that reads twice as much as the L2 holds."""
    chip = load_chip(chip_name)
    blocks, nbytes = 2 * chip.sms, 2 * chip.l2_nbytes
    trips = -(-nbytes // (blocks * 1024 * 64))
    return [f"stream<<<{blocks}, 1024>>>({trips}, {1 << 31}, data: u32[{blocks * trips * 1024 * 16}]=zeros, sum: u32[1])"]


def stream_bandwidth(kernel: str, wrap: int, nbytes: int, few: int, many: int) -> Callable[[str], float]:
    """10^9 bytes per second of a whole chip that reads 16 bytes a lane."""

    def measure(chip_name: str) -> float:
        chip = load_chip(chip_name)
        blocks = 2 * chip.sms
        launch = f"{kernel}<<<{blocks}, 1024>>>({{trips}}, {wrap}, data: u32[{nbytes // 4}]=zeros, out: u32[1])"
        return blocks * 1024 * 64 / per_trip(chip_name, "memory.cu", launch, few, many) * chip.clock_mhz / 1000

    return measure


def lines_in_flight(warps: int) -> Callable[[str], float]:
    """Bytes per cycle of a whole chip whose SMs have `warps` warps with one line in flight each."""

    def measure(chip_name: str) -> float:
        sms = load_chip(chip_name).sms
        blocks, threads = sms * max(1, warps // 32), 32 * min(warps, 32)
        launch = f"one_in_flight<<<{blocks}, {threads}>>>({{trips}}, data: u32[{1 << 24}]=zeros, out: u32[1024])"
        return sms * warps * 128 / per_trip(chip_name, "memory.cu", launch, 4, 20)

    return measure


def little(warps: int) -> dict[str, tuple[float, str]]:
    """What Little's law gives, with the chip's DRAM latency and throughput."""
    found = {}
    for name in ("v100", "a100", "h200"):
        chip = load_chip(name)
        found[name] = (round(min(chip.sms * warps * 128 / chip.dram_cycles, chip.dram_gbytes_per_s * 1000 / chip.clock_mhz), 1), "Little")
    return found


FAR = [
    Figure("L1 hit latency", "cycles", chase(64, 8, 24), chips((27.9, "B"), (33.0, "B"), (32.0, "B"))),
    Figure("L2 hit latency", "cycles", chase(8192, 64, 192), chips((212, "B"), (211, "B"), (265, "B"))),
    Figure(
        "DRAM latency, rows at random",
        "cycles",
        chase(1 << 18, 8, 40, 2000, other_data, ROWS_APART),
        chips((434, "B"), (552, "B"), (689, "B")),
    ),
    Figure("DRAM latency, the same rows", "cycles", chase(8192, 8, 40, 2000, other_data)),
    Figure("L2 bandwidth", "GB/s", stream_bandwidth("stream_l2", 1 << 17, 1 << 21, 2, 8), chips((2453, "B"), (5430, "B"), (9780, "B"))),
    Figure("DRAM bandwidth", "GB/s", stream_bandwidth("stream", 1 << 31, 1 << 27, 2, 6), chips((867, "B"), (1776, "B"), (3889, "B"))),
    *(Figure(f"DRAM, lines in flight an SM: {n}", "B/clk", lines_in_flight(n), little(n)) for n in (1, 4, 16, 64)),
]

# ---- barriers and atomics --------------------------------------------------------------------------------------------------------------


def synchronising(kernel: str, threads: int, arguments: str) -> Callable[[str], float]:
    launch = f"{kernel}<{{body}}><<<1, {threads}>>>({{trips}}, {arguments})"
    return lambda chip: per_instruction(chip, "synchronise.cu", launch)


def per_cycle(measure: Callable[[str], float], lanes: int) -> Callable[[str], float]:
    return lambda chip: lanes / measure(chip)


SYNCHRONISE = [
    *(
        Figure(f"__syncthreads, warps: {n}", "cycles", synchronising("barrier_latency", 32 * n, "out: u32[1024]"), everywhere(value, "G"))
        for n, value in ((1, 5), (2, 7), (4, 11), (8, 14), (16, 15.3), (32, 15.3))
    ),
    Figure("atomicAdd on global memory, waiting", "cycles", synchronising("atomic_latency", 32, "data: u32[32]")),
    Figure("atomicAdd on shared memory, waiting", "cycles", synchronising("shared_atomic_latency", 32, "out: u32[32]")),
    Figure("reductions of one SM to one address", "lanes/clk", per_cycle(synchronising("atomic_throughput", 1024, "0, data: u32[1024]"), 1024)),
    Figure("reductions of one SM to many addresses", "lanes/clk", per_cycle(synchronising("atomic_throughput", 1024, "1, data: u32[1024]"), 1024)),
    *(
        Figure(f"shared atomics, {what}", "cycles/warp", per_cycle(per_cycle(synchronising("shared_atomic_throughput", 1024, f"{n}, out: u32[1024]"), 1), 1 / 32))
        for n, what in ((1, "a bank each"), (32, "one bank"), (0, "one address"))
    ),
]  # fmt: skip

# ---- tensor pipe -----------------------------------------------------------------------------------------------------------------------

PRODUCTS = {"f16": 16 * 8 * 16, "bf16": 16 * 8 * 16, "tf32": 16 * 8 * 8, "s8": 16 * 8 * 32, "f64": 8 * 8 * 4}


def matrix_latency(kind: str) -> Callable[[str], float]:
    return lambda chip: per_instruction(chip, "tensor.cu", f"{kind}_latency<{{body}}><<<1, 32>>>({{trips}}, out: u32[32])")


def matrix_throughput(kind: str) -> Callable[[str], float]:
    """Multiply-adds per cycle and SM, by 16 warps."""
    element = "f64" if kind == "f64" else "u32"
    launch = f"{kind}_throughput<{{body}}><<<1, 512>>>({{trips}}, out: {element}[512])"
    return lambda chip: 16 * PRODUCTS[kind] / per_instruction(chip, "tensor.cu", launch)


def ldmatrix(stride: int) -> Callable[[str], float]:
    """Bytes per cycle and SM, by 8 warps of which each loads 512 at a time."""
    launch = f"ldmatrix_throughput<{{body}}><<<1, 256>>>({{trips}}, {stride}, out: u32[256])"
    return lambda chip: 8 * 512 / per_instruction(chip, "tensor.cu", launch)


TENSOR = [
    Figure("mma m16n8k16 f16 latency", "cycles", matrix_latency("f16"), chips(None, (24, "P"), (24, "P"))),
    Figure("mma m16n8k32 s8 latency", "cycles", matrix_latency("s8"), chips(None, (24, "P"), (24, "P"))),
    *(
        Figure(f"mma {kind}", "FMA/clk/SM", matrix_throughput(kind), chips(None, (a100, "W"), h200))
        for kind, a100, h200 in (
            ("f16", 1024, (1290, "L")), ("bf16", 1024, (1290, "L")), ("tf32", 512, None), ("s8", 2048, None), ("f64", 64, (128, "W")),
        )
    ),
    Figure("ldmatrix.x4, rows 16 bytes apart", "B/clk/SM", ldmatrix(16), everywhere(128, "R")),
    Figure("ldmatrix.x4, rows 128 bytes apart", "B/clk/SM", ldmatrix(128), everywhere(16, "R")),
]  # fmt: skip

FIGURES = ARITHMETIC + NEAR + FAR + SYNCHRONISE + TENSOR
CHIPS = ("v100", "a100", "h200")
