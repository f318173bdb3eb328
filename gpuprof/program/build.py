"""Builds a CUDA program's host code with the clang of the ziglang wheel, and links it with our runtime library, by the
linker of that wheel or of the user's compiler.

Device code is compiled apart from it, as any .cu file is: the executable holds a key, no code.
"""

import glob
import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.folders import cache_folder
from gpuprof.base.inputs import check_is_file
from gpuprof.base.scratch import temporary_folder
from gpuprof.base.stages import stage
from gpuprof.compile import absent, cache
from gpuprof.compile.attempts import Repaired, Sources, compiled, flags_of
from gpuprof.compile.child import Ended, diagnostics_of, run_child
from gpuprof.compile.cuda import LAUNCHES, linked_flags
from gpuprof.compile.host import HostToolchain, host_toolchain
from gpuprof.compile.includes import included_files
from gpuprof.compile.source import headers_of, read_source
from gpuprof.compile.toolchain import Headers
from gpuprof.cuda import RUNTIME
from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.errors import CompileError, UsageError
from gpuprof.program.api_table import refusal
from gpuprof.program.calls import header

CUDA_SUFFIXES = (".cu",)
HOST_SUFFIXES = (".cpp", ".cc", ".cxx", ".c")
KEY = "gpuprof module "  # begins the key of a module in the executable; its number follows
# `__managed__` variables: their addresses are those of device memory, which begins with them. The system puts the heap
# after the last section: that must be none in device memory. AT: segments of their own, by lld, too.
HEAP_BASE = 0x70_0000_0000
MANAGED = b"gpuprof_managed\0"
MANAGED_SCRIPT = f"""\
SECTIONS {{
  gpuprof_managed {GLOBAL_BASE:#x} : AT({GLOBAL_BASE:#x}) {{ *(gpuprof_managed) }}
  gpuprof_heap {HEAP_BASE:#x} : AT({HEAP_BASE:#x}) {{ *(gpuprof_heap) }}
}} INSERT AFTER .bss;
"""
# A call that no header declares (in C++, in C), one that the library does not define, and one that a header refuses.
CUDA_CALL = re.compile(
    r"(?:undefined symbol: |undefined reference to [`']|undeclared (?:identifier|function) '"
    r"|call to '(?=\w+' declared with))"
    r"((?:cuda|cu|nvtx)[A-Z]\w+)"
)
# A program that uses no symbol of C++'s library is linked without it: to build that takes a minute the first time.
CXX_SYMBOLS = tuple(
    f"undefined symbol: {name}"
    for name in ("_Z", "std::", "operator ", "__cxa", "__gxx", "_Unwind", "typeinfo", "vtable")
)


@dataclass(frozen=True)
class HostOptions:
    """The flags of a program's build. `standard`: such as "c++17"; `cccl`: as in `cccl.find`; `links_device`: the .cu
    files are one module, as `nvcc -rdc=true` makes of them. `host_compiler`: as in `libraries.of_host`; `libraries`
    are linked, and looked for in `library_dirs` first.
    """

    include_dirs: tuple[str, ...]
    defines: tuple[str, ...]
    standard: str
    optimize: int
    cccl: str
    links_device: bool
    host_compiler: str
    libraries: tuple[str, ...] = ()
    library_dirs: tuple[str, ...] = ()

    @property
    def link_flags(self) -> tuple[str, ...]:
        return (*(f"-L{each}" for each in self.library_dirs), *(f"-l{each}" for each in self.libraries))

    def linked_files(self) -> list[Path]:
        """The files in `library_dirs` that may be linked; those of the system stay as they are."""
        places = [(Path(each), name) for each in self.library_dirs for name in self.libraries]
        return sorted(path for folder, name in places for path in folder.glob(f"lib{glob.escape(name)}.*"))


class Executable(NamedTuple):
    """`modules`: the .cu files, in the order of their keys' numbers; of another's executable, itself. `links_device`:
    together they are one module. `objects`: the files with the program's own code, without gpuprof's.
    """

    path: Path
    modules: tuple[Path, ...]
    objects: tuple[Path, ...]
    links_device: bool = False
    library_folder: Path | None = None  # of the shared library that it needs

    @property
    def library_file(self) -> Path | None:
        """The shared library: the only file there."""
        return next(self.library_folder.iterdir()) if self.library_folder else None


def build_program(sources: Sequence[Path], options: HostOptions, arch: str) -> Executable:
    """The executable of a program's sources. It is cached, and built again only when one of them or of their headers
    changes.

    Raises CompileError with the compiler's or linker's own words, UsageError for a file that is none.
    """
    tools = host_toolchain(Headers(options.cccl, options.host_compiler))
    folder = programs_folder()
    library = _library(tools, folder)
    modules = tuple(path for path in sources if path.suffix in CUDA_SUFFIXES)
    objects = []
    for path in sources:
        number = modules.index(path) if path in modules else None
        objects.append(compile_object(path, number, options, arch, tools, folder))
    own = tuple(objects)
    registering = linking_source(path.read_bytes() for path in objects)
    if registering:
        objects.append(_linking_object(registering.encode(), tools, folder))
    return Executable(_linked(objects, library, options, tools, folder), modules, own, options.links_device)


