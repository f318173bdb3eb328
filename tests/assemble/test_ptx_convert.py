"""cvt and set in PTX: registers wider than the type, every rounding, 16-bit results of comparisons, from PTX text to
results, against exact references.
"""

import itertools

import numpy as np
import pytest

from gpuprof.isa.row import FLOAT_TYPES, INTEGER_TYPES
from tests.references.conformance import FLOATS, INTEGERS_32, INTEGERS_64
from tests.references.conformance_conversions import convert
from tests.references.conformance_floats import COMPARISONS as FLOAT_COMPARISONS, FORMATS, compare, decode, flush
from tests.references.conformance_integers import nbits, signed
from tests.support.ptx_lanes import run_lanes

RNG = np.random.default_rng(44)
LANES = 256
FILES = {8: "c", 16: "h", 32: "r", 64: "d"}
DTYPES = {"c": np.uint8, "h": np.uint16, "r": np.uint32, "d": np.uint64}
INTEGRAL = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}


def wider(t: str) -> list[str]:
    """Files of registers that PTX lets hold a value of a type; bf16 takes its own width only."""
    return [file for bits, file in FILES.items() if bits >= max(nbits_of(t), 8) and (t != "bf16" or bits == 16)]


def nbits_of(t: str) -> int:
    return FORMATS[t].nbits if t in FORMATS else nbits(t)


def source_row(t: str, file: str) -> np.ndarray:
    """Specials of the type in the low bits, noise above them: it must not matter."""
    if t in FORMATS:
        values = [value | sign for value in FLOATS[t] for sign in (0, FORMATS[t].sign)]
    else:
        values = [
            value & (1 << nbits(t)) - 1
            for value in (INTEGERS_64 if nbits(t) == 64 else (*INTEGERS_32, 0x7F, 0x80, 0x81))
        ]
    bits = nbits_of(t)
    low = np.concatenate(
        [
            np.resize(np.array(values, np.uint64), LANES - 64),
            RNG.integers(0, (1 << bits) - 1, 64, np.uint64, endpoint=True),
        ]
    )
    if t in FORMATS and bits == 32:
        low[-32:] = RNG.uniform(-300, 300, 32).astype(np.float32).view(np.uint32)
    noise = (
        RNG.integers(0, (1 << 64) - 1, LANES, np.uint64) << np.uint64(bits) if bits < 64 else np.zeros(LANES, np.uint64)
    )
    return (low | noise).astype(DTYPES[file])


def extended(value: int, t: str, file: str) -> int:
    """To the register's width: by the sign for signed integers (PTX ISA, cvt)."""
    width = 8 * np.dtype(DTYPES[file]).itemsize
    return signed(value, nbits(t)) & (1 << width) - 1 if t[0] == "s" else value


def forms(to: str, source: str) -> list[tuple[str, dict]]:
    """Modifiers of PTX, and what they mean."""
    if to in INTEGER_TYPES and source in INTEGER_TYPES:
        lossless = (to[0] == "s" or source[0] == "u") and nbits(to) + (to[0] == "u") > nbits(source) + (
            source[0] == "u"
        ) - (to[0] == source[0])
        return [("", {})] + ([] if lossless or to == source else [(".sat", {"sat": 1})])
    if to in INTEGER_TYPES:
        return [(f".{name}", {"rnd": mode}) for name, mode in INTEGRAL.items()]
    if source in INTEGER_TYPES or nbits_of(to) < nbits_of(source) or (to, source) in (("f16", "bf16"), ("bf16", "f16")):
        return [(f".{mode}", {"rnd": mode}) for mode in INTEGRAL.values()]
    return [("", {"rnd": "rn"})]


@pytest.mark.parametrize("to", INTEGER_TYPES + FLOAT_TYPES)
def test_conversions(to):
    for source in INTEGER_TYPES + FLOAT_TYPES:
        if to == source and to in FLOAT_TYPES:
            continue
        from_file, row = wider(source)[-1], None
        row = source_row(source, from_file)
        files = wider(to) if to in INTEGER_TYPES else [FILES[nbits_of(to)]]
        cases = [(modifiers, mods, file) for (modifiers, mods), file in itertools.product(forms(to, source), files)]
        texts = [f"cvt{modifiers}.{to}.{source} {file}0, {from_file}1" for modifiers, _, file in cases]
        for text, (_, mods, file), (found,) in zip(texts, cases, run_lanes(texts, {f"{from_file}1": row}), strict=True):
            low = [int(value) & (1 << nbits_of(source)) - 1 for value in row]
            wanted = [
                extended(convert((to, source), mods, value), to, file)
                if to in INTEGER_TYPES
                else convert((to, source), mods, value)
                for value in low
            ]
            bad = [k for k in range(LANES) if not same(int(found[k]), wanted[k])]
            assert not bad, (text, [(hex(low[k]), hex(int(found[k])), wanted[k]) for k in bad[:3]])


