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
each block has; 8 what draws' units read and write; 10 what caches held when a launch was measured,
its repetitions, and the time of its atomics in the L2 (there is no 9); 11 the time of copies, fills
and host functions.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.tables.order import RECORDED
from gpuprof.tables.table import Table

MAGIC = b"GPREC\x1a\r\n"
VERSION = max(8, *(table.newest for table in RECORDED))  # a table or column of a later version is a step


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
    """A type of chunk. `kind`: json, array, table or bytes; the last two of these have a table, json has fields."""

    type: bytes
    kind: str
    text: str
    fields: tuple[Field, ...] = ()
    table: Table | None = None

    @property
    def rows_table(self) -> Table:
        """The table of an array or a table."""
        assert self.table is not None, self.type
        return self.table

    @property
    def dtype(self) -> np.dtype:
        """The layout of a row of an array or a table."""
        return self.rows_table.dtype


def _chunk_of(table: Table) -> Chunk:
    text = f"{table.text}; {table.rows}" if table.rows else table.text
    return Chunk(table.chunk, "array" if table.of_launch else "table", text, table=table)


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
    Field(
        "host", "text", "the host's name; not there: launches of no program, whose calls take no time", optional=True
    ),
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
    Field(
        "cache",
        "text",
        "what its caches held, where that is not what the launches before left: cold (emptied) or warm (after one "
        "launch like it that is not recorded)",
        optional=True,
    ),
    Field("repeat", "count", "timings of the launch, where there are several; the last is recorded", optional=True),
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
    Field("samples_due", "count", "recorded + dropped"),
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
        "for each fixed-function unit that it used: name, cycles busy, cycles blocked, first and last GPU cycle",
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
    Chunk(b"META", "json", "first chunk: the tool and the settings that made the file", META_FIELDS),
    Chunk(b"CHIP", "json", "the chip description, as loaded: any fields"),
    Chunk(b"MODL", "json", "load map entry; the image follows in IMAG", MODULE_FIELDS),
    Chunk(b"IMAG", "bytes", "the ELF of module `id`, or its next piece"),
    Chunk(b"SRCF", "json", "a source file as it was when collecting", SOURCE_FIELDS),
    Chunk(b"LNCH", "json", "a launch begins", LAUNCH_FIELDS),
    *(_chunk_of(table) for table in RECORDED if table.of_launch),
    Chunk(b"LEND", "json", "a launch ended", LAUNCH_END_FIELDS),
    Chunk(
        b"STRM",
        "bytes",
        "a piece of the saved command stream, compressed with zlib: command lines (id 0) or a block of memory (id 1, "
        "2, ...)",
    ),
    Chunk(
        b"RSLT", "json", "a launch's result, compared with its expected values; after the last launch", RESULT_FIELDS
    ),
    Chunk(b"TRAC", "json", "rows of a trace generator's table, of one launch", TRACE_FIELDS),
    Chunk(b"FIND", "json", "a finding of a trace generator", FINDING_FIELDS),
    Chunk(b"NAME", "json", "a name of tasks or rows, before the first of these", NAME_FIELDS),
    Chunk(b"PARM", "json", "a parameter: a buffer from its allocation on, or a value", PARAMETER_FIELDS),
    *(_chunk_of(table) for table in RECORDED if not table.of_launch),
    Chunk(b"DRAW", "json", "a draw that has drawn all; draws that were ended early have none", DRAW_FIELDS),
    Chunk(
        b"MARK",
        "json",
        "a note in the stream (an interrupt); the last chunk of a recording that was stopped",
        MARK_FIELDS,
    ),
    Chunk(b"ENDF", "json", "the file is complete", END_FIELDS),
)
BY_TYPE = {chunk.type: chunk for chunk in CHUNKS}
