"""Runs one file on a table of chips and parameters.

    Plan ─ sweep_plan.runs ─> Run ─ prepare ─> Task ─ run_sweep.run_one, on a worker ─> Outcome
    Outcomes ─ sweep_table ─> SweepTable
    SweepTable ─> terminal, files, plot

A Task carries everything that a worker needs, except gpuprof itself. An Outcome depends only on its Task: the table is
the same on all workers, and in each run.
"""
