"""A constant operand gives what a register of the same value gives, through every immediate form and every rule of the
optimizer.
"""

import numpy as np
import pytest

from tests.support.matrices import long_but_every
from tests.support.ptx_lanes import DTYPES, run_lanes

RNG = np.random.default_rng(77)
LANES = 128
WORDS = (0, 1, 2, 5, 31, 32, 33, 0x7F, 0xFF, 0x100, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x3F800000)
DOUBLES = (
    *WORDS,
    0xFFFFFFFF80000000,
    0xFFFFFFFF7FFFFFFF,
    1 << 32,
    1 << 63,
    (1 << 64) - 1,
    0x3FF0 << 48,
    0x3FF0000000000001,
)

# Opcodes by the register files of their sources and, after a space, of their result.
OPCODES = {
    "hh h": "add.u16 sub.s16 mul.lo.u16 mul.hi.s16 min.s16 max.u16 div.s16 rem.u16 and.b16 or.b16 xor.b16",
    "hhh h": "mad.lo.s16 mad.hi.u16 sad.s16",
    "rr r": "add.s32 sub.u32 add.sat.s32 sub.sat.s32 mul.lo.s32 mul.hi.u32 mul24.lo.s32 mul24.hi.u32 min.s32 max.u32 "
        "min.relu.s32 div.s32 rem.s32 div.u32 rem.u32 "
    "and.b32 or.b32 xor.b32 shl.b32 shr.u32 shr.s32 bmsk.clamp.b32 szext.wrap.s32 szext.clamp.u32 add.u16x2 min.s16x2 "
        "max.u16x2 vadd.s32.u32.s32.sat "
    "vabsdiff.u32.u32.u32 vshl.s32.s32.u32.clamp vset.s32.s32.lt cvt.pack.sat.s16.s32 add.f32 mul.rz.f32 sub.ftz.f32 "
        "min.f32 max.NaN.f32 copysign.f32 "
    "div.rn.f32 set.lt.u32.s32 set.ge.f32.f32 cvt.rn.f16x2.f32 cvt.rn.relu.satfinite.bf16x2.f32",
    "rrr r": "mad.lo.s32 mad.hi.s32 mad.hi.sat.s32 mad24.lo.u32 mad24.hi.sat.s32 sad.u32 bfe.u32 bfe.s32 "
        "shf.l.clamp.b32 shf.r.wrap.b32 prmt.b32 prmt.b32.rc8 fns.b32 "
    "dp4a.s32.u32 dp2a.hi.u32.s32 fma.rn.f32 min.abs.f32 slct.u32.s32 vadd4.u32.s32.u32.add vmad.s32.s32.s32.shr7 "
        "vmin2.s32.s32.s32 "
    "vset4.u32.u32.ge cvt.pack.sat.s8.s32.b32 cvt.rs.bf16x2.f32",
    "rrrr r": "bfi.b32",
    "dd d": "add.s64 sub.u64 mul.lo.s64 mul.hi.u64 min.s64 max.u64 div.u64 rem.s64 and.b64 or.b64 xor.b64 add.f64 "
        "mul.f64 min.f64 copysign.f64 add.rn.f32x2 mul.rz.ftz.f32x2",
    "ddd d": "mad.lo.u64 mad.hi.s64 sad.s64 fma.rn.f64 fma.rn.f32x2",
    "dr d": "shl.b64 shr.u64 shr.s64",
    "drr d": "bfe.u64 bfe.s64",
    "ddrr d": "bfi.b64",
    "rr d": "mul.wide.s32 mul.wide.u32",
    "rrd d": "mad.wide.s32",
    "r r": "neg.s32 abs.s32 not.b32 cnot.b32 popc.b32 clz.b32 brev.b32 bfind.s32 cvt.s32.u8 cvt.rzi.s32.f32 "
        "cvt.rn.f32.s32 neg.f32 rcp.rn.f32 sqrt.approx.f32 cvt.rna.tf32.f32",
    "r d": "cvt.s64.s32 cvt.f64.f32 cvt.rn.f64.u32",
    "d r": "popc.b64 clz.b64 bfind.shiftamt.s64 cvt.u32.u64 cvt.rn.f32.f64 cvt.rn.f32.s64 cvt.rzi.s32.f64",
}  # fmt: skip
CASES = [(files, opcode) for files, names in OPCODES.items() for opcode in names.split()]


def constants(opcode: str, file: str) -> tuple[str, np.ndarray]:
    values = {"h": [value & 0xFFFF for value in WORDS], "r": WORDS, "d": DOUBLES}[file]
    value = int(RNG.choice(np.array(values, np.uint64)))
    if opcode.split(".")[0] in ("slct", "vmad") or not opcode.endswith((".f32", ".f64")) or "cvt.pack" in opcode:
        return str(value), value
    return (f"0f{value & 0xFFFFFFFF:08X}", value) if file == "r" else (f"0d{value:016X}", value)


@pytest.mark.parametrize(("files", "opcode"), long_but_every(3, CASES), ids=[opcode for _, opcode in CASES])
def test_constants(files, opcode):
    """Every source in turn, and all at once, as a constant."""
    sources, target = files.split()
    registers = [f"{file}{k + 1}" for k, file in enumerate(sources)]
    rows = {
        name: RNG.integers(0, np.iinfo(DTYPES[name[0]]).max, LANES, DTYPES[name[0]], endpoint=True)
        for name in registers
    }
    texts, constant = [], []
    for which in [*([k] for k in range(len(sources))), list(range(len(sources)))] * 2:
        chosen = {k: constants(opcode, sources[k]) for k in which}
        texts.append(
            f"{opcode} {target}0, "
            f"{', '.join(chosen[k][0] if k in chosen else name for k, name in enumerate(registers))}"
        )
        constant.append({registers[k]: value for k, (_, value) in chosen.items()})
    for text, values, (result,) in zip(texts, constant, run_lanes(texts, rows), strict=True):
        given = rows | {name: np.full(LANES, value, rows[name].dtype) for name, value in values.items()}
        ((wanted,),) = run_lanes([f"{opcode} {target}0, {', '.join(registers)}"], given)
        assert (result == wanted).all(), text
