"""Advice on what to do next: rules over a stored launch find its faults, and each piece carries the gain that was
measured on the same emulation.

    Baseline, database ─ Case ─ rules ─> Drafts ─ measured ─> Advice, the largest gain first ─> screen, brief, json
"""
