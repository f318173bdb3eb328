"""The instruction set: one table of opcodes, its 16-byte encoding, its text, and the stall reasons' names.

Every other package may import this one; it imports nothing but numpy and `gpuprof.errors`.
"""
