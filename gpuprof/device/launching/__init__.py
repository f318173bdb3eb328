"""Launches: as text, as plain values, checked against kernel and chip, bound to a parameter block."""
