"""What draws ask of the fixed-function units, and when these did it.

    DrawWork of the emulator ─ tables_of ─> Draws of the machine ─ engine ─> timings_of ─> DrawTiming of each draw

Rates are those of the chip's table `graphics`, for the whole chip.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gpuprof.chips import Chip, list_chips, load_chip
from gpuprof.errors import UsageError
from gpuprof.timing.state.layout import (
    ASSEMBLED,
    BATCH_SHADED,
    BATCHES,
    DRAW,
    FETCHED,
    ITEM,
    N_STAGES,
    NEVER,
    PASSAGE,
    SCANNED,
    SET_UP,
    STAGE,
    TESTED,
    TICKS,
    WAVE_SHADED,
    WAVES,
    WRITTEN,
)
from gpuprof.timing.state.machine import Draws
from gpuprof.timing.state.result import DrawTiming

# Vertices that are shaded as one warp, and the primitives that their indices end: those assembled, and those that are
# neither clipped away nor culled.
BATCH = np.dtype([("n_indices", "i8"), ("n_primitives", "i8"), ("n_accepted", "i8")])
# Pixels that are shaded as one warp: the draw's last batch that they need, -1 none; what the scan visited for them;
# samples tested before they are shaded; those tested behind it, and pixels and bytes written (with blending, bytes
# read, too).
WAVE = np.dtype(
    [
        ("batch", "i8"),
        ("n_tiles", "i8"),
        ("n_pixels", "i8"),
        ("n_samples", "i8"),
        ("n_late_samples", "i8"),
        ("n_written", "i8"),
        ("written_nbytes", "i8"),
    ]
)
BATCH_STAGES = {"fetch": FETCHED, "vertices": BATCH_SHADED, "assembly": ASSEMBLED, "setup": SET_UP}
WAVE_STAGES = {"scan": SCANNED, "depth": TESTED, "pixels": WAVE_SHADED, "write": WRITTEN}


class DrawWork(NamedTuple):
    """A draw: how much state the command processor changes for it, whether it begins only when all draws before it are
    done, its BATCH (batches,) and WAVE (waves,) in their order, and whether a shader runs for the waves.
    """

    state_changes: int
    drains: bool
    batches: np.ndarray
    waves: np.ndarray
    shades_pixels: bool = True


def check_graphics(chip: Chip) -> None:
    """Raises UsageError when the chip draws nothing."""
    if not chip.graphics:
        drawing = ", ".join(name for name in list_chips() if load_chip(name).graphics)
        raise UsageError(
            f"{chip.name}: the chip draws nothing: its file has no table [graphics]; name one that has, as in --chip "
            f"rtx3090 ({drawing})"
        )


def tables_of(work: list[DrawWork], chip: Chip) -> Draws:
    """The tables as they are before the first command. Raises UsageError when the chip draws nothing."""
    if not work:  # as in most batches
        return Draws(np.zeros(0, DRAW), np.zeros(0, ITEM), np.zeros((0, N_STAGES), PASSAGE), _new_stages(0, 0))
    check_graphics(chip)
    batches = np.concatenate([np.zeros(0, BATCH), *(each.batches for each in work)])
    waves = np.concatenate([np.zeros(0, WAVE), *_waves_of_all(work)])
    n_batches = len(batches)
    rows = n_batches + len(waves)
    item = np.zeros(rows, ITEM)
    numbers = np.arange(len(work))
    item["draw"][:n_batches] = np.repeat(numbers, [len(each.batches) for each in work])
    item["draw"][n_batches:] = np.repeat(numbers, [len(each.waves) for each in work])
    item["meets"][n_batches:] = waves["batch"]
    item["meets"][:n_batches] = _last_waves(waves, n_batches)
    item["is_shaded"] = 1
    item["is_shaded"][n_batches:] = np.repeat([each.shades_pixels for each in work], [len(each.waves) for each in work])
    passage = np.zeros((rows, N_STAGES), PASSAGE)
    passage["begun"] = passage["left"] = NEVER
    stage = _new_stages(n_batches, rows)
    _enter_rates(passage["ticks"][:n_batches], passage["ticks"][n_batches:], batches, waves, chip.graphics)
    _enter_rooms(stage["room"], chip.graphics)
    return Draws(_draw_table(work, chip, n_batches), item, passage, stage)


def _new_stages(n_batches: int, n_items: int) -> np.ndarray:
    stage = np.zeros((2, N_STAGES), STAGE)
    stage["end"][BATCHES] = stage["first"][WAVES] = stage["next"][WAVES] = n_batches
    stage["end"][WAVES] = n_items
    return stage


def _waves_of_all(work: list[DrawWork]) -> Iterator[np.ndarray]:
    """The waves, with the numbers that batches have among those of all draws."""
    before = 0
    for each in work:
        waves = each.waves.copy()
        waves["batch"] = np.where(waves["batch"] < 0, -1, waves["batch"] + before)
        before += len(each.batches)
        yield waves


def _last_waves(waves: np.ndarray, n_batches: int) -> np.ndarray:
    """For each batch the row of the last wave that needs no later one, -1: there is none."""
    needs = np.maximum.accumulate(waves["batch"])
    n_waves = np.searchsorted(needs, np.arange(n_batches), side="right")
    return np.where(n_waves > 0, n_batches + n_waves - 1, -1)


def _enter_rates(
    of_batches: np.ndarray, of_waves: np.ndarray, batches: np.ndarray, waves: np.ndarray, rates: dict[str, float]
) -> None:
    """Writes the ticks, int64 (items, N_STAGES), for which each item keeps each unit."""
    of_batches[:, FETCHED] = _ticks(batches["n_indices"], rates["indices_per_cycle"])
    of_batches[:, ASSEMBLED] = _ticks(batches["n_primitives"], rates["primitives_per_cycle"])
    of_batches[:, SET_UP] = _ticks(batches["n_accepted"], rates["triangles_per_cycle"])
    tiles, pixels = (_ticks(waves[f"n_{name}"], rates[f"{name}_per_cycle"]) for name in ("tiles", "pixels"))
    of_waves[:, SCANNED] = np.maximum(tiles, pixels)
    of_waves[:, TESTED] = _ticks(waves["n_samples"], rates["depth_samples_per_cycle"])
    late = _ticks(waves["n_late_samples"], rates["depth_samples_per_cycle"])
    written = _ticks(waves["n_written"], rates["color_pixels_per_cycle"])
    moved = _ticks(waves["written_nbytes"], rates["color_nbytes_per_cycle"])
    of_waves[:, WRITTEN] = np.maximum(late, np.maximum(written, moved))


def _ticks(amount: np.ndarray, per_cycle: float) -> np.ndarray:
    return np.rint(amount * (TICKS / per_cycle)).astype(np.int64)


def _enter_rooms(rooms: np.ndarray, numbers: dict[str, float]) -> None:
    rooms[BATCHES, [FETCHED, ASSEMBLED, SET_UP]] = [
        numbers[name] for name in ("batches_in_flight", "assembled_batches", "set_up_batches")
    ]
    rooms[WAVES, [SCANNED, TESTED]] = [numbers[name] for name in ("scanned_waves", "waves_in_flight")]


def _draw_table(work: list[DrawWork], chip: Chip, n_batches: int) -> np.ndarray:
    draw = np.zeros(len(work), DRAW)
    batch, wave = 0, n_batches
    for row, each in zip(draw, work, strict=True):
        cycles = chip.graphics["draw_cycles"] + each.state_changes * chip.graphics["state_cycles"]
        row["ticks"], row["drains"], row["begun"] = round(cycles * TICKS), each.drains, NEVER
        row["last_batch"], row["last_wave"] = batch - 1, wave - 1 if wave > n_batches else -1
        batch, wave = batch + len(each.batches), wave + len(each.waves)
    return draw


def timings_of(tables: Draws, work: list[DrawWork]) -> list[DrawTiming]:
    """When each draw was done, once all items have passed all stages."""
    timings, batch, wave = [], 0, sum(len(each.batches) for each in work)
    for number, each in enumerate(work):
        of_batches = tables.passage[batch : batch + len(each.batches)]
        of_waves = tables.passage[wave : wave + len(each.waves)]
        batch, wave = batch + len(each.batches), wave + len(each.waves)
        parts = _parts(of_batches, BATCH_STAGES, BATCH_SHADED) | _parts(of_waves, WAVE_STAGES, WAVE_SHADED)
        left = [int(part["left"].max()) for part in parts.values() if len(part)]
        assert max(left, default=0) < NEVER, "a draw that has not come to its end"
        begun = int(tables.draw[number]["begun"])
        timings.append(
            DrawTiming(
                begun // TICKS,
                -(-max([begun, *left]) // TICKS),
                {name: int(part["ticks"].sum()) / TICKS for name, part in parts.items()},
                {
                    name: int((part["left"] - part["begun"] - part["ticks"]).sum()) / TICKS
                    for name, part in parts.items()
                },
            )
        )
    return timings


def _parts(passage: np.ndarray, stages: dict[str, int], shaded: int) -> dict[str, np.ndarray]:
    """The passages of each unit but the shaders."""
    return {name: passage[:, stage] for name, stage in stages.items() if stage != shaded}
