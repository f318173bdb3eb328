"""The clang of the ziglang wheel as the compiler and linker of host code, for the machine that it runs on."""

import platform
from pathlib import Path
from typing import NamedTuple

from gpuprof.compile import cccl, toolchain
from gpuprof.cuda import INCLUDE, PRELUDE
from gpuprof.errors import CompileError

MACHINES = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}

_RUNTIME = (
    "-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics",
    # frames of the library are chained, so that it finds its caller (channel.cpp)
    "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-I", str(INCLUDE / "gpuprof"),
)  # fmt: skip


class HostToolchain(NamedTuple):
    """Commands and their flags. `cuda`: for .cu files, in addition to `host`; `library`: for our runtime library;
    `shared`: for all of it as a shared library for glibc.
    """

    clang: tuple[str, ...]
    host: tuple[str, ...]
    cuda: tuple[str, ...]
    library: tuple[str, ...]
    shared: tuple[str, ...]
    link: tuple[str, ...]
    link_cxx: tuple[str, ...]
    folders: tuple[str, ...]  # of headers that come with a package
    identity: str

    def is_library(self, path: str) -> bool:
        return any(Path(path).is_relative_to(folder) for folder in self.folders)


def host_toolchain(cccl_release: str = "") -> HostToolchain:
    """`cccl_release`: as in `cccl.find`.

    Raises CompileError on another system than Linux on x86-64 or aarch64, or without the ziglang wheel."""
    machine = MACHINES.get(platform.machine())
    if platform.system() != "Linux" or machine is None:
        raise CompileError(
            f"whole programs run on Linux, on x86-64 and aarch64; this is {platform.system()} on {platform.machine()}. "
            "Launch the kernels with --launch, or from a Python script"
        )
    tools, headers_of_cccl = toolchain.find(cccl_release=cccl_release), cccl.find(cccl_release)
    zig, target = tools.command[0], f"{machine}-unknown-linux-musl"
    library = Path(zig).parent / "lib"
    ours = (*toolchain.CUDA_HEADERS, *toolchain.cccl_flags(headers_of_cccl))
    headers = (*ours, *toolchain.library_flags(library, machine))
    common = (f"--target={target}", "-fno-pie", "-Wno-register", *headers)
    return HostToolchain(
        clang=(zig, "clang"),
        host=(*common, "-g1", "-gdwarf-4"),  # only lines, as program/line_table.py reads them
        cuda=(
            "-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "--no-offload-new-driver",
            "-fuse-cuid=none", "-Wno-unknown-cuda-version", "-Wno-c++11-narrowing", "-include", str(PRELUDE),
        ),
        library=(*common, "-x", "c++", *_RUNTIME),
        shared=(
            zig, "c++", "-target", f"{machine}-linux-gnu.2.17", "-shared", "-fPIC", "-nostdlib++", "-lpthread", "-s",
            "-isystem", str(INCLUDE), *_RUNTIME,
        ),
        link=(zig, "cc", "-target", f"{machine}-linux-musl", "-static", "-no-pie"),
        link_cxx=(zig, "c++", "-target", f"{machine}-linux-musl", "-static", "-no-pie"),
        folders=tuple(toolchain.library_names(library, headers_of_cccl).values()),
        identity=f"{tools.identity} {target}",
    )  # fmt: skip
