"""The flags of every command that compiles, and the build.BuildOptions they make."""

from collections.abc import Callable
from functools import wraps

import click

from gpuprof.build import BuildOptions

_FLAGS = (
    click.option(
        "--max-registers", type=click.IntRange(min=16), metavar="N", help="Registers per thread at most; what does not fit is spilled."
    ),
    click.option(
        "--compiler", metavar="NAME", help="clang, which comes with gpuprof; nvcc, where installed; or the path of another of them."
    ),
    click.option("-I", "include_dirs", multiple=True, metavar="DIR", help="A folder to look for headers in."),
    click.option("-D", "defines", multiple=True, metavar="NAME=VALUE", help="Define a macro."),
    click.option("-O", "optimize", type=click.IntRange(0, 3), default=3, show_default=True, help="How much the compiler optimizes."),
    click.option("--std", "standard", metavar="NAME", help="The C++ standard, such as c++17.  [default: c++20; nvcc: its own]"),
)


def build_options(command: Callable) -> Callable:
    """Gives a command the flags, and the BuildOptions they make as its argument `options`."""

    @wraps(command)
    def with_options(*, max_registers, compiler, include_dirs, defines, optimize, standard, **others):
        options = BuildOptions(include_dirs, defines, compiler or BuildOptions.compiler, optimize, standard, max_registers)
        return command(options=options, **others)

    for flag in reversed(_FLAGS):
        with_options = flag(with_options)
    return with_options


def flags_for_compilers(options: BuildOptions) -> dict[str, object]:
    """Flag -> what was given, empty where nothing was: those that do nothing to PTX."""
    return {
        "-I": options.include_dirs,
        "-D": options.defines,
        "--compiler": options.compiler if options.compiler != BuildOptions.compiler else None,
        "-O": options.optimize != BuildOptions.optimize,
        "--std": options.standard,
    }
