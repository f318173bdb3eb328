"""From a source file to a program: the compiler for .cu, the PTX reader for .ptx, the assembler for both."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpuprof.base.inputs import GPUBIN, check_is_file, is_regular, read_input
from gpuprof.base.stages import stage
from gpuprof.base.wording import base_name
from gpuprof.errors import UsageError

if TYPE_CHECKING:
    from gpuprof.compile import PtxModule
    from gpuprof.compile.source import ChangedSource
    from gpuprof.isa.program import Program

COMPILED = (".cu", ".cuh")  # by a compiler of CUDA C++
SOURCES = (*COMPILED, ".ptx")
DEFAULT_CHIP = "a100"


@dataclass(frozen=True)
class BuildOptions:
    """The flags of `gpuprof compile` that `gpuprof collect` has, too."""

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    compiler: str = "clang"  # "clang" is the one that comes with gpuprof; else "nvcc", or the path of either
    optimize: int = 3
    standard: str | None = None
    max_registers: int | None = None
    cccl: str = ""  # the release of Thrust and CUB, as cccl.RELEASES names it; "": the newest installed
    links_device: bool = False  # of a program's .cu files: they are one module, as `nvcc -rdc=true` makes of them
    host_compiler: str | None = None  # of a program, as `libraries.of_host` names it; its device code has its headers
    libraries: tuple[str, ...] = ()  # that a program is linked with
    library_dirs: tuple[str, ...] = ()
    fast_math: bool = False  # of floats, as by nvcc's --use_fast_math
    triton_config: str = ""  # that a script's Triton kernels are launched with, as run.triton_config has it
    for_debugger: bool = False  # the PTX says where variables are; with optimize=0 no statement is moved


DEFAULT_OPTIONS = BuildOptions()


def check_source(path: Path) -> None:
    """Raises UsageError for a file that is not there or that is no source."""
    check_is_file(path)
    if path.suffix not in SOURCES:
        raise UsageError(f"{path}: expected a {', '.join(SOURCES[:-1])} or {SOURCES[-1]} file")


def read_source(
    path: Path,
    *,
    arch: str,
    names: Iterable[str] = (),
    options: BuildOptions = DEFAULT_OPTIONS,
    source: str | None = None,
) -> "PtxModule":
    """The compile.PtxModule of a .cu or .ptx file. `names` are kernels; the template instances among them are
    instantiated. `source`: the text that is compiled in place of a .cu file's own.

    Raises what `check_source` and the compiler raise.
    """
    check_source(path)

    from gpuprof.compile import read_ptx
    from gpuprof.compile.source import ChangedSource

    if path.suffix == ".ptx":
        return read_ptx(path, options.include_dirs)
    with stage(f"compiling {path.name}"):
        text = path if source is None else ChangedSource(str(path), source)
        return compiled(text, arch, options, tuple(name for name in names if name.endswith(">")))


def compiled(
    path: "Path | ChangedSource", arch: str, options: BuildOptions, instantiate: Sequence[str] = ()
) -> "PtxModule":
    """The compile.PtxModule of a .cu file, in any thread. Raises what the compiler raises."""
    from gpuprof.compile import compile_cuda, compile_nvcc
    from gpuprof.compile.libraries import ZIG
    from gpuprof.compile.toolchain import Headers

    flags = {
        "arch": arch,
        "instantiate": instantiate,
        "include_dirs": options.include_dirs,
        "defines": options.defines,
        "optimize": options.optimize,
        "standard": options.standard,
        "fast_math": options.fast_math,
    }
    if Path(options.compiler).name.startswith("nvcc"):
        if options.cccl:
            raise UsageError(f"--cccl {options.cccl}: {options.compiler} brings its own; leave it out")
        return compile_nvcc(path, **flags, nvcc=options.compiler)
    clang = None if options.compiler == BuildOptions.compiler else options.compiler
    return compile_cuda(
        path,
        **flags,
        clang=clang,
        headers=Headers(options.cccl, options.host_compiler or ZIG),
        for_debugger=options.for_debugger,
    )


def linked(paths: Sequence[Path], arch: str, options: BuildOptions) -> "PtxModule":
    """The compile.PtxModule of .cu files whose device code is linked, in any thread. Raises what the compiler
    raises.
    """
    from gpuprof.compile.cuda import compile_linked
    from gpuprof.compile.libraries import ZIG
    from gpuprof.compile.toolchain import Headers

    return compile_linked(
        paths,
        arch=arch,
        include_dirs=options.include_dirs,
        defines=options.defines,
        optimize=options.optimize,
        standard=options.standard,
        headers=Headers(options.cccl, options.host_compiler or ZIG),
        fast_math=options.fast_math,
        for_debugger=options.for_debugger,
    )


def other_arch(made: "PtxModule | Program", path: Path, arch: str) -> str:
    """A sentence on code for another architecture than `arch`, since nvcc does not know that; "" for other code."""
    is_made_here = path.suffix in COMPILED and made.compiler.startswith("nvcc ")
    if not is_made_here or made.arch.removesuffix("a") == arch:
        return ""
    return f"{path}: {made.compiler} has no {arch}: compiled for {made.arch}"


def build(
    path: Path,
    *,
    arch: str,
    names: Iterable[str] = (),
    options: BuildOptions = DEFAULT_OPTIONS,
    source: str | None = None,
) -> tuple["Program", bytes]:
    """The program of a .cu, .ptx or .gpubin file, and its ELF image. `source`: as for `read_source`. Raises what that
    and the assembler raise.
    """
    if path.suffix == ".gpubin" and is_regular(path):
        from gpuprof.isa.gpubin.reader import read_gpubin

        image = read_input(path, GPUBIN)
        return read_gpubin(image, str(path)), image
    return build_ptx(read_source(path, arch=arch, names=names, options=options, source=source), options)


def build_ptx(module: "PtxModule", options: BuildOptions = DEFAULT_OPTIONS) -> tuple["Program", bytes]:
    """The program of a compiler's PTX, and its ELF image. Raises what the assembler raises."""
    from gpuprof.assemble.assemble import assemble_program
    from gpuprof.assemble.function_cache import function_cache
    from gpuprof.assemble.object.elf import write_gpubin

    with stage(f"assembling {base_name(module.name)}"):
        cache = function_cache(module, options.max_registers)
        program = assemble_program(module, max_registers=options.max_registers, cache=cache)
        if cache is not None:
            cache.save()
        return program, write_gpubin(program)
