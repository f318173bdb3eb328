"""Which bits have a value: the state of initcheck. A bit that is set in a shadow is undefined in what it stands for.

plan       what an instruction reads and writes, and an event's warps with the shadow of their registers
rules      undefined bits of results, from operands and their undefined bits
follow     the same where values do not matter, in one pass over the shadow of the registers; compiled by Numba
matrices   the same of instructions that a whole warp executes
atomics    the same of what atomics leave in memory
padding    which stores write members of structures, and which of their bits are padding
memory     a byte for each byte of global, shared and local memory, in pages; compiled by Numba
spaces     where accesses stand in the shadows of shared and local memory
registers  a word for each register of each thread, and which of them have an undefined bit at all
blocks     slots for the blocks that run
doubts     all of these of a launch, and what is told
"""
