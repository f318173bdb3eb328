"""Runs a launch on an emulated GPU, thousands of lanes to a numpy call. Takes a launch and its memory, returns results
and warp traces.

    run         emulates a launch, chunk by chunk
    blocks      a module's code as basic blocks of callables, built once
    chunk       the lanes of a chunk of blocks that run next
    warp_sync   lanes that execute an operation of their warp together
    core        lanes and registers, operands, address spaces, faults
    scalar, memory, collectives, textures, matrices, bulk
                the operations, one family of instructions a file
    trace_log   the trace and the counters: the inputs of the timing model and the reports
    watch       events of a launch, for listeners

Operations of one source or more are called with the `Lanes` that run. `a`, `b`, `c` and `d` are an instruction's source
slots and its destination, named like the columns of the table in `isa/`; `at` is the instruction's number in its
program.
"""
