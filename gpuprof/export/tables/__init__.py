"""Numbers of launches and kernels as tables: Nsight Compute's pages, OpenMetrics, Markdown.

NAME.gpudb ─ report ─> Report ─ ncu_source, markdown, ... ─> a file
"""
