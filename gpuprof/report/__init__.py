"""What a database says, for people and for programs: the pages of `gpuprof report`.

    database ─ queries ─> Report (model) ─ listing ─> Sections of Rows ─ terminal, csv, json ─> text

Reads the database alone: nothing here imports the compiler, the emulator, the timing model or Numba.
"""
