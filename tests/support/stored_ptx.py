"""PTX of the tests' kernels as Triton and numba-cuda compile it, kept in tests/ptx/. `python -m
tests.support.stored_ptx` compiles it anew.

A file's first line launches it, `gpuprof collect` runs it as it is, and tests/interop/test_stored_ptx.py checks what it
computes. So what other compilers emit is tested where they are not installed. Kernels of numba's have their plain name
instead of the mangled one.
"""

import importlib.metadata
import math
import re
import tempfile
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tests.paths import ROOT

FOLDER = ROOT / "tests" / "ptx"
CHIPS = {75: "a100", 80: "a100", 90: "h200"}  # code for sm_75 runs on later chips
Arrays = Mapping[str, np.ndarray]


class Stored(NamedTuple):
    """One kernel. `arguments`: (type to the compiler, as a launch writes it); `check` is given the launch's arrays by
    name.
    """

    kernel: str
    grid: str
    arguments: tuple[tuple[Any, str], ...]
    check: Callable[[Arrays], None]
    constants: dict[str, Any] = {}  # noqa: RUF012
    archs: tuple[int, ...] = (75, 80, 90)
    block: str = ""  # for numba; Triton's follows from its warps
    options: dict[str, Any] = {}  # noqa: RUF012
    suffix: str = ""


def close(given: np.ndarray, expected: np.ndarray, relative: float = 1e-6) -> None:
    np.testing.assert_allclose(given, expected, rtol=relative, atol=relative / 10)


def equal(given: np.ndarray, expected: Any) -> None:
    np.testing.assert_array_equal(given, expected)


def bfloat16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def softmax(x: np.ndarray) -> np.ndarray:
    power = np.exp(x - x.max(-1, keepdims=True))
    return power / power.sum(-1, keepdims=True)


def check_layer_norm(a: Arrays) -> None:
    x = a["x"].astype(np.float64)
    spread = np.sqrt(x.var(1, keepdims=True) + 1e-5)
    close(a["mean"], x.mean(1))
    close(a["y"], (x - x.mean(1, keepdims=True)) / spread * a["weight"] + a["bias"], 2**-10)


def check_atomics(a: Arrays) -> None:
    parts = a["x"][0::2], a["x"][1::2]
    operations = (np.maximum, np.bitwise_or, np.bitwise_xor)
    expected = [[operation.reduce(part) for part in parts] for operation in operations]
    # the minimum and the conjunction with 0 are 0
    equal(a["out"], [*expected[0], 0, 0, *expected[1], *expected[2], 0, 0, 7])
    equal(a["total"], [part.sum() for part in parts])


def check_reductions(a: Arrays) -> None:
    x, out = a["x"], a["out"]
    close(out[:16], x.astype(np.float64).sum(1), 1e-5)
    equal(out[16:], [*x.max(1), *x.min(1)])
    equal(a["index"], [*x.argmax(1), *x.argmin(1), *x.argmax(0)])


def check_scans(a: Arrays) -> None:
    x = a["x"].astype(np.float64)
    close(a["sums"], x.cumsum(1))
    close(a["products"], x.cumprod(1), 1e-5)
    close(a["down"], x[::-1].cumsum(0)[::-1])


def check_special_functions(a: Arrays) -> None:
    x = a["x"].astype(np.float64) + 0  # 1 to 128
    with np.errstate(over="ignore", divide="ignore"):
        expected = [np.exp(x), np.log(x), np.sin(x), np.cos(x), np.sqrt(x), 1 / np.sqrt(x)]
        expected = np.array(expected).astype(np.float32)
    keep = np.isfinite(expected) & (np.abs(expected) < 1e38)
    close(
        np.where(keep, a["out"][:6], 0), np.where(keep, expected, 0), 1e-5
    )  # exp(x) is 2 ** (x log2 e), rounded to 24 bits: up to 88 * 2 ** -24


def check_attention(a: Arrays) -> None:
    q, k, v = (a[name].astype(np.float64) for name in "qkv")
    score = np.where(np.tri(q.shape[1], dtype=bool), q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[2]), -np.inf)
    np.testing.assert_allclose(a["out"], softmax(score) @ v, atol=2**-10)


def check_numba_atomics(a: Arrays) -> None:
    x = a["x"]
    equal(a["out"], [299, 0, np.bitwise_or.reduce(x), 0, np.bitwise_xor.reduce(x), 2**32 - x.sum(), 300 % 101, 5, 9])
    equal(a["floats"], [x.sum(), 299])


