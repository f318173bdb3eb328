"""--use_fast_math: what PTX the compilers write, and what it computes.

The instructions are those of the CUDA C++ Programming Guide (Intrinsic Functions: functions affected by
-use_fast_math) and of nvcc's manual (-ftz=true -prec-div=false -prec-sqrt=false -fmad=true). nvcc's PTX is
compared with the same, where it is installed.
"""

import re

import numpy as np
import pytest

from gpuprof.run.compile_file import BuildOptions, read_source
from tests.support.nvidia_tools import needs_nvcc
from tests.support.running import run_file

# An expression of floats x[0], x[1], x[2], and its instructions, without .f32 and ".ftz", which all have but those that
# end with "!".
EXPECTED = {
    "x[0] / x[1]": "div.approx",
    "1 / x[0]": "rcp.approx",
    "fdividef(x[0], x[1])": "div.approx",
    "sqrtf(x[0])": "sqrt.approx",
    "1 / sqrtf(x[0])": "rsqrt.approx",
    "x[0] * x[1] + x[2]": "fma.rn",
    "x[0] + x[1]": "add",
    "x[0] < x[1] ? 3.0f : 4.0f": "setp.lt selp!",
    "fmaxf(x[0], x[1])": "max",
    "sinf(x[0])": "sin.approx",
    "std::sin(x[0])": "sin.approx",
    "cosf(x[0])": "cos.approx",
    "tanf(x[0])": "sin.approx cos.approx div.approx",
    "logf(x[0])": "lg2.approx mul",
    "log2f(x[0])": "lg2.approx",
    "log10f(x[0])": "lg2.approx mul",
    "expf(x[0])": "mul ex2.approx",
    "exp10f(x[0])": "mul ex2.approx",
    "exp2f(x[0])": "ex2.approx",
    "powf(x[0], x[1])": "lg2.approx mul ex2.approx",
    "tanhf(x[0])": "tanh.approx!",
    "rsqrtf(x[0])": "rsqrt.approx",
    # Intrinsics with a rounding keep it.
    "__fdiv_rn(x[0], x[1])": "div.rn",
    "__frcp_rz(x[0])": "rcp.rz",
    "__fsqrt_rn(x[0])": "sqrt.rn",
    "__fmul_rn(x[0], x[1])": "mul.rn",
    "__fadd_ru(x[0], x[1])": "add.rp",
    "__fmaf_rd(x[0], x[1], x[2])": "fma.rm",
    "__fmaf_ieee_rn(x[0], x[1], x[2])": "fma.rn!",
    "__expf(x[0])": "mul ex2.approx",
    "__sinf(x[0])": "sin.approx",
}
SINCOS = "sin.approx cos.approx"
_MOVES = re.compile(r"(?:mov|ld|st|cvta|ret|cvt\.u64)\b")


def source():
    kernels = [f"__global__ void k{n}(float *y, const float *x) {{ *y = {text}; }}" for n, text in enumerate(EXPECTED)]
    kernels += [f"__global__ void k{len(EXPECTED)}(float *y, const float *x) {{ sincosf(*x, y, y + 1); }}"]
    return 'extern "C" {\n' + "\n".join(kernels) + "\n}\n"


def with_types(words):
    """The instructions as PTX has them."""
    whole = [word.removesuffix("!") + (".f32" if word.endswith("!") else ".ftz.f32") for word in words.split()]
    return [re.sub(r"^(fma\.r.)\.f32$", r"\1.f32", each) for each in whole]


def instructions(ptx):
    """{kernel: the names of its instructions, without moves}."""
    found = {}
    for name, body in re.findall(r"\.entry (k\d+)\(.*?^\{\n(.*?)^\}", ptx, re.MULTILINE | re.DOTALL):
        names = re.findall(r"^\s*(?:@\S+ )?([a-z][\w.]*)\s", body, re.MULTILINE)
        found[name] = [each for each in names if not _MOVES.match(each)]
    return found


