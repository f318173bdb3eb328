"""What is counted of a launch's trace, for any chip: accesses by instruction, and how far apart those to a line are.

accesses  the trace's access records, with the instruction that each is of
reuse     the distances between accesses to a line
launch    both of one launch, as rows of a recording
"""
