"""Points of a design space: chips, and the values of their numbers, as columns."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from gpuprof.chips import Chip
from gpuprof.chips.changes import chip_with, field_and_factor
from gpuprof.errors import UsageError
from gpuprof.predict.chip_numbers import Numbers, joined, numbers_of, numbers_of_chip
from gpuprof.sweep.sweep_parameters import Parameter

MOST_POINTS = 2_000_000  # each takes some 2.5 KB of memory, all of them 5 GB


def points_of(chips: Sequence[Chip], parameters: Sequence[Parameter]) -> Numbers:
    """Every combination: chips vary slowest, the last parameter fastest. Raises UsageError for a value that no chip may
    have, by itself or with the first and last values of the other parameters.
    """
    lengths = [len(parameter.texts) for parameter in parameters]
    if len(chips) * int(np.prod(lengths, dtype=object)) > MOST_POINTS:
        raise UsageError(f"{len(chips) * int(np.prod(lengths, dtype=object)):,} points; at most {MOST_POINTS:,}")
    for chip in chips:
        for corner in product(*({parameter.values[0], parameter.values[-1]} for parameter in parameters)):
            chip_with(chip, {p.name: value for p, value in zip(parameters, corner, strict=True)})
    return joined([_of_chip(chip, parameters, lengths) for chip in chips])


def _of_chip(chip: Chip, parameters: Sequence[Parameter], lengths: Sequence[int]) -> Numbers:
    base = numbers_of([chip])
    count = int(np.prod(lengths))
    columns = {name: np.repeat(column, count) for name, column in base.columns.items()}
    indices = np.unravel_index(np.arange(count), lengths) if lengths else ()
    # A clock changes the cycles of the DRAM, unless these are given, too.
    order = sorted(range(len(parameters)), key=lambda k: field_and_factor(parameters[k].name)[0] != "clock_mhz")
    for number in order:
        changed = [
            numbers_of_chip(chip_with(chip, {parameters[number].name: value})) for value in parameters[number].values
        ]
        for name in columns:
            if any(different(numbers[name], base[name][0]) for numbers in changed):
                columns[name] = np.array([numbers[name] for numbers in changed])[indices[number]]
    return Numbers(_names(chip, parameters, indices, count), (chip.arch,) * count, columns)


def different(value: float, other: float) -> bool:
    """True for different values; NaN, which marks a number that a chip lacks, equals NaN."""
    return value != other and not (np.isnan(value) and np.isnan(other))


def _names(chip: Chip, parameters: Sequence[Parameter], indices, count: int) -> tuple[str, ...]:
    if not parameters:
        return (chip.name,) * count
    texts = [[f"{p.name}={text}" for text in p.texts] for p in parameters]
    rows = zip(*(column.tolist() for column in indices), strict=True)
    return tuple(f"{chip.name} ({', '.join(t[k] for t, k in zip(texts, row, strict=True))})" for row in rows)
