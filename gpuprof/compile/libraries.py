"""The C and C++ libraries whose headers a source is compiled with: those of the ziglang wheel, or those of the user's
own g++ or clang++. Host and device code of a program have the same ones, since names and layouts of std:: come from
them.
"""

import importlib.util
import os
import platform
import shutil
from functools import cache as remembered
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.scratch import temporary_folder
from gpuprof.compile import cache
from gpuprof.compile.child import Ended, diagnostics_of, run_child
from gpuprof.errors import CompileError, UsageError

MACHINES = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
AUTO, ZIG = "auto", "zig"
WHEEL_TRIPLE = "{}-unknown-linux-musl"
USUAL = ("g++", "clang++")  # in the order that `auto` looks for them

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
_FOLDERS = (
    "libcxx/include",
    "libcxxabi/include",
    "include",
    "libc/include/{machine}-linux-musl",
    "libc/include/generic-musl",
    "libc/include/{linux}-linux-any",
    "libc/include/any-linux-any",
)
_LINUX_NAMES = {"x86_64": "x86", "aarch64": "aarch64"}

# A program that needs the headers and the libraries that most need.
TRIAL = """\
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>
int main()
{
    std::vector<std::string> names(2, "a");
    std::thread([&] { std::sort(names.begin(), names.end()); }).join();
    std::cout << names[0];
}
"""


class Libraries(NamedTuple):
    """`cxx`, `c`: flags for a language's headers; `triple`: whose libraries they are. `linker`: the command of the
    compiler that has them, none where these are the wheel's. `names`: what debug info calls a folder of C++'s headers
    -> the folder. `identity`: what a cached result depends on.
    """

    triple: str
    cxx: tuple[str, ...]
    c: tuple[str, ...]
    names: dict[str, str]
    linker: str = ""
    identity: str = ""


class Unusable(NamedTuple):
    """Why a compiler cannot be the host's."""

    why: str


def wheel() -> Path | None:
    """The folder of the ziglang wheel, where it is installed."""
    spec = importlib.util.find_spec("ziglang")
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def of_wheel(machine: str = "x86_64") -> Libraries:
    """The libraries of the ziglang wheel, for a machine of Linux: by default the same on every one."""
    library = wheel() / "lib"
    flags = ["-nostdinc", "-nostdinc++"]
    for folder in _FOLDERS:
        flags += ["-isystem", str(library / folder.format(machine=machine, linux=_LINUX_NAMES[machine]))]
    flags += [f"-D{each}" for each in _LIBCXX]
    return Libraries(WHEEL_TRIPLE.format(machine), tuple(flags), tuple(flags), {"<ziglang>": str(library)})


@remembered
def of_host(named: str) -> Libraries | None:
    """The libraries of a --host-compiler: "auto", "zig" or a program. None stands for the wheel's, which `auto` takes
    where no compiler works.

    Raises UsageError for a program that is not there, CompileError for one that cannot build a program.
    """
    if named == ZIG or wheel() is None:
        return None
    if named == AUTO:
        usable = (_described(path) for each in USUAL if (path := shutil.which(each)))
        return next((each for each in usable if isinstance(each, Libraries)), None)
    path = shutil.which(named)
    if path is None:
        raise UsageError(f"--host-compiler {named}: no such program; name a g++ or clang++, or zig for gpuprof's own")
    found = _described(os.path.abspath(path))
    if isinstance(found, Unusable):
        raise CompileError(f"--host-compiler {named}: {found.why}")
    return found


def _described(path: str) -> Libraries | Unusable:
    """A compiler's libraries, once it has built a trial program; that is found out once for each compiler."""
    stamp = os.stat(path)
    identity = f"{path} {os.path.realpath(path)} {stamp.st_size} {stamp.st_mtime_ns}"
    parts = (identity, *cache.environment_parts(), TRIAL, str(wheel()), cache.own_files())
    key = cache.digest([each.encode("utf-8", "surrogateescape") for each in parts])
    known = cache.values(key)
    if known is None:
        found = _asked(path, identity)
        known = found._asdict()
        cache.store_values(key, known)
    if "why" in known:
        return Unusable(**known)
    return Libraries(**known | {each: tuple(known[each]) for each in ("cxx", "c")})


def _asked(path: str, identity: str) -> Libraries | Unusable:
    machine, version = (_answer(path, option) for option in ("-dumpmachine", "--version"))
    own = _answer(path, "-print-file-name=include")
    if MACHINES.get(machine.partition("-")[0]) != MACHINES.get(platform.machine()) or "linux" not in machine:
        return Unusable(f"it compiles for {machine or 'no machine that it names'}, and this is {platform.machine()}")
    cxx, c = (_headers(path, language, own) for language in ("c++", "c"))
    folders = [each for each in cxx if each not in c]
    if not folders:
        return Unusable("it has no headers of C++'s library; install them (libstdc++-dev)")
    names = {f"<c++{number or ''}>": folder for number, folder in enumerate(folders)}
    libc = "musl" if "musl" in machine else "gnu"
    triple = f"{MACHINES[platform.machine()]}-unknown-linux-{libc}"
    found = Libraries(triple, _flags(cxx, own), _flags(c, own), names, path, f"{identity} {machine} {version}")
    return _tried(found)


def _answer(path: str, option: str) -> str:
    done = _run([path, option])
    return done.out.decode("utf-8", "replace").strip() if not done.code else ""


def _run(command: list[str], source: str = "") -> Ended:
    return run_child(command, command[0], source.encode(), {**cache.environment(), "LC_ALL": "C"})


def _headers(path: str, language: str, own: str) -> list[str]:
    """The folders in which a compiler looks for headers, in its order, as it prints them. `own`: of those that belong
    to it; clang's own, which it must have in their place, is the empty name.
    """
    lines = _run([path, "-E", "-v", "-x", language, "-"]).errors.decode("utf-8", "surrogateescape").splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith("#include <")), len(lines))
    folders = []
    for line in lines[start + 1 :]:
        if not line.startswith(" "):
            break
        folder = os.path.normpath(line.strip().removesuffix(" (framework directory)"))
        if os.path.realpath(folder) == os.path.realpath(own):
            folders.append("")
        elif not os.path.realpath(folder).endswith("/include-fixed"):
            folders.append(folder)
    return folders


def _flags(folders: list[str], own: str) -> tuple[str, ...]:
    """The compiler's own headers are for its own builtins: clang's come in their place, and they after all others, for
    those of libraries among them (quadmath.h).
    """
    flags = ["-nostdinc", "-nostdinc++"]
    for folder in folders:
        flags += ["-isystem", folder or str(wheel() / "lib/include")]
    return (*flags, "-idirafter", own)


def _tried(found: Libraries) -> Libraries | Unusable:
    """`found`, if its headers compile and its linker links what is made with them."""
    with temporary_folder() as folder:
        source, made = folder / "trial.cpp", folder / "trial.o"
        source.write_text(TRIAL, encoding="utf-8")
        compiling = [str(wheel() / "zig"), "clang", f"--target={found.triple}", "-fno-pie", *found.cxx]
        for command in (
            [*compiling, "-c", str(source), "-o", str(made)],
            [found.linker, "-no-pie", str(made), "-o", str(folder / "trial")],
        ):
            done = _run(command)
            if done.code:
                return Unusable(f"it cannot build a C++ program here: {_first_error(diagnostics_of(done))}")
    return found


def _first_error(messages: str) -> str:
    lines = [line for line in messages.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line), (lines or ["it printed no message"])[-1])
