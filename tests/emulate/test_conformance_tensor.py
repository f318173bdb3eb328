"""Matrix instructions, form by form: PTX that loads fragments, multiplies and stores, against `tensor_reference`."""

import itertools
import zlib
from fractions import Fraction

import numpy as np
import pytest

from gpuprof.isa.families.tensor import FORMS
from tests.forms.tensor import MATRICES, MMA, SPARSE, MmaForm
from tests.references import tensor as reference
from tests.support.matrices import long_but_every
from tests.support.nvidia_tools import needs_ptxas
from tests.support.ptx_support import assemble_text, preamble, ptxas, run_kernel

WARPS = 6
ARCHES = ("sm_75", "sm_80", "sm_89", "sm_90", "sm_90a")


def registers_of(count_elements: int, t: str) -> int:
    return max(1, count_elements * min(reference.NBITS[t], 32) // 32 // 32) if t != "f64" else count_elements // 32


def counts(form: MmaForm) -> dict[str, int]:
    """Registers of a lane, by operand."""
    if form.shape == (8, 8, 4) and form.a == "f16":
        return {"d": 8 if form.d == "f32" else 4, "a": 2, "b": 2, "c": 8 if form.c == "f32" else 4}
    m, n, k = form.shape
    stored = k // 2 if form.sparse else k
    return {
        "d": registers_of(m * n, form.d),
        "a": registers_of(m * stored, form.a),
        "b": registers_of(k * n, form.b),
        "c": registers_of(m * n, form.c),
    }


def instruction(form: MmaForm) -> str:
    prefix = "fd" if form.a == "f64" else "r"
    operands, first = [], 0
    for name, count in counts(form).items():
        names = [f"%{prefix}{name}{i}" for i in range(count)]
        operands.append(
            "{" + ", ".join(names) + "}" if count > 1 or name in "dc" or not form.operation else "{" + names[0] + "}"
        )
        first += count
    extra = f", %re, {form.selector}" if form.sparse else ""
    return f"{form.opcode} {', '.join(operands)}{extra};"


def kernel(body: list[str], counts_: dict[str, int], wide: bool, extra_loads: str = "") -> str:
    """A kernel `k(d, a, b, c, e)` around instructions on registers %r<operand><i>; arrays are (warp, register,
    lane).
    """
    t, prefix, size = ("b64", "fd", 8) if wide else ("b32", "r", 4)
    declare = " ".join(f".reg .{'f64' if wide else 'b32'} %{prefix}{name}<{count}>;" for name, count in counts_.items())
    lines = []
    for parameter, (name, count) in enumerate(counts_.items()):
        lines += [
            f"ld.param.u64 %x0, [p{parameter}]; cvta.to.global.u64 %x0, %x0;",
            f"mul.lo.u32 %r1, %r0, {count * 32 * size}; mad.lo.u32 %r1, %r2, {size}, %r1;",
            f"cvt.u64.u32 %x1, %r1; add.u64 %x{10 + parameter}, %x0, %x1;",
        ]
        if name != "d":
            lines += [f"ld.global.{t} %{prefix}{name}{i}, [%x{10 + parameter}+{i * 32 * size}];" for i in range(count)]
    stores = [f"st.global.{t} [%x10+{i * 32 * size}], %{prefix}d{i};" for i in range(counts_["d"])]
    parameters = ", ".join(f".param .u64 p{i}" for i in range(len(counts_)))
    newline = "\n"
    return f"""{preamble("sm_90a")}.visible .entry k({parameters}) {{
.reg .b32 %r<4>; .reg .b64 %x<20>; {declare}
mov.u32 %r0, %tid.x; and.b32 %r2, %r0, 31; shr.u32 %r0, %r0, 5;
{newline.join(lines + body + stores)}
ret;
}}
"""


def text_of(form: MmaForm) -> str:
    given = counts(form) | ({"e": 1} if form.sparse else {})
    body = instruction(form).replace("%re,", "%re0,")
    return kernel([body], given, form.a == "f64")


def random_elements(rng, t: str, shape) -> np.ndarray:
    """Patterns: random numbers of a similar size, and for half of the warps all there is, infinities and NaN
    included.
    """
    nbits = reference.NBITS[t]
    anything = (
        rng.integers(0, 1 << nbits, shape, np.uint64, endpoint=False)
        if nbits < 64
        else rng.integers(0, 1 << 63, shape, np.uint64) << np.uint64(1)
    )
    if t not in ("f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2"):
        return anything
    numbers = rng.standard_normal(shape)
    tame = {
        "f64": lambda v: v.view(np.uint64),
        "f32": lambda v: v.astype(np.float32).view(np.uint32),
        "tf32": lambda v: v.astype(np.float32).view(np.uint32),
    }.get(t) or (lambda v: v.astype(reference.FLOATS[t]).view(f"u{nbits // 8}"))
    wild = np.broadcast_to((np.arange(shape[0]) % 2 == 1).reshape(-1, *[1] * (len(shape) - 1)), shape)
    wild = wild & (rng.random(shape) < (0.02 if t != "f64" else 0.0))
    return np.where(wild, anything, tame(numbers))


def random_registers(rng, t: str, count: int) -> np.ndarray:
    nbits = reference.NBITS[t]
    per_word = max(1, 32 // nbits)
    elements = random_elements(rng, t, (WARPS, count * per_word, 32))
    return np.stack([reference.pack(warp, t) for warp in elements]).astype(np.uint64 if t == "f64" else np.uint32)


def random_metadata(rng, form: MmaForm) -> np.ndarray:
    """uint32 (warps, 1, 32): every two (tf32: one) stored elements of a chunk at ascending places."""
    if form.a == "tf32":
        nibbles = rng.choice([0b0100, 0b1110], (WARPS, 32, 8))
    else:
        nibbles = rng.choice([low | high << 2 for low, high in itertools.combinations(range(4), 2)], (WARPS, 32, 8))
    return (nibbles << 4 * np.arange(8)).sum(axis=2).astype(np.uint32).reshape(WARPS, 1, 32)


def run_form(form: MmaForm, text: str | None = None) -> tuple[np.ndarray, dict]:
    rng = np.random.default_rng(zlib.crc32(form.opcode.encode()))
    given = counts(form)
    operands = {name: random_registers(rng, getattr(form, name), given[name]) for name in "abc"}
    if form.d == "s32" and form.satfinite:
        operands["c"][:] = rng.choice([0x7FFFFFF0, 0x80000010], operands["c"].shape)
    if form.sparse:
        operands["e"] = random_metadata(rng, form)
    d = np.zeros((WARPS, given["d"], 32), np.uint64 if form.d == "f64" else np.uint32)
    raw = run_kernel(assemble_text(text or text_of(form)), "k", [d, *operands.values()], block=32 * WARPS)[0]
    return np.frombuffer(raw, d.dtype).reshape(d.shape), operands


def expected(form: MmaForm, operands: dict, warp: int) -> np.ndarray:
    extra = (operands["e"][warp, 0],) if form.sparse else ()
    return reference.mma(form, *(operands[name][warp] for name in "abc"), *extra)


@pytest.mark.parametrize("form", long_but_every(3, [f for f in MMA if f.a != "f64"]), ids=lambda form: form.opcode)
def test_mma(form):
    found, operands = run_form(form)
    for warp in range(WARPS):
        np.testing.assert_array_equal(found[warp], expected(form, operands, warp))


@pytest.mark.parametrize("form", long_but_every(3, SPARSE), ids=lambda form: f"{form.opcode} {form.selector}")
def test_sparse_mma(form):
    found, operands = run_form(form)
    for warp in range(WARPS):
        np.testing.assert_array_equal(found[warp], expected(form, operands, warp))


@pytest.mark.parametrize("form", [f for f in MMA if f.a == "f64"], ids=lambda form: form.opcode)
def test_double_precision_is_a_chain_of_fused_multiply_adds(form):
    """Against exact fractions, each step rounded as said."""
    from tests.references import conformance_floats as exact

    found, operands = run_form(form)
    m, _, k = form.shape
    mode = form.rounding or "rn"
    for warp in range(2):
        left = reference.matrix(operands["a"][warp], reference.place_a("f64", m, k), (m, k))
        right = reference.matrix(operands["b"][warp], reference.place_b("f64", k), (k, 8))
        total = reference.matrix(operands["c"][warp], reference.place_c(m), (m, 8))
        row, column = reference.place_c(m)
        for i, j in itertools.product(range(0, m, 3), range(8)):
            sum_ = int(total[i, j])
            for n in range(k):
                x, y, z = (exact.decode(int(bits), "f64").exact for bits in (left[i, n], right[n, j], sum_))
                value = x * y + z
                sum_ = exact.encode(exact.Number(value < 0, abs(Fraction(value))), "f64", mode)
            (at,) = np.argwhere((row == i) & (column == j))
            assert int(found[warp][tuple(at)]) == sum_


def test_sums_are_within_the_bound_of_the_documentation():
    """The double-precision sum of f16 products against exact fractions: one rounding to f32 and k * 2**-53 of the
    magnitudes.
    """
    form = next(f for f in MMA if f.shape == (16, 8, 16) and f.a == "f16" and f.d == "f32")
    found, operands = run_form(form)
    a, b, c = (operands[name][0] for name in "abc")
    left = reference.matrix(
        reference.decode(reference.unpack(a, "f16"), "f16"), reference.place_a("f16", 16, 16), (16, 16)
    )
    right = reference.matrix(reference.decode(reference.unpack(b, "f16"), "f16"), reference.place_b("f16", 16), (16, 8))
    start = reference.matrix(reference.decode(c, "f32"), reference.place_c(16), (16, 8))
    got = reference.matrix(found[0].view(np.float32).astype(np.float64), reference.place_c(16), (16, 8))
    for i, j in itertools.product(range(16), range(8)):
        terms = [Fraction(start[i, j])] + [Fraction(left[i, k]) * Fraction(right[k, j]) for k in range(16)]
        magnitude = sum(map(abs, terms))
        slack = Fraction(float(np.spacing(np.float32(abs(got[i, j]))))) / 2 + 16 * magnitude / 2**53
        assert abs(Fraction(got[i, j]) - sum(terms)) <= slack


@pytest.mark.parametrize("op", [f for f in MATRICES if f.startswith("ldmatrix")])
def test_ldmatrix(op):
    count = int(op.split(".x")[1][0])
    generic = ".shared" not in op
    words = ", ".join(f"%rd{i}" for i in range(count))
    rng = np.random.default_rng(3)
    source = rng.integers(0, 1 << 32, (64, 4), np.uint32)  # 64 rows of 16 bytes
    rows = rng.permutation(64)[:32].astype(np.uint32)
    base = "cvta.shared.u64 %rd5, %rd5;" if generic else ""
    text = f"""{preamble("sm_90a")}.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2) {{
.shared .align 16 .b8 tile[1024];
.reg .b32 %r<30>; .reg .b64 %rd<20>; .reg .b32 %rdd<4>;
mov.u32 %r0, %tid.x; cvt.u64.u32 %rd9, %r0;
ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1]; ld.param.u64 %rd2, [p2];
mad.lo.u64 %rd3, %rd9, 32, %rd1;
ld.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [%rd3]; ld.global.v4.u32 {{%r5, %r6, %r7, %r8}}, [%rd3+16];
mov.u32 %r9, tile; mad.lo.u32 %r10, %r0, 32, %r9;
st.shared.v4.u32 [%r10], {{%r1, %r2, %r3, %r4}}; st.shared.v4.u32 [%r10+16], {{%r5, %r6, %r7, %r8}};
bar.sync 0;
mad.lo.u64 %rd4, %rd9, 4, %rd2; ld.global.u32 %r11, [%rd4]; mad.lo.u32 %r12, %r11, 16, %r9;
cvt.u64.u32 %rd5, %r12; {base}
{op} {{{words.replace("%rd", "%rdd")}}}, [{"%rd5" if generic else "%r12"}];
mad.lo.u64 %rd6, %rd9, 4, %rd0;
{" ".join(f"st.global.u32 [%rd6+{128 * i}], %rdd{i};" for i in range(count))}
ret;
}}
"""
    found = np.frombuffer(
        run_kernel(assemble_text(text), "k", [np.zeros((count, 32), np.uint32), source, rows])[0], np.uint32
    ).reshape(count, 32)
    for i in range(count):
        tile = source.view(np.uint16)[rows[8 * i : 8 * i + 8]]  # 8 x 8
        tile = tile.T if ".trans" in op else tile
        for lane in range(32):
            low, high = (int(v) for v in tile[lane // 4, 2 * (lane % 4) : 2 * (lane % 4) + 2])
            assert found[i, lane] == low | high << 16


@pytest.mark.parametrize("op", [f for f in MATRICES if f.startswith("stmatrix")])
def test_stmatrix(op):
    count = int(op.split(".x")[1][0])
    generic = ".shared" not in op
    rng = np.random.default_rng(4)
    values = rng.integers(0, 1 << 32, (count, 32), np.uint32)
    rows = rng.permutation(64)[:32].astype(np.uint32)
    text = f"""{preamble("sm_90a")}.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2) {{
.shared .align 16 .b8 tile[1024];
.reg .b32 %r<30>; .reg .b64 %rd<20>; .reg .b32 %v<4>;
mov.u32 %r0, %tid.x; cvt.u64.u32 %rd9, %r0;
ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1]; ld.param.u64 %rd2, [p2];
mov.u32 %r9, tile; mad.lo.u32 %r10, %r0, 32, %r9; mov.u32 %r1, 0;
st.shared.v4.u32 [%r10], {{%r1, %r1, %r1, %r1}}; st.shared.v4.u32 [%r10+16], {{%r1, %r1, %r1, %r1}};
mad.lo.u64 %rd3, %rd9, 4, %rd1;
{" ".join(f"ld.global.u32 %v{i}, [%rd3+{128 * i}];" for i in range(count))}
bar.sync 0;
mad.lo.u64 %rd4, %rd9, 4, %rd2; ld.global.u32 %r11, [%rd4]; mad.lo.u32 %r12, %r11, 16, %r9;
cvt.u64.u32 %rd5, %r12; {"cvta.shared.u64 %rd5, %rd5;" if generic else ""}
{op} [{"%rd5" if generic else "%r12"}], {{{", ".join(f"%v{i}" for i in range(count))}}};
bar.sync 0;
ld.shared.v4.u32 {{%r1, %r2, %r3, %r4}}, [%r10]; ld.shared.v4.u32 {{%r5, %r6, %r7, %r8}}, [%r10+16];
mad.lo.u64 %rd6, %rd9, 32, %rd0;
st.global.v4.u32 [%rd6], {{%r1, %r2, %r3, %r4}}; st.global.v4.u32 [%rd6+16], {{%r5, %r6, %r7, %r8}};
ret;
}}
"""
    found = np.frombuffer(
        run_kernel(assemble_text(text), "k", [np.zeros((64, 4), np.uint32), values, rows])[0], np.uint16
    ).reshape(64, 8)
    wanted = np.zeros((64, 8), np.uint16)
    for i in range(count):
        tile = values[i].view(np.uint16).reshape(8, 8)
        wanted[rows[8 * i : 8 * i + 8]] = tile.T if ".trans" in op else tile
    np.testing.assert_array_equal(found, wanted)


def test_movmatrix():
    values = np.random.default_rng(5).integers(0, 1 << 32, (WARPS, 1, 32), np.uint32)
    text = kernel(["movmatrix.sync.aligned.m8n8.trans.b16 %rd0, %ra0;"], {"d": 1, "a": 1}, False)
    found = np.frombuffer(
        run_kernel(assemble_text(text), "k", [np.zeros_like(values), values], block=32 * WARPS)[0], np.uint16
    )
    np.testing.assert_array_equal(
        found.reshape(WARPS, 8, 8), values.view(np.uint16).reshape(WARPS, 8, 8).transpose(0, 2, 1)
    )


@needs_ptxas
def test_ptxas_knows_the_forms(tmp_path):
    """All of an architecture in one file."""
    for arch in ("sm_90a",):
        bodies = "\n".join(
            text_of(form).split(".address_size 64\n")[1].replace(" k(", f" k{i}(")
            for i, form in enumerate((*MMA, *SPARSE))
        )
        ptxas(tmp_path, preamble(arch) + bodies, arch)


@pytest.mark.parametrize(
    "text",
    [
        "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, "
        "{%r0,%r1}, {%r0,%r1,%r2,%r3};",
        "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, {%r0,%r1}, "
        "{%r0,%r1,%r2,%r3};",
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32 {%r0,%r1}, {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%r0,%r1,%r2,%r3};",
        "mma.sync.aligned.m32n8k16.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, {%r0,%r1}, "
        "{%r0,%r1,%r2,%r3};",
        "wmma.load.sync.aligned.row.m16n16k16.f16 {%r0, %r1}, [%r2];",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, {%r0,%r1}, "
        "{%r0,%r1,%r2,%r3};",
        "mma.sync.aligned.mXn8k16.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, {%r0,%r1}, "
        "{%r0,%r1,%r2,%r3};",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}, [%r2];",
        "tcgen05.wait::ld.sync.aligned;",
    ],
)
def test_what_there_is_not_is_refused_by_name(text):
    from gpuprof.errors import UnsupportedInstruction
    from tests.support.ptx_support import kernel_text

    with pytest.raises(UnsupportedInstruction, match=text.split(" ")[0].rstrip(";").split(".")[0]):
        assemble_text(kernel_text(text))


OPCODES = [name for name, form in FORMS.items() if not form.wgmma]
MATRIX_OPCODES = [
    f"{verb}{letter}M.{count}" for verb in ("LD", "ST") for letter in ("S", "") for count in (1, 2, 4)
] + ["MOVM"]
