"""An executable that nvcc has built with `-cudart shared`: it finds our runtime library in place of NVIDIA's."""

import os
import struct
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.inputs import is_regular
from gpuprof.base.scratch import temporary_folder
from gpuprof.base.stages import stage
from gpuprof.compile import cache
from gpuprof.compile.child import diagnostics_of, run_child
from gpuprof.compile.host import host_toolchain
from gpuprof.cuda import RUNTIME
from gpuprof.errors import CompileError, UsageError
from gpuprof.program.api_table import api_functions, refusal
from gpuprof.program.build import Executable, linkers_environment, programs_folder, put
from gpuprof.program.calls import header

ELF_MAGIC = b"\x7fELF"
MACHINES, MACHINE_PLACE = (62, 183), slice(18, 20)  # x86-64 and aarch64; a gpubin or cubin is ELF for another
LIBRARY = "libcudart.so."  # and the number of CUDA's version
DEVICE_CODE = ".nv_fatbin"
# What pyelftools raises, besides its own errors, for files that contradict themselves: OSError for a place before the
# file's beginning.
DAMAGED = (
    *(struct.error, ValueError, LookupError, AttributeError, TypeError, ArithmeticError),
    *(OSError, AssertionError, MemoryError, RecursionError),
)


def is_binary(path: Path) -> bool:
    """True if a file is a program of a processor's, rather than a source or a GPU's code."""
    if not is_regular(path):
        return False
    try:
        with open(path, "rb") as file:
            start = file.read(MACHINE_PLACE.stop)
            return start.startswith(ELF_MAGIC) and int.from_bytes(start[MACHINE_PLACE], "little") in MACHINES
    except OSError:  # it may not be read
        return False


def open_binary(path: Path) -> Executable:
    """The executable with the library that it runs on.

    Raises UsageError for one that may not be executed, that does not take the CUDA runtime from a shared library, or
    that calls what gpuprof does not have; CompileError where ours cannot be built.
    """
    if not os.access(path, os.X_OK):
        raise UsageError(f"{path}: may not be executed; `chmod +x {path}` allows it")
    name = library_name(path)
    functions = api_functions()
    missing = [each for each in wanted_calls(path) if each in functions and not functions[each].is_here]
    if missing:
        raise UsageError(f"{path}: {refusal(missing)}")
    return Executable(path.absolute(), (path,), (path,), library_folder=_runtime(name))


def library_name(path: Path) -> str:
    """The name by which an executable wants the CUDA runtime. Raises UsageError where it has none."""
    linked = _linked(path)
    library = next((name for name in linked.libraries if name.startswith(LIBRARY)), None)
    if library is not None and library.removeprefix(LIBRARY).isdecimal():
        return library
    if DEVICE_CODE in linked.sections:
        raise UsageError(
            f"{path}: the CUDA runtime is linked in, where gpuprof cannot reach it; link with `nvcc -cudart shared`"
        )
    raise UsageError(f"{path}: an executable without CUDA's runtime; gpuprof runs what `nvcc -cudart shared` builds")


def wanted_calls(path: Path) -> list[str]:
    """The functions of CUDA's runtime that an executable takes from its library. Raises UsageError if it is damaged."""
    return [name for name in _linked(path).undefined if name.startswith("cuda")]


class Linked(NamedTuple):
    """The libraries of an executable, by name and in order; the names of its sections, and of the symbols
    that it takes from them.
    """

    libraries: list[str]
    sections: frozenset[str]
    undefined: list[str]


def _linked(path: Path) -> Linked:
    """Raises UsageError for a damaged executable."""
    from elftools.common.exceptions import ELFError  # only a binary needs pyelftools
    from elftools.construct import ConstructError
    from elftools.elf.dynamic import DynamicSection
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    with open(path, "rb") as file:
        try:
            elf = ELFFile(file)
            dynamic = elf.get_section_by_name(".dynamic")
            tags = dynamic.iter_tags("DT_NEEDED") if isinstance(dynamic, DynamicSection) else ()
            needed = [vars(tag)["needed"] for tag in tags]  # pyelftools names the attribute by the tag
            symbols = elf.get_section_by_name(".dynsym")
            entries = symbols.iter_symbols() if isinstance(symbols, SymbolTableSection) else ()
            undefined = [each.name for each in entries if each["st_shndx"] == "SHN_UNDEF"]
            return Linked(needed, frozenset(section.name for section in elf.iter_sections()), undefined)
        except (ELFError, ConstructError, *DAMAGED) as error:
            raise UsageError(f"{path}: a damaged executable: {error}") from None


def _runtime(name: str) -> Path:
    """The folder that holds our runtime as a shared library of this name; it is built at its first use."""
    tools = host_toolchain()
    sources = sorted(RUNTIME.glob("*.cpp"))
    texts = [path.read_bytes() for path in (*sources, *sorted(RUNTIME.glob("*.h")))]
    flags = (*tools.shared, f"-Wl,-soname,{name}")
    parts = [*texts, header().encode(), tools.identity.encode(), *(flag.encode() for flag in flags)]
    folder = programs_folder()
    cached = folder / f"shared-{cache.digest(parts)[:32]}"
    if (cached / name).is_file():
        return cached
    with stage("building the runtime library"), temporary_folder() as scratch:
        (scratch / "calls.h").write_text(header(), encoding="utf-8")
        # The calls have the version that executables ask for. The clocks have none, and so go before libc's.
        script = scratch / "versions"
        script.write_text(f"{name} {{ global: cuda*; __cuda*; }};\n", encoding="utf-8")
        new = scratch / name
        command = [*flags, f"-Wl,--version-script={script}", "-I", str(scratch), *map(str, sources), "-o", str(new)]
        ended = run_child(command, name, env=linkers_environment(folder))
        if ended.code:
            raise CompileError(f"{name} cannot be built", diagnostics_of(ended))
        cached.mkdir(exist_ok=True)
        put(new, cached / name)
    return cached
