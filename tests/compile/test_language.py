"""What public sources take from CUDA's headers without naming one, or from nvcc's leniency."""

import pytest

from gpuprof.compile import compile_cuda
from tests.support.matrices import long_from

SOURCES = {
    "macro": "#ifndef __CUDACC__\n#error\n#endif\n__global__ void k(int *p) { *p = 7; }",
    "placement new": "struct S { int x; __device__ S() : x(7) {} };\n__global__ void k(S *p) { new (p) S; }",
    "placement new, with its header": "#include <new>\n__global__ void k(int *p) { ::new ((void *)p) int(7); }",
    "register": "__global__ void k(int *p) { register int x = 7; *p = x; }",
    "address spaces": "__global__ void k(int *p) { *(int *)__cvta_global_to_generic("
    "__cvta_generic_to_global(p)) = 7; }",
}


@pytest.mark.parametrize("name", long_from(3, SOURCES))
def test_a_source_compiles(name, tmp_path, monkeypatch):
    monkeypatch.setenv("GPUPROF_CACHE", str(tmp_path / "cache"))
    (tmp_path / "k.cu").write_text(SOURCES[name])
    ptx = compile_cuda(tmp_path / "k.cu", standard="c++17").ptx
    stores = [line.split()[-1] for line in ptx.splitlines() if line.lstrip().startswith("st.")]
    assert stores == ["7;"]
