"""Trace generators that look at what instructions read and write."""
