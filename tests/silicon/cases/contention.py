"""Atomics by contention: all lanes on one word, whole warps on an array of 2 KiB, bytes at random into 256 bins, and
words of a filter that fills most of an L2; in global memory and in shared.

Few slices of the L2 have such an array, so these run on whole chips, and what more blocks add is the rate. Inputs of
the histograms by nvbench are zero, as theirs were (a vector that is never filled).
"""

from tests.silicon.case import Case, Run

BINS = 512


def bins(id: str, card: str, elements: int, threads: int, in_shared: bool = False) -> Case:
    kernel, shared = ("histogram_by_blocks", f", {BINS * 4}") if in_shared else ("histogram", "")
    few = 2**18 // threads if in_shared else 512

    def launch(blocks: int) -> str:
        count = blocks * threads
        return f"{kernel}<<<{blocks}, {threads}{shared}>>>(u32[{count}], u32[{BINS}], {count}, {BINS})"

    runs = tuple(Run((launch(blocks),), blocks) for blocks in (few, 2 * few))
    return Case(id, "atomics", card, "atomics.cu", runs, whole_size=elements // threads)


def of_bytes(id: str, kernel: str) -> Case:
    sizes = (2**21, 2**22)
    runs = tuple(Run((f"{kernel}<<<528, 512>>>(u8[{n}]=random, u32[256], {n})",), n) for n in sizes)
    return Case(id, "atomics", "h100", "atomics.cu", runs, whole_size=2**30)


def keys(id: str, count: int) -> Case:
    words = 37 * 10**6 // 8
    few, many = 2**20, 2**21
    launch = f"insert_keys<<<{{0}}, 256>>>({{1}}, u32[{{2}}]=arange, {words}, {{2}})"
    filled = launch.format(many // 256, f"filter: u64[{words}]", many)
    runs = tuple(Run((filled, launch.format(n // 256, "filter", n)), n) for n in (few, many))
    return Case(id, "atomics", "a100-80", "atomics.cu", runs, whole_size=count)


MILLION, MANY = 1048576, 67108864

CASES = (
    *(bins(f"{card}-onebin-global-{n}", card, n, 512)
      for card in ("gtx1650", "rtx3060", "rtx3080") for n in (MILLION, MANY)),
    *(bins(f"{card}-onebin-shared-{n}", card, n, 512, in_shared=True)
      for card in ("gtx1650", "rtx3060", "rtx3080") for n in (MILLION, MANY)),
    *(bins(f"{card}-2kib-{threads}", card, MANY, threads, in_shared=True)
      for card, sizes in (("gtx1650", (32, 64)), ("rtx3060", (32, 64, 128, 1024)), ("rtx3080", (32, 128)))
      for threads in sizes),
    of_bytes("h100-bytes-global", "bytes_in_global"),
    of_bytes("h100-bytes-shared", "bytes_in_shared"),
    keys("a100-filter-10m", 10**7),
    keys("a100-filter-100m", 10**8),
)  # fmt: skip
