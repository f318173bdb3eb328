"""Indices and sizes of blocks have no known range, as with nvcc.

LLVM knows that %tid.x is less than 1024, so that it is not negative: `threadIdx.x / 4` of an `int` is a shift, and a
loop from threadIdx.x to 270 by 64 has at most five turns, which it writes out. The LLVM in nvcc 13.0 knows neither for
architectures before sm_100. So these registers are others of the same kind until the PTX is written, of which LLVM
knows no range: %envreg0 and so on. Code that reads some of these itself, as barriers of the grid do, stays as it is.

    %3 = call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    %3 = call noundef i32 @llvm.nvvm.read.ptx.sreg.envreg0()
"""

import re

KNOWS_RANGES = 100  # the first architecture for which nvcc's LLVM knows them

_REGISTERS = tuple(f"{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz")
_NUMBERS = {name: str(number) for number, name in enumerate(_REGISTERS)}
_READ = re.compile(r"@llvm\.nvvm\.read\.ptx\.sreg\.(n?(?:tid|ctaid)\.[xyz])\(\)(?: #\d+)?")
_RANGE = re.compile(r" range\(i32 \S+, \S+\)(?= i32 @llvm\.nvvm\.read\.ptx\.sreg\.)")
_OTHER = re.compile(r"mov\.b32( *\t*%r\d+, )%envreg(\d+);")


def hide_ranges(ir: str, arch: str) -> str:
    """Clang's IR with those other registers; as it is for architectures from KNOWS_RANGES on."""
    if int(re.sub(r"\D", "", arch)) >= KNOWS_RANGES or _reads_others(ir):
        return ir
    return _READ.sub(lambda match: f"@llvm.nvvm.read.ptx.sreg.envreg{_NUMBERS[match[1]]}()", _RANGE.sub("", ir))


def show_registers(ptx: str, ir: str) -> str:
    """PTX with the registers themselves. `ir`: what it comes from, before any of them were hidden."""
    if _reads_others(ir):
        return ptx
    return _OTHER.sub(lambda match: f"mov.u32{match[1]}%{_REGISTERS[int(match[2])]};", ptx)


def _reads_others(ir: str) -> bool:
    return "envreg" in ir
