"""ptxas computes instructions on constants itself. What it finds is compared with the emulator's results, without
running anything: a kernel that stores only if an instruction on constants gives something else than the emulator's
result is empty once compiled.
"""

import random
import struct
from pathlib import Path

import numpy as np
import pytest

from tests.references.conformance import FLOATS, INTEGERS_32, INTEGERS_64
from tests.support.nvidia_tools import needs_ptxas
from tests.support.ptx_lanes import run_lanes
from tests.support.ptx_support import ptxas

CASES = 24


def _signed(t: str, sign: int) -> tuple[int, ...]:
    return (*FLOATS[t], *(bits | sign for bits in FLOATS[t]))


# Letter of an operand: (registers of `run_lanes`, PTX type, constants of interest). Signalling NaNs of f64 are ptxas's
# own affair.
OPERANDS = {
    "r": ("r", "b32", INTEGERS_32),
    "d": ("d", "b64", INTEGERS_64),
    "f": ("r", "f32", _signed("f32", 1 << 31)),
    "g": ("d", "f64", _signed("f64", 1 << 63)),
    "s": ("h", "b16", tuple(value & 0xFFFF for value in INTEGERS_32)),
}
# (result, sources): instructions that ptxas 13.0 computes on constants.
INSTRUCTIONS = {
    "r r": "abs.s32 neg.s32 not.b32 cnot.b32 popc.b32 clz.b32 brev.b32 bfind.s32 bfind.u32 bfind.shiftamt.s32 "
        "bfind.shiftamt.u32",
    "r d": "popc.b64 clz.b64",
    "d d": "abs.s64 neg.s64 brev.b64",
    "r rr": "add.s32 sub.s32 mul.lo.s32 mul.hi.s32 mul.hi.u32 min.s32 max.u32 and.b32 or.b32 xor.b32 shl.b32 shr.u32 "
        "shr.s32 add.sat.s32 "
    "sub.sat.s32 mul24.lo.s32 mul24.lo.u32 mul24.hi.s32 mul24.hi.u32 div.u32",
    "d rr": "mul.wide.s32 mul.wide.u32",
    "r rrr": "mad.lo.s32 mad24.lo.s32 mad24.hi.s32 mad24.hi.u32 mad24.hi.sat.s32 bfe.s32 bfe.u32 shf.l.clamp.b32 "
        "shf.l.wrap.b32 "
    "shf.r.clamp.b32 shf.r.wrap.b32 slct.b32.s32",
    "r rrrr": "bfi.b32",
    "d dd": "add.s64 sub.s64 mul.lo.s64 min.s64 max.u64",
    "d ddd": "mad.lo.s64",
    "d dr": "shl.b64 shr.u64 shr.s64",
    "s ss": "add.s16 mul.lo.s16 mul.hi.s16 mul.hi.u16 min.s16 max.u16",
    "s sr": "shl.b16 shr.s16 shr.u16",
    "f f": "abs.f32 neg.f32 abs.ftz.f32 neg.ftz.f32 ex2.approx.f32 ex2.approx.ftz.f32 lg2.approx.f32 "
        "lg2.approx.ftz.f32 sin.approx.f32 "
    "sin.approx.ftz.f32 cos.approx.f32 rcp.approx.f32 rcp.approx.ftz.f32 rsqrt.approx.f32 rsqrt.approx.ftz.f32 "
        "sqrt.approx.f32 "
    "sqrt.approx.ftz.f32 cvt.sat.f32.f32 cvt.ftz.f32.f32 cvt.rni.f32.f32 cvt.rzi.f32.f32 cvt.rmi.f32.f32 "
        "cvt.rpi.f32.f32 "
    "cvt.rni.ftz.f32.f32 cvt.rmi.ftz.f32.f32 cvt.rpi.sat.f32.f32",
    "f ff": "add.rn.f32 add.rn.ftz.f32 mul.rn.f32 mul.rn.ftz.f32 min.f32 max.f32 min.ftz.f32 max.ftz.f32 "
        "div.approx.f32 "
    "div.approx.ftz.f32 div.full.f32 div.full.ftz.f32",
    "f fff": "slct.f32.f32 slct.ftz.f32.f32",
    "f r": "cvt.rn.f32.s32 cvt.rn.f32.u32",
    "g f": "cvt.f64.f32 cvt.ftz.f64.f32 cvt.sat.f64.f32",
    "g g": "abs.f64 neg.f64 cvt.rni.f64.f64 cvt.rzi.f64.f64 cvt.rmi.f64.f64 cvt.rpi.f64.f64",
    "f g": "cvt.rn.f32.f64 cvt.rn.sat.f32.f64 cvt.rn.ftz.f32.f64",
    "r g": "cvt.rzi.s32.f64 cvt.rzi.u32.f64 cvt.rni.s32.f64",
    "d g": "cvt.rzi.s64.f64 cvt.rzi.u64.f64 cvt.rni.s64.f64",
    "r f": "cvt.rzi.s32.f32 cvt.rzi.u32.f32 cvt.rni.s32.f32 cvt.rzi.ftz.s32.f32 cvt.rzi.ftz.u32.f32",
    "d f": "cvt.rzi.s64.f32 cvt.rzi.u64.f32",
    **{f"r {t[0]}{t[0]}": " ".join(f"set.{name}{t[1:]}" for name in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu",
        "ltu", "leu", "gtu", "geu",
       "num", "nan")) for t in ("f.u32.f32", "g.u32.f64")},
}  # fmt: skip
PAIRS = [(name, *kinds.split()) for kinds, names in INSTRUCTIONS.items() for name in names.split()]


