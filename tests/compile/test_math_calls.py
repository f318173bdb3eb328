"""Mathematical functions under clang's own names, as in `__builtin_sinf(x)`, and products and quotients of `_Complex`.

The CUDA language's functions, which `test_math` compares with others', give the same bits. nvcc 13.0 takes the names.
"""

import cmath
import math

import numpy as np

import gpuprof

UNARY = [
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
    "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "logb", "cbrt", "erf", "erfc", "lgamma",
    "tgamma", "round", "rint", "nearbyint", "sqrt", "floor", "ceil", "trunc", "fabs",
]  # fmt: skip
BINARY = ["pow", "atan2", "fmod", "remainder", "hypot", "fdim", "nextafter", "fmin", "fmax", "copysign"]
WHOLE = ["ilogb", "lrint", "lround", "llrint", "llround"]
OTHERS = ("ldexp{f}(x, n)", "scalbn{f}(x, n)", "scalbln{f}(x, 3l)", "remquo{f}(x, y, &m) + m")
AFTER = (
    "frexp{f}(x, &m); kept += m",
    "modf{f}(x, &part); kept += part",
    "sincos{f}(x, &kept, &part); kept -= 2 * part",
)


def body(f: str, real: str) -> str:
    """Statements that give each function's result under both names."""
    values = [f"{name}{f}(x)" for name in (*UNARY, *WHOLE)] + [f"{name}{f}(x, y)" for name in BINARY]
    values += [each.format(f=f) for each in OTHERS]
    lines = []
    for prefix, out in (("__builtin_", "o"), ("::", "e")):
        lines += [f"*{out}++ = {prefix}{value};" for value in values]
        for each in AFTER:
            call, then = each.format(f=f).split(";")
            kept = "" if "sincos" in call else "kept = "
            lines.append(f"{{ {real} kept = 0; {kept}{prefix}{call};{then}; *{out}++ = kept; }}")
    return "\n    ".join(lines)


def kernel(name: str, real: str, f: str) -> str:
    n = len(UNARY) + len(WHOLE) + len(BINARY) + len(OTHERS) + len(AFTER)
    return f"""\
__global__ void {name}(const {real} *in, {real} *o, {real} *e)
{{
    {real} x = in[2 * threadIdx.x], y = in[2 * threadIdx.x + 1], part;
    int n = 5, m;
    o += {n} * threadIdx.x;
    e += {n} * threadIdx.x;
    {body(f, real)}
}}
"""


def test_clangs_names_are_those_of_the_language(tmp_path):
    (tmp_path / "k.cu").write_text(kernel("single", "float", "f") + kernel("twice", "double", ""))
    gpu = gpuprof.Device("a100")
    program = gpu.load(tmp_path / "k.cu")
    pairs = [(0.3, 0.7), (0.9, -2.5), (-0.5, 3.0), (7.25, 0.125), (1e5, 0.3), (0.0, 1.0), (math.inf, 2.0), (1e30, 3.0)]
    n = len(UNARY) + len(WHOLE) + len(BINARY) + len(OTHERS) + len(AFTER)
    for name, kind, bits in (("single", np.float32, np.uint32), ("twice", np.float64, np.uint64)):
        o, e = (gpu.device_array(n * len(pairs), kind) for _ in range(2))
        getattr(program, name)[1, len(pairs)](gpu.to_device(np.array(pairs, kind).reshape(-1)), o, e)
        assert o.copy_to_host().view(bits).tolist() == e.copy_to_host().view(bits).tolist()
        # fmod of a large quotient: exact, unlike LLVM's own sequence
        at = n * (len(pairs) - 1) + len(UNARY) + len(WHOLE) + BINARY.index("fmod")
        assert o.copy_to_host()[at] == math.fmod(float(kind(1e30)), 3.0)


COMPLEX = """\
#define BOTH(NAME, T) \\
    __global__ void NAME(const T *in, T *o) \\
    { \\
        T _Complex a, b; \\
        in += 4 * threadIdx.x; \\
        o += 4 * threadIdx.x; \\
        __real__ a = in[0], __imag__ a = in[1], __real__ b = in[2], __imag__ b = in[3]; \\
        T _Complex product = a * b, quotient = a / b; \\
        o[0] = __real__ product, o[1] = __imag__ product, o[2] = __real__ quotient, o[3] = __imag__ quotient; \\
    }
BOTH(single, float)
BOTH(twice, double)
"""
FINITE = [(1 + 2j, 3 - 4j), (-0.5 + 7j, 2j), (5.0 + 0j, 0.25 + 0.5j), (1e-18 + 1e-18j, 3e-18 - 1e-18j)]


def test_products_and_quotients_of_complex_numbers(tmp_path):
    (tmp_path / "k.cu").write_text(COMPLEX)
    gpu = gpuprof.Device("a100")
    program = gpu.load(tmp_path / "k.cu")
    inf, nan = math.inf, math.nan
    # What Annex G of the C standard demands: infinite times anything but zero, and divided by anything finite, is
    # infinite; finite divided by infinite is zero; by zero, infinite.
    special = [(complex(inf, nan), 1 + 1j), (complex(inf, inf), 2j), (1 + 1j, complex(inf, inf)), (1 + 1j, 0j)]
    for name, kind, error in (("single", np.float32, 1e-6), ("twice", np.float64, 1e-15)):
        pairs = FINITE + special
        given = np.array([part for a, b in pairs for z in (a, b) for part in (z.real, z.imag)], kind)
        o = gpu.device_array(4 * len(pairs), kind)
        getattr(program, name)[1, len(pairs)](gpu.to_device(given), o)
        got = [complex(*each) for each in o.copy_to_host().reshape(-1, 2).astype(np.float64).tolist()]
        for (a, b), product, quotient in zip(FINITE, got[::2], got[1::2], strict=False):
            assert abs(product - a * b) <= error * abs(a * b)
            assert abs(quotient - a / b) <= error * abs(a / b)
        classes = ["zero" if not z else "infinite" if cmath.isinf(z) else "finite" for z in got[2 * len(FINITE) :]]
        assert classes == ["infinite", "infinite", "infinite", "infinite", "infinite", "zero", "zero", "infinite"]
