"""Events over time: formats that draw tracks over time.

NAME.gpudb ─ launches ─> Timeline ─ perfetto, chrome ─> a file
"""
