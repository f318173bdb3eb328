"""Checks of a recording beyond its format, so that a database can be made of it.

A file made by hand can carry any content and the right checksums. Numbers that pass can be added up, divided by and
printed.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from gpuprof.chips.fields import FIELDS
from gpuprof.chips.sourced import Field
from gpuprof.errors import FileFormatError
from gpuprof.isa.operations import MOST_OPERATIONS
from gpuprof.records.encoding import MAX_COUNT, is_count
from gpuprof.records.reader import Launch, Recording
from gpuprof.tables.launch import COUNTERS, NUMBERS
from gpuprof.tables.order import RECORDED
from gpuprof.tables.table import AMOUNTS, MORE

TEXT_METRICS = {column.name for column in NUMBERS.columns if column.type == "text"}
# Tables with amounts that are added up over launches; a sample is no amount.
ADDED_UP = tuple(table for table in RECORDED if table.of_launch and table.in_passes != MORE)
TEXTS_OF_AMOUNTS = {table: [(name, f"{name} of {table.name}") for name in table.names(*AMOUNTS)] for table in ADDED_UP}
FEW = 32  # values whose sum Python has before NumPy begins
PLACES = {table: place for place, table in enumerate(ADDED_UP)}


class Wrong(NamedTuple):
    """A contradiction; `text` follows the file's name."""

    text: str


def check_recording(recording: Recording) -> None:
    """Raise FileFormatError for a recording whose numbers no run can have."""
    for find in (in_meta, in_own_chip, in_metrics, in_results, in_sums):
        for wrong in find(recording):
            raise FileFormatError(f"{recording.path}: {wrong.text}")


def in_meta(recording: Recording) -> Iterator[Wrong]:
    period = recording.meta["sampling"].get("period_cycles")
    if not is_count(period):
        yield Wrong(f"its META chunk has a sampling period of {brief(period)}, which is not a number of cycles")


def in_own_chip(recording: Recording) -> Iterator[Wrong]:
    return in_chip(recording.chip)


def in_chip(chip: Mapping[str, Any]) -> Iterator[Wrong]:
    for field in FIELDS:
        if field.name in chip and not fits(field, chip[field.name]):
            what = (
                "which is not text"
                if field.kind == "text"
                else f"and a chip has {field.low:g} to {field.high:g} {field.unit}"
            )
            yield Wrong(f"its chip has {field.name} = {brief(chip[field.name])}, {what}")


def fits(field: Field, value) -> bool:
    if field.kind == "text":
        return isinstance(value, str)
    return type(value) in (int, float) and field.low <= value <= field.high


def in_metrics(recording: Recording) -> Iterator[Wrong]:
    for number, launch in recording.launches.items():
        for name, value in (launch.end["counters"] if launch.end else {}).items():
            if name not in TEXT_METRICS and not (is_number(value) and abs(value) <= MAX_COUNT):
                yield Wrong(
                    f"{name} of launch {number} is {brief(value)}, which is not a number from -2^63 + 1 to 2^63 - 1"
                )


def in_results(recording: Recording) -> Iterator[Wrong]:
    for result in recording.results:
        if result.differ > result.elements:
            yield Wrong(f"{result.differ} of the {result.elements} elements of {brief(result.name)} differ")


def is_number(value) -> bool:
    return isinstance(value, int | float)


def in_sums(recording: Recording) -> Iterator[Wrong]:
    """SQLite's sums are 64 bits wide, and Python's are of any width: so no column may have more over all launches."""
    sums: dict[str, int] = {}
    for number, launch in recording.launches.items():
        for name, value in amounts(launch):
            sums[name] = sums.get(name, 0) + value
            if sums[name] > MAX_COUNT:
                yield Wrong(f"{name} up to launch {number} sum to {sums[name]}, more than 2^63 - 1")


def amounts(launch: Launch) -> Iterator[tuple[str, int]]:
    """The numbers that are added up over launches: name and value."""
    for name in ("start_cycle", "end_cycle", "cycles", "samples_due", "samples_dropped"):
        yield name, launch.end[name] if launch.end else 0
    for name, value in (launch.end["counters"] if launch.end else {}).items():
        if is_number(value):
            yield name, abs(int(value))
    for table in sorted(launch.rows.keys() & TEXTS_OF_AMOUNTS.keys(), key=PLACES.__getitem__):
        rows = launch.rows[table]
        for name, text in TEXTS_OF_AMOUNTS[table] if len(rows) else ():
            yield text, exact_sum(rows[name])
    executed = launch.rows[COUNTERS]["thread_inst_executed_pred_on"]
    yield "operations that threads could do", MOST_OPERATIONS * exact_sum(executed)


def exact_sum(values: np.ndarray) -> int:
    """The sum of unsigned numbers of up to 64 bits, and up to 2^32 of them: of their upper and their lower halves."""
    if len(values) <= FEW:
        return sum(values.tolist())
    values = values.astype(np.uint64)
    low = int((values & np.uint64(0xFFFFFFFF)).sum())
    return (int((values >> np.uint64(32)).sum()) << 32) + low


def brief(value) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python writes no integer of thousands of digits
        return "a very long number"
    return text if len(text) <= 40 else text[:40] + "..."
