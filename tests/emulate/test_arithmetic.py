"""Integer and float arithmetic against an independent oracle: the same operation compiled by LLVM for the host."""

import ctypes

import llvmlite.binding as llvm
import numpy as np
import pytest

from gpuprof.isa.modifiers import pack
from tests.support.emulate_harness import evaluate, op

RNG = np.random.default_rng(7)
N = 1024


def jit(body: str, result: str, *arguments: str):
    """A function over numpy arrays from the LLVM IR of one element: %0, %1... are the arguments, the body ends in
    `ret`.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    parameters = ", ".join(f"{t} %{i}" for i, t in enumerate(arguments))
    text = f"""
    declare float @llvm.fma.f32(float, float, float)
    declare double @llvm.fma.f64(double, double, double)
    declare i32 @llvm.ctpop.i32(i32)
    declare i32 @llvm.bitreverse.i32(i32)
    declare i64 @llvm.bitreverse.i64(i64)
    declare i32 @llvm.ctlz.i32(i32, i1)
    declare i64 @llvm.ctlz.i64(i64, i1)
    declare i32 @llvm.fshl.i32(i32, i32, i32)
    declare i32 @llvm.fshr.i32(i32, i32, i32)
    declare i32 @llvm.fptosi.sat.i32.f32(float)
    declare i32 @llvm.fptoui.sat.i32.f32(float)
    declare i64 @llvm.fptosi.sat.i64.f64(double)
    declare i64 @llvm.fptoui.sat.i64.f64(double)
    declare float @llvm.rint.f32(float)
    declare double @llvm.sqrt.f64(double)
    declare float @llvm.sqrt.f32(float)
    define {result} @element({parameters}) {{
    {body}
    }}
    define void @rows(ptr %out, {", ".join(f"ptr %in{i}" for i in range(len(arguments)))}, i64 %n) {{
    entry:
      br label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %next, %loop ]
      {chr(10).join(f"%p{k} = getelementptr {t}, ptr %in{k}, i64 %i{chr(10)} %v{k} = load {t}, ptr %p{k}" for k, t in enumerate(arguments))}
      %r = call {result} @element({", ".join(f"{t} %v{k}" for k, t in enumerate(arguments))})
      %q = getelementptr {result}, ptr %out, i64 %i
      store {result} %r, ptr %q
      %next = add i64 %i, 1
      %more = icmp ult i64 %next, %n
      br i1 %more, label %loop, label %done
    done:
      ret void
    }}
    """  # noqa: E501
    module = llvm.parse_assembly(text)
    module.verify()
    engine = llvm.create_mcjit_compiler(module, llvm.Target.from_default_triple().create_target_machine())
    engine.finalize_object()
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (1 + len(arguments)), ctypes.c_int64)(
        engine.get_function_address("rows")
    )

    def function(out_dtype, *rows):
        out = np.empty(len(rows[0]), out_dtype)
        call(out.ctypes.data, *[row.ctypes.data for row in rows], len(out))
        return out

    function.engine = engine
    return function


def floats(dtype) -> np.ndarray:
    """Special values, subnormals, halfway cases, and random bit patterns."""
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    info = np.finfo(dtype)
    chosen = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        np.inf,
        -np.inf,
        np.nan,
        info.tiny,
        -info.tiny,
        info.smallest_subnormal,
        info.max,
        -info.max,
        1 + info.eps,
    ]
    some = RNG.integers(0, np.iinfo(bits).max, N // 2, bits).view(dtype)
    near_one = (1 + RNG.random(N - N // 2 - len(chosen))).astype(dtype)
    return RNG.permutation(np.concatenate([np.array(chosen, dtype), some, near_one]))


def integers(dtype) -> np.ndarray:
    info = np.iinfo(dtype)
    chosen = np.array([0, 1, 2, 3, info.max, info.min, info.max - 1, info.max // 2], dtype)
    small = RNG.integers(0, 100, 200, dtype)
    return RNG.permutation(np.concatenate([chosen, small, RNG.integers(info.min, info.max, N - 208, dtype)]))


def assert_same_bits(found: np.ndarray, wanted: np.ndarray, *inputs):
    bits = np.dtype(f"u{found.dtype.itemsize}")
    bad = np.flatnonzero(found.view(bits) != wanted.view(bits))
    assert not len(bad), [(found[i], wanted[i], *[row[i] for row in inputs]) for i in bad[:5]]


def canonical(row: np.ndarray) -> np.ndarray:
    """The GPU's NaN in place of the host's."""
    return np.where(np.isnan(row), np.uint32(0x7FFFFFFF).view(np.float32), row) if row.dtype == np.float32 else row


def canonical_any(row: np.ndarray) -> np.ndarray:
    """Double precision keeps payloads; which one of two NaNs is kept is the host's choice, so they compare as one."""
    return np.where(np.isnan(row), row.dtype.type(np.nan), row)


