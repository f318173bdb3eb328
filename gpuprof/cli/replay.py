"""gpuprof replay: run a saved command stream again, with another chip or another sampler."""

import shlex
from functools import partial
from pathlib import Path

import click

from gpuprof.cli.options.checking import checking_options, end_with, errors_said, findings_of
from gpuprof.cli.options.grouping import GroupedCommand
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
from gpuprof.cli.options.results import raise_if_wrong
from gpuprof.cli.options.sampler import Cycles, register_flags, sampler_options
from gpuprof.cli.progress.display import Display


@click.command("replay", cls=GroupedCommand, short_help="Run a saved command stream again, with other settings.")
@click.argument("file", metavar="FILE.gprec", type=click.Path(path_type=Path))
@click.option(
    "--chip",
    "chip_name",
    metavar="NAME",
    help="A chip of `gpuprof list chips`, or a .toml file.  [default: as recorded]",
)
@partial(sampler_options, with_defaults=False)
@click.option(
    "--record",
    type=NearChoice(RECORDS),
    help="Bytes of a sample: wide 32, compact 8. wide+counters adds a counter record for each SM and sampled cycle.",
)
@click.option("--max-cycles", type=Cycles(1), metavar="N", help="Stop a kernel after N cycles.")
@recording_options
@checking_options
@click.option(
    "-o",
    "--output",
    type=OutputPath(recording),
    metavar="OUT",
    help="The recording to write.  [default: FILE-replay.gprec, in this folder]",
)
@click.pass_obj
@force_option
def command(
    display: Display,
    file: Path,
    chip_name: str | None,
    registers: dict,
    record: str | None,
    max_cycles: int | None,
    params: tuple[str, ...],
    passes: int | None,
    load_base: int | str | None,
    traces: tuple[str, ...],
    no_accesses: bool,
    rules: str | None,
    error_exitcode: int,
    limit: int,
    suppressions: str | None,
    output: Path | None,
    force: bool,
):
    """Run the command stream of FILE again: the same code, data and launches, without source or script.

    FILE is a recording of `collect --save-stream`. Settings default to the recorded ones. Sampler flags override both
    the recording and the script. The new recording has the stream, too.

    \b
    gpuprof replay train.gprec --chip h200
    gpuprof replay train.gprec --period 64 --mode all -o close.gprec
    """
    output = output or Path(f"{file.stem}-replay.gprec")
    claim(output, recording, (file, Path(chip_name or ""), *map(Path, filter(None, (rules, suppressions)))), force)

    from gpuprof.chips import load_chip
    from gpuprof.chips.changes import parse_changes
    from gpuprof.cli.progress.terminal import Terminal
    from gpuprof.records.command_stream.read import read_stream
    from gpuprof.run.multipass import passes_of, record as record_passes
    from gpuprof.run.replay import chip_of, replay
    from gpuprof.run.run_settings import Settings
    from gpuprof.timing.sampling.control_registers import changed

    stream = read_stream(file)
    given, form = registers, None
    if record:
        form, registers = form_and_registers(
            record, {"counters": ""} | registers if record in ("wide", "compact") else registers
        )
    registers = _completed(registers)
    others = [*recording_flags(params, passes, load_base, traces), *relation_flags(no_accesses, rules)]
    findings = findings_of(limit, suppressions)
    passes = passes or passes_of(stream.meta["sampling"])
    with Terminal(display) as terminal:
        settings = Settings(
            chip=load_chip(chip_name) if chip_name else chip_of(stream),
            chip_changes=parse_changes(params),
            sampling=changed(stream.header.sampling, registers.items()),
            record=form or stream.header.record,
            max_cycles=max_cycles or stream.header.max_cycles,
            sample_blocks=stream.header.sample_blocks,
            save_stream=True,
            observer=terminal,
            command=_command_text(file, chip_name, given, record, max_cycles, others),
            **load_settings(load_base),
            findings=findings,
            **trace_settings(traces),
            **relation_settings(no_accesses, rules),
        )
        _notice_model(terminal, stream)
        fixed = frozenset(registers)
        with errors_said(terminal, settings):
            recorder = record_passes(
                output,
                settings,
                lambda given: replay(stream, given, saved_load_bases=load_base is None, fixed=fixed),
                passes,
                fixed,
            )
    say_results(terminal, stream.results)
    terminal.say(recorded_text(recorder, passes, output))
    raise_if_wrong(stream.results, f"they are those of {file}; {output} is written and says so")
    end_with(findings, error_exitcode)


def _completed(registers: dict) -> dict:
    """Another period has another phase, and one in cycles has no event."""
    if "period_cycles" in registers and "trigger" not in registers:
        registers = {"trigger": "cycles", "every": 0} | registers
    return {"phase_cycles": 0} | registers if {"period_cycles", "trigger"} & registers.keys() else registers


def _command_text(
    file: Path, chip_name: str | None, given: dict, record: str | None, max_cycles: int | None, others: list[str]
) -> str:
    words = ["gpuprof", "replay", file.name, *(["--chip", Path(chip_name).name] if chip_name else [])]
    words += register_flags(given)
    words += ["--record", record] if record else []
    words += ["--max-cycles", str(max_cycles)] if max_cycles else []
    return shlex.join([*words, *others])


def _notice_model(terminal, stream) -> None:
    from gpuprof.timing.state.model_version import MODEL_VERSION

    recorded = stream.meta["model_version"]
    if recorded != MODEL_VERSION:
        terminal.notice(
            f"{stream.path} was recorded with model {recorded}; this is model {MODEL_VERSION}, so cycles may differ"
        )
