"""Transposes of 32768 x 32768 floats by tensor maps, on an H100: launches one after another, whose 8 GB fit no cache.

A quarter of the chip transposes rows of tiles; what more of them add is its rate. Rows are as long as published.
"""

from tests.silicon.case import Case, Run

WIDTH, TILE, PARTS = 32768, 32, 4


def run(kernel: str, threads: int, swizzle: int, rows: int) -> Run:
    """`rows` of tiles."""
    box = f"tensormap(box=({TILE}, {TILE}), swizzle={swizzle})"
    matrices = f"{box} f32[{rows * TILE},{WIDTH}], {box} f32[{WIDTH},{rows * TILE}]"
    return Run((f"{kernel}<<<({WIDTH // TILE}, {rows}), {threads}>>>({matrices})",), rows)


def h100(id: str, kernel: str, threads: int, swizzle: int) -> Case:
    runs = tuple(run(kernel, threads, swizzle, rows) for rows in (8, 16))
    whole = WIDTH // TILE / PARTS
    return Case(f"simveit-h100-{id}", "transposes", "h100", "tensor_transposes.cu", runs, PARTS, whole)


CASES = (
    h100("transpose_naive", "by_maps<false, 1>", 1024, 0),
    h100("transpose_swizzle", "by_maps<true, 1>", 1024, 128),
    h100("transpose_swizzle_batched", "by_maps<true, 8>", 128, 128),
)