def module_number(key: bytes, n_modules: int) -> int:
    """The inverse of the key that `build_program` puts into an executable. Raises UsageError for another's."""
    text = key.decode("utf-8", "replace")
    number = text.removeprefix(KEY)
    if not text.startswith(KEY) or not number.isdecimal() or int(number) >= n_modules:
        raise UsageError("the executable holds device code that gpuprof did not put there; build it with gpuprof")
    return int(number)


def programs_folder() -> Path:
    """The folder of cached executables and libraries."""
    try:
        return cache_folder("programs", is_executed=True).path
    except OSError as error:
        raise UsageError(f"a program needs a folder to be built in: {error}") from None


def _library(tools: HostToolchain, folder: Path) -> list[Path]:
    """The objects of our runtime library."""
    sources = sorted(RUNTIME.glob("*.cpp"))
    texts = [path.read_bytes() for path in (*sources, *sorted(RUNTIME.glob("*.h")))]
    key = cache.digest([*texts, header().encode(), tools.identity.encode(), *(flag.encode() for flag in tools.library)])
    cached = folder / f"runtime-{key[:32]}"
    wanted = [cached / f"{path.stem}.o" for path in sources]
    if all(path.is_file() for path in wanted):
        return wanted
    with stage("building the runtime library"), temporary_folder() as scratch:
        (scratch / "calls.h").write_text(header(), encoding="utf-8")
        cached.mkdir(exist_ok=True)
        for path, made in zip(sources, wanted, strict=True):
            new = scratch / made.name
            command = [*tools.clang, *tools.library, "-I", str(scratch), "-c", str(path), "-o", str(new)]
            _run(command, f"{path.name} of the runtime library")
            put(new, made)
    return wanted


def compile_object(
    path: Path, number: int | None, options: HostOptions, arch: str, tools: HostToolchain, folder: Path
) -> Path:
    check_is_file(path)
    source = read_source(str(path))
    file = f"./{path}" if str(path).startswith("-") else str(path)  # a file, not a flag
    included_files(str(path), source, options.include_dirs)  # refuses what clang should not open
    flags = [f"-std={options.standard}" if path.suffix != ".c" else "-std=gnu17", f"-O{options.optimize}"]
    flags += [*(f"-I{each}" for each in options.include_dirs), *(f"-D{each}" for each in options.defines)]
    language = "cuda" if number is not None else "c" if path.suffix == ".c" else "c++"
    identity = (str(path.absolute()), os.getcwd())  # __FILE__, and what relative folders of headers are
    headers = tools.c if language == "c" else tools.cxx
    parts = (
        *(source, language, str(number), str(options.links_device), arch, *identity),
        *(*flags, *tools.host, *headers, tools.identity),
    )
    key = cache.digest([each.encode("utf-8", "surrogateescape") for each in (*parts, *cache.environment_parts())])
    made, listed = folder / f"{key[:32]}.o", folder / f"{key[:32]}.json"
    if _is_fresh(made, listed):
        return made
    with stage(f"compiling {path.name} for the host"), temporary_folder() as scratch:
        new, dependencies = scratch / "host.o", scratch / "headers.d"
        command = [
            *tools.clang,
            *tools.host,
            *headers,
            *flags,
            "-MD",
            "-MF",
            str(dependencies),
            "-MT",
            "o",
            "-o",
            str(new),
        ]
        if number is None:
            command += ["-x", language]
        else:
            blob = scratch / "key"
            blob.write_bytes(f"{KEY}{number}".encode() + b"\0")
            command += [
                *tools.cuda,
                *(linked_flags(number) if options.links_device else []),
                f"--cuda-gpu-arch={arch}",
                "-Xclang",
                "-fcuda-include-gpubinary",
                "-Xclang",
                str(blob),
            ]
        _compile([*command, "-c", file], path, source, tools)
        opened = headers_of(dependencies.read_text(encoding="utf-8", errors="replace"))
        put(new, made)
        known = {each: cache.file_digest(each) for each in opened if not tools.is_library(each)}
        (scratch / "list").write_text(json.dumps(known), encoding="utf-8")
        put(scratch / "list", listed)
    return made


def _linking_object(source: bytes, tools: HostToolchain, folder: Path) -> Path:
    made = folder / f"{cache.digest([source, tools.identity.encode()])[:32]}.o"
    if not made.is_file():
        with temporary_folder() as scratch:
            text, new = scratch / "link.c", scratch / "link.o"
            text.write_bytes(source)
            _run(
                [*tools.clang, *tools.host, *tools.c, "-x", "c", "-c", str(text), "-o", str(new)],
                "what links device code",
            )
            put(new, made)
    return made


