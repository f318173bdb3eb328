"""Traces of launches in a file, so that they can be timed again without being emulated again.

    batches of a run, whole traces ─ write ─> NAME.gptrace ─ read, sound ─> Subjects

The file stands beside the recording whose launches it has: modules and chip come from there. Nothing read is believed:
compiled code follows a trace without bounds checks.
"""
