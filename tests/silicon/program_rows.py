"""Whole programs that others timed on real cards: program_rows.csv, and pairs of rows whose order must come out right:
program_pairs.csv. program_left_out.csv has every other published figure of its kind that was found, with the reason.

A row is a program of programs/ with its arguments, on a card of cards/ and a host: a name of gpuprof's, a file of
hosts/, or none for the card's own. `goal_percent` is how far the mean error of such rows may go: 20 where card, driver
and link are stated, 30 where one of them is not; rows without a goal (rounded to one digit) count in pairs only.
"""

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
SETS = ("launches", "graphs", "copies", "managed", "programs")
CLOCKS = ("program", "device")
US = {"us": 1.0, "ms": 1e3, "ns": 1e-3}
GBYTES_PER_S = "GB/s"


class ProgramRow(NamedTuple):
    """`what` is compared, by a `clock`: "program", the figure that it prints, or "device", the mean time of its copies
    on the device, as nvprof has it. `value` with its `unit` as published; of a rate, `work_nbytes` are the bytes that a
    run moves here. `times`: the published run takes so many times as long as one here, which is as much smaller.
    `row`: the number of the figure in the list that it was taken from.
    """

    id: str
    set: str
    card: str
    host: str
    clock_mhz: float | None  # of the SM; None: the card's
    program: str
    arguments: tuple[str, ...]
    what: str
    clock: str
    value: float
    unit: str
    work_nbytes: int
    times: int
    goal_percent: int | None
    trust: str
    row: str
    source: str

    @property
    def published_us(self) -> float:
        if self.unit == GBYTES_PER_S:
            return self.work_nbytes / (self.value * 1e3)
        return self.value * US[self.unit]


class Pair(NamedTuple):
    """Ids of two rows, the one with the shorter published time first, and what differs."""

    faster: str
    slower: str
    what: str


class LeftOut(NamedTuple):
    """A published figure that no row runs, as it was found."""

    row: str
    card: str
    what: str
    value: str
    unit: str
    source: str
    reason: str


@cache
def rows() -> tuple[ProgramRow, ...]:
    return tuple(_row(each) for each in _read("program_rows.csv"))


@cache
def pairs() -> tuple[Pair, ...]:
    return tuple(Pair(**each) for each in _read("program_pairs.csv"))


@cache
def left_out() -> tuple[LeftOut, ...]:
    return tuple(LeftOut(**each) for each in _read("program_left_out.csv"))


def _read(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _row(text: dict[str, str]) -> ProgramRow:
    return ProgramRow(
        id=text["id"],
        set=text["set"],
        card=text["card"],
        host=text["host"],
        clock_mhz=float(text["clock_mhz"]) if text["clock_mhz"] else None,
        program=text["program"],
        arguments=tuple(text["arguments"].split()),
        what=text["what"],
        clock=text["clock"],
        value=float(text["value"]),
        unit=text["unit"],
        work_nbytes=int(text["work_nbytes"] or 0),
        times=int(text["times"] or 1),
        goal_percent=int(text["goal_percent"]) if text["goal_percent"] else None,
        trust=text["trust"],
        row=text["row"],
        source=text["source"],
    )