def check_numba_functions(a: Arrays) -> None:
    x = a["x"].astype(np.float64)
    expected = np.array([np.sin(x), np.exp(x), np.log(x), np.sqrt(x), np.vectorize(math.erf)(x), x**1.7, np.tanh(x)])
    close(a["out"][:7], expected, 1e-13)
    close(a["out"][8:11], np.array([np.arctan2(x, 2), np.floor(x), np.fmod(x, 0.7)]), 1e-13)
    close(a["out"][12], np.hypot(x, 1), 1e-13)


def check_warp_functions(a: Arrays) -> None:
    x, out = a["x"], a["out"]
    assert out[0, 0] == x.sum()
    equal(out[1], sum(1 << lane for lane in range(11, 32)))
    equal(out[4], x ^ 1)
    equal(out[5], np.bitwise_count(x))
    equal(out[6], [32 - n.bit_length() for n in x.tolist()])
    equal(out[7], [int(f"{n:032b}"[::-1], 2) for n in range(32)])
    equal(out[8:10], [x, [(n & -n).bit_length() for n in range(32)]])
    equal(out[10], [0x55555555, 0xAAAAAAAA] * 16)
    equal(out[12], 26)


def matmul(
    element: str, triton_type: str, total: str, result: str, relative: float, archs: tuple[int, ...] = (80, 90)
) -> Stored:
    def check(a: Arrays) -> None:
        x, y = (bfloat16(a[name]) if element == "bf16" else a[name] for name in "xy")
        expected = x.astype(np.float64) @ y.astype(np.float64)
        np.testing.assert_allclose(a["c"], expected, rtol=relative)

    arguments = (
        (f"*{triton_type}", f"x: {element}[64,64]=random"), (f"*{triton_type}", f"y: {element}[64,64]=random"),
        (f"*{total}", f"c: {result}[64,64]"),
        *(("i32", "64"),) * 4, (1, ""), ("i32", "64"), (1, ""), ("i32", "64"), (1, ""),
    )  # fmt: skip
    blocks = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 2, "TOTAL": total}
    return Stored("matmul", "1", arguments, check, blocks, archs, suffix=f"_{triton_type}")


def float_arrays(*texts: str) -> tuple[tuple[str, str], ...]:
    return tuple(("*fp32", text) for text in texts)


TRITON = (
    Stored("add", "4", (*float_arrays("x: f32[1000]=random", "y: f32[1000]=random", "out: f32[1000]"), ("i32", "1000")),
           lambda a: equal(a["out"], a["x"] + a["y"]), {"BLOCK": 256}),
    Stored("softmax", "20", (*float_arrays("out: f32[20,300]", "x: f32[20,300]=random"), *(("i32", "300"),) * 3),
           lambda a: close(a["out"], softmax(a["x"].astype(np.float64))), {"BLOCK": 512}),
    Stored("layer_norm", "8",
           (("*fp16", "x: f16[8,700]=random"), ("*fp16", "y: f16[8,700]"),
            *float_arrays("weight: f32[700]=random", "bias: f32[700]=random", "mean: f32[8]", "rstd: f32[8]"),
            ("i32", "700"), ("i32", "700"), ("fp32", "1e-5")),
           check_layer_norm, {"BLOCK": 256}),
    Stored("histogram", "4", (("*i32", "x: i32[1000]=random"), ("*i32", "counts: i32[256]"), ("i32", "1000")),
           lambda a: equal(a["counts"], np.bincount(a["x"], minlength=256)), {"BLOCK": 256}),
    Stored("atomics", "3", (("*i32", "x: i32[700]=random"), ("*i32", "out: i32[11]"), ("*fp32", "total: f32[2]"),
        ("i32", "700")),
           check_atomics, {"BLOCK": 256}),
    Stored("reductions", "1", (*float_arrays("x: f32[16,64]=random", "out: f32[48]"), ("*i32", "index: i32[96]")),
           check_reductions, {"ROWS": 16, "COLUMNS": 64}),
    Stored("scans", "1", float_arrays("x: f32[16,64]=random", "sums: f32[16,64]", "products: f32[16,64]",
        "down: f32[16,64]"),
           check_scans, {"ROWS": 16, "COLUMNS": 64}),
    Stored("special_functions", "1", (*float_arrays("x: f32[128]=arange", "out: f32[13,128]"), ("i32", "128")),
           check_special_functions, {"BLOCK": 128}),
    Stored("attention", "2, 2",
           (*(("*fp16", f"{name}: f16[2,128,32]=random") for name in "qkv"), ("*fp16", "out: f16[2,128,32]"),
            ("fp32", f"{1 / (math.sqrt(32) * math.log(2)):.8f}")),
           check_attention, {"LENGTH": 128, "HEAD": 32, "BLOCK_M": 64, "BLOCK_N": 32}, (80, 90)),
    Stored("tile_matmul", "2, 2",
           (("*fp16", "x: f16[128,96]=random"), ("*fp16", "y: f16[96,128]=random"), ("*fp16", "c: f16[128,128]"),
            ("i32", "128"), ("i32", "128"), ("i32", "96")),
           lambda a: close(a["c"], a["x"].astype(np.float64) @ a["y"].astype(np.float64), 2**-10),
           {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}, (90,)),
    matmul("f16", "fp16", "fp32", "f32", 1e-5, (75, 80, 90)),
    matmul("bf16", "bf16", "fp32", "f32", 1e-5),
    matmul("f32", "fp32", "fp32", "f32", 2**-9),
    matmul("i8", "i8", "i32", "i32", 0),
)  # fmt: skip


