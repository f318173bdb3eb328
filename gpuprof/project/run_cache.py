"""Databases of earlier runs, in the folder "checks" of `base.folders`.

    checks/SLOT/VARIANT/profile.gpudb, inputs.json

A slot is for one command of one project's entry; a variant for one state of its inputs, so that going back to another
branch runs nothing. A variant serves only while all that it was made of is as it was then.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from gpuprof.base.folders import cache_folder
from gpuprof.base.inputs import CACHED, read_input
from gpuprof.base.processes import is_running
from gpuprof.errors import UsageError
from gpuprof.project.entry import Entry
from gpuprof.project.file_digests import FileDigests, digest_of
from gpuprof.project.inputs import Inputs, difference

DATABASE, INPUTS = "profile.gpudb", "inputs.json"
VERSION = 1
MOST_VARIANTS = 8  # of an entry
MOST_NBYTES = 1 << 30  # of all databases; the oldest go first
_NEW = ".new-"  # and the number of the process that writes it
KNOWN_DIGESTS = "digests.json"


class RunCache:
    """The databases of earlier runs. `folder`: None where no cache can be written; then nothing is found or stored."""

    def __init__(self) -> None:
        self.folder = folder()
        self.digests = FileDigests(self.folder / KNOWN_DIGESTS if self.folder else None)

    def find(self, entry: Entry, command: list[str], now: Mapping[str, str]) -> tuple[Path | None, str]:
        """The database of a run with the same inputs, or None and an input that is another than in the newest run; ""
        where there was none. `now`: of `inputs.values_of`.
        """
        changed = ""
        for variant in self._variants(entry, command):
            then = _read(variant / INPUTS)
            if then is None or not (variant / DATABASE).is_file():
                continue
            different = difference(then, entry, now, self.digests)
            if not different:
                with suppress(OSError):
                    os.utime(variant)  # it is used: older ones go first
                return variant / DATABASE, ""
            changed = changed or different
        return None, changed

    def store(self, entry: Entry, command: list[str], inputs: Inputs, database: Path) -> Path:
        """Moves a database to where `find` finds it; its place then. One that cannot be stored stays where it is."""
        if self.folder is None:
            return database
        text = json.dumps({"version": VERSION, **inputs._asdict()})
        slot = self._slot(entry, command)
        variant = slot / digest_of(text.encode())
        new = slot / f"{_NEW}{os.getpid()}-{variant.name}"
        try:
            new.mkdir(parents=True)
            (new / INPUTS).write_text(text, encoding="utf-8")
            shutil.move(database, new / DATABASE)
            if variant.exists():
                shutil.rmtree(variant)
            os.replace(new, variant)
        except OSError:
            moved = new / DATABASE
            return moved if moved.is_file() else database
        return variant / DATABASE

    def prune(self) -> None:
        """Removes what is too old or too much, and what killed runs have left."""
        if self.folder is None:
            return
        with suppress(OSError):
            for left in self.folder.glob(f"*/{_NEW}*"):
                if not is_running(int(left.name.removeprefix(_NEW).partition("-")[0])):
                    shutil.rmtree(left, ignore_errors=True)
            slots = [slot for slot in self.folder.iterdir() if slot.is_dir()]
            for slot in slots:
                for variant in _newest_first(slot)[MOST_VARIANTS:]:
                    shutil.rmtree(variant, ignore_errors=True)
            nbytes = 0
            for variant in sorted((each for slot in slots for each in _newest_first(slot)), key=_age, reverse=True):
                nbytes += sum(file.stat().st_size for file in variant.iterdir())
                if nbytes > MOST_NBYTES:
                    shutil.rmtree(variant, ignore_errors=True)

    def _slot(self, entry: Entry, command: list[str]) -> Path:
        assert self.folder is not None
        return self.folder / digest_of("\0".join([entry.name, *command]).encode("utf-8", "surrogateescape"))

    def _variants(self, entry: Entry, command: list[str]) -> Iterator[Path]:
        if self.folder is not None:
            with suppress(OSError):
                yield from _newest_first(self._slot(entry, command))


def folder() -> Path | None:
    """The folder of all slots, None where no cache can be written."""
    try:
        return cache_folder("checks", is_executed=False).path
    except OSError:
        return None


def _newest_first(slot: Path) -> list[Path]:
    variants = [each for each in slot.iterdir() if each.is_dir() and not each.name.startswith(_NEW)]
    return sorted(variants, key=_age, reverse=True)


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0


def _read(file: Path) -> Inputs | None:
    """None for a file that is damaged, or of another version."""
    try:
        values = json.loads(read_input(file, CACHED))
        if values.pop("version") != VERSION:
            return None
        inputs = Inputs(**values)
    except (UsageError, ValueError, KeyError, TypeError, AttributeError):
        return None
    is_whole = all(
        isinstance(table, dict) and all(isinstance(each, str) for each in table.values()) for table in inputs
    )
    return inputs if is_whole else None
