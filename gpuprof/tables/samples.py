"""Records of the sampler: samples, and an SM's counters in the cycles of samples."""

import numpy as np

from gpuprof.tables.launch import LOSSES
from gpuprof.tables.table import CYCLE, FLAG, KEY, LAUNCH, LAUNCH_OF_ROW, MORE, PC, Column, Table

# The stall word: bit r is set when reason r (isa.stalls order) held in that cycle, bits 22..31 are the SM: a chip has
# 1024 at most.
SM_SHIFT = 22
STALL_MASK = (1 << SM_SHIFT) - 1

ISSUED, SCHEDULER_ISSUED = 1, 2  # bits of a wide sample's flags

LAUNCH_INDEX = Column("launch", "<u4", "", "launch index", LAUNCH)
COMPACT_COLUMNS = (
    Column("pc", "<u4", "", "code address: load base + 16 * instruction", PC),
    Column("stall_sm", "<u4", "", "the stall word", FLAG),
)
COMPACT = Table(
    "compact samples", "samples, compact", COMPACT_COLUMNS, chunk=b"SMPC", stored=(), in_passes=MORE
)  # fmt: skip
WIDE = Table(
    "wide samples",
    "samples, wide",
    (
        *COMPACT_COLUMNS,
        Column("cycle", "<u8", "cycles", "GPU cycle, from power-on", CYCLE),
        LAUNCH_INDEX,
        Column("block", "<u4", "", "linear block index in the grid", KEY),
        Column("mask", "<u4", "", "active lanes", KEY),
        Column("warp_slot", "u1", "", "number of the warp's slot in the SM", KEY),
        Column(
            "flags", "u1", "",
            f"{ISSUED}: the warp issued in this cycle; {SCHEDULER_ISSUED}: its scheduler issued, this warp or another",
            FLAG,
        ),
        Column("warp", "u1", "", "number of the warp in the block", KEY),
        Column(
            "resident", "u1", "warps",
            "warps that were resident on the SM, this one included; 0: unknown, as in files of version 1", KEY,
        ),
    ),
    chunk=b"SMPW",
    stored=(),
    in_passes=MORE,
)  # fmt: skip
# Numbers that count up do so from the launch's first cycle on, only for the launch. Counters not requested are zero.
SAMPLED_COUNTERS = Table(
    "sampled_counters",
    "counter records: an SM's counters in the cycle of a sample; the last five count from the launch's start",
    (
        Column("cycle", "<u8", "cycles", "GPU cycle, from power-on", CYCLE),
        LAUNCH_INDEX,
        Column(
            "pipes_busy", "<u4", "",
            "a bit for each pipe, in the order of the instruction table, that is busy in some partition",
        ),
        Column("sm", "<u2", "", "number of the SM", KEY),
        Column("issued", "<u2", "schedulers", "schedulers that issued in this cycle"),
        Column("eligible", "<u2", "warps", "warps that could have issued in this cycle"),
        Column("active", "<u2", "warps", "resident warps"),
        Column("l1_sectors", "<u8", "sectors", "sectors that the launch's loads have requested from the SM's L1"),
        Column("l1_hits", "<u8", "sectors", "requested sectors that the L1 had"),
        Column(
            "l2_sectors", "<u8", "sectors",
            "sectors that the launch has requested from the L2, by all SMs, up to the last multiple of 64 cycles",
        ),
        Column("l2_hits", "<u8", "sectors", "requested sectors that the L2 had"),
        Column("dram_nbytes", "<u8", "bytes", "bytes read and written for the launch by all SMs, up to that cycle"),
    ),
    chunk=b"SMCN",
    stored=("cycle sm issued eligible active", ...),
    in_passes=MORE,
    since=2,
)  # fmt: skip


def losses_of_none(samples: np.ndarray) -> np.ndarray:
    """LOSSES rows: one for each SM of WIDE samples, which are all that were due."""
    sm, due = np.unique(samples["stall_sm"] >> SM_SHIFT, return_counts=True)
    rows = np.zeros(len(sm), LOSSES.dtype)
    rows["sm"], rows["due"] = sm, due
    return rows


# In the database samples are counted.
SAMPLES = Table(
    "samples",
    "samples, counted by the first (highest-priority) reason of the stall word",
    (
        LAUNCH_OF_ROW,
        Column("pc", "integer", "", "code address; may be in no module: see samples_outside in meta", PC),
        Column("reason", "integer", "", "number of the stall reason", KEY, parent="stall_reasons"),
        Column("samples", "integer", "samples", "number of samples, never 0"),
        Column(
            "samples_not_issued", "integer", "samples",
            "samples in whose cycle the warp's scheduler issued nothing; NULL for compact records", null=True,
        ),
        Column(
            "weight", "integer", "warps",
            "warps that the samples represent, in the mean in proportion to ledger.cycles; NULL if the records have "
            "no weights",
            null=True,
        ),
    ),
    grain="launch pc reason",
)  # fmt: skip
SAMPLE_SIZES = Table(
    "sample_sizes",
    "effective sample sizes of launches whose samples have weights",
    (
        LAUNCH_OF_ROW._replace(parent=""),
        Column("effective", "real", "samples", "number of independent samples that would be as certain as these"),
    ),
    grain="launch",
    since=2,
)
SAMPLERS = Table(
    "samplers",
    "the sampler's registers for a launch, where they differ from those in meta",
    (
        LAUNCH_OF_ROW,
        Column("register", "text", "", "name of the register", KEY),
        Column("value", "numeric", "", "a number, or a text"),
    ),
    grain="launch register",
    since=2,
)
