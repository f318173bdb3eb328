"""Trace generators that examine the values that instructions read and write."""
