"""The state of a simulated GPU: record layouts, and what their fields mean.

Times are GPU cycles from power-on, int64. NEVER is later than any cycle. A cycle from TOKEN on is one that is not known
yet: it refers to load number `cycle - TOKEN` of the current quantum and is replaced when the quantum's memory requests
are served. Ports count in ticks, 64 to the cycle, since some are busy for a fraction of one.
"""

import numpy as np

from gpuprof.chips.fields import FIELDS
from gpuprof.emulate.trace_log.trace_entries import ACCESS_DTYPE, STEP_DTYPE
from gpuprof.isa.causes import INDEX as CAUSE_INDEX
from gpuprof.isa.row import PIPES
from gpuprof.isa.stalls import INDEX
from gpuprof.tables.blocks import BLOCK_COUNTERS
from gpuprof.tables.table import SUM

HOST_LINE_NBYTES = 64  # of a cache line of the machine that this runs on
VECTOR_WORDS = 4  # int64 that short searches look at together (four_words)
QUANTUM = 64  # cycles that an SM runs by itself; less than any round trip to the L2 and than a block's launch
TICK_BITS = 6
TICKS = 1 << TICK_BITS
TOKEN = 1 << 50
NEVER = 1 << 60
N_GROUPS = 8  # of a warp's asynchronous copies that are distinguished; older ones count as one. Also of multiplications
BULK_ROOM = 1 << 14  # lines that bulk copies of an SM may ask for in a quantum; no chip moves nearly as many
STEP_NBYTES, ACCESS_NBYTES, SECTOR_NUMBER_NBYTES = STEP_DTYPE.itemsize, ACCESS_DTYPE.itemsize, 8  # of a trace
STORE_QUEUE = 512  # stores that wait in front of a slice of the L2 (accel-sim configuration, icnt_out_buffer_limit)
OPEN_ROWS = 4  # rows of a DRAM bank whose requests are served together
QUEUE = 64  # sectors that wait at a DRAM channel to be served in another order (accel-sim configuration)
NOT_YET = -(1 << 50)  # in ticks, before all else
BUFFER_LINE = 1 << 27  # first line of the event buffer: a range of addresses below all that programs have
SECTOR_NBYTES = 32  # of a request to caches and memory
# cycles from a quantum's start in which the L2 keeps the order of requests; what arrives later shares the last
N_BUCKETS = 4096

# Ports of a partition: its pipes; "lsu" is the queue of memory instructions.
PORTS = tuple(pipe for pipe in PIPES if pipe != "tex")
PORT_INDEX = {name: index for index, name in enumerate(PORTS)}
N_PORTS = len(PORTS)
PORT_LSU, PORT_NONE, PORT_TENSOR = PORT_INDEX["lsu"], PORT_INDEX["none"], PORT_INDEX["tensor"]
PORT_FP64 = PORT_INDEX["fp64"]

# Why a warp is not ready, in order of priority. Each class has an end cycle; the class holds before it.
CLASS_WAIT, CLASS_LONG, CLASS_SHORT, CLASS_CONSTANT, CLASS_FETCH, CLASS_BRANCH = range(6)
N_CLASSES = 6
REASON_OF_CLASS = np.array(
    [
        INDEX[name]
        for name in ("wait", "long_scoreboard", "short_scoreboard", "imc_miss", "no_instructions", "branch_resolving")
    ],
    np.int64,
)

# A scoreboard entry packs the cycle its register is ready, what made it (bypass.KINDS) and the class of the wait:
#
#     63                        6 5      2 1     0
#    +---------------------------+--------+-------+
#    | cycle                     | maker  | class |
#    +---------------------------+--------+-------+
ENTRY_SHIFT, ENTRY_MAKER_SHIFT, ENTRY_MAKER_MASK, ENTRY_CLASS_MASK = 6, 2, 15, 3

# The cause that ends a stall: the instruction's number, its kind (isa.causes), and two flags. Where other warps read
# it, the field `warp` has the warp's age plus one.
#
#     63        32  30  29    28      24 23                  0
#    +-----------+---+-------+----------+---------------------+
#    | warp      | o | conf. | kind     | instruction         |
#    +-----------+---+-------+----------+---------------------+
CAUSE_KIND_SHIFT, CAUSE_WARP_SHIFT = 24, 32
CAUSE_PC_MASK, CAUSE_KIND_MASK, CONFLICT, OTHER = (1 << 24) - 1, 31 << 24, 1 << 29, 1 << 30
CAUSE_MASK = CAUSE_PC_MASK | CAUSE_KIND_MASK | CONFLICT
# A row of the table of causes has the stalled instruction, from bit 37 on, and the reason above its cause.
STALLED_SHIFT, REASON_SHIFT = 37, 32
KIND = {name: number << CAUSE_KIND_SHIFT for name, number in CAUSE_INDEX.items()}

