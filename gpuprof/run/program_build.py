"""Builds a program before it starts: its host code, and at the same time its device code for the chip."""

import re
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from gpuprof.base.stages import stage
from gpuprof.compile.child import compilers
from gpuprof.compile.diagnostics import without_repeated
from gpuprof.compile.libraries import AUTO
from gpuprof.compile.module import PtxModule
from gpuprof.errors import CompileError, PtxError
from gpuprof.isa.program import Program
from gpuprof.program.binary import is_binary, open_binary
from gpuprof.program.build import CUDA_SUFFIXES, Executable, HostOptions, build_program
from gpuprof.run.compile_file import BuildOptions, build_ptx, compiled, linked, other_arch

# What the assembler says of a function and of a variable that the module does not define.
ELSEWHERE = re.compile("unsupported external function|is declared .extern")
RDC_HINT = "with --rdc, a .cu file finds what another defines"


@dataclass(frozen=True)
class BuiltProgram:
    """`code`: the device code of each .cu file, as an ELF image, too; one for all where it is linked. `notices`: what
    the user should know of it.
    """

    executable: Executable
    code: tuple[tuple[Program, bytes], ...] = ()
    notices: tuple[str, ...] = ()


def build_whole(sources: Sequence[Path], options: BuildOptions, arch: str) -> BuiltProgram:
    """The program of sources, or of an executable, whose device code is in it.

    Raises CompileError with the words of the compilers of host and device code, PtxError for device code that cannot be
    assembled, UsageError for a file that is none.
    """
    if is_binary(sources[0]):
        return BuiltProgram(open_binary(sources[0]))
    modules = tuple(path for path in sources if path.suffix in CUDA_SUFFIXES)
    with compilers() as start:
        host = start(build_program, sources, _host_options(options), arch)
        if options.links_device and modules:
            device = [start(linked, modules, arch, options)]
        else:
            device = [start(compiled, path, arch, options) for path in modules]
        executable = _waited(host)  # and the device's compilers are at work
        with stage(f"compiling {', '.join(path.name for path in modules)}"):
            made = [_waited(each) for each in device]
        if errors := [each for each in (executable, *made) if isinstance(each, CompileError)]:
            raise _together(errors)
    code = tuple(_assembled(each, options, len(modules)) for each in made)
    notices = (other_arch(each, path, arch) for each, path in zip(made, modules, strict=False))
    return BuiltProgram(executable, code, tuple(filter(None, notices)))


def _host_options(options: BuildOptions) -> HostOptions:
    return HostOptions(
        include_dirs=tuple(options.include_dirs),
        defines=tuple(options.defines),
        standard=options.standard or "",
        optimize=options.optimize,
        cccl=options.cccl,
        links_device=options.links_device,
        host_compiler=options.host_compiler or AUTO,
        libraries=tuple(options.libraries),
        library_dirs=tuple(options.library_dirs),
    )


def _waited(future: Future):
    """The result, or the CompileError in its place. Raises other errors."""
    try:
        return future.result()
    except CompileError as error:
        return error


def _together(errors: Sequence[CompileError]) -> CompileError:
    """One error of those of the host's compiler and the device's, in this order, which find most mistakes twice."""
    sentences: list[str] = []
    diagnostics: list[str] = []
    for error in errors:
        rest = without_repeated(error.diagnostics, diagnostics)
        is_repeated = error.diagnostics and not rest
        if not is_repeated and not any(each.startswith(str(error)) for each in sentences):
            sentences.append(str(error))
        diagnostics += [rest.rstrip("\n")] if rest else []
    return CompileError("; ".join(sentences), "\n".join(diagnostics))


def _assembled(module: PtxModule, options: BuildOptions, n_modules: int) -> tuple[Program, bytes]:
    try:
        return build_ptx(module, options)
    except PtxError as error:
        if ELSEWHERE.search(str(error)) and n_modules > 1 and not options.links_device:
            raise type(error)(f"{error}; {RDC_HINT}") from None
        raise
