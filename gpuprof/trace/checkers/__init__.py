"""Checkers: trace generators that find errors of a program, one a file, named as compute-sanitizer's tools."""
