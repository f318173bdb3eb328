"""A database against a committed baseline: facts, comparison, verdict."""
