"""The work of draws for the fixed-function units, and its times.

    DrawWork of the emulator ─ tables_of ─> Draws of the machine ─ engine ─> timings_of ─> DrawTiming of each draw

Rates are those of the chip's table `graphics`, for the whole chip.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from gpuprof.chips import Chip, drawing_chips
from gpuprof.chips.draw_units import COSTS, SHADER_STAGES, command_cycles
from gpuprof.errors import UsageError
from gpuprof.timing.state.launch_timing import SHADER_WAVE, DrawTiming, UnitTraffic
from gpuprof.timing.state.layout import (
    ASKING,
    COLUMN,
    DRAW,
    ITEM,
    N_ASKING,
    N_COLUMNS,
    N_SERIES,
    NEVER,
    PASSAGE,
    SECTOR_NBYTES,
    SERIES,
    SHADER_COLUMN,
    TICKS,
    UNIT_ACCESS,
    UNIT_TRAFFIC,
)
from gpuprof.timing.state.machine_tables import Draws


class UnitBuffer(NamedTuple):
    """The buffer after a unit. field: the chip's number that is its capacity. of: the amount of an item that it counts,
    "" for the items themselves. taker: the unit that takes from it, "" for another series. A buffer that a unit takes
    from itself holds items that memory has not answered.
    """

    field: str
    of: str = ""
    taker: str = ""


BUFFERS = {
    ("vertex", "fetch"): UnitBuffer("batches_in_flight"),
    ("hull", "fed"): UnitBuffer("control_points_in_flight", of="n_control_points"),
    ("domain", "tessellate"): UnitBuffer("tessellated_vertices_in_flight", of="n_tessellated"),
    ("geometry", "fed"): UnitBuffer("emitted_vertices_in_flight", of="n_emitted"),
    ("primitive", "assembly"): UnitBuffer("assembled_batches", taker="setup"),
    ("primitive", "setup"): UnitBuffer("set_up_batches"),
    ("pixel", "scan"): UnitBuffer("scanned_waves", taker="depth"),
    ("pixel", "depth"): UnitBuffer("waves_in_flight", taker="write"),
    ("pixel", "write"): UnitBuffer("writes_in_flight", taker="write"),
}


def _amounts(series: str) -> dict[str, str]:
    """The amounts of an item of a series, as fields of a dtype."""
    names = [amount for unit in SERIES[series] for amount, _ in COSTS.get(unit, ())]
    names += [buffer.of for (its, _), buffer in BUFFERS.items() if its == series and buffer.of]
    return dict.fromkeys(names, "i8")


# An item of each series. needs: of the items of the draw's series before, the last one that must be done; -1: none
# must. is_shaded: it is a warp of the series' shader, otherwise it passes that by.
WORK = {series: np.dtype([("needs", "i8"), ("is_shaded", "i8"), *_amounts(series).items()]) for series in SERIES}


class Accesses(NamedTuple):
    """The accesses of a unit for the items of a draw. n_lines: int64 (items,), of each; lines: layout.UNIT_ACCESS,
    those of the items in their order. A line is a number of 128 bytes.
    """

    n_lines: np.ndarray
    lines: np.ndarray


class DrawWork(NamedTuple):
    """A draw: how much state the command processor changes for it, whether it begins only when all draws before it are
    done, and, in the order of SERIES, its items, WORK[series] (items,), of each series that it has. Items that are
    shaded come first, as blocks of their shader in their order. accesses: by unit of layout.ASKING, of those that
    access memory.
    """

    state_changes: int
    drains: bool
    items: dict[str, np.ndarray]
    accesses: Mapping[str, Accesses] = MappingProxyType({})


def check_graphics(chip: Chip) -> None:
    """Raises UsageError when the chip draws nothing."""
    if not chip.graphics:
        drawing = ", ".join(drawing_chips())
        raise UsageError(
            f"{chip.name}: the chip draws nothing: its file has no table [graphics]; name one that has, as in --chip "
            f"rtx3090 ({drawing})"
        )


def rows_of(work: list[DrawWork]) -> dict[str, np.ndarray]:
    """For each series, int64 (draws + 1,): the row of each draw's first item, and the row after the last item."""
    rows, first = {}, 0
    for series in SERIES:
        numbers = [len(draw_work.items[series]) if series in draw_work.items else 0 for draw_work in work]
        rows[series] = first + np.cumsum([0, *numbers])
        first = int(rows[series][-1])
    return rows


