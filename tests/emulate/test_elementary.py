"""sin, cos, exp2, log2 and tanh against the same in exact fractions, and the arithmetic of all floating-point rows on
other processors.
"""

import ctypes
import math
import os
import platform
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from gpuprof.emulate.scalar import elementary
from gpuprof.emulate.textures import texels
from tests.paths import ROOT
from tests.references import float_results
from tests.references.conformance import execute
from tests.support.ptx_lanes import run_lanes

NBITS = 420  # after the point, of everything here


def fixed(x: Fraction) -> int:
    return int(x * (1 << NBITS))


def series(first: int, factor) -> int:
    """first + first * factor(1) + first * factor(1) * factor(2) + ..., fixed point."""
    total, term, k = first, first, 1
    while term:
        term = int(Fraction(term) * factor(k))
        total, k = total + term, k + 1
    return total


def inverse_tangent(n: int) -> Fraction:
    """arctan(1/n) as the sum of (-1)^k / ((2k + 1) n^(2k + 1))."""
    return sum((Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1)) for k in range(NBITS // 4)), Fraction(0))


PI = Fraction(int((16 * inverse_tangent(5) - 4 * inverse_tangent(239)) * (1 << NBITS)), 1 << NBITS)  # Machin
LN2 = Fraction(sum((1 << NBITS) // (k << k) for k in range(1, NBITS)), 1 << NBITS)


def exact_sin(x: Fraction) -> Fraction:
    x -= 2 * PI * round(x / (2 * PI))
    return Fraction(series(fixed(x), lambda k: -x * x / (2 * k * (2 * k + 1))), 1 << NBITS)


def exact_exp(x: Fraction) -> Fraction:
    n = round(x / LN2)
    rest = x - n * LN2
    return Fraction(series(1 << NBITS, lambda k: rest / k), 1 << NBITS) * Fraction(2) ** n


def exact_log2(x: Fraction) -> Fraction:
    n = math.floor(math.log2(x))
    m = x / Fraction(2) ** n
    s = (m - 1) / (m + 1)
    total = sum((Fraction(fixed(s ** (2 * k + 1) / (2 * k + 1)), 1 << NBITS) for k in range(160)), Fraction(0))
    return n + 2 * total / LN2


def exact_tanh(x: Fraction) -> Fraction:
    grown = exact_exp(2 * x)
    return (grown - 1) / (grown + 1)


EXACT = {
    "sin": exact_sin,
    "cos": lambda x: exact_sin(x + PI / 2),
    "exp2": lambda x: exact_exp(x * LN2),
    "tanh": exact_tanh,
    "log2": lambda x: exact_log2(x),
}
# Near multiples of pi/2: 16367173 * 2^72 is the nearest of all single-precision numbers (Muller et al., Handbook of
# Floating-Point Arithmetic).
HARD = (
    1e-45,
    1.2e-38,
    0.4999,
    0.5,
    0.785398,
    0.7853982,
    1.5707964,
    3.1415927,
    6.2831855,
    11.0,
    355.0,
    16367173 * 2.0**72,
    3.4028235e38,
    1e22,
)


def operands(name: str) -> np.ndarray:
    rng = np.random.default_rng(len(name))
    limit = {"exp2": 100, "tanh": 20}.get(name, 10)
    rows = [rng.uniform(-limit, limit, 60), rng.uniform(-1, 1, 20) * 2.0 ** rng.integers(-60, 0, 20)]
    if name in ("sin", "cos"):
        rows += [HARD, -np.array(HARD), rng.uniform(1, 2, 60) * 2.0 ** rng.integers(-30, 127, 60)]
    if name == "log2":
        rows = [np.abs(row) for row in rows] + [
            1 + rng.uniform(-1, 1, 30) * 2.0 ** rng.integers(-23, -1, 30),
            2.0 ** rng.uniform(-126, 127, 30),
        ]
    x = np.concatenate(rows).astype(np.float32)
    return x[x != 0]


@pytest.mark.parametrize("name", EXACT)
def test_within_two_to_minus_48(name):
    for x, found in zip(operands(name).tolist(), getattr(elementary, name)(operands(name)).tolist(), strict=True):
        wanted = EXACT[name](Fraction(x))
        assert abs(Fraction(found) - wanted) <= abs(wanted) * Fraction(1, 1 << 48), (name, x, found, float(wanted))


INF, NAN = math.inf, math.nan
SPECIAL = {  # PTX ISA: the tables of sin, cos, ex2, lg2 and tanh
    "sin": ((-INF, NAN), (-0.0, -0.0), (0.0, 0.0), (INF, NAN), (NAN, NAN)),
    "cos": ((-INF, NAN), (-0.0, 1.0), (0.0, 1.0), (INF, NAN), (NAN, NAN)),
    "exp2": (
        (-INF, 0.0),
        (-0.0, 1.0),
        (0.0, 1.0),
        (INF, INF),
        (NAN, NAN),
        (1e30, INF),
        (-1e30, 0.0),
        (-149.0, 2.0**-149),
        (127.0, 2.0**127),
    ),
    "log2": (
        (-INF, NAN),
        (-1.0, NAN),
        (-0.0, -INF),
        (0.0, -INF),
        (INF, INF),
        (NAN, NAN),
        (1.0, 0.0),
        (2.0**-149, -149.0),
        (2.0**127, 127.0),
    ),
    "tanh": ((-INF, -1.0), (-0.0, -0.0), (0.0, 0.0), (INF, 1.0), (NAN, NAN), (2.0**-149, 2.0**-149), (-40.0, -1.0)),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name):
    given, wanted = zip(*SPECIAL[name], strict=True)
    with np.errstate(all="ignore"):
        found = getattr(elementary, name)(np.array(given, np.float32))
    assert [repr(value) for value in found.tolist()] == [repr(value) for value in wanted]


def test_constants():
    assert int(2 / PI * (1 << 256)) == elementary.TWO_OVER_PI
    assert Fraction(elementary.LN2_HIGH).denominator <= 1 << 40
    assert float(LN2 - Fraction(elementary.LN2_HIGH)) == elementary.LN2_LOW


def test_standard_rgb_is_the_formula():
    with np.errstate(all="ignore"):
        value = np.arange(256) / 255
        formula = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    np.testing.assert_allclose(texels.srgb_levels(), formula, rtol=1e-14, atol=0)


# -- the same on every machine and in every lane -----------------------------------------------


def results(**environment: str) -> str:
    command = [sys.executable, "-m", "tests.references.float_results"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_a_processor_without_vectors_and_fused_multiplication():
    """numpy's plainest loops, and code as LLVM makes it for any processor of the family: every bit of every row the
    same, NaNs included.
    """
    features = " ".join(
        name
        for name, held in np._core._multiarray_umath.__cpu_features__.items()
        if held and name not in np._core._multiarray_umath.__cpu_baseline__
    )
    plain = results()
    assert len(plain.splitlines()) > 200
    assert results(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="", NPY_DISABLE_CPU_FEATURES=features) == plain


@pytest.mark.long
def test_a_lane_s_result_does_not_depend_on_its_place():
    rng = np.random.default_rng(1)
    for op in float_results.float_rows():
        rows, found = float_results.operands(op, 512), float_results.variants(op)
        order = rng.permutation(512)
        plain, _ = execute(op.name, found, rows)
        mixed, _ = execute(op.name, found, {slot: row[order] for slot, row in rows.items()})
        for one, other in zip(plain, mixed, strict=True):
            for slot, row in one.rows.items():
                assert (row[order] == other.rows[slot]).all(), (op.name, slot)


@pytest.mark.parametrize("t", ["f16", "f32", "f64"])
@pytest.mark.parametrize("n", [1, 5, 32, 37])
def test_minimum_of_signalling_and_quiet_nans(t, n):
    """A NaN of either kind gives way to a number, wherever in a row of whatever length it stands."""
    from gpuprof.emulate.scalar.floating import maximum, minimum

    dtype, quiet = (
        np.dtype(t.replace("f16", "f2").replace("f32", "f4").replace("f64", "f8")),
        {"f16": 9, "f32": 22, "f64": 51}[t],
    )
    bits = np.dtype(f"u{dtype.itemsize}")
    infinity = np.array(np.inf, dtype).view(bits)
    for nan in (infinity | bits.type(1), infinity | bits.type(1 << quiet)):
        row = np.full(n, nan, bits).view(dtype)
        number = np.full(n, -3, dtype)
        for function in (minimum, maximum):
            assert (function(row, number) == -3).all()
            assert (function(number, row) == -3).all()
            assert np.isnan(function(row, row)).all()


@pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.system() != "Linux", reason="knows the layout of this fenv_t alone"
)
def test_subnormals_stay_where_the_process_has_turned_them_off():
    """As a library compiled with -ffast-math does: bits 15 and 6 of MXCSR, which stands at byte 28."""
    library, before = ctypes.CDLL(None), ctypes.create_string_buffer(64)
    library.fegetenv(before)
    flushing = ctypes.create_string_buffer(before.raw, 64)
    mxcsr = int.from_bytes(before.raw[28:32], "little") | 0x8040
    flushing[28:32] = mxcsr.to_bytes(4, "little")
    half = np.full(128, 0x00400000, np.uint32)
    library.fesetenv(flushing)
    try:
        turned_off = (half.view(np.float32) + half.view(np.float32) == 0).all()
        ((found,),) = run_lanes(["add.f32 r0, r1, r1"], {"r1": half})
        kept_off = (half.view(np.float32) + half.view(np.float32) == 0).all()
    finally:
        library.fesetenv(before)
    assert turned_off
    assert kept_off, "the process's own setting was not restored"
    assert (found == 0x00800000).all()
