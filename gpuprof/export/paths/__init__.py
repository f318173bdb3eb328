"""Costs by call path: kernel, function, line.

NAME.gpudb ─ stacks ─> folded
"""
