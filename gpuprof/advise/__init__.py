"""What to do next: rules over a kept launch find what it suffers from, and each piece of advice carries the gain that
was measured on the same emulation.

    Baseline, database ─ Case ─ rules ─> Drafts ─ measured ─> Advice, the largest gain first ─> screen, brief, json
"""
