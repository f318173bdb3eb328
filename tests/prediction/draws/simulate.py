"""Simulates the frames: when each draw, command buffer and frame ends, and which units shorten it."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from gpuprof.chips import Chip
from gpuprof.correlate.database import reading
from gpuprof.device.api import Device
from gpuprof.predict.draws.draw_bottleneck import SHADERS, UNITS
from gpuprof.predict.draws.draw_memory import MEMORY
from gpuprof.predict.recorded import Recorded, read_recorded
from tests.draws.frames import FRAMES, draw_frame
from tests.prediction.draws.chips import PREDICTED, REFERENCE, chip_named
from tests.prediction.draws.stored import ALONE, BUFFER, DRAW, FRAME, DrawRow, row_of
from tests.prediction.draws.truth import Timed, timed, traced
from tests.prediction.draws.units import doubled

CHIPS = (REFERENCE, *PREDICTED)
# On these each unit is doubled in turn, which takes several times as long. Shaders limit all frames on the first, fetch
# some on the second, writes one on the third.
WITH_UNITS = ("rtx4090", "rtx3090-half-front", "rtx3090-quarter-rops")
LEAST_BUSY = 0.01  # of a frame: half of it is what a doubled rate can save
DRAWN: dict[str, Callable[[Device], None]] = {name: partial(draw_frame, name=name) for name in FRAMES}
DRAWN_ALONE = {name: partial(draw, one_by_one=True) for name, draw in DRAWN.items()}


def simulate(frame: str, chips: Sequence[str], folder: Path, with_units: bool = True) -> Iterator[DrawRow]:
    """Of a frame on chips; `folder` keeps its recording on the reference chip."""
    by_arch: dict[str, list[Chip]] = {}
    for name in chips:
        by_arch.setdefault(chip_named(name).arch, []).append(chip_named(name))
    recorded = recorded_frame(frame, folder)
    for same in by_arch.values():
        batches = traced(DRAWN[frame], same[0], folder / "traced.gprec")
        alone = traced(DRAWN_ALONE[frame], same[0], folder / "traced.gprec")
        for chip in same:
            draws = timed(batches, chip)
            plain = cycles_of(draws, recorded, chip)
            faster = {}
            for unit in units_in_use(draws, plain[FRAME, 0]) if with_units and chip.name in WITH_UNITS else ():
                quick = doubled(chip, unit)
                faster[unit] = cycles_of(timed(batches, quick), recorded, quick)
            for part, cycles in plain.items():
                yield row_of(
                    frame, chip.name, part, cycles, {unit: of_parts[part] for unit, of_parts in faster.items()}
                )
            for number, draw in enumerate(timed(alone, chip)):
                yield row_of(frame, chip.name, (ALONE, number), draw.cycles, {})


def units_in_use(draws: Sequence[Timed], cycles: float) -> list[str]:
    """Those whose doubled rate may save something: busy for LEAST_BUSY of the frame's cycles, shaders, and memory."""
    busy = {unit: sum(draw.busy_cycles.get(unit, 0) for draw in draws) for unit in UNITS}
    return [unit for unit in UNITS if unit in (SHADERS, *MEMORY) or busy[unit] >= LEAST_BUSY * cycles]


def recorded_frame(frame: str, folder: Path, alone: bool = False) -> Recorded:
    """On the reference chip. `alone`: the host waits for each draw."""
    path = folder / f"{frame}{'.alone' if alone else ''}.gprec"
    if not path.exists():
        traced((DRAWN_ALONE if alone else DRAWN)[frame], chip_named(REFERENCE), path)
    with reading(path) as database:
        return read_recorded(database)


def cycles_of(draws: Sequence[Timed], recorded: Recorded, chip: Chip) -> dict[tuple[str, int], float]:
    """By level and number. Command buffers and frames last from the host's request to the end of their last draw."""
    assert len(draws) == len(recorded.draws)
    found = {(DRAW, number): draw.cycles for number, draw in enumerate(draws)}
    for number, buffer in enumerate(recorded.buffers):
        found[BUFFER, number] = _span([draws[place] for place in buffer.draws], chip)
    epochs: dict[int, list[Timed]] = {}
    for buffer in recorded.buffers:
        epochs.setdefault(buffer.epoch, []).extend(draws[place] for place in buffer.draws)
    found[FRAME, 0] = sum(_span(each, chip) for each in epochs.values())
    return found


def _span(draws: Sequence[Timed], chip: Chip) -> float:
    first, last = min(each.start_cycle for each in draws), max(each.end_cycle for each in draws)
    return last - first + chip.launch_cycles
