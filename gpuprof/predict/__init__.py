"""Times of launches and draws on chips that were not simulated, from the counters of one recording on a reference chip.
Only a database and chip files are read.

    launch_counters   a database to plain arrays: what each launch did, and what it waited for on the reference chip
    chip_numbers      chips as columns: one array per number, with one value per chip
    opcode_facts      issue slots, pipe time and latency of an instruction on each chip
    work              a launch on some chips: the input of the block models
    units/            the block models: cycles of a hardware unit, from counters and chip numbers
    launch            the overlapped cycles of the blocks: those of a launch; its bottleneck (bottleneck)
    draws/            the same for draws: their blocks, ratios and rules, and how they follow each other
    command_buffers   sums: launches and draws to command buffers to a test
    prediction        all of these for one recording and many chips, with scores
    space/            the design space: points, costs, the Pareto front, sensitivities, explanations
    output/           predictions as text, CSV and JSON
"""
