"""Transposes and copies of 4096 x 4096 floats, on an A100 of 40 GB in an event loop and on an RTX 4090 under ncu.

A part of the chip takes as many fewer rows of the matrix; the rows are as long. In the event loop the L2 is warm, as
far as 128 MB fit into it.
"""

from tests.silicon.case import Case, once, warm

WIDTH = 4096
A100_PARTS, RTX4090_PARTS = 4, 8
MATRIX = f"{WIDTH * WIDTH}"


def a100(id: str, kernel: str, threads: str = "(32, 8)") -> Case:
    grid = f"({WIDTH // 32}, {WIDTH // 32 // A100_PARTS})"
    launch = f"{kernel}<<<{grid}, {threads}>>>(%s, %s, {WIDTH})"
    runs = warm(launch % (f"b: f32[{MATRIX}]", f"a: f32[{MATRIX}]"), launch % ("b", "a"))
    return Case(f"a100-ayush-{id}", "transposes", "a100-40", "transposes.cu", runs, A100_PARTS)


def rtx4090(id: str, kernel: str, across: int = 128) -> Case:
    grid = f"({across}, {WIDTH // 16 // RTX4090_PARTS})"
    runs = once(f"{kernel}<<<{grid}, (32, 16)>>>(f32[{MATRIX}], f32[{MATRIX}], {WIDTH}, {WIDTH})")
    return Case(f"rep-4090-smemTranspose-{id}", "transposes", "rtx4090", "transposes.cu", runs, RTX4090_PARTS)


CASES = (
    a100("tr-14421bf", "copy_overlapping"),
    a100("tr-5f945d6", "direct"),
    a100("tr-d002178", "through_shared<32, 8>"),
    a100("tr-adf8c54", "copy_through_shared"),
    a100("tr-e0ae4b2", "through_shared<33, 8>"),
    a100("tr2-987e8fb", "through_shared<32, 32>", "(32, 32)"),
    a100("tr2-8610fa4", "through_shared<33, 32>", "(32, 32)"),
    a100("tr2-6a1623a", "through_shared<33, 8>"),
    rtx4090("0-naiveGmem", "direct_bounded"),
    rtx4090("1-copyGmem", "copy_bounded"),
    rtx4090("2-transposeSmem", "half_tiles<0>"),
    rtx4090("3-transposeSmemPad", "half_tiles<2>"),
    rtx4090("4-transposeSmemUnrollPad", "half_tiles_twice", 64),
)
