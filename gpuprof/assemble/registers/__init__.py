"""Virtual registers become physical ones: the schedule, the allocation, spills to local memory, and what is left to
clean up.
"""
