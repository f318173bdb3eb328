"""How many turns at a time a loop of an unknown number takes: clang's code as nvcc's, which ptxas may unroll again."""

import re
import subprocess

import pytest

from gpuprof.assemble.assemble import assemble_program
from gpuprof.compile import compile_cuda
from gpuprof.compile.passes.unroll_once import unroll_once
from gpuprof.isa.encoding import decode
from tests.ptxas.sass_slots import find_nvdisasm
from tests.support.nvidia_tools import NVCC, needs_nvcc

KERNEL = """
__global__ void {name}(const float *a, const float *b, float *c, int n)
{{
    __shared__ float tile[32];
    {index} x = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = a[x];
    __syncthreads();
    float sum = 0;
{pragma}
    for ({counter} k = 0; k < n; k++)
        sum += {a} * b[{b}];
    c[x] = sum;
}}
"""
FOUR, SIXTEEN = [4, 1], [16, 4, 1]  # multiply-adds in each loop, in their order
# Type of the thread's index and of the counter, the two factors, a line in front of the loop; copies by nvcc 13.0.
LOOPS = {
    "signed": ("int", "int", "a[x * n + k]", "k * n + x", "", SIXTEEN),
    "signed, counter alone": ("int", "int", "a[k]", "k * n + x", "", SIXTEEN),
    "signed, shared memory": ("int", "int", "tile[k]", "k * n + x", "", SIXTEEN),
    "unsigned": ("unsigned", "unsigned", "a[x * n + k]", "k * n + x", "", FOUR),
    "unsigned, counter alone": ("unsigned", "unsigned", "a[k]", "x * n + k", "", FOUR),
    "unsigned index, signed counter": ("unsigned", "int", "a[x * n + k]", "k * n + x", "", FOUR),
    "64 bits": ("long", "long", "a[x * n + k]", "k * n + x", "", FOUR),
    "64 bits, unsigned": ("size_t", "size_t", "a[x * n + k]", "k * n + x", "", FOUR),
    "unrolled by the source": ("int", "int", "a[x * n + k]", "k * n + x", "#pragma unroll", FOUR),
    "four turns by the source": ("int", "int", "a[x * n + k]", "k * n + x", "#pragma unroll 4", FOUR),
}
COPIES = {name: loop[-1] for name, loop in LOOPS.items()}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """All loops in one file, each in a kernel with its number."""
    path = tmp_path_factory.mktemp("loops") / "loops.cu"
    path.write_text(
        "".join(
            KERNEL.format(name=f"loop_{number}_", index=index, counter=counter, a=a, b=b, pragma=pragma)
            for number, (index, counter, a, b, pragma, _) in enumerate(LOOPS.values())
        )
    )
    return path


def test_a_loop_takes_as_many_turns_as_nvccs(source):
    program = assemble_program(compile_cuda(source))
    found = {}
    for function in program.functions:
        code = [decode(row) for row in program.code[function.first : function.first + function.count]]
        loops = [
            code[number + 1 + branch.offset // 16 : number]
            for number, branch in enumerate(code)
            if branch.op.kind == "branch" and branch.offset < 0
        ]
        counts = [sum(each.op.name.startswith("FFMA") for each in loop) for loop in loops]
        found[list(LOOPS)[int(function.display.split("_")[1])]] = counts
    assert found == COPIES


@needs_nvcc
@pytest.mark.long
def test_nvccs_machine_code_takes_as_many(source, tmp_path):
    nvdisasm = find_nvdisasm()
    if nvdisasm is None:
        pytest.skip("nvdisasm is not installed: no look at nvcc's machine code")
    cubin = tmp_path / "loops.cubin"
    subprocess.run([NVCC, "-cubin", "-arch=sm_80", "-o", cubin, source], check=True)
    text = subprocess.run([nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout
    found = {}
    for part in re.split(r"(?m)^\.text\.", text)[1:]:
        lines = part.splitlines()
        places = {line.rstrip(":"): number for number, line in enumerate(lines) if line.startswith(".L_")}
        jumps = [(number, re.search(r"BRA `\((\S+)\)", line)) for number, line in enumerate(lines)]
        loops = [lines[places[to[1]] : number] for number, to in jumps if to and places[to[1]] < number]
        counts = [sum("FFMA" in line for line in loop) for loop in loops]
        found[list(LOOPS)[int(lines[0].split("_")[2])]] = [count for count in counts if count]
    assert found == COPIES


def test_a_loop_that_stays_is_marked():
    ir = """\
40:
  %1 = zext nneg i32 %0 to i64
  %niter.ncmp.1 = icmp eq i32 %niter.next.1, %unroll_iter.1
  br i1 %niter.ncmp.1, label %out, label %40, !llvm.loop !1

45:
  %2 = zext i32 %0 to i64
  %niter.ncmp.3 = icmp eq i32 %niter.next.3, %unroll_iter
  br i1 %niter.ncmp.3, label %out, label %45, !dbg !2, !llvm.loop !1
  br i1 %other, label %out, label %50, !llvm.loop !1

.lr.ph:
  %niter.ncmp.7 = icmp eq i64 %niter.next.7, %unroll_iter
  br i1 %niter.ncmp.7, label %out, label %.lr.ph

!1 = distinct !{!1}
!2 = !DILocation(line: 3, scope: !0)
"""
    marked = ir.replace("label %45, !dbg !2, !llvm.loop !1", "label %45, !dbg !2, !llvm.loop !4").replace(
        "label %.lr.ph\n", "label %.lr.ph, !llvm.loop !5\n"
    )
    assert (
        unroll_once(ir)
        == marked
        + """\
!3 = !{!"llvm.loop.unroll.disable"}
!4 = distinct !{!4, !3}
!5 = distinct !{!5, !3}
"""
    )
    assert unroll_once("; no loop\n") == "; no loop\n"
