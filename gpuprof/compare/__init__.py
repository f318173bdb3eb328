"""The comparison of two profiles: pure functions that `diff`, `check`, the comparison's export and the page for the
browser share.

    kernels, launches of both sides ─ kernels, launches ─> pairs, and those that only one side has
    lines of both sides ─ lines ─> pairs: same, changed, moved, gone, new
    instructions of both sides ─ code ─> pairs
    costs by line, reason and cause of both sides ─ difference ─> KernelDifference, whose parts are the whole
    numbers of both sides ─ changes ─> changes, the largest growth first

`pairing` and `alignment` are what these are made of: groups that get wider, and a patience diff.
"""
