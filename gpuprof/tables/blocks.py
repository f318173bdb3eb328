"""Exact numbers of blocks, of warps and of accesses, which `--counters` requests.

What a block requested of the caches is counted when it is served. A sector that the L2 evicts to make room is counted
as written by the block that needs the room.
"""

from gpuprof.tables.table import CYCLE, KEY, LAUNCH, PC, RESERVED, Column, Table

LAUNCH_INDEX = Column("launch", "<u4", "", "launch index", LAUNCH)
BLOCK = Column("block", "<u4", "", "linear block index in the grid, in the order in which blocks start", KEY)
SM = Column("sm", "<u4", "", "number of the SM", KEY)
SECTOR = "32-byte sectors"

BLOCK_COUNTERS = Table(
    "block_counters",
    "exact, with --counters blocks or waves: a row for each block that was timed",
    (
        Column("start_cycle", "<u8", "cycles", "GPU cycle of its first warp's start, from power-on", CYCLE),
        Column("end_cycle", "<u8", "cycles", "GPU cycle from which its last warp is gone", CYCLE),
        LAUNCH_INDEX,
        BLOCK,
        SM,
        Column("warps", "<u4", "warps", "warps of the block"),
        Column("issue_slots", "<u8", "slots", "issue slots that its warps used"),
        Column("issue_cycles", "<u8", "warp-cycles", "warp-cycles in which a warp issued"),
        Column("resident_cycles", "<u8", "warp-cycles", "warp-cycles of its warps; less issue_cycles they stalled"),
        Column("l1_sectors", "<u8", "sectors", "sectors that its loads requested from the L1"),
        Column("l1_hits", "<u8", "sectors", "requested sectors that the L1 had"),
        Column("l2_requests", "<u8", "requests", "requests to the L2, of a line each"),
        Column(
            "l2_request_cycles", "<u8", "cycles",
            "sum of their times from the L1 to the answer; over end_cycle - start_cycle the requests in flight",
        ),
        Column("l2_sectors", "<u8", "sectors", "sectors requested from the L2"),
        Column("l2_hits", "<u8", "sectors", "requested sectors that the L2 had"),
        Column("dram_read_sectors", "<u8", "sectors", "sectors that the DRAM read for it"),
        Column("dram_write_sectors", "<u8", "sectors", "sectors written to the DRAM to make room for its own"),
    ),
    chunk=b"BLKC",
    rows="rows in the order in which blocks ended",
    grain="launch block",
    stored=("block sm warps start_cycle end_cycle", ...),
    since=6,
)  # fmt: skip
# The waits are those of timing/state/stall_tables.py.
WARP_COUNTERS = Table(
    "warp_counters",
    "exact, with --counters waves: a row for each warp that was timed; issue_cycles and the stalls sum to its time",
    (
        Column("start_cycle", "<u8", "cycles", "GPU cycle of its start, from power-on", CYCLE),
        Column("end_cycle", "<u8", "cycles", "GPU cycle from which it is gone", CYCLE),
        LAUNCH_INDEX,
        Column("block", "<u4", "", "linear block index in the grid", KEY),
        Column("warp", "<u4", "", "number in the block", KEY),
        SM,
        Column("issue_slots", "<u8", "slots", "issue slots that it used"),
        Column("issue_cycles", "<u8", "cycles", "cycles in which it issued"),
        Column("fixed_cycles", "<u8", "cycles", "stalled: wait, branch_resolving, dispatch_stall"),
        Column("memory_cycles", "<u8", "cycles", "stalled: long_scoreboard, membar, drain"),
        Column("short_cycles", "<u8", "cycles", "stalled: short_scoreboard"),
        Column("barrier_cycles", "<u8", "cycles", "stalled: barrier, warpgroup_arrive"),
        Column(
            "throttle_cycles", "<u8", "cycles",
            "stalled: mio_throttle, lg_throttle, tex_throttle, math_pipe_throttle",
        ),
        Column("fetch_cycles", "<u8", "cycles", "stalled: no_instructions, imc_miss"),
        Column("turn_cycles", "<u8", "cycles", "ready, and another warp was picked: not_selected"),
        Column("other_cycles", "<u8", "cycles", "stalled: sleeping, misc"),
    ),
    chunk=b"WRPC",
    rows="rows in the order in which warps ended",
    grain="launch block warp",
    stored=("block warp sm", ...),
    since=6,
)  # fmt: skip
ACCESS_COUNTERS = Table(
    "access_counters",
    "exact, with --counters blocks or waves: accesses of the blocks that were timed, summed over executions by warps; "
    "the same for any chip",
    (
        Column("pc", "<u4", "", "code address of the access; may be in no module", PC),
        Column("reserved", "<u4", "", "zero", RESERVED),
        Column("accesses", "<u8", "executions", "executions by warps of which a lane takes part, never 0"),
        Column("lanes", "<u8", "lanes", "lanes that take part"),
        Column("sectors", "<u8", "sectors", f"distinct {SECTOR} of each access; of a constant its words"),
        Column("lines", "<u8", "lines", "distinct 128-byte lines of each access to global or local memory"),
        Column("wavefronts", "<u8", "wavefronts", "passes through 32 banks of 4 bytes"),
        Column("tag_passes", "<u8", "passes", "passes through the L1's four tag banks, a line in each"),
        Column(
            "tag_lookups", "<u8", "lines",
            "distinct lines of each eight lanes; in shared memory lanes that reach another block's",
        ),
        Column(
            "conflicts", "<u8", "",
            "of atomics the most lanes on one address, of copies to shared memory passes through its banks",
        ),
        Column("partial_sectors", "<u8", "sectors", "sectors that a store writes in part"),
        Column("partial_requests", "<u8", "lines", "lines with such sectors"),
    ),
    chunk=b"ACCC",
    rows="rows ascend by pc",
    grain="launch pc",
    since=6,
)  # fmt: skip
# A bin ends where the next begins: 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, and so on, four an octave.
REUSE_SCOPES = ("device", "block", "launch")
REUSE_DISTANCES = Table(
    "reuse_distances",
    "with --counters blocks or waves: a histogram of reuse distances, the number of other lines of global and local "
    "memory accessed since the last access; estimated from some of the lines in large launches",
    (
        LAUNCH_INDEX,
        Column(
            "scope", "<u4", "",
            "0 device: loads and stores of all launches so far; 1 block: loads of each block by itself; 2 launch: the "
            "only row has the launch's distinct lines",
            KEY,
        ),
        Column(
            "least_lines", "<i8", "lines",
            "least distance of the bin: 0 to 7, 8, 10, 12, 14, 16, 20 and so on; -1: the first access", KEY, low=-1,
        ),
        Column("lines", "<u8", "lines", "accesses to lines"),
        Column("sectors", "<u8", "sectors", "sectors of these lines that were accessed"),
        Column("store_sectors", "<u8", "sectors", "sectors of these lines that were written"),
    ),
    chunk=b"REUS",
    rows="rows ascend by (scope, least_lines)",
    grain="launch scope least_lines",
    stored=(
        Column(
            "scope", "text", "",
            "device: loads and stores of all launches so far; block: loads of each block by itself; launch: the only "
            "row has the launch's distinct lines",
            KEY,
        ),
        "least_lines lines sectors store_sectors",
    ),
    since=6,
)  # fmt: skip
