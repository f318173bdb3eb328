"""Fences and the L1: what other SMs have written is seen behind them, so nothing in the L1 is found there."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gpuprof.chips import load_chip
from gpuprof.importers.disassembly import find_nvdisasm
from gpuprof.isa.encoding import encode
from gpuprof.isa.modifiers import pack
from tests.readable.timing import ledger_of, time_launch
from tests.support.timing_support import access, launch, make, run, warp

A64 = 1 << 6
LOAD, EXIT = make("LDG.32", dst=1, a=20, mods=A64), make("EXIT")
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


@pytest.mark.skipif(not (shutil.which("ptxas") and find_nvdisasm()), reason="ptxas or nvdisasm is not installed")
@pytest.mark.parametrize("ptx", BETWEEN)
def test_ptxas_empties_the_l1_there(tmp_path: Path, ptx):
    """CCTL.IVALL in ptxas' code for it."""
    text = f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    {ptx};
    st.global.u32 [%rd1+4], %r1;
    ret;
}}
"""
    source, cubin = tmp_path / "k.ptx", tmp_path / "k.cubin"
    source.write_text(text)
    subprocess.run(["ptxas", "-arch=sm_80", source, "-o", cubin], check=True)
    code = subprocess.run([find_nvdisasm(), cubin], check=True, capture_output=True, text=True).stdout
    assert ("CCTL.IVALL" in code) == BETWEEN[ptx][1]


def test_a_fence_of_the_device_takes_a_way_to_the_l2(tmp_path: Path):
    path = tmp_path / "chip.toml"
    path.write_text('inherits = "rtx3090"\nsms = 1\n')
    chip = load_chip(path)
    timing, _ = run(chip, [make("MEMBAR", mods=pack(scope="gpu")), EXIT], [warp([0])])
    assert ledger_of(timing)[0, "membar"] == chip.membar_l2_cycles - 1