def array(element: str, text: str, *shape: int) -> tuple[tuple[str, int], str]:
    """An array of numba's: meminfo, parent, number of elements, size of one, address, extents, strides in bytes."""
    itemsize = np.dtype(element).itemsize
    strides = [math.prod(shape[axis + 1 :]) * itemsize for axis in range(len(shape))]
    return (element, len(shape)), ", ".join(map(str, (0, 0, math.prod(shape), itemsize, text, *shape, *strides)))


NUMBA = (
    Stored("saxpy", "4", (("float32", "2.5"), array("float32", "x: f32[1000]=random", 1000),
        array("float32", "y: f32[1000]", 1000)),
           lambda a: equal(a["y"], np.float32(2.5) * a["x"]), block="256"),
    Stored("transpose", "3, 2", (array("float32", "x: f32[32,48]=random", 32, 48),
        array("float32", "out: f32[48,32]", 48, 32)),
           lambda a: equal(a["out"], a["x"].T), block="16, 16"),
    Stored("reverse", "1", (array("int32", "x: i32[64]=random", 64), array("int32", "out: i32[64]", 64)),
           lambda a: equal(a["out"], a["x"][::-1]), block="64", options={"shared_nbytes": 256}),
    Stored("matmul", "4, 2", tuple(array("float32", *each) for each in
           (("x: f32[32,48]=random", 32, 48), ("y: f32[48,64]=random", 48, 64), ("c: f32[32,64]", 32, 64))),
           lambda a: close(a["c"], a["x"].astype(np.float64) @ a["y"].astype(np.float64), 1e-5), block="16, 16"),
    Stored("histogram", "4", (array("int32", "x: i32[1000]=random", 1000), array("int32", "counts: i32[256]", 256)),
           lambda a: equal(a["counts"], np.bincount(a["x"], minlength=256)), block="256"),
    Stored("atomics", "3", (array("uint32", "x: u32[300]=arange", 300), array("uint32", "out: u32[9]", 9),
        array("float64", "floats: f64[2]", 2)),
           check_numba_atomics, block="128"),
    Stored("special_functions", "1", (array("float64", "x: f64[100]=random", 100),
        array("float64", "out: f64[13,100]", 13, 100)),
           check_numba_functions, archs=(80,), block="128"),
    Stored("warp_functions", "1", (array("int32", "x: i32[32]=arange", 32), array("uint32", "out: u32[13,32]", 13, 32)),
           check_warp_functions, block="32"),
    Stored("local_array", "1", (array("float32", "x: f32[32]=arange", 32), array("float32", "out: f32[32]", 32)),
           lambda a: equal(a["out"], [sum(n * ((3 * k + n) % 8) * k for k in range(8)) for n in range(32)]),
           block="32"),
    Stored("synchronises_the_grid", "4", (array("int32", "x: i32[256]", 256), array("int32", "out: i32[256]", 256)),
           lambda a: equal(a["out"], np.arange(256)[::-1]), block="64"),
)  # fmt: skip

FILES = {
    f"{compiler}_{stored.kernel}{stored.suffix}_sm{arch}.ptx": (compiler, stored, arch)
    for compiler, table in (("triton", TRITON), ("numba", NUMBA))
    for stored in table
    for arch in stored.archs
}


def compiled(name: str) -> str:
    """The text of a file, compiled anew. Needs the file's compiler."""
    compiler, stored, arch = FILES[name]
    return {"triton": _by_triton, "numba": _by_numba}[compiler](stored, arch)


