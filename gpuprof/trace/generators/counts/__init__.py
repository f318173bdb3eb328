"""Trace generators that count executions."""
