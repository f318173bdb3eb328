"""Runs a saved program again under changes, and compares its time and what comes out.

    SavedStream ─ candidates ─> the changes that apply
    SavedStream ─ measure_program ─> the time as it is, and under each of them

A change is withdrawn where results differ: all that the host has read, and all memory in the end.
"""

from dataclasses import dataclass
from typing import NamedTuple

from gpuprof.errors import GpuprofError
from gpuprof.records.command_stream.read import SavedStream
from gpuprof.run.program_changes import CHANGES, Changed, Program
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import REPORTED
from gpuprof.run.stream_run import Outcome, copied_allocations, run_stream, settings_of, with_host_work


class MeasuredChange(NamedTuple):
    """A change and the program's time under it, in cycles; or why it is withdrawn."""

    finding: str
    what: str
    cycles: int = 0
    withdrawn: str = ""


@dataclass(frozen=True)
class MeasuredProgram:
    """The program's time as it is, in cycles of a clock of so many MHz, and under each change that applies."""

    cycles: int
    clock_mhz: float
    changes: list[MeasuredChange]


def candidates(stream: SavedStream) -> list[str]:
    """Lists what could be changed; nothing where launches were recorded without a program, which has no time."""
    if not stream.header.host:
        return []
    settings = settings_of(stream)
    return [changed.what for _, changed in _applying(_program(stream, settings))]


def measure_program(stream: SavedStream) -> MeasuredProgram | None:
    """None where no change applies, or where launches were recorded without a program, which has no time."""
    if not stream.header.host:
        return None
    settings = settings_of(stream)
    program = _program(stream, settings)
    if not _applying(program):
        return None
    usual = run_stream(stream, settings, program.commands)
    program = program._replace(
        commands=with_host_work(program.commands, usual.host_work_ns), copied_back=usual.copied_back
    )
    changes = [_measure(stream, settings, usual, finding, changed) for finding, changed in _applying(program)]
    return MeasuredProgram(usual.program_cycles, settings.chosen_chip().clock_mhz, changes)


def _program(stream: SavedStream, settings: Settings) -> Program:
    commands = [each for each in stream.commands() if not isinstance(each[0], REPORTED)]
    host = settings.chosen_host(settings.chosen_chip())
    names = {index: allocation.name for index, allocation in copied_allocations(stream, settings, commands)}
    return Program(commands, host.staged_nbytes, names)


def _applying(program: Program) -> list[tuple[str, Changed]]:
    found = ((change.finding, change.of(program)) for change in CHANGES)
    return [(finding, changed) for finding, changed in found if changed]


def _measure(stream: SavedStream, settings: Settings, usual: Outcome, finding: str, changed: Changed) -> MeasuredChange:
    try:
        if changed.in_other_order and run_stream(stream, settings, changed.in_other_order).digest != usual.digest:
            return MeasuredChange(finding, changed.what, withdrawn="the results are others in another order")
        outcome = run_stream(stream, settings, changed.commands)
    except GpuprofError as error:
        return MeasuredChange(finding, changed.what, withdrawn=f"it fails: {error}")
    if outcome.digest != usual.digest:
        return MeasuredChange(finding, changed.what, withdrawn="the results are others")
    return MeasuredChange(finding, changed.what, outcome.program_cycles)
