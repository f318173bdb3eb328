"""Finds clang and gives it everything it needs from the package's own headers and the ziglang wheel, nothing from the
system.
"""

import shutil
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from gpuprof.compile import cache, cccl, libraries, undefined
from gpuprof.compile.cccl import Cccl
from gpuprof.compile.libraries import Libraries
from gpuprof.cuda import CCCL, FORWARDING, INCLUDE, LAST, PRELUDE
from gpuprof.errors import CompileError

# The headers under CUDA's names.
CUDA_HEADERS = (
    "-I", str(CCCL), "-isystem", str(INCLUDE), "-ivfsoverlay", str(FORWARDING), "-idirafter", str(LAST),
)  # fmt: skip

# Of what clang refuses by a warning that is an error, nvcc warns of narrowing, and passes over `register`.
DIALECT = ("-Wno-register", "-Wno-c++11-narrowing")

_DEVICE = (
    "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version", "-fuse-cuid=none",
    *DIALECT, "-std=c++20", "-Xclang", "-disable-llvm-passes", "-Xclang", "-disable-O0-optnone",
    "-ffp-contract=fast", "-g", "-Xclang", "-debug-info-kind=limited",
    *undefined.FLAGS, "-Xclang", "-fcuda-short-ptr", "-mllvm", "--nvptx-short-ptr",
    "-fdebug-compilation-dir=.", "-emit-llvm", "-S",
)  # fmt: skip


class Toolchain(NamedTuple):
    command: tuple[str, ...]  # how clang is started
    flags: tuple[str, ...]  # for every translation unit
    library_names: dict[str, str]  # what debug info calls a header folder -> the folder
    name: str  # for people: "ziglang 0.17.0"
    # what a cached result depends on besides source and flags: programs and their versions, this package's own files
    identity: str


class Headers(NamedTuple):
    """Headers of others that a source may include. cccl: of Thrust and CUB, as in `cccl.find`; host: of C and C++, as
    in `libraries.of_host`.
    """

    cccl: str = ""
    host: str = libraries.ZIG


OURS = Headers()


def find(clang: str | None = None, wanted: Headers = OURS) -> Toolchain:
    """The clang of the ziglang wheel, with headers as `wanted`; or the one the user names, which has its own C and C++
    library. Thrust and CUB are added where they are installed.

    Raises CompileError when there is none.
    """
    wheel, headers = libraries.wheel(), cccl.find(wanted.cccl)
    if clang is None and wheel is None:
        raise CompileError("no clang found: run `pip install ziglang`, or name a clang with --compiler PATH")
    if clang is not None:
        path = shutil.which(clang)
        if path is None:
            raise CompileError(
                f"{clang}: no such program: name a clang with --compiler PATH, or leave it out to use the one of `pip "
                "install ziglang`"
            )
        stamp = Path(path).stat()
        identity = f"{Path(path).resolve()} {stamp.st_size} {stamp.st_mtime_ns}"
        names = library_names(None, headers)
        return Toolchain((path,), _flags(None, headers), names, Path(path).name, _identity(identity, headers))
    name = f"ziglang {version('ziglang')}"
    library = libraries.of_host(wanted.host) or libraries.of_wheel()
    names, flags = library_names(library, headers), _flags(library, headers)
    return Toolchain((str(wheel / "zig"), "clang"), flags, names, name, _identity(name + library.identity, headers))


def _flags(library: Libraries | None, headers: Cccl | None) -> tuple[str, ...]:
    ours = (*CUDA_HEADERS, *cccl_flags(headers), "-include", str(PRELUDE))
    # the sizes of `long` and the layout of structures come from the host
    target, theirs = (library.triple, library.cxx) if library else (libraries.WHEEL_TRIPLE.format("x86_64"), ())
    # Their place differs from machine to machine; what they are called in a profile must not.
    names = [f"-fdebug-prefix-map={folder}={name}" for name, folder in library_names(library, headers).items()]
    return (*_DEVICE, f"--target={target}", *ours, *theirs, *names)


def cccl_flags(headers: Cccl | None) -> tuple[str, ...]:
    """The flags for the headers of Thrust, CUB and libcu++. Their ranges want more of NVTX's C++ than ours has."""
    return ("-isystem", str(headers.folder), "-DCCCL_DISABLE_NVTX") if headers else ()


def library_names(library: Libraries | None, headers: Cccl | None) -> dict[str, str]:
    """The name that stands for a folder of headers in debug info -> the folder."""
    names = {"<gpuprof>": str(INCLUDE)}
    if library is not None:
        names |= library.names
    if headers is not None:
        names["<cccl>"] = str(headers.folder)
    return names


def _identity(clang: str, headers: Cccl | None) -> str:
    used = f", {headers.identity}" if headers else ""
    return f"{clang}, llvmlite {version('llvmlite')}{used}, {cache.own_files()}"
