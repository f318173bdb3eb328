"""A first project file, from the files of a folder.

folder ─ found_sources ─> Found, one a file ─ project_text ─> the text of gpuprof.toml
"""

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.inputs import SOURCE, read_input_text
from gpuprof.errors import GpuprofError
from gpuprof.project.project_file import ENTRY_NAME

SUFFIXES = (".cu", ".ptx", ".py")
NOT_SOURCES = ("node_modules", "build", "dist", "__pycache__", "site-packages")
MOST_FILES = 1_000
LAUNCHERS = re.compile(
    r"^\s*(?:import|from)\s+(?:gpuprof|triton|numba\.cuda|numba\s+import\s+.*\bcuda)\b", re.MULTILINE
)
# A kernel's name: the word before the parenthesis of its parameters.
_BOUNDS = r"(?:__launch_bounds__\s*\([^)]*\)\s*)?"
KERNELS = re.compile(rf"__global__\s+(?:static\s+|inline\s+)*{_BOUNDS}void\s+{_BOUNDS}(\w+)\s*\(")
LAUNCHED, PROGRAM, SCRIPT, NOT_LAUNCHED = "launches", "program", "script", "not launched"
HEAD = """\
# What `gpuprof check` collects, and compares with the baselines in gpuprof-baselines/, which
# `gpuprof check --update` writes. `gpuprof list project-keys` has all keys.

[defaults]
chip = "a100"
"""


class Found(NamedTuple):
    """`file`: relative to the folder. `kind`: how it is run. `kernels`: of one that nothing launches."""

    file: str
    kind: str
    kernels: tuple[str, ...] = ()


def found_sources(folder: Path) -> list[Found]:
    """The files of a folder, and of those in it, that have kernels, in the order of their names."""
    files = sorted(path for path in _files(folder) if path.endswith(SUFFIXES))[:MOST_FILES]
    return [found for file in files if (found := _found(folder, file))]


def _files(folder: Path) -> Iterator[str]:
    """The files that git does not ignore; without git, all but hidden ones and folders that are no sources."""
    words = ["git", "-C", str(folder), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(words, capture_output=True, check=True)
        yield from filter(None, os.fsdecode(listed.stdout).split("\0"))
        return
    except (OSError, subprocess.CalledProcessError):
        pass
    for place, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".") and each not in NOT_SOURCES]
        yield from (os.path.relpath(os.path.join(place, name), folder) for name in names if not name.startswith("."))


def _found(folder: Path, file: str) -> Found | None:
    from gpuprof.run.target import Launches, Program, target_of

    path = folder / file
    try:
        text = read_input_text(path, SOURCE, errors="replace")
        if file.endswith(".py"):
            return Found(file, SCRIPT) if LAUNCHERS.search(text) else None
        target = target_of(path)
        if isinstance(target, Program):
            return Found(file, PROGRAM) if "<<<" in text or "__global__" in text else None
        if isinstance(target, Launches) and target.requests:
            return Found(file, LAUNCHED)
    except GpuprofError:
        return None
    kernels = tuple(dict.fromkeys(KERNELS.findall(text)))
    return Found(file, NOT_LAUNCHED, kernels) if kernels else None


def project_text(found: Sequence[Found]) -> str:
    """The project file; entries that need launches first are comments."""
    names = _names([each.file for each in found])
    return HEAD + "".join(_entry(each, name) for each, name in zip(found, names, strict=True))


def _entry(found: Found, name: str) -> str:
    lines = ["[[entry]]", f"name = {json.dumps(name)}", f"file = {json.dumps(found.file, ensure_ascii=False)}"]
    if found.kind != NOT_LAUNCHED:
        return "\n" + "\n".join(lines) + "\n"
    launch = f'launch = "{found.kernels[0]}<<<grid, block>>>(arguments)"'
    why = f"Nothing launches {', '.join(found.kernels[:5])}: say how, as in docs/launches.md."
    return "\n" + "".join(f"# {line}\n" for line in (why, *lines, launch))


def _names(files: Sequence[str]) -> list[str]:
    """Names of entries: of the files, with their folders where two are alike."""
    stems = [Path(file).stem for file in files]
    twice = {stem for stem, n in Counter(stems).items() if n > 1}
    whole = [file.replace("/", ".") if stem in twice else stem for file, stem in zip(files, stems, strict=True)]
    names = [re.sub(r"[^A-Za-z0-9_.+@-]", "_", name)[:100] for name in whole]
    return [name if ENTRY_NAME.fullmatch(name) else f"entry_{number}" for number, name in enumerate(names, 1)]
