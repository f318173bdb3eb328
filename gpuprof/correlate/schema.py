"""The database, NAME.gpudb: SQLite, made for people's own queries. The comments stay in the schema SQLite stores.

Version history (PRAGMA user_version): 1 the first; 2 samplers, sampled counters, stalls and their lengths, causes,
losses by SM, and what samples weigh; 3 results, operations by precision, and patterns of shared memory; 4 tables
and findings of trace generators; 5 findings about performance, and what findings cost; tasks, parameters and
relations; 6 counters of blocks, warps, accesses, units and reuse distances; activity over time; calls of programs;
live registers; 7 draws, their units, their shaders' waves, and the primitives of these; 8 what draws' units
read and write.
"""

VERSION = 8
APPLICATION_ID = 0x67707264  # "gprd"; shown by `file`

DDL = """
CREATE TABLE meta (            -- what made this file
    key TEXT PRIMARY KEY,      -- tool_version, model_version, fidelity, chip, period_cycles (0 = no sampling), mode, seed, command, complete ("1"/"0"), ...
    value TEXT NOT NULL        -- numbers in decimal
) WITHOUT ROWID;
CREATE TABLE modules (
    module INTEGER PRIMARY KEY,-- id in the recording
    name TEXT NOT NULL,        -- file name the module came from
    load_base INTEGER NOT NULL,-- code address of its first instruction
    code_nbytes INTEGER NOT NULL, -- 16 for each instruction
    compiler TEXT NOT NULL,    -- name and version
    arch TEXT NOT NULL,        -- compiled for, "sm_80"
    ptx TEXT NOT NULL          -- the PTX it was assembled from
);
CREATE TABLE sources (         -- text of every source file, as it was when collecting
    source INTEGER PRIMARY KEY,-- in the order of the paths
    path TEXT NOT NULL UNIQUE, -- as the compiler named it
    text TEXT                  -- NULL when it was not to be had
);
CREATE TABLE functions (
    function INTEGER PRIMARY KEY, -- modules and their functions in order
    module INTEGER NOT NULL REFERENCES modules, -- that holds it
    name TEXT NOT NULL,        -- symbol
    display TEXT NOT NULL,     -- name as written in the source
    is_kernel INTEGER NOT NULL,-- 0 for a device function
    first_pc INTEGER NOT NULL, -- pc of its first instruction
    n_instructions INTEGER NOT NULL, -- at first_pc, first_pc + 16, ...
    registers INTEGER NOT NULL,-- per thread
    shared_nbytes INTEGER NOT NULL, -- static, per block
    local_nbytes INTEGER NOT NULL, -- per thread, callees included
    spill_nbytes INTEGER NOT NULL -- per thread, of local_nbytes
);
CREATE TABLE instructions (
    pc INTEGER PRIMARY KEY,    -- load_base + 16 * index
    module INTEGER NOT NULL REFERENCES modules, -- that holds it
    function INTEGER NOT NULL REFERENCES functions, -- that it belongs to
    text TEXT NOT NULL,        -- disassembly
    opcode TEXT NOT NULL,      -- name of the instruction table's row
    source INTEGER REFERENCES sources, -- position of the innermost frame
    line INTEGER NOT NULL,     -- 0 = unknown
    column INTEGER NOT NULL,   -- 0 = unknown
    ptx_line INTEGER NOT NULL, -- 0 = unknown
    space TEXT NOT NULL,       -- memory instructions: global, shared, local, const, param, generic, texture, surface; else ''
    operation TEXT NOT NULL,   -- load, store, atomic, reduction, copy (asynchronous), prefetch, or ''
    access_nbytes INTEGER NOT NULL, -- per lane
    precision TEXT NOT NULL,   -- of its arithmetic: f64, f32, f16, bf16, tensor_f16 and so on, int, special (divisions, roots, transcendental functions); '' = none
    thread_operations INTEGER NOT NULL -- arithmetic operations that a thread does in it: a fused multiply-add does 2
);
CREATE TABLE live_registers (  -- of a thread, on the way of any launch; none for profiles of cards
    pc INTEGER PRIMARY KEY REFERENCES instructions, -- before it is executed
    registers INTEGER NOT NULL -- 32-bit registers that hold a value which may still be read
);
CREATE TABLE inline_frames (   -- call sites of inlined code, depth 1 = direct caller
    pc INTEGER NOT NULL REFERENCES instructions, -- of the inlined instruction
    depth INTEGER NOT NULL,    -- 1, 2, ... outwards
    function TEXT NOT NULL,    -- the inlined function's name at depth - 1
    source INTEGER NOT NULL REFERENCES sources, -- of the call
    line INTEGER NOT NULL,     -- of the call
    PRIMARY KEY (pc, depth)
) WITHOUT ROWID;
CREATE TABLE launches (
    launch INTEGER PRIMARY KEY,-- index, ascending in time
    function INTEGER NOT NULL REFERENCES functions, -- the kernel
    kernel TEXT NOT NULL,      -- display name
    grid TEXT NOT NULL,        -- "x,y,z"
    block TEXT NOT NULL,       -- "x,y,z"
    dynamic_shared_nbytes INTEGER NOT NULL, -- per block, asked for by the launch
    stream INTEGER NOT NULL,   -- 0 = the default stream
    task TEXT NOT NULL,        -- names of the tasks it belongs to, outermost first, joined by /; '' outside any
    start_cycle INTEGER NOT NULL, -- GPU cycles from power-on
    end_cycle INTEGER NOT NULL,-- GPU cycles from power-on
    cycles INTEGER NOT NULL,   -- duration
    samples_due INTEGER NOT NULL,     -- kept + dropped
    samples_kept INTEGER NOT NULL, -- rows of the recording, counted
    samples_dropped INTEGER NOT NULL, -- lost to a full FIFO or event buffer
    buffer_full INTEGER NOT NULL,     -- 1 when samples were dropped, wherever
    complete INTEGER NOT NULL  -- 0 when the stream ended inside the launch
);
CREATE TABLE launch_metrics (  -- everything else that is one exact number per launch; see metrics
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    metric TEXT NOT NULL,      -- its name in the recording
    value NUMERIC NOT NULL,    -- a number; a text for what is a name (occupancy_limiter)
    PRIMARY KEY (launch, metric)
) WITHOUT ROWID;
CREATE TABLE results (         -- arrays that were compared with what they should be
    result INTEGER PRIMARY KEY,-- in the order of the comparisons
    launch INTEGER NOT NULL REFERENCES launches, -- after which the array was read
    name TEXT NOT NULL,        -- the array, as the user named it
    expected TEXT NOT NULL,    -- what it was compared with: a file without its folders, a number, or a word
    elements INTEGER NOT NULL, -- compared
    differ INTEGER NOT NULL,   -- of these, elements that differ by more than the tolerances; not 0: the kernel is wrong
    rtol TEXT NOT NULL,        -- relative tolerance
    atol TEXT NOT NULL,        -- absolute tolerance
    first TEXT NOT NULL,       -- index of the first element that differs, '' where none does
    got TEXT NOT NULL,         -- its value
    wanted TEXT NOT NULL,      -- the value it should have
    absolute_error TEXT NOT NULL, -- the largest of the elements that differ
    relative_error TEXT NOT NULL  -- the largest of the elements that differ
);
CREATE TABLE trace_launches (  -- who watched which launch
    launch INTEGER NOT NULL REFERENCES launches, -- that was watched
    generator TEXT NOT NULL,   -- name of the trace generator
    PRIMARY KEY (launch, generator)
) WITHOUT ROWID;
CREATE TABLE trace_tables (    -- of trace generators: for each there is a table of its own, of launch and its columns
    trace INTEGER PRIMARY KEY, -- by generator and name
    table_name TEXT NOT NULL,  -- trace_GENERATOR_NAME
    generator TEXT NOT NULL,   -- its name
    name TEXT NOT NULL,        -- of the table, as the generator calls it
    text TEXT NOT NULL         -- what it holds
);
CREATE TABLE trace_columns (   -- of the tables in trace_tables
    trace INTEGER NOT NULL REFERENCES trace_tables, -- the table
    place INTEGER NOT NULL,    -- 0, 1, ... after launch
    name TEXT NOT NULL,        -- of the column; pc and what ends in _pc are code addresses
    type TEXT NOT NULL,        -- integer, real or text
    unit TEXT NOT NULL,        -- '' = none
    text TEXT NOT NULL,        -- what it means
    PRIMARY KEY (trace, place)
) WITHOUT ROWID;
CREATE TABLE findings (        -- what a person should look at
    finding INTEGER PRIMARY KEY, -- in the order found
    launch INTEGER NOT NULL REFERENCES launches, -- found in; the longest one of the kernel where no generator found it
    generator TEXT NOT NULL,   -- name of the trace generator; '' = made of counters and ledger, over all launches of the kernel
    kind TEXT NOT NULL,        -- name of all findings of its sort
    severity TEXT NOT NULL,    -- error, warning, note or advice
    text TEXT NOT NULL,        -- what was found
    pc INTEGER,                -- of the instruction
    other_pc INTEGER,          -- of a second instruction
    block INTEGER,             -- linear index in the grid
    warp INTEGER,              -- number in the block
    thread INTEGER,            -- linear index in the block
    address INTEGER,           -- of memory
    allocation TEXT NOT NULL,  -- name of what holds the address, '' = none
    count INTEGER NOT NULL,    -- how often it happened
    cost_cycles INTEGER        -- of advice: warp-cycles of what it is about, from ledger and causes; NULL = not known
);
CREATE TABLE stall_reasons (
    reason INTEGER PRIMARY KEY,-- bit number in a record's stall word
    name TEXT NOT NULL,        -- Nsight Compute's
    text TEXT NOT NULL         -- what it means
);
CREATE TABLE samples (         -- counted by the first (highest-priority) reason of the stall word
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    pc INTEGER NOT NULL,       -- may lie in no module: see samples_outside, ledger_cycles_outside in meta
    reason INTEGER NOT NULL REFERENCES stall_reasons, -- charged to
    samples INTEGER NOT NULL,  -- never 0
    samples_not_issued INTEGER, -- of these, taken when the warp's scheduler issued nothing; NULL for compact records
    weight INTEGER,            -- warps they stand for: in the mean in proportion to ledger.cycles; NULL where the records do not tell
    PRIMARY KEY (launch, pc, reason)
) WITHOUT ROWID;
CREATE TABLE sample_sizes (    -- of launches whose samples have a weight
    launch INTEGER PRIMARY KEY,-- measured in
    effective REAL NOT NULL    -- so many independent samples would be as sure as these
);
CREATE TABLE samplers (        -- the sampler's registers in force for a launch, where they are not those in meta
    launch INTEGER NOT NULL REFERENCES launches, -- sampled so
    register TEXT NOT NULL,    -- name of the register
    value NUMERIC NOT NULL,    -- a number, or a text for what is a name
    PRIMARY KEY (launch, register)
) WITHOUT ROWID;
CREATE TABLE sample_losses (   -- by SM
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    sm INTEGER NOT NULL,       -- number of the SM
    due INTEGER NOT NULL,      -- kept + dropped: samples that passed the filter
    dropped_fifo INTEGER NOT NULL, -- lost to its full FIFO
    dropped_buffer INTEGER NOT NULL, -- lost to the full event buffer
    PRIMARY KEY (launch, sm)
) WITHOUT ROWID;
CREATE TABLE sampled_counters (-- what an SM's counters say in the cycle of a sample; the last five count from the launch's start: L1 of the SM, the rest of the GPU
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    cycle INTEGER NOT NULL,    -- GPU cycles from power-on
    sm INTEGER NOT NULL,       -- number of the SM
    issued INTEGER NOT NULL,   -- schedulers that issued
    eligible INTEGER NOT NULL, -- warps that could have issued
    active INTEGER NOT NULL,   -- resident warps
    pipes_busy INTEGER NOT NULL, -- a bit for each pipe that is busy in some partition
    l1_sectors INTEGER NOT NULL, -- that loads asked of the L1s
    l1_hits INTEGER NOT NULL,  -- of these, found
    l2_sectors INTEGER NOT NULL, -- asked of the L2
    l2_hits INTEGER NOT NULL,  -- of these, found
    dram_nbytes INTEGER NOT NULL -- read and written
);
CREATE TABLE access_counters ( -- exact, of launches collected with --counters blocks or waves: what accesses are for any chip, summed over executions by warps; of the blocks that were timed
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    pc INTEGER NOT NULL,       -- of the access; may lie in no module
    accesses INTEGER NOT NULL, -- executions of which a lane takes part
    lanes INTEGER NOT NULL,    -- that take part
    sectors INTEGER NOT NULL,  -- distinct 32-byte sectors of each; of a constant its words
    lines INTEGER NOT NULL,    -- distinct 128-byte lines of each, of global and local memory
    wavefronts INTEGER NOT NULL, -- passes through 32 banks of 4 bytes
    tag_passes INTEGER NOT NULL, -- passes through the L1's four tag banks
    tag_lookups INTEGER NOT NULL, -- distinct lines of each eight lanes; in shared memory lanes that reach another block's
    conflicts INTEGER NOT NULL,-- of atomics the most lanes on one address; of copies to shared memory passes through its banks
    partial_sectors INTEGER NOT NULL, -- that a store writes in part
    partial_requests INTEGER NOT NULL, -- lines in which it does
    PRIMARY KEY (launch, pc)
) WITHOUT ROWID;
CREATE TABLE reuse_distances ( -- of launches collected with --counters blocks or waves: lines of global and local memory by how many others were accessed since; estimated where not all are looked at
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    scope TEXT NOT NULL,       -- device: loads and stores of all launches so far; block: loads of each block by itself; launch: the only row has the launch's distinct lines
    least_lines INTEGER NOT NULL, -- least distance of the bin: 0 to 7, 8, 10, 12, 14, 16, 20 and so on; -1 = first access
    lines INTEGER NOT NULL,    -- accesses to lines
    sectors INTEGER NOT NULL,  -- of these lines that were accessed
    store_sectors INTEGER NOT NULL, -- of these, written
    PRIMARY KEY (launch, scope, least_lines)
) WITHOUT ROWID;
CREATE TABLE block_counters (  -- exact, of launches collected with --counters blocks or waves: a row for each block that was timed; sums of the last ones are the launch's
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    block INTEGER NOT NULL,    -- linear index in the grid
    sm INTEGER NOT NULL,       -- number of the SM
    warps INTEGER NOT NULL,    -- of the block
    start_cycle INTEGER NOT NULL, -- of its first warp's start; GPU cycles from power-on
    end_cycle INTEGER NOT NULL,-- from which its last warp is gone
    issue_slots INTEGER NOT NULL, -- that its warps used
    issue_cycles INTEGER NOT NULL, -- warp-cycles in which a warp issued: busy
    resident_cycles INTEGER NOT NULL, -- warp-cycles of its warps; less issue_cycles: stalled
    l1_sectors INTEGER NOT NULL, -- that its loads asked of the L1
    l1_hits INTEGER NOT NULL,  -- of these, found
    l2_requests INTEGER NOT NULL, -- to the L2, of a line each
    l2_request_cycles INTEGER NOT NULL, -- sum of their times; over end_cycle - start_cycle: requests in flight
    l2_sectors INTEGER NOT NULL, -- asked of the L2
    l2_hits INTEGER NOT NULL,  -- of these, found
    dram_read_sectors INTEGER NOT NULL, -- that the DRAM read for it
    dram_write_sectors INTEGER NOT NULL, -- written to the DRAM to make room for its own
    PRIMARY KEY (launch, block)
) WITHOUT ROWID;
CREATE TABLE warp_counters (   -- exact, of launches collected with --counters waves: a row for each warp that was timed; issue_cycles and the kinds of stalls sum to its time
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    block INTEGER NOT NULL,    -- linear index in the grid
    warp INTEGER NOT NULL,     -- number in the block
    sm INTEGER NOT NULL,       -- number of the SM
    start_cycle INTEGER NOT NULL, -- GPU cycles from power-on
    end_cycle INTEGER NOT NULL,-- from which it is gone
    issue_slots INTEGER NOT NULL, -- that it used
    issue_cycles INTEGER NOT NULL, -- in which it issued
    fixed_cycles INTEGER NOT NULL, -- stalled: wait, branch_resolving, dispatch_stall
    memory_cycles INTEGER NOT NULL, -- long_scoreboard, membar, drain
    short_cycles INTEGER NOT NULL, -- short_scoreboard
    barrier_cycles INTEGER NOT NULL, -- barrier, warpgroup_arrive
    throttle_cycles INTEGER NOT NULL, -- mio_throttle, lg_throttle, tex_throttle, math_pipe_throttle
    fetch_cycles INTEGER NOT NULL, -- no_instructions, imc_miss
    turn_cycles INTEGER NOT NULL, -- not_selected
    other_cycles INTEGER NOT NULL, -- sleeping, misc
    PRIMARY KEY (launch, block, warp)
) WITHOUT ROWID;
CREATE TABLE ledger (          -- exact: every cycle of every resident warp
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    pc INTEGER NOT NULL,       -- may lie in no module: see samples_outside, ledger_cycles_outside in meta
    reason INTEGER NOT NULL REFERENCES stall_reasons, -- charged to
    cycles INTEGER NOT NULL,   -- warp-cycles, never 0
    PRIMARY KEY (launch, pc, reason)
) WITHOUT ROWID;
CREATE TABLE activity (        -- exact: a launch's time in bins, each as long as the others of its launch
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    bin INTEGER NOT NULL,      -- 0, 1, ... from the launch's start on
    begin_cycle INTEGER NOT NULL, -- GPU cycles from power-on
    end_cycle INTEGER NOT NULL,-- the next one's begin; of the last bin the launch's end
    sm_active_cycles INTEGER NOT NULL, -- sum over SMs of the cycles in which a warp of the launch was there
    PRIMARY KEY (launch, bin)
) WITHOUT ROWID;
CREATE TABLE activity_stalls ( -- exact: what a launch's warps did in each bin; over the bins the ledger's sums
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    bin INTEGER NOT NULL,      -- of activity
    reason INTEGER NOT NULL REFERENCES stall_reasons, -- charged to
    cycles INTEGER NOT NULL,   -- warp-cycles, never 0
    PRIMARY KEY (launch, bin, reason)
) WITHOUT ROWID;
CREATE TABLE activity_of_sms ( -- exact: sums over SMs are sm_active_cycles
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    sm INTEGER NOT NULL,       -- number of the SM
    active_cycles INTEGER NOT NULL, -- in which a warp of the launch was there, never 0
    PRIMARY KEY (launch, sm)
) WITHOUT ROWID;
CREATE TABLE stalls (          -- exact: a stall is all that a warp waits for one reason before one issue of an instruction, or after its last one
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    pc INTEGER NOT NULL,       -- of the instruction that waits
    reason INTEGER NOT NULL REFERENCES stall_reasons, -- charged to
    stalls INTEGER NOT NULL,   -- how many, never 0; their mean is the ledger's cycles over this
    longest_cycles INTEGER NOT NULL, -- the longest one
    PRIMARY KEY (launch, pc, reason)
) WITHOUT ROWID;
CREATE TABLE stall_lengths (   -- exact: histogram of the same stalls
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    pc INTEGER NOT NULL,       -- of the instruction that waits
    reason INTEGER NOT NULL REFERENCES stall_reasons, -- charged to
    least_cycles INTEGER NOT NULL, -- stalls of so many cycles to twice that less one: 1, 2, 4, ...
    stalls INTEGER NOT NULL,   -- how many, never 0
    PRIMARY KEY (launch, pc, reason, least_cycles)
) WITHOUT ROWID;
CREATE TABLE cause_kinds (
    kind INTEGER PRIMARY KEY,  -- number in recordings
    name TEXT NOT NULL,        -- of our own
    label TEXT NOT NULL,       -- beside the cause's line
    text TEXT NOT NULL         -- what it means
);
CREATE TABLE causes (          -- exact: what ended the stalls; cycles of one (pc, reason) sum to the ledger's
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    pc INTEGER NOT NULL,       -- of the instruction that waits
    reason INTEGER NOT NULL REFERENCES stall_reasons, -- charged to
    cause_pc INTEGER NOT NULL, -- of the instruction that ended the stall; pc itself where it is no other's doing
    kind INTEGER NOT NULL REFERENCES cause_kinds, -- of cause
    other_warp INTEGER NOT NULL, -- 1 when the cause is in another warp
    other_launch INTEGER NOT NULL, -- 1 when it is of another launch
    conflict INTEGER NOT NULL, -- 1 when it is an access that takes more passes or sectors than it need
    cycles INTEGER NOT NULL,   -- warp-cycles
    stalls INTEGER NOT NULL,   -- how many
    PRIMARY KEY (launch, pc, reason, cause_pc, kind, other_warp, other_launch, conflict)
) WITHOUT ROWID;
CREATE TABLE bank_patterns (   -- exact: where the lanes of a warp are to each other in shared memory
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    pc INTEGER NOT NULL,       -- of the access; may lie in no module
    pattern INTEGER NOT NULL,  -- 0, 1, ... of the instruction, as they were first seen
    warps INTEGER NOT NULL,    -- executions by a warp, never 0
    mask INTEGER NOT NULL,     -- lanes that take part; 0: executions whose lanes are in no such order, or in a ninth one
    stride_0 INTEGER NOT NULL, -- bytes from a lane that takes part to the next
    lanes_0 INTEGER NOT NULL,  -- lanes that it holds for
    stride_1 INTEGER NOT NULL, -- bytes from such a run of lanes to the next
    lanes_1 INTEGER NOT NULL,  -- runs that it holds for
    stride_2 INTEGER NOT NULL, -- bytes from lanes_1 such runs to the next
    lanes_2 INTEGER NOT NULL,  -- of these
    first INTEGER NOT NULL,    -- lowest byte in the block's shared memory
    end INTEGER NOT NULL,      -- highest byte plus one
    PRIMARY KEY (launch, pc, pattern)
) WITHOUT ROWID;
CREATE TABLE counters (        -- exact, per launch and instruction
    launch INTEGER NOT NULL REFERENCES launches, -- measured in
    pc INTEGER NOT NULL,       -- may lie in no module: see samples_outside, ledger_cycles_outside in meta
    inst_executed INTEGER NOT NULL,               -- by warps
    thread_inst_executed INTEGER NOT NULL,        -- by threads
    thread_inst_executed_pred_on INTEGER NOT NULL,-- by threads whose predicate was true
    divergent_branches INTEGER NOT NULL,          -- executions that split a warp
    l1_tag_requests_global INTEGER NOT NULL,      -- distinct 128-byte lines
    l2_sectors_global INTEGER NOT NULL,           -- distinct 32-byte sectors asked for
    l2_sectors_global_ideal INTEGER NOT NULL,     -- had the lanes' bytes been packed
    l2_sectors_local INTEGER NOT NULL,            -- distinct 32-byte sectors of local memory
    l1_wavefronts_shared INTEGER NOT NULL,        -- passes through the banks of shared memory
    l1_wavefronts_shared_ideal INTEGER NOT NULL,  -- had there been no bank conflict
    PRIMARY KEY (launch, pc)
) WITHOUT ROWID;
CREATE TABLE task_rows (       -- what tasks follow each other in
    row INTEGER PRIMARY KEY,   -- as they were first used
    name TEXT NOT NULL         -- a stream, host, or a row that a script has opened
);
CREATE TABLE tasks (           -- anything with a beginning and an end
    task INTEGER PRIMARY KEY,  -- in the order of their beginnings
    parent INTEGER REFERENCES tasks, -- that it is a part of by its place; see relations for others
    kind TEXT NOT NULL,        -- task (of a script), launch, copy to device, copy to host, copy within device, fill, wait, free, call (of a program's host), command buffer
    is_virtual INTEGER NOT NULL, -- 1: it has parts alone, which others became
    name TEXT NOT NULL,        -- a script's, the kernel's, or what was copied
    row INTEGER NOT NULL REFERENCES task_rows, -- where it ran
    launch INTEGER REFERENCES launches, -- of a launch
    begin_order INTEGER NOT NULL, -- place of its begin in the order of all that was asked
    end_order INTEGER NOT NULL,-- place of its end
    begin_cycle INTEGER,       -- GPU cycles from power-on, of parts the first; NULL where it has neither cycles nor parts
    end_cycle INTEGER,         -- of parts the last
    own_cycles INTEGER NOT NULL, -- of a launch, its duration; 0 of all others
    parts_cycles INTEGER NOT NULL -- sum of the own cycles of all parts, and of theirs
);
CREATE INDEX tasks_parent ON tasks (parent);
CREATE TABLE parameters (      -- what tasks share or are told
    parameter INTEGER PRIMARY KEY, -- in the order they came to be
    name TEXT NOT NULL,        -- of an array, a variable's module, or a script's
    kind TEXT NOT NULL,        -- buffer, number, text or structure
    value TEXT NOT NULL,       -- of what is no buffer; a structure is JSON
    task INTEGER REFERENCES tasks, -- that it belongs to
    address INTEGER,           -- of a buffer
    nbytes INTEGER,            -- of a buffer
    begin_order INTEGER NOT NULL -- from when on it is there
);
CREATE TABLE relation_kinds (
    kind TEXT PRIMARY KEY,     -- name
    inverse TEXT NOT NULL,     -- its name the other way round
    follows TEXT NOT NULL,     -- kind that holds between the first and the last of two such relations in a row, '' = none
    text TEXT NOT NULL         -- what it means
) WITHOUT ROWID;
CREATE TABLE stored_relations (-- those that were stated or observed; relations has what follows, too
    kind TEXT NOT NULL REFERENCES relation_kinds, -- name
    source INTEGER NOT NULL REFERENCES tasks, -- the first task
    target INTEGER REFERENCES tasks, -- the second; NULL where a task is related to a buffer
    via INTEGER REFERENCES parameters, -- the buffer that ties them
    nbytes INTEGER NOT NULL,   -- bytes of it; 0 where it was stated
    origin TEXT NOT NULL       -- stated or observed
);
CREATE INDEX relations_source ON stored_relations (source);
CREATE INDEX relations_target ON stored_relations (target);
CREATE INDEX relations_via ON stored_relations (via);
CREATE TABLE task_constraints (-- orders that the program asked for
    source INTEGER NOT NULL REFERENCES tasks, -- is waited for
    target INTEGER NOT NULL REFERENCES tasks, -- waits
    kind TEXT NOT NULL,        -- stream, event, default stream, host wait, device launch, programmatic launch
    PRIMARY KEY (target, source, kind)
) WITHOUT ROWID;
CREATE TABLE accesses_by_task (-- bytes of buffers that launches and copies read before they wrote them, and wrote
    task INTEGER NOT NULL REFERENCES tasks, -- that accesses
    parameter INTEGER NOT NULL REFERENCES parameters, -- the buffer
    is_write INTEGER NOT NULL, -- 1: written
    first INTEGER NOT NULL,    -- first byte in the buffer
    end INTEGER NOT NULL,      -- last byte plus one
    is_exact INTEGER NOT NULL, -- 0: bytes between those accessed are among these
    PRIMARY KEY (task, parameter, is_write, first)
) WITHOUT ROWID;
CREATE TABLE task_findings (   -- work that nobody needed
    finding INTEGER PRIMARY KEY, -- by task
    kind TEXT NOT NULL,        -- copied in and never read, written and never read, copied back and forth, copied again, computed twice
    task INTEGER NOT NULL REFERENCES tasks, -- that did it
    other INTEGER REFERENCES tasks, -- that it has to do with: wrote over it, had it before, did the same
    parameter INTEGER REFERENCES parameters, -- the buffer; NULL where it is of several
    nbytes INTEGER NOT NULL    -- bytes
);
CREATE TABLE api_calls (       -- calls of a program's host: its tasks hold what the calls have asked for
    task INTEGER PRIMARY KEY REFERENCES tasks, -- whose name is that of the function
    file TEXT,                 -- that it stands in; NULL unknown
    line INTEGER NOT NULL,     -- in the file, 0 = unknown
    thread INTEGER NOT NULL,   -- of the host, from 0
    status INTEGER NOT NULL,   -- the cudaError that it gave, 0 = none
    begin_ns INTEGER NOT NULL, -- of the host's time
    end_ns INTEGER NOT NULL,   -- of the host's time
    waited_ns INTEGER NOT NULL,-- of the time between, what it waited for the GPU
    nbytes INTEGER NOT NULL    -- that it was asked to copy or fill
);
CREATE TABLE draws (           -- that have drawn all; those that something ended have launches alone
    draw INTEGER PRIMARY KEY,  -- in the order asked
    task INTEGER REFERENCES tasks, -- whose parts are its launches; NULL where it did not end
    pass INTEGER NOT NULL,     -- 0, 1, ...: draws that follow each other into the same targets
    command_buffer INTEGER REFERENCES tasks, -- the task of the one that it is in; NULL none
    name TEXT NOT NULL,        -- a script's, or those of its shaders
    width INTEGER NOT NULL,    -- pixels of its targets in a row
    height INTEGER NOT NULL,   -- rows of pixels
    samples INTEGER NOT NULL,  -- of a pixel
    state_changes INTEGER NOT NULL, -- since the draw before: shaders, their parameters, buffers, targets, fixed-function state
    drains INTEGER NOT NULL,   -- 1: it begins only when all draws before it are done
    start_cycle INTEGER,       -- GPU cycles from power-on, of its command; NULL where its shaders were timed apart, or nobody timed them
    end_cycle INTEGER,         -- when all of it has left all units
    indices INTEGER NOT NULL,  -- fetched
    vertex_waves INTEGER NOT NULL, -- warps of the vertex shader
    vertices INTEGER NOT NULL, -- shaded
    primitives INTEGER NOT NULL, -- points, lines, triangles or patches, assembled
    hull_waves INTEGER NOT NULL, -- warps of the hull shader
    culled_patches INTEGER NOT NULL, -- that an edge has no level above 0 for
    domain_vertices INTEGER NOT NULL, -- that the tessellator made of the others
    domain_waves INTEGER NOT NULL, -- warps of the domain shader
    tessellated INTEGER NOT NULL, -- primitives that the tessellator made
    geometry_waves INTEGER NOT NULL, -- warps of the geometry shader
    emitted INTEGER NOT NULL,  -- primitives that it made
    rejected INTEGER NOT NULL, -- outside of the view, or with a position that is not finite
    clipped INTEGER NOT NULL,  -- cut by near or far plane, or by the guard band
    culled INTEGER NOT NULL,   -- by side; pieces of clipped ones count for themselves, here and below
    without_area INTEGER NOT NULL, -- left out
    scanned INTEGER NOT NULL,  -- that reach the rasteriser
    tiles INTEGER NOT NULL,    -- 8 x 8 pixels and a primitive, looked at
    hidden_tiles INTEGER NOT NULL, -- of these, those that hierarchical depth left out
    covered INTEGER NOT NULL,  -- samples inside of primitives
    tested INTEGER NOT NULL,   -- depth or stencil tests
    passed INTEGER NOT NULL,   -- samples that passed all
    hidden_quads INTEGER NOT NULL, -- emptied by the tests before the shader
    quads INTEGER NOT NULL,    -- 2 x 2 pixels, shaded
    helpers INTEGER NOT NULL,  -- lanes of these that no sample is covered for
    discarded INTEGER NOT NULL, -- pixels, by the shader
    pixel_waves INTEGER NOT NULL, -- warps of the pixel shader
    written INTEGER NOT NULL   -- samples of color targets
);
CREATE TABLE draw_launches (   -- launches of draws' shaders
    launch INTEGER PRIMARY KEY REFERENCES launches, -- of the shader
    draw INTEGER NOT NULL,     -- that it is of; one that something ended is not in draws
    stage TEXT NOT NULL        -- vertex, hull, domain, geometry or pixel
);
CREATE TABLE draw_units (      -- exact: fixed-function units, while a draw was in them
    draw INTEGER NOT NULL REFERENCES draws, -- that was in it
    unit TEXT NOT NULL,        -- front end: command, fetch, tessellate, assembly; back end: setup, scan, depth, write
    busy_cycles REAL NOT NULL, -- at work
    blocked_cycles REAL NOT NULL, -- with something that the buffer behind it has no room for
    first_cycle INTEGER NOT NULL, -- GPU cycles from power-on, in which it began
    last_cycle INTEGER NOT NULL, -- by which all has left it
    PRIMARY KEY (draw, unit)
) WITHOUT ROWID;
CREATE TABLE draw_work (       -- what a draw asked of the units
    draw INTEGER NOT NULL REFERENCES draws, -- that asked
    amount TEXT NOT NULL,      -- its name: n_indices, n_primitives, n_accepted, n_tiles and so on
    value INTEGER NOT NULL,    -- so many
    PRIMARY KEY (draw, amount)
) WITHOUT ROWID;
CREATE TABLE draw_traffic (    -- exact: what fixed-function units read and wrote for a draw; its shaders' bytes are their launches'
    draw INTEGER NOT NULL REFERENCES draws, -- that it was for
    unit TEXT NOT NULL,        -- fetch (indices), depth (depths and stencils), write (colors; tests behind the shader)
    l2_read_nbytes INTEGER NOT NULL, -- in whole sectors of 32 bytes
    l2_write_nbytes INTEGER NOT NULL, -- in sectors, of which some are written in part
    dram_read_nbytes INTEGER NOT NULL, -- that the L2 had not
    dram_write_nbytes INTEGER NOT NULL, -- that had to leave the L2 for it
    PRIMARY KEY (draw, unit)
) WITHOUT ROWID;
CREATE TABLE draw_waves (      -- exact: every warp of a draw's shaders
    draw INTEGER NOT NULL REFERENCES draws, -- that it is of
    stage TEXT NOT NULL,       -- vertex, hull, domain, geometry or pixel
    wave INTEGER NOT NULL,     -- 0, 1, ... of the stage, in the order of dispatch
    start_cycle INTEGER NOT NULL, -- GPU cycles from power-on
    end_cycle INTEGER NOT NULL,-- from which it is gone
    PRIMARY KEY (draw, stage, wave)
) WITHOUT ROWID;
CREATE TABLE block_primitives (-- which primitives of its draw the samples of a shader's block are of
    launch INTEGER NOT NULL REFERENCES launches, -- of the shader
    block INTEGER NOT NULL,    -- linear index in the grid: a block is a wave
    first_primitive INTEGER NOT NULL, -- number in the draw
    last_primitive INTEGER NOT NULL, -- the lanes have no others but these and those between
    PRIMARY KEY (launch, block)
) WITHOUT ROWID;
CREATE VIEW relations AS       -- of a task: WHERE from_task = N; docs/relations.md has a query for what follows over several
    SELECT kind, source AS from_task, target AS to_task, via, nbytes, origin FROM stored_relations
    UNION ALL
    SELECT k.inverse, r.target, r.source, r.via, r.nbytes, 'implied'
    FROM stored_relations r JOIN relation_kinds k USING (kind) WHERE r.target IS NOT NULL
    UNION ALL
    SELECT 'contains', parent, task, NULL, 0, 'stated' FROM tasks WHERE parent IS NOT NULL
    UNION ALL
    SELECT 'is part of', task, parent, NULL, 0, 'implied' FROM tasks WHERE parent IS NOT NULL
    UNION ALL
    SELECT 'is sibling of', a.task, b.task, NULL, 0, 'implied'
    FROM tasks a JOIN tasks b ON a.parent = b.parent WHERE a.task <> b.task
    UNION ALL
    SELECT 'is sibling of', a.target, b.target, NULL, 0, 'implied'
    FROM stored_relations a JOIN stored_relations b ON a.source = b.source
    WHERE a.kind = 'contains' AND b.kind = 'contains' AND a.target <> b.target
    UNION ALL
    SELECT 'produces for', p.source, c.source, p.via, 0, 'implied'
    FROM stored_relations p JOIN stored_relations c ON p.via = c.via
    WHERE p.kind = 'produces' AND c.kind = 'consumes' AND p.source < c.source
        AND NOT EXISTS (SELECT 1 FROM stored_relations q
            WHERE q.kind = 'produces' AND q.via = p.via AND q.source > p.source AND q.source < c.source)
    UNION ALL
    SELECT 'consumes from', c.source, p.source, p.via, 0, 'implied'
    FROM stored_relations p JOIN stored_relations c ON p.via = c.via
    WHERE p.kind = 'produces' AND c.kind = 'consumes' AND p.source < c.source
        AND NOT EXISTS (SELECT 1 FROM stored_relations q
            WHERE q.kind = 'produces' AND q.via = p.via AND q.source > p.source AND q.source < c.source);
CREATE VIEW operations AS      -- exact: arithmetic operations per launch, instruction and precision, of threads whose predicate was true
    SELECT c.launch, c.pc, i.precision,
           c.thread_inst_executed_pred_on * i.thread_operations AS operations  -- of a fused multiply-add 2
    FROM counters c JOIN instructions i USING (pc)
    WHERE i.thread_operations > 0;
CREATE VIEW lines AS           -- the source page in one query: exact warp-cycles per launch and line
    SELECT l.launch, i.source, i.line,  -- of the innermost frame
           SUM(l.cycles) AS warp_cycles,  -- of all reasons
           SUM(CASE WHEN l.reason = 0 THEN l.cycles ELSE 0 END) AS issued_cycles  -- of reason selected
    FROM ledger l JOIN instructions i USING (pc)
    GROUP BY l.launch, i.source, i.line;
"""  # noqa: E501
