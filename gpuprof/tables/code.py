"""Tables that only the database has: code, launches, findings, and names of numbers."""

from gpuprof.isa.encoding import PC_END
from gpuprof.isa.gpubin.layout import MAX_INLINE_DEPTH
from gpuprof.tables.table import CYCLE, FLAG, KEY, LAUNCH, LAUNCH_OF_ROW, PC, Bounds, Column, Table

LINE: Bounds = {"low": 0, "high": (1 << 32) - 1}
MOST_ACCESS_NBYTES = 128  # of a lane: a pass through the banks of shared memory has no more
MOST_COLUMNS = 1000  # of a trace generator's table

META = Table(
    "meta",
    "the tool and the settings that made this file",
    (
        Column("key", "text", "", "tool_version, model_version, fidelity, chip, period_cycles (0: no sampling), mode, "
               'seed, command, complete ("1" or "0"), ...', KEY),
        Column("value", "text", "", "numbers are in decimal"),
    ),
    grain="key",
)  # fmt: skip
MODULES = Table(
    "modules",
    "loaded code",
    (
        Column("module", "integer", "", "number of the module in the recording", KEY),
        Column("name", "text", "", "file name that the module came from"),
        Column("load_base", "integer", "", "code address of its first instruction", PC),
        Column("code_nbytes", "integer", "bytes", "length of its code, 16 bytes for each instruction"),
        Column("compiler", "text", "", "name and version of the compiler"),
        Column("arch", "text", "", 'architecture that it was compiled for, such as "sm_80"'),
        Column("ptx", "text", "", "the PTX that it was assembled from"),
    ),
    grain="module",
)
SOURCES = Table(
    "sources",
    "text of every source file, from the time of collecting",
    (
        Column("source", "integer", "", "number of the file, in the order of the paths", KEY),
        Column("path", "text", "", "path that the compiler reported", sql="UNIQUE"),
        Column("text", "text", "", "text of the file; NULL: unknown", null=True),
    ),
    grain="source",
)
FUNCTIONS = Table(
    "functions",
    "functions of the modules",
    (
        Column("function", "integer", "", "number of the function, in the order of modules and their functions", KEY),
        Column("module", "integer", "", "module of the function", KEY, parent="modules"),
        Column("name", "text", "", "symbol in the object file"),
        Column("display", "text", "", "name as written in the source"),
        Column("is_kernel", "integer", "", "1: a kernel; 0: a device function", FLAG),
        Column("first_pc", "integer", "", "code address of its first instruction", PC),
        Column("n_instructions", "integer", "instructions", "number of instructions, at first_pc, first_pc + 16, ...",
               low=0, high=PC_END),
        Column("registers", "integer", "registers", "registers of a thread"),
        Column("shared_nbytes", "integer", "bytes", "static shared memory of a block"),
        Column("local_nbytes", "integer", "bytes", "local memory of a thread, callees included"),
        Column("spill_nbytes", "integer", "bytes", "part of local_nbytes that holds spilled registers"),
    ),
    grain="function",
)  # fmt: skip
INSTRUCTIONS = Table(
    "instructions",
    "every instruction of the modules",
    (
        Column("pc", "integer", "", "code address: load_base + 16 * index", PC),
        Column("module", "integer", "", "module of the instruction", KEY, parent="modules"),
        Column("function", "integer", "", "function of the instruction", KEY, parent="functions"),
        Column("text", "text", "", "disassembly"),
        Column("opcode", "text", "", "name of the instruction table's row"),
        Column("source", "integer", "", "source file of the innermost frame", KEY, parent="sources", null=True),
        Column("line", "integer", "", "line of the innermost frame, 0: unknown", KEY, **LINE),
        Column("column", "integer", "", "column of the innermost frame, 0: unknown", KEY, **LINE),
        Column("ptx_line", "integer", "", "line in the module's PTX, 0: unknown", KEY, **LINE),
        Column("space", "text", "", "space of a memory access: global, shared, local, const, param, generic, texture, "
               "surface; else ''"),
        Column("operation", "text", "", "load, store, atomic, reduction, copy (asynchronous), prefetch, or ''"),
        Column("access_nbytes", "integer", "bytes", "bytes that a lane accesses", low=0, high=MOST_ACCESS_NBYTES),
        Column("precision", "text", "", "precision of its arithmetic: f64, f32, f16, bf16, tensor_f16 and so on, int, "
               "special (divisions, roots, transcendental functions); '': none"),
        Column("thread_operations", "integer", "operations", "arithmetic operations of a thread: 2 for a fused "
               "multiply-add"),
    ),
    grain="pc",
)  # fmt: skip
LIVE_REGISTERS = Table(
    "live_registers",
    "live registers of a thread before each instruction, over all paths; empty for profiles of cards",
    (
        Column("pc", "integer", "", "code address of the instruction", PC, parent="instructions"),
        Column("registers", "integer", "registers", "32-bit registers that hold a value which may still be read"),
    ),
    grain="pc",
    since=6,
)
INLINE_FRAMES = Table(
    "inline_frames",
    "call sites of inlined code; depth 1 is the direct caller",
    (
        Column("pc", "integer", "", "code address of the inlined instruction", PC, parent="instructions"),
        Column("depth", "integer", "", "1, 2, ... outwards", KEY, low=1, high=MAX_INLINE_DEPTH),
        Column("function", "text", "", "name of the inlined function at depth - 1"),
        Column("source", "integer", "", "source file of the call", KEY, parent="sources"),
        Column("line", "integer", "", "line of the call", KEY, **LINE),
    ),
    grain="pc depth",
)
LAUNCHES = Table(
    "launches",
    "launches of kernels",
    (
        Column("launch", "integer", "", "launch index, ascending in time", LAUNCH),
        Column("function", "integer", "", "the kernel", KEY, parent="functions"),
        Column("kernel", "text", "", "name as written in the source"),
        Column("grid", "text", "blocks", '"x,y,z"'),
        Column("block", "text", "threads", '"x,y,z"'),
        Column("dynamic_shared_nbytes", "integer", "bytes", "dynamic shared memory of a block"),
        Column("stream", "integer", "", "stream index, 0: the default stream"),
        Column("task", "text", "", "names of the tasks it belongs to, outermost first, joined by /; '' outside any"),
        Column("start_cycle", "integer", "cycles", "GPU cycle of its start, from power-on", CYCLE),
        Column("end_cycle", "integer", "cycles", "GPU cycle of its end, from power-on", CYCLE),
        Column("cycles", "integer", "cycles", "duration"),
        Column("samples_due", "integer", "samples", "samples that passed the filter: recorded or dropped"),
        Column("samples_kept", "integer", "samples", "samples in the recording, counted"),
        Column("samples_dropped", "integer", "samples", "samples that a full FIFO or event buffer dropped"),
        Column("buffer_full", "integer", "", "1: samples were dropped", FLAG),
        Column("complete", "integer", "", "0: the stream ended inside the launch", FLAG),
    ),
    grain="launch",
)
LAUNCH_METRICS = Table(
    "launch_metrics",
    "every other exact number of a launch; see metrics",
    (
        LAUNCH_OF_ROW,
        Column("metric", "text", "", "its name in the recording"),
        Column("value", "numeric", "", "a number; a text for a name (occupancy_limiter)"),
    ),
    grain="launch metric",
)
RESULTS = Table(
    "results",
    "arrays that were compared with their expected values",
    (
        Column("result", "integer", "", "number of the comparison, in the order made", KEY),
        Column("launch", "integer", "", "launch after which the array was read", LAUNCH, parent="launches"),
        Column("name", "text", "", "name that the user gave the array"),
        Column("expected", "text", "", "expected values: a file without its folders, a number, or a word"),
        Column("elements", "integer", "elements", "elements compared"),
        Column("differ", "integer", "elements", "elements that differ by more than the tolerances; if any, the "
               "kernel is wrong"),
        Column("rtol", "text", "", "relative tolerance"),
        Column("atol", "text", "", "absolute tolerance"),
        Column("first", "text", "", "index of the first element that differs, '' where none does"),
        Column("got", "text", "", "its value"),
        Column("wanted", "text", "", "its expected value"),
        Column("absolute_error", "text", "", "largest absolute error of the elements that differ"),
        Column("relative_error", "text", "", "largest relative error of the elements that differ"),
    ),
    grain="result",
    since=3,
)  # fmt: skip
TRACE_LAUNCHES = Table(
    "trace_launches",
    "launches that trace generators watched",
    (
        Column("launch", "integer", "", "the launch", LAUNCH, parent="launches"),
        Column("generator", "text", "", "name of the trace generator"),
    ),
    grain="launch generator",
    since=4,
)
TRACE_TABLES = Table(
    "trace_tables",
    "tables of trace generators: for each the database has a table of the launch and its columns",
    (
        Column("trace", "integer", "", "number of the table, by generator and name", KEY),
        Column("table_name", "text", "", "trace_GENERATOR_NAME"),
        Column("generator", "text", "", "name of the trace generator"),
        Column("name", "text", "", "name that the generator gave the table"),
        Column("text", "text", "", "content of the table"),
    ),
    grain="trace",
    since=4,
)
TRACE_COLUMNS = Table(
    "trace_columns",
    "columns of the tables in trace_tables",
    (
        Column("trace", "integer", "", "the table", KEY, parent="trace_tables"),
        Column("place", "integer", "", "0, 1, ... after launch", KEY, low=0, high=MOST_COLUMNS),
        Column("name", "text", "", "name of the column; pc, and names that end in _pc, have code addresses"),
        Column("type", "text", "", "integer, real or text"),
        Column("unit", "text", "", "'': none"),
        Column("text", "text", "", "meaning of the column"),
    ),
    grain="trace place",
    since=4,
)
FINDINGS = Table(
    "findings",
    "findings of checkers and trace generators, and advice",
    (
        Column("finding", "integer", "", "number of the finding, in the order found", KEY),
        Column("launch", "integer", "", "launch of the finding; of advice the longest one of the kernel", LAUNCH,
               parent="launches"),
        Column("generator", "text", "", "name of the trace generator; '': made of counters and ledger, over all "
               "launches of the kernel"),
        Column("kind", "text", "", "name of all findings of its sort"),
        Column("severity", "text", "", "error, warning, note or advice"),
        Column("text", "text", "", "the finding"),
        Column("pc", "integer", "", "code address", PC, null=True),
        Column("other_pc", "integer", "", "a second code address", PC, null=True),
        Column("block", "integer", "", "linear index of the block in the grid", null=True),
        Column("warp", "integer", "", "number of the warp in the block", null=True),
        Column("thread", "integer", "", "linear index of the thread in the block", null=True),
        Column("address", "integer", "", "address in memory", null=True),
        Column("allocation", "text", "", "name of the allocation that has the address, '': none"),
        Column("count", "integer", "", "number of times that it happened"),
        Column("cost_cycles", "integer", "warp-cycles", "cost of advice, from ledger and causes; NULL: not known",
               null=True),
    ),
    grain="finding",
    since=4,
)  # fmt: skip
STALL_REASONS = Table(
    "stall_reasons",
    "names of stall reasons",
    (
        Column("reason", "integer", "", "number of the stall reason: its bit in a record's stall word", KEY),
        Column("name", "text", "", "name in Nsight Compute"),
        Column("text", "text", "", "meaning of the reason"),
    ),
    grain="reason",
)
CAUSE_KINDS = Table(
    "cause_kinds",
    "names of the kinds of causes",
    (
        Column("kind", "integer", "", "number of the kind in recordings", KEY),
        Column("name", "text", "", "a name of our own"),
        Column("label", "text", "", "text after the cause's line"),
        Column("text", "text", "", "meaning of the kind"),
    ),
    grain="kind",
    since=2,
)
