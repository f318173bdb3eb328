"""Runs one file on a table of chips and parameters.

    Plan ─ plan.runs ─> Run ─ prepare ─> Task ─ run.run_one, on a worker ─> Outcome ─ table ─> SweepTable
    SweepTable ─> terminal, files, plot

A Task carries everything a worker needs but gpuprof itself, and an Outcome depends on its Task alone: whoever runs it,
and however often, the table is the same.
"""
