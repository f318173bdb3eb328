"""Loads, stores, atomics, asynchronous copies and the stack: addresses checked, traced and carried out."""
