"""Times of draws: the method of launches, applied to graphics.

draw_records      a database to plain values (recorded_draws): each draw's waves, units, work, shader counters
shader_waves      the trace of a draw's shader waves, and the names of its stages there
pipeline_units    block times of fixed-function units, from a draw's work and a chip's rates
draw_memory       block times of their reads and writes in the L2 and the DRAM (targets: what an L2 still holds)
draw_stages       block times of shaders, by the block models of launches
ratios            ratios between the reference chip's trace and block times: they show if both ends overlap
patent_rules      the first rule that fits the ratios gives a draw's cycles from the block times (times)
draw_bottleneck   the unit whose doubled rate would shorten a draw most
pipeline_queue    draws in sequence through the pipeline: when each begins and ends (cycles)
"""