STARVED = 2

# Warp states.
EMPTY, STARTING, WAITING, READY, HOLDING = range(5)
# Grid states.
PENDING, ACTIVE, ENDED = range(3)

INSTRUCTION = np.dtype(
    [
        ("first_dep", "i4"),
        ("n_deps", "i4"),
        ("n_writes", "i4"),
        ("kind", "i4"),
        ("operation", "i4"),
        ("has_access", "i4"),
        ("is_local", "i4"),
        ("slots", "i4"),
        ("chain", "i4"),  # cycles between slots
        ("slot_interval", "i4"),  # from one slot that uses the port to the next
        ("latency", "i4"),
        ("atomic_passes", "i4"),  # of the atomic units
        ("lane_turns", "i4"),  # whether lanes of an atomic on one word of shared memory take turns, 1 or 0
        ("atomic_lane_ticks", "i4"),  # of the L2's, for each lane on one word
        ("width", "i4"),  # 4-byte words of a lane: the passes through banks that no access of the size does without
        ("least_passes", "i4"),  # of shared memory without a bank conflict
        ("lane_nbytes", "i4"),  # of an access, 0 where its sectors do not show conflicts
        ("result_class", "i4"),
        ("port", "i4"),
        ("bypass_kind", "i4"),  # place in bypass.KINDS
        ("guard", "i4"),  # scoreboard number of the predicate that guards it or is voted on, -1 none
        ("port_ticks", "i4"),
        ("throttle", "i4"),  # reason while the port is busy
        ("gap", "i4"),  # cycles to the warp's next issue, at least; not after a jump
        ("again", "i4"),  # cycles to the warp's next issue to the same port, at least
        ("meets", "i4"),  # cycles to the next issue where lanes meet, 0 where none do
        ("bypass_l1", "i4"),
        ("polls", "i4"),  # 1: the load of a loop that waits for other warps
        ("signals", "i4"),  # 1: it may end such a loop
        ("invalidates", "i4"),  # 1: what other SMs have written is seen after it, so the L1 is emptied
        ("constant_line", "i4"),  # 64-byte line of the constant bank, -1 none
        ("barrier", "i4"),
        ("barrier_threads", "i4"),  # 0: the whole block
        ("newest", "i4"),  # groups of copies or multiplications that need not have ended
        ("events", "i4"),  # a bit for each kind of event (triggers) that it is
        ("operand_ticks", "i4"),  # a multiplication keeps shared memory for its operands
        ("even", "i4"),  # register words that it reads from the bank of even registers
        ("odd", "i4"),
        ("even_left", "i4"),  # of these, the words that the reuse cache lacks after the preceding instruction
        ("odd_left", "i4"),
        # What if (whatif/): 0 in a program as it is.
        ("hits_l2", "i4"),  # 1: the L2 has all that it reads
        ("sooner_cycles", "i4"),  # its results come so much sooner
        ("line", "i8"),  # instruction cache line
    ],
    align=True,
)