def _by_triton(stored: Stored, arch: int) -> str:
    from tests.support import triton_kernels

    made = made_by_triton(getattr(triton_kernels, stored.kernel), stored, arch)
    block, shared = 32 * made.metadata.num_warps, made.metadata.shared
    if scratch := made.metadata.global_scratch_size:
        blocks = math.prod(map(int, stored.grid.split(",")))
        scratch_text = f"u8[{blocks * scratch}]"
    else:
        scratch_text = "null"
    given = ", ".join([*(text for kind, text in stored.arguments if not isinstance(kind, int)), scratch_text, "null"])
    return _text(
        made.asm["ptx"],
        f"{stored.kernel}<<<{_extent(stored.grid)}, {block}, {shared}>>>({given})",
        stored.kernel,
        importlib.metadata.version("triton"),
    )


def made_by_triton(kernel: Any, stored: Stored, arch: int) -> Any:
    """What Triton makes of a kernel for the arguments and options of `stored`."""
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    types = {"fp32": tl.float32, "i32": tl.int32}
    constants = {key: types.get(value, value) for key, value in stored.constants.items()}
    signature = {}
    for parameter, (kind, _) in zip(kernel.arg_names, stored.arguments, strict=False):
        signature[parameter] = "constexpr" if isinstance(kind, int) else kind
        if isinstance(kind, int):
            constants[parameter] = kind
    signature |= dict.fromkeys(stored.constants, "constexpr")
    aligned = [
        number
        for number, (kind, text) in enumerate(stored.arguments)
        if str(kind).startswith("*") or (kind == "i32" and int(text) % 16 == 0)
    ]
    attributes = {(number,): [["tt.divisibility", 16]] for number in aligned}
    source = ASTSource(kernel, signature=signature, constexprs=constants, attrs=attributes)
    with tempfile.TemporaryDirectory() as folder, triton.knobs.cache.scope():
        triton.knobs.cache.dir = folder  # what the user's cache holds may name the files of another checkout
        return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=stored.options)


def _by_numba(stored: Stored, arch: int) -> str:
    import numba_cuda
    from numba import cuda, types

    import gpuprof.interop.numba as gpu_numba
    from gpuprof.interop.numba_runtime import linked
    from tests.support import numba_kernels

    signature = tuple(
        getattr(types, kind) if isinstance(kind, str) else types.Array(getattr(types, kind[0]), kind[1], "C")
        for kind, _ in stored.arguments
    )
    gpu_numba.enable(CHIPS[arch])  # for grid.sync() numba asks which GPU there is
    try:
        ptx, _ = cuda.compile_ptx(
            getattr(numba_kernels, stored.kernel).py_func, signature, lineinfo=True, cc=divmod(arch, 10)
        )
    finally:
        gpu_numba.disable()
    symbol = re.search(r"\.visible \.entry (\w+)", ptx)[1]
    given = ", ".join(text for _, text in stored.arguments)
    shared = stored.options.get("shared_nbytes", 0)
    launch = f"{stored.kernel}<<<{_extent(stored.grid)}, {_extent(stored.block)}, {shared}>>>({given})"
    text = linked([ptx], [], str).replace(symbol, stored.kernel)
    # these names count what was compiled before
    counted = dict.fromkeys(re.findall(r"_ZN08NumbaEnv\w+|_cudapy_\w+", text))
    for number, name in enumerate(sorted(counted, key=len, reverse=True)):
        text = text.replace(name, f"numba_{number}")
    return _text(text, launch, stored.kernel, numba_cuda.__version__)


def _extent(text: str) -> str:
    return f"({text})" if "," in text else text


def _text(ptx: str, launch: str, kernel: str, version: str) -> str:
    """With its launch, and without this machine's folders, which stand in comments, in file names and in the debug
    sections.
    """
    from gpuprof.interop.ptx import python_module

    module = python_module(ptx, f"{kernel}.ptx", version, {})
    text = re.sub(r"[ \t]*// [\w./]+:\d+:\d+( @\[.*\])?$", "", module.ptx, flags=re.MULTILINE)
    text = re.sub(r"^\s*\.section\s+\.debug_\w+\s*\{.*?\}\n?", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r'"tests/support/(\w+\.py)"', r'"../support/\1"', text)
    return f"// LAUNCH: {launch}\n" + "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in FILES:
        (FOLDER / name).write_text(compiled(name))


if __name__ == "__main__":
    main()
