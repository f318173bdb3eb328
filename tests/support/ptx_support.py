"""PTX texts for tests, and what runs them: the assembler's stages, ptxas where it is installed, the emulator."""

import re
import struct
import subprocess
from pathlib import Path

import numpy as np

from gpuprof.assemble import assemble as assembler
from gpuprof.compile.module import PtxModule
from gpuprof.device.commands import Launch
from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import load
from gpuprof.emulate.run import emulate
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.isa.opcodes import TABLE
from gpuprof.isa.program import Program
from tests.support.emulate_harness import CHIP, EXECUTED
from tests.support.nvidia_tools import PTXAS


def preamble(target: str, version: str = "8.7") -> str:
    return f".version {version}\n.target {target}\n.address_size 64\n"


PREAMBLE = preamble("sm_90", "8.8")
KERNEL = (
    PREAMBLE
    + """\
.global .align 4 .u32 gvar = 7;
.global .align 8 .b8 garr[64];
.const .align 4 .f32 carr[4] = {0f3F800000, 0f40000000, 0f40400000, 0f40800000};
.shared .align 16 .b8 sarr[256];
.visible .entry k(.param .u64 p0, .param .u32 p1, .param .f32 p2, .param .u64 p3)
{
    .reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .f32 %f<8>; .reg .f64 %fd<8>;
    .local .align 8 .b8 loc[32];
"""
)


def ptx_module(text: str, **fields) -> PtxModule:
    given = {"name": "k.ptx", "ptx": text, "sources": {}, "display": {}, "compiler": "test", "arch": "sm_80"} | fields
    return PtxModule(**given)


def kernel_text(body: str) -> str:
    """A kernel `k` around some instructions; line 12 is the first of them."""
    return f"{KERNEL}{body}\n    ret;\n}}\n"


def assemble_text(text: str, **options) -> Program:
    return assembler.assemble_program(ptx_module(text), **options)


def ptxas(folder: Path, text: str, arch: str = "sm_90", *flags: str) -> str:
    """What ptxas -v says about a text; fails the test when it does not accept it."""
    path = folder / "k.ptx"
    path.write_text(text)
    done = subprocess.run(
        [PTXAS, "-v", f"-arch={arch}", *flags, str(path), "-o", str(folder / "k.cubin")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def ptxas_registers(folder: Path, text: str, arch: str = "sm_80") -> dict[str, int]:
    said = ptxas(folder, text, arch)
    return {
        name: int(n) for name, n in re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", said, re.S)
    }


def run_kernel(
    program: Program,
    name: str,
    arguments: list,
    grid: int | tuple[int, int, int] = 1,
    block: int = 32,
    dynamic_shared_nbytes: int = 0,
    max_warp_instructions: int = 2_000_000,
    cluster: tuple[int, int, int] = (1, 1, 1),
) -> list[bytes]:
    """The arrays among the arguments after the kernel ran; arguments are arrays, ints (s32 or s64), floats (f32), and
    functions that give the bytes of a parameter from the addresses of the arrays so far."""
    memory = AddressSpace()
    module = load(program, memory)
    function = next(f for f in program.functions if f.is_kernel and name in f.name)
    params = b""
    arrays = []
    for param, argument in zip(function.params, arguments, strict=True):
        params = params.ljust(param.offset, b"\0")
        if isinstance(argument, np.ndarray):
            allocation = memory.allocate(argument.nbytes, param.name)
            memory.write(allocation.address, argument)
            arrays.append((allocation.address, argument.nbytes))
            argument = allocation.address
        if callable(argument):
            params += argument([address for address, _ in arrays])
            continue
        params += struct.pack("<f" if isinstance(argument, float) else {4: "<i", 8: "<q"}[param.nbytes], argument)
    launch = Launch(
        0,
        module,
        function,
        (grid, 1, 1) if isinstance(grid, int) else grid,
        (block, 1, 1),
        dynamic_shared_nbytes,
        params,
        0,
        name,
        cluster,
    )
    counters = LaunchCounters.zeros(len(module.code))
    for _ in emulate(launch, memory, chip=CHIP, max_warp_instructions=max_warp_instructions, counters=counters):
        pass
    EXECUTED.update(TABLE[number].name for number in module.code["opcode"][counters.inst_executed > 0])
    return [memory.read(address, nbytes) for address, nbytes in arrays]
