"""Notifies a listener of what a launch executes. Nothing here changes what happens, except for accesses that a listener
refuses.

    listener           the protocol of listeners
    watched_accesses   the addresses of memory instructions, from their registers
    bounds             lanes whose access no space allows
    watched_operands   the values that an instruction reads and writes
    executed           one instruction at one time, as a listener gets it
    watched_ranges     the bytes that bulk copies, textures and matrices in shared memory access, noted while they run
    watch_state        the state of all lanes between two instructions, for a debugger
    duplicate          a chunk that rests, as a copy that can run on in its place
    wrap               blocks whose instructions notify a listener

A launch without a listener runs the blocks of `blocks.py` and a plain `Chunk`: no code of this room runs.

Order: a lane's events come in the order of the program. Between warps it is the order of the emulation, which the same
launch on the same chip always has. An instruction that several warps execute at a time is one event.
"""
