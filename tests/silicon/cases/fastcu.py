"""Products of bfloat16, 8192^3, and sums of 2^30 integers on an H100: launches one after another.

The products' clock is not stated: only their ratios are compared.
"""

from tests.silicon.case import Case, Run

SIZE = 8192


def without_tensor(k: int) -> Run:
    arrays = f"bf16[{SIZE},{k}]=random, bf16[{k},{SIZE}]=random, bf16[{SIZE},{SIZE}]"
    kernel = "without_tensor<128,128,16,64,64,4,8,4,128>"
    return Run((f"{kernel}<<<(64, 64), 128>>>({SIZE}, {SIZE}, {k}, {arrays})",), k)


def warp_groups(k: int) -> Run:
    """A quarter of the chip, one block an SM. Its 33 blocks are six columns of tiles, so that they read about a quarter
    of the tiles that a wave of the chip does: four rows of 32 columns.
    """
    columns = 6 * 256
    return Run(
        (
            f"describe<<<1, 1>>>(map_a: u64[16], bf16[{SIZE},{k}]=random, {SIZE}, {k}, 128)",
            f"describe<<<1, 1>>>(map_b: u64[16], bf16[{columns},{k}]=random, {columns}, {k}, 256)",
            f"fetched_by_one<<<2048, 384, 147456>>>({SIZE}, {columns}, {k}, bf16[{columns},{SIZE}], map_a, map_b)",
        ),
        k,
    )


def along_curve(turns: int) -> Run:
    """A quarter of the chip: 32 blocks, each of which makes a tile a turn, along the first part of the curve."""
    rows, columns, order = 8 * 128, 8 * 256, 3
    return Run(
        (
            f"describe<<<1, 1>>>(map_a: u64[16], bf16[{rows},{SIZE}]=random, {rows}, {SIZE}, 128)",
            f"describe<<<1, 1>>>(map_b: u64[16], bf16[{columns},{SIZE}]=random, {columns}, {SIZE}, 256)",
            f"lay_curve<<<1, 1>>>(places: i32[32*{turns}], {order}, 32, {turns})",
            f"along_curve<<<32, 384, 147456>>>"
            f"({rows}, {columns}, {SIZE}, bf16[{columns},{rows}], map_a, map_b, places, {turns})",
        ),
        turns,
    )


def a_product(name: str, family: str, runs: tuple[Run, ...], parts: int, whole: int, by_waves: bool) -> Case:
    ladder = "fastcu-h100"
    id = f"{ladder}-{name}-{SIZE}"
    return Case(id, family, "h100", "warp_groups.cu", runs, parts, whole, by_waves, group=ladder, ladder=ladder)


def a_sum(name: str, launch: str, few: int, whole: float) -> Case:
    """A twelfth of the chip. Runs of `few` and three times as many of what is {free} in `launch`."""
    runs = tuple(Run((launch.format(free=free),), free) for free in (few, 3 * few))
    return Case(f"fastcu-h100-{name}", "reductions", "h100", "sums.cu", runs, 12, whole)


CASES = (
    a_product("k1", "products", (without_tensor(128), without_tensor(256)), 12, SIZE, True),
    a_product("k4", "tensor", (warp_groups(2048), warp_groups(4096)), 4, SIZE, True),
    a_product("k6", "tensor", (along_curve(1), along_curve(2)), 4, 16, False),
    a_sum(
        "sum1",
        "tree_of_batches<512,20><<<{free}, 512>>>(i32[{free}*10240]=random, i32[1], {free}*10240)",
        264,
        104858 / 12,
    ),
    a_sum(
        "sum3",
        "shuffles_of_batches<1024,16><<<{free}, 1024>>>(i32[{free}*65536]=random, i32[1], {free}*16384)",
        66,
        16384 / 12,
    ),
    # Five waves of eight blocks an SM share the tiles evenly, as cub::DeviceReduce has it for integers.
    a_sum(
        "cubsum", "sums_of_tiles<<<440, 256>>>(i32[440*{free}*4096]=random, i32[440], {free})", 2, 2**30 / 4096 / 5280
    ),
)
