"""Passes over a function's blocks, in the order that `passes.PASSES` lists; one pass a file."""