# The fields are in the order of their use: a warp that issues needs only the first lines of the host's cache.
WARP = np.dtype(
    [
        ("pc", "i4"),  # instruction it waits to issue, or that holds it
        ("block_end", "i4"),  # end of the basic block it is in
        ("slots_left", "i4"),
        ("state", "i4"),
        ("before", "i4"),  # instruction that it issued before that, -1 none
        ("jumped", "i2"),  # whether it jumped from there
        ("held", "i2"),  # a bit for each class of waits that has an end in `until`
        ("partition", "i4"),  # of the whole GPU
        ("lane", "i4"),  # slot in its partition
        ("last", "i8"),  # last cycle accounted for: that of the last issue, or of the end of a hold
        ("ready", "i8"),  # first cycle without a dependency; end of a hold
        ("busy_mark", "i8"),  # busy cycles of the port it needs, at `ready`
        ("held_mark", "i8"),  # cycles in which the register file held its partition up, the same
        ("until", "i8", N_CLASSES),  # ends of the dependencies that hold it, by class
        ("line", "i8"),  # instruction line it fetched last
        ("mask", "u4"),
        ("grid", "i4"),  # of the batch
        ("cause", "i4", N_CLASSES),  # the causes of `until`
        ("cause_warp", "i8"),  # its age, as a cause has it
        ("step", "i8"),  # addresses: next step, where to look further (see `follow`), the end of the piece's steps
        ("step_end", "i8"),
        ("access", "i8"),
        ("sector", "i8"),
        ("issue_slots", "i8"),
        ("issue_cycles", "i8"),  # in which it issued
        ("longest", "i8"),  # its longest stall since a barrier, and the instruction of that
        ("longest_pc", "i4"),
        ("issued_mask", "u4"),  # active lanes of what it issued last, and where that was
        ("issued_pc", "i4"),
        ("alias", "i4"),  # 1: a folded instruction copied a token
        ("joined", "i4"),  # 1: a folded instruction made a register of two that were both on their way
        ("block_slot", "i4"),  # of the whole GPU
        ("hold_reason", "i4"),
        ("hold_cause", "i4"),
        ("stores_quantum", "i8"),  # the last quantum in which it stored and that is not served yet, -1 none
        ("in_block", "i4"),  # number in its block
        ("last_store", "i4"),  # cause: the store acknowledged last
        ("last_gone", "i4"),  # cause: the store that was on its way last
        ("barrier", "i4"),  # it waits at
        ("block", "u4"),  # in the order they run
        ("final", "i4"),  # 1: the trace ends with the piece
        ("trace_end", "i8"),
        ("piece", "i8"),  # address of its record
        ("start", "i8"),  # first resident cycle
        ("stores_done", "i8"),  # all its stores so far are acknowledged
        ("stores_gone", "i8"),  # all are on their way
        ("poll_first", "i8"),  # addresses of the sectors that it polls, 0 none
        ("poll_end", "i8"),
        ("poll_next", "i8"),  # when it asks for them next
        ("groups", "i8"),  # of copies it has committed
        ("products", "i8"),  # groups of multiplications it has committed
        ("unused", "i8", 3),  # rows begin with a line of the cache
    ],
)
assert WARP.itemsize % HOST_LINE_NBYTES == 0

# A register of a warp, as others see it: its scoreboard entry, and the cause of that.
BOARD = np.dtype([("entry", "i8"), ("maker", "i8")])

# A place in a partition's queue: when its instruction leaves it, and that instruction as a cause.
QUEUE_PLACE = np.dtype([("leaves", "i8"), ("cause", "i8")])

PARTITION = np.dtype(
    [
        ("next_event", "i8"),
        ("next_wake", "i8"),
        ("issued", "i8"),  # last cycle with an issue
        ("occupant", "i8"),  # cause: what it issued last
        ("address_free", "i8"),
        ("even_free", "i8"),  # from when on the bank of even registers has nothing to read
        ("odd_free", "i8"),
        ("register_free", "i8"),  # from when on the register file takes the next instruction
        ("held", "i8"),  # cycles in which it took none
        ("holder", "i8"),  # cause: what held it up last
        ("queued", "i8"),  # memory instructions so far
        ("passed_l1", "i8"),  # of these, accesses to global memory
        ("passed_mio", "i8"),  # and the others
        ("passed_fp64", "i8"),  # instructions for the fp64 unit of the SM so far
        ("current", "i4"),  # lane of the warp it issued from last, -1 none
        ("sm", "i4"),
        ("expected", "i8"),  # a bit for each lane whose warp may issue in this quantum
        ("ready_lanes", "i8"),  # a bit for each lane whose warp waits for nothing but its turn
    ],
    align=True,
)

# One lane (warp slot) of a partition, as the scheduler sees it: since when, or from when on, its warp may issue.
LANE = np.dtype([("ready", "i8"), ("age", "i8"), ("port", "i8")])

# `free` in cycles, `tick` in ticks, `issued` the last cycle in which it took an instruction, `occupant` a cause: that
# instruction.
PORT = np.dtype([("free", "i8"), ("tick", "i8"), ("busy", "i8"), ("issued", "i8"), ("occupant", "i8")], align=True)