FLOAT_CASES = {
    "ADD": ("fadd {t} %0, %1", 2),
    "MUL": ("fmul {t} %0, %1", 2),
    "DIV": ("fdiv {t} %0, %1", 2),
    "FMA": ("call {t} @llvm.fma.f{n}({t} %0, {t} %1, {t} %2)", 3),
    "SQRT": ("call {t} @llvm.sqrt.f{n}({t} %0)", 1),
    "RCP": ("fdiv {t} 1.0, %0", 1),
}


@pytest.mark.parametrize("name", FLOAT_CASES)
@pytest.mark.parametrize("letter,t,dtype", [("F", "float", np.float32), ("D", "double", np.float64)])
def test_float_arithmetic_is_ieee(name, letter, t, dtype):
    expression, count = FLOAT_CASES[name]
    body = f"%r = {expression.format(t=t, n=32 if letter == 'F' else 64)}\n ret {t} %r"
    rows = [floats(dtype) for _ in range(count)]
    wanted = jit(body, t, *[t] * count)(dtype, *rows)
    (found,) = evaluate(op(letter + name), dict(zip("abc", rows, strict=False)), {"dst": dtype})
    if dtype == np.float32:
        assert_same_bits(found, canonical(wanted), *rows)
    else:
        assert_same_bits(canonical_any(found), canonical_any(wanted), *rows)


INTEGER_CASES = {
    "IADD": ("add i32 %0, %1", np.uint32, 2),
    "ISUB": ("sub i32 %0, %1", np.uint32, 2),
    "IMUL": ("mul i32 %0, %1", np.uint32, 2),
    "IADD.64": ("add i64 %0, %1", np.uint64, 2),
    "IMUL.64": ("mul i64 %0, %1", np.uint64, 2),
    "AND": ("and i32 %0, %1", np.uint32, 2),
    "XOR.64": ("xor i64 %0, %1", np.uint64, 2),
    "POPC": ("call i32 @llvm.ctpop.i32(i32 %0)", np.uint32, 1),
    "BREV": ("call i32 @llvm.bitreverse.i32(i32 %0)", np.uint32, 1),
    "BREV.64": ("call i64 @llvm.bitreverse.i64(i64 %0)", np.uint64, 1),
    "CLZ": ("call i32 @llvm.ctlz.i32(i32 %0, i1 false)", np.uint32, 1),
}


@pytest.mark.parametrize("name", INTEGER_CASES)
def test_integer_arithmetic(name):
    expression, dtype, count = INTEGER_CASES[name]
    t = f"i{np.dtype(dtype).itemsize * 8}"
    rows = [integers(dtype) for _ in range(count)]
    wanted = jit(f"%r = {expression}\n ret {t} %r", t, *[t] * count)(dtype, *rows)
    (found,) = evaluate(op(name), dict(zip("abc", rows, strict=False)), {"dst": dtype})
    assert_same_bits(found, wanted, *rows)


@pytest.mark.parametrize(
    "t,operation", [(t, o) for t in ("s32", "u32", "s64", "u64") for o in ("IDIV", "IREM", "IMULHI", "IMIN", "IMAX")]
)
def test_integer_pairs_against_python(t, operation):
    dtype = np.dtype(f"{'i' if t[0] == 's' else 'u'}{int(t[1:]) // 8}")
    bits = int(t[1:])
    a, b = integers(dtype), integers(dtype)

    def python(x, y):
        if operation in ("IDIV", "IREM") and y == 0:
            return -1
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) if y else 0
        return {
            "IDIV": quotient,
            "IREM": x - quotient * y,
            "IMULHI": x * y >> bits,
            "IMIN": min(x, y),
            "IMAX": max(x, y),
        }[operation]

    wanted = np.array([python(int(x), int(y)) & (1 << bits) - 1 for x, y in zip(a, b, strict=True)], f"u{bits // 8}")
    (found,) = evaluate(op(f"{operation}.{t}".upper()), {"a": a, "b": b}, {"dst": dtype})
    assert_same_bits(found, wanted, a, b)


