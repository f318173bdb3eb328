"""The pages of `gpuprof report`: the contents of a database, for people and for programs.

    database ─ queries ─> Report (model) ─ sections, waits, warp_ends, totals, estimates ─> plain values
    plain values ─ triage/ ─> findings ─ pages/ ─> lines (drawn by terminal/), rows and objects ─ render ─> CSV, JSON

`render` gives one page in one format. The database is the only input: nothing here imports the compiler, the emulator,
the timing model or Numba.
"""
