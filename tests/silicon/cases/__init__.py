"""The sets: a file each, with its rows in CASES."""

from importlib import import_module
from pathlib import Path

from tests.silicon.case import Case

SETS = tuple(sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py")))


def cases_of(name: str) -> tuple[Case, ...]:
    return import_module(f"tests.silicon.cases.{name}").CASES


def all_cases() -> dict[str, tuple[Case, ...]]:
    """Cases by set."""
    return {name: cases_of(name) for name in SETS}
