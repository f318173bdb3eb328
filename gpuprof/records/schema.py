"""The record stream, NAME.gprec, declared once: reader, writer, dump and docs come from here.

    file  = magic "GPREC\\x1a\\r\\n", u32 format version, u32 zero, chunk*
    chunk = u32 type (four ASCII letters), u32 payload bytes, u32 CRC-32, payload
    CRC-32 is that of type + payload bytes + payload

All numbers are little-endian. A payload is one of four kinds:

* json: one object, canonical JSON (UTF-8, sorted keys, no spaces), with the fields below. A reader
  skips other fields (in META and CHIP it keeps them).
* array: u32 launch index, u32 row count, rows of the dtype below.
* table: u32 row count, rows of the dtype below; they are of no launch.
* bytes: u32 id, raw bytes.

Long data comes in pieces that a reader joins in order: array chunks of one type and launch, IMAG
chunks of one id, SRCF chunks of one path, TRAC chunks of one launch, generator and table. A reader
skips an unknown chunk type and refuses a file of a newer version.

A recording is complete only when the file ends in an ENDF chunk. A killed run leaves its chunks
under the file's own name, and perhaps a part of one more; after a full disk there is no such part.
Commands read such a file up to its end, and report that it was cut off.

A saved command stream is in STRM chunks, each a zlib stream of its own that holds at most 2^20
bytes. Chunks of id 0 are lines of JSON, one for each command in the order of the requests;
records/command_stream/codec.py declares them. Chunks of id 1, 2, ... are blocks of
data copied into memory: a copy is cut into blocks of 2^18 bytes, and each distinct block is there
once. The compressed bytes are the zlib library's choice: another library may make other bytes of
the same stream.

Version history: 1 the first; 2 counter records, stall lengths, causes, losses by SM, saved streams;
3 results, and patterns of shared memory; 4 tables and findings of trace generators; 5 tasks,
parameters and relations; 6 counters of blocks, warps, accesses, units and reuse distances;
activity over time; calls of programs; 7 draws, the waves of their shaders and the primitives that
each block has; 8 what draws' units read and write.
"""

from typing import NamedTuple

import numpy as np

MAGIC = b"GPREC\x1a\r\n"
VERSION = 8

# The stall word: bit r is set when reason r (isa.stalls order) held in that cycle, bits 22..31 are the SM: a chip has
# 1024 at most.
SM_SHIFT = 22
STALL_MASK = (1 << SM_SHIFT) - 1

ISSUED, SCHEDULER_ISSUED = 1, 2  # bits of a wide sample's flags


class Column(NamedTuple):
    """A field of a row."""

    name: str
    type: str  # numpy's
    text: str


def _dtype(columns: tuple[Column, ...]) -> np.dtype:
    return np.dtype([(column.name, column.type) for column in columns])


