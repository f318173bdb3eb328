"""Every header of the toolkit opens, or the message says which library gpuprof does not have."""

import subprocess
from pathlib import Path

import pytest

from gpuprof.compile import compile_cuda
from gpuprof.compile.absent import library_of
from gpuprof.compile.toolchain import find
from gpuprof.errors import CompileError

NAMES = [
    line
    for line in (Path(__file__).parent / "toolkit/headers.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


def names_that_open(names: list[str]) -> set[str]:
    tools = find()
    probe = "".join(f"#if __has_include(<{name}>)\nopens {number}\n#endif\n" for number, name in enumerate(names))
    flags = [flag for flag in tools.flags if flag not in ("-emit-llvm", "-S")]
    command = [*tools.command, *flags, "-E", "-P", "-"]
    done = subprocess.run(command, input=probe, capture_output=True, text=True, check=True)
    return {names[int(line.split()[1])] for line in done.stdout.splitlines() if line.startswith("opens ")}


def test_a_header_opens_or_its_library_is_named():
    opened = names_that_open(NAMES)
    assert [name for name in NAMES if (name in opened) == bool(library_of(name))] == []


def test_all_that_open_go_together(tmp_path):
    """In one file, in the order of the list and back."""
    opened = sorted(names_that_open(NAMES))
    source = tmp_path / "k.cu"
    lines = [f"#include <{name}>\n" for name in (*opened, *reversed(opened))]
    source.write_text("".join(lines) + "__global__ void k(int *p) { *p = 1; }\n")
    assert compile_cuda(source).display == {"_Z1kPi": "k"}


@pytest.mark.parametrize(
    ("header", "library"),
    {
        "curand_kernel.h": "cuRAND",
        "cublas_v2.h": "cuBLAS",
        "cusparse.h": "cuSPARSE",
        "nppi_filtering_functions.h": "NPP",
        "cutlass/gemm/gemm.h": "CUTLASS; add its include folder with -I",
        "helper_cuda.h": "the Common folder of cuda-samples; add it with -I",
    }.items(),
)
def test_the_library_of_a_header_is_named(tmp_path, header, library):
    source = tmp_path / "k.cu"
    source.write_text(f"#include <{header}>\n")
    with pytest.raises(CompileError) as caught:
        compile_cuda(source)
    assert str(caught.value) == f"{source} does not compile\n{header}: gpuprof does not have {library}"


def test_other_headers_are_of_no_library():
    assert library_of("vector.hpp") == ""