@pytest.mark.parametrize("t", ["s32", "u32", "s64", "u64"])
def test_bit_fields_against_the_ptx_manual(t):
    """bfe's pseudocode, bit by bit."""
    bits = int(t[1:])
    dtype = np.dtype(f"{'i' if t[0] == 's' else 'u'}{bits // 8}")
    a, position, length = integers(dtype), RNG.integers(0, 80, N, np.uint32), RNG.integers(0, 80, N, np.uint32)

    def python(value, pos, count):
        value &= (1 << bits) - 1
        top = value >> min(pos + count - 1, bits - 1) & 1 if t[0] == "s" and count else 0
        return sum((value >> pos + i & 1 if i < count and pos + i < bits else top) << i for i in range(bits))

    wanted = np.array(
        [python(int(x), int(p), int(c)) for x, p, c in zip(a, position, length, strict=True)], f"u{bits // 8}"
    )
    (found,) = evaluate(op(f"BFE.{t.upper()}"), {"a": a, "b": position, "c": length}, {"dst": dtype})
    assert_same_bits(found, wanted, a, position, length)


@pytest.mark.parametrize("lut", [0x00, 0x96, 0xCA, 0xE8, 0x3C, 0xD5, 0xFF])
def test_lop3(lut):
    a, b, c = integers(np.uint32), integers(np.uint32), integers(np.uint32)
    wanted = np.zeros(N, np.uint32)
    for index in range(8):
        if lut >> index & 1:
            parts = [row if index >> place & 1 else ~row for row, place in ((a, 2), (b, 1), (c, 0))]
            wanted |= parts[0] & parts[1] & parts[2]
    (found,) = evaluate(op("LOP3", mods=pack(lut=lut)), {"a": a, "b": b, "c": c}, {"dst": np.uint32})
    assert_same_bits(found, wanted, a, b, c)


@pytest.mark.parametrize("name,function", [("SHF.L", "fshl"), ("SHF.R", "fshr")])
def test_funnel_shift_wraps(name, function):
    low, high, count = integers(np.uint32), integers(np.uint32), integers(np.uint32)
    body = f"%r = call i32 @llvm.{function}.i32(i32 %1, i32 %0, i32 %2)\n ret i32 %r"
    wanted = jit(body, "i32", "i32", "i32", "i32")(np.uint32, low, high, count)
    (found,) = evaluate(op(name, mods=pack(wrap="wrap")), {"a": low, "b": high, "c": count}, {"dst": np.uint32})
    assert_same_bits(found, wanted, low, high, count)


def test_shifts_clamp_past_the_width():
    a = np.full(128, 0x80000001, np.uint32)
    count = np.array([0, 1, 31, 32, 33, 255, 0xFFFFFFFF, 1 << 31] * 16, np.uint32)
    (left,) = evaluate(op("SHL"), {"a": a, "b": count}, {"dst": np.uint32})
    (right,) = evaluate(op("SHR.U32"), {"a": a, "b": count}, {"dst": np.uint32})
    (arithmetic,) = evaluate(op("SHR.S32"), {"a": a, "b": count}, {"dst": np.uint32})
    assert left[:8].tolist() == [0x80000001, 2, 0x80000000, 0, 0, 0, 0, 0]
    assert right[:8].tolist() == [0x80000001, 0x40000000, 1, 0, 0, 0, 0, 0]
    assert arithmetic[:8].tolist() == [0x80000001, 0xC0000000, *[0xFFFFFFFF] * 6]


