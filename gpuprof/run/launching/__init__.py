"""Launches, from their request until they have been timed.

launcher             begins and emulates launches; waits for those in flight
pending              launches in flight, and what each waits for; their traces, made to order
nested               launches that kernels make
operations           copies, fills and functions of the host: what each needs of a link or the DRAM
timeline             the clock of a program: the host's time, and the ends of streams and engines
emulation_thread     runs the emulation on another thread, a bounded number of pieces ahead of the timing
emulation_progress   launches as stages of work under way, for people that wait
settling             times a batch of launches, and reports each to the observers
gpu_timing           the timing model of one GPU, and its state between batches
sampling_overhead    times a batch twice, once without sampling

Launches in flight change memory in the order in which they were requested. If the timing takes a launch before an
earlier one, the earlier one is emulated to its end first; its trace is stored, beyond 256 MiB in a temporary file of at
most 32 GiB. Launches that are in flight together are timed as one batch (`timing/batch.py`); recordings and databases
hold them like any others, with cycles that overlap.
"""
