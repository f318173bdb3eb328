"""Finds clang and gives it everything it needs from the package's own headers and the ziglang wheel, nothing from the
system.
"""

import importlib.util
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from gpuprof.compile import cache, cccl
from gpuprof.compile.cccl import Cccl
from gpuprof.cuda import FORWARDING, INCLUDE, LAST, PRELUDE
from gpuprof.errors import CompileError

# The headers under CUDA's names.
CUDA_HEADERS = ("-isystem", str(INCLUDE), "-ivfsoverlay", str(FORWARDING), "-idirafter", str(LAST))

# The same host on every machine: the sizes of `long` and the layout of structures come from it.
_HOST = "x86_64-unknown-linux-musl"

# No noundef analysis: lanes that a shuffle does not read may leave the variable they pass unset, and must stay free to.
_DEVICE = (
    "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version", "-fuse-cuid=none",
    "-Wno-register", "-std=c++20", "-Xclang", "-disable-llvm-passes", "-Xclang", "-disable-O0-optnone",
    "-ffp-contract=fast", "-g", "-Xclang", "-debug-info-kind=limited",
    "-Xclang", "-no-enable-noundef-analysis", "-Xclang", "-fcuda-short-ptr", "-mllvm", "--nvptx-short-ptr",
    "-fdebug-compilation-dir=.", "-emit-llvm", "-S",
)  # fmt: skip

# What `python -m ziglang c++ -### x.cpp` defines for its libc++ (0.17), with musl as the C library.
_LIBCXX = (
    "_LIBCPP_ABI_VERSION=1", "_LIBCPP_ABI_NAMESPACE=__1", "_LIBCPP_HAS_THREADS=1", "_LIBCPP_HAS_MONOTONIC_CLOCK",
    "_LIBCPP_HAS_TERMINAL",
    "_LIBCPP_HAS_MUSL_LIBC=1", "_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS", "_LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS",
    "_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0", "_LIBCPP_HAS_FILESYSTEM=1", "_LIBCPP_HAS_RANDOM_DEVICE",
    "_LIBCPP_HAS_LOCALIZATION",
    "_LIBCPP_HAS_UNICODE", "_LIBCPP_HAS_WIDE_CHARACTERS", "_LIBCPP_HAS_NO_STD_MODULES",
    "_LIBCPP_HAS_TIME_ZONE_DATABASE",
    "_LIBCPP_PSTL_BACKEND_SERIAL", "_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE",
    "_LIBCPP_HARDENING_MODE_DEFAULT=2",
    "_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE",
)  # fmt: skip

# Relative to the wheel's lib folder, in the order of search.
_LIBRARIES = (
    "libcxx/include",
    "libcxxabi/include",
    "include",
    "libc/include/{machine}-linux-musl",
    "libc/include/generic-musl",
    "libc/include/{linux}-linux-any",
    "libc/include/any-linux-any",
)
_LINUX_NAMES = {"x86_64": "x86", "aarch64": "aarch64"}


class Toolchain(NamedTuple):
    command: tuple[str, ...]  # how clang is started
    flags: tuple[str, ...]  # for every translation unit
    library_names: dict[str, str]  # what debug info calls a header folder -> the folder
    name: str  # for people: "ziglang 0.17.0"
    # what a cached result depends on besides source and flags: programs and their versions, this package's own files
    identity: str


def _wheel() -> Path | None:
    spec = importlib.util.find_spec("ziglang")
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def library_flags(library: Path, machine: str = "x86_64") -> list[str]:
    """Flags for the C and C++ libraries of the wheel's folder `lib`, on a machine of Linux."""
    flags = ["-nostdinc", "-nostdinc++"]
    for folder in _LIBRARIES:
        flags += ["-isystem", str(library / folder.format(machine=machine, linux=_LINUX_NAMES[machine]))]
    return flags + [f"-D{each}" for each in _LIBCXX]


def find(clang: str | None = None, cccl_release: str = "") -> Toolchain:
    """The clang of the ziglang wheel with the wheel's C and C++ libraries, or the one the user names, which has its own
    headers. Thrust and CUB are added where they are installed (`cccl.find`).

    Raises CompileError when there is none.
    """
    wheel, headers = _wheel(), cccl.find(cccl_release)
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
    name, library = f"ziglang {version('ziglang')}", wheel / "lib"
    names = library_names(library, headers)
    return Toolchain((str(wheel / "zig"), "clang"), _flags(library, headers), names, name, _identity(name, headers))


def _flags(library: Path | None, headers: Cccl | None) -> tuple[str, ...]:
    ours = (*CUDA_HEADERS, *cccl_flags(headers), "-include", str(PRELUDE))
    theirs = library_flags(library) if library is not None else []
    # Their place differs from machine to machine; what they are called in a profile must not.
    names = [f"-fdebug-prefix-map={folder}={name}" for name, folder in library_names(library, headers).items()]
    return (*_DEVICE, f"--target={_HOST}", *ours, *theirs, *names)


def cccl_flags(headers: Cccl | None) -> tuple[str, ...]:
    """The flags for the headers of Thrust, CUB and libcu++. Their ranges want more of NVTX's C++ than ours has."""
    return ("-isystem", str(headers.folder), "-DCCCL_DISABLE_NVTX") if headers else ()


def library_names(library: Path | None, headers: Cccl | None) -> dict[str, str]:
    """The name that stands for a folder of headers in debug info -> the folder."""
    names = {"<gpuprof>": str(INCLUDE)}
    if library is not None:
        names["<ziglang>"] = str(library)
    if headers is not None:
        names["<cccl>"] = str(headers.folder)
    return names


def _identity(clang: str, headers: Cccl | None) -> str:
    used = f", {headers.identity}" if headers else ""
    return f"{clang}, llvmlite {version('llvmlite')}{used}, {cache.own_files()}"
