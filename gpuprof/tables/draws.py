"""Draws: what they counted, their fixed-function units, and the waves of their shaders."""

from gpuprof.tables.table import CYCLE, DRAW, FLAG, KEY, LAUNCH, RESERVED, TASK, Bounds, Column, Table

STAGES = "vertex, hull, domain, geometry or pixel"
SIZE: Bounds = {"low": 1, "high": 1 << 14}
CYCLES: Bounds = {"low": 0, "high": (1 << 63) - 1}  # a real number of cycles, which may be 0

WAVES = Table(
    "draw_waves",
    "exact: every warp of the shaders of draws that were timed together with the fixed-function units",
    (
        Column("draw", "<u4", "", "number of the draw", DRAW, parent="draws"),
        Column("stage", "<u4", "", "number of its stage: 0 vertex, 1 hull, 2 domain, 3 geometry, 4 pixel", KEY),
        Column("start_cycle", "<u8", "cycles", "GPU cycle of its start, from power-on", CYCLE),
        Column("end_cycle", "<u8", "cycles", "GPU cycle from which it is gone", CYCLE),
    ),
    chunk=b"WAVE",
    rows="those of a draw in the order of their dispatch",
    of_launch=False,
    grain="draw stage wave",
    stored=(
        "draw",
        Column("stage", "text", "", STAGES, KEY),
        Column("wave", "integer", "", "0, 1, ... of the stage, in the order of dispatch", KEY),
        "start_cycle end_cycle",
    ),
    since=7,
)
PRIMITIVES = Table(
    "block_primitives",
    "exact: the primitives of each block of a shader's launch, which follow each other in the draw; a block is a wave",
    (
        Column("block", "<u4", "", "linear block index in the grid", KEY),
        Column("reserved", "<u4", "", "zero", RESERVED),
        Column("first_primitive", "<u8", "", "number of its first primitive in the draw", KEY),
        Column("last_primitive", "<u8", "", "number of its last one; the lanes have only these and those between", KEY),
    ),
    chunk=b"PRIM",
    rows="rows ascend by block",
    grain="launch block",
    since=7,
)