def same(found: int, wanted) -> bool:
    return found & (1 << 63) - 1 > 0x7FF0 << 48 if isinstance(wanted, str) else found == wanted


ONES = {
    "f16": 0x3C00,
    "bf16": 0x3F80,
    "f32": 0x3F800000,
    "u16": 0xFFFF,
    "s16": 0xFFFF,
    "u32": 0xFFFFFFFF,
    "s32": 0xFFFFFFFF,
}


@pytest.mark.parametrize("t", ["f16", "bf16", "f32", "f64"])
def test_set_of_floats(t):
    """True is 1.0 or all ones; NaN by the comparison's name."""
    file = FILES[nbits_of(t)]
    a, b = (
        RNG.choice(
            np.array([value | sign for value in FLOATS[t] for sign in (0, FORMATS[t].sign)], np.uint64), LANES
        ).astype(DTYPES[file])
        for _ in range(2)
    )
    results = [t, "u16", "s16", "u32", "s32"] if t in ("f16", "bf16") else ["u32", "s32", "f32"]
    cases = list(itertools.product(FLOAT_COMPARISONS, ("",) if t in ("bf16", "f64") else ("", ".ftz"), results))
    texts = [f"set.{name}{ftz}.{to}.{t} {FILES[nbits_of(to)]}0, {file}1, {file}2" for name, ftz, to in cases]
    for text, (name, ftz, to), (found,) in zip(
        texts, cases, run_lanes(texts, {f"{file}1": a, f"{file}2": b}), strict=True
    ):
        held = [compare(t, {"cmp": name, "ftz": bool(ftz)}, x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        assert found.tolist() == [ONES[to] if each else 0 for each in held], text


@pytest.mark.parametrize("t", ["f16", "bf16"])
def test_packed_comparisons(t):
    """setp and set of two halves: the first predicate is of the lower one; both go through the Boolean operation."""
    values = np.array([value | sign for value in FLOATS[t] for sign in (0, FORMATS[t].sign)], np.uint32)
    a, b = (RNG.choice(values, LANES) | RNG.choice(values, LANES) << np.uint32(16) for _ in range(2))
    q = RNG.integers(0, 2, LANES)
    names = FLOAT_COMPARISONS
    texts = [f"setp.{name}.and.{t}x2 p0|p1, r1, r2, !p2" for name in names]
    texts += [f"set.{name}.xor.{to}.{t}x2 r0, r1, r2, p2" for name in names for to in (f"{t}x2", "u32", "s32")]
    for text, results in zip(texts, run_lanes(texts, {"r1": a, "r2": b, "p2": q}), strict=True):
        mods = {"cmp": text.split(".")[1]}
        halves = [
            np.array(
                [
                    compare(t, mods, x >> s & 0xFFFF, y >> s & 0xFFFF)
                    for x, y in zip(a.tolist(), b.tolist(), strict=True)
                ]
            )
            for s in (0, 16)
        ]
        if text.startswith("setp"):
            assert all((found == (held & (q == 0))).all() for found, held in zip(results, halves, strict=True)), text
            continue
        one = ONES[t] if f".{t}x2.{t}x2" in text else 0xFFFF
        low, high = (np.where(held ^ (q == 1), one, 0) for held in halves)
        assert (results[0] == (low | high << 16)).all(), text


def test_integral_rounding_flushes_before_it_rounds():
    """cvt.rpi of the smallest subnormal is 1, of a flushed one 0 with its sign."""
    row = np.array([1, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000], np.uint32)
    (kept,), (flushed,), (integers,) = run_lanes(
        ["cvt.rpi.f32.f32 r0, r1", "cvt.rpi.ftz.f32.f32 r0, r1", "cvt.rpi.ftz.s32.f32 r0, r1"], {"r1": row}
    )
    one = 0x3F800000
    assert kept.tolist() == [one, 0x80000000, one, 0x80000000, one]
    assert flushed.tolist() == [0, 0x80000000, 0, 0x80000000, one]
    assert integers.tolist() == [0, 0, 0, 0, 1]
    assert decode(flush(1, "f32"), "f32").magnitude == 0
