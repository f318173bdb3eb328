"""The tables of a simulated GPU, each declared once: its rows, its shape and its meaning.

A group of tables is a named tuple of arrays. The annotation of a table has the record of its rows (layout), and for a
table with two indexes the machine's number that counts its columns: `Table` in compiled code (table_rows). MACHINE is
the record that every compiled function takes: the machine's numbers, and the addresses of all tables.
"""

from typing import Annotated, NamedTuple, get_args

import numpy as np

from gpuprof.tables.blocks import BLOCK_COUNTERS, WARP_COUNTERS
from gpuprof.tables.samples import SAMPLED_COUNTERS, WIDE
from gpuprof.timing.state.layout import (
    ACTIVITY,
    BATCH_NUMBERS,
    BLAME,
    BLOCK,
    BOARD,
    CHIP_NUMBERS,
    COLUMN,
    CONSTANTS,
    COUNTERS,
    DERIVED_NUMBERS,
    DRAM_ROW,
    DRAW,
    EDGE,
    EFFECT,
    FIFO_PLACE,
    GATE,
    GRID,
    HANDOUT,
    HOT_LINE,
    INSTRUCTION,
    ITEM,
    JOINED,
    L1_LINE,
    L2_LINE,
    LANE,
    LOAD_RECORD,
    LOSS,
    OPERATION,
    PARTITION,
    PASSAGE,
    PORT,
    PRESENCE,
    QUEUE_PLACE,
    REQUEST,
    SIGNALS,
    SM,
    SPARE,
    TRANSLATION,
    UNIT_ACCESS,
    UNIT_TRAFFIC,
    WARP,
    WRITE_QUEUE,
)


class Table(NamedTuple):
    """The rows of a table, and for a table with two indexes the machine's number that counts its columns."""

    dtype: np.dtype
    columns: str = ""


# Tables of plain numbers: `value` is an int64 or int32.
WORD, SHORT = np.dtype([("value", "i8")]), np.dtype([("value", "i4")])


class Program(NamedTuple):
    inst: Annotated[np.ndarray, Table(INSTRUCTION)]
    dep: Annotated[np.ndarray, Table(SHORT)]
    first_of_block: Annotated[np.ndarray, Table(SHORT)]


