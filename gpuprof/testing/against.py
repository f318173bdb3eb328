"""Runs of a test as the files of another revision give them: a worktree of it in scratch, this gpuprof.

revision ─ Worktree ─> its files, in a folder of their own
runs of a test ─ old ─> the same command lines there ─> Facts
"""

import os
from contextlib import ExitStack
from pathlib import Path

from gpuprof.check.facts import Facts, measure
from gpuprof.correlate.database import reading
from gpuprof.errors import GpuprofError, NotComparable
from gpuprof.project.revisions import Repository
from gpuprof.testing.collector import Collector, run_collection, write_database
from gpuprof.testing.judge import Old, joined
from gpuprof.testing.run import Collection


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

    def old(self, collector: Collector) -> Old | None:
        """The facts of the collector's runs there. None where a run was in the test's own process: another revision's
        kernels cannot be in this one.
        """
        collections = [run.collection for run in collector.runs if run.collection]
        if len(collections) < len(collector.runs):
            return None

        def read() -> Facts | None:
            there = [self._facts(each, collector.place("against")) for each in map(self._there, collections) if each]
            return joined(there) if there else None

        return Old(self.revision, read, "")

    def _facts(self, collection: Collection, recording: Path) -> Facts:
        """Raises NotComparable for a run that fails there."""
        try:
            run = run_collection(collection, recording, exit_code=None)
            write_database(run)
            with reading(run.database) as database:
                return measure(database, recording)
        except GpuprofError as error:
            raise NotComparable(f"at {self.revision}: {error}") from None

    def _there(self, collection: Collection) -> Collection | None:
        """The same in the worktree; None where the file is not there. Raises NotComparable for one of no revision."""
        folder = collection.folder.resolve()
        if not folder.is_relative_to(self.top):
            raise NotComparable(f"{folder} is not in the repository {self.top}")
        there = Path(os.path.normpath(self.folder / os.path.relpath(folder, self.root)))
        return collection._replace(folder=there) if (there / collection.file).exists() else None