SM = np.dtype(
    [
        ("next_event", "i8"),
        ("next_sample", "i8"),
        ("next_store", "i8"),  # of a sample record through the load/store unit
        ("block_free", "i8"),  # since when the head grid's next block could start, NEVER when it cannot
        ("freed", "i8"),  # last cycle in which a block of another grid than the head ended
        ("distributor_tick", "i8"),  # from when on it takes another warp of a draw
        ("lsu_tick", "i8"),
        ("lsu_occupant", "i8"),  # cause: what took the load/store unit last
        ("operand_tick", "i8"),  # when shared memory has given the operands of all wgmma that are under way
        ("constant_free", "i8"),  # from when on its unit for constant loads takes the next one
        ("constant_occupant", "i8"),  # cause: what took that unit last
        ("fp64_tick", "i8"),  # from when on the fp64 unit that the partitions share takes the next one
        ("noc_tick", "i8"),
        ("returned", "i8"),  # last cycle in which something that its L1 missed comes back
        ("cluster_tick", "i8"),  # of its port to the shared memory of others
        ("l1_use", "i8"),
        ("l1_epoch", "i8"),  # fences that have emptied its L1
        ("misses", "i8"),
        ("records", "i8"),  # sample records put into its FIFO
        ("stores", "i8"),  # of these, passed to the load/store unit
        ("l1_misses", "i8"),  # sectors, since the batch began
        ("bank_conflicts", "i8"),  # further passes of shared memory, the same
        ("counted", "i8"),  # of either: those that the trace cell has counted
        ("events", "i8"),  # that it has counted, from -phase on
        ("taken", "i8"),  # cycles that it has sampled
        ("counted_cycle", "i8"),  # the last one of which there is a row of counters
        ("event_warp", "i8"),  # whose event was the last that started it
        ("event_pc", "i8"),  # its instruction, if the warp may be elsewhere by now; else -1
        ("registers", "i8"),  # taken by blocks, as the next one
        ("shared_nbytes", "i8"),
        ("carve_out", "i8"),  # shared memory there is, -1 not settled
        ("l1_sets", "i8"),
        ("warps", "i4"),
        ("warps_taken", "i4"),  # warp slots that blocks have, which may be empty again
        ("blocks", "i4"),
        ("next_slot", "i4"),  # that the head grid's next block takes
        ("half", "i4"),  # of the L2 it is near to
        # what it has left in the quantum, in each of the lists: the first, and one after the last
        ("first_request", "i4"),
        ("end_request", "i4"),
        ("first_load", "i4"),
        ("end_load", "i4"),
        ("first_blocked", "i4"),
        ("end_blocked", "i4"),
        ("first_effect", "i4"),
        ("end_effect", "i4"),
    ],
    align=True,
)

# Amounts that are counted of a block; `warps` is known when it starts.
BLOCK_COUNTS = tuple(name for name in BLOCK_COUNTERS.names(SUM) if name != "warps")
BLOCK = np.dtype(
    [
        ("free", "i8"),  # since when, if it is not used
        ("index", "i8"),  # of its grid
        ("grid", "i4"),  # the last one that had it, -1 none
        ("live", "i4"),  # warps that have not ended
        ("waiting", "i4"),
        ("used", "i4"),
        ("signalled", "i4"),  # 1: it lets dependent grids start
        ("copies", "i4"),  # bulk copies on their way
        # where blocks are counted: so far, and once it has ended
        ("sm", "i4"),
        ("start", "i8"),
        ("end", "i8"),
        *((name, "i8") for name in BLOCK_COUNTS),
    ],
    align=True,
)

# A grid's fixed numbers, the place of its trace, and its state and counters.
GRID_NUMBERS = (
    "launch",
    "priority",  # the smaller, the sooner
    "launch_cycles",  # from the end of what it waits for to its first block
    "first_edge",  # its rows of the edge table: the grids that wait for it
    "last_edge",
    "first_inst",  # of the batch's instructions
    "first_basic_block",
    "last_line",  # instruction cache line of the last instruction
    "pc_base",  # the program counter of instruction i of the batch is pc_base + 16 i
    "warps_per_block",
    "blocks_per_sm",  # that fit an SM that is empty
    "registers",  # of a block, and the next one, too
    "shared_nbytes",
    "carve_out",  # shared memory of an SM that is full of its blocks
    "cluster",  # blocks that start together
    "cluster_x",  # extents of a cluster
    "cluster_y",
    "cluster_z",
    "clusters_x",  # of the grid
    "clusters_y",
    "has_mbarriers",  # 0 or 1
    "total_blocks",
    "launcher",  # the grid whose kernel launches it, -1: the host does
    "launcher_warp",  # in that grid; of what a warp launches, the next is the one of the smallest `turn`
    "turn",
    "first_item",  # of a draw's shader: the row of its block 0 in the table of items, -1: no draw's
)
GRID_PLACES = (
    "known_blocks",  # of which the trace is there
    "piece",  # address of the record of the piece of trace in which the blocks that start next begin
)
GRID_COUNTERS = (
    "state",
    "launched",  # 0: by a kernel that has not done so yet
    "waits",  # grids that must end, or let it start, or launch it, before it is ready
    "prerequisites",  # grids that let it start and have not ended
    "prerequisites_seen",  # from this cycle on, once they have ended, its warps know
    "ready",  # from this cycle on
    "signalled",  # blocks that let dependent grids start
    "signal_cycle",  # when the last of them did
    "next_block",
    "released",  # blocks that may start: all, unless they are a draw's
    "done_blocks",
    "start_cycle",
    "end_cycle",
    "bin_shift",  # a bin of its activity is 2^bin_shift cycles long
    "l2_sectors",
    "l2_hits",
    "dram_read_sectors",
    "dram_write_sectors",
)
GRID = np.dtype([(name, "i8") for name in (*GRID_NUMBERS, *GRID_PLACES, *GRID_COUNTERS)])

