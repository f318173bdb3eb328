"""Runs of a test as the files of another revision give them: a git worktree in a temporary folder, this gpuprof.

revision ─ Worktree ─> its files, in a folder of their own
runs of a test ─ old ─> the same command lines there ─> Facts
"""

import os
import subprocess
from contextlib import ExitStack
from itertools import count
from pathlib import Path

from gpuprof.base.scratch import temporary_folder
from gpuprof.check.facts import Facts, measure
from gpuprof.correlate.database import reading
from gpuprof.errors import GpuprofError, NotComparable, UsageError
from gpuprof.testing.collector import Collector, run_collection, write_database
from gpuprof.testing.judge import Old, joined
from gpuprof.testing.run import Collection, Run


class Worktree:
    """The files of `revision` of the repository that `root` is in. Nothing is written to the checkout.

    Raises UsageError where there is no git, no repository or no such revision.
    """

    def __init__(self, root: Path, revision: str):
        self.revision = revision
        self.top = Path(_git(root, "rev-parse", "--show-toplevel"))
        commit = _git(root, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}", of=revision)
        with ExitStack() as stack:
            self.folder = stack.enter_context(temporary_folder()) / "tree"
            _git(self.top, "worktree", "add", "--detach", "--quiet", "--force", str(self.folder), commit)
            stack.callback(_git, self.top, "worktree", "remove", "--force", str(self.folder))
            self.remove = stack.pop_all().close

    def values(self) -> dict[str, str]:
        """As texts, for workers of xdist."""
        return {"revision": self.revision, "top": str(self.top), "folder": str(self.folder)}

    @classmethod
    def of_values(cls, values: dict[str, str]) -> "Worktree":
        """The one that another process has made, and removes."""
        worktree = cls.__new__(cls)
        worktree.revision = values["revision"]
        worktree.top, worktree.folder = Path(values["top"]), Path(values["folder"])
        return worktree

    def old(self, collector: Collector) -> Old:
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
            raise NotComparable(f"{self.revision}: {error}") from None

    def _there(self, collection: Collection | None) -> Collection:
        if collection is None:
            raise NotComparable(
                "a run in the test's own process cannot be repeated; leave out --gpuprof-against for it"
            )
        folder = collection.folder.resolve()
        if not folder.is_relative_to(self.top.resolve()):
            raise NotComparable(f"{folder} is not in the repository {self.top}")
        return collection._replace(folder=self.folder / folder.relative_to(self.top.resolve()))


def _git(folder: Path, *arguments: str, of: str = "") -> str:
    """What git prints. Raises UsageError when it fails; `of`: the revision that it is then said to lack."""
    # git would ask for a password; hooks of the checkout have no business in a folder that is thrown away
    command = ["git", "-C", str(folder), "-c", "core.hooksPath=/dev/null", *arguments]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env=os.environ | {"GIT_TERMINAL_PROMPT": "0"},
        )
    except FileNotFoundError:
        raise UsageError("--gpuprof-against needs git; install it") from None
    if done.returncode:
        why = done.stderr.strip().removeprefix("fatal: ") or f"git {arguments[0]} failed"
        raise UsageError(f"--gpuprof-against {of}: {f'{folder} has no such revision' if of else why}")
    return done.stdout.strip()
