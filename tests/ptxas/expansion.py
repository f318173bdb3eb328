"""What ptxas makes of single PTX operations: writes tests/ptxas/expansion.csv, run as `python -m tests.ptxas.expansion`
(needs ptxas and nvdisasm).

Each operation stands in a kernel of its own, between volatile loads and a volatile store whose addresses were loaded
and differ by lane, so that nothing around it changes and nothing is uniform; what it takes is the kernel's length less
that of a kernel that stores a source. Instructions out of line are counted apart: slow paths of divisions and roots,
and subroutines. The file is for machines without these tools, and fixes which version is compared with.
"""

import csv
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.ptxas.sass_slots import find_nvdisasm
from tests.support.nvidia_tools import PTXAS

TABLE = Path(__file__).parent / "expansion.csv"
ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")

# Kinds of results, each with the operations that have one; r: 32 bits, d: 64, f and g: floats, h: 16 bits; -: none.
OPERATIONS = {
    "r": """add.s32 %r9, %r1, %r2|mul.lo.s32 %r9, %r1, %r2|mul.hi.u32 %r9, %r1, %r2|mad.lo.s32 %r9, %r1, %r2, %r3|abs.s32 %r9, %r1|sad.u32 %r9, %r1, %r2, %r3
        min.s32 %r9, %r1, %r2|and.b32 %r9, %r1, %r2|shl.b32 %r9, %r1, %r2|shr.s32 %r9, %r1, %r2|cnot.b32 %r9, %r1|prmt.b32 %r9, %r1, %r2, %r3
        bfe.u32 %r9, %r1, %r2, %r3|bfe.s32 %r9, %r1, %r2, %r3|bfi.b32 %r9, %r1, %r2, %r3, %r4|popc.b32 %r9, %r1|clz.b32 %r9, %r1|brev.b32 %r9, %r1|bfind.u32 %r9, %r1
        popc.b64 %r9, %d1|clz.b64 %r9, %d1|bfind.u64 %r9, %d1|bfind.s64 %r9, %d1|shf.l.wrap.b32 %r9, %r1, %r2, %r3|lop3.b32 %r9, %r1, %r2, %r3, 0x1e
        div.s32 %r9, %r1, %r2|div.u32 %r9, %r1, %r2|rem.s32 %r9, %r1, %r2|rem.u32 %r9, %r1, %r2|dp4a.u32.u32 %r9, %r1, %r2, %r3|dp2a.lo.u32.u32 %r9, %r1, %r2, %r3
        setp.lt.s32 %p1, %r1, %r2; selp.b32 %r9, %r3, %r4, %p1|setp.lt.s64 %p1, %d1, %d2; selp.b32 %r9, %r3, %r4, %p1|setp.lt.f32 %p1, %f1, %f2; selp.b32 %r9, %r3, %r4, %p1
        setp.lt.f64 %p1, %g1, %g2; selp.b32 %r9, %r3, %r4, %p1|testp.finite.f32 %p1, %f1; selp.b32 %r9, %r3, %r4, %p1|testp.finite.f64 %p1, %g1; selp.b32 %r9, %r3, %r4, %p1
        isspacep.shared %p1, %d1; selp.b32 %r9, %r3, %r4, %p1|isspacep.local %p1, %d1; selp.b32 %r9, %r3, %r4, %p1|isspacep.global %p1, %d1; selp.b32 %r9, %r3, %r4, %p1
        cvt.rzi.s32.f32 %r9, %f1|cvt.rzi.s32.f64 %r9, %g1|cvt.u32.u8 %r9, %r1|cvt.rna.tf32.f32 %r9, %f1|cvt.rn.f16x2.f32 %r9, %f1, %f2|add.rn.f16x2 %r9, %r1, %r2
        fma.rn.f16x2 %r9, %r1, %r2, %r3|atom.shared.add.u32 %r9, [%r4], %r1|atom.shared.cas.b32 %r9, [%r4], %r1, %r2|shfl.sync.bfly.b32 %r9, %r1, 1, 31, -1
        match.any.sync.b32 %r9, %r1, -1|redux.sync.add.s32 %r9, %r1, -1|mov.u32 %r9, %laneid|mov.u32 %r9, %smid|mov.u32 %r9, %lanemask_lt|activemask.b32 %r9
        setp.lt.s32 %p1, %r1, %r2; vote.sync.ballot.b32 %r9, %p1, -1|setp.lt.s32 %p1, %r1, %r2; vote.sync.any.pred %p1, %p1, -1; selp.b32 %r9, %r3, %r4, %p1
        div.u32 %r9, %r1, 7|rem.u32 %r9, %r1, 7|div.s32 %r9, %r1, 7|rem.s32 %r9, %r1, 7|bfe.u32 %r9, %r1, 3, 7|bfe.s32 %r9, %r1, 3, 7|bfi.b32 %r9, %r1, %r2, 3, 7
        setp.lt.s32 %p1, %r1, %r2; bar.red.popc.u32 %r9, 0, %p1""",  # noqa: E501
    "d": """add.s64 %d9, %d1, %d2|sub.s64 %d9, %d1, %d2|neg.s64 %d9, %d1|abs.s64 %d9, %d1|mul.lo.s64 %d9, %d1, %d2|mad.lo.s64 %d9, %d1, %d2, %d3
        mul.hi.s64 %d9, %d1, %d2|mul.hi.u64 %d9, %d1, %d2|min.s64 %d9, %d1, %d2|max.u64 %d9, %d1, %d2|setp.lt.s32 %p1, %r1, %r2; selp.b64 %d9, %d1, %d2, %p1
        and.b64 %d9, %d1, %d2|not.b64 %d9, %d1|cnot.b64 %d9, %d1|shl.b64 %d9, %d1, %r2|shr.u64 %d9, %d1, %r2|shr.s64 %d9, %d1, %r2|bfe.u64 %d9, %d1, %r2, %r3
        bfe.s64 %d9, %d1, %r2, %r3|bfi.b64 %d9, %d1, %d2, %r2, %r3|brev.b64 %d9, %d1|mul.wide.s32 %d9, %r1, %r2|cvt.s64.s32 %d9, %r1|cvt.rzi.s64.f32 %d9, %f1
        div.s64 %d9, %d1, %d2|div.u64 %d9, %d1, %d2|rem.s64 %d9, %d1, %d2|rem.u64 %d9, %d1, %d2|atom.shared.add.u64 %d9, [%r4], %d1|atom.shared.max.u64 %d9, [%r4], %d1
        bfe.u64 %d9, %d1, 3, 7|bfi.b64 %d9, %d1, %d2, 3, 7|mov.b64 %d9, 0x123456789abcdef
        atom.shared.cas.b64 %d9, [%r4], %d1, %d2|mov.u64 %d9, %clock64|mov.u64 %d9, %globaltimer|cvta.to.shared.u64 %d9, %d1|cvta.shared.u64 %d9, %d1""",  # noqa: E501
    "f": """add.f32 %f9, %f1, %f2|fma.rn.f32 %f9, %f1, %f2, %f3|min.f32 %f9, %f1, %f2|ex2.approx.f32 %f9, %f1|ex2.approx.ftz.f32 %f9, %f1|lg2.approx.f32 %f9, %f1
        sin.approx.f32 %f9, %f1|cos.approx.f32 %f9, %f1|rcp.approx.f32 %f9, %f1|rcp.approx.ftz.f32 %f9, %f1|rsqrt.approx.f32 %f9, %f1|sqrt.approx.f32 %f9, %f1
        tanh.approx.f32 %f9, %f1|div.approx.f32 %f9, %f1, %f2|div.approx.ftz.f32 %f9, %f1, %f2|div.full.f32 %f9, %f1, %f2|div.rn.f32 %f9, %f1, %f2|rcp.rn.f32 %f9, %f1
        sqrt.rn.f32 %f9, %f1|cvt.rn.f32.s64 %f9, %d1|cvt.rn.f32.s32 %f9, %r1|cvt.rn.f32.f64 %f9, %g1|cvt.rni.f32.f32 %f9, %f1|cvt.f32.f16 %f9, %h1
        copysign.f32 %f9, %f1, %f2|atom.shared.add.f32 %f9, [%r4], %f1""",  # noqa: E501
    "g": """add.f64 %g9, %g1, %g2|fma.rn.f64 %g9, %g1, %g2, %g3|min.f64 %g9, %g1, %g2|abs.f64 %g9, %g1|neg.f64 %g9, %g1|copysign.f64 %g9, %g1, %g2|cvt.rn.f64.s64 %g9, %d1
        cvt.f64.f32 %g9, %f1|cvt.rni.f64.f64 %g9, %g1|cvt.sat.f64.f64 %g9, %g1|cvt.sat.f64.f32 %g9, %f1|div.rn.f64 %g9, %g1, %g2|rcp.rn.f64 %g9, %g1|sqrt.rn.f64 %g9, %g1|atom.shared.add.f64 %g9, [%r4], %g1""",  # noqa: E501
    "h": "mul.lo.s16 %h9, %h1, %h2|add.s16 %h9, %h1, %h2",
    "-": "membar.cta|membar.gl|membar.sys|bar.sync 0|nanosleep.u32 100",
}  # fmt: skip
TYPES = {"r": "b32", "d": "b64", "f": "f32", "g": "f64", "h": "b16"}
NOT_THERE = {"sm_75": ("redux", "tf32", "cvt.rn.f16x2")}