class Core(NamedTuple):
    grid: Annotated[np.ndarray, Table(GRID)]
    edge: Annotated[np.ndarray, Table(EDGE)]
    operation: Annotated[np.ndarray, Table(OPERATION)]
    engine: Annotated[np.ndarray, Table(WORD)]  # when each is free
    presence: Annotated[np.ndarray, Table(PRESENCE, "sms")]  # by grid, of each SM
    loss: Annotated[np.ndarray, Table(LOSS, "sms")]  # by grid, of each SM
    atomic_time: Annotated[np.ndarray, Table(WORD, "l2_slices")]  # by grid: ticks that each slice worked on atomics
    hot_line: Annotated[np.ndarray, Table(HOT_LINE, "n_hot_lines")]  # by grid: lines with most of these ticks
    warp: Annotated[np.ndarray, Table(WARP)]
    board: Annotated[np.ndarray, Table(BOARD, "n_registers")]  # by warp
    second: Annotated[np.ndarray, Table(BOARD, "n_registers")]  # by warp: the earlier entry of joined registers
    part: Annotated[np.ndarray, Table(PARTITION)]
    lane: Annotated[np.ndarray, Table(LANE, "warps_per_partition")]  # by partition
    wake: Annotated[np.ndarray, Table(WORD, "warps_per_partition")]  # by partition: when each lane is examined again
    port: Annotated[np.ndarray, Table(PORT, "n_ports")]  # by partition
    queue: Annotated[np.ndarray, Table(QUEUE_PLACE, "queue_depth")]  # by partition: the last memory instructions
    # by partition: when the last accesses to global memory are served
    l1_queue: Annotated[np.ndarray, Table(WORD, "l1_queue_depth")]
    # by partition: when the last other memory instructions are
    mio_queue: Annotated[np.ndarray, Table(WORD, "mio_queue_depth")]
    # by partition: when the last instructions for a shared fp64 unit are served
    fp64_queue: Annotated[np.ndarray, Table(WORD, "fp64_queue_depth")]
    sm: Annotated[np.ndarray, Table(SM)]
    running: Annotated[np.ndarray, Table(WORD)]  # the SMs that have something to do in this quantum
    block: Annotated[np.ndarray, Table(BLOCK)]
    arrived: Annotated[np.ndarray, Table(SHORT, "n_barriers")]  # by block slot: warps that have arrived
    begun: Annotated[np.ndarray, Table(WORD, "n_barriers")]  # by block slot: when the first warp arrived
    round: Annotated[np.ndarray, Table(WORD)]  # by warps that arrive: cycles from the first arrival on
    bypass: Annotated[np.ndarray, Table(WORD, "n_kinds")]  # by reader and maker
    ended: Annotated[np.ndarray, Table(SHORT, "n_mbarriers")]  # by block slot: ended phases of memory barriers
    landed: Annotated[np.ndarray, Table(WORD, "n_mbarriers")]  # by block slot: when the last of these phases ended
    lander: Annotated[np.ndarray, Table(WORD, "n_mbarriers")]  # by block slot: its cause
    handout: Annotated[np.ndarray, Table(HANDOUT)]
    # Lists of a quantum: a view of the machine has so many rows in each, an SM some of them.
    effect: Annotated[np.ndarray, Table(EFFECT)]
    blocked: Annotated[np.ndarray, Table(WORD)]  # warps that wait for the quantum's requests
    poller: Annotated[np.ndarray, Table(WORD)]  # warps that poll
    signal: Annotated[np.ndarray, Table(SIGNALS)]  # by hash
    ledger: Annotated[np.ndarray, Table(WORD, "n_reasons")]  # by instruction of the batch: each grid has its own
    activity: Annotated[np.ndarray, Table(ACTIVITY, "n_activities")]  # by grid and bin: bins_of(grids) bins each
    # by instruction: its row of `stalls` (see stall_tables)
    stall_row: Annotated[np.ndarray, Table(SHORT, "n_reasons")]
    stalls: Annotated[np.ndarray, Table(WORD)]  # rows of stall_tables.ROW numbers, taken as needed


class Fetch(NamedTuple):
    l0_tag: Annotated[np.ndarray, Table(WORD, "l0i_lines")]  # by partition
    l0_ready: Annotated[np.ndarray, Table(WORD, "l0i_lines")]
    l1i_tag: Annotated[np.ndarray, Table(WORD, "l1i_lines")]  # by SM
    l1i_ready: Annotated[np.ndarray, Table(WORD, "l1i_lines")]
    constant_tag: Annotated[np.ndarray, Table(WORD, "constant_places")]  # by SM: of operands, then of loads; sets alike
    constant_ready: Annotated[np.ndarray, Table(WORD, "constant_places")]
    constant_l15_tag: Annotated[np.ndarray, Table(WORD, "constant_l15_places")]  # by SM; of a set the newest first
    constant_l15_ready: Annotated[np.ndarray, Table(WORD, "constant_l15_places")]


