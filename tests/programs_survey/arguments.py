"""Small arguments for programs whose usage lets one choose."""

import csv
from pathlib import Path

KNOWN = Path(__file__).parent / "arguments.csv"


def known_arguments() -> dict[str, tuple[str, ...]]:
    """By program: the name of its folder in HeCBench, the path of a file of teaching code."""
    with open(KNOWN, newline="", encoding="utf-8") as file:
        return {row["program"]: tuple(row["arguments"].split()) for row in csv.DictReader(file)}
