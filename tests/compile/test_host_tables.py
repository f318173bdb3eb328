"""Constants of the host in a .cu file: those that kernels read are in device code, the others are not."""

import re

from gpuprof.compile import compile_cuda

SOURCE = """
struct Pair { int a, b; };
extern const Pair unread[];
const Pair unread[2] = {{1, 2}, {3, 4}};
extern const Pair read[];
const Pair read[2] = {{5, 6}, {7, 8}};
extern const int unread_too;
const int unread_too = 3;
__constant__ int written[2];
__global__ void k(int *p, int i) { *p = read[i].b; }
"""


def test_tables_that_no_kernel_reads_are_left_to_the_host(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUPROF_CACHE", str(tmp_path / "cache"))
    (tmp_path / "k.cu").write_text(SOURCE)
    ptx = compile_cuda(tmp_path / "k.cu").ptx
    assert re.findall(r"\.const .* (\w+)(?:\[\d+\])?(?: =.*)?;", ptx) == ["read", "written"]
