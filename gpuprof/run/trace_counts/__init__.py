"""What is counted of a launch's trace, for any chip: accesses by instruction, and how far apart those to a line are.

walk      one pass over a piece of trace
accesses  what the accesses add up to by instruction
reuse     the distances between accesses to a line
launch    both of one launch, as rows of a recording
"""
