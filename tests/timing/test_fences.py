"""Fences and the L1: what other SMs have written is seen behind them, so nothing in the L1 is found there."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gpuprof.chips import load_chip
from gpuprof.importers.disassembly import find_nvdisasm
from gpuprof.isa.encoding import decode, encode
from gpuprof.isa.modifiers import pack
from gpuprof.isa.printing.text import disassemble
from tests.readable.timing import ledger_of, time_launch
from tests.support.ptx_support import assemble_text
from tests.support.timing_support import access, launch, make, run, warp

A64 = 1 << 6
LOAD, EXIT = make("LDG.32", dst=1, a=20, mods=A64), make("EXIT")
NEEDS_PTXAS = pytest.mark.skipif(
    not (shutil.which("ptxas") and find_nvdisasm()), reason="ptxas or nvdisasm is not installed"
)
KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.global.v2.u32 {{%r2, %r3}}, [%rd1+8];
    {ptx};
    st.global.u32 [%rd1+4], %r1;
    ret;
}}
"""
# What the warp does between two loads of the same sectors, whether it empties the L1, and ptxas' code for that in PTX.
BETWEEN = {
    "membar.cta": (make("MEMBAR", mods=pack(scope="cta")), False),
    "membar.gl": (make("MEMBAR", mods=pack(scope="gpu")), True),
    "membar.sys": (make("MEMBAR", mods=pack(scope="sys")), True),
    "fence.acq_rel.gpu": (make("MEMBAR", mods=pack(scope="gpu")), True),
    "ld.acquire.gpu.global.u32 %r1, [%rd1]": (
        make("LDG.32", dst=3, a=22, mods=A64 | pack(sem="acquire", scope="gpu")), True),
    "ld.acquire.cta.global.u32 %r1, [%rd1]": (
        make("LDG.32", dst=3, a=22, mods=A64 | pack(sem="acquire", scope="cta")), False),
    "ld.relaxed.gpu.global.u32 %r1, [%rd1]": (
        make("LDG.32", dst=3, a=22, mods=A64 | pack(sem="relaxed", scope="gpu")), False),
    "ld.volatile.global.u32 %r1, [%rd1]": (make("LDG.32", dst=3, a=22, mods=A64 | pack(sem="volatile")), False),
    "atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1": (
        make("ATOMG.ADD.U32", dst=3, a=22, b=8, mods=A64 | pack(sem="relaxed", scope="gpu")), False),
    "atom.acquire.gpu.global.add.u32 %r1, [%rd1], 1": (
        make("ATOMG.ADD.U32", dst=3, a=22, b=8, mods=A64 | pack(sem="acquire", scope="gpu")), True),
    "atom.acq_rel.gpu.global.add.u32 %r1, [%rd1], 1": (
        make("ATOMG.ADD.U32", dst=3, a=22, b=8, mods=A64 | pack(sem="acq_rel", scope="gpu")), True),
    "atom.acq_rel.cta.global.add.u32 %r1, [%rd1], 1": (
        make("ATOMG.ADD.U32", dst=3, a=22, b=8, mods=A64 | pack(sem="acq_rel", scope="cta")), False),
    "fence of a release": (make("MEMBAR", mods=pack(sem="release", scope="gpu")), False),
    "atom.release.gpu.global.add.u32 %r1, [%rd1], 1": (
        make("ATOMG.ADD.U32", dst=3, a=22, b=8, mods=A64 | pack(sem="release", scope="gpu")), False),
}  # fmt: skip


