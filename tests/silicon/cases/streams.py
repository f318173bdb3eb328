"""Vectors that are read and written once, on four cards.

`a100-olcf-` and `a100-addVectorsInto` ran under ncu: cold caches at the base clock. Small grids run on the whole chip,
larger ones on a quarter with a quarter of the blocks; what more elements add is the whole vector's time.
"""

from tests.silicon.case import Case, Run, once

OLCF = 32 * 2**20


def by_grid(id: str, kernel: str, blocks: int, threads: int, parts: int, trips: tuple[int, ...]) -> Case:
    """`trips` of the grid-stride loop."""
    runs = []
    for count in trips:
        n = blocks // parts * threads * count
        vectors = ", ".join([f"f32[{n}]"] * 3)
        runs.append(Run((f"{kernel}<<<{blocks // parts}, {threads}>>>({vectors}, {n})",), count))
    return Case(id, "streams", "a100-40", "streams.cu", tuple(runs), parts, OLCF / (blocks * threads))


def by_chunk() -> Case:
    """Chunks of 205 elements; what more elements of each add."""
    threads, pitch = 40 * 1024, 205
    vectors = ", ".join([f"f32[{threads * pitch}]"] * 3)
    runs = tuple(
        Run((f"add_by_chunk<<<40, 1024>>>({vectors}, {threads * pitch}, {pitch}, {length})",), length)
        for length in (16, 48)
    )
    return Case("a100-olcf-vadd-blocked", "streams", "a100-40", "streams.cu", runs, 4, pitch)


def v100(id: str, kernel: str, width: int) -> Case:
    """An eighth of the chip; 402 MB by the published rate."""
    type = f"f32[{{blocks}}*{256 * width}]"
    launch = f"{kernel}<<<{{blocks}}, 256>>>({type}, {type}, {type})"
    few = 2048 // width
    runs = tuple(Run((launch.format(blocks=blocks),), blocks) for blocks in (few, 3 * few))
    whole = OLCF / (256 * width) / 8
    return Case(f"v100-liu-{id}", "streams", "v100", "streams.cu", runs, 8, whole, work=3 * 4 * OLCF)


def matrices(number: int, kernel: str, size: int) -> Case:
    """RTX 3080, blocks of 16 x 16, a quarter of the rows (of the columns, where a warp's threads lie in one)."""
    blocks = size // 16
    rows = (blocks // 4,) if size <= 2048 else (8, 24)
    array = f"f32[{size * size}]"
    runs = tuple(
        Run((f"{kernel}<<<({blocks}, {many}), (16, 16)>>>({array}, {array}, {array}, {size}, {size})",), many)
        for many in rows
    )
    id = f"rtx3080-nv-array_add-{number}"
    family = "streams" if kernel == "add_rows" else "strides"
    return Case(id, family, "rtx3080", "streams.cu", runs, 4, blocks / 4, empty_us=3.2)


def grey(number: int, size: int) -> Case:
    blocks = size // 16
    runs = tuple(
        Run(
            (f"grey<<<({blocks}, {many}), (16, 16)>>>(u8[{3 * size * size}], u8[{size * size}], {size}, {size})",), many
        )
        for many in (8, 24)
    )
    id = f"rtx3080-nv-image_to_grayscale-{number}"
    return Case(id, "streams", "rtx3080", "streams.cu", runs, 4, blocks / 4, empty_us=3.2)


def rtx4090(id: str, launch: str) -> Case:
    """Under ncu, and built for a debugger: trusted low. An eighth of the chip with an eighth of the blocks."""
    return Case(f"rep-4090-{id}", "streams", "rtx4090-slow", "streams.cu", once(launch), 8)


def offset(place: int, times: int, offset: int) -> Case:
    n = 2**19
    name = "readOffset" if times == 1 else f"readOffsetUnroll{times}"
    vectors = ", ".join([f"f32[{n}]"] * 3)
    launch = f"add_offset<{times}><<<{n // 64 // times}, 64>>>({vectors}, {offset}, {n})"
    return rtx4090(f"readSegmentUnroll-{place}-{name}", launch)


def pairs(id: str, launch: str) -> Case:
    n = 2**19
    return rtx4090(id, launch.format(blocks=n // 512, floats=2 * n, n=n))


CASES = (
    by_grid("a100-olcf-vadd-1x1024", "add_by_grid", 1, 1024, 1, (64, 192)),
    by_grid("a100-olcf-vadd-64x64", "add_by_grid", 64, 64, 4, (64, 192)),
    by_grid("a100-olcf-vadd-80x1024", "add_by_grid", 80, 1024, 4, (64, 128)),
    by_grid("a100-olcf-vadd-160x1024", "add_by_grid", 160, 1024, 4, (32, 64)),
    by_grid("a100-olcf-vadd-240x1024", "add_by_grid", 240, 1024, 4, (20, 40)),
    by_grid("a100-addVectorsInto", "add_into", 3456, 256, 4, (6, 12)),
    by_chunk(),
    v100("add", "add_one", 1),
    v100("vec2_add", "add_two", 2),
    v100("vec4_add", "add_four", 4),
    *(matrices(number, "add_columns", size) for number, size in ((252, 1024), (253, 2048), (254, 4096))),
    *(matrices(number, "add_rows", size) for number, size in ((255, 1024), (256, 2048), (257, 4096))),
    grey(258, 2048),
    grey(259, 4096),
    pairs("simpleAOS-0-testInnerStruct", "add_to_pairs<<<{blocks}, 512>>>(f32[{floats}], f32[{floats}], {n})"),
    pairs("simpleSOA-0-testInnerStruct", "add_to_fields<{n}><<<{blocks}, 512>>>(f32[{floats}], f32[{floats}], {n})"),
    *(offset(3 * i + j, times, at) for i, at in enumerate((0, 11, 128)) for j, times in enumerate((1, 2, 4))),
)
