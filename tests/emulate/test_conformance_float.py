"""Floating point in four formats: arithmetic against exact fractions, comparisons, and the manual's error bounds of the
approximate functions.
"""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from gpuprof.isa.opcodes import BY_NAME, TABLE
from gpuprof.isa.special import TESTP
from tests.references.approximate import inverse, inverse_root, logarithm, safe, sine, square_root, to_float
from tests.references.conformance import LANES, Variant, check, every, execute, operand_rows, with_immediates
from tests.references.conformance_float_rows import SCALARS, copysign, is_of_class, lift, setp
from tests.references.conformance_floats import (
    COMPARISONS,
    FORMATS,
    NAN_BITS,
    divide,
    kind_of,
    operation,
)

MODES = ("rn", "rz", "rm", "rp")


def variants(op) -> list[Variant]:
    choices = {"rnd": MODES if "rnd" in op.fields else (), "ftz": (0, 1), "sat": (0, 1)}
    if op.types[0] == "f64":  # PTX has neither flushing nor saturation in double precision
        choices = {"rnd": choices["rnd"]}
    found = every(**{name: values for name, values in choices.items() if name in op.fields and values})
    if "nan" in op.fields:
        found += [Variant({"nan": 1})]
    if "abs" in op.fields:
        signs = {"xorsign": 1} if "xorsign" in op.fields else {}
        found += every(ftz=(0, 1), nan=(0, 1), abs=(1,), **{name: (value,) for name, value in signs.items()})
    if op.semantics in ("fadd", "fmul", "ffma"):
        found += [Variant({f"neg_{slot}": 1}) for slot in "abc" if getattr(op, slot)]
    return with_immediates(op, found, (0x3F800000, 0x80000000))


def float_rows(op, lanes=LANES):
    return operand_rows(op, dict.fromkeys("abc", op.types[0]), lanes)


ARITHMETIC = [op.name for op in TABLE if op.semantics in SCALARS]


@pytest.mark.parametrize("name", ARITHMETIC)
def test_float(name):
    op = BY_NAME[name]
    check(name, lift(SCALARS[op.semantics]), variants(op), float_rows(op, 384))


COMPARES = [op.name for op in TABLE if op.semantics == "fsetp"]


@pytest.mark.parametrize("name", COMPARES)
def test_comparisons(name):
    op = BY_NAME[name]
    found = every(cmp=COMPARISONS, bool=("", "and", "or", "xor"))
    if op.types[0] != "f64":
        found += every(cmp=COMPARISONS, bool=("",), ftz=(1,))
    found += [Variant({"cmp": "lt", "bool": "", name: 1}) for name in ("neg_a", "neg_b") if name in op.fields]
    rows = operand_rows(op, dict.fromkeys("ab", op.types[0]), 256)
    if op.types[0] in ("f16", "bf16"):
        rows = {slot: row & 0xFFFF if slot in "ab" else row for slot, row in rows.items()}
    check(name, setp, found, rows)


TESTED = [op.name for op in TABLE if op.semantics in ("testp", "copysign")]


@pytest.mark.parametrize("name", TESTED)
def test_classes_and_signs(name):
    op = BY_NAME[name]
    if op.semantics == "copysign":
        check(name, copysign, [Variant()], float_rows(op))
    else:
        check(name, is_of_class, every(lut=range(len(TESTP))), float_rows(op))


# Approximate functions: |found - exact| within the manual's bound (PTX ISA 9.7.3, 9.7.4), and its tables of special
# values.


def ulps(count: float, t: str = "f32"):
    def bound(x, exact):
        exponent = max(math.frexp(exact)[1] - 1, FORMATS[t].least_exponent)
        return count * math.ldexp(1, exponent - FORMATS[t].fraction)

    return bound


def relative(exponent: float):
    return lambda x, exact: abs(exact) * 2.0**exponent + 2.0**-150


def absolute(exponent: float):
    return lambda x, exact: 2.0**exponent


def lg2_bound(x, exact):
    return 2.0**-22 if 0.5 < x < 2 else abs(exact) * 2.0**-22


APPROXIMATE = {
    # opcode: (function, bound)
    "MUFU.RCP": (inverse, ulps(1)), "MUFU.SQRT": (square_root, relative(-23)),
    "MUFU.RSQRT": (inverse_root, relative(-22.9)),
    "MUFU.SIN": (sine(math.sin), absolute(-20.5)), "MUFU.COS": (sine(math.cos), absolute(-20.5)),
    "MUFU.EX2": (safe(lambda x: 2.0**x), ulps(2)), "MUFU.LG2": (logarithm, lg2_bound),
    "MUFU.TANH": (math.tanh, relative(-11)),
    "MUFU.EX2.F16": (safe(lambda x: 2.0**x), lambda x, exact: max(abs(exact) * 2.0**-9.9, 2.0**-25)),
    "MUFU.TANH.F16": (math.tanh, lambda x, exact: 2.0**-10.987 * max(abs(exact), 2.0**-13)),
    "MUFU.EX2.BF16": (safe(lambda x: 2.0**x), relative(-7)), "MUFU.TANH.BF16": (math.tanh, lambda x, exact: 2.0**-8),
    "DRSQRT": (inverse_root, relative(-51.5)), "MUFU.RCP64H": (inverse, relative(-20)),
    "MUFU.RSQRT64H": (inverse_root, relative(-20)),
}  # fmt: skip
PACKED = ("MUFU.EX2.F16X2", "MUFU.TANH.F16X2", "MUFU.EX2.BF16X2", "MUFU.TANH.BF16X2")