# A piece of a trace: addresses of its arrays, and of the record of the same blocks' next piece, 0 when that is not
# there.
PIECE_PLACES = ("step_start", "access_start", "sector_start", "steps", "accesses", "sectors", "final")
PIECE = np.dtype([(name, "i8") for name in ("first_block", "next", *PIECE_PLACES)])

# A grid on an SM.
PRESENCE = np.dtype(
    [
        ("active_since", "i8"),
        ("active_cycles", "i8"),
        ("l1_sectors", "i8"),
        ("l1_hits", "i8"),
        ("issue_slots", "i8"),
        ("resident_warp_cycles", "i8"),
        ("shared_wavefronts", "i8"),
        ("warps", "i4"),
        ("blocks", "i4"),
        ("started", "i4"),
    ],
    align=True,
)

# What of a grid's samples is wanted (`gate`); all ends are among it. The last two count from the grid's start.
GATE = np.dtype(
    [(f"{end}_{what}", "i8") for what in ("block", "warp", "cycle", "launch_cycle") for end in ("first", "last")],
)

# A place of an SM's FIFO: when its record leaves, the record's number, and the grid that it is of.
FIFO_PLACE = np.dtype([("leaves", "i8"), ("record", "i4"), ("grid", "i4")], align=True)

# Samples of a grid on an SM.
LOSS = np.dtype([("due", "i8"), ("dropped_fifo", "i8")], align=True)

# The activity of a grid's warps in a bin of its time (units/activity.py): the change of its rate, and the part in the
# bin in addition to activity that continues from earlier bins.
ACTIVITY = np.dtype([("change", "i8"), ("area", "i8")])

# What waits for the grid or operation whose edge this is: grid `target`, or from n_grids on an operation;
# `programmatic`: only until all blocks of the grid say so.
EDGE = np.dtype([("target", "i4"), ("programmatic", "i4")])

# A copy, a fill or a function of the host that a stream waits for (units/operations.py).
OPERATION = np.dtype(
    [
        (name, "i8")
        for name in (
            "engine",  # that carries it out, by tables.engines.ENGINES
            "latency_cycles",  # before its bytes move
            "transfer_cycles",  # while only they move
            "first_edge",  # as a grid's
            "last_edge",
            "waits",  # grids and operations that must end before it is ready
            "ready",  # from this cycle on
            "has_ended",  # 1: its end is known
            "start_cycle",
            "end_cycle",
        )
    ]
)

L1_LINE = np.dtype([("pending_until", "i8"), ("request", "i4"), ("valid", "i1"), ("pending", "i1")], align=True)
ALL_SECTORS = 15  # of a line, as bits
L2_LINE = np.dtype(
    [("pending_until", "i8"), ("words", "u4"), ("valid", "i1"), ("dirty", "i1")], align=True
)  # words written to sectors not valid

# What a channel has queued to write so far, and written of it, in ticks of its bus; the sectors that are left.
WRITE_QUEUE = np.dtype([("queued", "i8"), ("written", "i8"), ("sectors", "i8")], align=True)

# Sectors that one half of the L2 has. What neither the half that reads nor the line's home has comes from the DRAM. An
# entry is (line + 1) * 16 + sectors; those of a set are in the order of their last use, the newest first.
COPY_WAYS = 8

# A line to which stores have written sectors in part: `line` is its number plus one, 0: none; `owed` are the ticks that
# these stores cost if sectors stay that way.
JOINED = np.dtype([("line", "i8"), ("owed", "i8"), ("words", "u4"), ("sectors", "u4")], align=True)

# A translation: `tag` is its page plus one, 0: none; `used` counts the L2's requests. A page's hint says where its SM
# has it, or had it.
TRANSLATION = np.dtype([("tag", "i8"), ("ready", "i8"), ("used", "i8")], align=True)
TLB_HINTS = 16  # of an SM, by the page's last bits

# A row of a DRAM bank that is open, or was lately.
DRAM_ROW = np.dtype([("number", "i8"), ("opened", "i8"), ("used", "i8")], align=True)  # the last two in ticks


