"""The flags of every command that compiles, and the build.BuildOptions they make."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps

import click

from gpuprof.run.compile_file import BuildOptions

_MAX_REGISTERS = click.option(
    "--max-registers",
    type=click.IntRange(min=16),
    metavar="N",
    help="Largest number of registers per thread; other values are spilled.",
)
_LEVEL = click.option(
    "-O",
    "optimize",
    type=click.IntRange(0, 3),
    metavar="0..3",
    default=3,
    show_default=True,
    help="Optimization level of the compiler.",
)
_COMPILER_FLAGS = (
    click.option(
        "--compiler",
        metavar="NAME",
        help="clang (installed with gpuprof), nvcc, or the path of a clang or nvcc.  [default: clang]",
    ),
    click.option(
        "-I",
        "include_dirs",
        multiple=True,
        metavar="DIR",
        help="Search this folder for headers, and for the sources of a .ptx file. Repeatable.",
    ),
    click.option("-D", "defines", multiple=True, metavar="NAME=VALUE", help="Define a macro. Repeatable."),
    click.option(
        "--std", "standard", metavar="NAME", help="The C++ standard, such as c++17.  [default: c++20; nvcc: its own]"
    ),
    click.option(
        "--cccl",
        metavar="12|13",
        help="The release of Thrust, CUB and libcu++.  [default: the newest that is installed]",
    ),
)


_DEBUG_LEVEL = click.option(
    "-O",
    "optimize",
    type=click.IntRange(0, 3),
    metavar="0..3",
    help="Debug the code that `collect` runs, which keeps some variables.  [default: all are kept, as by nvcc -G]",
)


def _with_flags(command: Callable, level: Callable, is_debugged: bool = False) -> Callable:
    """`level`: the flag -O. `is_debugged`: the code is compiled for a debugger, but with -O0 as `collect` has it."""

    @wraps(command)
    def with_options(*, compiler, include_dirs, defines, optimize, standard, cccl, **others):
        compiler = compiler or BuildOptions.compiler
        options = BuildOptions(include_dirs, defines, compiler, optimize or 0, standard, cccl=cccl or "")
        return command(options=replace(options, for_debugger=is_debugged and optimize != 0), **others)

    for flag in reversed((*_COMPILER_FLAGS, level)):
        with_options = flag(with_options)
    return with_options


def compiler_options(command: Callable) -> Callable:
    """Gives a command the compilers' flags, and the BuildOptions they make as its argument `options`."""
    return _with_flags(command, _LEVEL)


_RDC = click.option(
    "--rdc",
    "links_device",
    is_flag=True,
    help="Link the device code of a program's sources, as `nvcc -rdc=true` does: kernels call what others define.",
)


def rdc_option(command: Callable) -> Callable:
    """Adds --rdc to a command. It stands below the decorator that makes the options."""

    @wraps(command)
    def with_rdc(*, links_device, options, **others):
        return command(options=replace(options, links_device=links_device), **others)

    return _RDC(with_rdc)


def _with_registers(command: Callable) -> Callable:
    @wraps(command)
    def with_registers(*, max_registers, options, **others):
        return command(options=replace(options, max_registers=max_registers), **others)

    return with_registers


def build_options(command: Callable) -> Callable:
    """Adds the flags of `compiler_options` and --max-registers to a command."""

    return _MAX_REGISTERS(compiler_options(_with_registers(command)))


def debug_options(command: Callable) -> Callable:
    """As `build_options`, but that without -O the code is compiled for a debugger."""
    return _MAX_REGISTERS(_with_flags(_with_registers(command), _DEBUG_LEVEL, is_debugged=True))


def flags_for_compilers(options: BuildOptions) -> dict[str, object]:
    """Flag -> what was given, empty where nothing was: those that do nothing to PTX."""
    return {
        "-D": options.defines,
        "--compiler": options.compiler if options.compiler != BuildOptions.compiler else None,
        "-O": options.optimize != BuildOptions.optimize,
        "--std": options.standard,
        "--cccl": options.cccl,
    }
