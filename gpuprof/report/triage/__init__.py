"""What to look at first: rules about a kernel, about its samples, and what the latter need to know.

Kernel ─ kernel_rules, sample_rules ─> Findings
"""
