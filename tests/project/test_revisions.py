"""Revisions of a project: worktrees in scratch, shallow clones, and what cannot be had. Git itself is the oracle."""

import os
import subprocess
from pathlib import Path

import pytest

from gpuprof.errors import UsageError
from gpuprof.project.revisions import Repository

WHO = {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
WHEN = {f"GIT_{who}_DATE": "2026-01-02T03:04:05Z" for who in ("AUTHOR", "COMMITTER")}


def git(folder: Path, *words: str) -> str:
    environment = os.environ | WHO | WHEN | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", "-C", str(folder), *words], capture_output=True, text=True, env=environment, check=True
    )
    return done.stdout.strip()


def committed(folder: Path, text: str, message: str = "a change") -> str:
    (folder / "sub").mkdir(exist_ok=True)
    (folder / "sub" / "x.txt").write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path) -> Path:
    folder = tmp_path / "a repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for number in range(5):
        committed(folder, f"state {number}", f"change {number}")
    return folder


def state(folder: Path) -> tuple[str, str, list[str], str]:
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if ".git" not in path.parts)
    return (
        git(folder, "status", "--porcelain"),
        git(folder, "rev-parse", "HEAD"),
        files,
        git(folder, "worktree", "list"),
    )


def test_a_worktree_is_the_same_folder_at_another_commit_and_goes(repository):
    (repository / "sub" / "x.txt").write_text("not committed")
    before = state(repository)
    found = Repository(repository / "sub")
    with found.worktree(found.commit("HEAD~2")) as folder:
        assert (folder.name, (folder / "x.txt").read_text()) == ("sub", "state 2")
    assert not folder.exists()
    assert state(repository) == before


def test_a_worktree_goes_with_ctrl_c(repository):
    before = state(repository)
    found = Repository(repository)
    with pytest.raises(KeyboardInterrupt), found.worktree(found.commit("main")):
        raise KeyboardInterrupt
    assert state(repository) == before


def test_hooks_do_not_run(repository, tmp_path):
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    found = Repository(repository)
    with found.worktree(found.commit("HEAD~1")):
        pass
    assert not (tmp_path / "ran").exists()


def test_commits_between_are_the_oldest_first(repository):
    found = Repository(repository)
    first, last = found.commit("HEAD~3"), found.commit("HEAD")
    expected = [git(repository, "rev-parse", f"HEAD~{n}") for n in (2, 1, 0)]
    assert found.commits_between(first, last) == expected
    with pytest.raises(UsageError, match=r"does not come after .*; give the good revision first"):
        found.commits_between(last, first)


def test_of_a_merge_the_first_parents_are_searched(repository):
    start = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-q", "-b", "side", "HEAD~1")
    committed(repository, "side")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "-s", "ours", "-m", "merged", "side")
    found = Repository(repository)
    assert found.commits_between(start, found.commit("main")) == [git(repository, "rev-parse", "HEAD")]


def test_a_commit_has_words(repository):
    found = Repository(repository)
    commit = found.commit("HEAD")
    assert found.subject(commit) == f"{commit[:10]} change 4 (2026-01-02, a)"


@pytest.mark.parametrize("revision", ["HEAD~3", "main~3", "origin/main~3"])
def test_a_shallow_clone_is_fetched_as_far_as_it_is_needed(repository, tmp_path, revision):
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", str(clone))
    found = Repository(clone)
    with found.worktree(found.commit(revision)) as folder:
        assert (folder / "sub" / "x.txt").read_text() == "state 1"
    assert found.is_shallow
    assert git(clone, "status", "--porcelain") == ""


def test_a_shallow_clone_that_cannot_be_fetched_says_what_to_type(repository, tmp_path):
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", str(clone))
    repository.rename(tmp_path / "away")
    with pytest.raises(UsageError) as caught:
        Repository(clone).commit("HEAD~3")
    assert str(caught.value) == (
        "HEAD~3: git knows no such revision in this shallow clone, and could not fetch it; type `git fetch "
        "--unshallow`, or let CI clone all of it (fetch-depth: 0)"
    )


@pytest.mark.parametrize("revision", ["nothing", "--help", "-x", "HEAD:sub", "", "a\nb"])
def test_what_is_no_revision_is_refused(repository, revision):
    with pytest.raises(UsageError, match="git knows no such revision here; `git fetch` brings those of the remote"):
        Repository(repository).commit(revision)


def test_no_repository_no_git_and_no_room(repository, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="is in no git repository: git says: not a git repository"):
        Repository(tmp_path)
    found = Repository(repository)
    with (
        pytest.raises(UsageError, match=r"no worktree of 0000000000 can be made: git says: invalid reference: 0+"),
        found.worktree("0" * 40),
    ):
        raise AssertionError("there is no such commit")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="git is not installed, and revisions of a project are read by it"):
        found.commit("HEAD")
