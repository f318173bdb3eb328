"""gpuprof collect: run kernels on the emulated GPU and record a profile."""

from pathlib import Path

import click

from gpuprof.base.heap import nothing_is_garbage
from gpuprof.base.stages import stage
from gpuprof.cli.options.arguments import WithArguments, arguments_after_dashes
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.option import OUTPUT, SWITCH, Given, Option
from gpuprof.cli.options.outputs import OutputPath, claim, recording
from gpuprof.cli.options.recorded_line import recorded_line, sampler_values, unusual_registers
from gpuprof.cli.options.results import (
    check_results_flags,
    claim_saves,
    end_with,
    errors_said,
    raise_if_wrong,
    recorded_text,
    say_results,
)
from gpuprof.cli.options.settings import (
    build_options_of,
    findings_of,
    registers_of,
    settings_of,
    wanted_of,
    with_counters,
)
from gpuprof.cli.options.table import DEFAULT_PERIOD_CYCLES
from gpuprof.cli.progress.display import Display
from gpuprof.errors import UsageError

OUT = Option(
    "-o --output",
    "output",
    "The recording to write.",
    metavar="OUT",
    type=OutputPath(recording),
    group=OUTPUT,
    usual="FILE's name with .gprec, in this folder",
)
QUIET = Option(
    "-q --quiet",
    "quiet",
    "Print only what the program and its kernels print, and what is wrong.",
    form=SWITCH,
    group=OUTPUT,
)


@click.command("collect", cls=WithArguments, short_help="Run kernels on the emulated GPU and record a profile.")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("others", nargs=-1)
@options("collect", OUT, QUIET)
@click.pass_obj
def command(display: Display, file: Path, others: tuple[str, ...], given: Given):
    """Run the kernels of FILE (.cu, .ptx, .gpubin, or a .py script that launches kernels) and record a profile.

    A .cu file with a `main` and without launches in its comments is a whole program; OTHERS are more of its sources.

    \b
    gpuprof collect saxpy.cu --launch 'saxpy<<<64, 256>>>(16384, 2.0, f32[16384]=random, f32[16384])'
    gpuprof collect train.py -- --steps 3
    gpuprof collect app.cu io.cpp -- --size 1024
    """
    from gpuprof.run.target import Program, target_of

    output = given.output or Path(f"{file.stem}.gprec")
    wanted, builds = wanted_of(given), build_options_of(given)
    target = target_of(file, others, arguments_after_dashes(), given.launches, options=builds, wanted=wanted)
    if given.waits_for_start and not isinstance(target, Program):
        raise UsageError("--no-profile-from-start is for whole programs; leave it out")
    check_results_flags(file, given)
    with stage("starting"), nothing_is_garbage():
        inputs = [*target.inputs(), *map(Path, (given.chip_name or "", given.host_name or "", given.compiler))]
        claim(output, recording, [*inputs, *filter(None, (given.rules, given.suppressions))], given.force)
        claim_saves(wanted, output, inputs, given.force)

        from gpuprof.cli.progress.terminal import OnlyOutput, Terminal
        from gpuprof.run.multipass import record
        from gpuprof.run.run_settings import Settings
    from gpuprof.timing.sampling.configuration import Sampling
    from gpuprof.timing.sampling.control_registers import changed

    registers = with_counters(given.record, registers_of(given))
    sampling = changed(Sampling(DEFAULT_PERIOD_CYCLES), registers.items())
    sampler = sampler_values(given, unusual_registers(sampling))
    line = recorded_line(given, file, sampler, getattr(target, "arguments", ()))
    findings, passes, ends = findings_of(given), given.passes or 1, []
    with (OnlyOutput if given.quiet else Terminal)(display) as terminal:
        base = Settings(sampling=sampling, observe=True, observer=terminal, command=line, findings=findings)
        settings = settings_of(given, base)
        with errors_said(terminal, settings):
            recorder = record(output, settings, lambda changed: ends.append(target.run(changed)), passes)
    code, results = ends[0]
    say_results(terminal, results)
    terminal.say(recorded_text(recorder, passes, output))
    if code is not None:
        _say_code(terminal, code, output)
    raise_if_wrong(results, f"{output} is written and says so")
    end_with(findings, given.error_exitcode)


def _say_code(terminal, code: int, output: Path) -> None:
    """Raises GpuprofError when the program did not end with 0."""
    from gpuprof.base.processes import how_ended
    from gpuprof.errors import GpuprofError

    how = how_ended(code)
    if code:
        raise GpuprofError(f"the program ended with {how}; {output} is written")
    terminal.say(f"the program ended with {how}")
