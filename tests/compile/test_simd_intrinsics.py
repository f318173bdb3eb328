"""The SIMD intrinsics and the 8-bit float types of the CUDA headers: compiled, run, and compared with numpy and
ml_dtypes.
"""

import ml_dtypes
import numpy as np
import pytest

from gpuprof.assemble.assemble import assemble_program
from gpuprof.compile.cuda import compile_cuda
from gpuprof.compile.nvcc import compile_nvcc
from tests.support.matrices import long_from
from tests.support.nvidia_tools import skip_without_nvcc
from tests.support.ptx_support import ptx_module, run_kernel

RNG = np.random.default_rng(12)
WORDS = 512


def wide(word: np.ndarray, n: int, signed: bool) -> np.ndarray:
    """Elements of uint32 words, shape (words, n), as int64."""
    dtype = np.dtype(f"{'i' if signed else 'u'}{4 // n}")
    return word.view(dtype).reshape(-1, n).astype(np.int64)


def narrowed(elements: np.ndarray, n: int) -> np.ndarray:
    return elements.astype(f"u{4 // n}").reshape(-1).view(np.uint32)


def bounds(n: int, signed: bool) -> tuple[int, int]:
    bits = 32 // n
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


# name without the count of elements: (signed, function of int64 elements)
BINARY = {
    "add": (False, lambda a, b: a + b), "sub": (False, lambda a, b: a - b),
    "avgs": (True, lambda a, b: np.where(a + b >= 0, a + b + 1 >> 1, a + b >> 1)),
    "avgu": (False, lambda a, b: a + b + 1 >> 1), "haddu": (False, lambda a, b: a + b >> 1),
    "absdiffs": (True, lambda a, b: abs(a - b)), "absdiffu": (False, lambda a, b: abs(a - b)),
    "maxs": (True, np.maximum), "maxu": (False, np.maximum), "mins": (True, np.minimum), "minu": (False, np.minimum),
}  # fmt: skip
SATURATED = {
    "addss": (True, lambda a, b: a + b),
    "addus": (False, lambda a, b: a + b),
    "subss": (True, lambda a, b: a - b),
    "subus": (False, lambda a, b: a - b),
}
UNARY = {"abs": lambda a: abs(a), "neg": lambda a: -a}
ORDER = {
    "eq": np.equal,
    "ne": np.not_equal,
    "ge": np.greater_equal,
    "gt": np.greater,
    "le": np.less_equal,
    "lt": np.less,
}


