"""Compiles sources of forms as a program's build does, without linking them."""

from pathlib import Path

from gpuprof.compile import compile_cuda
from gpuprof.compile.host import host_toolchain
from gpuprof.errors import CompileError
from gpuprof.program.build import HostOptions, compile_object

STANDARD = "c++17"


def errors_of(text: str, folder: Path) -> str:
    """Messages of our compilers about a source, for the device and for the host; "" where both take it."""
    path = folder / "form.cu"
    path.write_text(text, encoding="utf-8")
    try:
        compile_cuda(path, standard=STANDARD, optimize=0)
        options = HostOptions((), (), STANDARD, 1, "", False, "zig")
        compile_object(path, 0, options, "sm_80", host_toolchain(), folder)
    except CompileError as error:
        return f"{error}\n{error.diagnostics}"
    return ""