def approximate_rows(op) -> dict[str, np.ndarray]:
    """Specials, random patterns, and a third of numbers between -100 and 100."""
    rows = float_rows(op)
    t = op.types[0].removesuffix("x2")
    if t in ("f32", "f64"):
        usual = np.random.default_rng(5).uniform(-100, 100, LANES // 3).astype(np.float32 if t == "f32" else np.float64)
        rows["a"][-len(usual) :] = usual.view(rows["a"].dtype)
    return rows


@pytest.mark.parametrize("name", APPROXIMATE)
def test_approximate(name):
    """Results that no finite bound covers (NaN, infinities, zeros of either sign) must be exactly those of the manual's
    tables.
    """
    function, bound = APPROXIMATE[name]
    op = BY_NAME[name]
    t = op.types[0]
    rows = approximate_rows(op)
    found_variants = every(ftz=(0, 1)) if t != "f64" else [Variant({"ftz": int("ftz" in op.fields)})]
    outcomes, _ = execute(name, found_variants, rows)
    for variant, outcome in zip(found_variants, outcomes, strict=True):
        for pattern, found in zip(rows["a"].tolist(), outcome.rows["dst"].tolist(), strict=True):
            x = to_float(pattern, t)
            if variant.mods["ftz"] and kind_of(pattern & 2 * FORMATS[t].sign - 1, t) == "subnormal":
                x = math.copysign(0.0, x)
            exact = function(x) if not math.isnan(x) else math.nan
            agrees(name, t, variant, x, exact, found, bound)


def agrees(name, t, variant, x, exact, found, bound):
    value = to_float(found, t)
    where = f"{name} {variant.mods} of {x!r}: {value!r}, not {exact!r}"
    if math.isnan(exact):
        # All MUFU operations give the canonical NaN; the 64-bit ones have it in the upper word.
        assert found == (0x7FFFFFFF << 32 if t == "f64" else NAN_BITS[t]) or (name == "DRSQRT" and math.isnan(value)), (
            where
        )
        return
    largest, tiny = to_float(FORMATS[t].infinity - 1, t), to_float(1 << FORMATS[t].fraction, t)
    if abs(exact) > largest:
        assert abs(value) >= largest * (1 - 2.0**-20) and (value > 0) == (exact > 0), where
    elif variant.mods["ftz"] and abs(exact) < tiny:
        assert abs(value) in (0, tiny), where
        assert math.copysign(1, value) == math.copysign(1, exact), where
    else:
        assert abs(value - exact) <= max(bound(x, exact), to_float(1, t) if abs(exact) < tiny else 0), where
        assert math.copysign(1, value) == math.copysign(1, exact) or name in ("MUFU.SIN", "MUFU.COS"), where


@pytest.mark.parametrize("name", PACKED)
def test_packed_approximations_are_two_scalar_ones(name):
    rows = float_rows(BY_NAME[name])
    (pair,), _ = execute(name, [Variant()], rows)
    (low,), _ = execute(name.removesuffix("X2"), [Variant()], {"a": rows["a"] & 0xFFFF})
    (high,), _ = execute(name.removesuffix("X2"), [Variant()], {"a": rows["a"] >> 16})
    assert (pair.rows["dst"] == (low.rows["dst"] | high.rows["dst"] << 16)).all()


DIVISIONS = ["FDIV.FULL", "FDIV.APPROX"]


@pytest.mark.parametrize("name", DIVISIONS)
def test_fast_division(name):
    """Two ulp where the divisor is within [2^-126, 2^126] (PTX ISA, div.approx, div.full)."""
    rows = float_rows(BY_NAME[name])
    (outcome,), _ = execute(name, [Variant()], rows)
    exact = operation(divide)
    for a, b, found in zip(rows["a"].tolist(), rows["b"].tolist(), outcome.rows["dst"].tolist(), strict=True):
        wanted = exact("f32", {}, a, b)
        divisor = abs(to_float(b, "f32"))
        if name == "FDIV.APPROX" and 2.0**126 < divisor < math.inf:
            dividend = abs(to_float(a, "f32"))
            assert found == NAN_BITS["f32"] if not dividend < math.inf else found & 0x7FFFFFFF == 0, (
                hex(a),
                hex(b),
                hex(found),
            )
            continue
        if not 2.0**-126 <= divisor <= 2.0**126 or wanted == NAN_BITS["f32"]:
            assert found == wanted or math.isfinite(divisor)
            continue
        assert abs(found - wanted) <= 2 or (found | wanted) & 0x7FFFFFFF == 0, (hex(a), hex(b), hex(found), hex(wanted))


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_fuzz_float(data):
    op = BY_NAME[data.draw(st.sampled_from(ARITHMETIC))]
    variant = data.draw(st.sampled_from(variants(op)))
    rows = float_rows(op, 128)
    for slot, row in rows.items():
        drawn = data.draw(st.lists(st.integers(0, int(np.iinfo(row.dtype).max)), min_size=4, max_size=16))
        rows[slot] = np.resize(np.array(drawn, row.dtype), 128)
    check(op.name, lift(SCALARS[op.semantics]), [variant], rows)
