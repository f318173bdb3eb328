"""gpuprof replay: run a saved command stream again, with another chip or another sampler."""

from pathlib import Path

import click

from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import OUTPUT, Given, Option
from gpuprof.cli.options.outputs import OutputPath, claim, recording
from gpuprof.cli.options.recorded_line import recorded_line, sampler_values
from gpuprof.cli.options.results import end_with, errors_said, raise_if_wrong, recorded_text, say_results
from gpuprof.cli.options.settings import findings_of, registers_of, settings_of, with_counters
from gpuprof.cli.progress.display import Display

OUT = Option(
    "-o --output",
    "output",
    "The recording to write.",
    metavar="OUT",
    type=OutputPath(recording),
    group=OUTPUT,
    usual="FILE-replay.gprec, in this folder",
)


@click.command("replay", cls=GroupedCommand, short_help="Run a saved command stream again, with other settings.")
@click.argument("file", metavar="FILE.gprec", type=click.Path(path_type=Path))
@options("replay", OUT)
@click.pass_obj
def command(display: Display, file: Path, given: Given):
    """Run the command stream of FILE again: the same code, data and launches, without source or script.

    FILE is a recording of `collect --save-stream`. Settings default to the recorded ones. Sampler options override both
    the recording and the script. The new recording has the stream, too.

    \b
    gpuprof replay train.gprec --chip h200
    gpuprof replay train.gprec --period 64 --mode all -o close.gprec
    """
    output = given.output or Path(f"{file.stem}-replay.gprec")
    inputs = (
        file,
        *map(Path, (given.chip_name or "", given.host_name or "")),
        *filter(None, (given.rules, given.suppressions)),
    )
    claim(output, recording, inputs, given.force)

    from gpuprof.chips import load_chip
    from gpuprof.cli.progress.terminal import Terminal
    from gpuprof.records.command_stream.read import read_stream
    from gpuprof.run.multipass import passes_of, record
    from gpuprof.run.replay import chip_of, replay
    from gpuprof.run.run_settings import Settings
    from gpuprof.timing.sampling.control_registers import changed

    stream = read_stream(file)
    registers = _completed(with_counters(given.record, registers_of(given)))
    findings, passes = findings_of(given), given.passes or passes_of(stream.meta["sampling"])
    with Terminal(display) as terminal:
        base = Settings(
            chip=load_chip(given.chip_name) if given.chip_name else chip_of(stream),
            sampling=changed(stream.header.sampling, registers.items()),
            record=stream.header.record,
            max_cycles=stream.header.max_cycles,
            max_instructions=stream.header.max_instructions,
            sample_blocks=stream.header.sample_blocks,
            save_stream=True,
            observe=True,
            observer=terminal,
            command=recorded_line(given, file, sampler_values(given, registers_of(given))),
            findings=findings,
        )
        settings, fixed = settings_of(given, base), frozenset(registers)
        _notice_model(terminal, stream)
        with errors_said(terminal, settings):
            recorder = record(
                output,
                settings,
                lambda changed: replay(stream, changed, saved_load_bases=given.load_base is None, fixed=fixed),
                passes,
                fixed,
            )
    say_results(terminal, stream.results)
    terminal.say(recorded_text(recorder, passes, output))
    raise_if_wrong(stream.results, f"they are those of {file}; {output} is written and says so")
    end_with(findings, given.error_exitcode)


def _completed(registers: dict) -> dict:
    """Another period has another phase, and one in cycles has no event."""
    if "period_cycles" in registers and "trigger" not in registers:
        registers = {"trigger": "cycles", "every": 0} | registers
    return {"phase_cycles": 0} | registers if {"period_cycles", "trigger"} & registers.keys() else registers


def _notice_model(terminal, stream) -> None:
    from gpuprof.timing.state.model_version import MODEL_VERSION

    recorded = stream.meta["model_version"]
    if recorded != MODEL_VERSION:
        terminal.notice(
            f"{stream.path} was recorded with model {recorded}; this is model {MODEL_VERSION}, so cycles may differ"
        )
