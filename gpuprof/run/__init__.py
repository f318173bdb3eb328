"""Carries out command streams. It is the only room that uses the emulator, the timing model and the recording at once:
it gives each its input and has no rule of its own.

    session          one emulated GPU: commands in order, each reported to a list of observers
    observers        recording, trace generators, tasks and counts: what a session reports, written down
    launching        launches: begun, emulated, in flight, timed together once the host waits
    drawing          draws: fixed-function stages between two kernels
    hazards          errors of the host, and races between commands
    trace_counts     accesses and reuse distances of a launch's trace
    run_settings     the settings of a session, and its reports to the caller
    compile_file     from a source file to a Program
    target           decides what FILE is and how it is launched, for every command that runs one
    script           runs a Python script inside a recording, whose Device is then the recorded GPU
    program_run      runs a whole CUDA program inside a recording, or without one
    replay           gives a session the commands that a recording has saved
    stream_run       runs a list of saved commands, changed or not: cycles, and a digest of the results
    reorder_experiment  runs a stream without one of its orders
    program_changes  changes of a whole program, as changes of its commands
    program_experiment  runs a program under each of them
    multipass        one run recorded in several passes, which are merged
"""
