"""gpuprof compile: CUDA C++ or PTX to a gpubin."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.formats import format_option
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import COMPILER, LIST, OUTPUT, Given, Option, is_given
from gpuprof.cli.options.outputs import OutputPath, claim, gpubin, ptx
from gpuprof.cli.options.settings import build_options_of
from gpuprof.cli.options.value_types import NearChoice
from gpuprof.errors import UsageError
from gpuprof.run.compile_file import DEFAULT_CHIP, build_ptx, check_source, other_arch, read_source

KINDS = {"gpubin": gpubin, "ptx": ptx}  # of --emit
FOR_COMPILERS = ("--kernel", "-D", "--compiler", "-O", "--use_fast_math", "--std", "--cccl")  # no effect on PTX


OWN = (
    Option("-o --output", "output", "The file to write.",
           metavar="OUT", type=OutputPath(gpubin, ptx), usual="FILE's name with .gpubin or .ptx, in this folder",
           group=OUTPUT),
    Option("--chip", "chip_name", "The chip to compile for: see `gpuprof list chips`.",
           metavar="NAME", default=DEFAULT_CHIP, group=OUTPUT),
    Option("--emit", "emit", "The kind of file to write.",
           type=NearChoice(tuple(KINDS)), default="gpubin", group=OUTPUT),
    Option("--kernel", "names", "A template kernel to instantiate, such as 'scan<256>'. Repeatable.",
           metavar="NAME", form=LIST, group=COMPILER),
    format_option(group=OUTPUT, json="one object: the kernels and their resources"),
)  # fmt: skip


@click.command("compile", cls=GroupedCommand, short_help="Compile CUDA C++ or PTX to a gpubin (ELF).")
@click.argument("file", type=click.Path(path_type=Path))
@options("compile", *OWN)
def command(file: Path, given: Given):
    """Compile FILE.cu or FILE.ptx, and print the resources of each kernel."""
    emit, builds = given.emit, build_options_of(given)
    output = given.output or Path(f"{file.stem}.{emit}")
    check_source(file)
    if file.suffix == ".ptx":
        _refuse(f"{file}: a .ptx file is already compiled", given, FOR_COMPILERS)
    if emit == "ptx":
        _refuse("--emit ptx: registers are allocated after PTX", given, ("--max-registers", "--format"))

    claim(output, KINDS[emit], (file, Path(given.chip_name), Path(given.compiler)), given.force)

    from gpuprof.chips import load_chip

    arch = load_chip(given.chip_name).arch
    module = read_source(file, arch=arch, names=given.names, options=builds)
    if notice := other_arch(module, file, arch):
        click.echo(f"gpuprof: {notice}", err=True)
    if emit == "ptx":
        _write(output, module.ptx.encode("utf-8", "surrogateescape"))
        _say(f"{output}: PTX for {module.arch}")
        return

    program, image = build_ptx(module, builds)
    _write(output, image)
    if given.format_ == "json":
        _say(_as_json(program, output))
    else:
        _summarise(program, output)


def _refuse(why: str, given: Given, flags: Sequence[str]) -> None:
    """Raises UsageError when one of these options is given: it would have no effect."""
    useless = [
        row.flags
        for row in given.options
        if row.flags in flags and is_given(value := getattr(given, row.name)) and value != row.default
    ]
    if useless:
        raise UsageError(f"{why}; leave out {', '.join(sorted(useless, key=flags.index))}")


def _write(path: Path, data: bytes) -> None:
    from gpuprof.base.files import replacing

    with replacing(path) as partial:
        partial.write_bytes(data)


def _summarise(program, output: Path) -> None:
    kernels = [f for f in program.functions if f.is_kernel]
    for f in kernels:
        _say(
            f"{f.display}: {f.registers} registers, {f.local_nbytes} bytes local ({f.spill_nbytes} spilled), "
            f"{f.shared_nbytes} bytes shared, {f.count} instructions -> {output}"
        )
    if not kernels:
        _say(f"no kernels, {len(program.functions)} device functions -> {output}")


def _as_json(program, output: Path) -> str:
    """The kernels' resources; bytes of local memory are of a thread, and those of spilled values among them."""
    kernels = [
        {
            "name": f.display,
            "symbol": f.name,
            "registers": f.registers,
            "local_nbytes": f.local_nbytes,
            "spill_nbytes": f.spill_nbytes,
            "shared_nbytes": f.shared_nbytes,
            "instructions": f.count,
        }
        for f in program.functions
        if f.is_kernel
    ]
    return json.dumps({"output": str(output), "arch": program.arch, "compiler": program.compiler, "kernels": kernels})


def _say(text: str) -> None:
    from gpuprof.isa.printing.printable import printable

    click.echo(printable(text))