# A line that atomics of a grid go to: its number plus one, 0: none; how long its slice worked on them, the part of that
# which is of lines that had the place before (units/atomic_time.py), and the requests since.
HOT_LINE = np.dtype([("line", "i8"), ("ticks", "i8"), ("inherited", "i8"), ("requests", "i8")])
HOT_LINES, MOST_ATOMIC_LINES = 16, 8  # of a grid; of those that are reported

# What SMs do in a quantum to what is not their own (units/effects.py): block slot or warp `subject` in `cycle`.
EFFECT = np.dtype([("cycle", "i8"), ("kind", "i4"), ("subject", "i4")], align=True)

# A quantum that is handed out to threads (units/handout.py). Each field has a cache line of its own, and the next one,
# which processors fetch with it.
LINE_PAIR_NBYTES = 2 * HOST_LINE_NBYTES
HANDOUT = np.dtype(
    {
        "names": ["work", "done"],
        "formats": ["i8", "i8"],
        "offsets": [0, LINE_PAIR_NBYTES],
        "itemsize": 2 * LINE_PAIR_NBYTES,
    }
)

BULK_LOAD = -2
READ, WRITE, ATOMIC_REQUEST, MERGE = range(4)
SIGNAL, POLL, HIT = 1, 2, 3
# Signals of a sector to a grid: how many, and the last of them as a cause.
SIGNALS = np.dtype([("key", "i8"), ("count", "i8"), ("cause", "i8")])
REQUEST = np.dtype(
    [
        ("arrival", "i8"),
        ("line", "i8"),
        ("done", "i8"),
        ("next", "i4"),  # next request of the same cycle
        ("target", "i4"),  # load it belongs to, or -1 - warp
        ("place", "i4"),  # L1 line that it fills, -1 none; for MERGE the request it waits for; for an atomic its ticks
        ("sm", "i4"),
        ("slot", "i4"),  # miss register; of a store, its cause
        ("grid", "i4"),  # whose warp asks
        ("missing", "u4"),  # of a store: 4-byte words of its sectors that it does not write
        ("kind", "i1"),
        ("sectors", "i1"),
        ("level", "i1"),  # where it was served, a kind of cause
        ("watch", "i1"),  # SIGNAL or POLL of a waiting loop, HIT if the L2 is to have what is read, or 0
    ],
    align=True,
)
# `level`: where the part that came last was served; `conflict`: CONFLICT or 0, from bit 16 on.
# `group`: scoreboard entry of the group that a copy belongs to, -1 for what has registers; of a bulk copy BULK_LOAD -
# (key | phases it ended << 8).
LOAD_RECORD = np.dtype(
    [("done", "i8"), ("warp", "i4"), ("pc", "i4"), ("group", "i4"), ("level", "i2"), ("conflict", "i2")], align=True
)

# Stalls of one instruction and reason that had one cause. `next` chains rows of one hash.
BLAME = np.dtype([("key", "i8"), ("cycles", "i8"), ("stalls", "i8"), ("next", "i4")], align=True)

