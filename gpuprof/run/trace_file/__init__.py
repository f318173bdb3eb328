"""Traces of launches in a file, so that they can be timed again without being emulated again.

    batches of a run, whole traces ─ write ─> NAME.gptrace ─ read, sound ─> Subjects

The file has traces only: modules and chip come from the recording of these launches. Nothing read is believed:
compiled code follows a trace without bounds checks.
"""
