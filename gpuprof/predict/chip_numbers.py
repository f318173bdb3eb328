"""Chips as columns: one array per number, with one value per chip."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from gpuprof.chips import Chip
from gpuprof.chips.fields import FIELDS, OPTIONAL_TABLES, TABLES


@dataclass(frozen=True)
class Numbers:
    """Numbers of n chips. `columns`: float64 (n,) by the number's name in a chip file ("sms", "latency.shared"), NaN
    where a chip lacks the complete table; `names` and `archs`: those of the chips.
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

    def chosen(self, indices: np.ndarray) -> "Numbers":
        names, archs = ([values[index] for index in indices.tolist()] for values in (self.names, self.archs))
        return Numbers(tuple(names), tuple(archs), {name: column[indices] for name, column in self.columns.items()})


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
    """A chip's numbers by their names in a chip file."""
    numbers = {name: float(chip.values[name]) for name in NUMERIC}
    for table in TABLES:
        numbers |= {f"{table}.{entry}": float(value) for entry, value in getattr(chip, table).items()}
    return numbers | {f"{table}.{entry}": float(getattr(chip, table).get(entry, np.nan)) for table, entry in OPTIONAL}


def joined(parts: Sequence[Numbers]) -> Numbers:
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0].columns}
    names, archs = ([part.names for part in parts], [part.archs for part in parts])
    return Numbers(tuple(chain.from_iterable(names)), tuple(chain.from_iterable(archs)), columns)