def tables_of(work: list[DrawWork], chip: Chip) -> Draws:
    """The tables as they are before the first command. Raises UsageError when the chip draws nothing."""
    rows = rows_of(work)
    n_items = int(rows["pixel"][-1])
    draw, before = np.zeros(len(work), DRAW), np.full((len(work), N_SERIES), -1, np.int64)
    item, passage = np.zeros(n_items, ITEM), np.zeros((n_items, N_COLUMNS), PASSAGE)
    lines = [np.zeros(0, UNIT_ACCESS), *(draw_work.lines for _, _, draw_work in _accesses_of(work))]
    traffic = np.zeros((len(work), N_ASKING), UNIT_TRAFFIC)
    column = np.zeros((N_SERIES, N_COLUMNS), COLUMN)
    tables = Draws(draw, before, item, passage, column, np.concatenate(lines), traffic)
    if not work:  # as in most batches
        return tables
    check_graphics(chip)
    for row, draw_work in zip(draw, work, strict=True):
        row["ticks"] = round(command_cycles(draw_work.state_changes, chip.graphics) * TICKS)
        row["drains"], row["begun"] = draw_work.drains, NEVER
    passage["begun"] = passage["left"] = NEVER
    passage["ahead"] = item["needs"] = item["frees"] = -1
    for number, series in enumerate(SERIES):
        first, of_draws = int(rows[series][0]), rows[series]
        before[:, number] = np.where(of_draws[:-1] > first, of_draws[:-1] - 1, -1)
        its = slice(first, int(of_draws[-1]))
        items = np.concatenate([np.zeros(0, WORK[series]), *_of_series(work, series)])
        item["series"][its], item["is_shaded"][its] = number, items["is_shaded"]
        item["draw"][its] = np.repeat(np.arange(len(work)), np.diff(of_draws))
        _enter_units(tables, series, items, first, chip.graphics)
    for number, draw_work in enumerate(work):
        for producer, consumer in pairwise(draw_work.items):
            _meet(
                item,
                draw_work.items[consumer]["needs"],
                rows[producer][number : number + 2],
                int(rows[consumer][number]),
            )
    for series in SERIES:
        _go_on(item["frees"][rows[series][0] : rows[series][-1]])
    _ask(tables, work, rows)
    return tables


def _accesses_of(work: list[DrawWork]) -> Iterator[tuple[str, int, Accesses]]:
    """Yields (unit, number of the draw, accesses of the unit for it), unit by unit."""
    for _, unit in ASKING:
        for number, draw_work in enumerate(work):
            if unit in draw_work.accesses:
                yield unit, number, draw_work.accesses[unit]


def _ask(tables: Draws, work: list[DrawWork], rows: dict[str, np.ndarray]) -> None:
    """Writes how many lines units access for each item."""
    series_of = {unit: series for series, unit in ASKING}
    n_lines = dict.fromkeys(series_of, 0)
    for unit, number, accesses in _accesses_of(work):
        series = series_of[unit]
        its = slice(*rows[series][number : number + 2])
        tables.passage["n_lines"][its, SERIES[series].index(unit)] = accesses.n_lines
        n_lines[unit] += len(accesses.lines)
    first = 0
    for unit, series in series_of.items():
        tables.passage["answered"][rows[series][0] : rows[series][-1], SERIES[series].index(unit)] = NEVER
        column = tables.column[list(SERIES).index(series), SERIES[series].index(unit)]
        column["asked"], column["access"] = rows[series][0], first
        first += n_lines[unit]


def _of_series(work: list[DrawWork], series: str) -> Iterator[np.ndarray]:
    return (draw_work.items[series] for draw_work in work if series in draw_work.items)


def _enter_units(tables: Draws, series: str, items: np.ndarray, first: int, numbers: dict[str, float]) -> None:
    """Writes for which ticks each item of a series keeps each unit, and what must be gone before there is room for
    it.
    """
    its = slice(first, first + len(items))
    columns, number = SERIES[series], list(SERIES).index(series)
    tables.column[number]["next"] = first
    tables.column[number]["end"] = first + len(items)
    tables.column[number]["taker"] = -1
    for position, unit in enumerate(columns):
        if unit in COSTS:
            of_each = [_ticks(items[amount], numbers[rate]) for amount, rate in COSTS[unit]]
            tables.passage["ticks"][its, position] = np.maximum.reduce(of_each)
        if (series, unit) in BUFFERS:
            buffer = BUFFERS[series, unit]
            sizes = items[buffer.of] if buffer.of else np.ones(len(items), np.int64)
            ahead = _ahead(sizes, int(numbers[buffer.field]))
            tables.passage["ahead"][its, position] = np.where(ahead < 0, -1, first + ahead)
            if buffer.taker:
                tables.column[number, position]["taker"] = columns.index(buffer.taker)


def _ticks(amount: np.ndarray, per_cycle: float) -> np.ndarray:
    return np.rint(amount * (TICKS / per_cycle)).astype(np.int64)


