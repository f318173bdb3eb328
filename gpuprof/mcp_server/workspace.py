"""The one folder whose files a server's tools read and write."""

import os
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from gpuprof.errors import UsageError


class Workspace(NamedTuple):
    """`root`: the folder, absolute, links followed. `allows_programs`: whole programs and scripts may run, too."""

    root: Path
    allows_programs: bool = False

    def inside(self, name: str) -> str:
        """A path of a call as a word of a command that works in the folder. Raises UsageError for one that leaves the
        folder, as it is written or where a link leads; a file that is not there may be an output.
        """
        if not name or "\0" in name:
            raise UsageError(f"{name!r} is no path")
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise UsageError(f"{name}: give a path relative to the server's folder, without `..`")
        if not Path(os.path.realpath(self.root / path)).is_relative_to(self.root):
            raise UsageError(f"{name}: a link leads out of the server's folder")
        return f"./{path}" if name.startswith("-") else str(path)
