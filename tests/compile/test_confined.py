"""Sources of a confined run: no file outside of its folder is compiled, or quoted by an error."""

import pytest

from gpuprof.compile import compile_cuda
from gpuprof.errors import CompileError, UsageError
from tests.support.command import write_files

KERNEL = "__global__ void k(int *x) { x[0] = y; }\n"
BY_MACRO = '#define F "../secret.h"\n#include F\n'
FILES = {
    "secret.h": "int y; a secret that does not compile\n",
    "folder/sub/own.h": "__device__ int y;\n",
    "folder/named.cu": '#include "../secret.h"\n' + KERNEL,
    "folder/macro.cu": BY_MACRO + KERNEL,
    "folder/digraph.cu": BY_MACRO.replace("#include", "%:include") + KERNEL,
    "folder/error.cu": BY_MACRO + '#include "none.h"\n#error no\n' + KERNEL,
    "folder/embed.cu": '#define F "../secret.h"\n__device__ char s[] = {\n#embed F\n};\n' + KERNEL,
    "folder/link.cu": '#include "link.h"\n' + KERNEL,
    "folder/own.cu": '#include <cuda_fp16.h>\n#include "sub/own.h"\n' + KERNEL,
    "folder/wrong.cu": '#include "sub/own.h"\nnonsense\n' + KERNEL,
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    folder = write_files(tmp_path, FILES) / "folder"
    (folder / "link.h").symlink_to("../secret.h")
    monkeypatch.setenv("GPUPROF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GPUPROF_FOLDER", str(folder))
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    "name, place",
    [
        ("named.cu", "named.cu:1: cannot be included: ../secret.h"),
        ("link.cu", "link.cu:1: cannot be included: link.h"),
        *((f"{name}.cu", "../secret.h") for name in ("macro", "digraph", "error", "embed")),
    ],
)
def test_a_file_outside_of_the_folder(folder, name, place):
    with pytest.raises(UsageError) as caught:
        compile_cuda(name)
    assert str(caught.value) == f"{place}: is outside of {folder}, and GPUPROF_FOLDER allows only files in it"


def test_own_headers_and_those_of_the_toolkit():
    assert ".entry" in compile_cuda("own.cu").ptx


def test_errors_of_a_source_are_shown():
    with pytest.raises(CompileError) as caught:
        compile_cuda("wrong.cu")
    assert "wrong.cu:2:1: error: unknown type name 'nonsense'" in caught.value.diagnostics


def test_a_module_of_a_run_that_was_not_confined_is_not_taken(folder, monkeypatch):
    (folder / "../secret.h").write_text("__device__ int y;\n")
    with monkeypatch.context() as free:
        free.delenv("GPUPROF_FOLDER")
        assert ".entry" in compile_cuda("macro.cu").ptx
    with pytest.raises(UsageError, match=r"^\.\./secret\.h: is outside of "):
        compile_cuda("macro.cu")
