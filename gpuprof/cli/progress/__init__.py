"""Display of commands at work: results as they come, and the progress of current stages.

    base.stages ─ words ─> parts of a line ─ bar (a terminal) or lines (a log) ─> stderr

`display` wakes now and then on a thread of its own, so that no work has to remember to be seen.
"""
