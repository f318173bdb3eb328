"""Observers of a session: each event is reported to all of them, in the order of the list.

observer        the events, and the plain values that come with them
recording       launches as chunks of the recording (rows: launch_rows)
block_counts    accesses and reuse distances, counted while the timing takes a trace
recorded_draws  draws as chunks of the recording
tracing         trace generators: which launch each watches, and what they found (kernel_facts)
tasks           tasks, their order, and the bytes that they touch
"""
