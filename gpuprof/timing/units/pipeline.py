"""The fixed-function units of draws: in what order, and when, their batches of vertices and waves of pixels pass.

    command ─> FETCHED ─> BATCH_SHADED ─> ASSEMBLED ─> SET_UP ─> SCANNED ─> TESTED ─> WAVE_SHADED ─> WRITTEN
               indices    blocks on SMs   primitives             tiles      depth     blocks on SMs   colors

Each unit takes the items of its series one after the other, in the order of the draws, and keeps one for as many ticks
as its rate says. Behind a unit is a buffer of `room` items. An item whose buffer is full stays in the unit, which takes
no other (blocking after service). Shading is in no order: the unit behind it takes items in order, so the buffer in
front of the shaders holds those that are shaded, too.

Nothing here depends on when it is looked at: `advance` goes as far as ends of blocks are known, in ticks of their own.
"""

from gpuprof.compiled.options import cold, hot
from gpuprof.timing.state.layout import (
    ASSEMBLED,
    BATCH_SHADED,
    BATCHES,
    ENDED,
    FETCHED,
    NEVER,
    SCANNED,
    SET_UP,
    TESTED,
    TICK_BITS,
    TICKS,
    WAVE_SHADED,
    WAVES,
    WRITTEN,
)
from gpuprof.timing.state.tables import draw_at, grid_at, item_at, passage_at, stage_at


@hot
def shading_stage(machine, row):
    return WAVE_SHADED if row >= stage_at(machine, WAVES, SCANNED).first else BATCH_SHADED


@cold
def shading(machine, row, cycle):
    """The block of an item starts in `cycle`."""
    passage_at(machine, row, shading_stage(machine, row)).begun = cycle << TICK_BITS


@cold
def shaded(machine, row, cycle):
    """The block of an item has ended at `cycle`."""
    passage_at(machine, row, shading_stage(machine, row)).left = cycle << TICK_BITS


@cold
def released_at(machine, row):
    """The cycle from which the block of an item may start, NEVER: not known yet."""
    tick = passage_at(machine, row, shading_stage(machine, row) - 1).left
    return NEVER if tick == NEVER else (tick + TICKS - 1) >> TICK_BITS


@cold
def advance(machine, present):
    """Takes every item as far as is known now, and releases the blocks whose turn comes by cycle `present`."""
    # From the back to the front, since what has left a unit makes room for what is before it.
    moved = 1
    while moved:
        moved = run_unit(machine, WAVES, WRITTEN)
        moved += run_unit(machine, WAVES, TESTED)
        moved += run_unit(machine, WAVES, SCANNED)
        moved += run_unit(machine, BATCHES, SET_UP)
        moved += run_unit(machine, BATCHES, ASSEMBLED)
        moved += run_unit(machine, BATCHES, FETCHED)
        moved += run_commands(machine)
    machine.next_release = NEVER
    release(machine, BATCHES, BATCH_SHADED, present)
    release(machine, WAVES, WAVE_SHADED, present)
    for g in range(machine.first_open, machine.n_grids):
        grid = grid_at(machine, g)
        if grid.first_item >= 0 and grid.state != ENDED:
            series = WAVES if shading_stage(machine, grid.first_item) == WAVE_SHADED else BATCHES
            released = stage_at(machine, series, shading_stage(machine, grid.first_item)).next
            grid.released = min(max(released - grid.first_item, 0), grid.total_blocks)


@cold
def run_unit(machine, series, stage):
    """Takes items through a unit until one must wait for what is not known yet; returns how many left it."""
    unit = stage_at(machine, series, stage)
    moved = 0
    while unit.next < unit.end:
        row = unit.next
        passage = passage_at(machine, row, stage)
        if passage.begun == NEVER:
            before = arrival(machine, series, stage, row)
            if before == NEVER:
                break
            passage.begun = max(before, unit.tick)
        room = room_since(machine, series, stage, row)
        if room == NEVER:
            break
        passage.left = unit.tick = max(passage.begun + passage.ticks, room)
        unit.next = row + 1
        moved += 1
    return moved


@hot
def arrival(machine, series, stage, row):
    """When an item came to a unit, NEVER: that is not known yet."""
    item = item_at(machine, row)
    if stage > 0:
        is_behind_shader = stage - 1 == (BATCH_SHADED if series == BATCHES else WAVE_SHADED)
        return passage_at(machine, row, stage - (2 if is_behind_shader and item.is_shaded == 0 else 1)).left
    if series == WAVES and item.meets >= 0:
        return passage_at(machine, item.meets, SET_UP).left
    return draw_at(machine, item.draw).begun


@hot
def room_since(machine, series, stage, row):
    """When the buffer behind a unit had room for an item, NEVER: that is not known yet."""
    unit = stage_at(machine, series, stage)
    ahead = row - unit.room  # it must be gone
    if (stage == WRITTEN and series == WAVES) or ahead < unit.first:
        return 0
    if series == BATCHES and stage == SET_UP:
        wave = item_at(machine, ahead).meets
        return passage_at(machine, wave, SCANNED).begun if wave >= 0 else 0
    # Shaded items keep their places until the unit behind takes them.
    behind = stage + 2 if stage + 1 == (BATCH_SHADED if series == BATCHES else WAVE_SHADED) else stage + 1
    return passage_at(machine, ahead, behind).begun


@cold
def run_commands(machine):
    """The command processor takes draws in order; returns how many it took."""
    moved = 0
    while machine.next_draw < machine.n_draws:
        draw = draw_at(machine, machine.next_draw)
        ready = machine.command_tick
        if draw.drains:
            ready = max(ready, done(machine, draw.last_batch, SET_UP), done(machine, draw.last_wave, WRITTEN))
        if ready == NEVER:
            break
        draw.begun = machine.command_tick = ready + draw.ticks
        machine.next_draw += 1
        moved += 1
    return moved


@hot
def done(machine, row, stage):
    return passage_at(machine, row, stage).left if row >= 0 else 0


@cold
def release(machine, series, stage, present):
    """Lets the blocks start whose items have come to the shaders by cycle `present`."""
    shader = stage_at(machine, series, stage)
    while shader.next < shader.end and released_at(machine, shader.next) <= present:
        shader.next += 1
    if shader.next < shader.end:
        machine.next_release = min(machine.next_release, released_at(machine, shader.next))
