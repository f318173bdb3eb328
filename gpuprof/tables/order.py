"""All tables, in the orders that decide what files look like."""

from gpuprof.tables import blocks, code, draws, launch, measured, samples, tasks
from gpuprof.tables.table import Table

# With chunks of their own in a recording; in the order of docs/gprec.md.
RECORDED: tuple[Table, ...] = (
    *(samples.COMPACT, samples.WIDE, launch.LEDGER, launch.COUNTERS, launch.BANK_PATTERNS, samples.SAMPLED_COUNTERS),
    *(blocks.BLOCK_COUNTERS, blocks.WARP_COUNTERS, blocks.ACCESS_COUNTERS, blocks.REUSE_DISTANCES),
    *(launch.STALLS, launch.STALL_LENGTHS, launch.CAUSES, launch.LOSSES),
    *(launch.ACTIVITY, launch.ACTIVITY_STALLS, launch.ACTIVITY_OF_SMS, launch.REPETITIONS),
    *(launch.ATOMIC_LINES, draws.PRIMITIVES),
    *(tasks.TASKS, tasks.RELATIONS, tasks.ACCESSES, tasks.CONSTRAINTS, tasks.CALLS, draws.WAVES),
    tasks.OPERATIONS,
)
# In the database; the order decides the bytes of the file.
STORED: tuple[Table, ...] = (
    *(code.META, code.MODULES, code.SOURCES, code.FUNCTIONS, code.INSTRUCTIONS, code.LIVE_REGISTERS),
    *(code.INLINE_FRAMES, code.LAUNCHES, code.LAUNCH_METRICS, code.RESULTS),
    *(code.TRACE_LAUNCHES, code.TRACE_TABLES, code.TRACE_COLUMNS, code.FINDINGS, code.STALL_REASONS),
    *(samples.SAMPLES, samples.SAMPLE_SIZES, samples.SAMPLERS, launch.LOSSES, samples.SAMPLED_COUNTERS),
    *(blocks.ACCESS_COUNTERS, blocks.REUSE_DISTANCES, blocks.BLOCK_COUNTERS, blocks.WARP_COUNTERS),
    *(launch.LEDGER, launch.ACTIVITY, launch.ACTIVITY_STALLS, launch.ACTIVITY_OF_SMS, launch.REPETITIONS),
    launch.ATOMIC_LINES,
    *(launch.STALLS, launch.STALL_LENGTHS, code.CAUSE_KINDS, launch.CAUSES, launch.BANK_PATTERNS, launch.COUNTERS),
    *(tasks.TASK_ROWS, tasks.STORED_TASKS, tasks.PARAMETERS, tasks.RELATION_KINDS, tasks.STORED_RELATIONS),
    *(tasks.TASK_CONSTRAINTS, tasks.ACCESSES_BY_TASK, tasks.TASK_FINDINGS, tasks.CALLS),
    tasks.OPERATIONS,
    *(draws.DRAWS, draws.DRAW_LAUNCHES, draws.DRAW_UNITS, draws.DRAW_WORK, draws.DRAW_TRAFFIC, draws.WAVES),
    draws.PRIMITIVES,
    *(measured.ADVICE, measured.WHATIF),
)
BY_NAME = {table.name: table for table in STORED}