@pytest.mark.parametrize("compiler", ["clang", pytest.param("nvcc", marks=needs_nvcc)])
def test_instructions(tmp_path, compiler):
    (tmp_path / "k.cu").write_text(source())
    options = BuildOptions(compiler=compiler, fast_math=True)
    found = instructions(read_source(tmp_path / "k.cu", arch="sm_80", options=options).ptx)
    expected = {f"k{n}": with_types(words) for n, words in enumerate([*EXPECTED.values(), SINCOS])}
    assert found == expected


def test_without_it_divisions_and_functions_are_exact(tmp_path):
    (tmp_path / "k.cu").write_text(source())
    ptx = read_source(tmp_path / "k.cu", arch="sm_80").ptx
    assert ".ftz" not in ptx and "div.rn.f32" in ptx and "sqrt.rn.f32" in ptx


# Functions that --use_fast_math leaves, of numbers that are far from subnormal: (expression of x and y, numpy's).
KEPT = {
    "expm1f(x)": np.expm1,
    "log1pf(x)": np.log1p,
    "asinf(x)": np.arcsin,
    "acosf(x)": np.arccos,
    "atanf(x)": np.arctan,
    "sinhf(x)": np.sinh,
    "coshf(x)": np.cosh,
    "asinhf(x)": np.arcsinh,
    "acoshf(1 + x)": lambda x: np.arccosh(1 + x),
    "atanhf(x)": np.arctanh,
    "cbrtf(x)": np.cbrt,
    "sinpif(x)": lambda x: np.sin(np.pi * x),
    "hypotf(x, 2 * x)": lambda x: np.hypot(x, 2 * x),
    "fmodf(x, 0.0625f)": lambda x: np.fmod(x, 0.0625),
    "floorf(8 * x)": lambda x: np.floor(8 * x),
    "ldexpf(x, 3)": lambda x: 8 * x,
}


def test_functions_that_it_leaves(tmp_path):
    n = 256
    lines = [f"    y[{k * n} + i] = {text};" for k, text in enumerate(KEPT)]
    body = "\n".join(["    int i = threadIdx.x;", "    float x = (i + 0.75f) / 257;", *lines])
    text = f"// LAUNCH: k<<<1, {n}>>>(y: f32[{n * len(KEPT)}])\n__global__ void k(float *y)\n{{\n{body}\n}}\n"
    (tmp_path / "k.cu").write_text(text)
    arrays, _ = run_file(tmp_path / "k.cu", options=BuildOptions(fast_math=True))
    found = arrays["y"].copy_to_host().reshape(len(KEPT), n).astype(np.float64)
    x = ((np.arange(n, dtype=np.float32) + np.float32(0.75)) / np.float32(257)).astype(np.float64)
    wanted = np.stack([exact(x) for exact in KEPT.values()])
    assert np.isclose(found, wanted, rtol=1e-5, atol=0).all(axis=1).tolist() == [True] * len(KEPT)


def test_subnormal_numbers_are_zero(tmp_path):
    """1e-38 is less than the smallest normal number, 1.18e-38; 1e-37 / 16 becomes so."""
    text = """\
// LAUNCH: k<<<1, 1>>>(y: f32[4], 1e-38, 1e-37)
__global__ void k(float *y, float small, float normal)
{
    y[0] = small + 0.0f * normal;
    y[1] = normal * 0.0625f;
    y[2] = small == 0.0f;
    y[3] = __fmaf_ieee_rn(normal, 0.0625f, 0.0f); // "ignore -ftz=true compiler flag"
}
"""
    (tmp_path / "k.cu").write_text(text)
    arrays, _ = run_file(tmp_path / "k.cu", options=BuildOptions(fast_math=True))
    assert arrays["y"].copy_to_host().tolist() == np.float32([0, 0, 1, 6.25e-39]).tolist()
