"""Reads TOML that others wrote, in time that grows linearly with its length."""

import re
import tomllib
from pathlib import Path
from typing import Any

from gpuprof.base.inputs import Kind, read_input_text

# tomllib copies a dotted key for each of its parts, so one of 100,000 parts takes minutes.
MOST_PARTS = 64
LONG_KEY = re.compile(rf"""(?<![\w"'-])(?:[\w"'-]++\s*+\.\s*+){{{MOST_PARTS}}}""")
MOST_BITS = 1024  # of an integer: Python writes none of thousands of digits


def read_toml(path: Path, kind: Kind) -> dict[str, Any]:
    """The file's tables. Raises UsageError for a file that `open_input` refuses, ValueError where it is no TOML."""
    text = read_input_text(path, kind)
    if LONG_KEY.search(text):
        raise ValueError(f"a key has more than {MOST_PARTS} parts")
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None
    check_numbers(values)
    return values


def check_numbers(values: dict[str, Any]) -> None:
    """Raise ValueError for an integer of more than MOST_BITS."""
    waiting = [values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting.extend(value.values() if isinstance(value, dict) else value)
        elif isinstance(value, int) and value.bit_length() > MOST_BITS:
            raise ValueError(f"an integer has more than {MOST_BITS} bits")