def test_add_and_subtract_with_carry():
    a, b, carry = integers(np.uint32), integers(np.uint32), RNG.random(N) < 0.5
    total, out = evaluate(op("IADDC"), {"a": a, "b": b, "e": carry}, {"dst": np.uint32, "c": np.bool_})
    exact = a.astype(np.int64) + b + carry
    assert (total == (exact & 0xFFFFFFFF)).all() and (out == (exact >> 32 != 0)).all()
    total, out = evaluate(op("ISUBC"), {"a": a, "b": b, "e": carry}, {"dst": np.uint32, "c": np.bool_})
    exact = a.astype(np.int64) - b - ~carry
    assert (total == (exact & 0xFFFFFFFF)).all() and (out == (exact >= 0)).all()


def test_wide_multiply():
    a, b, c = integers(np.int32), integers(np.int32), integers(np.int64)
    (found,) = evaluate(op("IMAD.WIDE.S32"), {"a": a, "b": b, "c": c}, {"dst": np.int64})
    assert (found == a.astype(np.int64) * b + c).all()


def test_dot_products():
    a, b, c = integers(np.uint32), integers(np.uint32), integers(np.uint32)
    (found,) = evaluate(op("DP4A.S.U"), {"a": a, "b": b, "c": c}, {"dst": np.uint32})
    products = (a.view(np.int8).reshape(-1, 4).astype(np.int64) * b.view(np.uint8).reshape(-1, 4)).sum(axis=1)
    assert (found == ((products + c) & 0xFFFFFFFF)).all()


def test_byte_permute():
    a, b = np.full(128, 0x03020100, np.uint32), np.full(128, 0x87060504, np.uint32)
    selector = np.array([0x3210, 0x7654, 0xF000, 0x0123] * 32, np.uint32)
    (found,) = evaluate(op("PRMT"), {"a": a, "b": b, "c": selector}, {"dst": np.uint32})
    assert [hex(v) for v in found[:4]] == ["0x3020100", "0x87060504", "0xff000000", "0x10203"]


@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
@pytest.mark.parametrize(
    "name,count",
    [("FADD", 2), ("FMUL", 2), ("FFMA", 3), ("DADD", 2), ("DMUL", 2), ("DFMA", 3), ("FDIV", 2), ("FSQRT", 1)],
)
def test_directed_rounding_against_fractions(mode, name, count):
    """The exact rational result lies on the right side, and the next number in the rounding direction is past it."""
    from fractions import Fraction

    dtype = np.float32 if name[0] == "F" else np.float64
    rows = [floats(dtype)[:256] for _ in range(count)]
    if name == "FSQRT":
        rows = [np.abs(rows[0])]
        rows[0][rows[0] == 0] = 2
    (found,) = evaluate(op(name, mods=pack(rnd=mode)), dict(zip("abc", rows, strict=False)), {"dst": dtype})
    checked = 0
    for result, *values in zip(found, *rows, strict=True):
        if not all(np.isfinite(values)) or not np.isfinite(result) or (name in ("FDIV",) and values[1] == 0):
            continue
        exact = [Fraction(float(v)) for v in values]
        last = Fraction(float(result))
        if name == "FSQRT":
            exact_value, last = exact[0], last * last
        else:
            exact_value = {
                "ADD": lambda a, b: a + b,
                "MUL": lambda a, b: a * b,
                "FMA": lambda a, b, c: a * b + c,
                "DIV": lambda a, b: a / b,
            }[name[1:]](*exact)
        down = mode == "rm" or (mode == "rz" and exact_value >= 0)
        with np.errstate(over="ignore"):
            other = np.nextafter(result, dtype(np.inf if down else -np.inf))
        beyond = Fraction(float(other)) if np.isfinite(other) else None
        beyond = beyond * beyond if beyond is not None and name == "FSQRT" else beyond
        if down:
            assert last <= exact_value and (beyond is None or beyond > exact_value), (values, result)
        else:
            assert last >= exact_value and (beyond is None or beyond < exact_value), (values, result)
        checked += 1
    assert checked > 50


