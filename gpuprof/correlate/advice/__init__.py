"""Findings about performance, made of what was counted, with what they cost by the ledger.

launches of a kernel ─ measured ─> Measured ─ access, lanes, by the table in rules ─> Found, rows of `findings`
"""
