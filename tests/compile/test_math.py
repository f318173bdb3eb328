"""The device's mathematical functions, compiled for the host by the same clang and run there, against numpy in more
precision.

An error is counted in units in the last place of the right result. The limits are CUDA's documented ones, or ours where
they are larger (said beside them).
"""

import ctypes
import math
import subprocess

import numpy as np
import pytest

from gpuprof.compile import toolchain
from gpuprof.cuda import INCLUDE

UNARY = [
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "sinpi",
    "cospi",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "cbrt",
    "rsqrt",
    "erf",
    "erfc",
]
BINARY = ["pow", "atan2", "hypot", "fmod", "remainder"]

PROGRAM = """
#include "math_double.h"
#include "math_exact.h"
#include "math_float.h"
#define UNARY(T, NAME) extern "C" void T##_##NAME(const T *x, const T *, T *out, int n) \\
    { for (int i = 0; i < n; i++) out[i] = gpuprof_math::NAME(x[i]); }
#define BINARY(T, NAME) extern "C" void T##_##NAME(const T *x, const T *y, T *out, int n) \\
    { for (int i = 0; i < n; i++) out[i] = gpuprof_math::NAME(x[i], y[i]); }
"""


@pytest.fixture(scope="module")
def machine_code():
    """The library's address of each function, "float_sin"."""
    import llvmlite.binding as llvm

    tools = toolchain.find()
    lines = [
        f"{kind}({t}, {name})"
        for t in ("float", "double")
        for kind, names in (("UNARY", UNARY), ("BINARY", BINARY))
        for name in names
    ]
    flags = ["-x", "c++", "-std=c++20", "-O2", "-ffp-contract=fast", "-fno-math-errno", "-nostdinc", "-S", "-emit-llvm"]
    flags += [f"-I{INCLUDE / 'gpuprof'}", f"--target={llvm.get_default_triple()}", "-o", "-", "-"]
    text = PROGRAM + "\n".join(lines) + "\n"
    done = subprocess.run([*tools.command, *flags], input=text, capture_output=True, text=True, check=True)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.load_library_permanently("libm.so.6")  # exp2f and log2f stand for the special-function unit
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, jit=True
    )
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(done.stdout), target)
    engine.finalize_object()
    return engine


@pytest.fixture
def run(machine_code):
    def call(name: str, x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
        letter = {"float32": "float", "float64": "double"}[x.dtype.name]
        out = np.empty_like(x)
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int)(
            machine_code.get_function_address(f"{letter}_{name}")
        )
        function(x.ctypes.data, (x if y is None else y).ctypes.data, out.ctypes.data, len(x))
        return out

    return call


