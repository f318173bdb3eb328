"""What is noted of a run beside its results: each warp's trace (steps and accesses) and the counters per
instruction.
"""
