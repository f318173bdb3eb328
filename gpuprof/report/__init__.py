"""What a database says, for people and for programs: the pages of `gpuprof report`.

    database ─ queries ─> Report (model) ─ sections, waits, endings, totals, estimates ─> plain values
    plain values ─ triage/ ─> findings ─ pages/ ─> lines (drawn by terminal/), rows and objects ─ formats/ ─> CSV, JSON

`render` gives one page in one format. Reads the database alone: nothing here imports the compiler, the emulator, the
timing model or Numba.
"""