COMPACT_COLUMNS = (
    Column("pc", "<u4", "code address: load base + 16 * instruction"),
    Column("stall_sm", "<u4", "the stall word"),
)
WIDE_COLUMNS = (
    *COMPACT_COLUMNS,
    Column("cycle", "<u8", "GPU cycle, from power-on"),
    Column("launch", "<u4", "launch index"),
    Column("block", "<u4", "linear block index in the grid"),
    Column("mask", "<u4", "active lanes"),
    Column("warp_slot", "u1", "in the SM"),
    Column(
        "flags",
        "u1",
        f"{ISSUED}: the warp issued in this cycle; {SCHEDULER_ISSUED}: its scheduler issued, this warp or another",
    ),
    Column("warp", "u1", "in the block"),
    Column(
        "resident", "u1", "warps that were resident on the SM, this one included; 0: unknown, as in files of version 1"
    ),
)
# Exact, not sampled. The ledger is sparse: rows with zero cycles are left out.
LEDGER_COLUMNS = (
    Column("pc", "<u4", "code address"),
    Column("reason", "<u4", "number of the stall reason"),
    Column("cycles", "<u8", "warp-cycles charged to it, never 0"),
)
COUNTERS_COLUMNS = (
    Column("pc", "<u4", "code address"),
    Column("reserved", "<u4", "zero"),
    Column("inst_executed", "<u8", "executions by warps"),
    Column("thread_inst_executed", "<u8", "executions by threads"),
    Column("thread_inst_executed_pred_on", "<u8", "of these, with a true predicate"),
    Column("divergent_branches", "<u8", "executions that split a warp"),
    Column("l1_tag_requests_global", "<u8", "distinct 128-byte lines requested"),
    Column("l2_sectors_global", "<u8", "distinct 32-byte sectors requested"),
    Column("l2_sectors_global_ideal", "<u8", "the same, if the lanes' bytes were packed"),
    Column("l2_sectors_local", "<u8", "distinct 32-byte sectors of local memory requested"),
    Column("l1_wavefronts_shared", "<u8", "passes through the banks of shared memory"),
    Column("l1_wavefronts_shared_ideal", "<u8", "the same, without bank conflicts"),
)
# Where the lanes of a warp are to each other in shared memory, for each instruction that accesses it. Level 0 has the
# lanes next to each other: of the lanes that take part, number k is at
#     k % lanes_0 * stride_0 + k / lanes_0 % lanes_1 * stride_1 + k / lanes_0 / lanes_1 * stride_2
# bytes above the first. The row with a mask of 0 has the executions whose lanes are otherwise, or of an instruction's
# further patterns.
BANK_PATTERNS_COLUMNS = (
    Column("pc", "<u4", "code address"),
    Column("mask", "<u4", "lanes that take part; 0: any other pattern"),
    Column("warps", "<u8", "executions by a warp, never 0"),
    Column("stride_0", "<i4", "bytes from a lane to the next"),
    Column("stride_1", "<i4", "bytes from a run of lanes_0 lanes to the next"),
    Column("stride_2", "<i4", "bytes from a run of lanes_0 * lanes_1 lanes to the next"),
    Column("lanes_0", "<u4", "lanes that stride_0 holds for"),
    Column("lanes_1", "<u4", "runs that stride_1 holds for"),
    Column("lanes_2", "<u4", "runs that stride_2 holds for"),
    Column("first", "<u4", "lowest byte in the block's shared memory"),
    Column("end", "<u4", "highest byte plus one"),
)
# One for each SM and cycle of which a record came into its FIFO; the launch is that of the first one. What counts up
# does so from the launch's first cycle on, for the launch alone. Counters that were not asked for are zero.
SAMPLED_COUNTERS_COLUMNS = (
    Column("cycle", "<u8", "GPU cycle, from power-on"),
    Column("launch", "<u4", "launch index"),
    Column(
        "pipes_busy",
        "<u4",
        "a bit for each pipe, in the order of the instruction table, that is busy in some partition",
    ),
    Column("sm", "<u2", "number of the SM"),
    Column("issued", "<u2", "schedulers that issued in this cycle"),
    Column("eligible", "<u2", "warps that could have issued in this cycle"),
    Column("active", "<u2", "resident warps"),
    Column("l1_sectors", "<u8", "sectors that the launch's loads have requested from the SM's L1"),
    Column("l1_hits", "<u8", "of these, hits"),
    Column(
        "l2_sectors",
        "<u8",
        "sectors that the launch has requested from the L2, by all SMs, up to the last multiple of 64 cycles",
    ),
    Column("l2_hits", "<u8", "of these, hits"),
    Column("dram_nbytes", "<u8", "bytes read and written for the launch, by all SMs, up to the same cycle"),
)
# A stall: the cycles that a warp waits for one reason before one issue of an instruction. Exact, sparse.
STALLS_COLUMNS = (
    Column("pc", "<u4", "code address"),
    Column("reason", "<u4", "number of the stall reason"),
    Column("stalls", "<u8", "number of stalls, never 0"),
    Column("longest_cycles", "<u8", "the longest one"),
)
STALL_LENGTHS_COLUMNS = (
    Column("pc", "<u4", "code address"),
    Column("reason", "<u2", "number of the stall reason"),
    Column("bin", "<u2", "stalls of 2^bin to 2^(bin+1) - 1 cycles"),
    Column("stalls", "<u8", "number of stalls, never 0"),
)
CAUSES_COLUMNS = (
    Column("pc", "<u4", "code address of the stalled instruction"),
    Column(
        "cause_pc",
        "<u4",
        "code address of the instruction that ended the stall; pc itself where no other did",
    ),
    Column("reason", "<u2", "number of the stall reason"),
    Column("kind", "<u2", "number of the kind of cause"),
    Column(
        "flags",
        "<u4",
        "bits: 1 the cause is in another warp, 2 in another launch, 4 an access that takes more passes or sectors than "
        "it needs",
    ),
    Column("cycles", "<u8", "warp-cycles charged to it; over all causes of a (pc, reason) they are the ledger's"),
    Column("stalls", "<u8", "number of stalls that it ended"),
)
LOSSES_COLUMNS = (
    Column("sm", "<u4", "number of the SM"),
    Column("reserved", "<u4", "zero"),
    Column("due", "<u8", "samples of the SM that passed the filter: kept + dropped"),
    Column("dropped_fifo", "<u8", "lost to its full FIFO"),
    Column("dropped_buffer", "<u8", "lost to the full event buffer"),
)
# What a launch did over time: bins that follow each other from its start on, and what its warps did in each. Exact:
# sums over the bins are those of the ledger, and sm_active_cycles.
ACTIVITY_COLUMNS = (
    Column("cycle", "<u8", "GPU cycle, from power-on, in which the bin begins"),
    Column("bin_cycles", "<u8", "how long it is; the last one of a launch ends with the launch"),
    Column("sm_active_cycles", "<u8", "sum over SMs of the cycles in which a warp of the launch was there"),
)
ACTIVITY_OF_SMS_COLUMNS = (
    Column("sm", "<u4", "number of the SM"),
    Column("reserved", "<u4", "zero"),
    Column("active_cycles", "<u8", "in which a warp of the launch was there, never 0"),
)
ACTIVITY_STALLS_COLUMNS = (
    Column("bin", "<u4", "number of the bin, from 0"),
    Column("reason", "<u4", "number of the stall reason"),
    Column("cycles", "<u8", "warp-cycles charged to it in the bin, never 0"),
)
# Tasks, and what ties them; the numbers of kinds and the flags are those of
# gpuprof/relate/task_kinds.py. 2^32 - 1 is none.
TASK_COLUMNS = (
    Column("task", "<u4", "number of the task, from 0, in the order of their beginnings"),
    Column("parent", "<u4", "the task that it is a part of"),
    Column("kind", "<u4", "number of the kind of task"),
    Column("flags", "<u4", "1: a virtual task"),
    Column("name", "<u4", "number of its name"),
    Column("row", "<u4", "number of the name of its row: a stream, or a row that a script has opened"),
    Column("launch", "<u4", "launch index of a launch"),
    Column("reserved", "<u4", "zero"),
    Column("begin", "<u8", "place of its begin in the order of all that was asked"),
    Column("end", "<u8", "place of its end"),
    Column("cycle", "<u8", "GPU cycle in which it happened, for what takes no time; launches have theirs"),
    Column("work", "<u8", "hash of what a launch was asked to do: its kernel, configuration and arguments"),
)
RELATION_COLUMNS = (
    Column("kind", "<u4", "number of the kind of relation"),
    Column("source", "<u4", "the first task"),
    Column("target", "<u4", "the second task; none where a task is related to a buffer"),
    Column("parameter", "<u4", "the buffer that ties them"),
)
ACCESS_COLUMNS = (
    Column("task", "<u4", "the task that accesses"),
    Column("parameter", "<u4", "number of the buffer"),
    Column(
        "flags",
        "<u4",
        "bits: 1 it writes (else it reads), 2 bytes between those accessed are among these, 4 the bytes written were "
        "there already, 8 it frees the buffer",
    ),
    Column("reserved", "<u4", "zero"),
    Column("first", "<u8", "first byte in the buffer"),
    Column("end", "<u8", "last byte plus one"),
)
CONSTRAINT_COLUMNS = (
    Column("kind", "<u4", "number of the kind of constraint"),
    Column("source", "<u4", "the task that is waited for"),
    Column("target", "<u4", "the task that waits"),
)
# Exact, where `--counters` asks for blocks: one for each block, in the order in which they ended. What a block asked
# of the caches is counted when it is served. A sector that the L2 evicts to make room is counted as written by the
# block that needs the room.
BLOCK_COUNTERS_COLUMNS = (
    Column("start_cycle", "<u8", "GPU cycle of its first warp's start, from power-on"),
    Column("end_cycle", "<u8", "GPU cycle from which its last warp is gone"),
    Column("launch", "<u4", "launch index"),
    Column("block", "<u4", "linear block index in the grid, in the order in which blocks start"),
    Column("sm", "<u4", "number of the SM"),
    Column("warps", "<u4", "warps of the block"),
    Column("issue_slots", "<u8", "issue slots that its warps used"),
    Column("issue_cycles", "<u8", "warp-cycles in which a warp issued"),
    Column("resident_cycles", "<u8", "warp-cycles of its warps; those in which none issued are stalled"),
    Column("l1_sectors", "<u8", "sectors that its loads asked of the L1"),
    Column("l1_hits", "<u8", "of these, found"),
    Column("l2_requests", "<u8", "requests to the L2, of a line each"),
    Column(
        "l2_request_cycles",
        "<u8",
        "sum of their times, from the L1 to the answer: over the block's time, requests in flight",
    ),
    Column("l2_sectors", "<u8", "sectors asked of the L2"),
    Column("l2_hits", "<u8", "of these, found"),
    Column("dram_read_sectors", "<u8", "sectors that the DRAM read for it"),
    Column("dram_write_sectors", "<u8", "sectors written to the DRAM to make room for its own"),
)
# Exact, where `--counters` asks for waves: one for each warp, in the order in which they ended. The waits are those of
# timing/state/stall_tables.py; with issue_cycles they sum to the warp's time.
WARP_COUNTERS_COLUMNS = (
    Column("start_cycle", "<u8", "GPU cycle of its start, from power-on"),
    Column("end_cycle", "<u8", "GPU cycle from which it is gone"),
    Column("launch", "<u4", "launch index"),
    Column("block", "<u4", "linear block index in the grid"),
    Column("warp", "<u4", "number in the block"),
    Column("sm", "<u4", "number of the SM"),
    Column("issue_slots", "<u8", "issue slots that it used"),
    Column("issue_cycles", "<u8", "cycles in which it issued"),
    Column("fixed_cycles", "<u8", "stalled: a result of fixed latency, a branch, the dispatcher"),
    Column("memory_cycles", "<u8", "stalled: global and local memory, its stores, fences"),
    Column("short_cycles", "<u8", "stalled: shared memory, special functions, and what else the MIO answers"),
    Column("barrier_cycles", "<u8", "stalled: a barrier"),
    Column("throttle_cycles", "<u8", "stalled: a full queue or a busy pipe"),
    Column("fetch_cycles", "<u8", "stalled: instructions and constants"),
    Column("turn_cycles", "<u8", "ready, and another warp was picked"),
    Column("other_cycles", "<u8", "stalled: sleeping, and anything else"),
)
# Exact, where `--counters` asks for blocks: what the accesses of an instruction are for any chip, summed over its
# executions by warps.
ACCESS_COUNTERS_COLUMNS = (
    Column("pc", "<u4", "code address"),
    Column("reserved", "<u4", "zero"),
    Column("accesses", "<u8", "executions by warps of which a lane takes part, never 0"),
    Column("lanes", "<u8", "lanes that take part"),
    Column("sectors", "<u8", "distinct 32-byte sectors of each access; of a constant its words"),
    Column("lines", "<u8", "distinct 128-byte lines of each access to global or local memory"),
    Column("wavefronts", "<u8", "passes through 32 banks of 4 bytes"),
    Column("tag_passes", "<u8", "passes through the L1's four tag banks, a line in each"),
    Column(
        "tag_lookups", "<u8", "distinct lines of each eight lanes; in shared memory lanes that reach another block's"
    ),
    Column(
        "conflicts",
        "<u8",
        "of atomics the most lanes on one address, of copies to shared memory passes through its banks",
    ),
    Column("partial_sectors", "<u8", "sectors that a store writes in part"),
    Column("partial_requests", "<u8", "lines in which it does"),
)
# Where `--counters` asks for blocks: a histogram of reuse distances in lines. A bin goes from its least distance to the
# next one's: 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, and so on, four an octave. Counts are of all accesses,
# estimated where not all are looked at.
REUSE_SCOPES = ("device", "block", "launch")
REUSE_DISTANCES_COLUMNS = (
    Column("launch", "<u4", "launch index"),
    Column(
        "scope",
        "<u4",
        "0: of all loads and stores so far; 1: of a block's loads; 2: the row has the distinct lines of the launch",
    ),
    Column("least_lines", "<i8", "least distance of the bin; -1: the first access"),
    Column("lines", "<u8", "accesses to lines"),
    Column("sectors", "<u8", "sectors of these lines that were accessed"),
    Column("store_sectors", "<u8", "of these, written"),
)
CALL_COLUMNS = (
    Column("task", "<u4", "number of the call's task"),
    Column("file", "<u4", "number of the name of the file that it stands in"),
    Column("line", "<u4", "its line there, 0 unknown"),
    Column("thread", "<u4", "number of the host's thread, from 0"),
    Column("status", "<i4", "the cudaError that it gave"),
    Column("reserved", "<u4", "zero"),
    Column("begin_ns", "<u8", "of the host's time, when it began"),
    Column("end_ns", "<u8", "when it ended"),
    Column("waited_ns", "<u8", "of the time between, what it waited for the GPU"),
    Column("nbytes", "<u8", "bytes that it was asked to copy or fill"),
)
# Exact. Of a draw whose shaders were timed together with the fixed-function units.
WAVE_COLUMNS = (
    Column("draw", "<u4", "number of the draw"),
    Column("stage", "<u4", "number of its shader's stage: 0 vertex, 1 hull, 2 domain, 3 geometry, 4 pixel"),
    Column("start_cycle", "<u8", "GPU cycle of its start, from power-on"),
    Column("end_cycle", "<u8", "GPU cycle from which it is gone"),
)
# Exact. A block of a shader is a wave; its lanes work on primitives that follow each other in the draw.
PRIMITIVES_COLUMNS = (
    Column("block", "<u4", "linear block index in the grid"),
    Column("reserved", "<u4", "zero"),
    Column("first_primitive", "<u8", "number of its first primitive in the draw"),
    Column("last_primitive", "<u8", "number of its last one"),
)
COMPACT_DTYPE, WIDE_DTYPE = _dtype(COMPACT_COLUMNS), _dtype(WIDE_COLUMNS)
TASK_DTYPE, RELATION_DTYPE = _dtype(TASK_COLUMNS), _dtype(RELATION_COLUMNS)
ACCESS_DTYPE, CONSTRAINT_DTYPE = _dtype(ACCESS_COLUMNS), _dtype(CONSTRAINT_COLUMNS)
CALL_DTYPE = _dtype(CALL_COLUMNS)
WAVE_DTYPE, PRIMITIVES_DTYPE = _dtype(WAVE_COLUMNS), _dtype(PRIMITIVES_COLUMNS)
LEDGER_DTYPE, COUNTERS_DTYPE = _dtype(LEDGER_COLUMNS), _dtype(COUNTERS_COLUMNS)
SAMPLED_COUNTERS_DTYPE, LOSSES_DTYPE = _dtype(SAMPLED_COUNTERS_COLUMNS), _dtype(LOSSES_COLUMNS)
BANK_PATTERNS_DTYPE = _dtype(BANK_PATTERNS_COLUMNS)
ACCESS_COUNTERS_DTYPE, REUSE_DISTANCES_DTYPE = _dtype(ACCESS_COUNTERS_COLUMNS), _dtype(REUSE_DISTANCES_COLUMNS)
BLOCK_COUNTERS_DTYPE, WARP_COUNTERS_DTYPE = _dtype(BLOCK_COUNTERS_COLUMNS), _dtype(WARP_COUNTERS_COLUMNS)
ACTIVITY_DTYPE, ACTIVITY_STALLS_DTYPE = _dtype(ACTIVITY_COLUMNS), _dtype(ACTIVITY_STALLS_COLUMNS)
ACTIVITY_OF_SMS_DTYPE = _dtype(ACTIVITY_OF_SMS_COLUMNS)


