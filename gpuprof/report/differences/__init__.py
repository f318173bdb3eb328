"""Two profiles compared: `gpuprof diff`. One renderer a file; each takes the same value.

databases ─ read_difference ─> Compared: both sides' heads, and compare.difference.Difference
Compared ─ words ─> sentences;  text, json, markdown ─> what is printed
"""
