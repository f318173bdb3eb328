"""The state of initcheck: which bits have a value. A bit that is set in a shadow is undefined in the shadowed value.

operand_rows        the operands of an instruction, and an event's warps with the shadow of their registers
instruction_rules   undefined bits of results, from operands and their undefined bits
propagate           rules that do not depend on values, in one pass over the shadow of registers; compiled by Numba
lane_rules          rules that depend on values, for one lane, in one pass like those; compiled by Numba
event_pass          loads and stores of an event in one pass, between memory and registers; compiled by Numba
matrix_bits         undefined bits of instructions that a complete warp executes
atomic_bits         undefined bits that atomics leave in memory
padding_bits        stores that write members of structures, and their padding bits
memory_bits         a byte for each byte of global, shared and local memory, in pages; compiled by Numba
space_bits          the positions of accesses in the shadows of shared and local memory
register_bits       a word for each register of each thread, and flags of those with an undefined bit
block_bits          slots for the running blocks
uncertain           all of these for a launch, and the reports
"""
