"""Measurements of kernels in tests, with pytest or without it.

    file, launches, flags ─ collector ─> a child process `gpuprof collect` ─> Run: cycles, registers, findings, arrays
    kernel of Triton or numba.cuda, a Device ─ in_process ─> Run, recorded in the test's own process
    runs, keywords of a mark ─ judge ─> Judgement: rows of the table, the text of a failure, a baseline to write
    plugin ─ pytest's hooks: the fixture `gpuprof`, the mark, the options, the table at the end

`plugin` is loaded by pytest in every project where gpuprof is installed, so it imports nothing until a test uses it.
"""
