"""The database, NAME.gpudb: SQLite, made for people's own queries. The comments stay in the schema SQLite stores.

Version history (PRAGMA user_version): 1 the first; 2 samplers, sampled counters, stalls and their lengths, causes,
losses by SM, and what samples weigh; 3 results, operations by precision, and patterns of shared memory; 4 tables
and findings of trace generators; 5 findings about performance, and what findings cost; tasks, parameters and
relations; 6 counters of blocks, warps, accesses, units and reuse distances; activity over time; calls of programs;
live registers; 7 draws, their units, their shaders' waves, and the primitives of these; 8 what draws' units
read and write; 9 comments say the same as docs/gprec.md; 10 what caches held when a launch was measured, its
repetitions, and the time of its atomics in the L2; 11 the time of copies, fills and host functions; 12 changes of
launches, and advice, that were measured.
"""

from gpuprof.tables.order import STORED
from gpuprof.tables.sql import ddl

VERSION = max(9, *(table.newest for table in STORED))  # a table or column of a later version is a step
APPLICATION_ID = 0x67707264  # "gprd"; shown by `file`

VIEWS = """
CREATE VIEW relations AS       -- all relations; one task's: WHERE from_task = N; docs/relations.md has a query
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
CREATE VIEW operations AS      -- exact: arithmetic operations of threads whose predicate was true
    SELECT c.launch, c.pc, i.precision,
           c.thread_inst_executed_pred_on * i.thread_operations AS operations  -- a fused multiply-add has 2
    FROM counters c JOIN instructions i USING (pc)
    WHERE i.thread_operations > 0;
CREATE VIEW lines AS           -- exact warp-cycles per launch and line, as the source page has them
    SELECT l.launch, i.source, i.line,  -- of the innermost frame
           SUM(l.cycles) AS warp_cycles,  -- of all reasons
           SUM(CASE WHEN l.reason = 0 THEN l.cycles ELSE 0 END) AS issued_cycles  -- of reason selected
    FROM ledger l JOIN instructions i USING (pc)
    GROUP BY l.launch, i.source, i.line;
"""
DDL = ddl() + VIEWS.lstrip()
