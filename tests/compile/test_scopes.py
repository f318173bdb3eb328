"""Scopes of atomics, from CUDA C++ to PTX."""

import re

from gpuprof.compile import compile_cuda
from tests.support.nvidia_tools import needs_ptxas
from tests.support.ptx_support import ptxas

SOURCE = """\
#define BOTH(p) atomicAdd_block(p, 1); atomicAdd(p, 1)
__device__ int again(int *p) { return atomicAdd_block(p, 1); }
extern "C" __global__ void k(int *x, unsigned long long *l, float *f, unsigned short *h)
{
    x[64] = atomicAdd_block(x, 1) + atomicAdd_system(x + 1, 1) + atomicAdd(x + 2, 1) + again(x + 3);
    BOTH(x + 4);
    atomicExch_block(f, 1.f);
    atomicMax_block(l, 3ull);
    x[65] = atomicCAS_block(x + 6, 1, 2) + atomicCAS_system(x + 7, 1, 2);
    if (x[9]) x[66] = atomicCAS_block(h, (unsigned short)1, (unsigned short)2);
}
"""
ATOMICS = [
    *("atom.cta.global.add.u32", "atom.sys.global.add.u32", "atom.global.add.u32", "atom.cta.global.add.u32"),
    *("atom.cta.global.add.u32", "atom.global.add.u32", "atom.cta.global.exch.b32", "atom.cta.global.max.u64"),
    *("atom.relaxed.cta.global.cas.b32", "atom.relaxed.sys.global.cas.b32", "atom.relaxed.cta.global.cas.b32"),
]


def compiled(folder, source: str, level: int) -> str:
    path = folder / "k.cu"
    path.write_text(source)
    return compile_cuda(path, optimize=level).ptx


def test_scopes_are_kept(tmp_path):
    """Also of two atomics at one place of the source; without them the code is the same."""
    text = compiled(tmp_path, SOURCE, 3)
    plain = compiled(tmp_path, re.sub(r"_(block|system)\b", "", SOURCE), 3)
    assert re.findall(r"^\t(?:@!?%p\d+ )?((?:atom|red)\.\S+)", text, re.MULTILINE) == ATOMICS
    assert without_scopes(text) == without_scopes(plain)


def test_scopes_are_kept_without_optimization(tmp_path):
    text = compiled(tmp_path, SOURCE, 0)
    assert text.count("atom.cta") + text.count("atom.relaxed.cta") == 7


def without_scopes(text: str) -> list[str]:
    lines = re.sub(r"(atom(?:\.relaxed)?)\.(?:cta|sys|gpu)", r"\1", text).split("\n")
    return [line for line in lines if line.startswith("\t") and not line.startswith("\t.loc")]


@needs_ptxas
def test_ptxas_takes_them(tmp_path):
    ptxas(tmp_path, compiled(tmp_path, SOURCE, 3), "sm_80")
