"""The compiler and the linker of host code, for the machine that it runs on."""

import platform
from pathlib import Path
from typing import NamedTuple

from gpuprof.compile import cccl, libraries, toolchain
from gpuprof.compile.libraries import MACHINES
from gpuprof.compile.toolchain import OURS, Headers
from gpuprof.cuda import INCLUDE, PRELUDE
from gpuprof.errors import CompileError

_RUNTIME = (
    "-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics",
    # frames of the library are chained, so that it finds its caller (channel.cpp)
    "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-I", str(INCLUDE / "gpuprof"),
)  # fmt: skip


# `__managed__` variables are far from a program's code. On x86-64 only they are (language.h); the small model would
# take their addresses as 32 bits all the same, in a move to memory.
_FAR = {"x86_64": "medium", "aarch64": "large"}
# Calls of a dynamic program that the runtime library answers before the C library does (entry_points.cpp).
_WRAPPED = ("dlopen", "dlsym", "dlclose")


class HostToolchain(NamedTuple):
    """Commands and their flags. `cxx`, `c`: for the headers of a language, in addition to `host`; `cuda`: for .cu
    files, in addition to both; `library`: for our runtime library; `shared`: for all of it as a shared library for
    glibc. `link_cxx`: links a program that needs C++'s library, the same as `link` where that always has it.
    """

    clang: tuple[str, ...]
    host: tuple[str, ...]
    cxx: tuple[str, ...]
    c: tuple[str, ...]
    cuda: tuple[str, ...]
    library: tuple[str, ...]
    shared: tuple[str, ...]
    link: tuple[str, ...]
    link_cxx: tuple[str, ...]
    folders: tuple[str, ...]  # of headers that come with a package or a compiler
    identity: str

    def is_library(self, path: str) -> bool:
        return any(Path(path).is_relative_to(folder) for folder in self.folders)


def host_toolchain(wanted: Headers = OURS) -> HostToolchain:
    """The tools that build a program with the libraries of `wanted`.

    Clang of the ziglang wheel compiles in any case, since CUDA's language is its; headers, libraries and the linker
    are the host compiler's.

    Raises CompileError on another system than Linux on x86-64 or aarch64, or without the ziglang wheel."""
    machine = MACHINES.get(platform.machine())
    if platform.system() != "Linux" or machine is None:
        raise CompileError(
            f"whole programs run on Linux, on x86-64 and aarch64; this is {platform.system()} on {platform.machine()}. "
            "Launch the kernels with --launch, or from a Python script"
        )
    tools, headers_of_cccl = toolchain.find(wanted=Headers(wanted.cccl)), cccl.find(wanted.cccl)
    zig = tools.command[0]
    theirs = libraries.of_host(wanted.host) or libraries.of_wheel(machine)
    ours = (*toolchain.CUDA_HEADERS, *toolchain.cccl_flags(headers_of_cccl))
    common = (f"--target={theirs.triple}", "-fno-pie", "-fdeclspec", "-Wno-register", *ours)
    far = f"-mcmodel={_FAR[machine]}"
    static = ("-target", f"{machine}-linux-musl", "-static", "-no-pie")
    # Debug information is read as it is.
    dynamic = (
        theirs.linker,
        "-no-pie",
        "-Wl,--compress-debug-sections=none",
        *(f"-Wl,--wrap={each}" for each in _WRAPPED),
    )
    how = "-DGPUPROF_DYNAMIC" if theirs.linker else "-DGPUPROF_STATIC"
    return HostToolchain(
        clang=(zig, "clang"),
        host=(*common, "-g1", "-gdwarf-4"),  # only lines, as program/line_table.py reads them
        cxx=theirs.cxx,
        c=theirs.c,
        cuda=(
            far, "-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "--no-offload-new-driver",
            "-fuse-cuid=none", "-Wno-unknown-cuda-version", "-Wno-c++11-narrowing", "-include", str(PRELUDE),
        ),
        library=(*common, *theirs.cxx, far, "-x", "c++", how, *_RUNTIME),
        shared=(
            zig, "c++", "-target", f"{machine}-linux-gnu.2.17", "-shared", "-fPIC", "-nostdlib++", "-lpthread", "-s",
            "-isystem", str(INCLUDE), *_RUNTIME,
        ),
        link=dynamic if theirs.linker else (zig, "cc", *static),
        link_cxx=dynamic if theirs.linker else (zig, "c++", *static),
        folders=tuple(toolchain.library_names(theirs, headers_of_cccl).values()),
        identity=f"{tools.identity} {theirs.triple} {theirs.identity}",
    )  # fmt: skip
