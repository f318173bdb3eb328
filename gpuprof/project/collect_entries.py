"""Collects the entries of a project that are not kept, some at a time; each in a process of its own."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpuprof.base.stages import stage
from gpuprof.project.entry import Entry
from gpuprof.project.entry_run import Children, Collected, collect
from gpuprof.project.inputs import values_of
from gpuprof.project.kept import Kept
from gpuprof.project.keys import Key


def collect_entries(
    entries: Sequence[Entry], run_keys: Sequence[Key], kept: Kept, scratch: Path, jobs: int, is_fresh: bool = False
) -> list[Collected]:
    """The runs of the entries, in their order. `scratch`: a folder for databases that are not kept; `jobs`: processes
    at a time; `is_fresh`: runs all of them. Raises UsageError for an entry that cannot be run as it stands.
    """
    commands = [entry.command(run_keys) for entry in entries]
    found = [_found(entry, command, kept, is_fresh) for entry, command in zip(entries, commands, strict=True)]
    kept.digests.forget()  # from here on files may change
    children = Children()
    with stage("collecting", "entries", len(entries), each="entry") as under_way, ThreadPoolExecutor(jobs) as pool:

        def done(collected: Collected) -> Collected:
            under_way.done += 1
            under_way.failed += collected.database is None
            return collected

        def run(at: int) -> Collected:
            folder = scratch / str(at)
            folder.mkdir()
            return done(collect(entries[at], commands[at], kept, folder, children, found[at].changed))

        try:
            waiting = {at: pool.submit(run, at) for at, each in enumerate(found) if not each.is_kept}
            collected = [waiting[at].result() if at in waiting else done(each) for at, each in enumerate(found)]
        except BaseException:  # Ctrl-C, or an entry that cannot run: no other result is used
            children.stop()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    kept.digests.save()
    kept.prune()
    return collected


def _found(entry: Entry, command: list[str], kept: Kept, is_fresh: bool) -> Collected:
    if is_fresh:
        return Collected(entry, None)
    database, changed = kept.find(entry, command, values_of(entry, command, kept.digests))
    return Collected(entry, database, is_kept=database is not None, changed=changed)
