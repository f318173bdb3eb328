"""The launches that are compared: a report's, by its id in published.csv, and the one that stands for it.

Each kernel has the structure of the report's: loops, types, tiles, launch. `parts`: a launch of so many times fewer
blocks runs on as small a part of the card.
"""

from typing import NamedTuple

N_ROWS, PER_ROW = 10000, 32  # of the sparse matrix


class Case(NamedTuple):
    id: str
    file: str
    launch: str
    parts: int


def _vectors(n: int, kernel: str, block: int = 256) -> str:
    return f"{kernel}<<<{n // block}, {block}>>>(a: f32[{n}]=ones, b: f32[{n}]=ones, c: f32[{n}], {n})"


def _sums(kernel: str, n_blocks: int) -> str:
    n = n_blocks * 256
    return f"{kernel}<<<{n_blocks}, 256>>>(a: f32[{n}]=ones, c: f32[{n_blocks}], {n})"


def _sparse(kernel: str, n_blocks: int) -> str:
    return (
        f"{kernel}<<<{n_blocks}, 128>>>(first: i32[{N_ROWS + 1}]=first.npy, "
        f"column: i32[{N_ROWS * PER_ROW}]=column.npy, value: f32[{N_ROWS * PER_ROW}]=ones, x: f32[{N_ROWS}]=ones, "
        f"y: f32[{N_ROWS}], {N_ROWS})"
    )


def _filter(kernel: str) -> str:
    width, height = 384, 400
    return (
        f"{kernel}<<<({width // 16}, {height // 16}), (16, 16)>>>(a: f32[{width * height}]=ones, "
        f"c: f32[{width * height}], w: f32[25]=ones, {width}, {height})"
    )


def _transpose(kernel: str, across: int = 32) -> str:
    n = 2048
    return f"{kernel}<<<({n // across}, {n // 16}), (32, 16)>>>(a: f32[{n * n}]=ones, c: f32[{n * n}], {n}, {n})"


def _product(kernel: str, grid: str, block: str, rest: str, n: int = 1024) -> str:
    return f"{kernel}<<<{grid}, {block}>>>(a: f32[{n * n}]=ones, b: f32[{n * n}]=ones, c: f32[{n * n}], {rest})"


_TILED = _product("product_buffered", "(4, 1)", "(16, 16)", "128, 1024, 1024")
_GRID = "<<<(73, 73), (32, 32)>>>"
_SCALED, _FLAT = "1024, 0.5, 3.0", "1024, 1024, 1024, 0.5, 3.0"
_MODULATED = f"modulated{_GRID}(a: f32[4672], b: f32[4672], c: f32[4672], 125.7, 314.2, u32(2336), 500.0)"

CASES = (
    Case("AshunFei_gemm_v1_alter_0", "products.cu",
         _product("product_registers", "(4, 1)", "(16, 16)", "128, 1024, 1024"), 17),
    Case("AshunFei_gemm_v7_alter_0", "products.cu", _TILED, 17),
    Case("AshunFei_gemm_v8_alter_0", "products.cu", _TILED, 17),
    Case("AshunFei_test1_0", "streams.cu",
         "copy_pairs<<<(64, 64), (16, 8)>>>(c: f32[1048576], a: f32[1048576]=ones, null, 1024, 1024, 1024)", 1),
    Case("LakshyaS_global_mem_coalesce_0", "products.cu", _product("product_flat", "(8, 1)", "1024", _FLAT), 11),
    Case("LakshyaS_global_mem_coalesce_1", "products.cu", _product("product_flat", "(8, 1)", "1024", _FLAT), 11),
    Case("LakshyaS_naive_0", "products.cu", _product("product_scaled", "(8, 1)", "(32, 32)", _SCALED), 11),
    Case("LakshyaS_naive_1", "products.cu", _product("product_scaled", "(8, 1)", "(32, 32)", _SCALED), 11),
    Case("LakshyaS_dot_product_0", "streams.cu",
         "dot_by_atomics<<<4096, 256>>>(a: f32[1048576]=ones, b: f32[1048576]=ones, c: f32[1], 1048576)", 1),
    Case("LakshyaS_dot_product_1", "streams.cu",
         "dot_by_blocks<<<4096, 256, 1024>>>(a: f32[1048576]=ones, b: f32[1048576]=ones, c: f32[4096], 1048576)", 1),
    Case("LakshyaS_vec_add_0", "streams.cu", _vectors(1048576, "add_aliased"), 1),
    Case("Lashi081_smemTranspose_0", "transposes.cu", _transpose("transpose_global"), 4),
    Case("Lashi081_smemTranspose_1", "transposes.cu", _transpose("copy_matrix"), 4),
    Case("Lashi081_smemTranspose_2", "transposes.cu", _transpose("transpose_shared<0>"), 4),
    Case("Lashi081_smemTranspose_3", "transposes.cu", _transpose("transpose_shared<2>"), 4),
    Case("Lashi081_smemTranspose_4", "transposes.cu", _transpose("transpose_two", 64), 4),
    Case("ayush_os_a100_conv_0", "convolutions.cu", _filter("filter_global"), 27),
    Case("ayush_os_a100_conv_1", "convolutions.cu", _filter("filter_tiled"), 27),
    Case("ayush_os_a100_naivematmul_0", "products.cu", _product("product_plain", "(16, 8)", "(16, 16)", "1024"), 27),
    Case("ayush_os_a100_reduction_0", "reductions.cu", _sums("sum_neighbours", 4096), 1),
    Case("ayush_os_a100_reduction_1", "reductions.cu", _sums("sum_halves", 4096), 1),
    Case("ayush_os_a100_reduction_2", "reductions.cu", _sums("sum_shuffled", 4096), 1),
    Case("ayush_os_a100_spmv_0", "sparse.cu", _sparse("rows_by_threads", 79), 1),
    Case("ayush_os_a100_spmv_1", "sparse.cu", _sparse("rows_in_shared", 2500), 1),
    Case("ayush_os_a100_spmv_2", "sparse.cu", _sparse("rows_by_shuffles", 2500), 1),
    Case("ayush_os_a100_tcmatmul_0", "tensor.cu",
         "product_of_halves<<<(64, 64), 32>>>(a: f16[1048576], b: f16[1048576], c: f32[1048576], 1024, 1024, 1024)", 1),
    Case("ayush_os_a100_tiledmatmul_0", "products.cu", _product("product_tiled", "(6, 6)", "(32, 32)", "1024"), 27),
    Case("ayush_os_a100_vectoradd_0", "streams.cu", _vectors(2097152, "add_vectors"), 4),
    Case("ayush_os_a100_vectoradd_1", "streams.cu", _vectors(2097152, "add_vectors"), 4),
    Case("jestes15_profile_output_38fd_2", "grids.cu", f"ramp{_GRID}(a: f32[4672], 4672, 0.0, 0.002)", 57),
    Case("jestes15_profile_output_38fd_3", "grids.cu",
         f"three_sines{_GRID}(a: f32[4672], b: f32[4672], 4672, 5.0, 10.0, 15.0)", 57),
    Case("jestes15_profile_output_38fd_10", "grids.cu", _MODULATED, 57),
    Case("jestes15_profile_output_38fd_17", "grids.cu", _MODULATED, 57),
)  # fmt: skip