@pytest.mark.parametrize("ptx", BETWEEN)
def test_hits_behind_a_fence(tmp_path: Path, ptx):
    path = tmp_path / "chip.toml"
    path.write_text('inherits = "a100"\nsms = 2\n')
    chip = load_chip(path)
    between, empties = BETWEEN[ptx]
    wait = make("FFMA", dst=2, a=1, b=3, c=1)
    code = [LOAD, wait, between, wait, LOAD, wait, EXIT]
    theirs = [access([400])] if between.op.space else []
    warps = [warp([0], [access(range(4)), *theirs, access(range(4))])]
    timing, _ = run(chip, code, warps)
    assert timing.l1_hits == (0 if empties else 4)
    job = launch(encode(code))
    twin = time_launch(chip, job.module.code, job.module.load_base, job.function, 32, warps)
    assert ledger_of(timing) == dict(twin.ledger)
    assert (timing.end_cycle, timing.l1_hits) == (twin.end, twin.counts["l1_hits"])


# An access, and the scope of the fence in front of it, if there is one.
RELEASING = {
    "st.release.gpu.global.u32 [%rd1], %r2": "GPU",
    "st.release.cta.global.u32 [%rd1], %r2": "CTA",
    "st.relaxed.gpu.global.u32 [%rd1], %r2": "",
    "st.release.sys.global.v2.u32 [%rd1], {%r2, %r2}": "SYS",
    "red.release.gpu.global.add.u32 [%rd1], %r2": "GPU",
    "red.relaxed.gpu.global.add.u32 [%rd1], %r2": "",
    "atom.release.cta.global.exch.b32 %r1, [%rd1], %r2": "CTA",
    "atom.acq_rel.gpu.global.cas.b32 %r1, [%rd1], %r2, %r3": "GPU",
    "atom.acq_rel.sys.global.add.u32 %r1, [%rd1], %r2": "SYS",
    "atom.acquire.gpu.global.add.u32 %r1, [%rd1], %r2": "",
    "atom.add.global.u32 %r1, [%rd1], %r2": "",
    "atom.release.cta.shared.add.u32 %r1, [%r2], %r3": "CTA",
}


@pytest.mark.parametrize("ptx", RELEASING)
def test_a_fence_stands_before_what_releases(ptx):
    """And it does not empty the L1, as test_hits_behind_a_fence has it of the access."""
    program = assemble_text(KERNEL.format(ptx=ptx))
    fences = [line for line in map(disassemble, map(decode, program.code)) if "MEMBAR" in line]
    assert fences == ([f"MEMBAR.RELEASE.{RELEASING[ptx]}"] if RELEASING[ptx] else [])


@NEEDS_PTXAS
@pytest.mark.parametrize("ptx", RELEASING)
def test_ptxas_has_a_fence_there(tmp_path: Path, ptx):
    fences = re.findall(r"MEMBAR\.ALL\.(\w+)", ptxas_code(tmp_path, ptx))
    assert fences == ([RELEASING[ptx]] if RELEASING[ptx] else [])


@NEEDS_PTXAS
@pytest.mark.parametrize("ptx", [ptx for ptx in BETWEEN if ptx != "fence of a release"])
def test_ptxas_empties_the_l1_there(tmp_path: Path, ptx):
    """CCTL.IVALL in ptxas' code for it."""
    assert ("CCTL.IVALL" in ptxas_code(tmp_path, ptx)) == BETWEEN[ptx][1]


def ptxas_code(folder: Path, ptx: str) -> str:
    """ptxas' code for a kernel with one instruction."""
    source, cubin = folder / "k.ptx", folder / "k.cubin"
    source.write_text(KERNEL.format(ptx=ptx))
    subprocess.run(["ptxas", "-arch=sm_80", source, "-o", cubin], check=True)
    return subprocess.run([find_nvdisasm(), cubin], check=True, capture_output=True, text=True).stdout


def test_a_fence_of_the_device_takes_a_way_to_the_l2(tmp_path: Path):
    path = tmp_path / "chip.toml"
    path.write_text('inherits = "rtx3090"\nsms = 1\n')
    chip = load_chip(path)
    timing, _ = run(chip, [make("MEMBAR", mods=pack(scope="gpu")), EXIT], [warp([0])])
    assert ledger_of(timing)[0, "membar"] == chip.membar_l2_cycles - 1
