"""Runs of a test as the files of another revision give them: a worktree of it in scratch, this gpuprof.

revision ─ Worktree ─> its files, in a folder of their own
runs of a test ─ old ─> the same command lines there ─> Facts
"""

import os
from contextlib import ExitStack
from itertools import count
from pathlib import Path

from gpuprof.check.facts import Facts, measure
from gpuprof.correlate.database import reading
from gpuprof.errors import GpuprofError, NotComparable
from gpuprof.project.revisions import Repository
from gpuprof.testing.collector import Collector, run_collection, write_database
from gpuprof.testing.judge import Old, joined
from gpuprof.testing.run import Collection, Run


class Worktree:
    """The folder that `root` is at a revision. `values`: texts that make the same one in a worker of xdist."""

    def __init__(self, revision: str, root: str, top: str, folder: str):
        self.revision, self.root, self.top, self.folder = revision, Path(root), Path(top), Path(folder)
        self.values = {"revision": revision, "root": root, "top": top, "folder": folder}

    @classmethod
    def made(cls, root: Path, revision: str, stack: ExitStack) -> "Worktree":
        """Makes the folder; it goes with the stack. Raises UsageError where there is no git or no such revision."""
        repository = Repository(root)
        folder = stack.enter_context(repository.worktree(repository.commit(revision)))
        return cls(revision, str(root.resolve()), str(repository.top.resolve()), str(folder))

    def old(self, collector: Collector) -> Old:
        """What the collector's runs give there."""
        numbers = count(1)

        def again(run: Run) -> Facts:
            folder = collector.scratch / f"against{next(numbers)}"
            folder.mkdir()
            return self._facts(run, folder / run.recording.name)

        return Old(self.revision, lambda: joined([again(run) for run in collector.runs]), "")

    def _facts(self, run: Run, recording: Path) -> Facts:
        """Raises NotComparable for a run that cannot be repeated there, or fails there."""
        try:
            there = run_collection(self._there(run.collection), recording, exit_code=None)
            write_database(there)
            with reading(there.database) as database:
                return measure(database, recording)
        except GpuprofError as error:
            raise NotComparable(f"at {self.revision}: {error}") from None

    def _there(self, collection: Collection | None) -> Collection:
        if collection is None:
            raise NotComparable("a run in the test's own process cannot be repeated there")
        folder = collection.folder.resolve()
        if not folder.is_relative_to(self.top):
            raise NotComparable(f"{folder} is not in the repository {self.top}")
        there = Path(os.path.normpath(self.folder / os.path.relpath(folder, self.root)))
        if not (there / collection.file).exists():
            raise NotComparable(f"there is no {collection.file}")
        return collection._replace(folder=there)
