"""gpuprof compile: CUDA C++ or PTX to a gpubin."""

from pathlib import Path

import click

from gpuprof.cli.options.building import build_options, flags_for_compilers
from gpuprof.cli.options.near_choice import NearChoice
from gpuprof.cli.options.outputs import OutputPath, claim, force_option, gpubin, ptx
from gpuprof.errors import UsageError
from gpuprof.run.compile_file import DEFAULT_CHIP, BuildOptions, build_ptx, check_source, other_arch, read_source

KINDS = {"gpubin": gpubin, "ptx": ptx}  # of --emit


@click.command("compile", short_help="Compile CUDA C++ or PTX to a gpubin (ELF).")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=OutputPath(gpubin, ptx),
    metavar="OUT",
    help="The file to write.  [default: FILE's name with .gpubin or .ptx, in this folder]",
)
@force_option
@click.option(
    "--chip",
    "chip_name",
    default=DEFAULT_CHIP,
    show_default=True,
    metavar="NAME",
    help="The chip to compile for: see `gpuprof list chips`.",
)
@click.option(
    "--emit",
    type=NearChoice(tuple(KINDS)),
    default="gpubin",
    show_default=True,
    help="The kind of file to write.",
)
@click.option(
    "--kernel",
    "names",
    multiple=True,
    metavar="NAME",
    help="A template kernel to instantiate, such as 'scan<256>'. Repeatable.",
)
@build_options
def command(
    file: Path,
    output: Path | None,
    force: bool,
    chip_name: str,
    emit: str,
    names: tuple[str, ...],
    options: BuildOptions,
):
    """Compile FILE.cu or FILE.ptx, and print the resources of each kernel."""
    output = output or Path(f"{file.stem}.{emit}")
    check_source(file)
    if file.suffix == ".ptx":
        _refuse(f"{file}: a .ptx file is already compiled", {"--kernel": names, **flags_for_compilers(options)})
    if emit == "ptx":
        _refuse("--emit ptx: registers are allocated after PTX", {"--max-registers": options.max_registers})

    claim(output, KINDS[emit], (file, Path(chip_name), Path(options.compiler)), force)

    from gpuprof.chips import load_chip

    arch = load_chip(chip_name).arch
    module = read_source(file, arch=arch, names=names, options=options)
    if notice := other_arch(module, file, arch):
        click.echo(f"gpuprof: {notice}", err=True)
    if emit == "ptx":
        _write(output, module.ptx.encode("utf-8", "surrogateescape"))
        _say(f"{output}: PTX for {module.arch}")
        return

    program, image = build_ptx(module, options)
    _write(output, image)
    _summarise(program, output)


def _refuse(why: str, flags: dict[str, object]) -> None:
    """Raises UsageError when one of these flags is given: it would do nothing."""
    given = [flag for flag, value in flags.items() if value]
    if given:
        raise UsageError(f"{why}; leave out {', '.join(given)}")


def _write(path: Path, data: bytes) -> None:
    from gpuprof.base.files import replacing

    with replacing(path) as partial:
        partial.write_bytes(data)


def _summarise(program, output: Path) -> None:
    kernels = [f for f in program.functions if f.is_kernel]
    for f in kernels:
        _say(
            f"{f.display}: {f.registers} registers, {f.spill_nbytes} bytes spilled, {f.shared_nbytes} bytes shared,"
            f" {f.count} instructions -> {output}"
        )
    if not kernels:
        _say(f"no kernels, {len(program.functions)} device functions -> {output}")


def _say(text: str) -> None:
    from gpuprof.isa.printing.printable import printable

    click.echo(printable(text))
