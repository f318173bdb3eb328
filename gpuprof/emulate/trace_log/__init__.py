"""The records of a run besides its results: each warp's trace (steps and accesses), and the counters per instruction.

A warp's trace is a list of steps and a list of accesses. A step is a basic block and the lanes that ran it. There is an
access for every executed instruction whose row has a memory space, also when no lane was left. Barriers have none, but
for waits at mbarriers and barriers whose number is in a register. Sleeps have one where the code does not have their
time. An access knows its distinct sectors, its lines and its passes through the banks (at an mbarrier: which phase it
ends or waits for). It knows nothing of the chip, so one emulation can be timed on many.

A `TracePiece` is a segment of the trace of a chunk of blocks. The chunk rests in the emulator until an `Order` for its
next piece comes, for all of its warps or some, through one queue from `timing/trace_feed.py`. Orders follow from the
simulated state only, never from which thread is faster, so emulation has one order, too.
"""