class Operation(NamedTuple):
    result: str
    ptx: str


class Row(NamedTuple):
    """Instructions in line and out of line on each architecture; -1: the architecture does not have the operation."""

    ptx: str
    inline: dict[str, int]
    out_of_line: dict[str, int]


def operations() -> list[Operation]:
    found = []
    for result, text in OPERATIONS.items():
        found += [Operation(result, ptx.strip()) for line in text.splitlines() for ptx in line.split("|")]
    return found


def kernel(name: str, operation: Operation) -> str:
    """A kernel that loads four operands of each type and stores the operation's result. Without one it stores the first
    operand.
    """
    result = "r" if operation.result == "-" else operation.result
    stored = 1 if not operation.ptx or operation.result == "-" else 9
    lines = [f".visible .entry {name}(.param .u64 p) {{"]
    lines += [f".reg .{kind} %{letter}<10>;" for letter, kind in TYPES.items()]
    lines += [".reg .pred %p<4>;", ".reg .b64 %in, %out;", ".reg .b32 %lane;", "ld.param.u64 %in, [p];",
        "ld.volatile.global.u64 %out, [%in];", "ld.volatile.global.u64 %in, [%in+8];",
              "mov.u32 %lane, %tid.x;", "mad.wide.u32 %in, %lane, 2048, %in;",
              "mad.wide.u32 %out, %lane, 2048, %out;"]  # fmt: skip
    for place, (letter, kind) in enumerate(TYPES.items()):
        lines += [f"ld.volatile.global.{kind} %{letter}{k}, [%in+{64 * place + 8 * k}];" for k in (1, 2, 3, 4)]
    lines += [f"{operation.ptx};" if operation.ptx else ""]
    return "\n".join([*lines, f"st.volatile.global.{TYPES[result]} [%out], %{result}{stored};", "ret;", "}"])