# The database.
DRAW_OF = Column("draw", "integer", "", "the draw", DRAW, parent="draws")
# What a draw counts, exactly: the keys of `counts` of its DRAW chunk.
DRAW_COUNTS = (
    Column("indices", "integer", "indices", "indices fetched"),
    Column("vertex_waves", "integer", "warps", "warps of the vertex shader"),
    Column("vertices", "integer", "vertices", "vertices shaded"),
    Column("primitives", "integer", "primitives", "points, lines, triangles or patches, assembled"),
    Column("hull_waves", "integer", "warps", "warps of the hull shader"),
    Column("culled_patches", "integer", "patches", "patches with an edge that has no level above 0"),
    Column("domain_vertices", "integer", "vertices", "vertices that the tessellator made of the others"),
    Column("domain_waves", "integer", "warps", "warps of the domain shader"),
    Column("tessellated", "integer", "primitives", "primitives that the tessellator made"),
    Column("geometry_waves", "integer", "warps", "warps of the geometry shader"),
    Column("emitted", "integer", "primitives", "primitives that the geometry shader made"),
    Column("rejected", "integer", "primitives", "primitives out of view, or with a position that is not finite"),
    Column("clipped", "integer", "primitives", "primitives cut by near or far plane, or by the guard band"),
    Column("culled", "integer", "primitives", "primitives culled by side; pieces of clipped ones count from here on"),
    Column("without_area", "integer", "primitives", "primitives left out for their area of 0"),
    Column("scanned", "integer", "primitives", "primitives that reach the rasteriser"),
    Column("tiles", "integer", "tiles", "pairs of a tile of 8 x 8 pixels and a primitive that were tested"),
    Column("hidden_tiles", "integer", "tiles", "tested tiles that hierarchical depth left out"),
    Column("covered", "integer", "samples", "samples inside of primitives"),
    Column("tested", "integer", "samples", "depth or stencil tests"),
    Column("passed", "integer", "samples", "samples that passed all tests"),
    Column("hidden_quads", "integer", "quads", "quads that the tests before the shader emptied"),
    Column("quads", "integer", "quads", "quads of 2 x 2 pixels, shaded"),
    Column("helpers", "integer", "lanes", "lanes of these without a covered sample"),
    Column("discarded", "integer", "pixels", "pixels that the shader discarded"),
    Column("pixel_waves", "integer", "warps", "warps of the pixel shader"),
    Column("written", "integer", "samples", "samples of color targets, written"),
)
DRAW_COUNT_NAMES = tuple(column.name for column in DRAW_COUNTS)
DRAWS = Table(
    "draws",
    "draws that have drawn all; those that were ended early only have launches",
    (
        Column("draw", "integer", "", "number of the draw, in the order of requests", DRAW),
        Column("task", "integer", "", "its task, whose parts are its launches; NULL where it did not end", TASK,
               parent="tasks", null=True),
        Column("pass", "integer", "", "0, 1, ...: draws that follow each other into the same targets"),
        Column("command_buffer", "integer", "", "the task of its command buffer; NULL: none", TASK, parent="tasks",
               null=True),
        Column("name", "text", "", "name that a script gave, or those of its shaders"),
        Column("width", "integer", "pixels", "pixels of its targets in a row", KEY, **SIZE),
        Column("height", "integer", "pixels", "rows of pixels", KEY, **SIZE),
        Column("samples", "integer", "samples", "samples of a pixel"),
        Column("state_changes", "integer", "changes", "changes since the draw before: shaders, their parameters, "
               "buffers, targets, fixed-function state"),
        Column("drains", "integer", "", "1: it begins only when all draws before it are done", FLAG),
        Column("start_cycle", "integer", "cycles", "GPU cycle of its command, from power-on; NULL where its shaders "
               "were timed separately or not at all", CYCLE, null=True),
        Column("end_cycle", "integer", "cycles", "GPU cycle in which all of it has left all units", CYCLE, null=True),
        *DRAW_COUNTS,
    ),
    grain="draw",
    since=7,
)  # fmt: skip
DRAW_LAUNCHES = Table(
    "draw_launches",
    "launches of draws' shaders",
    (
        Column("launch", "integer", "", "launch of the shader", LAUNCH, parent="launches"),
        Column("draw", "integer", "", "number of its draw; draws lacks those that were ended early", DRAW),
        Column("stage", "text", "", STAGES),
    ),
    grain="launch",
    since=7,
)
DRAW_UNITS = Table(
    "draw_units",
    "exact: fixed-function units, while a draw was in them",
    (
        DRAW_OF,
        Column("unit", "text", "", "front end: command, fetch, tessellate, assembly; back end: setup, scan, depth, "
               "write"),
        Column("busy_cycles", "real", "cycles", "cycles at work", **CYCLES),
        Column("blocked_cycles", "real", "cycles", "cycles with an item that the next buffer has no capacity for",
               **CYCLES),
        Column("first_cycle", "integer", "cycles", "GPU cycle, from power-on, in which the unit began its first item",
               CYCLE),
        Column("last_cycle", "integer", "cycles", "GPU cycle by which all items have left it", CYCLE),
    ),
    grain="draw unit",
    since=7,
)  # fmt: skip
DRAW_WORK = Table(
    "draw_work",
    "amounts of work that a draw requested of the units",
    (
        DRAW_OF,
        Column("amount", "text", "", "name of the amount: n_indices, n_primitives, n_accepted, n_tiles and so on"),
        Column("value", "integer", "", "the amount"),
    ),
    grain="draw amount",
    since=7,
)
DRAW_TRAFFIC = Table(
    "draw_traffic",
    "exact: bytes that fixed-function units read and wrote for a draw; its shaders' bytes are their launches'",
    (
        DRAW_OF,
        Column(
            "unit", "text", "", "fetch (indices), depth (depths and stencils), write (colors; tests after the shader)"
        ),
        Column("l2_read_nbytes", "integer", "bytes", "bytes read from the L2, in whole sectors of 32 bytes"),
        Column("l2_write_nbytes", "integer", "bytes", "bytes written to the L2, in sectors, some of them in part"),
        Column("dram_read_nbytes", "integer", "bytes", "bytes of these that the L2 had to read from the DRAM"),
        Column("dram_write_nbytes", "integer", "bytes", "bytes that had to leave the L2 for it"),
    ),
    grain="draw unit",
    since=8,
)  # fmt: skip
