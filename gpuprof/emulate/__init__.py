"""Runs a launch on an emulated GPU, thousands of lanes to a numpy call. Takes a launch and its memory, gives results
and warp traces.

    run       emulates a launch, chunk by chunk
    blocks    a module's code as basic blocks of callables, built once
    chunk     which lanes of a chunk of blocks run next
    meeting   lanes that do an operation of their warp together
    core      lanes and registers, operands, address spaces, faults
    scalar, memory, together, textures, matrices, bulk
              the operations, one family of instructions a file
    log       the trace and the counters: what the timing model and the reports get

Operations of one source or more are called with the `Lanes` that run. `a`, `b`, `c` and `d` are an instruction's source
slots and its destination, as the table in `isa/` names them; `at` is the instruction's number in its program.
"""
