"""What commands show while they work: results as they come, and the progress of what is under way.

    base.stages ─ words ─> parts of a line ─ bar (a terminal) or lines (a log) ─> stderr

`display` wakes now and then on a thread of its own, so that no work has to remember to be seen.
"""