def test_flush_and_saturate():
    subnormal = np.float32(1e-40)
    a = np.array([subnormal, -subnormal, 0.25, 2.0, -3.0, np.nan, np.inf, 1.0] * 16, np.float32)
    one = np.ones(128, np.float32)
    (flushed,) = evaluate(op("FMUL", mods=pack(ftz=1)), {"a": a, "b": one}, {"dst": np.uint32})
    assert [hex(v) for v in flushed[:6]] == [
        "0x0",
        "0x80000000",
        "0x3e800000",
        "0x40000000",
        "0xc0400000",
        "0x7fffffff",
    ]
    (clamped,) = evaluate(op("FMUL", mods=pack(sat=1)), {"a": a, "b": one}, {"dst": np.float32})
    assert clamped[:8].tolist() == [float(subnormal), 0, 0.25, 1, 0, 0, 1, 1]


def test_minimum_and_maximum_of_zeros_and_nans():
    nan = np.nan
    a = np.array([0.0, -0.0, nan, 1.0, nan, -1.0, 2.0, 0.0] * 16, np.float32)
    b = np.array([-0.0, 0.0, 1.0, nan, nan, -2.0, 3.0, 0.0] * 16, np.float32)
    (least,) = evaluate(op("FMIN"), {"a": a, "b": b}, {"dst": np.uint32})
    (most,) = evaluate(op("FMAX"), {"a": a, "b": b}, {"dst": np.uint32})
    (strict,) = evaluate(op("FMIN", mods=pack(nan=1)), {"a": a, "b": b}, {"dst": np.uint32})
    one, two, three = 0x3F800000, 0x40000000, 0x40400000
    assert least[:8].tolist() == [1 << 31, 1 << 31, one, one, 0x7FFFFFFF, two | 1 << 31, two, 0]
    assert most[:8].tolist() == [0, 0, one, one, 0x7FFFFFFF, one | 1 << 31, three, 0]
    assert strict[2:5].tolist() == [0x7FFFFFFF] * 3


@pytest.mark.parametrize("comparison,wanted", [
    ("lt", [1, 0, 0, 0]), ("le", [1, 1, 0, 0]), ("eq", [0, 1, 0, 0]), ("ne", [1, 0, 1, 0]), ("gt", [0, 0, 1, 0]),
    ("ge", [0, 1, 1, 0]),
    ("ltu", [1, 0, 0, 1]), ("leu", [1, 1, 0, 1]), ("equ", [0, 1, 0, 1]), ("neu", [1, 0, 1, 1]), ("gtu", [0, 0, 1, 1]),
    ("geu", [0, 1, 1, 1]),
    ("num", [1, 1, 1, 0]), ("nan", [0, 0, 0, 1]),
])  # fmt: skip
def test_float_comparisons(comparison, wanted):
    a = np.array([1.0, 2.0, 3.0, np.nan] * 32, np.float32)
    b = np.full(128, 2.0, np.float32)
    held, opposite = evaluate(
        op("FSETP", mods=pack(cmp=comparison)), {"a": a, "b": b}, {"dst": np.bool_, "c": np.bool_}
    )
    assert held[:4].tolist() == [bool(v) for v in wanted]
    assert (opposite == ~held).all()


def test_setp_combines_with_a_third_predicate():
    a, third = np.arange(128, dtype=np.uint32), RNG.random(128) < 0.5
    for name, combine in (("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor)):
        both = evaluate(
            op("ISETP.U32", imm=64, slot="b", mods=pack(cmp="lt", bool=name)),
            {"a": a, "e": third},
            {"dst": np.bool_, "c": np.bool_},
        )
        assert (both[0] == combine(a < 64, third)).all() and (both[1] == combine(a >= 64, third)).all()


@pytest.mark.parametrize("name,function,ulp", [
    ("RCP", lambda a: 1 / a, 1), ("RSQRT", lambda a: 1 / np.sqrt(a), 2), ("EX2", np.exp2, 2), ("SIN", np.sin, 2),
    ("COS", np.cos, 2), ("SQRT", np.sqrt, 1),
])  # fmt: skip
def test_approximate_functions_stay_inside_the_manuals_bounds(name, function, ulp):
    a = RNG.uniform(0.1, 20, N).astype(np.float32)
    (found,) = evaluate(op(f"MUFU.{name}"), {"a": a}, {"dst": np.float32})
    exact = function(a.astype(np.float64))
    assert (np.abs(found - exact) <= ulp * np.spacing(np.abs(exact).astype(np.float32))).all()