def wanted(name: str, n: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if name in BINARY or name in SATURATED:
        signed, function = (BINARY | SATURATED)[name]
        result = function(wide(a, n, signed), wide(b, n, signed))
        return narrowed(np.clip(result, *bounds(n, signed)) if name in SATURATED else result, n)
    if name.removesuffix("ss") in UNARY:
        result = UNARY[name.removesuffix("ss")](wide(a, n, True))
        return narrowed(np.clip(result, *bounds(n, True)) if name.endswith("ss") else result, n)
    if name.startswith("sad"):
        return abs(wide(a, n, name == "sads") - wide(b, n, name == "sads")).sum(axis=1).astype(np.uint32)
    held = ORDER[name[3:5]](wide(a, n, name.endswith("s")), wide(b, n, name.endswith("s")))
    return narrowed(np.where(held, -1 if name.startswith("cmp") else 1, 0), n)


COMPARISONS = [
    kind + op for kind in ("set", "cmp") for op in ("eq", "ne", "ges", "geu", "gts", "gtu", "les", "leu", "lts", "ltu")
]
NAMES = [*BINARY, *SATURATED, "abs", "absss", "neg", "negss", "sads", "sadu", *COMPARISONS]


@pytest.fixture(params=["clang", "nvcc"])
def build(request, tmp_path, monkeypatch):
    """Compiles with the project's own headers, and with NVIDIA's where they are."""
    monkeypatch.setenv("GPUPROF_CACHE", str(tmp_path / "cache"))
    if request.param == "nvcc":
        skip_without_nvcc()
    compiler = {"clang": compile_cuda, "nvcc": compile_nvcc}[request.param]

    def compiled(source: str, arch: str = "sm_80"):
        (tmp_path / "k.cu").write_text(source)
        return assemble_program(ptx_module(compiler(tmp_path / "k.cu", arch=arch).ptx))

    return compiled


@pytest.mark.parametrize("n", long_from(1, [2, 4]))
def test_simd_intrinsics(build, n):
    arguments = {name: "a" if name.removesuffix("ss") in UNARY else "a, b" for name in NAMES}
    lines = [f"out[{k * WORDS} + i] = __v{name}{n}({arguments[name]});" for k, name in enumerate(NAMES)]
    program = build(
        "__global__ void k(const unsigned *x, const unsigned *y, unsigned *out) {\n int i = blockIdx.x * blockDim.x + "
            "threadIdx.x; unsigned a = x[i], b = y[i];\n"
        + "\n".join(lines) + "\n}\n"
    )  # fmt: skip
    a, b = (RNG.integers(0, 1 << 32, WORDS, np.uint32) for _ in range(2))
    specials = np.array([0, 0x80808080, 0x7F7F7F7F, 0x80008000, 0x7FFF7FFF, 0xFFFFFFFF, 0x01010101], np.uint32)
    a[:49], b[:49] = np.repeat(specials, 7), np.tile(specials, 7)
    b[49:99] = a[49:99]
    out = np.zeros(WORDS * len(NAMES), np.uint32)
    found = np.frombuffer(run_kernel(program, "k", [a, b, out], grid=WORDS // 128, block=128)[2], np.uint32).reshape(
        -1, WORDS
    )
    for name, row in zip(NAMES, found, strict=True):
        assert (row == wanted(name, n, a, b)).all(), name


@pytest.mark.parametrize(
    ("name", "library"), long_from(1, [("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2)])
)
def test_eight_bit_floats(build, name, library):
    """To and from f32, saturating and not, alone, in pairs and in fours; from f64 with a single rounding."""
    kind = f"__NV_{name.upper()}"
    program = build(
        f"""#include <cuda_fp8.h>
        __global__ void k(const float4 *x, const double *d, unsigned *four, unsigned *loose, float4 *back, unsigned char *doubles) {{
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            float4 v = x[i];
            __nv_fp8x4_{name} packed(v);
            four[i] = packed.__x;
            __nv_fp8x2_storage_t low = __nv_cvt_float2_to_fp8x2(make_float2(v.x, v.y), __NV_NOSAT, {kind});
            loose[i] = low | __nv_cvt_float_to_fp8(v.z, __NV_NOSAT, {kind}) << 16 | __nv_fp8_{name}(__half(v.w)).__x << 24;
            back[i] = (float4)packed;
            doubles[i] = __nv_fp8_{name}(d[i]).__x;
        }}""",  # noqa: E501
        "sm_90",
    )
    largest = float(ml_dtypes.finfo(library).max)
    x = (RNG.normal(size=(WORDS, 4)) * np.exp2(RNG.integers(-12, 10, (WORDS, 4)))).astype(np.float32)
    x[0], x[1] = (np.inf, -np.inf, 1e30, largest), (largest * 1.04, -largest * 1.3, 0, -0.0)
    exact = np.arange(0x70, dtype=np.uint8).view(library).astype(np.float64)
    middles = (exact[1:] + exact[:-1]) / 2
    d = np.resize(np.concatenate([middles * (1 + 2.0**-40), middles * (1 - 2.0**-40), -middles]), WORDS)
    below = np.arange(len(middles))  # codes; ml_dtypes rounds doubles twice
    codes = np.resize(np.concatenate([below + 1, below, 0x80 + below + (below & 1)]), WORDS)
    outputs = [
        np.zeros(WORDS, np.uint32),
        np.zeros(WORDS, np.uint32),
        np.zeros((WORDS, 4), np.float32),
        np.zeros(WORDS, np.uint8),
    ]
    found = run_kernel(program, "k", [x, d, *outputs], grid=WORDS // 128, block=128)[2:]
    four, loose = (np.frombuffer(data, np.uint8).reshape(-1, 4) for data in found[:2])
    clipped = np.clip(x, -largest, largest).astype(library)
    assert (four == clipped.view(np.uint8)).all()
    with np.errstate(over="ignore"):
        free = x.astype(library).view(np.uint8)
        halves = np.clip(x.astype(np.float16).astype(np.float32), -largest, largest).astype(library).view(np.uint8)
    assert (loose[:, :3] == free[:, :3]).all()
    assert (loose[:, 3] == halves[:, 3]).all()
    assert (np.frombuffer(found[2], np.float32).reshape(-1, 4) == clipped.astype(np.float32)).all()
    assert (np.frombuffer(found[3], np.uint8) == codes).all()


DPX = [f"__vi{form}_{t}" for form in ("max3", "min3", "addmax", "addmin") for t in ("s32", "u32", "s16x2", "u16x2")]


def dpx(name: str, t: str, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Elements of their own width, so that sums wrap around; .relu is a floor of zero."""
    dtype = np.dtype(f"{'i' if t[0] == 's' else 'u'}{2 if t.endswith('x2') else 4}")
    x, y, z = (row.view(dtype) for row in (a, b, c))
    better = np.maximum if "max" in name else np.minimum
    result = better(x + y if "add" in name else better(x, y), z)
    return (np.maximum(result, 0) if name.endswith("relu") else result).astype(dtype).view(np.uint32)


def test_dynamic_programming_functions(build):
    names = [*DPX, *(f"{name}_relu" for name in DPX if "_s" in name)]
    lines = [f"out[{k * WORDS} + i] = {name}(a, b, c);" for k, name in enumerate(names)]
    lines += [
        f"bool p; out[{len(names) * WORDS} + i] = __vibmax_s32(a, b, &p); out[{(len(names) + 1) * WORDS} + i] = p;"
    ]
    program = build(
        "__global__ void k(const unsigned *x, const unsigned *y, const unsigned *z, unsigned *out) {\n int i = "
        "blockIdx.x * blockDim.x + threadIdx.x;\n"
        "unsigned a = x[i], b = y[i], c = z[i];\n" + "\n".join(lines) + "\n}\n"
    )
    a, b, c = (RNG.integers(0, 1 << 32, WORDS, np.uint32) for _ in range(3))
    b[:20] = a[:20]
    out = np.zeros(WORDS * (len(names) + 2), np.uint32)
    found = np.frombuffer(run_kernel(program, "k", [a, b, c, out], grid=WORDS // 128, block=128)[3], np.uint32).reshape(
        -1, WORDS
    )
    for name, row in zip(names, found, strict=False):
        t = name.removesuffix("_relu").rpartition("_")[2]
        assert (row == dpx(name, t, a, b, c)).all(), name
    assert (found[-2] == np.maximum(a.view(np.int32), b.view(np.int32)).view(np.uint32)).all()
    assert (found[-1] == (a.view(np.int32) >= b.view(np.int32))).all()


ROUND = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}


def test_forms_of_half_precision(build):
    """Saturation, clamping, NaN, packed comparisons and conversions, against numpy in double precision."""
    program = build(
        """#include <cuda_fp16.h>
        __global__ void k(const __half2 *x, const __half2 *y, const float *f, unsigned *out, int *ints) {
            int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
            __half2 a = x[i], b = y[i];
            auto put = [&](int k, auto v) { out[k * n + i] = *(unsigned *)&v; };
            put(0, __hadd2_sat(a, b)); put(1, __hfma2_relu(a, b, a)); put(2, __hmin2_nan(a, b)); put(3, __hmax2_nan(a, b));
            put(4, __hgeu2(a, b)); put(5, __hlt2_mask(a, b)); put(6, (unsigned)__hbneu2(a, b));
            put(7, __halves2half2(__float2half_rz(f[i]), __float2half_ru(f[i]))); put(8, __halves2half2(__float2half_rd(f[i]), __hmul_sat(a.x, b.y)));
            ints[i] = __half2short_rn(a.x); ints[n + i] = __half2int_rd(a.x); ints[2 * n + i] = __half2int_ru(a.x); ints[3 * n + i] = __half2uint_rz(a.x);
        }"""  # noqa: E501
    )
    a, b = (RNG.normal(size=(WORDS, 2)).astype(np.float16) for _ in range(2))
    a[:8, 0], b[4:20, 1] = np.float16(np.nan), np.float16(np.inf)
    b[20:40] = a[20:40]
    f = RNG.uniform(-3, 3, WORDS).astype(np.float32)
    found = run_kernel(
        program,
        "k",
        [a, b, f, np.zeros(9 * WORDS, np.uint32), np.zeros(4 * WORDS, np.int32)],
        grid=WORDS // 128,
        block=128,
    )
    out, ints = (
        np.frombuffer(found[3], np.uint32).reshape(9, WORDS),
        np.frombuffer(found[4], np.int32).reshape(4, WORDS),
    )
    x, y = a.astype(np.float64), b.astype(np.float64)

    def halves(k: int) -> np.ndarray:
        return out[k].copy().view(np.float16).reshape(-1, 2)

    def is_same(k: int, wanted: np.ndarray) -> bool:
        with np.errstate(all="ignore"):
            return np.array_equal(halves(k), wanted.astype(np.float16), equal_nan=True)

    with np.errstate(all="ignore"):
        assert is_same(0, np.nan_to_num(np.clip(x + y, 0, 1)))
        assert is_same(1, np.where(np.isnan(x * y + x), np.nan, np.maximum(x * y + x, 0)))
        assert is_same(2, np.minimum(x, y))
        assert is_same(3, np.maximum(x, y))
    assert is_same(4, np.where(~(x < y), 1.0, 0.0))
    assert (out[5].copy().view(np.uint16).reshape(-1, 2) == np.where(x < y, 0xFFFF, 0)).all()
    assert (out[6] == (x != y).all(axis=1)).all()
    down, up = halves(8)[:, 0].astype(np.float64), halves(7)[:, 1].astype(np.float64)
    assert ((down <= f) & (f <= up) & (up - down <= np.spacing(np.abs(f).astype(np.float16)))).all()
    assert (halves(7)[:, 0] == np.where(f < 0, up, down)).all()
    plain = ~np.isnan(x[:, 0])
    for row, mode in zip(ints[:3], ("rn", "rd", "ru"), strict=True):
        assert (row[plain] == ROUND[mode](x[plain, 0])).all(), mode
    assert (ints[3][plain] == np.trunc(np.maximum(x[plain, 0], 0))).all()
    assert (ints[:, ~plain] == 0).all()