def losses_of_none(samples: np.ndarray) -> np.ndarray:
    """LOSSES_DTYPE: a row for each SM of WIDE_DTYPE samples, which are all that were due."""
    sm, due = np.unique(samples["stall_sm"] >> SM_SHIFT, return_counts=True)
    rows = np.zeros(len(sm), LOSSES_DTYPE)
    rows["sm"], rows["due"] = sm, due
    return rows


STALLS_DTYPE, STALL_LENGTHS_DTYPE, CAUSES_DTYPE = (
    _dtype(STALLS_COLUMNS),
    _dtype(STALL_LENGTHS_COLUMNS),
    _dtype(CAUSES_COLUMNS),
)
assert COMPACT_DTYPE.itemsize == 8 and WIDE_DTYPE.itemsize == 32


class Field(NamedTuple):
    """A field of a json chunk. `type` is a key of FIELD_TYPES; every field listed must be there, except where it is
    optional.
    """

    name: str
    type: str
    text: str
    optional: bool = False


# The types of a field's value, in the words of the docs. The reader has one predicate for each.
FIELD_TYPES = {
    "text": "a string",
    "count": "an integer from 0 to 2^63 - 1",
    "integer": "an integer from -2^63 to 2^63 - 1",
    "flag": "true or false",
    "dim3": "a list of three counts",
    "map": "an object of numbers and strings",
    "columns": "a list of objects of the strings name, type, unit and text; type is integer, real or text",
    "rows": "a list of lists, each with a number or a string for each column",
}


