"""Which bits have a value: the state of initcheck. A bit that is set in a shadow is undefined in what it stands for.

rules      undefined bits of results, from operands and their undefined bits
matrices   the same of instructions that a whole warp executes
memory     a byte for each byte of global, shared and local memory, in pages; compiled by Numba
registers  a word for each register of each thread, and which of them have an undefined bit at all
places     where accesses stand in the shadows of shared and local memory
"""
