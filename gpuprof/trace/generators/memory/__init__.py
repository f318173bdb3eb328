"""Trace generators that follow accesses to memory: their targets, and the behaviour of caches."""
