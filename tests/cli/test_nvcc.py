"""`--compiler nvcc`, where nvcc is installed, and what is said where it is not. The compilers' other flags, for
both.
"""

import re
import shlex
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import gpuprof
from gpuprof.compile import compile_cuda, libraries, nvcc
from gpuprof.errors import CompileError
from gpuprof.isa.gpubin.reader import read_gpubin
from gpuprof.run.compile_file import BuildOptions, read_source
from tests.cli.test_compile import HEADER, KERNEL, run
from tests.support.command import gpuprof as program, masked
from tests.support.matrices import long_from
from tests.support.nvidia_tools import NVCC, needs_nvcc

COMPILE = ("compile", "scale.cu", "-I", "include", "-D", "FACTOR=3.0f", "--kernel", "scale<4>", "--compiler", "nvcc")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "scale.h").write_text(HEADER)
    (tmp_path / "scale.cu").write_text(KERNEL)
    return tmp_path


@needs_nvcc
def test_compile_a_template(folder, monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, *COMPILE)
    assert (code, err) == (0, "")
    program = read_gpubin(Path("scale.gpubin").read_bytes(), "scale.gpubin")
    (kernel,) = program.functions
    assert out.startswith(f"scale<4>: {kernel.registers} registers, ")
    assert program.compiler.startswith("nvcc ")
    assert [(p.is_pointer, p.element, p.is_written) for p in kernel.params] == [(True, "f32", True), (False, "", False)]
    assert program.sources == {name: Path(name).read_text() for name in ("scale.cu", "include/scale.h")}
    assert program.variables == ()


@needs_nvcc
@pytest.mark.parametrize("name", ["a b", "a,b"])
def test_temporary_files_in_a_folder_whose_name_nvcc_would_split(folder, monkeypatch, capsys, name):
    (folder / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder / name))
    monkeypatch.setenv("GPUPROF_CACHE", str(folder / "cache"))
    code, _, err = run(monkeypatch, capsys, *COMPILE)
    assert (code, err) == (0, "")


@needs_nvcc
def test_lines_of_inlined_calls(folder, monkeypatch, capsys):
    run(monkeypatch, capsys, *COMPILE)
    _, out, _ = run(monkeypatch, capsys, "disasm", "scale.gpubin", "--source")
    lines = out.splitlines()
    inlined = next(i for i, line in enumerate(lines) if "scale.h:2" in line)
    assert lines[inlined + 1] == "// inlined at scale.cu:6: if (i < n) x[i] = times<N>(x[i]);"


@needs_nvcc
def test_errors_keep_their_lines(folder, monkeypatch, capsys):
    code, _, err = run(
        monkeypatch, capsys, "compile", "scale.cu", "-I", "include", "--kernel", "scale<4>", "--compiler", "nvcc"
    )
    assert code == 1
    assert 'include/scale.h(2): error: identifier "FACTOR" is undefined' in err
    assert err.endswith("gpuprof: scale.cu does not compile with nvcc\n")
    assert "/tmp/" not in err


@pytest.mark.long
@needs_nvcc
def test_the_cache_knows_compiler_headers_and_version(folder, monkeypatch):
    monkeypatch.setenv("GPUPROF_CACHE", str(folder / "cache"))
    flags = {"arch": "sm_80", "instantiate": ("scale<4>",), "include_dirs": ("include",), "defines": ("FACTOR=2.0f",)}
    ours, theirs = compile_cuda("scale.cu", **flags), nvcc.compile_nvcc("scale.cu", **flags)
    assert ours.compiler != theirs.compiler
    ran = []
    real = nvcc._run
    monkeypatch.setattr(nvcc, "_run", lambda *arguments: ran.append(1) or real(*arguments))
    assert nvcc.compile_nvcc("scale.cu", **flags) == theirs
    assert ran == []
    (folder / "include" / "scale.h").write_text((folder / "include" / "scale.h").read_text() + "// changed\n")
    nvcc.compile_nvcc("scale.cu", **flags)
    assert ran == [1]
    monkeypatch.setattr(nvcc, "find", lambda name: found._replace(version="0.0"))
    nvcc.compile_nvcc("scale.cu", **flags)
    assert ran == [1, 1]


