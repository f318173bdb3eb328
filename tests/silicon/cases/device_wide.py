"""CUB's device-wide algorithms as nvbench times them, launch for launch as CUB's dispatch and tuning have them (CCCL
before pull requests 8884, 6639 and 3998; version 3.3 for issues 9851 and 9817).

nvbench clears the L2 by a memset of its size, waits for it, holds the stream back until the host has made all calls,
and takes the time between two events. So a fill and a pause are in front, and the launches and memsets of a row follow
each other at once.

What the events add differs by card, more than the 3.2 us of an RTX 3080: nvbench's time of a kernel that only
multiplies 65,536 bytes is 3.9 us on an H200 and 6.2 on an A100. Less that kernel here, this is `EVENTS_US`.
"""

from tests.silicon.case import Case, Run

L2_NBYTES = {"a100-pcie-80": 41943040, "h200-nvl": 62914560, "b200": 132120576}
SHORTEST_US = {  # NVIDIA/cccl, babelstream's mul of 2^16 I8: pull requests 4815, 6921 and 3825
    "a100-pcie-80": 6.211,
    "h200": 3.935,
    "b200": 6.144,
}
EVENTS_US = {"a100-pcie-80": 3.0, "h200-nvl": 1.4, "b200": 3.8}
SHORTEST = "multiply<<<32, 128>>>(u32[16384]=random, u32[16384], 3)"
RESIDENT = 5 * 8  # blocks of 256 threads an SM that CUB's sums have at most

# Threads and elements a thread, ns before the first look and between looks, and whether these are halved.
SCANS = {"a100-pcie-80": (320, 12, 1180, 268, "false"), "b200": (512, 18, 820, 768, "true")}
KEYS_OF_TILE = 512 * 19
POWERS = (16, 24)


def memset(array: str, nbytes: int) -> str:
    wide = -(-nbytes // 16)
    return f"clear<<<{-(-wide // 256)}, 256>>>({array}, {wide})"


def sum_by_atomics(n: int, sms: int, given: str = "random") -> tuple[str, ...]:
    blocks = min(-(-n // 4096), RESIDENT * sms)
    return memset("sum: i32[4]", 16), f"by_atomics<<<{blocks}, 256>>>(i32[{n}]={given}, sum, {n})"


def sum_of_bytes(n: int, sms: int, given: str = "random") -> tuple[str, ...]:
    blocks = min(-(-n // 8192), RESIDENT * sms)
    kernel = "by_blocks<signed char,32>"
    return (
        f"{kernel}<<<{blocks}, 256>>>(i8[{n}]={given}, sums: i8[{blocks}], {n})",
        f"{kernel}<<<1, 256>>>(sums, sum: i8[1], {blocks})",
    )


def scan(n: int, card: str, given: str = "random") -> tuple[str, ...]:
    threads, each, *waits = SCANS[card]
    tiles = -(-n // (threads * each))
    kernel = f"scan<{','.join(map(str, (threads, each, *waits)))}>"
    return (
        f"begin<<<{-(-tiles // 128)}, 128>>>(tiles: u32[{2 * (32 + tiles)}], {tiles})",
        f"{kernel}<<<{tiles}, {threads}>>>(i8[{n}]={given}, to: i8[{n}], tiles, {n})",
    )


def sort(n: int, sms: int, given: str = "random") -> tuple[str, ...]:
    """16 blocks of 128 threads an SM count."""
    tiles = -(-n // KEYS_OF_TILE)
    return (
        memset("counter: u32[4]", 16),
        memset("bins: u32[256]", 1024),
        f"count<<<{16 * sms}, 128>>>(bins, keys: u8[{n}]={given}, {n})",
        "begins<<<1, 256>>>(bins)",
        memset(f"words: u32[{256 * tiles}]", 1024 * tiles),
        f"pass<<<{tiles}, 512>>>(words, counter, bins, to: u8[{n}], keys, {n})",
    )


def timed(id: str, card: str, file: str, launches: tuple[str, ...]) -> Case:
    flush = memset(f"flushed: u32[{L2_NBYTES[card] // 4}]", L2_NBYTES[card]), "pause<<<1, 1>>>()"
    run = Run((*flush, *launches))
    return Case(id, "device-wide", card, file, (run,), period=True, together=len(launches), overhead_us=EVENTS_US[card])


CASES = (
    *(timed(f"cub-h200nvl-reducenondet-i32-2{power}", "h200-nvl", "device_sums.cu", sum_by_atomics(2**power, 132))
      for power in POWERS),
    *(timed(f"cub-a100pcie-scan-i8-2{power}", "a100-pcie-80", "device_scans.cu", scan(2**power, "a100-pcie-80"))
      for power in POWERS),
    *(timed(f"cub-b200-scan-i8-2{power}", "b200", "device_scans.cu", scan(2**power, "b200")) for power in POWERS),
    *(timed(f"cub-b200-sortkeys-i8-2{power}", "b200", "device_sorts.cu", sort(2**power, 148)) for power in POWERS),
    timed("cub-b200-reducesum-i8-224", "b200", "device_sums.cu", sum_of_bytes(2**24, 148)),
)  # fmt: skip
