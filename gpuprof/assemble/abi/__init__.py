"""Where variables, parameters and arguments are: the kernel's parameter block, shared and constant memory, frames,
and the registers that calls pass values in.
"""
