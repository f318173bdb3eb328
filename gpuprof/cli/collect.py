"""gpuprof collect: run kernels on the emulated GPU and record a profile."""

from collections.abc import Iterator
from pathlib import Path

import click

from gpuprof.base.heap import nothing_is_garbage
from gpuprof.base.stages import stage
from gpuprof.cli.options.arguments import WithArguments, arguments_behind
from gpuprof.cli.options.building import build_options, rdc_option
from gpuprof.cli.options.checking import checking_options, end_with, errors_said, findings_of
from gpuprof.cli.options.launching import CHIP_FLAG, LAUNCH_FLAG
from gpuprof.cli.options.near_choice import NearChoice
from gpuprof.cli.options.outputs import OutputPath, claim, force_option, recording
from gpuprof.cli.options.recording import (
    RECORDS,
    form_and_registers,
    load_settings,
    recorded_text,
    recording_flags,
    recording_options,
    relation_flags,
    relation_settings,
    say_results,
    trace_settings,
)
from gpuprof.cli.options.results import (
    check_results_flags,
    claim_saves,
    comparing_flags,
    raise_if_wrong,
    result_options,
)
from gpuprof.cli.options.sampler import DEFAULT_PERIOD_CYCLES, Cycles, sampler_flags, sampler_options
from gpuprof.cli.progress.display import Display
from gpuprof.errors import UsageError
from gpuprof.run.compile_file import SOURCES, BuildOptions

KINDS = (*SOURCES, ".gpubin", ".py")


@click.command("collect", cls=WithArguments, short_help="Run kernels on the emulated GPU and record a profile.")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("others", nargs=-1)
@LAUNCH_FLAG
@CHIP_FLAG
@sampler_options
@click.option(
    "--record",
    type=NearChoice(RECORDS),
    default="wide",
    show_default=True,
    help="Bytes of a sample: wide 32, compact 8. wide+counters adds a counter record for each SM and sampled cycle.",
)
@click.option(
    "--max-cycles",
    type=Cycles(1),
    metavar="N",
    help="Stop a kernel after N cycles.  [default: after 2^22 instructions of any warp]",
)
@click.option(
    "--sample-blocks",
    is_flag=True,
    help="Time blocks of a large launch until its rate settles, and extrapolate the rest.",
)
@recording_options
@checking_options
@click.option(
    "--no-profile-from-start",
    "waits_for_start",
    is_flag=True,
    help="Of a program, time no launch before cudaProfilerStart; it is only emulated.",
)
@click.option(
    "--save-stream",
    is_flag=True,
    help="Save the command stream with its data, for `gpuprof replay`.",
)
@result_options
@click.option(
    "-o",
    "--output",
    type=OutputPath(recording),
    metavar="OUT",
    help="The recording to write.  [default: FILE's name with .gprec, in this folder]",
)
@force_option
@build_options
@rdc_option
@click.pass_obj
def command(
    display: Display,
    file: Path,
    others: tuple[str, ...],
    launches: tuple[str, ...],
    chip_name: str | None,
    registers: dict,
    record: str,
    max_cycles: int | None,
    sample_blocks: bool,
    params: tuple[str, ...],
    passes: int | None,
    load_base: int | str | None,
    traces: tuple[str, ...],
    no_accesses: bool,
    rules: str | None,
    error_exitcode: int,
    limit: int,
    suppressions: str | None,
    waits_for_start: bool,
    save_stream: bool,
    wanted,
    output: Path | None,
    force: bool,
    options: BuildOptions,
):
    """Run the kernels of FILE (.cu, .ptx, .gpubin, or a .py script that launches kernels) and record a profile.

    A .cu file with a `main` and without launches in its comments is a whole program; OTHERS are more of its sources.

    \b
    gpuprof collect saxpy.cu --launch 'saxpy<<<64, 256>>>(16384, 2.0, f32[16384]=random, f32[16384])'
    gpuprof collect train.py -- --steps 3
    gpuprof collect app.cu io.cpp -- --size 1024
    """
    from gpuprof.run.program_run import check_linked

    output = output or Path(f"{file.stem}.gprec")
    sources = _program_sources(file, others, launches)
    script_args = arguments_behind() if sources else (*others, *arguments_behind())
    if not sources:
        check_file(file, launches, script_args)
    if waits_for_start and not sources:
        raise UsageError("--no-profile-from-start is for whole programs; leave it out")
    check_linked(options, bool(sources))
    check_results_flags(file, wanted)
    with stage("starting"), nothing_is_garbage():
        requests = [] if file.suffix == ".py" or sources else _requests(file, launches)
        folder = Path() if launches else file.parent  # of the arrays' files
        inputs = list(_inputs(file, chip_name, options, requests, folder, wanted, script_args))
        claim(output, recording, [*inputs, *map(Path, filter(None, (rules, suppressions)))], force)
        claim_saves(wanted, output, inputs, force)

        from gpuprof.chips.changes import parse_changes
        from gpuprof.cli.progress.terminal import Terminal
        from gpuprof.run.multipass import record as record_passes
        from gpuprof.run.run_settings import Settings
    from gpuprof.timing.sampling.configuration import Sampling
    from gpuprof.timing.sampling.control_registers import changed

    record, registers = form_and_registers(record, registers)
    sampling = changed(Sampling(DEFAULT_PERIOD_CYCLES), registers.items())

    findings = findings_of(limit, suppressions)
    results = []

    codes = []

    def run(settings):
        if sources:
            from gpuprof.run.program_run import run_program

            codes.append(run_program(sources, script_args, settings))
        elif file.suffix == ".py":
            from gpuprof.run.script import run_script

            run_script(file, script_args, settings)
        else:
            results.extend(_run_launches(file, requests, folder, sampling.seed, wanted, settings))

    with Terminal(display) as terminal:
        settings = Settings(
            chip_name=chip_name,
            chip_changes=parse_changes(params),
            sampling=sampling,
            record=record,
            max_cycles=max_cycles,
            sample_blocks=sample_blocks,
            save_stream=save_stream,
            profiles_from_start=not waits_for_start,
            options=options,
            observer=terminal,
            command=_command_text(
                file,
                launches,
                chip_name,
                sampling,
                sample_blocks,
                [
                    *recording_flags(params, passes, load_base, traces),
                    *relation_flags(no_accesses, rules),
                    *(["--no-profile-from-start"] if waits_for_start else []),
                    *comparing_flags(wanted),
                ],
                options,
                script_args,
            ),
            **load_settings(load_base),
            findings=findings,
            **trace_settings(traces),
            **relation_settings(no_accesses, rules),
        )
        with errors_said(terminal, settings):
            recorder = record_passes(output, settings, run, passes or 1)
    say_results(terminal, results)
    terminal.say(recorded_text(recorder, passes or 1, output))
    if codes:
        _say_code(terminal, codes[0], output)
    raise_if_wrong(results, f"{output} is written and says so")
    end_with(findings, error_exitcode)


