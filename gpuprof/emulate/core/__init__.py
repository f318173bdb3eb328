"""The base of every operation of the emulator: the lanes of a warp operation and their registers, operands, address
spaces, the call stack, faults, the order in which waiting lanes run.
"""
