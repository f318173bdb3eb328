"""Checkers: trace generators that find errors of a program, one per file, named after compute-sanitizer's tools."""