def _is_fresh(made: Path, listed: Path) -> bool:
    try:
        known = json.loads(listed.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return made.is_file() and all(cache.file_digest(path) == digest for path, digest in known.items())


def _linked(
    objects: Sequence[Path], library: Sequence[Path], options: HostOptions, tools: HostToolchain, folder: Path
) -> Path:
    parts = [path.read_bytes() for path in (*objects, *library)]
    flags = (*tools.link, *options.link_flags, *map(_stamp, options.linked_files()), os.getcwd(), tools.identity)
    made = folder / f"{cache.digest([*parts, *map(os.fsencode, flags)])[:32]}.exe"
    if made.is_file():
        return made
    with temporary_folder() as scratch:  # its name has no comma
        new = scratch / "program"
        script = scratch / "managed.ld"
        script.write_text(MANAGED_SCRIPT, encoding="utf-8")
        has_managed = any(MANAGED in part for part in parts[: len(objects)])
        files = [f"-Wl,-T,{script}"] if has_managed else []
        files += [*map(str, objects), *map(str, library), "-o", str(new), *options.link_flags]
        with stage(
            "linking"
            if tools.link == tools.link_cxx
            else "linking (the first time builds the C library: half a minute)"
        ):
            ended = run_child([*tools.link, *files], "the program", env=linkers_environment(folder))
        if ended.code and tools.link_cxx != tools.link and any(each in diagnostics_of(ended) for each in CXX_SYMBOLS):
            with stage("linking with C++'s library (the first time builds it: a minute)"):
                ended = run_child([*tools.link_cxx, *files], "the program", env=linkers_environment(folder))
        if ended.code:
            raise CompileError(
                f"the program does not link{_missing_calls(diagnostics_of(ended))}", diagnostics_of(ended)
            )
        new.chmod(0o700)
        put(new, made)
    return made


def _stamp(path: Path) -> str:
    stamp = path.stat()
    return f"{path} {stamp.st_size} {stamp.st_mtime_ns}"


def _missing_calls(diagnostics: str) -> str:
    """The message about CUDA calls that do not exist here."""
    names = dict.fromkeys(CUDA_CALL.findall(diagnostics))
    return f": {refusal(names)}" if names else ""


def linkers_environment(folder: Path) -> dict[str, str]:
    """Zig keeps the C libraries that it builds with our other files, unless the user says where."""
    cached = str(folder / "zig")
    return {"ZIG_GLOBAL_CACHE_DIR": cached, "ZIG_LOCAL_CACHE_DIR": cached} | cache.environment()


def _compile(command: Sequence[str], path: Path, source: str, tools: HostToolchain) -> None:
    """Compiles a source, like `_run`, with the forms of nvcc's dialect. One whose kernels launch kernels gets the flags
    that compile/cuda.py gives it.
    """
    with temporary_folder() as folder:

        def run(repaired: Repaired) -> Ended:
            flags = flags_of(repaired, folder)
            once = partial(run_child, what=str(path), env=cache.environment())
            ended = once([*command[:-2], *flags, *command[-2:]])
            launches = ended.code and LAUNCHES in diagnostics_of(ended)
            return once([*command[:-2], *flags, *linked_flags(0), *command[-2:]]) if launches else ended

        _check(compiled(run, command[-1], Sources({command[-1]: source}, tools.is_library), True), str(path))


def _run(command: Sequence[str], what: str) -> None:
    _check(run_child(command, what, env=cache.environment()), what)


def _check(ended: Ended, what: str) -> None:
    if ended.code:
        messages = diagnostics_of(ended)
        raise CompileError(
            f"{what} does not compile for the host{_missing_calls(messages)}{absent.hint_for(messages)}", messages
        )


def put(new: Path, made: Path) -> None:
    """Puts a file in its place at once: others see all of it or nothing."""
    near = made.with_name(f".new-{os.getpid()}-{made.name}")
    near.write_bytes(new.read_bytes())
    near.chmod(new.stat().st_mode & 0o700)
    os.replace(near, made)


# By clang's CGCUDANV.cpp; the end of the name is the object's own.
REGISTER = re.compile(rb"__cudaRegisterLinkedBinary_\w+")


def linking_source(objects: Iterable[bytes]) -> str:
    """A source in C in place of nvcc's link of device code; "" where no object needs it. Each object that clang
    makes with -fgpu-rdc calls a function of its own at its start, which the linker of device code makes.
    """
    names = dict.fromkeys(name.decode() for each in objects for name in REGISTER.findall(each))
    if not names:
        return ""
    lines = ["typedef void (*Register)(void **);", "void gpuprof_register_linked(Register globals, void *wrapper);"]
    for name in names:
        lines.append(f"void {name}(Register globals, void *wrapper, void *identity, void *call)")
        lines.append("{ gpuprof_register_linked(globals, wrapper); }")
    return "\n".join(lines) + "\n"
