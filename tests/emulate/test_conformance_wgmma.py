"""wgmma: shared memory is filled as the manual draws its layouts (core matrices, chunks of 16 bytes exchanged by row),
then multiplied.
"""

import re
import zlib

import numpy as np
import pytest

from gpuprof.errors import GpuprofError
from gpuprof.isa.families.tensor import FORMS
from tests.forms.tensor import WGMMA, WgmmaForm
from tests.references import tensor as reference
from tests.support.matrices import long_but_every
from tests.support.nvidia_tools import needs_ptxas
from tests.support.ptx_support import assemble_text, preamble, ptxas, run_kernel

A_AT, B_AT, SHARED = 0, 32768, 65536
MODE = {0: 0, 128: 1, 64: 2, 32: 3}


def exchanged(chunk: int, row: int, width: int) -> int:
    """Where chunk `chunk` of row `row` of an 8-row atom goes: 128-byte rows exchange all eight, 64-byte ones four, two
    rows alike, ...
    """
    return {128: chunk ^ row % 8, 64: chunk ^ row // 2 % 4, 32: chunk ^ row // 4 % 2}[width]


class Image:
    """Bytes of one operand in shared memory, and its descriptor. Elements are (mn, k); `step` instructions of k come
    before this one.
    """

    def __init__(self, extent: int, k: int, nbits: int, width: int, trans: int):
        self.extent, self.k, self.nbits, self.width, self.trans = extent, k, nbits, width, trans
        self.step = 0 if trans or width < 64 else width // 32 - 1
        mn_rows = -(-extent // 8)
        if trans:
            per_row = max(width, 16) * 8 // nbits  # elements of MN side by side
            self.columns = -(-extent // per_row)
            self.stride = 1024 if width else 2048
            self.leading = 4096 if width else 256
            if width:
                self.leading = 2 * 1024  # behind the two atoms of 8 k
        else:
            self.stride = 8 * width if width else 512
            self.leading = 256 if width == 0 else 16
        self.rows = mn_rows

    def place(self, mn: int, k: int) -> int:
        """Byte (for elements of 8 bits or more; else the byte that holds it)."""
        if self.trans:
            byte, nbytes = mn * self.nbits // 8, self.nbits // 8
            if self.width == 0:  # core matrices of 8 k by 16 bytes
                return byte // 16 * self.stride + k // 8 * self.leading + k % 8 * 16 + byte % 16
            column, inside = divmod(byte, self.width)
            chunk = exchanged(inside // 16, k % 8 * self.width // self.width, self.width)
            assert nbytes == 2
            return column * self.leading + k // 8 * self.stride + k % 8 * self.width + chunk * 16 + inside % 16
        byte = k * self.nbits // 8
        if self.width == 0:
            return mn // 8 * self.stride + byte // 16 * self.leading + mn % 8 * 16 + byte % 16
        byte += 32 * self.step
        return mn // 8 * self.stride + mn % 8 * self.width + exchanged(byte // 16, mn % 8, self.width) * 16 + byte % 16

    def bytes_of(self, patterns: np.ndarray) -> np.ndarray:
        """patterns: (extent, k)."""
        # what is not part of the matrix must not matter
        image = np.random.default_rng(1).integers(0, 256, 32768, np.uint8)
        nbytes = max(self.nbits // 8, 1)
        if self.nbits == 1:
            packed = np.packbits(patterns.astype(np.uint8), axis=1, bitorder="little")
            for mn, k in np.ndindex(packed.shape):
                image[self.place(mn, 8 * k)] = packed[mn, k]
            return image
        for mn, k in np.ndindex(patterns.shape):
            at = self.place(mn, k)
            image[at : at + nbytes] = np.frombuffer(int(patterns[mn, k]).to_bytes(nbytes, "little"), np.uint8)
        return image

    def descriptor(self, at: int) -> int:
        """Without the address of the kernel's variable, which the kernel adds."""
        start = at + 32 * self.step
        return start >> 4 | self.leading >> 4 << 16 | self.stride >> 4 << 32 | MODE[self.width] << 62


def images(form: WgmmaForm) -> tuple[Image, Image]:
    nbits = reference.NBITS[form.a]
    return Image(64, form.k, nbits, form.swizzle_a, form.trans_a), Image(
        form.n, form.k, nbits, form.swizzle_b, form.trans_b
    )


def kernel(form: WgmmaForm) -> str:
    """D and C are (128 threads, registers); A in registers too."""
    n_d = form.n // 2 if form.d != "f16" else form.n // 4
    vector = ", ".join(f"%d{i}" for i in range(n_d))
    a = "{%a0, %a1, %a2, %a3}" if form.in_registers else "%y1"
    left, right = images(form)
    newline = "\n"
    loads = [f"ld.global.b32 %d{i}, [%x5+{4 * i}];" for i in range(n_d)]
    stores = [f"st.global.b32 [%x6+{4 * i}], %d{i};" for i in range(n_d)]
    return f"""{preamble("sm_90a")}.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u32 p4) {{
.shared .align 1024 .b8 tile[{SHARED}];
.reg .b64 %x<10>; .reg .b64 %y<4>; .reg .b32 %q<8>; .reg .b32 %a<4>; .reg .b32 %d<{n_d}>; .reg .pred %p<2>;
ld.param.u64 %x0, [p0]; ld.param.u64 %x1, [p1]; ld.param.u64 %x2, [p2]; ld.param.u64 %x3, [p3]; ld.param.u32 %q6, [p4];
mov.u32 %q0, tile; mov.u32 %q1, %tid.x; shl.b32 %q2, %q1, 4; cvt.u64.u32 %x4, %q2; add.u64 %x4, %x4, %x2; add.u32 %q3, %q0, %q2;
copy: ld.global.v4.u32 {{%a0, %a1, %a2, %a3}}, [%x4]; st.shared.v4.u32 [%q3], {{%a0, %a1, %a2, %a3}};
add.u64 %x4, %x4, 2048; add.u32 %q3, %q3, 2048; add.u32 %q2, %q2, 2048; setp.lt.u32 %p0, %q2, {SHARED}; @%p0 bra copy;
mul.wide.u32 %x5, %q1, {4 * n_d}; add.u64 %x6, %x5, %x0; add.u64 %x5, %x5, %x1;
mul.wide.u32 %x7, %q1, 16; add.u64 %x7, %x7, %x3; ld.global.v4.u32 {{%a0, %a1, %a2, %a3}}, [%x7];
{newline.join(loads)}
cvt.u64.u32 %x8, %q0; shr.u64 %x8, %x8, 4; and.b64 %x8, %x8, 0x3fff;
mov.b64 %y1, {left.descriptor(A_AT):#x}; add.u64 %y1, %y1, %x8; mov.b64 %y2, {right.descriptor(B_AT):#x}; add.u64 %y2, %y2, %x8;
fence.proxy.async; bar.sync 0;
setp.ne.u32 %p1, %q6, 0;
wgmma.fence.sync.aligned;
{form.opcode} {{{vector}}}, {a}, %y2, %p1{form.immediates};
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
{newline.join(stores)}
ret;
}}
"""  # noqa: E501


def random_patterns(rng, t: str, shape) -> np.ndarray:
    if t in reference.FLOATS:
        return rng.standard_normal(shape).astype(reference.FLOATS[t]).view(f"u{reference.NBITS[t] // 8}")
    if t in ("f32", "tf32"):
        return rng.standard_normal(shape).astype(np.float32).view(np.uint32)
    if t == "s32":
        return rng.integers(0, 1 << 32, shape, np.uint32)
    return rng.integers(0, 1 << reference.NBITS[t], shape).astype(np.uint8)


def d_places(form: WgmmaForm) -> tuple[np.ndarray, np.ndarray]:
    """(row, column) of each element of each of the 128 threads; figure "WGMMA .m64nNk.. register fragment layout for
    accumulator D".
    """
    thread, i = np.arange(128)[:, None], np.arange(form.n // 2)[None]
    row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (i // 2 % 2)
    return row, 8 * (i // 4) + 2 * (thread % 4) + i % 2


def run_form(form: WgmmaForm, keep: int):
    rng = np.random.default_rng(zlib.crc32(repr(form).encode()))
    a, b = random_patterns(rng, form.a, (64, form.k)), random_patterns(rng, form.b, (form.n, form.k))
    left, right = images(form)
    shared = np.concatenate([left.bytes_of(a), right.bytes_of(b)])
    n_d = form.n // 2 if form.d != "f16" else form.n // 4
    row, column = d_places(form)
    c = random_patterns(rng, form.d, (64, form.n))
    if form.satfinite:
        c = rng.choice([0x7FFFFFF0, 0x80000010], c.shape).astype(np.uint32)
    scattered = c[row, column]
    registers = (
        np.ascontiguousarray(scattered.astype(np.uint16)).view(np.uint32)
        if form.d == "f16"
        else scattered.astype(np.uint32)
    )
    in_registers = np.zeros((128, 4), np.uint32)
    for warp in range(4):
        places = reference.place_a(form.a, 16, form.k)
        block = a[16 * warp : 16 * warp + 16][places]
        in_registers[32 * warp : 32 * warp + 32] = reference.pack(block, form.a).T
    d = np.zeros((128, n_d), np.uint32)
    raw = run_kernel(assemble_text(kernel(form)), "k", [d, registers, shared, in_registers, keep], block=128)[0]
    return a, b, c, np.frombuffer(raw, np.uint16 if form.d == "f16" else np.uint32).reshape(128, -1)


@pytest.mark.parametrize(
    "form",
    long_but_every(3, WGMMA),
    ids=lambda form: f"{form.opcode} {form.swizzle_a}{form.swizzle_b}{form.trans_a}{form.trans_b}{form.in_registers:d}",
)
def test_wgmma(form):
    keep = int(form.n != 24)
    a, b, c, found = run_form(form, keep)
    left = reference.decode(a, form.a) * (form.scale_a if form.d != "s32" else 1)
    right = reference.decode(b, form.b).T * (form.scale_b if form.d != "s32" else 1)
    start = reference.decode(c, form.d) if keep else np.zeros((64, form.n), np.int64 if form.d == "s32" else np.float64)
    if form.a == "b1":
        total = start + left @ right
    else:
        total = reference.accumulate(left, right, start)
    if form.satfinite:
        total = np.clip(total, -(1 << 31), (1 << 31) - 1)
    np.testing.assert_array_equal(found, reference.encode(total, form.d)[d_places(form)])


def test_a_descriptor_that_leads_out_of_shared_memory():
    form = WGMMA[0]
    text = re.sub(r"mov.b64 %y1, \w+; add.u64 %y1, %y1, %x8;", "mov.b64 %y1, 0x3fff;", kernel(form))
    registers, shared = np.zeros((128, form.n // 2), np.uint32), np.zeros(SHARED, np.uint8)
    with pytest.raises(
        GpuprofError, match=r"a matrix descriptor leads to 0x3fff0 in shared memory; the block has 65536 bytes"
    ):
        run_kernel(
            assemble_text(text), "k", [registers, registers.copy(), shared, np.zeros((128, 4), np.uint32), 1], block=128
        )


@pytest.mark.parametrize(
    "opcode",
    [
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16",
        "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16",
        "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8",
    ],
)
def test_what_there_is_not_is_refused(opcode):
    form = WGMMA[0]
    with pytest.raises(GpuprofError, match="wgmma"):
        assemble_text(kernel(form).replace(form.opcode, opcode))


@needs_ptxas
def test_ptxas_knows_the_forms(tmp_path):
    bodies = [kernel(form).split(".address_size 64\n")[1].replace(" k(", f" k{i}(") for i, form in enumerate(WGMMA)]
    ptxas(tmp_path, preamble("sm_90a") + "\n".join(bodies), "sm_90a")


OPCODES = [name for name, form in FORMS.items() if form.wgmma] + [
    "WARPGROUP.ARRIVE",
    "WARPGROUP.COMMIT",
    "WARPGROUP.DEPBAR",
]
