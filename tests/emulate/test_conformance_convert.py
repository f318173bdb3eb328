"""cvt between every pair of types in every rounding mode, with and without .sat and .ftz, against exact fractions (PTX
ISA 9.7.9, cvt).
"""

from fractions import Fraction

import numpy as np
import pytest

from gpuprof.isa.opcodes import BY_NAME, TABLE
from gpuprof.isa.row import FLOAT_TYPES, INTEGER_TYPES
from tests.references.conformance import FLOATS, INTEGERS_32, INTEGERS_64, Variant, check, every
from tests.references.conformance_conversions import convert, limits, pack, round_integral, tensor_float
from tests.references.conformance_floats import (
    FORMATS,
    NAN,
    Number,
    decode,
    encode,
)
from tests.references.conformance_integers import nbits, signed

MODES = ("rn", "rz", "rm", "rp")
RNG = np.random.default_rng(11)


def variants(to: str, source: str) -> list[Variant]:
    if to in INTEGER_TYPES and source in INTEGER_TYPES:
        return every(sat=(0, 1))
    choices = {"rnd": MODES}
    if "f32" in (to, source):
        choices["ftz"] = (0, 1)
    if to in FLOAT_TYPES:
        choices["sat"] = (0, 1)
    return every(**choices)


def halfway(to: str, source: str) -> list[int]:
    """Patterns of `source` at and around halfway points of `to`, at the ends of its range, and of small numbers with a
    fraction.
    """
    if source in INTEGER_TYPES:
        ones = [(1 << k) + d for k in (8, 11, 12, 24, 25, 31, 33, 53, 54, 62) for d in (-1, 0, 1)]
        return [value & (1 << nbits(source)) - 1 for value in ones]
    values = [Fraction(n, 4) for n in range(12)]
    if to in INTEGER_TYPES:
        values += [
            abs(Fraction(end) + d)
            for end in limits(to)
            for d in (Fraction(-1), Fraction(-1, 2), Fraction(0), Fraction(1, 2), Fraction(1))
        ]
    else:
        form = FORMATS[to]
        step = Fraction(1, 2 << form.fraction)
        values += [1 + k * step for k in range(4)] + [
            (k + d) * Fraction(2) ** (form.least_exponent - form.fraction - 1)
            for k in range(4)
            for d in (0, Fraction(1, 64))
        ]
        largest = decode(form.infinity - 1, to).magnitude
        values += [largest, largest * (1 + step / 2), largest * (1 + step), largest * (1 + 2 * step)]
    return [encode(Number(negative, value), source) for value in values for negative in (False, True)]


def rows_of(to: str, source: str) -> dict[str, np.ndarray]:
    wide = source in ("s64", "u64", "f64")
    dtype = np.uint64 if wide else np.uint32
    if source in INTEGER_TYPES:
        specials = INTEGERS_64 if wide else INTEGERS_32
    else:
        specials = [value | sign for value in FLOATS[source] for sign in (0, FORMATS[source].sign)]
    values = np.array([*specials, *halfway(to, source)], dtype)
    noise = RNG.integers(0, np.iinfo(dtype).max, 256, dtype)  # upper bits of narrow sources too, which must not matter
    return {"a": np.concatenate([values, noise])[:256] if len(values) <= 224 else values[:256]}


PAIRS = [op.name for op in TABLE if op.semantics == "cvt" and op.types[0] != "tf32"]


@pytest.mark.parametrize("to", INTEGER_TYPES + FLOAT_TYPES)
def test_conversions_to(to):
    for source in INTEGER_TYPES + FLOAT_TYPES:
        check(f"CVT.{to}.{source}".upper(), convert, variants(to, source), rows_of(to, source))


ROUNDINGS = [op.name for op in TABLE if op.semantics == "round_integral"]


@pytest.mark.parametrize("name", ROUNDINGS)
def test_rounding_to_integral(name):
    t = BY_NAME[name].types[0]

    choices = {"rnd": MODES} | ({"ftz": (0, 1), "sat": (0, 1)} if t == "f32" else {})
    check(name, round_integral, every(**choices), rows_of("s32", t))


PACKS = [op.name for op in TABLE if op.semantics == "cvt_pack"]


@pytest.mark.parametrize("name", PACKS)
def test_packing(name):
    t = BY_NAME[name].types[0].removesuffix("x2")

    rows = {"a": rows_of(t, "f32")["a"], "b": rows_of(t, "f32")["a"][::-1].copy()}
    choices = every(rnd=("rn", "rz"), satfinite=(0, 1), relu=(0, 1))
    check(name, pack, choices, rows)


TF32 = "CVT.TF32.F32"


def test_tensor_float():
    check(TF32, tensor_float, every(rnd=("rn", "rz", "rna"), satfinite=(0, 1), relu=(0, 1)), rows_of("bf16", "f32"))


def test_references_agree_with_numpy():
    """The exact rounding itself, against numpy's float16 and float32."""
    values = RNG.integers(0, 1 << 64, 2000, np.uint64).view(np.float64)
    values = np.concatenate([values, RNG.uniform(-70000, 70000, 500), RNG.uniform(-1e-5, 1e-5, 500)])
    with np.errstate(all="ignore"):
        singles, halves = values.astype(np.float32), values.astype(np.float16)
    for value, single, half in zip(values.view(np.uint64).tolist(), singles, halves, strict=True):
        x = decode(value, "f64")
        if x.magnitude is not NAN:
            assert encode(x, "f32") == int(single.view(np.uint32))
            assert encode(x, "f16") == int(half.view(np.uint16))
    assert signed(0xFF, 8) == -1