class Chunk(NamedTuple):
    type: bytes
    kind: str  # "json", "array", "table" or "bytes"
    dtype: np.dtype | None
    text: str
    fields: tuple[Field, ...] = ()  # of json
    columns: tuple[Column, ...] = ()  # of an array or a table: the dtype's


MAX_PAYLOAD_NBYTES = 1 << 24  # a longer payload is damage: no reader allocates more for one chunk

META_FIELDS = (
    Field("tool", "text", "the program that wrote the file"),
    Field("tool_version", "text", "its version"),
    Field("model_version", "text", "the timing model's version: numbers of different models do not compare"),
    Field("command", "text", "the command line, without the machine's own paths"),
    Field("chip", "text", "the chip's name"),
    Field(
        "sampling",
        "map",
        "registers of the sampler, see below: always period_cycles, mode, seed and record, others where they differ "
        "from the default",
    ),
    Field("fidelity", "text", "how far the chip's numbers can be trusted", optional=True),
)
MODULE_FIELDS = (
    Field("id", "count", "number of the module in this file"),
    Field("name", "text", "file name the module came from"),
    Field("load_base", "count", "code address of its first instruction"),
    Field("code_nbytes", "count", "length of its code"),
    Field("compiler", "text", "name and version"),
    Field("arch", "text", "the architecture it was compiled for"),
)
SOURCE_FIELDS = (
    Field("path", "text", "as the compiler named it"),
    Field("text", "text", "the file's text, or its next piece"),
)
LAUNCH_FIELDS = (
    Field("launch", "count", "index of the launch, ascending from 0"),
    Field("module", "count", "id of the module"),
    Field("kernel", "text", "name as written in the source"),
    Field("symbol", "text", "name in the object file"),
    Field("grid", "dim3", "blocks in x, y, z"),
    Field("block", "dim3", "threads in x, y, z"),
    Field("dynamic_shared_nbytes", "count", "dynamic shared memory of the launch"),
    Field("stream", "count", "stream index"),
    Field("registers", "count", "per thread"),
    Field("shared_nbytes", "count", "static shared memory per block"),
    Field("local_nbytes", "count", "local memory per thread"),
    Field("text", "text", "the launch as the user wrote it, or an empty string"),
    Field("task", "text", "names of the tasks it belongs to, outermost first, joined by /; empty outside any"),
    Field("parent", "count", "index of the launch whose kernel launched it", optional=True),
    Field(
        "priority",
        "integer",
        "of its stream, where it is not 0: of launches that wait for room the smaller number starts its blocks first",
        optional=True,
    ),
    Field("dependent", "flag", "true where the launch before it on the stream may let it start early", optional=True),
    Field("traces", "text", "names of the trace generators that watch it, with a comma between two", optional=True),
    Field("sampling", "map", "registers of the sampler for this launch, where they differ from META's", optional=True),
    Field("draw", "count", "number of the draw that it is a shader of", optional=True),
    Field("stage", "text", "of a draw's shader: vertex, hull, domain, geometry or pixel", optional=True),
)
LAUNCH_END_FIELDS = (
    Field("launch", "count", "index of the launch"),
    Field("start_cycle", "count", "GPU cycles from power-on"),
    Field("end_cycle", "count", "GPU cycles from power-on"),
    Field("cycles", "count", "end - start"),
    Field("samples_due", "count", "kept + dropped"),
    Field("samples_kept", "count", "records in this file"),
    Field("samples_dropped", "count", "lost to a full FIFO or event buffer"),
    Field("buffer_full", "flag", "true when any samples were dropped"),
    Field("counters", "map", "every other plain number of the timing model for a launch"),
)
RESULT_FIELDS = (
    Field("launch", "count", "index of the launch after which the array was read"),
    Field("name", "text", "the array, as the user named it"),
    Field("expected", "text", "what it was compared with: a file without its folders, a number, or a word"),
    Field("elements", "count", "elements compared"),
    Field("differ", "count", "of these, elements that differ by more than the tolerances"),
    Field("rtol", "text", "relative tolerance"),
    Field("atol", "text", "absolute tolerance"),
    Field("first", "text", "index of the first element that differs, empty where none does"),
    Field("got", "text", "its value"),
    Field("wanted", "text", "the value it should have"),
    Field("absolute_error", "text", "the largest of the elements that differ"),
    Field("relative_error", "text", "the largest of the elements that differ"),
)
# What trace generators found (gpuprof.trace.tables). A column pc, and one whose name ends in _pc, has code addresses.
TRACE_FIELDS = (
    Field("launch", "count", "index of the launch"),
    Field("generator", "text", "name of the trace generator"),
    Field("table", "text", "name of its table"),
    Field("text", "text", "what the table holds"),
    Field("columns", "columns", "its columns"),
    Field("rows", "rows", "its rows, or the next of them"),
)
FINDING_FIELDS = (
    Field("launch", "count", "index of the launch"),
    Field("generator", "text", "name of the trace generator"),
    Field("kind", "text", "name of all findings of its sort"),
    Field("severity", "text", "error, warning, note or advice"),
    Field("text", "text", "what was found"),
    Field("pc", "integer", "code address, -1 none"),
    Field("other_pc", "integer", "a second code address, -1 none"),
    Field("block", "integer", "linear index of the block in the grid, -1 none"),
    Field("warp", "integer", "number of the warp in the block, -1 none"),
    Field("thread", "integer", "linear index of the thread in the block, -1 none"),
    Field("address", "integer", "in memory, -1 none"),
    Field("allocation", "text", "name of what holds the address, or an empty string"),
    Field("count", "integer", "how often it happened"),
)
NAME_FIELDS = (
    Field("name", "count", "number of the name, from 0"),
    Field("text", "text", "the name of tasks or rows"),
)
PARAMETER_FIELDS = (
    Field("parameter", "count", "number of the parameter, from 0"),
    Field("name", "text", "its name"),
    Field("kind", "count", "number of the kind of parameter"),
    Field("value", "text", "of what is no buffer: a number, a text, or a structure as JSON"),
    Field("task", "count", "the task that it belongs to", optional=True),
    Field("address", "count", "of a buffer, in memory", optional=True),
    Field("nbytes", "count", "of a buffer", optional=True),
    Field("begin", "count", "place in the order of all that was asked, from which on it is there"),
)
DRAW_FIELDS = (
    Field("draw", "count", "number of the draw, ascending from 0"),
    Field("task", "count", "number of its task"),
    Field("pass", "count", "number of its pass, from 0: draws that follow each other into the same targets"),
    Field("buffer", "count", "number of its command buffer's task", optional=True),
    Field("name", "text", "its name"),
    Field("width", "count", "pixels of its targets in a row"),
    Field("height", "count", "rows of pixels"),
    Field("samples", "count", "samples of a pixel"),
    Field("state_changes", "count", "changes of state since the draw before"),
    Field("drains", "flag", "true where it begins only when all draws before it are done"),
    Field("counts", "map", "what it did, exactly: see docs/graphics.md"),
    Field("start_cycle", "count", "GPU cycles from power-on; absent where it has no time as a whole", optional=True),
    Field("end_cycle", "count", "GPU cycles from power-on; there is one with start_cycle", optional=True),
    Field(
        "units",
        "rows",
        "for each fixed-function unit that it kept busy: name, cycles busy, cycles blocked, first and last GPU cycle",
    ),
    Field("work", "map", "amounts of work that it asked of the units, by name"),
    Field(
        "traffic",
        "rows",
        "for each fixed-function unit that may access memory: name, bytes of the L2 that it read and wrote, bytes of "
        "the DRAM that this read and wrote",
        optional=True,
    ),
)
MARK_FIELDS = (
    Field("text", "text", "what happened"),
    Field("cycle", "count", "GPU cycle, 0 when unknown"),
    Field("launch", "count", "the launch that it concerns", optional=True),
)
END_FIELDS = (
    Field("launches", "count", "launches in the file"),
    Field("records", "count", "sample records in the file"),
)

