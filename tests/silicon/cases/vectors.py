"""Products of matrix and vector: integers on an RTX 3080 (nvbench: L2 flushed, zeros), single precision on a V100."""

from tests.silicon.case import Case, Run, once


def rtx3080(number: int, kernel: str, size: int, threads: int, parts: int = 1) -> Case:
    """Few blocks run on the whole chip, many on a quarter; of 4,096 columns, what more of them add."""
    rows = size // parts
    shared = f", {threads * 4}" if kernel == "by_threads_tiled" else ""

    def run(columns: int) -> Run:
        arrays = f"u32[{rows}], u32[{rows},{size}], u32[{size}]"
        return Run(
            (f"{kernel}<unsigned><<<{rows // threads}, {threads}{shared}>>>({arrays}, {rows}, {size}, {columns})",),
            columns,
        )

    runs = (run(size),) if size == 1024 else (run(1024), run(2048))
    id = f"rtx3080-nv-mat_vec_mul-{number}"
    return Case(id, "vectors", "rtx3080", "vectors.cu", runs, parts, size, empty_us=3.2)


def v100(step: int, kernel: str, columns: int, blocks: int) -> Case:
    """A quarter of the 16,384 rows on a quarter of the chip, with cold caches, as under Nsight Compute."""
    rows = 16384 // 4
    arrays = f"f32[{rows},{columns}]=random, f32[{columns}]=random, f32[{rows}]"
    runs = once(f"{kernel}<<<{blocks // 4}, (32, 4)>>>({arrays}, {rows}, {columns})")
    return Case(f"v100-liu-sgemv{step}", "vectors", "v100", "vectors.cu", runs, 4)


CASES = (
    rtx3080(269, "by_threads", 1024, 512),
    rtx3080(270, "by_threads", 4096, 512),
    rtx3080(271, "by_threads_tiled", 1024, 512),
    rtx3080(272, "by_threads_tiled", 4096, 512),
    rtx3080(273, "by_threads_tiled", 4096, 8, 4),
    rtx3080(274, "by_threads_tiled", 4096, 32, 4),
    rtx3080(275, "by_threads_tiled", 4096, 64, 4),
    rtx3080(276, "by_threads_tiled", 4096, 128, 4),
    rtx3080(277, "by_threads_tiled", 4096, 256, 4),
    rtx3080(278, "by_threads_tiled", 4096, 1024, 4),
    v100(0, "by_warps", 32, 4096),
    v100(1, "by_warps_of_four", 128, 4096),
    v100(2, "by_parts_of_warps<2>", 16, 2048),
)