def _ahead(sizes: np.ndarray, capacity: int) -> np.ndarray:
    """For each item the last one that must be gone from a buffer before it has a place, -1: none. One that is larger
    than the buffer has it to itself.
    """
    taken = np.cumsum(sizes)
    least = np.searchsorted(taken, taken - capacity, side="left")
    return np.where(taken <= capacity, -1, np.minimum(least, np.arange(len(sizes)) - 1))


def _meet(item: np.ndarray, needs: np.ndarray, producers: np.ndarray, first: int) -> None:
    """Writes what items of a draw, from row `first` on, need of its series before, whose rows begin and end at
    `producers`; and for each of these the row of the last item that needs no later one.
    """
    item["needs"][first : first + len(needs)] = np.where(needs < 0, -1, producers[0] + needs)
    own = np.arange(producers[1] - producers[0])
    n_takers = np.searchsorted(np.maximum.accumulate(needs), own, side="right")
    item["frees"][producers[0] : producers[1]] = np.where(n_takers > 0, first + n_takers - 1, -1)


def _go_on(frees: np.ndarray) -> None:
    """Lets an item that no other needs leave a buffer with the one before it."""
    known = np.maximum.accumulate(np.where(frees >= 0, np.arange(len(frees)), -1))
    frees[known >= 0] = frees[known[known >= 0]]


def timings_of(tables: Draws, work: list[DrawWork]) -> list[DrawTiming]:
    """When each draw was done, once all items have passed all columns."""
    rows = rows_of(work)
    return [_timing(tables, draw_work, number, rows) for number, draw_work in enumerate(work)]


def _timing(tables: Draws, work: DrawWork, number: int, rows: dict[str, np.ndarray]) -> DrawTiming:
    passages, shaded, answered = {"command": _command(tables.draw[number])}, {}, 0
    for series, items in work.items.items():
        passage = tables.passage[rows[series][number] : rows[series][number + 1]]
        passages |= {
            unit: passage[:, position] for position, unit in enumerate(SERIES[series]) if unit in COSTS and len(items)
        }
        if (shader := SHADER_COLUMN[list(SERIES).index(series)]) >= 0:
            shaded[series] = passage[items["is_shaded"] != 0, shader]
        answered = max(answered, int(passage["answered"].max(initial=0)))
    first = {unit: int(passage["begun"].min()) // TICKS for unit, passage in passages.items()}
    last = {unit: -(-int(passage["left"].max()) // TICKS) for unit, passage in passages.items()}
    waves = _waves_of(shaded)
    end = max([*last.values(), *waves["end_cycle"].tolist(), -(-answered // TICKS)])
    assert end < NEVER // TICKS, "a draw that has not ended"
    blocked = {unit: passage["left"] - passage["begun"] - passage["ticks"] for unit, passage in passages.items()}
    return DrawTiming(
        first["command"],
        end,
        {unit: int(passage["ticks"].sum()) / TICKS for unit, passage in passages.items()},
        {unit: int(ticks.sum()) / TICKS for unit, ticks in blocked.items()},
        first,
        last,
        waves,
        {"state_changes": work.state_changes}
        | {amount: int(items[amount].sum()) for series, items in work.items.items() for amount in _amounts(series)},
        {
            unit: _traffic(tables.unit_traffic[number, position])
            for position, (_, unit) in enumerate(ASKING)
            if unit in passages
        },
    )


def _traffic(sectors: np.ndarray) -> UnitTraffic:
    """sectors: a record of layout.UNIT_TRAFFIC."""
    names = ("read_sectors", "write_sectors", "dram_read_sectors", "dram_write_sectors")
    return UnitTraffic(*(SECTOR_NBYTES * int(sectors[name]) for name in names))


def _command(draw: np.ndarray) -> np.ndarray:
    """The passage of a draw's command, PASSAGE (1,)."""
    command = np.zeros(1, PASSAGE)
    command["ticks"], command["begun"], command["left"] = draw["ticks"], draw["begun"] - draw["ticks"], draw["begun"]
    return command


def _waves_of(shaded: dict[str, np.ndarray]) -> np.ndarray:
    """SHADER_WAVE, by start, then stage."""
    waves = np.zeros(sum(map(len, shaded.values())), SHADER_WAVE)
    first = 0
    for stage, passage in shaded.items():
        rows = waves[first : first + len(passage)]
        rows["stage"] = SHADER_STAGES.index(stage)
        rows["start_cycle"], rows["end_cycle"] = passage["begun"] // TICKS, passage["left"] // TICKS
        first += len(passage)
    return waves[np.argsort(waves["start_cycle"], kind="stable")]
