"""The entries of a project as they are at another revision, collected by this gpuprof."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from gpuprof.base.inputs import is_regular
from gpuprof.base.scratch import temporary_folder
from gpuprof.project.collect_entries import collect_entries
from gpuprof.project.entry import Entry
from gpuprof.project.entry_run import Collected
from gpuprof.project.keys import Key
from gpuprof.project.project_file import IN_PYTHON, Project, has_table, read_project
from gpuprof.project.revisions import Repository
from gpuprof.project.run_cache import RunCache


@dataclass(frozen=True)
class How:
    """How entries are collected. `jobs`: at a time, None: as the cores allow. `choose`: those that are wanted."""

    run_keys: Sequence[Key]
    jobs: int | None
    choose: Callable[[Sequence[Entry]], list[Entry]] = list
    is_fresh: bool = False


@contextmanager
def at_revision(project: Project, repository: Repository, commit: str, how: How) -> Generator[list[Collected]]:
    """The entries of the project at a commit, by that commit's own project file; where it has none, this one's entries,
    as far as their files are there. Databases are there until the block ends. Raises UsageError for a worktree that
    cannot be made, or a project file that does not fit.
    """
    with repository.worktree(commit) as folder, temporary_folder() as scratch:
        there = folder / project.file.name
        entries = read_project(there, how.run_keys).entries if _has_project(there) else _moved(project, folder)
        yield collect_entries(how.choose(entries), how.run_keys, RunCache(), scratch, how.jobs, how.is_fresh)


def _has_project(file: Path) -> bool:
    return is_regular(file) and (file.name != IN_PYTHON or has_table(file))


def _moved(project: Project, folder: Path) -> list[Entry]:
    """The entries in another folder, as far as their files are there."""
    moved = []
    for entry in project.entries:
        place = folder / entry.folder.relative_to(project.folder)
        if is_regular(place / entry.file):
            moved.append(replace(entry, folder=place))
    return moved
