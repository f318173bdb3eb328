"""The fixed-function units of draws: the order and the times in which items pass them.

    vertex     fetch ─> warps ─> retired
    hull       fed ─> warps ─> retired
    domain     tessellate ─> warps ─> retired
    geometry   fed ─> warps ─> retired
    primitive  assembly ─> setup
    pixel      scan ─> depth ─> warps ─> write

A series of items passes the columns of its row; a draw has items in some of the series. Each unit takes the items of
its series one after the other, in the order of the draws, and keeps one for as many ticks as its rate says. The first
unit of a series takes an item when the last item of the series before it that it needs has left that (layout.ITEM), or
when the draw's command has been processed.

After a unit is a buffer. An item that has no place there stays in the unit, which takes no other (blocking after
service), until items before it are taken by the unit after the buffer. Warps end in any order, and the unit after them
takes them in their order, so the buffer before the shaders holds those that are shaded, too.

Some units access memory (layout.ASKING): their requests are served when their time comes (units/draw_traffic.py), and
an item continues when it is answered. Meanwhile the unit takes the next one. The last unit has a buffer of those that
are not answered yet.

Nothing here depends on when it is called: `advance` proceeds as far as ends of blocks and answers are known, in ticks
of their own.
"""

from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import (
    ASKING_COLUMN,
    ASKING_SERIES,
    ENDED,
    LAST_COLUMN,
    N_ASKING,
    N_SERIES,
    NEVER,
    SHADER_COLUMN,
    TICK_BITS,
    TICKS,
)
from gpuprof.timing.state.table_rows import before_at, column_at, draw_at, grid_at, item_at, passage_at


@inline_njit
def shading_at(machine, row):
    """The passage of an item through its shader."""
    return passage_at(machine, row, SHADER_COLUMN[item_at(machine, row).series])


@call_njit
def shading(machine, row, cycle):
    """The block of an item starts in `cycle`."""
    shading_at(machine, row).begun = cycle << TICK_BITS


@call_njit
def shaded(machine, row, cycle):
    """The block of an item has ended at `cycle`."""
    shading_at(machine, row).left = cycle << TICK_BITS


@call_njit
def released_at(machine, row):
    """The cycle from which the block of an item may start, NEVER: not known yet."""
    tick = through(machine, row, SHADER_COLUMN[item_at(machine, row).series] - 1)
    return NEVER if tick == NEVER else (tick + TICKS - 1) >> TICK_BITS


@call_njit
def advance(machine, present):
    """Takes every item as far as is known now, and releases the blocks whose turn comes by cycle `present`."""
    pass_items(machine)
    machine.next_release = NEVER
    for series in range(N_SERIES):
        if SHADER_COLUMN[series] >= 0:
            release(machine, series, present)
    for g in range(machine.first_open, machine.n_grids):
        grid = grid_at(machine, g)
        if grid.first_item >= 0 and grid.state != ENDED:
            series = item_at(machine, grid.first_item).series
            released = column_at(machine, series, SHADER_COLUMN[series]).next
            grid.released = min(max(released - grid.first_item, 0), grid.total_blocks)


@call_njit
def pass_items(machine):
    """Takes every item as far as is known now."""
    # From the back to the front, since what has left a unit makes room for what is before it.
    moved = 1
    while moved:
        moved = 0
        for series in range(N_SERIES - 1, -1, -1):
            for column in range(LAST_COLUMN[series], -1, -1):
                if column != SHADER_COLUMN[series]:
                    moved += run_unit(machine, series, column)
        moved += run_commands(machine)
    machine.next_asked = NEVER
    for k in range(N_ASKING):
        machine.next_asked = min(machine.next_asked, next_asked(machine, ASKING_SERIES[k], ASKING_COLUMN[k]))


@call_njit
def next_asked(machine, series, column):
    """The cycle in which a unit accesses memory next, NEVER: not known yet."""
    unit = column_at(machine, series, column)
    begun = passage_at(machine, unit.asked, column).begun if unit.asked < unit.end else NEVER
    return NEVER if begun == NEVER else begun >> TICK_BITS


@call_njit
def run_unit(machine, series, column):
    """Takes items through a unit until one must wait for what is not known yet; returns how many left it."""
    unit = column_at(machine, series, column)
    moved = 0
    while unit.next < unit.end:
        row = unit.next
        passage = passage_at(machine, row, column)
        if passage.begun == NEVER:
            before = arrival(machine, series, column, row)
            if before == NEVER:
                break
            passage.begun = max(before, unit.tick)
            if passage.n_lines == 0 and unit.asked == row:
                passage.answered = unit.answered
                unit.asked = row + 1
        free_since = room_since(machine, passage.ahead, unit.taker, column)
        if free_since == NEVER:
            break
        passage.left = unit.tick = max(passage.begun + passage.ticks, free_since)
        unit.next = row + 1
        moved += 1
    return moved


@inline_njit
def arrival(machine, series, column, row):
    """The tick in which an item reached a unit, NEVER: that is not known yet."""
    item = item_at(machine, row)
    if column > 0:
        passes_by = item.is_shaded == 0 and column - 1 == SHADER_COLUMN[series]
        return through(machine, row, column - (2 if passes_by else 1))
    return done(machine, item.needs) if item.needs >= 0 else draw_at(machine, item.draw).begun


@inline_njit
def through(machine, row, column):
    """When an item had left a unit and been answered, NEVER: that is not known yet."""
    passage = passage_at(machine, row, column)
    return max(passage.left, passage.answered)


@inline_njit
def room_since(machine, ahead, taker, column):
    """The tick in which the item `ahead`, if there is one, freed its place in the buffer after a column, NEVER: that is
    not known yet.
    """
    if ahead < 0:
        return 0
    if taker == column:
        return passage_at(machine, ahead, column).answered
    if taker >= 0:
        return passage_at(machine, ahead, taker).begun
    frees = item_at(machine, ahead).frees
    return passage_at(machine, frees, 0).begun if frees >= 0 else 0


@inline_njit
def done(machine, row):
    """When an item was through the last column of its series."""
    return through(machine, row, LAST_COLUMN[item_at(machine, row).series])


@call_njit
def run_commands(machine):
    """The command processor takes draws in order; returns how many it took."""
    moved = 0
    while machine.next_draw < machine.n_draws:
        draw = draw_at(machine, machine.next_draw)
        ready = machine.command_tick
        if draw.drains:
            for series in range(N_SERIES):
                row = before_at(machine, machine.next_draw, series).value
                if row >= 0:
                    ready = max(ready, done(machine, row))
        if ready == NEVER:
            break
        draw.begun = machine.command_tick = ready + draw.ticks
        machine.next_draw += 1
        moved += 1
    return moved


@call_njit
def release(machine, series, present):
    """Lets the blocks start whose items have reached the shaders by cycle `present`."""
    shader = column_at(machine, series, SHADER_COLUMN[series])
    while shader.next < shader.end and released_at(machine, shader.next) <= present:
        shader.next += 1
    if shader.next < shader.end:
        machine.next_release = min(machine.next_release, released_at(machine, shader.next))
