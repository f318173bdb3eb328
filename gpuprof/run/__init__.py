"""Carries out command streams. It is the only room that knows the emulator, the timing model and the recording at once:
it hands each what it needs and holds no rule of its own.

    build            a source file to a Program
    session          one emulated GPU: commands in order
    settling         times what is in flight, once somebody waits for it, and records it
    inflight, nested launches nobody has waited for yet, and what their kernels launched
    watching         launches as stages of work under way, for people who wait
    ahead            the emulation on a thread of its own, a bounded number of pieces ahead of the timing
    disturbance      times launches a second time where sampling is in their way
    drawing          draws: fixed-function stages between two kernels
    chunks           what a session did, as the chunks of its recording have it
    target           decides what FILE is and how it is launched, for every command that runs one
    script           runs a Python script inside a recording, whose Device is then the recorded GPU
    program          runs a whole CUDA program inside a recording, or without one
    tracing          who watches which launch, and what they found (trace_records)
    relating         tasks and the bytes that they touch, as rows of a recording
    relaxed          runs a stream without one of its orders
    replay           gives a session the commands that a recording has saved
    multipass        one run recorded in several passes, which are merged

Launches in flight change memory in the order they were asked for. One that the timing takes later than one behind it is
emulated to its end first; its trace is put by, beyond 256 MiB in a temporary file of at most 32 GiB. Launches that are
in flight together are timed as one batch (`timing/batch.py`); recordings and databases hold them like any others, with
cycles that overlap.
"""
