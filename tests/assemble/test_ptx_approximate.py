"""The approximate functions on dense sweeps, each within the largest error that the PTX manual states (PTX ISA 9.7.3,
9.7.4).

Exact values come from numpy in double precision, whose own error is far below these bounds.
"""

import numpy as np
import pytest
from ml_dtypes import bfloat16

from tests.support.ptx_lanes import run_lanes

LANES = 1 << 16


def patterns() -> np.ndarray:
    """f32 patterns evenly over the whole range, of both signs, and with an odd step so that the last bits vary."""
    return (np.arange(LANES, dtype=np.uint64) * 65537 % (1 << 32)).astype(np.uint32)


def uniform(low: float, high: float) -> np.ndarray:
    return np.linspace(low, high, LANES).astype(np.float32).view(np.uint32)


def ulp(exact: np.ndarray) -> np.ndarray:
    """Of f32, at a float64 value."""
    return np.ldexp(1.0, np.maximum(np.frexp(exact)[1] - 24, -149))


def relative(exponent: float):
    return lambda x, exact: np.abs(exact) * 2.0**exponent


def absolute(exponent: float):
    return lambda x, exact: np.full(x.shape, 2.0**exponent)


def ulps(n: int):
    return lambda x, exact: n * ulp(exact)


def logarithm_bound(x, exact):
    """2^-22 absolute between 0.5 and 2, relative outside."""
    return np.where((x > 0.5) & (x < 2), 1, np.abs(exact)) * 2.0**-22


# PTX: (function, bound, operands)
FUNCTIONS = {
    "rcp.approx.f32": (lambda x: 1 / x, ulps(1), patterns()),
    "sqrt.approx.f32": (np.sqrt, relative(-23), patterns()),
    "rsqrt.approx.f32": (lambda x: 1 / np.sqrt(x), relative(-22.9), patterns()),
    "sin.approx.f32": (np.sin, absolute(-20.5), uniform(-2 * np.pi, 2 * np.pi)),
    "cos.approx.f32": (np.cos, absolute(-20.5), uniform(-2 * np.pi, 2 * np.pi)),
    "lg2.approx.f32": (np.log2, logarithm_bound, patterns()),
    "lg2.approx.ftz.f32": (np.log2, logarithm_bound, uniform(0.4, 2.5)),
    "ex2.approx.f32": (np.exp2, relative(-22.5), uniform(-126, 128)),
    "tanh.approx.f32": (np.tanh, relative(-11), patterns()),
}


@pytest.mark.parametrize("opcode", FUNCTIONS)
def test_single_precision(opcode):
    function, bound, rows = FUNCTIONS[opcode]
    ((found,),) = run_lanes([f"{opcode} r0, r1"], {"r1": rows})
    with np.errstate(all="ignore"):
        check(
            opcode,
            rows.view(np.float32).astype(np.float64),
            found.view(np.float32).astype(np.float64),
            function,
            bound,
            2.0**-149,
        )
    assert (found[np.isnan(found.view(np.float32))] == 0x7FFFFFFF).all()


def check(opcode, x, found, function, bound, smallest) -> None:
    """NaN where the function has none; beyond the largest number infinity or that number; below the smallest one, off
    by one at most.
    """
    exact = function(x)
    assert (np.isnan(found) == np.isnan(exact)).all(), opcode
    infinite = np.isinf(found)
    assert (np.sign(found[infinite]) == np.sign(exact[infinite])).all()
    usual = np.isfinite(exact) & ~infinite
    error = np.abs(found - exact)[usual]
    allowed = np.maximum(bound(x, exact)[usual], smallest / 2)
    worst = np.argmax(error - allowed)
    assert (error <= allowed).all(), (opcode, x[usual][worst], found[usual][worst], exact[usual][worst])
    assert (np.abs(exact[infinite]) > 3.38e38).all() or opcode.endswith("f16")


@pytest.mark.parametrize("opcode", ["div.approx.f32", "div.full.f32", "div.approx.ftz.f32", "div.full.ftz.f32"])
def test_division(opcode):
    """Two ulp for divisors between 2^-126 and 2^126."""
    rng = np.random.default_rng(2)
    a, b = (
        (rng.uniform(1, 2, LANES) * np.exp2(rng.integers(-40, 40, LANES)) * rng.choice([-1, 1], LANES)).astype(
            np.float32
        )
        for _ in range(2)
    )
    ((found,),) = run_lanes([f"{opcode} r0, r1, r2"], {"r1": a.view(np.uint32), "r2": b.view(np.uint32)})
    exact = a.astype(np.float64) / b
    assert (np.abs(found.view(np.float32) - exact) <= 2 * ulp(exact)).all()


@pytest.mark.parametrize(
    ("opcode", "function", "bound"),
    [("ex2.approx.f16", np.exp2, relative(-9.9)), ("tanh.approx.f16", np.tanh, absolute(-10.987)),
     ("ex2.approx.ftz.bf16", np.exp2, relative(-7)), ("tanh.approx.bf16", np.tanh, absolute(-8))],
)  # fmt: skip
def test_half_precision(opcode, function, bound):
    """Every pattern, and each pair of packed ones as the two alone."""
    dtype = bfloat16 if opcode.endswith("bf16") else np.float16
    rows = np.arange(1 << 16, dtype=np.uint16)
    other = np.random.default_rng(6).permutation(rows)
    packed = rows | other.astype(np.uint32) << np.uint32(16)
    (found,), (pair,) = run_lanes([f"{opcode} h0, h1", f"{opcode}x2 r0, r2"], {"h1": rows, "r2": packed})
    with np.errstate(all="ignore"):
        x = rows.view(dtype).astype(np.float64)
        if ".ftz" in opcode:
            x = np.where(np.abs(x) < float(np.finfo(np.float32).tiny), 0.0, x)
        tiny = float(np.finfo(np.float32).tiny) if dtype is bfloat16 else 2.0**-24
        check(opcode, x, found.view(dtype).astype(np.float64), function, bound, 2 * tiny)
    assert (found[np.isnan(found.view(dtype).astype(np.float32))] == 0x7FFF).all()
    assert (pair == found[rows] | found[other].astype(np.uint32) << np.uint32(16)).all()