def operands(name: str, kinds: str) -> list[list[int]]:
    """CASES rows of operands: special ones, and every third at random."""
    rng = random.Random(name)
    rows = []
    for case in range(CASES):
        row = []
        for kind in kinds:
            _, t, specials = OPERANDS[kind]
            row.append(rng.choice(specials) if case % 3 else rng.getrandbits(int(t[1:])))
        rows.append(row)
    return rows


def emulated(name: str, result: str, kinds: str, rows: list[list[int]]) -> list[int]:
    registers = [f"{OPERANDS[kind][0]}{k + 1}" for k, kind in enumerate(kinds)]
    given = {
        register: np.array(column, np.uint64)
        for register, column in zip(registers, zip(*rows, strict=True), strict=True)
    }
    ((found,),) = run_lanes([f"{name} {OPERANDS[result][0]}0, {', '.join(registers)}"], given)
    return found.tolist()


def is_nan(kind: str, bits: int) -> bool:
    nbits, infinity = {"f": (31, 0x7F800000), "g": (63, 0x7FF0 << 48)}.get(kind, (0, 0))
    return bits & (1 << nbits) - 1 > infinity


def literal(value: int, t: str) -> str:
    return {"f32": f"0f{value:08X}", "f64": f"0d{value:016X}"}.get(t, hex(value))


def kernel(label: str, name: str, result: str, kinds: str, cases: list[tuple[list[int], int]]) -> str:
    """Stores if one of the cases (operands, result) does not hold."""
    t = OPERANDS[result][1]
    nbits = int(t[1:])
    lines = [
        f".visible .entry {label}(.param .u64 out)\n{{",
        ".reg .pred %p; .reg .b64 %a; .reg .b32 %sum; mov.u32 %sum, 0;",
    ]
    for case, (row, wanted) in enumerate(cases):
        names = [f"%x{case}_{k}" for k in range(len(row))]
        for register, kind, value in zip(names, kinds, row, strict=True):
            kind = OPERANDS[kind][1]
            lines.append(f".reg .{kind} {register}; mov.{kind} {register}, {literal(value, kind)};")
        lines.append(f".reg .{t} %z{case}; .reg .b{nbits} %b{case}; .reg .b32 %t{case}; .reg .pred %p{case};")
        lines.append(f"{name} %z{case}, {', '.join(names)}; mov.b{nbits} %b{case}, %z{case};")
        lines.append(
            f"setp.ne.b{nbits} %p{case}, %b{case}, {wanted:#x}; selp.u32 %t{case}, 1, 0, %p{case}; or.b32 %sum, %sum, "
            f"%t{case};"
        )
    lines.append("setp.ne.u32 %p, %sum, 0; ld.param.u64 %a, [out]; @%p st.global.u32 [%a], %sum; ret;\n}")
    return "\n".join(lines)


