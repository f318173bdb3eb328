"""Convolutions: filters of 5 and of 5 x 5 on an RTX 3080 (nvbench: L2 flushed, zeros), tuned ones of 15 x 15 over
4096 x 4096 on an RTX 3090 and on an A100.

Small parts of the chips have so few blocks that what more of them add is the whole launch's rate.
"""

from dataclasses import replace
from math import ceil

from tests.silicon.case import Case, Run

IMAGE = 4096
INPUT = IMAGE + 14
LENGTH = 2**22
# Blocks that an SM does in whole waves, if 3, 4, 6 or 12 run at a time (1536 threads), or 8 or 16 (2048 threads).
WAVES = {"rtx3090": 24, "a100-40": 32}


def line(number: int, kernel: str, arrays: str, shared: int = 0) -> Case:
    """5 taps over 2^22 elements, a quarter of the chip."""
    dynamic = f", {shared}" if shared else ""
    runs = tuple(
        Run((f"{kernel}<<<{blocks}, 512{dynamic}>>>({arrays}, 5, {LENGTH})",), blocks) for blocks in (512, 1024)
    )
    return nvbench(number, runs, LENGTH / 512 / 4, 4)


def image(number: int, kernel: str, arrays: str, across: int, shared: int = 0) -> Case:
    """5 x 5 over 1024 x 1024, a quarter of the chip; a run is so many rows of blocks."""
    dynamic = f", {shared}" if shared else ""
    runs = tuple(
        Run((f"{kernel}<<<({across}, {down}), (16, 16){dynamic}>>>({arrays}, 5, 5, 1024, 1024, 1)",), down)
        for down in (8, 16)
    )
    return nvbench(number, runs, across / 4, 4)


def nvbench(number: int, runs: tuple[Run, ...], whole: float, parts: int) -> Case:
    id = f"rtx3080-nv-conv-{number}"
    return Case(id, "convolutions", "rtx3080", "convolutions.cu", runs, parts, whole, empty_us=3.2)


def tuned(id: str, card: str, parts: int, bx: int, by: int, across: int, down: int, padded: bool = False) -> Case:
    """Two SMs with WAVES blocks each, and with twice as many: no SM ends with a wave that is not full. Rows of blocks
    share most of what they load, as in the whole image.
    """
    kernel = f"tuned<{bx}, {by}, {across}, {down}, {str(padded).lower()}>"
    arrays = f"f32[{IMAGE},{IMAGE}], f32[{INPUT},{INPUT}]=random, f32[225]"
    wide = max(4, 2048 // (bx * by * across * down))
    rows = 2 * WAVES[card] // wide
    runs = tuple(
        Run((f"{kernel}<<<({wide}, {tall}), ({bx}, {by})>>>({arrays})",), wide * tall) for tall in (rows, 2 * rows)
    )
    blocks = ceil(IMAGE / (bx * across)) * ceil(IMAGE / (by * down))
    return Case(id, "convolutions", card, "convolutions.cu", runs, parts, blocks / parts)


def rtx3090(bx: int, by: int, across: int, down: int) -> Case:
    return tuned(f"bh-3090-conv-{bx}_{by}_15_15_0_{across}_{down}_0", "rtx3090", 41, bx, by, across, down)


def a100(bx: int, by: int, across: int, down: int, padded: int = 0) -> Case:
    """The clock is not known: at 1410 MHz a second pass through the banks would take 1.74 cycles (blocks 16 wide,
    with and without padding), where A100s whose clock is known take 1.0 to 1.08. So these are compared by ratios.
    """
    id = f"bh-a100-conv-{bx}_{by}_{across}_{down}_0_{padded}_1_1_15_15"
    return replace(tuned(id, "a100-40", 54, bx, by, across, down, bool(padded)), group="bh-a100-conv")


ONE, IMAGES = f"f32[{LENGTH}], f32[{LENGTH}]", "f32[1024,1024], f32[1024,1024]"

CASES = (
    line(288, "line", f"f32[{LENGTH}], f32[5], f32[{LENGTH}]"),
    line(289, "line_constant", ONE),
    line(290, "line_tiled", ONE, (512 + 4) * 4),
    line(291, "line_cached", ONE, 512 * 4),
    image(292, "image", "f32[1024,1024], f32[25], f32[1024,1024]", 64),
    image(293, "image_constant", IMAGES, 64),
    image(294, "image_tiled", IMAGES, 86, 16 * 16 * 4),
    rtx3090(32, 4, 1, 1),
    rtx3090(32, 8, 1, 1),
    rtx3090(32, 8, 1, 4),
    rtx3090(64, 4, 2, 2),
    rtx3090(16, 16, 1, 1),
    rtx3090(128, 2, 1, 3),
    rtx3090(16, 8, 1, 4),
    rtx3090(64, 2, 4, 4),
    a100(32, 4, 1, 1),
    a100(32, 8, 1, 2),
    a100(64, 4, 2, 2),
    a100(16, 8, 1, 4),
    a100(16, 8, 1, 4, 1),
    a100(16, 16, 1, 1),
    a100(16, 16, 1, 1, 1),
)
