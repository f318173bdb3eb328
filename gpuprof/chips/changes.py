"""Chips with other numbers, as flags request them: convenient names, and numbers as texts."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from gpuprof.chips.model import Chip, altered, field_of
from gpuprof.errors import UsageError

Value: TypeAlias = int | float | str

# "l2_kb=40960" is l2_nbytes = 40960 * 1024.
_SIZES = {"kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
_SIZE = re.compile(r"(?<=_)(kb|mb|gb)(?=_|$)")


def number_or_text(text: str) -> Value:
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if value - value == 0 else text  # inf and nan are no numbers of a chip
    return text


def size_in(name: str) -> str | None:
    """The unit that a convenient name has in it: "l2_kb" has "kb"."""
    size = _SIZE.search(name)
    return size[0] if size else None


def field_and_factor(name: str) -> tuple[str, int]:
    """A number of the chip by a convenient name: "l2_kb" is ("l2_nbytes", 1024). A chip's own name stays as it is."""
    size = _SIZE.search(name)
    if size and field_of(name) is None:
        return name[: size.start()] + "nbytes" + name[size.end() :], _SIZES[size[0]]
    return name, 1


def chip_with(chip: Chip, changes: Mapping[str, Value]) -> Chip:
    """The chip with other numbers, by convenient names. Raises UsageError that names the chip, the flag and the key."""
    if not changes:
        return chip
    origin = f"chip {chip.name} with " + " ".join(f"--param {name}={value}" for name, value in changes.items())
    plain = {}
    for name, value in changes.items():
        field_name, factor = field_and_factor(name)
        if field_name in plain:
            raise UsageError(f"{origin}: {field_name} is given twice")
        if factor > 1 and not isinstance(value, str):
            value = int(value * factor) if value * factor == int(value * factor) else value * factor
        plain[field_name] = value
    return altered(chip, plain, origin)


def renamed_with(chip: Chip, changes: Mapping[str, Value]) -> Chip:
    """Like `chip_with`, with the changes in the chip's name: "a100 (clock_mhz=1095)"."""
    if not changes:
        return chip
    shown = ", ".join(f"{name}={value}" for name, value in changes.items())
    return replace(chip_with(chip, changes), name=f"{chip.name} ({shown})")


def parse_changes(texts: tuple[str, ...]) -> dict[str, Value]:
    """The values of --param: "clock_mhz=1095". Raises UsageError for what can be no number of any chip."""
    changes: dict[str, Value] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value) or "," in value:
            raise UsageError(f"--param {text}: expected NAME=VALUE as in clock_mhz=1095")
        if name in changes:
            raise UsageError(f"--param {text}: {name} is given twice")
        changes[name] = number_or_text(value)
    return changes
