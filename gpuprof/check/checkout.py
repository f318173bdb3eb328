"""The checkout that a check runs in: which recorded places are lines of it, by which names."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from gpuprof.check.verdict import EntryVerdict, Place, Problem

GITHUB_ROOT = "GITHUB_WORKSPACE"
# Folders of installed files: below the root or not, they are in no diff.
INSTALLED = frozenset({"site-packages", "dist-packages", "node_modules"})


class Checkout(NamedTuple):
    """`root`: the folder that paths in annotations are relative to; `folder`: the one that recorded relative paths are
    relative to, or else `root`, which a build may have been started in. Both have no links.
    """

    root: Path
    folder: Path

    def path(self, recorded: str) -> str | None:
        """The path of a file of the checkout from its root, with slashes; None for any other file."""
        return next(
            filter(None, (self._below(base / recorded) for base in dict.fromkeys((self.folder, self.root)))), None
        )

    def _below(self, name: Path) -> str | None:
        try:
            path = Path(os.path.realpath(name))
            below = path.relative_to(self.root)
            is_ours = path.is_file()
        except (OSError, ValueError):  # not below the root, or no name that the system takes
            return None
        hidden = any(part.startswith(".") or part in INSTALLED for part in below.parts[:-1])
        return below.as_posix() if is_ours and not hidden else None

    def place(self, places: Iterable[Place]) -> Place | None:
        """The first of the places that is a line of the checkout, its path from the root; None where none is."""
        for place in places:
            path = self.path(place.path)
            if path is not None and place.line > 0:
                return Place(path, place.line)
        return None

    def place_or_file(self, problem: Problem, entry: EntryVerdict) -> Place:
        """The place of a problem, for formats in which each has one: else the first line of what was judged."""
        return self.place(problem.places) or Place(self.path(entry.file) or Path(entry.file).name or entry.name, 1)


def find_checkout(environment: Mapping[str, str], folder: Path) -> Checkout:
    """The checkout around a folder: GitHub's workspace, else the nearest folder upwards with a .git, else this one."""
    here = Path(os.path.realpath(folder))
    workspace = environment.get(GITHUB_ROOT, "")
    if workspace and os.path.isdir(workspace):
        return Checkout(Path(os.path.realpath(workspace)), here)
    # a worktree has a file .git
    root = next((each for each in (here, *here.parents) if os.path.lexists(each / ".git")), here)
    return Checkout(root, here)
