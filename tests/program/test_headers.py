"""Programs of CUDA's core headers, by name, with what they print; pairs of headers in both orders, with each release of
CCCL.
"""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from gpuprof.compile import cccl, compile_cuda
from gpuprof.compile.toolchain import Headers
from gpuprof.errors import UsageError
from tests.program.hosts import WHY_NOT

FOLDER = Path(__file__).parent / "headers"

# command line -> standard output
PROGRAMS = {
    "library.cu": "3\n1\n2\n4 1 7 1.5 32767 65\n",
    "fp8_nan.cu": "0 of 84\n",
    "functional.cu": "1072216 1072216 42 3\n",
    "barriers.cu": "0 cudaSuccess\n",
    "target.cu": "3210 2123\n",
    "c_calls.c c_kernels.cu": "20 80 1 32 1\ncudaErrorInvalidValue\n-5 10 7\n",
    "ordered.cu": "32384 -255 255 1 ffffffffffffffff 1000000000000 128 64 7 10 f00 0 59\n",
}
LONG = {
    "--chip h100 fp8_nan.cu": PROGRAMS["fp8_nan.cu"],
    "--chip t4 barriers.cu": PROGRAMS["barriers.cu"],
    "--chip h100 barriers.cu": PROGRAMS["barriers.cu"],
    "--chip t4 target.cu": "3210 4223\n",
    "--chip h100 target.cu": "3210 1123\n",
    "--chip t4 ordered.cu": PROGRAMS["ordered.cu"],
    "--chip h100 ordered.cu": PROGRAMS["ordered.cu"],
}
ROWS = [*PROGRAMS.items(), *(pytest.param(*row, marks=pytest.mark.long) for row in LONG.items())]


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
@pytest.mark.parametrize(("command", "expected"), ROWS)
def test_a_program_prints(command, expected):
    done = subprocess.run(
        [sys.executable, "-m", "gpuprof", "run", *command.split()], cwd=FOLDER, capture_output=True, text=True
    )
    assert (done.stdout, done.returncode) == (expected, 0), done.stderr


# What a program may include first or last; the body uses the names of cooperative groups with each of them.
LIBRARIES = (
    "cub/block/block_reduce.cuh",
    "cuda/atomic",
    "cuda/barrier",
    "cuda/std/tuple",
    "cuda_fp16.h",
    "nv/target",
    "thrust/device_vector.h",
)
BODY = (
    "namespace cg = cooperative_groups;\n"
    "__global__ void k(int *o) { auto b = cg::this_thread_block(); auto t = cg::tiled_partition<32>(b);\n"
    "  cg::thread_block c = b; o[c.thread_rank()] = t.size() + cg::this_grid().size(); }\n"
)
ARCHS = ("sm_75", "sm_80", "sm_90")
MATRIX = [
    (release, arch, library, is_first)
    for release, arch, library, is_first in itertools.product(cccl.RELEASES, ARCHS, LIBRARIES, (True, False))
]


@pytest.mark.long
@pytest.mark.parametrize(("release", "arch", "library", "is_first"), MATRIX)
def test_headers_go_together(tmp_path, release, arch, library, is_first):
    try:
        cccl.find(release)
    except UsageError as error:
        pytest.skip(str(error))
    names = [library, "cooperative_groups.h"] if is_first else ["cooperative_groups.h", library]
    source = tmp_path / "k.cu"
    source.write_text("".join(f"#include <{name}>\n" for name in names) + BODY)
    module = compile_cuda(source, arch=arch, headers=Headers(release))
    assert "k" in module.display.values()


def test_cooperative_groups_may_be_declared_before_them(tmp_path):
    """CCCL 13 does so: its declarations and the types are the same."""
    source = tmp_path / "k.cu"
    source.write_text(
        "namespace cooperative_groups {\nnamespace __v1 {\nclass thread_block;\n"
        "template <unsigned int, typename> class thread_block_tile;\n}\nusing namespace __v1;\n}\n"
        "template <typename> constexpr int rank = 0;\n"
        "template <> constexpr int rank<cooperative_groups::thread_block> = 1;\n"
        "#include <cooperative_groups.h>\n" + BODY.replace("c.thread_rank()", "rank<decltype(c)>")
    )
    assert compile_cuda(source).display == {"_Z1kPi": "k"}
