"""Tasks, and what ties them. The numbers of kinds and the flags are those of relate/task_kinds.py; 2^32 - 1 is none."""

from gpuprof.tables.table import (
    CYCLE,
    FLAG,
    HOST_NS,
    KEY,
    LAUNCH,
    NAME,
    ORDER,
    PARAMETER,
    RESERVED,
    TASK,
    Bounds,
    Column,
    Table,
)

LINE: Bounds = {"low": 0, "high": (1 << 32) - 1}
# Recorded rows. All but CALLS are checked and joined on the way into the database.
TASKS = Table(
    "recorded tasks",
    "tasks that have ended, in that order",
    (
        Column("task", "<u4", "", "number of the task, from 0, in the order of their beginnings", TASK),
        Column("parent", "<u4", "", "the task that contains it", TASK),
        Column("kind", "<u4", "", "number of the kind of task", KEY),
        Column("flags", "<u4", "", "1: a virtual task", FLAG),
        Column("name", "<u4", "", "number of its name", NAME),
        Column("row", "<u4", "", "number of the name of its row: a stream, or a row that a script has opened", NAME),
        Column("launch", "<u4", "", "launch index of a launch", LAUNCH),
        Column("reserved", "<u4", "", "zero", RESERVED),
        Column("begin", "<u8", "", "position of its begin in the order of all requests", ORDER),
        Column("end", "<u8", "", "position of its end", ORDER),
        Column("cycle", "<u8", "cycles", "GPU cycle in which it happened, if it takes no time; launches have theirs",
               CYCLE),
        Column("work", "<u8", "", "hash of a launch's kernel, configuration and arguments", KEY),
    ),
    chunk=b"TASK",
    of_launch=False,
    stored=(),
    since=5,
)  # fmt: skip
RELATIONS = Table(
    "recorded relations",
    "relations that were stated",
    (
        Column("kind", "<u4", "", "number of the kind of relation", KEY),
        Column("source", "<u4", "", "the first task", TASK),
        Column("target", "<u4", "", "the second task; none where a task is related to a buffer", TASK),
        Column("parameter", "<u4", "", "the buffer that ties them", PARAMETER),
    ),
    chunk=b"RELA",
    of_launch=False,
    stored=(),
    since=5,
)
ACCESSES = Table(
    "recorded accesses",
    "bytes of buffers that tasks read and wrote, in the order of execution",
    (
        Column("task", "<u4", "", "the task that accesses", TASK),
        Column("parameter", "<u4", "", "number of the buffer", PARAMETER),
        Column(
            "flags", "<u4", "",
            "bits: 1 it writes (else it reads), 2 bytes between those accessed are among these, 4 the bytes written "
            "were there already, 8 it frees the buffer",
            FLAG,
        ),
        Column("reserved", "<u4", "", "zero", RESERVED),
        Column("first", "<u8", "bytes", "first byte in the buffer", KEY),
        Column("end", "<u8", "bytes", "last byte plus one", KEY),
    ),
    chunk=b"ACCS",
    of_launch=False,
    stored=(),
    since=5,
)  # fmt: skip
CONSTRAINTS = Table(
    "recorded constraints",
    "orders between tasks that the program requested",
    (
        Column("kind", "<u4", "", "number of the kind of constraint", KEY),
        Column("source", "<u4", "", "the task that is waited for", TASK),
        Column("target", "<u4", "", "the task that waits", TASK),
    ),
    chunk=b"CNST",
    of_launch=False,
    stored=(),
    since=5,
)
OPERATIONS = Table(
    "device_operations",
    "copies, fills and functions of the host that a stream waits for, with the time that they take",
    (
        Column("task", "<u4", "", "number of its task", TASK),
        Column("engine", "<u4", "", "what carries it out, by tables.engines.ENGINES", KEY),
        Column("flags", "<u4", "", "bits: 1 the host's memory is page-locked, 2 a node of a graph", FLAG),
        Column("stream", "<u4", "", "number of the stream", KEY),
        Column("start", "<u8", "cycles", "GPU cycle, from power-on, in which it started", CYCLE),
        Column("end", "<u8", "cycles", "GPU cycle in which it ended", CYCLE),
        Column("nbytes", "<u8", "bytes", "bytes that it copied or filled"),
    ),
    chunk=b"OPER",
    of_launch=False,
    grain="task",
    stored=(
        Column("task", "integer", "", "its task, which has the name", TASK, parent="tasks"),
        Column("engine", "text", "", "what carried it out: copy engine in, copy engine out, memory, host"),
        Column("is_pinned", "integer", "", "1: the host's memory is page-locked", FLAG),
        Column("is_node", "integer", "", "1: a node of a graph", FLAG),
        "stream",
        Column("start_cycle", "integer", "cycles", "GPU cycle, from power-on, in which it started", CYCLE),
        Column("end_cycle", "integer", "cycles", "GPU cycle in which it ended", CYCLE),
        "nbytes",
    ),
    since=11,
)  # fmt: skip
CALL_TASK = Column("task", "integer", "", "its task, which has the function's name", TASK, parent="tasks")
CALLS = Table(
    "api_calls",
    "calls of a program's host that have ended; the tasks that a call requested are parts of its task",
    (
        Column("task", "<u4", "", "number of the call's task", TASK),
        Column("file", "<u4", "", "number of the name of the source file of the call", NAME),
        Column("line", "<u4", "", "line of the call in the file, 0: unknown", KEY, **LINE),
        Column("thread", "<u4", "", "number of the host's thread, from 0", KEY),
        Column("status", "<i4", "", "the cudaError that it returned, 0: none", KEY),
        Column("reserved", "<u4", "", "zero", RESERVED),
        Column("begin_ns", "<u8", "ns", "the host's time when it began", HOST_NS),
        Column("end_ns", "<u8", "ns", "the host's time when it ended", HOST_NS),
        Column("waited_ns", "<u8", "ns", "time between these in which it waited for the GPU"),
        Column("nbytes", "<u8", "bytes", "bytes that it copied or filled"),
    ),
    chunk=b"CALL",
    of_launch=False,
    grain="task",
    stored=(
        CALL_TASK,
        Column("file", "text", "", "source file of the call; NULL: unknown", null=True),
        ...,
    ),
    since=6,
)

