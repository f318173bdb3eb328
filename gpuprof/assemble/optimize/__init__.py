"""Passes over a function's blocks, in the order that `pipeline.PASSES` lists; one pass a file."""
