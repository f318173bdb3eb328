"""Runs a program of programs/ on the emulated GPU of a row, and reads the figure that it prints."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

from gpuprof.chips import Chip, altered, load_chip
from gpuprof.errors import GpuprofError
from gpuprof.hosts import Host, load_host
from gpuprof.records.reader import read_recording
from gpuprof.records.writer import RecordWriter
from gpuprof.run.program_run import run_program
from gpuprof.run.run_settings import Settings
from gpuprof.tables.tasks import OPERATIONS
from tests.silicon.cards import FOLDER as CARDS
from tests.silicon.program_rows import FOLDER, ProgramRow

PROGRAMS = FOLDER / "programs"
HOSTS = FOLDER / "hosts"
FIGURE = re.compile(r"^figure: (\S+) us$", re.MULTILINE)
STDOUT = 1


class NoFigure(Exception):
    """A program ended without its figure; the text is what it printed."""


def modelled_us(row: ProgramRow) -> float:
    """The time of the published run, as the model has it. Raises NoFigure with the reason where there is none."""
    settings = Settings(chip=chip_of(row), host=host_of(row), is_timed=True)
    return row.times * (figure_us(row, settings) if row.clock == "program" else copies_us(row, settings))


def copies_us(row: ProgramRow, settings: Settings) -> float:
    """The mean time on the device of the copies of a program, which all have the size of its argument."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "copies.gprec"
        with RecordWriter(path) as recorder:
            figure_us(row, replace(settings, recorder=recorder))
        operations = read_recording(path).rows[OPERATIONS]
    copies = operations[operations["nbytes"] == int(row.arguments[1])]
    cycles = copies["end"].astype(float) - copies["start"]
    return float(cycles.mean()) / chip_of(row).clock_mhz


def figure_us(row: ProgramRow, settings: Settings) -> float:
    """The figure that the program of a row prints."""
    with tempfile.TemporaryFile() as printed:
        try:
            with stdout_into(printed):
                run_program([PROGRAMS / row.program], row.arguments, settings)
        except GpuprofError as error:
            raise NoFigure(str(error).splitlines()[0]) from error
        printed.seek(0)
        text = printed.read().decode()
    found = FIGURE.search(text)
    if found is None:
        raise NoFigure(text.strip() or "it printed nothing")
    return float(found[1])


def chip_of(row: ProgramRow) -> Chip:
    chip = load_chip(CARDS / f"{row.card}.toml")
    if row.clock_mhz is None:
        return chip
    return altered(chip, {"clock_mhz": row.clock_mhz}, f"{row.card} at {row.clock_mhz:g} MHz")


def host_of(row: ProgramRow) -> Host | None:
    """None for the card's own."""
    own = HOSTS / f"{row.host}.toml"
    return load_host(own if own.is_file() else row.host) if row.host else None


@contextmanager
def stdout_into(file: IO[bytes]) -> Iterator[None]:
    """This process, and those that it starts, print into a file."""
    kept = os.dup(STDOUT)
    os.dup2(file.fileno(), STDOUT)
    try:
        yield
    finally:
        os.dup2(kept, STDOUT)
        os.close(kept)
