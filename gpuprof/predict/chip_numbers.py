"""Chips as columns: one array a number, as long as there are chips."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from gpuprof.chips import Chip
from gpuprof.chips.fields import FIELDS, OPTIONAL_TABLES, TABLES


@dataclass(frozen=True)
class Numbers:
    """`columns`: float64 (n,) by a number's name in a chip file ("sms", "latency.shared"), NaN where a chip lacks the
    whole table; `names` and `archs`: of the n chips.
    """

    names: tuple[str, ...]
    archs: tuple[str, ...]
    columns: dict[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.names)

    def part(self, first: int, end: int) -> "Numbers":
        columns = {name: column[first:end] for name, column in self.columns.items()}
        return Numbers(self.names[first:end], self.archs[first:end], columns)

    def chosen(self, places: np.ndarray) -> "Numbers":
        names, archs = ([each[place] for place in places.tolist()] for each in (self.names, self.archs))
        return Numbers(tuple(names), tuple(archs), {name: column[places] for name, column in self.columns.items()})


NUMERIC = tuple(field.name for field in FIELDS if field.kind != "text")


OPTIONAL = tuple((table, field.name) for table, fields in OPTIONAL_TABLES.items() for field in fields)
NAMES = (
    *NUMERIC,
    *(f"{table}.{entry}" for table, (entries, _) in TABLES.items() for entry in entries),
    *(f"{table}.{entry}" for table, entry in OPTIONAL),
)


def numbers_of(chips: Sequence[Chip]) -> Numbers:
    rows = [numbers_of_chip(chip) for chip in chips]
    columns = {name: np.array([row[name] for row in rows], float) for name in NAMES}
    return Numbers(tuple(chip.name for chip in chips), tuple(chip.arch for chip in chips), columns)


def numbers_of_chip(chip: Chip) -> dict[str, float]:
    """By their names in a chip file."""
    found = {name: float(chip.values[name]) for name in NUMERIC}
    for table in TABLES:
        found |= {f"{table}.{entry}": float(value) for entry, value in getattr(chip, table).items()}
    return found | {f"{table}.{entry}": float(getattr(chip, table).get(entry, np.nan)) for table, entry in OPTIONAL}


def joined(parts: Sequence[Numbers]) -> Numbers:
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0].columns}
    names, archs = ([part.names for part in parts], [part.archs for part in parts])
    return Numbers(tuple(chain.from_iterable(names)), tuple(chain.from_iterable(archs)), columns)
