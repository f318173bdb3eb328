"""Times of launches and draws on chips that nobody simulated, from the counters of one recording on a reference chip.
Reads a database and chip files alone.

    counters   a database to plain arrays: what each launch did, and what it waited for on the reference chip
    numbers    chips as columns: one array a number, as long as there are chips
    facts      what an instruction takes on each of them
    units      the block models, one a file: cycles of a unit, of counters and chip numbers
    launch     the blocks' cycles, overlapped, to those of a launch; its bottleneck
    draws      the same of draws: their blocks, ratios and rules, and how they follow each other
    levels     launches and draws to command buffers to a test, and its score
"""
