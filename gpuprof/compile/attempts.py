"""Compiles a source, and again with what its errors ask for, until it compiles or there is nothing to change."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.inputs import HEADER, read_input_text
from gpuprof.compile.child import Ended, diagnostics_of
from gpuprof.compile.dialect.diagnostics import Diagnostic, errors_in
from gpuprof.compile.dialect.edits import Edit, edited
from gpuprof.compile.dialect.launch_tokens import launch_edits
from gpuprof.compile.dialect.repairs import CERTAIN, TRIED, TRIED_ON_HOST, changes_for
from gpuprof.cuda import PRELUDE
from gpuprof.errors import UsageError

SHOWN = PRELUDE.with_name("shown_again.h")  # there only for clang: after our headers, names are the program's again
MOST_ATTEMPTS = 12  # each one repairs at least one of the errors that clang lists


class Repaired(NamedTuple):
    """Changes of a compilation: texts of files, by the names that clang has for them, further flags, and names that our
    headers should not take.
    """

    texts: Mapping[str, str] = {}
    flags: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


class Sources:
    """Texts of the files that errors are about. `own`: texts that are known. `is_library`: of a file that stays."""

    def __init__(self, own: Mapping[str, str], is_library: Callable[[str], bool]):
        self._texts: dict[str, str | None] = dict(own)
        self._is_library = is_library

    def __call__(self, file: str) -> str | None:
        """The text; None for a file that is none, or not the user's."""
        if file not in self._texts:
            self._texts[file] = self._read(file)
        return self._texts[file]

    def _read(self, file: str) -> str | None:
        if self._is_library(file) or not os.path.isfile(file):
            return None
        try:
            return read_input_text(file, HEADER, errors="surrogateescape")
        except UsageError:
            return None


class _State(NamedTuple):
    edits: dict[str, frozenset[Edit]]
    flags: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()

    def repaired(self, sources: Sources) -> Repaired:
        texts = {file: edited(sources(file) or "", edits) for file, edits in self.edits.items()}
        return Repaired(texts, self.flags, self.hidden)


def compiled(run: Callable[[Repaired], Ended], main: str, sources: Sources, for_host: bool = False) -> Ended:
    """How the last compilation ended that says something of the user's source. `run` compiles; `main`: the source."""
    tables = (*CERTAIN, *(TRIED_ON_HOST if for_host else TRIED))
    ended = run(Repaired())
    if not ended.code:
        return ended
    certain, state = _attempts(run, ended, _State({}), (main, sources), CERTAIN)
    if not certain.code:
        return certain
    tried, _ = _attempts(run, certain, state, (main, sources), tables)
    return certain if tried.code else tried


def _attempts(
    run: Callable[[Repaired], Ended], ended: Ended, state: _State, where: tuple[str, Sources], table
) -> tuple[Ended, _State]:
    main, sources = where
    for _ in range(MOST_ATTEMPTS):
        further = _further(errors_in(diagnostics_of(ended)), state, main, sources, table)
        if further == state:
            break
        state, ended = further, run(further.repaired(sources))
        if not ended.code:
            break
    return ended, state


def _further(errors: list[Diagnostic], state: _State, main: str, sources: Sources, table) -> _State:
    edits, flags, hidden = dict(state.edits), dict.fromkeys(state.flags), dict.fromkeys(state.hidden)
    named = [main, *(place.file for error in errors for place in (error.place, *(note[0] for note in error.notes)))]
    for file in dict.fromkeys(named):
        _add(edits, file, launch_edits(sources(file) or ""))
    for change in changes_for(errors, sources, table):
        _add(edits, change.file, change.edits)
        flags |= dict.fromkeys(change.flags)
        hidden |= dict.fromkeys(change.hidden)
    return _State(edits, tuple(flags), tuple(hidden))


def _add(edits: dict[str, frozenset[Edit]], file: str, more: Iterable[Edit]):
    joined = edits.get(file, frozenset()) | frozenset(more)
    if joined:
        edits[file] = joined


def flags_of(repaired: Repaired, folder: Path) -> list[str]:
    """Clang's flags to compile these texts in place of the files, which keep their names. `folder`: for copies."""
    texts, flags = dict(repaired.texts), [*repaired.flags]
    if repaired.hidden:
        flags += [*(f"-D{name}=gpuprof_own_{name}" for name in repaired.hidden), "-include", str(SHOWN)]
        texts[str(SHOWN)] = "".join(f"#undef {name}\n" for name in repaired.hidden)
    return [*(_overlay(texts, folder) if texts else ()), *flags]


def _overlay(texts: Mapping[str, str], folder: Path) -> list[str]:
    roots = []
    for number, (name, text) in enumerate(texts.items()):
        copy = folder / f"changed{number}"
        copy.write_bytes(text.encode("utf-8", "surrogateescape"))
        place = os.path.abspath(name)
        file = {"name": os.path.basename(place), "type": "file", "external-contents": str(copy)}
        roots.append({"name": os.path.dirname(place), "type": "directory", "contents": [file]})
    listed = folder / "changed.json"
    listed.write_text(json.dumps({"version": 0, "use-external-names": False, "roots": roots}), encoding="utf-8")
    return ["-ivfsoverlay", str(listed)]