def ulps(got: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Errors in units in the last place; infinite where one is NaN or infinite and the other is not."""
    rounded = right.astype(got.dtype)
    unit = np.spacing(np.abs(np.where(np.isfinite(rounded), rounded, 1)))
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    errors = np.abs(got.astype(right.dtype) - right) / unit.astype(right.dtype)
    return np.where(same, 0, np.where(np.isfinite(rounded) & np.isfinite(got), errors, np.inf)).astype(float)


def between(low: float, high: float, dtype, n: int = 40000) -> np.ndarray:
    return np.random.default_rng(1).uniform(low, high, n).astype(dtype)


def powers(low: float, high: float, dtype, n: int = 40000, signs=(-1, 1)) -> np.ndarray:
    """Numbers of all sizes from 2^low to 2^high."""
    random = np.random.default_rng(2)
    return (np.exp2(random.uniform(low, high, n)) * random.choice(signs, n)).astype(dtype)


def pi(x):
    """pi in the precision of x."""
    return x.dtype.type(np.pi) + x.dtype.type(1.2246467991473532e-16)


# name: (right, float limit, double limit, float ranges, double ranges); a range is (low, high), or powers of two as
# ("2^", low, high) or positive ones ("+2^", low, high).
UNARY_CASES = {
    "exp": (np.exp, 1, 1, [(-105, 88.7), ("2^", -20, 3)], [(-745, 709.7), ("2^", -30, 3)]),
    "exp2": (np.exp2, 2, 1, [(-150, 127.9)], [(-1074, 1023.9)]),
    "exp10": (lambda x: np.power(x.dtype.type(10), x), 2, 1, [(-45, 38.5)], [(-323, 308)]),
    "expm1": (np.expm1, 1.5, 2, [(-20, 88.7), ("2^", -30, 3)], [(-40, 709), ("2^", -50, 3)]),  # CUDA: 1, 1
    "log": (np.log, 1, 1, [("+2^", -149, 128), (0.5, 2)], [("+2^", -1074, 1023), (0.5, 2)]),
    "log2": (np.log2, 1, 1, [("+2^", -149, 128), (0.5, 2)], [("+2^", -1074, 1023), (0.5, 2)]),
    "log10": (np.log10, 2, 1, [("+2^", -149, 128), (0.5, 2)], [("+2^", -1074, 1023), (0.5, 2)]),
    "log1p": (np.log1p, 1, 2, [(-0.99, 3), ("+2^", -30, 127)], [(-0.99, 3), ("+2^", -50, 1023)]),  # CUDA: 1, 1
    # CUDA: 2, 2
    "sin": (np.sin, 2, 2.5, [(-4, 4), (-1e5, 1e5), ("2^", -20, 127)], [(-4, 4), (-1e9, 1e9), ("2^", -50, 62)]),
    # CUDA: 2, 2
    "cos": (np.cos, 2, 2.5, [(-4, 4), (-1e5, 1e5), ("2^", -20, 127)], [(-4, 4), (-1e9, 1e9), ("2^", -50, 62)]),
    # CUDA: 4, 2
    "tan": (np.tan, 4, 3.5, [(-4, 4), (-1e5, 1e5), ("2^", -20, 127)], [(-4, 4), (-1e9, 1e9), ("2^", -50, 62)]),
    "sinpi": (lambda x: np.sin(pi(x) * x), 1.5, 2, [(-0.5, 0.5)], [(-0.5, 0.5)]),  # CUDA: 1, 2
    "cospi": (lambda x: np.cos(pi(x) * x), 1.5, 2, [(-0.45, 0.45)], [(-0.45, 0.45)]),  # CUDA: 1, 2
    "asin": (np.arcsin, 2, 2, [(-1, 1), ("2^", -30, -1)], [(-1, 1), ("2^", -50, -1)]),
    "acos": (np.arccos, 2, 2, [(-1, 1), ("2^", -30, -1)], [(-1, 1), ("2^", -50, -1)]),
    "atan": (np.arctan, 2, 2, [(-3, 3), ("2^", -30, 60)], [(-3, 3), ("2^", -50, 60)]),
    "sinh": (np.sinh, 3, 2.5, [(-89.4, 89.4), ("2^", -20, 2)], [(-710, 710), ("2^", -50, 3)]),  # CUDA: 3, 2
    "cosh": (np.cosh, 2, 2, [(-89.4, 89.4)], [(-710, 710)]),
    "tanh": (np.tanh, 2, 2.6, [(-10, 10), ("2^", -20, 2)], [(-20, 20), ("2^", -50, 2)]),  # CUDA: 2, 1
    "asinh": (np.arcsinh, 3, 3, [("2^", -20, 127)], [("2^", -50, 1023)]),
    "acosh": (np.arccosh, 4, 3, [("+2^", 0, 127), (1, 2)], [("+2^", 0, 1023), (1, 2)]),
    "atanh": (np.arctanh, 3, 3, [(-1, 1), ("2^", -20, -1)], [(-1, 1), ("2^", -50, -1)]),
    "cbrt": (np.cbrt, 1, 1, [("2^", -149, 128)], [("2^", -1074, 1023)]),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 2, 2, [("+2^", -140, 128)], [("+2^", -1000, 1023)]),
    "erf": (None, 2, 2, [(-4, 4), ("2^", -20, 2)], [(-6, 6), ("2^", -50, 2)]),
    "erfc": (None, 4, 5, [(-4, 10)], [(-6, 26)]),
}
BY_LIBM = {
    "erf": np.vectorize(lambda x: np.longdouble(math.erf(x))),
    "erfc": np.vectorize(lambda x: np.longdouble(math.erfc(x))),
}


def numbers(spec, dtype):
    kind, *bounds = spec if isinstance(spec[0], str) else ("", *spec)
    return between(*bounds, dtype) if kind == "" else powers(*bounds, dtype, signs=(-1, 1) if kind == "2^" else (1,))


@pytest.mark.parametrize("name", UNARY_CASES)
def test_unary_functions(run, name):
    right, float_limit, double_limit, float_ranges, double_ranges = UNARY_CASES[name]
    right = right or BY_LIBM[name]
    worst = {}
    with np.errstate(all="ignore"):
        for dtype, wide, ranges in ((np.float32, np.float64, float_ranges), (np.float64, np.longdouble, double_ranges)):
            for spec in ranges:
                x = numbers(spec, dtype)
                worst[dtype.__name__, spec] = ulps(run(name, x), right(x.astype(wide))).max()
    assert {
        case: error for case, error in worst.items() if error > (float_limit if case[0] == "float32" else double_limit)
    } == {}


SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    -2.0,
    0.5,
    -0.5,
    3.0,
    -3.0,
    2.5,
    np.inf,
    -np.inf,
    np.nan,
    1e-40,
    -1e-40,
    1e30,
    -1e30,
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", sorted(UNARY_CASES.keys() - {"sinpi", "cospi", "erf", "erfc"}))
def test_special_values(run, name, dtype):
    x = np.array(SPECIAL, dtype)
    with np.errstate(all="ignore"):
        wide = UNARY_CASES[name][0](x.astype(np.float64 if dtype == np.float32 else np.longdouble))
        assert ulps(run(name, x), wide).max() <= 4
        zeros = (x == 0) & (wide == 0)
        assert np.signbit(run(name, x)[zeros]).tolist() == np.signbit(wide[zeros]).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name, right", [("pow", np.power), ("atan2", np.arctan2), ("hypot", np.hypot), ("fmod", np.fmod)]
)
def test_binary_functions(run, name, right, dtype):
    wide = np.float64 if dtype == np.float32 else np.longdouble
    grid = [axis.ravel().copy() for axis in np.meshgrid(np.array(SPECIAL, dtype), np.array(SPECIAL, dtype))]
    base = powers(-10, 10, dtype, signs=(1,)) if name == "pow" else powers(-40, 40, dtype)
    with np.errstate(all="ignore"):
        for x, y in (grid, (base, between(-12, 12, dtype)), (between(0.9, 1.1, dtype), between(-800, 800, dtype))):
            exact = right(x.astype(wide), y.astype(wide))
            assert ulps(run(name, x, y), exact).max() <= (0 if name == "fmod" else 3)


def test_remainders_are_exact(run):
    for dtype in (np.float32, np.float64):
        x, y = powers(-60, 60, dtype, 5000), powers(-60, 60, dtype, 5000)
        assert run("remainder", x, y).tolist() == [
            math.remainder(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)
        ]
        tiny = np.arange(1, 200).astype(dtype) * np.finfo(dtype).smallest_subnormal
        assert run("remainder", tiny[::-1].copy(), tiny).tolist() == [
            math.remainder(a, b) for a, b in zip(tiny[::-1].tolist(), tiny.tolist(), strict=True)
        ]