def module(arch: str, kernels: list[str]) -> str:
    return (
        f".version 8.7\n.target {arch}\n.address_size 64\n.shared .align 16 .b8 sm[64];\n" + "\n".join(kernels) + "\n"
    )


def disassembled(ptx: str, arch: str, folder: Path) -> dict[str, list[str]]:
    """The instructions of each kernel, without what only fills up the section."""
    path, cubin = folder / f"{arch}.ptx", folder / f"{arch}.cubin"
    path.write_text(ptx)
    subprocess.run([PTXAS, f"-arch={arch}", str(path), "-o", str(cubin)], check=True, capture_output=True)
    text = subprocess.run([find_nvdisasm(), "-c", str(cubin)], check=True, capture_output=True, text=True).stdout
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if match := re.match(r"\s*\.section\s+\.text\.(\w+)", line):
            found[match[1]] = []
        elif (match := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", line)) and not match[1].startswith("NOP"):
            list(found.values())[-1].append(match[1])
    return found


def counted(instructions: list[str]) -> tuple[int, int]:
    """Instructions up to the kernel's end, and those behind it but for the last, a jump to itself."""
    end = next(k for k, text in enumerate(instructions) if text.startswith("EXIT"))
    return end, len(instructions) - end - 2


def measure(arch: str, folder: Path) -> dict[str, tuple[int, int]]:
    wanted = [
        operation for operation in operations() if not any(word in operation.ptx for word in NOT_THERE.get(arch, ()))
    ]
    bases = {letter: Operation(letter, "") for letter in TYPES}
    kernels = [kernel(f"base_{letter}", base) for letter, base in bases.items()]
    kernels += [kernel(f"k{number}", operation) for number, operation in enumerate(wanted)]
    lengths = {name: counted(text) for name, text in disassembled(module(arch, kernels), arch, folder).items()}
    found = {}
    for number, operation in enumerate(wanted):
        inline, out_of_line = lengths[f"k{number}"]
        found[operation.ptx] = (inline - lengths[f"base_{operation.result.replace('-', 'r')}"][0], out_of_line)
    return found


def read_table() -> list[Row]:
    with TABLE.open() as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))[1:]
    n = len(ARCHITECTURES)
    return [
        Row(ptx, *(dict(zip(ARCHITECTURES, map(int, numbers[k : k + n]), strict=True)) for k in (0, n)))
        for ptx, *numbers in rows
    ]  # fmt: skip


def measure_all() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        found = {arch: measure(arch, Path(folder)) for arch in ARCHITECTURES}
    return [
        Row(ptx, *({arch: found[arch].get(ptx, (-1, -1))[k] for arch in ARCHITECTURES} for k in (0, 1)))
        for _, ptx in operations()
    ]  # fmt: skip


def installed() -> bool:
    return bool(PTXAS and find_nvdisasm())


def version() -> str:
    return (
        subprocess.run([PTXAS, "--version"], capture_output=True, text=True, check=True).stdout.strip().splitlines()[-2]
    )


def main() -> None:
    rows = measure_all()
    with TABLE.open("w") as file:
        file.write(f"# SASS instructions of one PTX operation, {version()}; written by tests/ptxas/expansion.py\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["ptx", *ARCHITECTURES, *(f"{arch} out of line" for arch in ARCHITECTURES)])
        writer.writerows([row.ptx, *row.inline.values(), *row.out_of_line.values()] for row in rows)


if __name__ == "__main__":
    main()
