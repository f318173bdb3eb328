"""The command stream of a run as a value: what was asked of the GPU, saved in a recording, so that it can be run again
without the script.
"""
