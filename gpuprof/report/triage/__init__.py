"""The summary's "What to look at first": rules about a kernel and about its samples.

Kernel ─ kernel_rules, sample_rules ─> Findings
"""
