"""Peaks of single units, as clpeak, vkpeak and OpenCL-Benchmark measured them: f64 next to f32, f16 and integers.

The clock of such a run is not known, so a card's rows are compared only by their ratios. Of clpeak and vkpeak one SM
runs at two numbers of trips; what more trips add is its rate. OpenCL-Benchmark makes 262,144 blocks of 64 threads, and
of 64-bit integers so few operations that the rate is that of the blocks' starts: a twelfth of the chip runs two numbers
of blocks. Its times have the host's call, too. Chains of doubles on a T4 are Jia et al.'s latencies, quoted by others.
"""

from collections.abc import Iterator

from tests.silicon.case import Case, Run

SMS = {"cmp40hx": 36, "rtx3060": 28, "rtx5060": 30, "rtx5060ti": 36, "t4": 40}
BLOCKS = {"cmp40hx": 4, "rtx3060": 6, "rtx5060": 6, "rtx5060ti": 6}  # of an SM, which they fill
THREADS = 256
FEW, MANY, WHOLE = 2, 6, 1024  # trips
A_TRIP = 128  # multiply-adds of a thread
# Type of the kernel -> its array's type, and multiply-adds of one of its own.
TYPES = {
    "float": ("f32", 1),
    "double": ("f64", 1),
    "__half2": ("u32", 2),
    "int": ("i32", 1),
    "long long": ("i64", 1),
}
MEASURED = {
    "cmp40hx": ("float", "double", "__half2", "int"),
    "rtx3060": ("double", "int"),
    "rtx5060": ("float", "double", "__half2"),
    "rtx5060ti": ("double", "int"),
}
NAMES = {"float": "f32", "double": "f64", "__half2": "f16", "int": "i32", "long long": "i64"}
# OpenCL-Benchmark: blocks on a part of the chip that all have room at once, and turns of two multiply-adds a thread.
PARTS, RESIDENT, ALL_BLOCKS, IN_BLOCK = 12, 11 * 32, 2**18, 64
TURNS = {"float": 512, "double": 128, "__half2": 512, "int": 512, "long long": 8}


def rates() -> Iterator[Case]:
    for card, types in MEASURED.items():
        for type in types:
            element, packed = TYPES[type]
            array = f"{element}[{BLOCKS[card] * THREADS}]"
            work = 2 * packed * A_TRIP * WHOLE * BLOCKS[card] * THREADS * SMS[card]
            yield rate(card, NAMES[type], f"multiply_add<{type}>", array, work)
    card = "rtx5060"
    warps = BLOCKS[card] * THREADS // 32
    work = 2 * 4 * 8 * 8 * 4 * WHOLE * warps * SMS[card]
    yield rate(card, "f64-wmma", "multiply_matrices", f"f64[{256 * warps}]", work)


def rate(card: str, name: str, kernel: str, array: str, work: int) -> Case:
    runs = tuple(Run((f"{kernel}<<<{BLOCKS[card]}, {THREADS}>>>({array}, {trips})",), trips) for trips in (FEW, MANY))
    group = f"units-{card}"
    return Case(f"{group}-{name}", "ladders", card, "units.cu", runs, SMS[card], WHOLE, work=work, group=group)


def in_blocks() -> Iterator[Case]:
    for type, turns in TURNS.items():
        kernel = f"multiply_add_in_blocks<{type},{turns}>"
        runs = tuple(
            Run((f"{kernel}<<<{blocks}, {IN_BLOCK}>>>(i32[{blocks * IN_BLOCK}])",), blocks)
            for blocks in (2 * RESIDENT, 4 * RESIDENT)
        )
        work = 4 * TYPES[type][1] * turns * IN_BLOCK * ALL_BLOCKS
        id = f"units-gh200-{NAMES[type]}"
        yield Case(id, "ladders", "gh200", "units.cu", runs, PARTS, ALL_BLOCKS / PARTS, work=work, group="units-gh200")


def chains() -> Iterator[Case]:
    """Cycles of 1,024 trips of 64 operations, by one thread."""
    for name in ("products_and_sums", "sums", "products"):
        runs = tuple(Run((f"chain_of_{name}<<<1, 1>>>(f64[1], 1.0, {trips})",), trips) for trips in (FEW, MANY))
        yield Case(f"units-t4-chain-{name}", "ladders", "t4", "units.cu", runs, SMS["t4"], WHOLE)


CASES = (*in_blocks(), *rates(), *chains())
