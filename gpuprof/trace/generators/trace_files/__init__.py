"""Trace generators that write traces for other tools."""
