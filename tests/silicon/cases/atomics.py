"""Atomics to one float on two A100s, histograms of zeros on an RTX 3080.

One address, or a small array, is not faster on a whole chip than on a part of it, so all launches run on the whole one;
what more blocks add is the rate. All inputs are zero, as theirs were (nvbench: L2 flushed, 3.2 us of an empty kernel
are in the time).
"""

from tests.silicon.case import Case, Run, once

BINS = 512


def to_one(id: str, kernel: str, card: str, blocks: int) -> Case:
    runs = tuple(
        Run((f"{kernel}<<<{few}, 256>>>(f32[{few * 256}]=ones, f32[1], {few * 256})",), few) for few in (512, 1536)
    )
    return Case(id, "atomics", card, "atomics.cu", runs, whole_size=blocks)


def bins(kernel: str, blocks: int, threads: int) -> str:
    count = blocks * threads
    shared = f", {BINS * 4}" if kernel == "histogram_by_blocks" else ""
    return f"{kernel}<<<{blocks}, {threads}{shared}>>>(u32[{count}], u32[{BINS}], {count}, {BINS})"


def in_global(number: int, blocks: int) -> Case:
    """At most 1,024 blocks are run."""
    if blocks <= 1024:
        runs = once(bins("histogram", blocks, 512))
    else:
        runs = tuple(Run((bins("histogram", few, 512),), few) for few in (512, 1024))
    return histogram(number, runs, blocks)


def in_shared(number: int, blocks: int, threads: int) -> Case:
    """Runs of 2^18 and 2^19 threads."""
    few = 2**18 // threads
    runs = tuple(Run((bins("histogram_by_blocks", count, threads),), count) for count in (few, 2 * few))
    return histogram(number, runs, blocks)


def histogram(number: int, runs: tuple[Run, ...], whole: int) -> Case:
    id = f"rtx3080-nv-histogram-{number}"
    return Case(id, "atomics", "rtx3080", "atomics.cu", runs, whole_size=whole, empty_us=3.2)


CASES = (
    to_one("a100-olcf-atomic_red", "add_to_one", "a100-40", 32768),
    to_one("a100-ayush-red-e353cae", "add_to_one_early", "a100-40", 65536),
    in_global(260, 512),
    in_global(261, 2048),
    in_global(262, 8192),
    in_shared(263, 2048, 512),
    in_shared(264, 8192, 512),
    in_shared(265, 32768, 512),
    in_shared(266, 1048576, 64),
    in_shared(267, 262144, 256),
    in_shared(268, 65536, 1024),
)
