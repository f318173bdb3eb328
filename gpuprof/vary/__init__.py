"""Runs one file with other block sizes, macros, paddings, compile options and Configs of Triton, and finds the fastest
that computes the same.

    text of --vary ─ parameters ─> Varied
    VaryPlan ─ triton_configs ─> VaryPlan, with the Configs of a kernel's own list
    VaryPlan ─ variants ─> Variants (sweep's Runs), the original first
      block_sizes    a launch with another block, over as many threads
      source_edits   the source with a padded array, or with launch bounds
    Variants ─ search ─> rungs of sweep's Tasks ─ sweep.workers ─> Outcomes ─ judged ─> Tried, the newest of each counts
    Tried ─ found ─> rows and the best ─ reproduce ─> the command that measures it again
    Found ─ vary_screen, document ─> terminal, JSON

A Variant's Tried depends only on the plan: it is the same for any number of processes.
"""
