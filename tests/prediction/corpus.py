"""The kernels on which predictions are judged: sixteen families, each launch small enough to be simulated in a moment.

Files are those of samples, of published measurements and of programs, where these have such a kernel.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from gpuprof.device.api import Device
from gpuprof.device.launching.launch_text import kernel_names, parse_launch
from gpuprof.device.requests import run_requests

ROOT = Path(__file__).parents[2]

SAMPLES, SILICON, PROGRAMS, OWN = "samples", "tests/silicon/kernels", "tests/programs", "tests/prediction/kernels"


class Case(NamedTuple):
    """Launches of one file, one after another on a GPU that starts with cold caches, as `collect --launch` takes them.
    The last one is judged; those before it make its data or warm its caches.
    """

    name: str
    family: str
    file: str  # from the repository's root
    launches: tuple[str, ...]


def _case(family: str, name: str, folder: str, file: str, *launches: str) -> Case:
    return Case(name, family, f"{folder}/{file}.cu", launches)


def _streams() -> list[Case]:
    def saxpy(blocks: int) -> str:
        n = blocks * 256
        return f"saxpy<<<{blocks}, 256>>>({n}, 2.0, x: f32[{n}]=random, y: f32[{n}]=ones)"

    n = 432 * 256
    vectors = f"a: f32[{n}]=random, b: f32[{n}]=random, c: f32[{n}]"
    many = f"a: f32[{4 * n}]=random, b: f32[{4 * n}]=random, c: f32[{4 * n}]"
    return [
        _case("streams", "saxpy", SAMPLES, "saxpy", saxpy(256)),
        _case("streams", "saxpy-long", SAMPLES, "saxpy", saxpy(2592)),
        _case("streams", "saxpy-warm", SAMPLES, "saxpy", saxpy(864), f"saxpy<<<864, 256>>>({864 * 256}, 0.5, y, x)"),
        _case("streams", "add-one", SILICON, "streams", f"add_one<<<432, 256>>>({vectors})"),
        _case("streams", "add-four", SILICON, "streams", f"add_four<<<432, 256>>>({many})"),
        _case("streams", "add-by-grid", SILICON, "streams", f"add_by_grid<<<108, 256>>>({many}, {4 * n})"),
        _case("streams", "add-by-chunk", SILICON, "streams", f"add_by_chunk<<<54, 256>>>({vectors}, {n}, 8, 8)"),
        _case(
            "streams",
            "increment-f64",
            SILICON,
            "streams",
            f"increment<double><<<1296, 256>>>(f64[{3 * n}]=random, f64[{3 * n}], {3 * n})",
        ),
        _case(
            "streams",
            "grey",
            SILICON,
            "streams",
            "grey<<<(20, 40), (16, 16)>>>(u8[614400]=random, u8[204800], 320, 640)",
        ),
    ]


def _strides() -> list[Case]:
    n = 2**21

    def scaled(stride: int, blocks: int) -> Case:
        launch = f"scale_strided<<<{blocks}, 256>>>(f32[{n}], f32[{n}]=random, {n}, {stride})"
        return _case("strides", f"stride-{stride}", SILICON, "strides", launch)

    count = 2**18
    return [
        scaled(2, 864),
        scaled(8, 432),
        scaled(32, 216),
        _case(
            "strides",
            "store-strided-f64",
            SILICON,
            "strides",
            f"increment_strided<double><<<432, 256>>>(f64[{n}]=random, f64[{n}], {432 * 256}, 1, 8)",
        ),
        _case(
            "strides",
            "permuted",
            SILICON,
            "strides",
            f"permute<<<1024, 256>>>(order: i32[{count}], 18)",
            f"scale_ordered<<<256, 256>>>(f32[{count}], f32[{count}]=random, order, {count})",
        ),
    ]


def _products() -> list[Case]:
    def square(name: str, launch: str, n: int, rows: int, k: int) -> Case:
        arrays = f"{rows}, {n}, {k}, 0.5, f32[{rows},{k}]=random, f32[{k},{n}]=random, 3.0, f32[{rows},{n}]"
        return _case("products", name, SILICON, "products", f"{launch}({arrays})")

    n = 192
    matrices = f"a: f32[{n},{n}]=random, b: f32[{n},{n}]=random, c: f32[{n},{n}]"
    integers = "u32[256,256]=random, u32[256,256]=random, u32[256,256]"
    return [
        _case("products", "product-naive", SAMPLES, "matmul", f"naive<<<(12, 12), (16, 16)>>>({matrices}, {n})"),
        _case("products", "product-tiled", SAMPLES, "matmul", f"tiled<<<(12, 12), (16, 16)>>>({matrices}, {n})"),
        _case("products", "product-blocked", SAMPLES, "matmul", f"blocked<<<(6, 6), (16, 8)>>>({matrices}, {n})"),
        square("product-columns", "column_a_thread<64, 64, 8, 8><<<(16, 8), 512>>>", 1024, 512, 64),
        square("product-squares", "square_a_thread<128, 128, 8, 8, 8><<<(10, 10), 256>>>", 1280, 1280, 32),
        square("product-wide", "wide_loads<128, 128, 8, 8, 8><<<(10, 10), 256>>>", 1280, 1280, 32),
        square("product-warps", "warp_tiles<128, 128, 16, 64, 64, 4, 8, 4, 128><<<(10, 10), 128>>>", 1280, 1280, 32),
        _case(
            "products",
            "product-integers",
            SILICON,
            "integer_products",
            f"by_elements<unsigned><<<(16, 16), (16, 16)>>>({integers}, 256, 256, 64, 256)",
        ),
    ]


def _reductions() -> list[Case]:
    def sample(kernel: str) -> Case:
        launch = f"{kernel}<<<512, 256>>>(in: f32[{512 * 256}]=random, sums: f32[512])"
        return _case("reductions", f"sum-{kernel}", SAMPLES, "reduction", launch)

    return [
        *(sample(kernel) for kernel in ("divergent", "interleaved", "sequential", "shuffle")),
        _case(
            "reductions",
            "sum-written-out",
            SILICON,
            "reductions",
            f"tree_written_out<<<432, 256>>>(f32[{432 * 512}]=random, f32[432])",
        ),
        _case(
            "reductions",
            "sum-many",
            SILICON,
            "reductions",
            f"shuffles_of_many<16><<<216, 256>>>(f32[{216 * 256 * 16}]=random, f32[216])",
        ),
        _case(
            "reductions",
            "sum-columns",
            SILICON,
            "reductions",
            "columns<<<64, 128>>>(f32[64,8192]=random, f32[8192], 8192, 64)",
        ),
        _case(
            "reductions", "sum-rows", SILICON, "reductions", "rows<<<16, 128>>>(f32[2048,2048], f32[2048], 2048, 64)"
        ),
    ]


def _transposes() -> list[Case]:
    def sample(kernel: str) -> Case:
        launch = f"{kernel}<<<(16, 16), (32, 8)>>>(out: f32[512,512], in: f32[512,512]=random, 512)"
        return _case("transposes", f"transpose-{kernel}", SAMPLES, "transpose", launch)

    n = 768
    matrices = f"b: f32[{n * n}], a: f32[{n * n}]=random"
    return [
        *(sample(kernel) for kernel in ("naive", "coalesced", "padded")),
        _case(
            "transposes", "transpose-direct", SILICON, "transposes", f"direct<<<(24, 24), (32, 8)>>>({matrices}, {n})"
        ),
        _case(
            "transposes",
            "transpose-large-blocks",
            SILICON,
            "transposes",
            f"through_shared<33, 32><<<(24, 24), (32, 32)>>>({matrices}, {n})",
        ),
        _case(
            "transposes",
            "transpose-copy",
            SILICON,
            "transposes",
            f"copy_through_shared<<<(24, 24), (32, 8)>>>({matrices}, {n})",
        ),
    ]


def _gathers() -> list[Case]:
    made = "make_matrix<<<16, 256>>>(4096, starts: i32[4097], columns: i32[65536], values: f32[65536])"
    rest = "starts, columns, values, x: f32[4096]=random, y: f32[4096]"

    def scattered(words: int, blocks: int, loads: int) -> str:
        return f"random_loads<<<{blocks}, 256>>>(f32[{words}]=random, f32[{blocks * 256}], {words - 1}, {loads})"

    points = 108 * 256
    return [
        _case("gathers", "spmv-scalar", SAMPLES, "spmv", made, f"scalar_row<<<16, 256>>>(4096, {rest})"),
        _case("gathers", "spmv-warps", SAMPLES, "spmv", made, f"warp_row<<<512, 256>>>(4096, {rest})"),
        _case("gathers", "random-64k", OWN, "divergent", scattered(2**16, 216, 4)),
        _case("gathers", "random-4m", OWN, "divergent", scattered(2**22, 216, 2)),
        _case("gathers", "random-stores", OWN, "divergent", f"random_stores<<<432, 256>>>(f32[{2**20}], {2**20 - 1})"),
        _case(
            "gathers",
            "polygon",
            SILICON,
            "gathers",
            f"in_polygon<0, 256, 1, 0, 40><<<108, 256>>>(i32[{points}], f32[{2 * points}]=random, {points})",
        ),
    ]


def _atomics() -> list[Case]:
    data = "data: u32[65536]=random, 65536, bins: u32[64]"
    n = 432 * 256
    return [
        _case("atomics", "bins-global", SAMPLES, "histogram", f"global_atomics<<<64, 256>>>({data})"),
        _case("atomics", "bins-shared", SAMPLES, "histogram", f"shared_atomics<<<64, 256>>>({data})"),
        _case("atomics", "add-to-one", SILICON, "atomics", "add_to_one<<<64, 256>>>(f32[16384]=ones, f32[1], 16384)"),
        _case("atomics", "bins-some", OWN, "atomics", f"to_some<<<432, 256>>>(u32[{n}]=random, u32[256], 251)"),
        _case("atomics", "own-words", OWN, "atomics", f"to_own<<<432, 256>>>(u32[{n}], 4)"),
        _case("atomics", "largest", OWN, "atomics", f"largest<<<432, 256>>>(i32[{n}]=random, i32[1])"),
    ]


def _stencils() -> list[Case]:
    plane = "f32[512,640]=random, f32[512,640], 640, 512"
    return [
        _case(
            "stencils",
            "heat",
            SAMPLES,
            "stencil3d",
            "heat<<<512, 256>>>(f32[64,32,64], f32[64,32,64]=random, 64, 32, 64, 0.1)",
        ),
        _case("stencils", "five-points", OWN, "stencils", f"five_points<<<(20, 64), (32, 8)>>>({plane})"),
        _case("stencils", "five-points-tiled", OWN, "stencils", f"five_points_tiled<<<(40, 32), (16, 16)>>>({plane})"),
        _case("stencils", "life", OWN, "stencils", "life<<<(8, 32), (32, 8)>>>(u8[65536]=random, u8[65536], 256, 256)"),
    ]


def _convolutions() -> list[Case]:
    n = 2**17
    image = "f32[260,260]=random, f32[25]=random, f32[256,256]"
    return [
        _case(
            "convolutions",
            "line",
            SILICON,
            "convolutions",
            f"line<<<256, 512>>>(f32[{n + 8}]=random, f32[5]=ones, f32[{n}], 5, {n})",
        ),
        _case(
            "convolutions",
            "line-constant",
            SILICON,
            "convolutions",
            f"line_constant<<<256, 512>>>(f32[{n + 8}]=random, f32[{n}], 5, {n})",
        ),
        _case(
            "convolutions",
            "line-tiled",
            SILICON,
            "convolutions",
            f"line_tiled<<<256, 512, 2064>>>(f32[{n + 8}]=random, f32[{n}], 5, {n})",
        ),
        _case(
            "convolutions",
            "image",
            SILICON,
            "convolutions",
            f"image<<<(16, 16), (16, 16)>>>({image}, 5, 5, 256, 256, 1)",
        ),
        _case(
            "convolutions",
            "image-tuned",
            SILICON,
            "convolutions",
            "tuned<32, 4, 1, 4, false><<<(32, 4), (32, 4)>>>(f32[4096,4096], f32[4110,4110], f32[225])",
        ),
    ]


def _scans() -> list[Case]:
    n = 432 * 256
    return [
        _case("scans and sorts", "scan-shared", OWN, "scans", f"scan_shared<<<432, 256>>>(i32[{n}]=random, i32[{n}])"),
        _case(
            "scans and sorts",
            "scan-warps",
            OWN,
            "scans",
            f"scan_warps<<<864, 256>>>(i32[{2 * n}]=random, i32[{2 * n}])",
        ),
        _case(
            "scans and sorts", "sort-bitonic", OWN, "scans", f"sort_bitonic<<<216, 256>>>(u32[{n}]=random, u32[{n}])"
        ),
        _case("scans and sorts", "sort-odd-even", OWN, "scans", f"sort_odd_even<<<216, 256>>>(i32[{n}]=random, 64)"),
    ]


def _compute() -> list[Case]:
    n = 432 * 256

    def special(kernel: str, element: str, turns: int) -> Case:
        launch = f"{kernel}<<<432, 256>>>({element}[{n}]=random, {turns})"
        return _case("compute", kernel, OWN, "special", launch)

    return [
        _case(
            "compute", "multiply-adds", SILICON, "ladders", f"dependent<float, 128><<<432, 256>>>(f32[{n}]=random, {n})"
        ),
        _case(
            "compute",
            "multiply-adds-one-block-an-sm",
            SILICON,
            "ladders",
            f"dependent<float, 256><<<108, 256>>>(f32[{n}]=random, {n})",
        ),
        special("hashes", "u32", 32),
        special("divisions", "f32", 4),
        _case("compute", "options", PROGRAMS, "simulations", _options(216)),
        _case("compute", "bodies", PROGRAMS, "simulations", _bodies()),
    ]


def _options(blocks: int) -> str:
    n = 2 * 128 * blocks
    inputs = ", ".join([f"f32[{n}]=random"] * 3)
    return f"BlackScholesGPU<<<{blocks}, 128>>>(f32[{n}], f32[{n}], {inputs}, 0.02, 0.3, {n})"


def _bodies() -> str:
    n = 108 * 128
    return f"integrateBodies<<<108, 128, 2048>>>(f32[{4 * n}], f32[{4 * n}]=random, f32[{4 * n}]=ones, 0.01, 1.0, 1)"


def _units() -> list[Case]:
    n = 432 * 256
    return [
        _case("special units", "sines", OWN, "special", f"sines<<<432, 256>>>(f32[{n}]=random, 16)"),
        _case("special units", "polynomial-f64", OWN, "special", f"polynomial64<<<432, 256>>>(f64[{n}]=random, 16)"),
        _case(
            "special units",
            "multiply-adds-f64",
            SILICON,
            "ladders",
            f"dependent<double, 32><<<216, 256>>>(f64[{n}]=random, {n // 2})",
        ),
        _case("special units", "halves", OWN, "special", f"halves<<<432, 256>>>(f16[{2 * n}]=random, 64)"),
    ]


def _tensor() -> list[Case]:
    wide = "f16[{m},{k}]=random, f16[{k},{n}]=random, f32[{m},{n}]"
    return [
        _case(
            "tensor",
            "tensor-tiled",
            PROGRAMS,
            "wmma",
            f"tiled<<<(16, 12), 128>>>({wide.format(m=384, n=512, k=128)}, 512, 128, 0.5)",
        ),
        _case(
            "tensor",
            "tensor-pipelined",
            PROGRAMS,
            "tensor_gemm",
            f"pipelined<<<(16, 12), 128>>>({wide.format(m=768, n=1024, k=128)}, 1024, 128)",
        ),
    ]


def _divergent() -> list[Case]:
    n = 216 * 256

    def differing(kernel: str) -> Case:
        return _case(
            "divergent", kernel.replace("_", "-"), OWN, "divergent", f"{kernel}<<<216, 256>>>(f32[{n}]=random)"
        )

    return [
        _case(
            "divergent",
            "mandelbrot",
            SAMPLES,
            "mandelbrot",
            "mandelbrot<<<(16, 32), (16, 8)>>>(i32[256,256], 256, 256, 60)",
        ),
        *(differing(kernel) for kernel in ("lanes_differ", "warps_differ", "blocks_differ", "eight_ways")),
    ]


def _chains() -> list[Case]:
    def chase(name: str, words: int, stride: int, steps: int, apart: int, blocks: int = 1) -> Case:
        ring = f"make_ring<<<{-(-words // 256)}, 256>>>(ring: u32[{words}], {words}, {stride})"
        threads = blocks * 32
        return _case(
            "chains", name, OWN, "chains", ring, f"chase<<<{blocks}, 32>>>(ring, u32[{threads}], {steps}, {apart})"
        )

    return [
        chase("chase-l1", 2**11, 33, 512, 1),
        chase("chase-l2", 2**17, 4129, 256, 1),
        chase("chase-dram", 2**22, 65569, 128, 32, 8),
        _case("chains", "chase-shared", OWN, "chains", "chase_shared<<<108, 256>>>(u32[27648], 64)"),
    ]


def _small() -> list[Case]:
    return [
        _case("launches", "empty", OWN, "small", "empty<<<1, 32>>>()"),
        _case("launches", "empty-many", OWN, "small", "empty<<<4096, 64>>>()"),
        _case("launches", "one-word", OWN, "small", f"one_word<<<2048, 64>>>(f32[{2048 * 64}])"),
        _case("launches", "one-block", OWN, "small", "registers_alone<<<1, 256>>>(f32[1], 200)"),
        _case("launches", "one-block-stream", SAMPLES, "saxpy", "saxpy<<<1, 1024>>>(1024, 2.0, f32[1024], f32[1024])"),
        _case("launches", "no-memory", OWN, "small", "registers_alone<<<324, 256>>>(f32[1], 60)"),
        _case("launches", "a-wave-and-one", OWN, "small", "registers_alone<<<865, 256>>>(f32[1], 20)"),
    ]


def _conflicts() -> list[Case]:
    def strided(stride: int, blocks: int) -> Case:
        launch = f"strided<<<{blocks}, 256>>>(f32[{blocks * 256}], {stride}, {blocks * 256})"
        return _case("conflicts", f"banks-{stride}", SILICON, "conflicts", launch)

    return [strided(1, 216), strided(8, 216), strided(32, 108)]


def _vectors() -> list[Case]:
    return [
        _case(
            "vectors",
            "matrix-vector-threads",
            SILICON,
            "vectors",
            "by_threads<unsigned><<<8, 512>>>(u32[4096], u32[4096,64]=random, u32[64]=random, 4096, 64, 64)",
        ),
        _case(
            "vectors",
            "matrix-vector-warps",
            SILICON,
            "vectors",
            "by_warps<<<432, (32, 4)>>>(f32[1728,256]=random, f32[256]=random, f32[1728], 1728, 256)",
        ),
        _case(
            "vectors",
            "matrix-vector-fours",
            SILICON,
            "vectors",
            "by_warps_of_four<<<432, (32, 4)>>>(f32[1728,512]=random, f32[512]=random, f32[1728], 1728, 512)",
        ),
        _case(
            "vectors", "softmax", PROGRAMS, "softmax", "softmax<<<216, 256>>>(f32[216,512]=random, f32[216,512], 512)"
        ),
    ]


CASES = (
    *_streams(),
    *_strides(),
    *_products(),
    *_reductions(),
    *_transposes(),
    *_gathers(),
    *_atomics(),
    *_stencils(),
    *_convolutions(),
    *_scans(),
    *_compute(),
    *_units(),
    *_tensor(),
    *_divergent(),
    *_chains(),
    *_small(),
    *_conflicts(),
    *_vectors(),
)


def launches_of(case: Case) -> Callable[[Device], None]:
    """Makes the launches of a kernel's case on a device."""
    requests = [parse_launch(text) for text in case.launches]

    def carry_out(device: Device) -> None:
        module = device.load(ROOT / case.file, instantiate=kernel_names(requests))
        run_requests(device, module, requests, folder=(ROOT / case.file).parent)

    return carry_out


def first_of_families(count: int) -> Iterator[str]:
    """The names of the first cases of each family."""
    seen: dict[str, int] = {}
    for case in CASES:
        seen[case.family] = seen.get(case.family, 0) + 1
        if seen[case.family] <= count:
            yield case.name
