"""The output of `ncu --csv`, as a profile of metrics: the details page, one row per metric, or the raw page, one row
per launch.

    ncu --csv --page raw ./app > profile.csv

Numbers may have commas between thousands, and units with prefixes. Both are undone: a value is then in the unit that
Nsight Compute's reports have. Lines before the headings (`==PROF== ...`) are output of the program and of ncu.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.inputs import NCU_CSV, read_input_text
from gpuprof.errors import FileFormatError
from gpuprof.importers.imported_profile import Function, Launch, Module, Profile
from gpuprof.importers.ncu_metrics import CHIP_NAME, CYCLES, chip_of, first, of_launch

HEADINGS = ("ID", "Kernel Name")
IDENTITY = {
    *("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream"),
    *("Block Size", "Grid Size", "Device", "CC"),
}
METRIC, UNIT, VALUE = "Metric Name", "Metric Unit", "Metric Value"
MAKER = "Nsight Compute (CSV)"
PREFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "K": 3, "M": 6, "G": 9, "T": 12}  # powers of ten
SECONDS = {f"{prefix}{second}": PREFIXES[prefix] for prefix in ("n", "u", "m", "") for second in ("second", "s")}
# Unit -> the power of ten that leads from it to the unit of reports: bytes, nanoseconds, and what is done in a second.
UNITS = {
    **{f"{prefix}byte{per}": power for prefix, power in PREFIXES.items() for per in ("", "/block", "/second", "/s")},
    **{second: 9 + power for second, power in SECONDS.items()},
    **{f"cycle/{second}": -power for second, power in SECONDS.items()},
    **{f"{prefix}{hertz}": power for prefix, power in PREFIXES.items() for hertz in ("hz", "Hz")},
}
# The details page's names of metrics that have a meaning here.
LABELS = {
    "Elapsed Cycles": "sm__cycles_elapsed.max",
    "SM Active Cycles": "sm__cycles_active.avg",
    "SM Frequency": "smsp__cycles_elapsed.avg.per_second",
    "Registers Per Thread": "launch__registers_per_thread",
    "Static Shared Memory Per Block": "launch__shared_mem_per_block_static",
    "Dynamic Shared Memory Per Block": "launch__shared_mem_per_block_dynamic",
    "Issued Instructions": "smsp__inst_issued.sum",
    "Block Limit Warps": "launch__occupancy_limit_warps",
    "Block Limit Registers": "launch__occupancy_limit_registers",
    "Block Limit Shared Mem": "launch__occupancy_limit_shared_mem",
    "Block Limit SM": "launch__occupancy_limit_blocks",
    "Block Size": "launch__block_size",
    "Grid Size": "launch__grid_size",
}
NUMBER = re.compile(r"[+-]?[0-9][0-9,]*(\.[0-9]+)?(e[+-]?[0-9]{1,3})?", re.IGNORECASE)
EXTENT = re.compile(r"\(?\s*([0-9]{1,10}),\s*([0-9]{1,10}),\s*([0-9]{1,10})\s*\)?")


class Wrong(ValueError):
    """A fault of the file; the text describes it."""


class Row(NamedTuple):
    """A launch. `identity`: cells by heading."""

    identity: dict[str, str]
    metrics: dict[str, float | str]


def read(path: Path, disassemble: Callable | None) -> Profile:
    """Raises FileFormatError for a file that has no such table, UsageError for one that cannot be read."""
    text = read_input_text(path, NCU_CSV, errors="replace")
    try:
        return profile_of(list(launches(table_of(text))))
    except (Wrong, csv.Error) as error:
        raise FileFormatError(f"{path}: cannot be imported: {error}") from None


def table_of(text: str) -> list[list[str]]:
    """The headings, and the rows below them."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        cells = next(csv.reader([line]), [])
        if all(heading in cells for heading in HEADINGS):
            return [cells, *filter(None, csv.reader(io.StringIO("\n".join(lines[index + 1 :]))))]
    raise Wrong(f"it has no line with the headings {' and '.join(HEADINGS)}, as `ncu --csv` prints them")


