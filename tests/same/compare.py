"""The differences of two folders of artefacts: for each artefact, the first place where both are not the same."""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from tests.same.databases import database_items
from tests.same.make import CODES, failed
from tests.same.pages import EXPORTS, byte_items, html_items, json_items, number_items
from tests.same.programs import program_items
from tests.same.recordings import recording_items
from tests.same.texts import Item, Side

SHOWN = 160  # characters of a value
BEFORE = 40  # of them, characters before the first that differs in a long text
FIRST = (".gprec", ".gpudb")
Reader = Callable[[Path, Side], Iterator[Item]]


class Difference(NamedTuple):
    """An artefact, and its first place that differs on both sides, with what is there."""

    what: str
    base: str
    current: str

    def __str__(self) -> str:
        return f"{self.what}\n    base     {self.base}\n    current  {self.current}"


def _of_bytes(read: Callable[[bytes, Side], Iterator[Item]]) -> Reader:
    return lambda path, side: read(path.read_bytes(), side)


BY_ENDING: dict[str, Reader] = {
    ".gprec": _of_bytes(recording_items),
    ".gpudb": database_items,
    ".gpubin": _of_bytes(program_items),
    ".html": _of_bytes(html_items),
    ".png": _of_bytes(byte_items),
    ".out": _of_bytes(number_items),
}


def reader_of(name: str) -> Reader | None:
    """How a file is read, by driver.py's names; None where it is not compared."""
    kind, _, rest = name.partition("-")
    if kind == "export" and name.endswith(".file"):
        return _of_bytes(EXPORTS[rest.removesuffix(".file")])
    if kind == "json" and name.endswith(".out"):
        return _of_bytes(json_items)
    return BY_ENDING.get(Path(name).suffix)


def differences(base: Path, current: Path, base_side: Side, current_side: Side) -> Iterator[Difference]:
    """A difference at most for each artefact in either of two folders, which driver.py has filled. Where a required
    command failed, only exit codes are compared: nothing came after it.
    """
    yield from _of_codes(base, current)
    if failed(base) or failed(current):
        return
    names = {path.name for folder in (base, current) for path in folder.iterdir() if path.is_file()}
    for name in sorted(names, key=_order):
        if reader_of(name):
            yield from _of_file(name, base / name, current / name, base_side, current_side)


def _order(name: str) -> tuple[int, str]:
    """Recordings first, then databases: what differs there differs in reports, too."""
    ending = Path(name).suffix
    return (FIRST.index(ending) if ending in FIRST else len(FIRST)), name


def _of_codes(base: Path, current: Path) -> Iterator[Difference]:
    """Commands that ended otherwise, or that must succeed and did not."""
    base_codes, current_codes = (json.loads((folder / CODES).read_text()) for folder in (base, current))
    required = failed(base) | failed(current)
    for name in sorted(required or {*base_codes, *current_codes}):
        old, new = base_codes.get(name), current_codes.get(name)
        if old != new or name in required:
            yield Difference(f"exit code of {name}", _outcome(old, base, name), _outcome(new, current, name))


def _outcome(code: int | None, folder: Path, name: str) -> str:
    path = folder / f"{name}.err"
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    return f"{code} {' '.join(lines[-1:])}"


def _of_file(name: str, base: Path, current: Path, base_side: Side, current_side: Side) -> Iterator[Difference]:
    if not (base.exists() and current.exists()):
        yield Difference(name, *("there" if path.exists() else "not there" for path in (base, current)))
        return
    if base.read_bytes() == current.read_bytes():
        return
    try:
        difference = first_difference(name, items(base, base_side), items(current, current_side))
    except Exception as error:
        error.add_note(f"reading {base} or {current}")
        raise
    if difference:
        yield difference


def items(path: Path, side: Side) -> Iterator[Item]:
    reader = reader_of(path.name)
    return reader(path, side) if path.stat().st_size else iter(())


def first_difference(what: str, base: Iterable[Item], current: Iterable[Item]) -> Difference | None:
    for old, new in zip_longest(base, current):
        if old != new:
            return Difference(what, *_shown(old, new))
    return None


def _shown(old: Item | None, new: Item | None) -> tuple[str, str]:
    if old is None or new is None or old.place != new.place:
        return _item(old), _item(new)
    if isinstance(old.value, bytes) and isinstance(new.value, bytes):
        return _bytes(old, new)
    if isinstance(old.value, str) and isinstance(new.value, str):
        start = max(_first_unequal(old.value, new.value) - BEFORE, 0)
        old, new = (Item(item.place, f"{'...' if start else ''}{item.value[start:]}") for item in (old, new))
    if isinstance(old.value, dict) and isinstance(new.value, dict):
        keys = [key for key in {**old.value, **new.value} if old.value.get(key) != new.value.get(key)]
        old, new = (Item(item.place, {key: item.value.get(key) for key in keys}) for item in (old, new))
    return _item(old), _item(new)


def _item(item: Item | None) -> str:
    return "nothing more" if item is None else f"{item.place}: {item.value!r}"[:SHOWN]


def _bytes(old: Item, new: Item) -> tuple[str, str]:
    at = _first_unequal(old.value, new.value)
    start = at // 8 * 8
    return tuple(
        f"{each.place}, byte {at} of {len(each.value)}: from {start} on {each.value[start : start + 24].hex(' ', 8)}"
        for each in (old, new)
    )


def _first_unequal(old: str | bytes, new: str | bytes) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(old), len(new)))
