"""Registers that cost an SM no warp, by architecture: ptxas keeps loads in flight up to them, and so does ours."""

import re
import subprocess

import pytest

from gpuprof.assemble.abi.limits import free_registers
from gpuprof.assemble.assemble import assemble_program
from gpuprof.compile import PtxModule
from tests.support.nvidia_tools import PTXAS, needs_ptxas

KERNEL = """\
.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 step)
{{
    .reg .b32 %r<8>; .reg .b64 %rd<100>; .reg .f32 %f<100>;
    ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out]; ld.param.u64 %rd5, [step];
    mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 4; add.u64 %rd10, %rd0, %rd2; add.u64 %rd4, %rd1, %rd2;
    mov.f32 %f0, 0f00000000;
{loads}
    st.global.f32 [%rd4], %f0;
    ret;
}}
"""
N_LOADS = 80
LOADS = "\n".join(
    f"    ld.global.f32 %f{k}, [%rd{9 + k}]; fma.rn.f32 %f0, %f{k}, %f{k}, %f0; add.u64 %rd{10 + k}, %rd{9 + k}, %rd5;"
    for k in range(1, N_LOADS + 1)
)
# Registers of the kernel by ptxas 13.0.
BY_PTXAS = {"sm_75": 64, "sm_80": 32, "sm_86": 40, "sm_89": 40, "sm_90": 32, "sm_100": 32, "sm_120": 40}


def text(target: str) -> str:
    return KERNEL.format(target=target, loads=LOADS)


@pytest.mark.parametrize(
    ("target", "registers"),
    [("sm_75", 64), ("sm_80", 32), ("sm_86", 40), ("sm_89", 40), ("sm_90a", 32), ("sm_100", 32), ("sm_120a", 40)],
)
def test_a_partition_of_512_registers_a_lane_holds_all_its_warps(target, registers):
    assert free_registers(target) == registers


@pytest.mark.parametrize("target", list(BY_PTXAS))
def test_loads_in_flight_take_what_costs_no_warp(target):
    module = PtxModule(name="k.ptx", ptx=text(target), sources={}, display={}, compiler="", arch=target)
    program = assemble_program(module)
    registers = program.kernel("k").registers
    assert registers <= free_registers(target)
    assert registers == pytest.approx(BY_PTXAS[target], abs=3)


@needs_ptxas
@pytest.mark.parametrize(("target", "registers"), list(BY_PTXAS.items()))
def test_ptxas_takes_as_many(tmp_path, target, registers):
    (tmp_path / "k.ptx").write_text(text(target))
    command = [PTXAS, "-v", f"-arch={target}", "-o", tmp_path / "k.cubin", tmp_path / "k.ptx"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    assert int(re.search(r"Used (\d+) registers", said)[1]) == registers