# The database.
TASK_ROWS = Table(
    "task_rows",
    "rows of tasks that follow each other",
    (
        Column("row", "integer", "", "number of the row, in the order of their first use", KEY),
        Column("name", "text", "", "a stream, host, or a row that a script has opened"),
    ),
    grain="row",
    since=5,
)
STORED_TASKS = Table(
    "tasks",
    "everything that has a beginning and an end",
    (
        Column("task", "integer", "", "number of the task, in the order of their beginnings", TASK),
        Column("parent", "integer", "", "the task that contains it; see relations for others", TASK, parent="tasks",
               null=True),
        Column("kind", "text", "", "task (of a script), launch, copy to device, copy to host, copy within device, "
               "fill, wait, free, call (of a program's host), command buffer, copy within host (page-locked memory), "
               "host function"),
        Column("is_virtual", "integer", "", "1: it only has parts, which other tasks became", FLAG),
        Column("name", "text", "", "name that a script gave, of the kernel, or of the copied array"),
        Column("row", "integer", "", "the row that it ran in", KEY, parent="task_rows"),
        Column("launch", "integer", "", "the launch, if it is one", LAUNCH, parent="launches", null=True),
        Column("begin_order", "integer", "", "position of its begin in the order of all requests", ORDER),
        Column("end_order", "integer", "", "position of its end", ORDER),
        Column("begin_cycle", "integer", "cycles", "GPU cycle, from power-on, in which it or its first part began; "
               "of a call, where host and GPU have one clock, in which the host made it; NULL: unknown", CYCLE,
               null=True),
        Column("end_cycle", "integer", "cycles", "GPU cycle in which it or its last part ended; of a call likewise",
               CYCLE, null=True),
        Column("own_cycles", "integer", "cycles", "duration of a launch, copy, fill or host function; 0 of all other "
               "tasks"),
        Column("parts_cycles", "integer", "cycles", "sum of the own cycles of all parts, and of theirs"),
    ),
    grain="task",
    indexes=(("tasks_parent", "parent"),),
    since=5,
)  # fmt: skip
PARAMETERS = Table(
    "parameters",
    "buffers and values that tasks use",
    (
        Column("parameter", "integer", "", "number of the parameter, in the order of their beginnings", PARAMETER),
        Column("name", "text", "", "name of an array, of a variable's module, or one that a script gave"),
        Column("kind", "text", "", "buffer, number, text or structure"),
        Column("value", "text", "", "value, if it is no buffer; a structure is JSON"),
        Column("task", "integer", "", "the task that it belongs to", TASK, parent="tasks", null=True),
        Column("address", "integer", "", "address of a buffer", null=True),
        Column("nbytes", "integer", "bytes", "size of a buffer", null=True),
        Column("begin_order", "integer", "", "position in the order of all requests from which it exists", ORDER),
    ),
    grain="parameter",
    since=5,
)
RELATION_KINDS = Table(
    "relation_kinds",
    "kinds of relations",
    (
        Column("kind", "text", "", "name of the kind", KEY),
        Column("inverse", "text", "", "its name in the other direction"),
        Column("follows", "text", "", "kind that holds between the first and the last of two such relations in a row, "
               "'': none"),
        Column("text", "text", "", "meaning of the kind"),
    ),
    grain="kind",
    since=5,
)  # fmt: skip
STORED_RELATIONS = Table(
    "stored_relations",
    "relations that were stated or observed; the view relations also has those that follow from them",
    (
        Column("kind", "text", "", "kind of the relation", KEY, parent="relation_kinds"),
        Column("source", "integer", "", "the first task", TASK, parent="tasks"),
        Column("target", "integer", "", "the second; NULL where a task is related to a buffer", TASK, parent="tasks",
               null=True),
        Column("via", "integer", "", "the buffer that ties them", PARAMETER, parent="parameters", null=True),
        Column("nbytes", "integer", "bytes", "bytes of the buffer that tie them; 0 where it was stated"),
        Column("origin", "text", "", "stated or observed"),
    ),
    indexes=(("relations_source", "source"), ("relations_target", "target"), ("relations_via", "via")),
    since=5,
)  # fmt: skip
TASK_CONSTRAINTS = Table(
    "task_constraints",
    "orders between tasks that the program requested",
    (
        Column("source", "integer", "", "the task that is waited for", TASK, parent="tasks"),
        Column("target", "integer", "", "the task that waits", TASK, parent="tasks"),
        Column("kind", "text", "", "stream, event, default stream, host wait, device launch, programmatic launch"),
    ),
    grain="target source kind",
    since=5,
)
ACCESSES_BY_TASK = Table(
    "accesses_by_task",
    "bytes of buffers that launches and copies wrote, or read before they wrote them",
    (
        Column("task", "integer", "", "the task that accesses", TASK, parent="tasks"),
        Column("parameter", "integer", "", "the buffer", PARAMETER, parent="parameters"),
        Column("is_write", "integer", "", "1: written", FLAG),
        Column("first", "integer", "bytes", "first byte in the buffer", KEY),
        Column("end", "integer", "bytes", "last byte plus one", KEY),
        Column("is_exact", "integer", "", "0: bytes between those accessed are among these", FLAG),
    ),
    grain="task parameter is_write first",
    since=5,
)
TASK_FINDINGS = Table(
    "task_findings",
    "work without a use",
    (
        Column("finding", "integer", "", "number of the finding, by task", KEY),
        Column("kind", "text", "", "copied in and never read, written and never read, copied back and forth, copied "
               "again, computed twice"),
        Column("task", "integer", "", "the task that did the work", TASK, parent="tasks"),
        Column("other", "integer", "", "the task that wrote over it, had it before or did the same", TASK,
               parent="tasks", null=True),
        Column("parameter", "integer", "", "the buffer; NULL for several", PARAMETER, parent="parameters", null=True),
        Column("nbytes", "integer", "bytes", "bytes copied or written"),
    ),
    grain="finding",
    since=5,
)  # fmt: skip
