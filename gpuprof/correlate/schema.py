"""The database, NAME.gpudb: SQLite, made for people's own queries. The comments stay in the schema SQLite stores.

Version history (PRAGMA user_version): 1 the first.
"""

VERSION = 1
APPLICATION_ID = 0x67707264  # "gprd"; shown by `file`

DDL = """
CREATE TABLE meta (            -- what made this file
    key TEXT PRIMARY KEY,      -- tool_version, model_version, chip, period_cycles (0 = no sampling), mode, seed, command, complete ("1"/"0"), ...
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE modules (
    module INTEGER PRIMARY KEY,
    name TEXT NOT NULL,        -- file name the module came from
    load_base INTEGER NOT NULL,-- code address of its first instruction
    code_nbytes INTEGER NOT NULL,
    compiler TEXT NOT NULL,
    arch TEXT NOT NULL,
    ptx TEXT NOT NULL          -- the PTX it was assembled from
);
CREATE TABLE sources (         -- text of every source file, as it was when collecting
    source INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE, -- as the compiler named it
    text TEXT                  -- NULL when it was not to be had
);
CREATE TABLE functions (
    function INTEGER PRIMARY KEY,
    module INTEGER NOT NULL REFERENCES modules,
    name TEXT NOT NULL,        -- symbol
    display TEXT NOT NULL,     -- name as written in the source
    is_kernel INTEGER NOT NULL,
    first_pc INTEGER NOT NULL,
    n_instructions INTEGER NOT NULL,
    registers INTEGER NOT NULL,-- per thread
    shared_nbytes INTEGER NOT NULL,
    local_nbytes INTEGER NOT NULL,
    spill_nbytes INTEGER NOT NULL
);
CREATE TABLE instructions (
    pc INTEGER PRIMARY KEY,    -- load_base + 16 * index
    module INTEGER NOT NULL REFERENCES modules,
    function INTEGER NOT NULL REFERENCES functions,
    text TEXT NOT NULL,        -- disassembly
    opcode TEXT NOT NULL,
    source INTEGER REFERENCES sources, -- position of the innermost frame
    line INTEGER NOT NULL,     -- 0 = unknown
    column INTEGER NOT NULL,
    ptx_line INTEGER NOT NULL, -- 0 = unknown
    space TEXT NOT NULL,       -- memory instructions: global, shared, local, const, param, generic; else ''
    operation TEXT NOT NULL,   -- load, store, atomic, reduction, or ''
    access_nbytes INTEGER NOT NULL -- per lane
);
CREATE TABLE inline_frames (   -- call sites of inlined code, depth 1 = direct caller
    pc INTEGER NOT NULL REFERENCES instructions,
    depth INTEGER NOT NULL,
    function TEXT NOT NULL,    -- the inlined function's name at depth - 1
    source INTEGER NOT NULL REFERENCES sources,
    line INTEGER NOT NULL,
    PRIMARY KEY (pc, depth)
) WITHOUT ROWID;
CREATE TABLE launches (
    launch INTEGER PRIMARY KEY,
    function INTEGER NOT NULL REFERENCES functions,
    kernel TEXT NOT NULL,      -- display name
    grid TEXT NOT NULL,        -- "x,y,z"
    block TEXT NOT NULL,
    dynamic_shared_nbytes INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    start_cycle INTEGER NOT NULL,
    end_cycle INTEGER NOT NULL,
    cycles INTEGER NOT NULL,   -- duration
    samples_due INTEGER NOT NULL,     -- kept + dropped
    samples_kept INTEGER NOT NULL,
    samples_dropped INTEGER NOT NULL,
    buffer_full INTEGER NOT NULL,     -- 1 when records were dropped
    complete INTEGER NOT NULL  -- 0 when the stream ended inside the launch
);
CREATE TABLE launch_metrics (  -- everything else that is one exact number per launch; see metrics
    launch INTEGER NOT NULL REFERENCES launches,
    metric TEXT NOT NULL,
    value NUMERIC NOT NULL,
    PRIMARY KEY (launch, metric)
) WITHOUT ROWID;
CREATE TABLE stall_reasons (
    reason INTEGER PRIMARY KEY,-- bit number in a record's stall word
    name TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE TABLE samples (         -- counted by the first (highest-priority) reason of the stall word
    launch INTEGER NOT NULL REFERENCES launches,
    pc INTEGER NOT NULL,
    reason INTEGER NOT NULL REFERENCES stall_reasons,
    samples INTEGER NOT NULL,
    samples_not_issued INTEGER, -- of these, taken when the warp's scheduler issued nothing; NULL for compact records
    PRIMARY KEY (launch, pc, reason)
) WITHOUT ROWID;
CREATE TABLE ledger (          -- exact: every cycle of every resident warp
    launch INTEGER NOT NULL REFERENCES launches,
    pc INTEGER NOT NULL,
    reason INTEGER NOT NULL REFERENCES stall_reasons,
    cycles INTEGER NOT NULL,
    PRIMARY KEY (launch, pc, reason)
) WITHOUT ROWID;
CREATE TABLE counters (        -- exact, per launch and instruction
    launch INTEGER NOT NULL REFERENCES launches,
    pc INTEGER NOT NULL,
    inst_executed INTEGER NOT NULL,               -- by warps
    thread_inst_executed INTEGER NOT NULL,
    thread_inst_executed_pred_on INTEGER NOT NULL,
    divergent_branches INTEGER NOT NULL,
    l1_tag_requests_global INTEGER NOT NULL,      -- distinct 128-byte lines
    l2_sectors_global INTEGER NOT NULL,           -- distinct 32-byte sectors asked for
    l2_sectors_global_ideal INTEGER NOT NULL,     -- had the lanes' bytes been packed
    l2_sectors_local INTEGER NOT NULL,
    l1_wavefronts_shared INTEGER NOT NULL,
    l1_wavefronts_shared_ideal INTEGER NOT NULL,
    PRIMARY KEY (launch, pc)
) WITHOUT ROWID;
CREATE VIEW lines AS           -- the source page in one query: exact warp-cycles and samples per launch and line
    SELECT l.launch, i.source, i.line,
           SUM(l.cycles) AS warp_cycles,
           SUM(CASE WHEN l.reason = 0 THEN l.cycles ELSE 0 END) AS issued_cycles
    FROM ledger l JOIN instructions i USING (pc)
    GROUP BY l.launch, i.source, i.line;
"""
