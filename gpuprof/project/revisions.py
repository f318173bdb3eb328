"""Revisions of a project in git: each as a folder of its own, a worktree in scratch. The checkout stays as it is.

Git's hooks do not run. A shallow clone is fetched as far as a revision needs it.
"""

import os
import re
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from gpuprof.base.interrupts import uninterrupted
from gpuprof.base.scratch import temporary_folder
from gpuprof.errors import UsageError

WITHOUT_HOOKS = ("-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false")
# A name, and how far before it: main~3, HEAD^, v1.0~2^2.
_BEFORE = re.compile(r"(?P<name>[^~^]+)(?P<steps>(?:[~^]\d*)*)")
SHORT = 10  # characters of a commit's name


class Repository:
    """The repository that a folder is in. Raises UsageError where git is not installed, or there is none."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.top = Path(self.git("rev-parse", "--show-toplevel", why=f"{folder}: is in no git repository"))

    def git(self, *words: str, why: str = "", folder: Path | None = None) -> str:
        """The text that git prints, without the last newline. Raises UsageError, with `why` and git's own last line."""
        command = ["git", "-C", str(folder or self.folder), *WITHOUT_HOOKS, *words]
        try:
            ended = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, env=_environment())
        except FileNotFoundError:
            raise UsageError("git is not installed, and revisions of a project are read by it") from None
        if ended.returncode:
            said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
            last = said[-1].removeprefix("fatal: ").removeprefix("error: ") if said else f"exit code {ended.returncode}"
            raise UsageError(f"{why or 'git ' + words[0]}: git says: {last}")
        return ended.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def commit(self, revision: str) -> str:
        """The commit's whole name. Fetches what a shallow clone lacks of it. Raises UsageError for no revision."""
        if found := self._resolved(revision):
            return found
        if not self.is_shallow:
            raise UsageError(f"{revision}: git knows no such revision here; `git fetch` brings those of the remote")
        if found := self._fetched(revision):
            return found
        raise UsageError(
            f"{revision}: git knows no such revision in this shallow clone, and could not fetch it; type `git fetch "
            "--unshallow`, or let CI clone all of it (fetch-depth: 0)"
        )

    @property
    def is_shallow(self) -> bool:
        return self.git("rev-parse", "--is-shallow-repository") == "true"

    def _resolved(self, revision: str) -> str:
        try:
            return self.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except UsageError:
            return ""

    def _fetched(self, revision: str) -> str:
        """The commit, after a fetch of the name in the revision, and of as many before it as it counts back."""
        match = _BEFORE.fullmatch(revision)
        if not match or revision.startswith("-"):
            return ""
        name = match["name"].removeprefix("origin/")
        depth = 1 + sum(int(step or 1) for step in re.findall(r"[~^](\d*)", match["steps"]))
        for words in (["--depth", str(depth), "origin", name], ["--deepen", str(depth), "origin"]):
            try:
                self.git("fetch", "--quiet", "--no-tags", *words)
            except UsageError:
                continue
            if found := self._resolved(revision) or self._resolved(f"FETCH_HEAD{match['steps']}"):
                return found
        return ""

    def commits_between(self, good: str, bad: str) -> list[str]:
        """The commits after `good` up to `bad`, the oldest first: those of the first parents, where `good` is one of
        them. Raises UsageError where `bad` does not come after `good`.
        """
        if self.is_shallow:
            self.git("fetch", "--quiet", "--unshallow", "origin", why="a bisection needs the commits between")
        for words in (["--first-parent"], []):
            found = self.git("rev-list", "--reverse", "--topo-order", *words, f"{good}..{bad}").split()
            if found and (not words or self._parent(found[0]) == good):
                return found
        raise UsageError(f"{bad[:SHORT]} does not come after {good[:SHORT]}; give the good revision first")

    def _parent(self, commit: str) -> str:
        return self._resolved(f"{commit}^1")

    def subject(self, commit: str) -> str:
        """The commit in words: "3f2a91c0d4 Pad the tile (2026-11-28, A. Author)"."""
        text = self.git("log", "-1", "--format=%s (%as, %an)", commit)
        return f"{commit[:SHORT]} {text}"

    @contextmanager
    def worktree(self, commit: str) -> Generator[Path]:
        """The folder that `folder` is at a commit; it may not be there. The worktree goes with the block.

        Raises UsageError when git cannot make it.
        """
        with temporary_folder() as scratch:
            tree = scratch / "tree"
            try:
                self.git("worktree", "add", "--quiet", "--detach", "--force", str(tree), commit,
                         why=f"no worktree of {commit[:SHORT]} can be made")  # fmt: skip
                if (tree / ".gitmodules").is_file():
                    self.git("submodule", "update", "--quiet", "--init", "--recursive", folder=tree,
                             why=f"the submodules of {commit[:SHORT]} cannot be had")  # fmt: skip
                yield tree / os.path.relpath(self.folder.resolve(), self.top.resolve())
            finally:
                with uninterrupted():
                    self._remove(tree)

    def _remove(self, tree: Path) -> None:
        words = ["git", "-C", str(self.folder), "worktree", "remove", "--force", str(tree)]
        subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, env=_environment())


def _environment() -> dict[str, str]:
    """Git asks for no password, and a hook or an alias that set git's own folders does not count."""
    own = {
        name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
    }
    return {**own, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
