"""The comparison of two profiles: pure functions that `check`, the comparison's export and the page for the browser
share.

    keys of both sides ─ pairing ─> pairs, and what only one side has
    lines of both sides ─ alignment ─> pairs of lines
    numbers of both sides ─ changes ─> changes, the largest growth first
"""