# The work of the fixed-function units for draws (units/draw_pipeline.py): items pass the columns of their series one
# after the other, each in the order of its series. Rows of a series' items follow those of the series before it. In the
# column WARPS, an item is a block of a grid. FED and RETIRED take no time: items are brought to the shader, and leave
# it, in their order.
WARPS, FED, RETIRED = "warps", "fed", "retired"
SERIES = {
    "vertex": ("fetch", WARPS, RETIRED),
    "hull": (FED, WARPS, RETIRED),
    "domain": ("tessellate", WARPS, RETIRED),
    "geometry": (FED, WARPS, RETIRED),
    "primitive": ("assembly", "setup"),
    "pixel": ("scan", "depth", WARPS, "write"),
}
N_SERIES, N_COLUMNS = len(SERIES), max(map(len, SERIES.values()))
LAST_COLUMN = tuple(len(columns) - 1 for columns in SERIES.values())
SHADER_COLUMN = tuple(columns.index(WARPS) if WARPS in columns else -1 for columns in SERIES.values())
ITEM = np.dtype(
    [
        ("draw", "i8"),
        ("series", "i8"),  # its place in SERIES
        ("is_shaded", "i8"),  # 0: it passes the shader by
        ("needs", "i8"),  # row of the last item, of another series, that must be done before it; -1: only the command
        # Row of the last item that needs this one and none after it, or one before this: when that begins, this one's
        # place in the buffer after its series is free. -1: it always is.
        ("frees", "i8"),
    ]
)
PASSAGE = np.dtype(
    [
        # An item in a column, in ticks: how long it keeps it, when that began, and when it left it. NEVER: not known
        # yet.
        ("ticks", "i8"),
        ("begun", "i8"),
        ("left", "i8"),
        ("ahead", "i8"),  # row of the item that must have given its place back before there is one for this, -1: none
        ("n_lines", "i8"),  # of the L2 that the unit accesses for it
        ("answered", "i8"),  # when these and those before them were, 0: the unit accesses no memory
    ]
)
COLUMN = np.dtype(
    [
        ("next", "i8"),  # row of the item that comes next
        ("end", "i8"),  # and after the last one of the series
        ("tick", "i8"),  # when the item before left
        # Column that takes items from the buffer after this one. -1: another series does; this one: the L2 does, with
        # its answer.
        ("taker", "i8"),
        ("asked", "i8"),  # row of the next item whose accesses are to be served
        ("access", "i8"),  # and of the first of these
        ("answered", "i8"),  # when the accesses before were, in ticks
    ]
)
# Units that access memory, through the L2.
ASKING = (("vertex", "fetch"), ("pixel", "depth"), ("pixel", "write"))
N_ASKING = len(ASKING)
ASKING_SERIES = tuple(list(SERIES).index(series) for series, _ in ASKING)
ASKING_COLUMN = tuple(SERIES[series].index(unit) for series, unit in ASKING)
# What a unit does for an item with a line of the L2: sectors that it reads, sectors that it writes, and the words of
# these that it neither reads nor writes (as in REQUEST).
UNIT_ACCESS = np.dtype([("line", "i8"), ("missing", "u4"), ("reads", "i1"), ("writes", "i1")], align=True)
# Sectors that a unit accessed for a draw; those of the DRAM that this cost.
UNIT_TRAFFIC = np.dtype(
    [
        ("read_sectors", "i8"),
        ("write_sectors", "i8"),
        ("hits", "i8"),  # of the L2, as a grid's
        ("dram_read_sectors", "i8"),
        ("dram_write_sectors", "i8"),
    ]
)
DRAW = np.dtype(
    [
        ("ticks", "i8"),  # of the command processor
        ("drains", "i8"),  # 1: it begins when all before it is done
        ("begun", "i8"),  # when its command has been processed, in ticks
    ]
)