def _program_sources(file: Path, others: tuple[str, ...], launches: tuple[str, ...]) -> tuple[Path, ...]:
    """The sources of a whole program; none where the file is something else, or its kernels are launched alone."""
    if launches or (file.suffix in KINDS and file.suffix != ".cu"):
        return ()
    from gpuprof.run.program_run import program_sources

    return program_sources(file, others)


def _say_code(terminal, code: int, output: Path) -> None:
    """Raises GpuprofError when the program did not end with 0."""
    from gpuprof.base.processes import how_ended
    from gpuprof.errors import GpuprofError

    how = how_ended(code)
    if code:
        raise GpuprofError(f"the program ended with {how}; {output} is written")
    terminal.say(f"the program ended with {how}")


def check_file(file: Path, launches: tuple[str, ...], script_args: tuple[str, ...]) -> None:
    """Raises UsageError for a file that cannot be run, or not with these arguments."""
    if not file.is_file():
        raise UsageError(f"{file}: {'is a folder' if file.is_dir() else 'there is no such file'}")
    if file.suffix not in KINDS:
        raise UsageError(f"{file}: unknown kind of file; expected {', '.join(KINDS)}")
    if file.suffix == ".py" and launches:
        raise UsageError(f"{file}: a script launches its kernels itself; leave out --launch")
    if file.suffix != ".py" and script_args:
        raise UsageError(f"{script_args[0]!r}: only a .py script takes further arguments; leave it out")


def _requests(file: Path, launches: tuple[str, ...]) -> list:
    """The launches of the command line, else those of the file's comments."""
    from gpuprof.device.launching.launch_requests import command_line_requests, comment_requests

    return command_line_requests(launches) or comment_requests(file)


def _inputs(
    file: Path,
    chip_name: str | None,
    options: BuildOptions,
    requests: list,
    folder: Path,
    wanted,
    script_args: tuple[str, ...],
) -> Iterator[Path]:
    """What the command reads, as far as it is known before anything is compiled. A script's arguments may be files."""
    from gpuprof.device.results.plan import input_files

    yield from (file, *map(Path, (chip_name or "", options.compiler, *script_args)))
    yield from input_files(requests, wanted, folder)


def _command_text(file: Path, launches, chip_name, sampling, sample_blocks, others, options, script_args) -> str:
    """The command line as the report shows it: what decides the numbers, and no folders of this machine."""
    import shlex

    words = ["gpuprof", "collect", file.name]
    for launch in launches:
        words += ["--launch", launch]
    if chip_name:
        words += ["--chip", Path(chip_name).name]
    words += sampler_flags(sampling)
    if sample_blocks:
        words += ["--sample-blocks"]
    words += others
    if options.max_registers:
        words += ["--max-registers", str(options.max_registers)]
    if options.compiler != BuildOptions.compiler:
        words += ["--compiler", Path(options.compiler).name]
    if options.optimize != BuildOptions.optimize:
        words += [f"-O{options.optimize}"]
    if options.standard:
        words += ["--std", options.standard]
    if options.links_device:
        words += ["--rdc"]
    if options.cccl:
        words += ["--cccl", options.cccl]
    for define in options.defines:
        words += ["-D", define]
    if script_args:
        words += ["--", *script_args]
    return shlex.join(words)


def _run_launches(file: Path, requests: list, folder: Path, seed: int, wanted, settings) -> list:
    """Runs the launches, and gives and records what comparisons found."""
    from gpuprof.device.launching.launch_requests import embedded_requests
    from gpuprof.device.launching.launch_text import kernel_names
    from gpuprof.device.requests import run_requests
    from gpuprof.run.session import open_device

    device = open_device(settings)
    with nothing_is_garbage():
        module = device.load(file, instantiate=kernel_names(requests))
    requests = requests or embedded_requests(file, module.sources, module.kernels)
    results = run_requests(device, module, requests, seed=seed, folder=folder, requested=wanted).results
    device.executor.finish()
    for result in results:
        settings.recorder.result(result)
    return results
