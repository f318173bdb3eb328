"""Counts of a launch's trace, for any chip: accesses by instruction, and distances between accesses to a line.

trace_walk       one pass over a piece of trace
line_accesses    sums over the accesses, by instruction
reuse_distances  the distances between accesses to a line
launch_counts    both of one launch, as rows of a recording
"""