def launches(table: list[list[str]]) -> Iterator[Row]:
    headings, *rows = table
    for row in rows:
        if len(row) != len(headings):
            raise Wrong(f"a row has {len(row)} cells, and there are {len(headings)} headings")
    cells = [dict(zip(headings, row, strict=True)) for row in rows]
    yield from of_details(cells) if METRIC in headings else of_raw(headings, cells)


def of_details(rows: list[dict[str, str]]) -> Iterator[Row]:
    by_id: dict[str, Row] = {}
    for row in rows:
        launch = by_id.setdefault(row["ID"], Row(row, {}))
        if row[METRIC]:
            name = LABELS.get(row[METRIC], row[METRIC])
            launch.metrics[name] = number(row.get(VALUE, ""), row.get(UNIT, ""))
    yield from by_id.values()


def of_raw(headings: list[str], rows: list[dict[str, str]]) -> Iterator[Row]:
    """The first row has the units, and no ID."""
    units = rows[0] if rows and not rows[0]["ID"] else {}
    for row in rows[1:] if units else rows:
        names = (name for name in headings if name not in IDENTITY and row[name])
        yield Row(row, {name: number(row[name], units.get(name, "")) for name in names})


def number(text: str, unit: str) -> float | str:
    """The value in the unit of reports; a cell that is not a number stays a text."""
    if not NUMBER.fullmatch(text):
        return text
    return float(Decimal(text.replace(",", "")).scaleb(UNITS.get(unit, 0)))


def profile_of(rows: list[Row]) -> Profile:
    if not rows:
        raise Wrong("it has no launch")
    chip = chip_of(rows[0].metrics)
    functions: dict[str, Function] = {}
    for row in rows:
        name = row.identity["Kernel Name"]
        metrics = of_launch(row.metrics, chip)
        functions[name] = Function(
            name, short_name(name), True, int(metrics.get("registers", 0)), int(metrics.get("shared_nbytes", 0))
        )
    numbers = {name: number for number, name in enumerate(functions)}
    capability = rows[0].identity.get("CC", "").replace(".", "")
    module = Module("", f"sm_{capability}" if capability else "", tuple(functions.values()))
    launches = tuple(launch_of(row, numbers[row.identity["Kernel Name"]], chip) for row in rows)
    card = str(rows[0].metrics.get(CHIP_NAME, "unknown card"))
    notes = ("it has only metrics: no samples, lines or instructions",)
    return Profile(MAKER, card, chip, 0, (module,), {}, launches, notes)


def launch_of(row: Row, function: int, chip: dict[str, int | float]) -> Launch:
    cycles = first(row.metrics, CYCLES)
    if cycles is None:
        names = [*CYCLES, *(label for label, name in LABELS.items() if name in CYCLES)]
        raise Wrong(f"launch {row.identity['ID']} has none of the metrics {', '.join(names)}")
    stream = row.identity.get("Stream", "0")
    return Launch(
        0,
        function,
        extent(row, "Grid Size", "launch__grid_size"),
        extent(row, "Block Size", "launch__block_size"),
        int(first(row.metrics, ("launch__shared_mem_per_block_dynamic",)) or 0),
        int(stream) if stream.isascii() and stream.isdecimal() and len(stream) < 10 else 0,
        round(cycles),
        of_launch(row.metrics, chip),
        {},
        {},
    )


def extent(row: Row, heading: str, metric: str) -> tuple[int, int, int]:
    """The extent of the launch, or the total count along x if only that is recorded."""
    if match := EXTENT.fullmatch(row.identity.get(heading, "")):
        x, y, z = map(int, match.groups())
        return x, y, z
    total = first(row.metrics, (metric,))
    if total is None:
        raise Wrong(f"launch {row.identity['ID']} has neither a {heading} nor {metric}")
    return round(total), 1, 1


def short_name(name: str) -> str:
    """ "void scale<(int)4>(float *)" -> "scale": without type, arguments and template arguments."""
    depth, letters = 0, []
    for letter in name:
        if letter == "<":
            depth += 1
        elif letter == ">":
            depth -= 1
        elif letter == "(" and not depth:
            break
        elif not depth:
            letters.append(letter)
    return "".join(letters).split()[-1].rpartition("::")[2] if "".join(letters).split() else name