class Memory(NamedTuple):
    l1_tag: Annotated[np.ndarray, Table(WORD)]  # by SM and line, as the next two
    l1_use: Annotated[np.ndarray, Table(WORD)]
    l1_line: Annotated[np.ndarray, Table(L1_LINE)]
    miss_free: Annotated[np.ndarray, Table(WORD, "l1_mshrs")]  # by SM: when each miss register is free
    l2_tag: Annotated[np.ndarray, Table(WORD)]
    l2_use: Annotated[np.ndarray, Table(WORD)]
    l2_line: Annotated[np.ndarray, Table(L2_LINE)]
    l2_ticket: Annotated[np.ndarray, Table(WORD)]  # by line: units/write_back.py; 0: it is not queued
    l2_copy: Annotated[np.ndarray, Table(WORD)]
    tlb: Annotated[np.ndarray, Table(TRANSLATION, "tlb_entries")]  # by SM
    tlb_hint: Annotated[np.ndarray, Table(SHORT, "n_tlb_hints")]  # by SM
    l2_tlb: Annotated[np.ndarray, Table(TRANSLATION)]
    slice_tick: Annotated[np.ndarray, Table(WORD)]
    channel_tick: Annotated[np.ndarray, Table(WORD)]
    slice_join: Annotated[np.ndarray, Table(JOINED, "l2_join_lines")]  # by slice
    slice_joins: Annotated[np.ndarray, Table(WORD)]  # by slice: lines that had a place in it so far
    # by channel: sectors written since the bus turned, times two; 1: others were read
    channel_turn: Annotated[np.ndarray, Table(WORD)]
    channel_posted: Annotated[np.ndarray, Table(WORD)]  # by channel: the tick in which it has done what no warp awaits
    write_queue: Annotated[np.ndarray, Table(WRITE_QUEUE)]  # by channel
    channel_activate: Annotated[np.ndarray, Table(WORD)]  # by channel: the tick from which it may open another row
    dram_row: Annotated[np.ndarray, Table(DRAM_ROW, "n_open_rows")]  # by bank of all channels
    request: Annotated[np.ndarray, Table(REQUEST)]  # a list of a quantum
    load: Annotated[np.ndarray, Table(LOAD_RECORD)]  # a list of a quantum
    bucket: Annotated[np.ndarray, Table(SHORT)]  # by cycle: its first request


class Cell(NamedTuple):
    record: Annotated[np.ndarray, Table(WIDE.dtype)]
    counted: Annotated[np.ndarray, Table(SAMPLED_COUNTERS.dtype)]
    gate: Annotated[np.ndarray, Table(GATE)]  # by grid
    # by grid, of each SM: 0 when the filter selects none of its samples there
    watched: Annotated[np.ndarray, Table(SHORT, "sms")]
    leaves: Annotated[np.ndarray, Table(WORD)]  # by record: when it leaves its FIFO, NEVER: not known yet
    fifo: Annotated[np.ndarray, Table(FIFO_PLACE, "fifo_depth")]  # by SM
    waited: Annotated[np.ndarray, Table(WORD, "n_waits")]  # by warp: its stalled cycles by kind of wait
    block_row: Annotated[np.ndarray, Table(BLOCK_COUNTERS.dtype)]
    warp_row: Annotated[np.ndarray, Table(WARP_COUNTERS.dtype)]


class Blame(NamedTuple):
    """The table of causes, a hash with chains. Row 0 is empty, and entries without a row have its number."""

    blame: Annotated[np.ndarray, Table(BLAME)]
    blame_latest: Annotated[np.ndarray, Table(SHORT, "n_reasons")]  # by instruction: the row that was used last
    blame_bucket: Annotated[np.ndarray, Table(SHORT)]  # by hash, a power of two of them: the first row


class Draws(NamedTuple):
    """Tables of the fixed-function units (timing.draw_tables)."""

    draw: Annotated[np.ndarray, Table(DRAW)]
    # by draw: row of the last item of each series before it, -1: there is none
    before: Annotated[np.ndarray, Table(WORD, "n_series")]
    item: Annotated[np.ndarray, Table(ITEM)]
    passage: Annotated[np.ndarray, Table(PASSAGE, "n_columns")]  # by item
    column: Annotated[np.ndarray, Table(COLUMN, "n_columns")]  # by series
    unit_access: Annotated[np.ndarray, Table(UNIT_ACCESS)]  # by unit, item and line
    unit_traffic: Annotated[np.ndarray, Table(UNIT_TRAFFIC, "n_asking")]  # by draw


GROUPS = (Program, Core, Fetch, Memory, Cell, Blame, Draws)  # in the order of `machine.State`
TABLES = {name: get_args(kind)[1] for group in GROUPS for name, kind in group.__annotations__.items()}
MACHINE = np.dtype(
    [(name, "i8") for name in (*COUNTERS, *CHIP_NUMBERS, *DERIVED_NUMBERS, *BATCH_NUMBERS, *CONSTANTS)]
    + [(f"{name}_table", "i8") for name in TABLES]
    + [(name, "i8") for name in SPARE]
)
