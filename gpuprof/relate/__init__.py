"""Relations between tasks: who made what for whom, and when.

    commands ─ journal ─> rows of tasks, parameters, stated relations, accesses, constraints
    accesses of tasks, in order ─ flow ─> flows between tasks, bytes that nobody read
    rows ─ spans ─> when each task began and ended
    rows, names ─ rules ─> virtual tasks and what they contain
    tasks, needs, durations ─ critical ─> the longest chain
    flows, unread bytes, work ─ waste ─> findings
    commands ─ happens_before ─> which of two is promised to be first

A task is anything with a beginning and an end: a launch, a copy, a fill, a wait, a part of a script. A parameter is
what tasks share or are told: a buffer, a number, a text, a structure. A relation between two tasks is stated (a script
says it), observed (one read what the other wrote), or implied by others. What is implied is never stored.

A constraint is an order that the program asks for (streams, events, the host's waits); a need is a flow of data. Tasks
that are ordered and do not need each other could run at the same time.
"""
