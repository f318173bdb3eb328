"""Exact numbers of a launch: what its instructions did, why and how long its warps stalled, and what it did over time.

These tables are sparse: rows of zeros are left out.
"""

from gpuprof.tables.table import ADDED, CYCLE, FLAG, KEY, LAUNCH, MAX, PC, RESERVED, WORK, Bounds, Column, Table

# Numbers of a launch by name: `counters` of its LEND chunk, some fields of its LNCH chunk, rows of launch_metrics.
NUMBERS = Table(
    "numbers of a launch",
    "every exact number that a launch has one of",
    (
        Column("issue_slots", "integer", "slots", "issue slots used"),
        Column("resident_warp_cycles", "integer", "warp-cycles", "cycles of all resident warps"),
        Column("warps_launched", "integer", "warps", "warps of the launch"),
        Column("blocks_launched", "integer", "blocks", "blocks of the launch"),
        Column("blocks_per_sm", "integer", "blocks", "blocks that fit on an SM", MAX),
        Column("occupancy_limiter", "text", "", "resource that limits the blocks on an SM", KEY),
        Column("l1_sectors", "integer", "sectors", "sectors requested from the L1s", WORK),
        Column("l1_hits", "integer", "sectors", "requested sectors that the L1s had", WORK),
        Column("l2_sectors", "integer", "sectors", "sectors requested from the L2", WORK),
        Column("l2_hits", "integer", "sectors", "requested sectors that the L2 had", WORK),
        Column("dram_read_nbytes", "integer", "bytes", "bytes read from DRAM", WORK),
        Column("dram_write_nbytes", "integer", "bytes", "bytes written to DRAM", WORK),
        Column("l2_atomic_cycles", "integer", "cycles",
               "cycles that the L2 slice with the most atomics worked on them", WORK),
        Column("shared_wavefronts", "integer", "wavefronts", "passes through the banks of shared memory", WORK),
        Column("tensor_busy_cycles", "integer", "cycles",
               "cycles in which matrix multiplications keep the tensor pipes busy", WORK),
        Column("sm_active_cycles", "integer", "SM-cycles", "sum over SMs of the cycles in which they had its warps"),
        Column("disturbance_cycles", "integer", "cycles", "cycles that sampling cost"),
        Column("not_held", "text", "", "parts of the chip that it used and that are coarse, or held against no card, "
               "separated by `; `: names of the list in docs/model.md", KEY, null=True),
        Column("sampling_period_cycles", "integer", "cycles", "period that --period auto found", KEY, null=True),
        Column("registers", "integer", "registers", "registers of a thread", MAX),
        Column("shared_nbytes", "integer", "bytes", "static shared memory of a block", MAX),
        Column("local_nbytes", "integer", "bytes", "local memory of a thread", MAX),
        Column("parent", "integer", "", "index of the launch whose kernel launched it", LAUNCH, null=True),
        Column("priority", "integer", "", "priority of its stream, if it is not 0", KEY, null=True),
        Column("dependent", "integer", "", "1: the launch before it on the stream may let it start early", FLAG,
               null=True),
        Column("cache", "text", "", "what its caches held, if not what the launches before left: cold or warm", KEY,
               null=True),
        Column("repeat", "integer", "timings", "timings of the launch, if more than one; the last is reported", KEY,
               null=True),
    ),
    grain="launch",
)  # fmt: skip
REPETITIONS = Table(
    "repetitions",
    "cycles of each timing of a launch that was timed several times; its other rows are of the last one",
    (
        Column("repetition", "<u4", "", "number of the timing, from 1", KEY),
        Column("reserved", "<u4", "", "zero", RESERVED),
        Column("cycles", "<u8", "cycles", "cycles of the launch in it", MAX),
    ),
    chunk=b"REPT",
    rows="rows ascend by repetition",
    grain="launch repetition",
    since=10,
)
ATOMIC_LINES = Table(
    "atomic_lines",
    "lines of global memory to which a launch's atomics went, up to 8 with the most time: their slices of the L2 "
    "worked on them for at least so many cycles",
    (
        Column("address", "<u8", "", "address of the first of its 128 bytes", KEY),
        Column("requests", "<u8", "requests", "atomics of warps to it, at least so many"),
        Column("cycles", "<u8", "cycles", "cycles that its slice worked on them"),
    ),
    chunk=b"ATOM",
    rows="rows descend by cycles, and ascend by address",
    grain="launch address",
    since=10,
)
WAITING_PC = Column("pc", "<u4", "", "code address of the instruction that waits; may be in no module", PC)
LOSSES = Table(
    "sample_losses",
    "samples of the launch by SM, and how many of them were lost",
    (
        Column("sm", "<u4", "", "number of the SM", KEY),
        Column("reserved", "<u4", "", "zero", RESERVED),
        Column("due", "<u8", "samples", "samples of the SM that passed the filter: recorded or dropped"),
        Column("dropped_fifo", "<u8", "samples", "samples that the SM's full FIFO dropped"),
        Column("dropped_buffer", "<u8", "samples", "samples that the full event buffer dropped"),
    ),
    chunk=b"SMDR",
    rows="rows ascend by SM",
    grain="launch sm",
    in_passes=ADDED,
    since=2,
)
COUNTERS = Table(
    "counters",
    "exact counters of the launch's instructions",
    (
        Column("pc", "<u4", "", "code address; may be in no module: see samples_outside in meta", PC),
        Column("reserved", "<u4", "", "zero", RESERVED),
        Column("inst_executed", "<u8", "instructions", "instructions executed by warps"),
        Column("thread_inst_executed", "<u8", "instructions", "instructions executed by threads"),
        Column(
            "thread_inst_executed_pred_on", "<u8", "instructions",
            "instructions executed by threads with a true predicate",
        ),
        Column("divergent_branches", "<u8", "branches", "branches that split a warp"),
        Column("l1_tag_requests_global", "<u8", "requests", "128-byte lines requested from L1 for global memory"),
        Column("l2_sectors_global", "<u8", "sectors", "32-byte sectors requested by global accesses"),
        Column("l2_sectors_global_ideal", "<u8", "sectors", "sectors of the same accesses, if packed"),
        Column("l2_sectors_local", "<u8", "sectors", "32-byte sectors requested by local accesses (spills, arrays)"),
        Column("l1_wavefronts_shared", "<u8", "wavefronts", "passes through the banks of shared memory"),
        Column("l1_wavefronts_shared_ideal", "<u8", "wavefronts", "the same, without bank conflicts"),
    ),
    chunk=b"CNTR",
    rows="rows ascend by pc",
    grain="launch pc",
)  # fmt: skip
LEDGER = Table(
    "ledger",
    "exact: every cycle of every resident warp, by instruction and stall reason",
    (
        Column("pc", "<u4", "", "code address; may be in no module: see ledger_cycles_outside in meta", PC),
        Column("reason", "<u4", "", "number of the stall reason", KEY, parent="stall_reasons"),
        Column("cycles", "<u8", "warp-cycles", "warp-cycles charged to it, never 0"),
    ),
    chunk=b"LEDG",
    rows="rows ascend by (pc, reason)",
    grain="launch pc reason",
)
STALLS = Table(
    "stalls",
    "exact: a stall is the cycles that a warp waits for one reason before one issue of an instruction, or after its "
    "last one",
    (
        WAITING_PC,
        Column("reason", "<u4", "", "number of the stall reason", KEY, parent="stall_reasons"),
        Column("stalls", "<u8", "stalls", "number of stalls, never 0; their mean is the ledger's cycles over this"),
        Column("longest_cycles", "<u8", "cycles", "the longest one", MAX),
    ),
    chunk=b"STLN",
    rows="rows ascend by (pc, reason)",
    grain="launch pc reason",
    since=2,
)
STALL_LENGTHS = Table(
    "stall_lengths",
    "exact: the lengths of the same stalls, a histogram",
    (
        WAITING_PC,
        Column("reason", "<u2", "", "number of the stall reason", KEY, parent="stall_reasons"),
        Column("bin", "<u2", "", "stalls of 2^bin to 2^(bin+1) - 1 cycles", KEY),
        Column("stalls", "<u8", "stalls", "number of stalls, never 0"),
    ),
    chunk=b"STLH",
    rows="rows ascend by (pc, reason, bin)",
    grain="launch pc reason least_cycles",
    stored=(
        "pc reason",
        Column(
            "least_cycles", "integer", "cycles", "shortest stall of the bin, 1, 2, 4, ...; the longest is 2 n - 1",
            KEY, low=1,
        ),
        "stalls",
    ),
    since=2,
)  # fmt: skip
CAUSES = Table(
    "causes",
    "exact: the events that ended the stalls; cycles of one (pc, reason) sum to the ledger's",
    (
        WAITING_PC,
        Column("cause_pc", "<u4", "", "code address of the instruction that ended the stall; pc if none did", PC),
        Column("reason", "<u2", "", "number of the stall reason", KEY, parent="stall_reasons"),
        Column("kind", "<u2", "", "number of the kind of cause", KEY, parent="cause_kinds"),
        Column(
            "flags", "<u4", "",
            "bits: 1 the cause is in another warp, 2 in another launch, 4 an access that takes more passes or sectors "
            "than it needs",
            FLAG,
        ),
        Column("cycles", "<u8", "warp-cycles", "warp-cycles of the stalls that it ended"),
        Column("stalls", "<u8", "stalls", "number of stalls that it ended"),
    ),
    chunk=b"CAUS",
    rows="rows ascend by (pc, reason, cause_pc, kind, flags)",
    grain="launch pc reason cause_pc kind other_warp other_launch conflict",
    stored=(
        "pc reason cause_pc kind",
        Column("other_warp", "integer", "", "1: the cause is in another warp", FLAG),
        Column("other_launch", "integer", "", "1: the cause is in another launch", FLAG),
        Column("conflict", "integer", "", "1: the cause is an access that takes more passes or sectors than it needs",
               FLAG),
        "cycles stalls",
    ),
    since=2,
)  # fmt: skip
# Level 0 has the lanes next to each other: of the lanes that take part, number k is at
#     k % lanes_0 * stride_0 + k / lanes_0 % lanes_1 * stride_1 + k / lanes_0 / lanes_1 * stride_2
# bytes above the first. The row with a mask of 0 has the executions in any other order, or of an instruction's further
# patterns.
STRIDE: Bounds = {"low": -(1 << 31), "high": (1 << 31) - 1}
LANES: Bounds = {"low": 0, "high": 32}
BANK_PATTERNS = Table(
    "bank_patterns",
    "exact: positions of a warp's lanes in shared memory, for each instruction that accesses it",
    (
        Column("pc", "<u4", "", "code address of the access; may be in no module", PC),
        Column("mask", "<u4", "", "lanes that take part; 0: any other pattern, or a ninth one", KEY, 0, (1 << 32) - 1),
        Column("warps", "<u8", "executions", "executions by warps, never 0"),
        Column("stride_0", "<i4", "bytes", "bytes from a lane that takes part to the next", KEY, **STRIDE),
        Column("stride_1", "<i4", "bytes", "bytes from a run of lanes_0 lanes to the next", KEY, **STRIDE),
        Column("stride_2", "<i4", "bytes", "bytes from a run of lanes_0 * lanes_1 lanes to the next", KEY, **STRIDE),
        Column("lanes_0", "<u4", "lanes", "lanes that stride_0 holds for", KEY, **LANES),
        Column("lanes_1", "<u4", "runs", "runs that stride_1 holds for", KEY, **LANES),
        Column("lanes_2", "<u4", "runs", "runs that stride_2 holds for", KEY, **LANES),
        Column("first", "<u4", "bytes", "lowest byte in the block's shared memory", KEY),
        Column("end", "<u4", "bytes", "highest byte plus one", KEY),
    ),
    chunk=b"BANK",
    rows="rows ascend by pc, then as first seen",
    grain="launch pc pattern",
    stored=(
        "pc",
        Column("pattern", "integer", "", "0, 1, ... of the instruction, as they were first seen", KEY),
        "warps mask stride_0 lanes_0 stride_1 lanes_1 stride_2 lanes_2 first end",
    ),
    since=3,
)
ACTIVITY = Table(
    "activity",
    "exact: the launch's time in bins, each as long as the others of its launch",
    (
        Column("cycle", "<u8", "cycles", "GPU cycle, from power-on, in which the bin begins", CYCLE),
        Column("bin_cycles", "<u8", "cycles", "length of the bin; the last one ends with the launch"),
        Column("sm_active_cycles", "<u8", "SM-cycles", "sum over SMs of the cycles in which they had its warps"),
    ),
    chunk=b"ACTV",
    rows="rows ascend by cycle",
    grain="launch bin",
    stored=(
        Column("bin", "integer", "", "0, 1, ... from the launch's start on", KEY),
        Column("begin_cycle", "integer", "cycles", "GPU cycle, from power-on, in which the bin begins", CYCLE),
        Column("end_cycle", "integer", "cycles", "GPU cycle in which the next bin begins, or the launch ends", CYCLE),
        "sm_active_cycles",
    ),
    since=6,
)
ACTIVITY_STALLS = Table(
    "activity_stalls",
    "exact: cycles of the launch's warps in each bin; over the bins the ledger's sums",
    (
        Column("bin", "<u4", "", "number of the bin, from 0", KEY),
        Column("reason", "<u4", "", "number of the stall reason", KEY, parent="stall_reasons"),
        Column("cycles", "<u8", "warp-cycles", "warp-cycles charged to it in the bin, never 0"),
    ),
    chunk=b"ACTR",
    rows="rows ascend by (bin, reason)",
    grain="launch bin reason",
    since=6,
)
ACTIVITY_OF_SMS = Table(
    "activity_of_sms",
    "exact: the launch's cycles on each SM; their sum is sm_active_cycles",
    (
        Column("sm", "<u4", "", "number of the SM", KEY),
        Column("reserved", "<u4", "", "zero", RESERVED),
        Column("active_cycles", "<u8", "cycles", "cycles in which the SM had warps of the launch, never 0"),
    ),
    chunk=b"ACSM",
    rows="rows ascend by SM",
    grain="launch sm",
    since=6,
)