# The machine's counters and clocks.
COUNTERS = (
    "now",  # start of the current quantum
    "quantum_number",  # its number
    "grid",  # that is at work: whom to count for
    "asker",  # block slot whose request is at work, -1: blocks are not counted, or it is no block's
    "n_running",  # SMs that have something to do in this quantum
    "least_running",  # of these, in a quantum that is handed out to threads
    "n_views",  # of the machine, one for each thread that runs SMs
    "n_block_rows",
    "n_warp_rows",
    "head",  # grid whose blocks start next, -1 none
    "head_since",
    "cluster_since",  # when the last of the slots that the present cluster takes became free
    "n_grids",
    "n_active",
    "n_ended",
    "n_operated",  # operations whose end is known
    "pool_freed",  # when a full pool last had room again
    "first_open",  # grids before it have ended
    "next_ready",  # when the next one is
    "carve_out",  # the most shared memory that an active grid wants of an SM
    "distributor_tick",
    "ages",
    "max_cycle",
    "n_requests",  # one after the last in the quantum, like the next ones
    "n_bulk",  # requests of bulk copies of the SM that runs
    "taken",  # the cycle in which a slice took the request served last
    "written_back",  # the tick in which a channel took the line that was evicted last
    "queue_share",  # the ticks in which it has written what was queued after the last access
    "opens_row",  # 1: the last access to the DRAM had to open its row
    "n_loads",
    "n_blocked",
    "n_effects",
    "n_pollers",
    "n_signals",  # sectors that have had any
    "n_samples",
    "n_counted",  # rows of counters
    "n_stall_rows",  # taken of the table of stalls
    "n_blame",  # rows of causes, the first of which is empty
    "lsu_behind",  # cause: what the access that has just entered the load/store unit had to wait for, 0 nothing
    "fold_cycle",  # when bins of an active grid's time may have to be joined
    "hungry",  # 1: a warp has less trace left than a quantum may take; STARVED: it took more than that
    "l2_uses",
    "next_draw",  # whose command comes next
    "command_tick",  # when the one before was processed
    "next_release",  # the cycle in which the next block of a draw may start
    "next_asked",  # the cycle in which a unit of draws accesses memory next, as far as known
)
# The chip's numbers as the inner loop needs them: whole ones as they are, the rest in ticks; then the batch's.
CHIP_NUMBERS = tuple(field.name for field in FIELDS if field.kind == "int")
DERIVED_NUMBERS = (
    "warps_per_partition",
    "shared_port",  # of the pipe that the partitions of an SM share, fp64; -1: none
    "constant_sets",
    "constant_set_ways",
    "constant_places",  # lines of both constant caches of an SM
    "constant_l15_sets",
    "constant_l15_set_ways",
    "constant_l15_places",  # lines of the cache after them
    "lsu_ticks",
    "barrier_ticks",
    "clock_khz",
    "shared_ticks",
    "attribute_cycles",  # of what stages of a draw give each other
    "tag_pass_ticks",
    "tag_lookup_ticks",
    "l1_lines",  # places per SM
    "cluster_ticks",  # per 4 bytes between two SMs
    "noc_ticks",  # per sector, like the next and that of DRAM
    "l2_sets",
    "copy_sets",
    "tlb_page_bits",  # of a line's number, that are within a page
    "l2_tlb_page_bits",
    "poll_cycles",  # of a waiting loop, from a load's value to the next load
    "l2_interleave_bits",  # of a line's number, that do not select its slice
    "l2_way_cycles",  # to a half of the L2, more or less than to both on average
    "slice_ticks",
    "slice_queue_ticks",  # what a full queue of stores takes a slice, at most
    "partial_request_ticks",  # of a slice, for a store that writes in part
    "partial_sector_ticks",  # and each such sector, beyond its transfer
    "fill_ticks",  # to evict a line that stores have filled in part
    "fetch_sectors",  # 1, 2 or 4, what a miss fetches
    "atomic_sector_ticks",
    "poll_ticks",
    "atomic_extra_cycles",  # of an atomic over a load
    "dram_ticks",
    "dram_mask_ticks",  # of a line written with masks, more
    "dram_interleave_bits",  # of a line's number, that do not select its channel
    "dram_row_span",  # lines of which each channel has one row
    "dram_row_cycle_ticks",
    "dram_activate_ticks",  # from one row that a channel opens to the next, of any bank
    "dram_row_turn_ticks",  # the same while all its banks take turns
    "dram_hit_ticks",  # load to use, of a row that is open
    "dram_miss_ticks",  # and from the tick on in which it opens
    "dram_queue_ticks",  # what a full queue takes
    "dram_posted_ticks",  # what the sectors take that may wait while no warp does
    "dram_turn_ticks",
    "distributor_ticks",
)
BATCH_NUMBERS = (
    "n_draws",
    "n_operations",
    "second_way_permille",  # of its rate that a copy has while another one goes the other way
    "block_slots",  # of an SM
    "period_cycles",
    "phase_cycles",
    "trigger",  # number of the trigger
    "every",  # events
    "mode",  # of the trace cell, place in sampling.MODES
    "first_partition",  # of the scope: of each SM the partitions whose warps are sampled
    "partitions_in_scope",
    "with_counters",  # 1: a row of counters is recorded with the samples of a cycle
    "counts_blocks",  # 1: a row of counters for each block
    "counts_warps",  # 1: and for each warp
    "row_room",  # a quantum may start with this many rows of either, at most
    "stall_index",  # 1: the stall field is the number of the first reason
    "seed",
    "fifo_depth",
    "drain_cycles",
    "filtered",  # 0: every sample is wanted
    "through_lsu",  # 0 or 1: how records leave the FIFO
    "record_nbytes",
    "record_sectors",
    "record_stride",  # bytes from one record in memory to the next
    "buffer_lines",  # of an SM
    "activity_bins",  # of a grid's time
    "origin",  # start of the first quantum
    "longest_cycles",  # that a grid may take
    "sample_room",  # a quantum may start with this many records waiting, at most
    "blame_room",  # and with this many rows of causes
    "blame_mask",  # of the hash
    "first_request",  # of a view of the machine in the lists of a quantum, like the next ones
    "first_load",
    "first_blocked",
    "first_effect",
    "lookahead_nbytes",  # of steps, that a warp may run in a quantum
    "signal_mask",  # of the hash
    "n_registers",
    "first_group",  # scoreboard entry of the first group of copies, -1 when no program has any
    "first_product",  # the same for groups of multiplications
)
CONSTANTS = (
    "n_classes",
    "n_ports",
    "n_kinds",
    "n_reasons",
    "n_barriers",
    "n_mbarriers",
    "n_open_rows",
    "n_tlb_hints",
    "n_waits",
    "n_hot_lines",
    "n_activities",  # stall reasons, and that an SM has warps
    "n_series",
    "n_columns",
    "n_asking",
)

# Nothing: it keeps the numbers of one thread's view of the machine (units/handout.py) and those of the next on cache
# lines of their own.
SPARE = tuple(f"spare_{k}" for k in range(LINE_PAIR_NBYTES // 8))
