"""Times of draws: the method of launches on the ground of graphics.

read       a database to plain values (recorded): each draw's waves, units, work, its shaders' counters
waves      the trace of a draw's shader waves, and what its stages are called there
units      block times of fixed-function units, of a draw's work and a chip's rates
memory     block times of what they read and write, in L2 and DRAM
stages     block times of shaders, by the block models of launches
ratios     what the reference chip's trace and block times are to each other: whether the ends overlap
rules      the first rule whose ratios fit gives a draw's cycles of the block times (times)
doubled    which unit's doubled rate would shorten a draw most
passing    draws behind each other in the pipeline: when each begins and ends (cycles)
"""
