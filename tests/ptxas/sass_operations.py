"""Issue slots of one operation in real machine code: `python -m tests.ptxas.sass_operations`.

A kernel that does the operation, less the same kernel with an addition (one slot for 32 bits, two for integers of 64),
both on `sass_machine`: what is executed on ordinary operands, not what stands in the text. Where the machine knows an
instruction too little, the row is left out. Then the slots of a division of floats whose operands take slow paths.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from gpuprof.isa.opcodes import BY_NAME
from tests.ptxas import sass_machine
from tests.ptxas.sass_slots import machine_code

OPERATIONS = {  # our row -> the PTX
    "FDIV": "div.rn.f32", "FRCP": "rcp.rn.f32", "FSQRT": "sqrt.rn.f32", "IDIV.U32": "div.u32", "IREM.U32": "rem.u32",
    "IDIV.S32": "div.s32",
    "IREM.S32": "rem.s32", "IDIV.U64": "div.u64", "IREM.U64": "rem.u64", "IDIV.S64": "div.s64", "IREM.S64": "rem.s64",
    "DDIV": "div.rn.f64", "DRCP": "rcp.rn.f64", "DSQRT": "sqrt.rn.f64",
    "FDIV.FULL": "div.full.f32", "FDIV.APPROX": "div.approx.f32", "IMUL.64": "mul.lo.s64", "IMULHI.U64": "mul.hi.u64",
    "IMULHI.S64": "mul.hi.s64",
    "IMIN.S64": "min.s64", "SHL.64": "shl.b64", "SHR.S64": "shr.s64", "CLZ": "clz.b32", "POPC": "popc.b32",
    "BREV": "brev.b32",
}  # fmt: skip
_UNARY = ("rcp", "sqrt", "clz", "popc", "brev", "mov")
_FLOATS = {"f32": np.float32, "f64": np.float64}
BASE = 1 << 20
SLOW = ((0, 0), (1, 0), (float("inf"), 2), (float("nan"), 1), (1e30, 1e-20), (1e-20, 1e20), (1e-40, 3))


def kernel(ptx: str) -> str:
    kind = ptx.rsplit(".", 1)[1]
    bits = f"b{kind[1:]}"
    name = {"b32": "%w", "b64": "%d"}[bits]
    second = "" if ptx.startswith(_UNARY) else ", %r1" if ptx.startswith("sh") else f", {name}1"
    return f"""\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{{
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .b32 %w<4>; .reg .b64 %d<4>;
    ld.param.u64 %rd0, [p];
    mov.u32 %r0, %tid.x;
    and.b32 %r1, %r0, 7;
    mul.wide.u32 %rd1, %r0, 32;
    add.u64 %rd0, %rd0, %rd1;
    ld.global.{bits} {name}0, [%rd0];
    ld.global.{bits} {name}1, [%rd0+8];
    {ptx} {name}2, {name}0{second};
    st.global.{bits} [%rd0+16], {name}2;
    ret;
}}
"""


def executed(ptx: str, folder: Path, pair: tuple[float, float] | None = None) -> int:
    """Slots of the kernel; all lanes with the same `pair` of operands, else each with ordinary ones of its own."""
    kind = ptx.rsplit(".", 1)[1]
    memory = np.zeros(32 * 32, np.uint8)
    values = np.random.default_rng(1).integers(1, 30000, (2, 32)) * [[1000], [1]]
    rows = np.repeat([pair], 32, 0).T if pair else values
    dtype = _FLOATS.get(kind, np.int64 if kind.endswith("64") else np.int32)
    for offset, row in ((0, rows[0]), (8, rows[1])):
        for lane in range(32):
            raw = np.array(row[lane], dtype).tobytes()
            memory[32 * lane + offset : 32 * lane + offset + len(raw)] = np.frombuffer(raw, np.uint8)
    launch = sass_machine.Grid((1, 1, 1), (32, 1, 1), BASE.to_bytes(8, "little"), 0, 4096, memory, BASE, {})
    return int(sass_machine.run(machine_code(kernel(ptx), folder)["k"], launch).sum())


def slots(ptx: str, folder: Path) -> int:
    kind = ptx.rsplit(".", 1)[1]
    if ptx.startswith(_UNARY):  # beside a copy, which takes no slot
        return executed(ptx, folder) - executed(f"mov.b{kind[1:]}", folder)
    add = (
        "add.f64" if kind == "f64" else "add.f32" if kind == "f32" else "add.s64" if kind.endswith("64") else "add.s32"
    )
    return executed(ptx, folder) - executed(add, folder) + (2 if add == "add.s64" else 1)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, ptx in OPERATIONS.items():
            try:
                print(
                    f"{name:12} {ptx:14} ours {BY_NAME[name].slots:3}  theirs {slots(ptx, Path(folder)):3}", flush=True
                )
            except (sass_machine.Unknown, AssertionError) as error:
                print(f"{name:12} {ptx:14} {type(error).__name__} {error}", file=sys.stderr)
        beside = executed("add.f32", Path(folder)) - 1
        for pair in SLOW:
            print(f"div.rn.f32 of {pair}: {executed('div.rn.f32', Path(folder), pair) - beside}")


if __name__ == "__main__":
    main()
