"""Products of square matrices of integers on an RTX 3080 (nvbench: L2 flushed, zeros), blocks of 16 x 16.

128^3 runs on a quarter of the chip. Of larger ones four SMs with their share of the chip do some rows of blocks: what
more rows add, or more of the sum, is the whole launch's rate.
"""

from tests.silicon.case import Case, Run, once

SHARED = {"by_elements": 0, "by_tiles": 2, "by_two_tiles": 3}  # tiles
PER_BLOCK = {"by_elements": 16, "by_tiles": 16, "by_two_tiles": 8}  # columns that the grid counts for a block


def launch(kernel: str, size: int, rows: int, depth: int) -> str:
    """`rows` of blocks, `depth` of the sum."""
    shared = SHARED[kernel] * 16 * 16 * 4
    grid = f"({size // PER_BLOCK[kernel]}, {rows}), (16, 16)" + (f", {shared}" if shared else "")
    arrays = f"u32[{16 * rows},{size}], u32[{size},{size}], u32[{16 * rows},{size}]"
    return f"{kernel}<unsigned><<<{grid}>>>({arrays}, {16 * rows}, {size}, {depth}, {size})"


def rtx3080(number: int, kernel: str, size: int) -> Case:
    blocks = size // 16
    if size == 128:
        parts, runs, whole = 4, once(launch(kernel, size, blocks // 4, size)), 0
    elif size == 512:
        parts, whole = 17, blocks / 17
        runs = tuple(Run((launch(kernel, size, rows, size),), rows) for rows in (1, 3))
    else:
        parts, whole = 17, size * blocks / 17
        runs = tuple(Run((launch(kernel, size, 1, depth),), depth) for depth in (64, 192))
    id = f"rtx3080-nv-mat_mat_mul-{number}"
    return Case(id, "products", "rtx3080", "integer_products.cu", runs, parts, whole, empty_us=3.2)


CASES = tuple(
    rtx3080(279 + 3 * i + j, kernel, size) for i, kernel in enumerate(SHARED) for j, size in enumerate((128, 512, 2048))
)
