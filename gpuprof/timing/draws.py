"""What draws ask of the fixed-function units, and when these did it.

    Work of the emulator ─ tables_of ─> Draws of the machine ─ engine ─> timings_of ─> DrawTiming of each draw

Rates are those of the chip's table `graphics`, for the whole chip.
"""

from dataclasses import dataclass
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

# A draw: what the command processor does for it, and how many of the items of each series are its own. `drains`: it
# begins when all draws before it are done.
COMMAND = np.dtype([("state_changes", "i8"), ("drains", "i8"), ("n_batches", "i8"), ("n_waves", "i8")])
# Vertices that are shaded as one warp, and the primitives that their indices end: those assembled, and those that are
# neither clipped away nor culled.
BATCH = np.dtype([("n_indices", "i8"), ("n_primitives", "i8"), ("n_accepted", "i8")])
# Pixels that are shaded as one warp: the last batch that they need, -1 none; what the scan visited for them; samples
# tested; pixels and bytes written (with blending, bytes read, too).
WAVE = np.dtype(
    [
        ("batch", "i8"),
        ("n_tiles", "i8"),
        ("n_pixels", "i8"),
        ("n_samples", "i8"),
        ("n_written", "i8"),
        ("written_nbytes", "i8"),
    ]
)
BATCH_STAGES = {"fetch": FETCHED, "vertices": BATCH_SHADED, "assembly": ASSEMBLED, "setup": SET_UP}
WAVE_STAGES = {"scan": SCANNED, "depth": TESTED, "pixels": WAVE_SHADED, "write": WRITTEN}


class Work(NamedTuple):
    """In the order of the draws: COMMAND (draws,), BATCH (batches,), WAVE (waves,)."""

    commands: np.ndarray
    batches: np.ndarray
    waves: np.ndarray


@dataclass(frozen=True)
class DrawTiming:
    """Cycles from power-on. `busy_cycles` and `blocked_cycles` of each fixed-function unit by name: at work, and with
    an item that the buffer behind has no room for.
    """

    start_cycle: int
    end_cycle: int
    busy_cycles: dict[str, float]
    blocked_cycles: dict[str, float]


NO_WORK = Work(np.zeros(0, COMMAND), np.zeros(0, BATCH), np.zeros(0, WAVE))


def tables_of(work: Work, chip: Chip) -> Draws:
    """The tables as they are before the first command. Raises UsageError when the chip has no such units."""
    n_batches, n_waves = len(work.batches), len(work.waves)
    rows = n_batches + n_waves
    item = np.zeros(rows, ITEM)
    item["draw"][:n_batches] = np.repeat(np.arange(len(work.commands)), work.commands["n_batches"])
    item["draw"][n_batches:] = np.repeat(np.arange(len(work.commands)), work.commands["n_waves"])
    item["meets"][n_batches:] = work.waves["batch"]
    item["meets"][:n_batches] = _last_waves(work, n_batches)
    passage = np.zeros((rows, N_STAGES), PASSAGE)
    passage["begun"] = passage["left"] = NEVER
    stage = np.zeros((2, N_STAGES), STAGE)
    stage["end"][BATCHES] = stage["first"][WAVES] = stage["next"][WAVES] = n_batches
    stage["end"][WAVES] = rows
    if len(work.commands):
        if not chip.graphics:
            raise UsageError(
                f"{chip.name}: the chip draws nothing: its file has no table [graphics]; draw on {_drawing()}"
            )
        _enter_rates(passage[:n_batches, :], passage[n_batches:, :], stage, work, chip.graphics)
    return Draws(_draw_table(work, chip, n_batches), item, passage, stage)


def _drawing() -> str:
    return " or ".join(name for name in list_chips() if load_chip(name).graphics)


def _last_waves(work: Work, n_batches: int) -> np.ndarray:
    """For each batch the row of the last wave that needs no later one, -1: there is none."""
    needs = np.maximum.accumulate(work.waves["batch"])
    n_waves = np.searchsorted(needs, np.arange(n_batches), side="right")
    return np.where(n_waves > 0, n_batches + n_waves - 1, -1)


def _enter_rates(batches: np.ndarray, waves: np.ndarray, stage: np.ndarray, work: Work, rates: dict[str, float]):
    of_batch, of_wave = work.batches, work.waves
    batches["ticks"][:, FETCHED] = _ticks(of_batch["n_indices"], rates["indices_per_cycle"])
    batches["ticks"][:, ASSEMBLED] = _ticks(of_batch["n_primitives"], rates["primitives_per_cycle"])
    batches["ticks"][:, SET_UP] = _ticks(of_batch["n_accepted"], rates["triangles_per_cycle"])
    waves["ticks"][:, SCANNED] = np.maximum(
        _ticks(of_wave["n_tiles"], rates["tiles_per_cycle"]), _ticks(of_wave["n_pixels"], rates["pixels_per_cycle"])
    )
    waves["ticks"][:, TESTED] = _ticks(of_wave["n_samples"], rates["depth_samples_per_cycle"])
    waves["ticks"][:, WRITTEN] = np.maximum(
        _ticks(of_wave["n_written"], rates["color_pixels_per_cycle"]),
        _ticks(of_wave["written_nbytes"], rates["color_nbytes_per_cycle"]),
    )
    stage["room"][BATCHES, [FETCHED, ASSEMBLED, SET_UP]] = [
        rates[name] for name in ("batches_in_flight", "assembled_batches", "set_up_batches")
    ]
    stage["room"][WAVES, [SCANNED, TESTED]] = [rates[name] for name in ("scanned_waves", "waves_in_flight")]


def _ticks(amount: np.ndarray, per_cycle: float) -> np.ndarray:
    return np.rint(amount * (TICKS / per_cycle)).astype(np.int64)


def _draw_table(work: Work, chip: Chip, n_batches: int) -> np.ndarray:
    draw = np.zeros(len(work.commands), DRAW)
    if len(draw):
        cycles = chip.graphics["draw_cycles"] + work.commands["state_changes"] * chip.graphics["state_cycles"]
        draw["ticks"] = np.rint(cycles * TICKS).astype(np.int64)
    draw["drains"] = work.commands["drains"]
    draw["last_batch"] = np.cumsum(work.commands["n_batches"]) - work.commands["n_batches"] - 1
    waves_before = np.cumsum(work.commands["n_waves"]) - work.commands["n_waves"]
    draw["last_wave"] = np.where(waves_before > 0, n_batches + waves_before - 1, -1)
    draw["begun"] = NEVER
    return draw


def timings_of(tables: Draws, work: Work) -> list[DrawTiming]:
    """When each draw was done. Raises AssertionError for an item that has not passed all stages."""
    assert (tables.passage["left"] < NEVER).all(), "a draw that has not come to its end"
    n_batches = len(work.batches)
    timings, batch, wave = [], 0, n_batches
    for number, command in enumerate(work.commands):
        parts = {
            **_parts(tables.passage[batch : batch + command["n_batches"]], BATCH_STAGES, BATCH_SHADED),
            **_parts(tables.passage[wave : wave + command["n_waves"]], WAVE_STAGES, WAVE_SHADED),
        }
        batch, wave = batch + command["n_batches"], wave + command["n_waves"]
        begun = int(tables.draw[number]["begun"])
        left = [int(part["left"].max()) for part in parts.values() if len(part)]
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
