"""Relations between tasks: who made what for whom, and when.

    byte ranges that each task reads and writes (Ranges) ─ flow ─> flows between tasks
    relations that were stated, and flows ─ kinds, implied ─> every relation of a task
    tasks, needs, durations ─ critical ─> the longest chain

A task is anything with a beginning and an end: a launch, a copy, a fill, a wait, a part of a script. A relation between
two tasks is stated (a script says it), observed (one read what the other wrote), or implied by others. What is implied
is never stored.
"""
