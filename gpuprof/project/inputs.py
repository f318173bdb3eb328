"""The inputs of an entry's run, by content: an entry whose inputs are as before is not run again.

log of opened files, command, variables, gpuprof's own files ─ inputs_of ─> Inputs ─> JSON
Inputs of an earlier run ─ difference ─> the first of them that is another now, or ""
"""

import functools
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.dependencies.compiler_variables import VARIABLES
from gpuprof.base.dependencies.opened_files import Opened
from gpuprof.base.wording import installed_version
from gpuprof.project.entry import Entry
from gpuprof.project.file_digests import ABSENT, FileDigests, digest_of

PACKAGE = Path(__file__).parents[1]
OF_PACKAGE = (".py", ".toml", ".csv", ".json", ".h", ".hpp", ".cuh", ".cpp")
STANDARD_LIBRARY = sysconfig.get_path("stdlib")  # Python's version says what is in it
NOT_CONTENT = ("/proc/", "/sys/", "/dev/")  # the kernel makes them when they are read
CHECKED = (".nbi", ".nbc", ".code")  # machine code of Numba's and ours: what reads it checks it


class Inputs(NamedTuple):
    """`files`: path -> digest of the content, "" for one that was not there; `folders`: path -> digest of the names in
    it; `values`: the command, variables and versions, by what they are. Paths in the project's folder are relative.
    """

    files: Mapping[str, str]
    folders: Mapping[str, str]
    values: Mapping[str, str]


def inputs_of(
    entry: Entry, command: Iterable[str], opened: Opened, digests: FileDigests, outside: Iterable[Path]
) -> Inputs:
    """`outside`: folders whose files are no inputs: scratch folders, gpuprof's cache."""
    not_inputs = (*NOT_CONTENT, *(f"{each}{os.sep}" for each in (PACKAGE, *outside)))
    library, packages = f"{STANDARD_LIBRARY}{os.sep}", os.path.join(STANDARD_LIBRARY, "site-packages")

    searched = {os.path.basename(each) for each in sys.path if not os.path.isdir(each)}

    def chosen(paths: Iterable[str]) -> Iterator[str]:
        for path in paths:
            source = _source_of(path)
            is_of_python = source.startswith(library) and not source.startswith(packages)
            is_searched = os.path.basename(source) in searched  # a zip file, or a name that an import hook knows
            if source and not is_of_python and not is_searched and not source.startswith(not_inputs):
                yield source

    named = {
        path: digests.of_file(path) for path in {*chosen(opened.read), *matching(entry)} if not os.path.isdir(path)
    }
    listed = {path: digests.of_folder(path) for path in chosen(opened.listed)}
    return Inputs(_near(named, entry.folder), _near(listed, entry.folder), values_of(entry, command, digests))


def matching(entry: Entry) -> list[str]:
    """The files that the entry's own patterns name, absolute."""
    return sorted(str(path) for pattern in entry.inputs for path in entry.folder.glob(pattern) if path.is_file())


@functools.cache
def own_files() -> list[str]:
    """The files of this gpuprof that decide what a run gives, absolute."""
    return sorted(str(path) for path in PACKAGE.rglob("*") if path.suffix in OF_PACKAGE)


def values_of(entry: Entry, command: Iterable[str], digests: FileDigests) -> dict[str, str]:
    values = {
        "the command": "\0".join(command),
        "gpuprof": installed_version() + digest_of("".join(map(digests.of_file, own_files())).encode()),
        "Python": sys.version,
        "the files of `inputs`": "\0".join(os.path.relpath(path, entry.folder) for path in matching(entry)),
    }
    variables = {**os.environ, **entry.set_variables()}
    names = sorted({*VARIABLES, *entry.variable_names()})
    return values | {
        f"${name}": digest_of(variables[name].encode("utf-8", "surrogateescape")) for name in names if name in variables
    }


def difference(then: Inputs, entry: Entry, now: Mapping[str, str], digests: FileDigests) -> str:
    """The first input that is not as it was, as "scan.cu" or "$CPATH"; "" where all are. `now`: of `values_of`."""
    for name in (*then.values, *now):
        if then.values.get(name) != now.get(name):
            return name
    for of, paths in ((digests.of_file, then.files), (digests.of_folder, then.folders)):
        for path, digest in paths.items():
            if of(os.path.join(entry.folder, path)) != digest:
                return path
    return ""


def changed_since(inputs: Inputs, folder: Path, start_ns: int) -> str:
    """An input that was changed after a time: what the run has read of it is not known. "" where none was."""
    for path, digest in inputs.files.items():
        if digest == ABSENT:
            continue
        try:
            status = os.stat(os.path.join(folder, path))
        except OSError:
            return path
        if max(status.st_mtime_ns, status.st_ctime_ns) >= start_ns:
            return path
    return ""


def _source_of(path: str) -> str:
    """The source of a module that Python has compiled before; "" for a file of a cache that checks itself."""
    if path.endswith(CHECKED):
        return ""
    if path.endswith(".pyc"):
        try:
            source = importlib.util.source_from_cache(path)
        except ValueError:
            return path
        return source if os.path.exists(source) else path
    return path


def _near(digests: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Paths in the project's folder relative to it: another checkout has the same."""
    inside = f"{folder}{os.sep}"
    return {path.removeprefix(inside): digests[path] for path in sorted(digests)}
