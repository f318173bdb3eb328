"""Trace generators that count what is executed."""