found = nvcc.find() if NVCC else None


@pytest.mark.long
@needs_nvcc
def test_a_script_names_the_compiler(tmp_path):
    (tmp_path / "twice.cu").write_text("template <int N> __global__ void times(int *x) { x[threadIdx.x] *= N; }\n")
    gpu = gpuprof.Device()
    for compiler in ("clang", "nvcc"):
        module = gpu.load(tmp_path / "twice.cu", compiler=compiler)
        numbers = np.arange(32, dtype=np.int32)
        module["times<3>"][1, 32](numbers)
        np.testing.assert_array_equal(numbers, 3 * np.arange(32))


def test_without_nvcc(folder, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(nvcc, "DEFAULT_TOOLKIT", str(folder / "cuda"))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    code, _, err = run(
        monkeypatch, capsys, "collect", "scale.cu", "--launch", "scale<4><<<1, 32>>>(f32[32], 32)", "--compiler", "nvcc"
    )
    assert code == 1
    assert err == (
        f"gpuprof: nvcc: no such program on PATH, in CUDA_HOME or {folder}/cuda: install the CUDA toolkit, name its "
        "compiler with "
        "--compiler PATH/nvcc, or leave out --compiler to use gpuprof's own clang\n"
    )


def test_nvcc_of_cuda_home(folder, monkeypatch):
    place = folder / "toolkit" / "bin" / "nvcc"
    place.parent.mkdir(parents=True)
    place.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.131'\n")
    place.chmod(0o755)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("CUDA_HOME", str(folder / "toolkit"))
    assert nvcc.find() == nvcc.Nvcc(str(place), "12.4.131", folder.resolve() / "toolkit")
    place.write_text("#!/bin/sh\necho hello\n")
    with pytest.raises(CompileError, match="prints no version; is this nvcc"):
        nvcc.find()


def test_another_clang(folder, monkeypatch, capsys):
    """A program that is named by its path, and has headers of its own."""
    flags = shlex.join(libraries.of_wheel().cxx)
    (folder / "my-clang").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ziglang clang {flags} "$@"\n')
    (folder / "my-clang").chmod(0o755)
    here = [str(folder / "my-clang") if each == "nvcc" else each for each in COMPILE]
    assert run(monkeypatch, capsys, *here)[0] == 0
    program = read_gpubin(Path("scale.gpubin").read_bytes(), "scale.gpubin")
    assert [function.display for function in program.functions] == ["scale<4>"]
    assert program.compiler == "my-clang"


@pytest.mark.parametrize("level", long_from(1, range(4)))
def test_optimization_of_clang(tmp_path, level):
    (tmp_path / "k.cu").write_text(
        "__device__ int twice(int x) { return x + x; }\n__global__ void k(int *x) { *x = twice(*x) * 2; }\n"
    )
    ptx = read_source(tmp_path / "k.cu", arch="sm_80", options=BuildOptions(optimize=level)).ptx
    assert ("call.uni" in ptx, ".local" in ptx) == ((True, True) if level == 0 else (False, False))


@pytest.mark.long
@pytest.mark.parametrize("standard, expected", [("c++17", "201703"), ("c++20", "202002"), (None, "202002")])
def test_standard_of_clang(tmp_path, standard, expected):
    (tmp_path / "k.cu").write_text(
        f"static_assert(__cplusplus == {expected}L);\n__global__ void k(float *x) {{ *x = sinf(*x) + abs(3); }}\n"
    )
    module = read_source(tmp_path / "k.cu", arch="sm_80", options=BuildOptions(standard=standard))
    assert ".visible .entry _Z1kPf(" in module.ptx


@needs_nvcc
def test_a_folder_with_a_space(tmp_path, monkeypatch):
    """Headers beside the source are found, errors in them and lines name them as they are."""
    folder = tmp_path / "my kernels, old"
    folder.mkdir()
    (folder / "add.h").write_text("__device__ inline int add(int a, int b)\n{\n    return a + b;\n}\n")
    (folder / "k.cu").write_text(
        '#include "add.h"\n__global__ void k(int *x) { x[0] = add(x[1], x[2]); }\n// LAUNCH: k<<<1, '
        "1>>>(i32[3]=arange)\n"
    )
    monkeypatch.chdir(folder)
    module = nvcc.compile_nvcc("k.cu", arch="sm_80")
    assert set(module.sources) == {"k.cu", "add.h"}
    (folder / "add.h").write_text("__device__ inline int add(int a, int b) { return c; }\n")
    with pytest.raises(CompileError) as raised:
        nvcc.compile_nvcc("k.cu", arch="sm_80")
    assert "add.h(1): error" in raised.value.diagnostics
    assert "beside" not in raised.value.diagnostics


FEATURES = """\
#if __CUDA_ARCH_FEAT_SM90_ALL
__global__ void k(int *x) { asm volatile("wgmma.fence.sync.aligned;"); x[0] = 1; }
#endif
"""


@pytest.mark.parametrize(
    "compile_source", long_from(1, [compile_cuda, pytest.param(nvcc.compile_nvcc, marks=needs_nvcc)])
)
def test_sources_see_all_that_the_architecture_has(compile_source, tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(FEATURES)
    assert "wgmma.fence" in compile_source(str(path), arch="sm_90").ptx
    assert "wgmma.fence" not in compile_source(str(path), arch="sm_80").ptx


@needs_nvcc
def test_an_rtx_5090_has_no_features_of_its_own(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int *x) {\n#ifdef __CUDA_ARCH__\n  *x = __CUDA_ARCH__;\n#endif\n}\n")
    ptx = nvcc.compile_nvcc(str(path), arch="sm_120").ptx
    assert re.findall(r"^\.target (\S+)$", ptx, re.MULTILINE) == ["sm_120"] and ", 1200;" in ptx


# A stand-in for an nvcc that knows sm_75 and later, for machines without one.
FAKE_NVCC = """\
#!/bin/sh
case "$*" in
    --version) echo "Cuda compilation tools, release 13.0, V13.0.88"; exit;;
    --list-gpu-arch) echo compute_75; echo compute_80; exit;;
    *-arch=sm_70*) echo "nvcc fatal   : Unsupported gpu architecture 'compute_70'" >&2; exit 1;;
    *-arch=sm_75*) target=sm_75;;
    *) target=sm_80;;
esac
while [ $# -gt 0 ]; do
    case "$1" in
        -o) printf '.version 9.0\\n.target %s\\n.address_size 64\\n.visible .entry k() { ret; }\\n' $target > "$2";;
        -MF) echo "out: k.cu" > "$2";;
    esac
    shift
done
"""
OLDER = "gpuprof: k.cu: nvcc 13.0.88 has no sm_70: compiled for sm_75\n"


@pytest.fixture
def old_kernel(folder):
    (folder / "k.cu").write_text("// LAUNCH: k<<<1, 32>>>()\n__global__ void k() {}\n")
    (folder / "nvcc").write_text(FAKE_NVCC)
    (folder / "nvcc").chmod(0o755)
    return folder


@pytest.mark.parametrize("chip, target, notice", [("v100", "sm_75", OLDER), ("a100", "sm_80", "")])
def test_a_chip_older_than_nvcc_knows(old_kernel, chip, target, notice):
    code, out, err = program(old_kernel, "compile", "k.cu", "--emit", "ptx", "--chip", chip, "--compiler", "./nvcc")
    assert (code, out, err) == (0, f"k.ptx: PTX for {target}\n", notice)
    code, out, err = program(old_kernel, "collect", "k.cu", "--chip", chip, "--compiler", "./nvcc")
    assert (code, err) == (0, notice)
    assert masked(out).splitlines()[0] == "k<<<1, 32>>>  N cycles  N warp instructions  N samples"


@needs_nvcc
def test_nvcc_13_has_no_sm_70(folder):
    (folder / "k.cu").write_text("// LAUNCH: k<<<1, 32>>>(f32[32])\n__global__ void k(float *x) { *x = 1; }\n")
    code, _, err = program(folder, "collect", "k.cu", "--chip", "v100", "--compiler", "nvcc")
    version = nvcc.find().version
    assert (code, err) == (0, f"gpuprof: k.cu: nvcc {version} has no sm_70: compiled for sm_75\n")
