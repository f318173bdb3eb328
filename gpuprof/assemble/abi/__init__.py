"""The places of variables, parameters and arguments: the kernel's parameter block, shared and constant memory, frames,
and the registers that calls pass values in.
"""
