"""Sums: of vectors on an A100 of 40 GB (under ncu, and in an event loop), on a V100 and on an RTX 4090 (under Nsight),
and of a matrix by rows and by columns.

Under the profilers caches are cold. Where a launch has many waves of blocks, what more blocks add is its rate.
"""

from tests.silicon.case import Case, Run, once


def growing(launch: str, few: int, many: int) -> tuple[Run, ...]:
    """Runs of a launch in which the number of {blocks} is free."""
    return tuple(Run((launch.format(blocks=blocks),), blocks) for blocks in (few, many))


def olcf(id: str, kernel: str) -> Case:
    count = 2**23 // 4
    runs = once(f"{kernel}<{count}><<<160, 256>>>(f32[{count}]=ones, f32[1])")
    return Case(f"a100-olcf-{id}", "reductions", "a100-40", "reductions.cu", runs, 4)


def by_lines(id: str, kernel: str, shape: str) -> Case:
    """A quarter of the 16,384 lines; what more elements a line add."""
    runs = tuple(
        Run((f"{kernel}<<<16, 256>>>(f32[{shape}], f32[4096], 16384, {length})".format(length=length),), length)
        for length in (256, 768)
    )
    return Case(f"a100-olcf-{id}", "reductions", "a100-40", "reductions.cu", runs, 4, 16384)


def v100(step: int, kernel: str, blocks: int, each: int) -> Case:
    """An eighth of the chip: 80 blocks are a wave."""
    launch = f"{kernel}<<<{{blocks}}, 256>>>(f32[{{blocks}}*{256 * each}]=ones, f32[{{blocks}}])"
    return Case(
        f"v100-liu-reduce{step}", "reductions", "v100", "reductions.cu", growing(launch, 640, 1920), 8, blocks / 8
    )


def v100_many(step: int, kernel: str) -> Case:
    """128 elements a thread: the 1,024 blocks are 1.6 waves."""
    runs = once(f"{kernel}<128><<<128, 256>>>(f32[{128 * 256 * 128}]=ones, f32[128])")
    return Case(f"v100-liu-reduce{step}", "reductions", "v100", "reductions.cu", runs, 8)


def a100(id: str, kernel: str) -> Case:
    """The whole chip: its atomics go to one address. What more blocks add."""
    launch = f"{kernel}<<<{{blocks}}, 256>>>(f32[{{blocks}}*256]=ones, f32[1], {{blocks}}*256)"
    return Case(f"a100-ayush-red-{id}", "reductions", "a100-40", "reductions.cu", growing(launch, 2048, 4096), 1, 65536)


def rtx4090(id: str, kernel: str, blocks: int, each: int = 1, shared: str = "") -> Case:
    """An eighth of the chip: 192 blocks are a wave."""
    launch = (
        f"{kernel}<<<{{blocks}}, 128{shared}>>>"
        f"(i32[{{blocks}}*{128 * each}]=random, i32[{{blocks}}], {{blocks}}*{128 * each})"
    )
    few = 1536 // each
    return Case(
        f"rep-4090-smemReduceInteger-{id}",
        "reductions",
        "rtx4090-slow",
        "reductions.cu",
        growing(launch, few, 3 * few),
        8,
        blocks / 8,
    )


CASES = (
    olcf("reduce_a", "tree_and_atomic"),
    olcf("reduce_ws", "shuffles_and_atomic"),
    by_lines("row_sums", "rows", "4096,16384"),
    by_lines("column_sums", "columns", "{length},16384"),
    v100(0, "tree_diverging", 131072, 1),
    v100(1, "tree_conflicting", 131072, 1),
    v100(2, "tree", 131072, 1),
    v100(3, "tree_of_pairs", 65536, 2),
    v100(4, "tree_last_warp", 65536, 2),
    v100(5, "tree_written_out", 65536, 2),
    v100_many(6, "tree_of_many"),
    v100_many(7, "shuffles_of_many"),
    a100("794f033", "first_thread"),
    a100("f94c6d4", "tree_of_leavers"),
    rtx4090("0-reduceGmem", "tree_in_global", 131072),
    rtx4090("1-reduceSmem", "tree_in_shared", 131072),
    rtx4090("3-reduceSmemUnroll4", "tree_of_four", 32768, 4),
    rtx4090("4-reduceSmemUnroll4Dyn", "tree_of_four_dynamic", 32768, 4, ", 128 * 4"),
)
