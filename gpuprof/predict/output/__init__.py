"""Predictions as text, CSV and JSON."""
