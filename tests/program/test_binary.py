"""Executables that another compiler has built."""

import csv
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from gpuprof.errors import UsageError
from gpuprof.program.binary import is_binary, library_name, open_binary
from tests.program.hosts import WHY_NOT

SOURCE = Path(__file__).parent / "sources" / "symbols.cu"
HEAD = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")


def executable(*names):
    """An ELF file that has empty sections of these names, and nothing else."""
    text = b"\0" + b"".join(name.encode() + b"\0" for name in (*names, ".shstrtab"))
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    n = len(names) + 2
    head = HEAD.pack(ident, 2, 62, 1, 0, 0, HEAD.size + len(text), 0, HEAD.size, 0, 0, SECTION.size, n, n - 1)
    sections = [bytes(SECTION.size)]
    for name in names:
        sections.append(SECTION.pack(text.index(name.encode()), 1, 0, 0, HEAD.size, 0, 0, 0, 1, 0))
    sections.append(SECTION.pack(text.index(b".shstrtab"), 3, 0, 0, HEAD.size, len(text), 0, 0, 1, 0))
    return head + text + b"".join(sections)


@pytest.mark.parametrize(
    "content, told",
    [
        (executable(".nv_fatbin"), "the CUDA runtime is linked in, where gpuprof cannot reach it"),
        (executable(".text"), "an executable without CUDA's runtime; gpuprof runs what `nvcc -cudart shared` builds"),
        (executable(".text")[:80], "a damaged executable"),
        (executable(".text")[:-40] + b"\xff" * 40, "a damaged executable"),  # names lie before the file's beginning
    ],
)
def test_executables_that_do_not_run(content, told, tmp_path):
    path = tmp_path / "app"
    path.write_bytes(content)
    assert is_binary(path)
    with pytest.raises(UsageError, match=told):
        library_name(path)


def test_what_may_not_be_executed_is_told_before_anything_is_built(tmp_path):
    path = tmp_path / "app"
    path.write_bytes(executable(".text"))
    with pytest.raises(UsageError) as error:
        open_binary(path)
    assert str(error.value) == f"{path}: may not be executed; `chmod +x {path}` allows it"


def test_a_source_is_no_executable(tmp_path):
    assert not is_binary(SOURCE)
    assert not is_binary(tmp_path)


@pytest.mark.long
@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
@pytest.mark.skipif(shutil.which("nvcc") is None or shutil.which("g++") is None, reason="there is no nvcc with a g++")
def test_what_nvcc_has_built_runs_and_is_recorded(tmp_path):
    flags = ["-cudart", "shared", "-gencode", "arch=compute_80,code=compute_80"]
    built = subprocess.run(["nvcc", *flags, str(SOURCE), "-o", str(tmp_path / "app")], capture_output=True, text=True)
    if built.returncode:
        pytest.skip(f"nvcc does not build here: {built.stderr[-300:]}")
    command = [sys.executable, "-m", "gpuprof", "collect", "./app", "-o", "app.gprec", "--", "3000"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert "PASS counted 192, time\n" in done.stdout and done.returncode == 0, done.stderr
    assert (tmp_path / "app.gprec").is_file()
    sweep = [sys.executable, "-m", "gpuprof", "sweep", "./app", "-o", "t.csv"]
    done = subprocess.run([*sweep, "--chips", "a100,h100", "--", "3000"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert [row["chip"] for row in rows] == ["a100", "a100", "h100", "h100"] and done.stderr == ""
    done = subprocess.run([*sweep, "--force", "--define", "N=1,2"], cwd=tmp_path, capture_output=True, text=True)
    told = "gpuprof: app: is already compiled, so N has no effect; leave it out\n"
    assert (done.returncode, done.stderr) == (2, told)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("nvcc") is None or shutil.which("g++") is None, reason="there is no nvcc with a g++")
def test_an_executable_that_calls_what_is_not_here_is_refused(tmp_path):
    (tmp_path / "a.cu").write_text("int main() { cudaFree(nullptr); return cudaIpcCloseMemHandle(nullptr); }\n")
    path = tmp_path / "app"
    flags = ["-cudart", "shared", "-gencode", "arch=compute_80,code=compute_80", "-o", str(path)]
    built = subprocess.run(["nvcc", *flags, str(tmp_path / "a.cu")], capture_output=True, text=True)
    if built.returncode:
        pytest.skip(f"nvcc does not build here: {built.stderr[-300:]}")
    with pytest.raises(UsageError) as error:
        open_binary(path)
    assert str(error.value) == (
        f"{path}: gpuprof does not have cudaIpcCloseMemHandle (memory of other processes); docs/programs-api.md lists "
        "what it has"
    )


UNFIT = """\
#include <cstdio>
__global__ void scale(float *p) { p[threadIdx.x] *= 2; }
int main(int argc, char **)
{
    scale<<<1, 32>>>(nullptr);
    if (argc > 1)
        puts(cudaGetErrorName(cudaGetLastError()));
    return 0;
}
"""


@pytest.mark.long
@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
@pytest.mark.skipif(shutil.which("nvcc") is None or shutil.which("g++") is None, reason="there is no nvcc with a g++")
def test_a_kernel_for_a_later_chip_ends_with_an_error_unless_the_program_asks(tmp_path):
    (tmp_path / "app.cu").write_text(UNFIT)
    flags = ["-cudart", "shared", "-gencode", "arch=compute_90,code=compute_90"]
    subprocess.run(["nvcc", *flags, "app.cu", "-o", "app"], cwd=tmp_path, check=True, capture_output=True)
    command = [sys.executable, "-m", "gpuprof", "run", "./app"]
    first, asks = (
        subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True) for words in ([], ["--", "-x"])
    )
    told = (
        "gpuprof: the executable has only PTX for sm_90 and later; sm_80 needs PTX: build with nvcc -gencode "
        "arch=compute_80,code=compute_80\ngpuprof: scale is not launched\n"
    )
    last = "gpuprof: app: scale was not launched, and the program did not request the error\n"
    assert (first.returncode, first.stdout, first.stderr) == (1, "", told + last)
    assert (asks.returncode, asks.stdout, asks.stderr) == (0, "cudaErrorNoKernelImageForDevice\n", told)
