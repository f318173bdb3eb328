"""wmma: fragments are opaque, so matrices go from memory to memory, in every layout, and are compared with
`tensor_reference`.
"""

import zlib

import numpy as np
import pytest

from tests.forms.tensor import WMMA, WmmaForm
from tests.references import tensor as reference
from tests.support.matrices import long_but_every
from tests.support.nvidia_tools import needs_ptxas
from tests.support.ptx_support import assemble_text, preamble, ptxas, run_kernel

PAD = {"f64": 2, "s4": 32, "b1": 128}  # of leading dimensions, in elements


def registers(form: WmmaForm) -> dict[str, int]:
    m, n, k = form.shape
    if form.a == "f16":
        a = b = 8
    else:
        nbits = max(reference.NBITS[form.a], 1) if form.a != "f64" else 32
        a, b = (max(1, size * nbits // 1024) for size in (m * k, k * n))
    accumulators = {name: m * n // 64 if t == "f16" else m * n // 32 for name, t in (("c", form.c), ("d", form.d))}
    return {"a": a, "b": b, **accumulators}


def extents(form: WmmaForm) -> dict[str, tuple[int, int]]:
    m, n, k = form.shape
    return {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}


def leading(form: WmmaForm, role: str) -> int:
    """In elements; larger than the matrix, so that strides are looked at."""
    rows, columns = extents(form)[role]
    return (columns if form.layouts["abcd".index(role) if role != "d" else 2] == "row" else rows) + PAD.get(form.a, 16)


def kernel(form: WmmaForm) -> str:
    wide = form.d == "f64"
    prefix, declared = ("%fd", "f64") if wide else ("%r", "b32")
    given = registers(form)
    vector = {role: "{" + ", ".join(f"{prefix}{role}{i}" for i in range(count)) + "}" for role, count in given.items()}
    declare = " ".join(f".reg .{declared} {prefix}{role}<{count}>;" for role, count in given.items())
    shared = form.space == ".shared"
    lines = [f"ld.param.u64 %x{i}, [p{i}]; cvta.to.global.u64 %y{i}, %x{i};" for i in range(4)]
    if shared:  # all of each array, 4 bytes at a time, to 16 KB apart
        lines += ["mov.u32 %q0, tile; mov.u32 %q1, %tid.x; shl.b32 %q1, %q1, 2;"]
        for i in range(1, 4):
            lines += [
                f"mov.u32 %q2, %q1; cvt.u64.u32 %x9, %q1; add.u64 %x8, %y{i}, %x9; add.u32 %q3, %q0, %q1; add.u32 %q3, "
                f"%q3, {8192 * i};",
                f"copy{i}: ld.global.u32 %q4, [%x8]; st.shared.u32 [%q3], %q4; add.u64 %x8, %x8, 128; add.u32 %q3, "
                "%q3, 128;",
                f"add.u32 %q2, %q2, 128; setp.lt.u32 %p0, %q2, {nbytes_of(form, 'dabc'[i])}; @%p0 bra copy{i};",
            ]
        lines += ["bar.sync 0;"]
    place = {
        role: f"[%q0+{8192 * i}]" if shared else f"[%{'x' if not form.space else 'y'}{i}]"
        for i, role in enumerate("dabc")
    }
    lines += [f"{form.load(role)} {vector[role]}, {place[role]}, {leading(form, role)};" for role in "ab"]
    lines += [f"mov.u32 %q5, {leading(form, 'c')};", f"{form.load('c')} {vector['c']}, {place['c']}, %q5;"]
    lines += [f"{form.opcode} {vector['d']}, {vector['a']}, {vector['b']}, {vector['c']};"]
    lines += [f"{form.store} {place['d']}, {vector['d']}, {leading(form, 'd')};"]
    if shared:
        lines += [
            "bar.sync 0; mov.u32 %q2, %q1; cvt.u64.u32 %x9, %q1; add.u64 %x8, %y0, %x9; add.u32 %q3, %q0, %q1;",
            "back: ld.shared.u32 %q4, [%q3]; st.global.u32 [%x8], %q4; add.u64 %x8, %x8, 128; add.u32 %q3, %q3, 128;",
            f"add.u32 %q2, %q2, 128; setp.lt.u32 %p0, %q2, {nbytes_of(form, 'd')}; @%p0 bra back;",
        ]
    newline = "\n"
    return f"""{preamble("sm_90")}.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3) {{
{".shared .align 128 .b8 tile[32768];" if shared else ""}
.reg .b64 %x<10>; .reg .b64 %y<4>; .reg .b32 %q<8>; .reg .pred %p<2>; {declare}
{newline.join(lines)}
ret;
}}
"""


def nbytes_of(form: WmmaForm, role: str) -> int:
    rows, columns = extents(form)[role]
    layout = form.layouts["abcd".index(role) if role != "d" else 2]
    t = {"c": form.c, "d": form.d}.get(role, form.a)
    return (rows if layout == "row" else columns) * leading(form, role) * reference.NBITS[t] // 8


def in_memory(form: WmmaForm, role: str, patterns: np.ndarray) -> np.ndarray:
    """Bytes of a matrix of patterns in its layout."""
    t = {"c": form.c, "d": form.d}.get(role, form.a)
    layout = form.layouts["abcd".index(role) if role != "d" else 2]
    lines = patterns if layout == "row" else patterns.T
    padded = np.zeros((len(lines), leading(form, role)), np.uint64)
    padded[:, : lines.shape[1]] = lines
    nbits = reference.NBITS[t]
    if nbits >= 8:
        return padded.astype(f"u{nbits // 8}").view(np.uint8).reshape(-1)
    bits = (padded[..., None] >> np.arange(nbits, dtype=np.uint64) & np.uint64(1)).astype(np.uint8)
    return np.packbits(bits.reshape(-1), bitorder="little")


def from_memory(form: WmmaForm, raw: bytes) -> np.ndarray:
    rows, columns = extents(form)["d"]
    lines, length = (rows, columns) if form.layouts[2] == "row" else (columns, rows)
    found = np.frombuffer(raw, f"u{reference.NBITS[form.d] // 8}").reshape(lines, leading(form, "d"))[:, :length]
    return found if form.layouts[2] == "row" else found.T


def random_patterns(rng, t: str, shape) -> np.ndarray:
    if t in reference.FLOATS:
        return (
            rng.standard_normal(shape).astype(reference.FLOATS[t]).view(f"u{reference.NBITS[t] // 8}").astype(np.uint64)
        )
    if t in ("f32", "tf32"):
        return rng.standard_normal(shape).astype(np.float32).view(np.uint32).astype(np.uint64)
    if t == "f64":
        # sums are exact in every rounding mode
        return rng.integers(-1000, 1000, shape).astype(np.float64).view(np.uint64)
    if t == "s32":
        return (rng.integers(-(1 << 31), 1 << 31, shape) & 0xFFFFFFFF).astype(np.uint64)
    return rng.integers(0, 1 << reference.NBITS[t], shape).astype(np.uint64)


def wanted(form: WmmaForm, patterns: dict[str, np.ndarray]) -> np.ndarray:
    def numbers(role: str, t: str) -> np.ndarray:
        bits = patterns[role]
        return reference.decode(bits.astype(np.uint32) if t != "f64" else bits, t)

    a, b, c = numbers("a", form.a), numbers("b", form.a), numbers("c", form.c)
    if form.operation:
        combine = {"xor": np.bitwise_xor, "and": np.bitwise_and}[form.operation]
        total = c + combine(a[:, :, None], b[None]).sum(axis=1)
    else:
        total = reference.accumulate(a, b, c)
    if form.satfinite:
        total = np.clip(total, -(1 << 31), (1 << 31) - 1)
    return reference.encode(total, form.d)


@pytest.mark.parametrize(
    "form", long_but_every(3, WMMA), ids=lambda form: f"{form.opcode}{form.space} {form.layouts[2]}"
)
def test_wmma(form):
    rng = np.random.default_rng(zlib.crc32(form.opcode.encode()))
    patterns = {role: random_patterns(rng, form.c if role == "c" else form.a, extents(form)[role]) for role in "abc"}
    arrays = {role: in_memory(form, role, patterns[role]) for role in "abc"}
    if form.space == ".shared":  # copied 128 bytes at a time
        arrays = {role: np.pad(array, (0, -len(array) % 128)) for role, array in arrays.items()}
    d = np.zeros(nbytes_of(form, "d") + -nbytes_of(form, "d") % 128, np.uint8)
    raw = run_kernel(assemble_text(kernel(form)), "k", [d, *arrays.values()])[0]
    np.testing.assert_array_equal(from_memory(form, raw[: nbytes_of(form, "d")]), wanted(form, patterns))


def test_stride_left_out_is_the_matrix_own():
    text = """.version 8.7
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1) {
.reg .b64 %x<2>; .reg .f32 %f<8>;
ld.param.u64 %x0, [p0]; ld.param.u64 %x1, [p1];
wmma.load.c.sync.aligned.col.m8n32k16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%x1];
wmma.store.d.sync.aligned.row.m8n32k16.f32 [%x0], {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};
ret;
}
"""
    c = np.arange(256, dtype=np.float32).reshape(32, 8)
    raw = run_kernel(assemble_text(text), "k", [np.zeros((8, 32), np.float32), c])[0]
    np.testing.assert_array_equal(np.frombuffer(raw, np.float32).reshape(8, 32), c.T)


@pytest.mark.long
@needs_ptxas
def test_ptxas_knows_the_forms(tmp_path):
    bodies = [kernel(form).split(".address_size 64\n")[1].replace(" k(", f" k{i}(") for i, form in enumerate(WMMA)]
    ptxas(tmp_path, preamble("sm_90") + "\n".join(bodies), "sm_90")
