"""Relations between tasks: the flow of data between them, and their order in time.

    commands ─ journal ─> rows of tasks, parameters, stated relations, accesses, constraints
    accesses of tasks, in order ─ data_flow ─> flows between tasks, bytes that are not read
    rows ─ task_spans ─> when each task began and ended
    rows, names ─ relation_rules ─> virtual tasks and what they contain
    tasks, needs, durations ─ critical ─> the longest chain
    flows, unread bytes, work ─ waste ─> findings
    commands ─ happens_before ─> which of two is guaranteed to be first

A task is anything with a beginning and an end: a launch, a copy, a fill, a wait, a part of a script. A parameter is
a value that tasks share or get: a buffer, a number, a text, a structure. A relation between two tasks is stated (by a
script), observed (one read what the other wrote), or implied by others. Implied relations are never stored.

A constraint is an order that the program requests (streams, events, the host's waits); a need is a flow of data. Tasks
that are ordered and do not need each other could run at the same time.
"""
