"""What happened when: formats that draw tracks over time.

NAME.gpudb ─ launches ─> Timeline ─ perfetto, chrome ─> a file
"""
