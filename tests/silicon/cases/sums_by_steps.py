"""The sum of 2^30 integers on an H100, in steps: launches one after another, whose 4 GB fit no cache.

A quarter of the chip reads a quarter of the vector; what more blocks add is its rate. In the first two steps, one block
sums what the first launch's blocks found: four times as many numbers as a quarter of them gives.
"""

from tests.silicon.case import Case, Run

N, THREADS, PARTS = 2**30, 512, 4


def h100(step: int, kernel: str, each: int, blocks: int, *after: str) -> Case:
    """`each` elements a thread; `blocks` of the shorter run, and the launches after each."""
    runs = tuple(Run(launches(kernel, each, n, after), n) for n in (blocks, 2 * blocks))
    whole = -(-N // (THREADS * each)) / PARTS
    id = f"simveit-h100-reduce{step}"
    return Case(id, "reductions", "h100", "sums_by_steps.cu", runs, PARTS, whole, together=1 + len(after))


def launches(kernel: str, each: int, blocks: int, after: tuple[str, ...]) -> tuple[str, ...]:
    n = blocks * THREADS * each
    first = f"{kernel}<<<{blocks}, {THREADS}>>>(i32[{n}], found: i32[{PARTS * blocks}], {n})"
    return first, *(f"{again}<<<1, {THREADS}>>>(found, i32[1], {PARTS * blocks})" for again in after)


CASES = (
    h100(0, "by_grid<Last::BARRIERS>", 1, 8192, "by_grid<Last::BARRIERS>"),
    h100(1, "by_grid<Last::WARP>", 1, 8192, "by_grid<Last::WARP>"),
    h100(2, "by_atomics<Last::WARP, 1, false>", 1, 8192),
    h100(3, "by_atomics<Last::WARP, 12, false>", 12, 2048),
    h100(4, "by_fours<Last::WARP, 3>", 12, 2048),
    h100(6, "by_atomics<Last::SHUFFLES, 12, true>", 12, 2048),
    h100(7, "by_atomics<Last::REDUX, 12, true>", 12, 2048),
    h100(8, "by_fours<Last::SHUFFLES, 3>", 12, 2048),
    h100(9, "by_fours<Last::REDUX, 3>", 12, 2048),
)
