"""Trace generators that follow accesses to memory: where they go, and what of it a cache would keep."""
