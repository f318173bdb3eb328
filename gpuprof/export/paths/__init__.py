"""Costs by call path: kernel, functions, line, stall reason.

NAME.gpudb ─ costs ─> costs of instructions ─ tree ─> a tree of frames ─ folded, pprof, ... ─> a file
"""
