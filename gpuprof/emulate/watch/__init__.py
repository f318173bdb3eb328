"""Lets others watch what a launch executes. Nothing here changes what happens, but for accesses that a listener
refuses.

    listener   who watches: the protocol
    accesses   the addresses of memory instructions, from their registers
    bounds     lanes whose access no space allows
    operands   the values that an instruction reads and writes
    executed   one instruction at one time, as a listener gets it
    ranges     what bulk copies, textures and matrices in shared memory touch, noted while they run
    state      what all lanes hold between two instructions, for a debugger
    duplicate  a chunk that rests, as a copy that can run on in its place
    wrap       blocks whose instructions tell a listener

A launch without a listener runs the blocks of `blocks.py` and a plain `Chunk`: no code of this room runs.

Order: a lane's events come in the order of the program. Between warps it is the order of the emulation, which the same
launch on the same chip always has. An instruction that several warps execute at a time is one event.
"""