CHUNKS = (
    Chunk(
        b"META",
        "json",
        None,
        "first chunk: what made the file",
        META_FIELDS,
    ),
    Chunk(b"CHIP", "json", None, "the chip description, as loaded: any fields"),
    Chunk(b"MODL", "json", None, "load map entry; the image follows in IMAG", MODULE_FIELDS),
    Chunk(b"IMAG", "bytes", None, "the ELF of module `id`, or its next piece"),
    Chunk(b"SRCF", "json", None, "a source file as it was when collecting", SOURCE_FIELDS),
    Chunk(b"LNCH", "json", None, "a launch begins", LAUNCH_FIELDS),
    Chunk(b"SMPC", "array", COMPACT_DTYPE, "samples, compact", columns=COMPACT_COLUMNS),
    Chunk(b"SMPW", "array", WIDE_DTYPE, "samples, wide", columns=WIDE_COLUMNS),
    Chunk(
        b"LEDG",
        "array",
        LEDGER_DTYPE,
        "the launch's exact stall ledger; rows ascend by (pc, reason)",
        columns=LEDGER_COLUMNS,
    ),
    Chunk(
        b"CNTR",
        "array",
        COUNTERS_DTYPE,
        "exact counters of the launch's instructions; rows ascend by pc, rows of zeros are absent",
        columns=COUNTERS_COLUMNS,
    ),
    Chunk(
        b"BANK",
        "array",
        BANK_PATTERNS_DTYPE,
        "places of lanes in shared memory; rows ascend by pc, then as first seen",
        columns=BANK_PATTERNS_COLUMNS,
    ),
    Chunk(
        b"SMCN",
        "array",
        SAMPLED_COUNTERS_DTYPE,
        "counter records: an SM's counters in the cycle of a sample",
        columns=SAMPLED_COUNTERS_COLUMNS,
    ),
    Chunk(
        b"BLKC",
        "array",
        BLOCK_COUNTERS_DTYPE,
        "counters of the launch's blocks; rows in the order in which blocks ended",
        columns=BLOCK_COUNTERS_COLUMNS,
    ),
    Chunk(
        b"WRPC",
        "array",
        WARP_COUNTERS_DTYPE,
        "counters of the launch's warps; rows in the order in which warps ended",
        columns=WARP_COUNTERS_COLUMNS,
    ),
    Chunk(
        b"ACCC",
        "array",
        ACCESS_COUNTERS_DTYPE,
        "counters of the launch's accesses; rows ascend by pc",
        columns=ACCESS_COUNTERS_COLUMNS,
    ),
    Chunk(
        b"REUS",
        "array",
        REUSE_DISTANCES_DTYPE,
        "reuse distances; rows ascend by (scope, least_lines)",
        columns=REUSE_DISTANCES_COLUMNS,
    ),
    Chunk(
        b"STLN",
        "array",
        STALLS_DTYPE,
        "the launch's stalls, counted; rows ascend by (pc, reason)",
        columns=STALLS_COLUMNS,
    ),
    Chunk(
        b"STLH",
        "array",
        STALL_LENGTHS_DTYPE,
        "the lengths of stalls; rows ascend by (pc, reason, bin)",
        columns=STALL_LENGTHS_COLUMNS,
    ),
    Chunk(
        b"CAUS",
        "array",
        CAUSES_DTYPE,
        "the causes of stalls; rows ascend by (pc, reason, cause_pc, kind, flags)",
        columns=CAUSES_COLUMNS,
    ),
    Chunk(
        b"SMDR",
        "array",
        LOSSES_DTYPE,
        "samples of the launch that each SM lost; rows ascend by SM",
        columns=LOSSES_COLUMNS,
    ),
    Chunk(
        b"ACTV",
        "array",
        ACTIVITY_DTYPE,
        "the launch's time in bins; rows ascend by cycle",
        columns=ACTIVITY_COLUMNS,
    ),
    Chunk(
        b"ACTR",
        "array",
        ACTIVITY_STALLS_DTYPE,
        "what its warps did in each bin; rows ascend by (bin, reason)",
        columns=ACTIVITY_STALLS_COLUMNS,
    ),
    Chunk(
        b"ACSM",
        "array",
        ACTIVITY_OF_SMS_DTYPE,
        "the launch's cycles on each SM; rows ascend by SM",
        columns=ACTIVITY_OF_SMS_COLUMNS,
    ),
    Chunk(
        b"PRIM",
        "array",
        PRIMITIVES_DTYPE,
        "of a shader's launch, the primitives of each block; rows ascend by block",
        columns=PRIMITIVES_COLUMNS,
    ),
    Chunk(b"LEND", "json", None, "a launch ended", LAUNCH_END_FIELDS),
    Chunk(
        b"STRM",
        "bytes",
        None,
        "a piece of the saved command stream, compressed with zlib: command lines (id 0) or a block of memory (id 1, "
        "2, ...)",
    ),
    Chunk(
        b"RSLT",
        "json",
        None,
        "a launch's result, compared with what it should be; after the last launch",
        RESULT_FIELDS,
    ),
    Chunk(b"TRAC", "json", None, "rows of a trace generator's table, of one launch", TRACE_FIELDS),
    Chunk(b"FIND", "json", None, "a finding of a trace generator", FINDING_FIELDS),
    Chunk(b"NAME", "json", None, "a name of tasks or rows, before the first of these", NAME_FIELDS),
    Chunk(b"PARM", "json", None, "a parameter: a buffer from its allocation on, or a value", PARAMETER_FIELDS),
    Chunk(b"TASK", "table", TASK_DTYPE, "tasks that have ended, in that order", columns=TASK_COLUMNS),
    Chunk(b"RELA", "table", RELATION_DTYPE, "relations that were stated", columns=RELATION_COLUMNS),
    Chunk(
        b"ACCS",
        "table",
        ACCESS_DTYPE,
        "bytes of buffers that tasks read and wrote, in the order of execution",
        columns=ACCESS_COLUMNS,
    ),
    Chunk(
        b"CNST",
        "table",
        CONSTRAINT_DTYPE,
        "orders between tasks that the program asked for",
        columns=CONSTRAINT_COLUMNS,
    ),
    Chunk(b"CALL", "table", CALL_DTYPE, "calls of a program's that have ended", columns=CALL_COLUMNS),
    Chunk(b"DRAW", "json", None, "a draw that has drawn all; those that something ended have none", DRAW_FIELDS),
    Chunk(
        b"WAVE",
        "table",
        WAVE_DTYPE,
        "waves of draws' shaders, those of a draw in the order of their dispatch",
        columns=WAVE_COLUMNS,
    ),
    Chunk(
        b"MARK",
        "json",
        None,
        "a note in the stream (an interrupt); the last chunk of a recording that was stopped",
        MARK_FIELDS,
    ),
    Chunk(b"ENDF", "json", None, "the file is complete", END_FIELDS),
)
BY_TYPE = {chunk.type: chunk for chunk in CHUNKS}
