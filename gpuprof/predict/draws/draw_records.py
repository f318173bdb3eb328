"""The draws of a database, as plain values."""

import sqlite3
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from gpuprof.chips.draw_units import COSTS, SHADER_STAGES
from gpuprof.errors import NotComparable
from gpuprof.predict.draws.recorded_draws import RecordedDraw
from gpuprof.predict.draws.shader_waves import Waves
from gpuprof.predict.draws.targets import Extent, UnitBytes, target_reuse
from gpuprof.predict.launch_counters import LaunchCounters, again


def shaders_of(database: sqlite3.Connection) -> dict[int, tuple[int, str]]:
    """Draw and stage of each launch of a shader, by the launch's number."""
    rows = database.execute("SELECT launch, draw, stage FROM draw_launches ORDER BY launch")
    return {launch: (draw, stage) for launch, draw, stage in rows}


def read_draws(
    database: sqlite3.Connection,
    shaders: dict[int, tuple[int, str]],
    counted: dict[int, LaunchCounters],
    epoch_of: dict[int, int],
) -> tuple[RecordedDraw, ...]:
    """The draws that drew something, in their order. `epoch_of`: the epoch of each launch. Raises NotComparable for a
    draw that was not timed, or that lacks some of its numbers.
    """
    launches: dict[int, dict[str, list[LaunchCounters]]] = {}
    for launch, (draw, stage) in shaders.items():
        launches.setdefault(draw, {}).setdefault(stage, []).append(counted[launch])
    rows = database.execute("SELECT draw, name, drains, start_cycle, end_cycle FROM draws ORDER BY draw").fetchall()
    waiting = after_kernels(shaders, counted)
    draws = [
        _draw(database, draw, name, drains or draw in waiting, start, end, launches[draw], epoch_of)
        for draw, name, drains, start, end in rows
        if draw in launches
    ]
    text = "SELECT draw, pass, width * height * samples FROM draws"
    extents = {draw: Extent(of_pass, n_samples) for draw, of_pass, n_samples in database.execute(text)}
    reuse = target_reuse(
        [extents[drawn.draw] for drawn in draws], [drawn.nbytes for drawn in draws], [drawn.work for drawn in draws]
    )
    return tuple(replace(drawn, targets=targets) for drawn, targets in zip(draws, reuse, strict=True))


def after_kernels(shaders: dict[int, tuple[int, str]], launches: Iterable[int]) -> set[int]:
    """Draws with a kernel among `launches` between them and the previous draw: the kernel begins when that draw has
    ended, and they begin when the kernel has.
    """
    draws: set[int] = set()
    is_after_kernel = False
    for launch in sorted(launches):
        if launch not in shaders:
            is_after_kernel = True
        elif is_after_kernel:
            draws.add(shaders[launch][0])
            is_after_kernel = False
    return draws


def _draw(database, draw, name, drains, start, end, launches, epoch_of) -> RecordedDraw:
    units = database.execute("SELECT unit, busy_cycles, first_cycle FROM draw_units WHERE draw = ?", (draw,)).fetchall()
    work = dict(database.execute("SELECT amount, value FROM draw_work WHERE draw = ?", (draw,)))
    first = min((first for unit, _, first in units if unit != "command"), default=end)
    busy, waves = {unit: cycles for unit, cycles, _ in units}, _waves(database, draw)
    is_timed = start is not None and "command" in busy and busy["command"] + end - first > 0
    nbytes = _nbytes(database, draw)
    if lack := _lack(busy, work, nbytes, launches, waves) if is_timed else "times of its units":
        raise NotComparable(f"draw {draw} ({name}) has no {lack}; {again(database)}")
    return RecordedDraw(
        draw,
        name,
        epoch_of.get(launches["vertex"][0].launch, 0),
        bool(drains),
        start,
        first,
        end,
        busy,
        work,
        nbytes,
        waves,
        {stage: tuple(launches[stage]) for stage in SHADER_STAGES if stage in launches},
    )


def _nbytes(database: sqlite3.Connection, draw: int) -> dict[str, UnitBytes]:
    text = f"SELECT unit, {', '.join(UnitBytes._fields)} FROM draw_traffic WHERE draw = ?"
    return {unit: UnitBytes(*nbytes) for unit, *nbytes in database.execute(text, (draw,))}


def _lack(
    busy: dict[str, float], work: dict[str, int], nbytes: dict[str, UnitBytes], launches, waves: dict[str, Waves]
) -> str:
    """The data that a draw needs and lacks; "" where it has all. Ratios are divided by the times of first waves."""
    if not nbytes:
        return "bytes that its units read and wrote, which recordings have from version 8 on"
    amounts = {"state_changes", *(amount for unit in busy for amount, _ in COSTS.get(unit, ()))}
    if not amounts <= work.keys():
        return f"{min(amounts - work.keys())} of its units' work"
    if "vertex" not in launches or "vertex" not in waves:
        return "waves of a vertex shader"
    return "" if min(each.first_wave_cycles for each in waves.values()) > 0 else "time of its first waves"


def _waves(database: sqlite3.Connection, draw: int) -> dict[str, Waves]:
    rows: dict[str, list[tuple[int, int]]] = {}
    text = "SELECT stage, start_cycle, end_cycle FROM draw_waves WHERE draw = ? ORDER BY stage, wave"
    for stage, start, end in database.execute(text, (draw,)):
        rows.setdefault(stage, []).append((start, end))
    return {stage: Waves(*np.array(rows[stage], np.int64).T) for stage in SHADER_STAGES if stage in rows}