def machine_code(folder: Path, kernels: list[str]) -> dict[str, bytes]:
    """Of each kernel: ELF sections .text.NAME."""
    ptxas(folder, "\n".join([".version 8.8\n.target sm_80\n.address_size 64", *kernels]), "sm_80")
    data = (folder / "k.cubin").read_bytes()
    (first,), (size, count, names) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, first + size * k) for k in range(count)]
    strings = headers[names][4]
    found = {}
    for name, _, _, _, offset, nbytes in headers:
        text = data[strings + name : data.index(b"\0", strings + name)].decode()
        if text.startswith(".text."):
            found[text.removeprefix(".text.")] = data[offset : offset + nbytes]
    return found


EMPTY = kernel("empty", "", "r", "", [])


def judged(folder: Path, found: list) -> dict[str, list[str]]:
    """Cases by what ptxas says of them: "right", "wrong", or "open" where it leaves the instruction to the machine.

    found: (name, result, kinds, cases). With another number to compare with, code that does not depend on the result
    stays the same.
    """
    kernels, texts = [EMPTY], {}
    for number, (name, result, kinds, cases) in enumerate(found):
        for k, (row, value) in enumerate(cases):
            label = f"k{number}_{k}"
            kernels += [
                kernel(label, name, result, kinds, [(row, value)]),
                kernel(label + "x", name, result, kinds, [(row, value ^ 1)]),
            ]
            texts[label] = f"{name} {', '.join(map(hex, row))}: {value:#x}"
    code = machine_code(folder, kernels)
    said: dict[str, list[str]] = {"right": [], "wrong": [], "open": []}
    for label, text in texts.items():
        verdict = (
            "right"
            if code[label] == code["empty"]
            else "wrong"
            if code[label + "x"] in (code[label], code["empty"])
            else "open"
        )
        said[verdict].append(text)
    return said


@pytest.mark.long
@needs_ptxas
def test_constants(tmp_path):
    """All cases of an instruction in one kernel; those that do not vanish one by one. ptxas leaves most NaNs to the
    machine, and the bits of those that it does compute are its host's, not the machine's."""
    kernels, found = [EMPTY], []
    for number, (name, result, kinds) in enumerate(PAIRS):
        rows = operands(name, kinds)
        cases = [
            case for case in zip(rows, emulated(name, result, kinds, rows), strict=True) if not is_nan(result, case[1])
        ]
        found.append((name, result, kinds, cases))
        kernels.append(kernel(f"k{number}", name, result, kinds, cases))
    code = machine_code(tmp_path, kernels)
    rest = [entry for number, entry in enumerate(found) if code[f"k{number}"] != code["empty"]]
    said = judged(tmp_path, rest)
    assert not said["wrong"], "\n".join(said["wrong"])
    assert len(said["open"]) < 0.1 * CASES * len(PAIRS), "\n".join(said["open"])


@needs_ptxas
def test_verdicts(tmp_path):
    cases = [([2, 3], 5), ([2, 3], 6), ([2, 3], 4)]
    said = judged(tmp_path, [("add.s32", "r", "rr", cases)])
    assert said == {
        "right": ["add.s32 0x2, 0x3: 0x5"],
        "wrong": ["add.s32 0x2, 0x3: 0x6", "add.s32 0x2, 0x3: 0x4"],
        "open": [],
    }
    assert judged(tmp_path, [("tanh.approx.f32", "f", "f", [([0], 0)])])["open"]
