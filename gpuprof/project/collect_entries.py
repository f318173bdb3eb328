"""Collects the entries of a project that are not in the cache, some at a time; each in a process of its own."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpuprof.base.processes import processes, threads_of_each
from gpuprof.base.stages import stage
from gpuprof.project.entry import Entry
from gpuprof.project.entry_run import Children, Collected, collect
from gpuprof.project.inputs import values_of
from gpuprof.project.keys import Key
from gpuprof.project.run_cache import RunCache


def collect_entries(
    entries: Sequence[Entry],
    run_keys: Sequence[Key],
    cache: RunCache,
    scratch: Path,
    jobs: int | None,
    is_fresh: bool = False,
) -> list[Collected]:
    """The runs of the entries, in their order. `scratch`: a folder for databases that the cache does not take; `jobs`:
    processes at a time, None: as the cores allow; `is_fresh`: runs all of them. Raises UsageError for an entry that is
    no command of `collect`.
    """
    commands = [entry.command(run_keys) for entry in entries]
    found = [_found(entry, command, cache, is_fresh) for entry, command in zip(entries, commands, strict=True)]
    cache.digests.forget()  # from here on files may change
    n_processes = processes(jobs, sum(not each.is_cached for each in found))
    children = Children(threads_of_each(n_processes))
    with (
        stage("collecting", "entries", len(entries), each="entry") as under_way,
        ThreadPoolExecutor(n_processes) as pool,
    ):

        def done(collected: Collected) -> Collected:
            under_way.done += 1
            under_way.failed += collected.database is None
            return collected

        def run(at: int) -> Collected:
            folder = scratch / str(at)
            folder.mkdir()
            return done(collect(entries[at], commands[at], cache, folder, children, found[at].changed))

        try:
            waiting = {at: pool.submit(run, at) for at, each in enumerate(found) if not each.is_cached}
            collected = [waiting[at].result() if at in waiting else done(each) for at, each in enumerate(found)]
        except BaseException:  # Ctrl-C, or an entry that cannot run: no other result is used
            children.stop()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    cache.digests.save()
    cache.prune()
    return collected


def _found(entry: Entry, command: list[str], cache: RunCache, is_fresh: bool) -> Collected:
    if is_fresh:
        return Collected(entry, None)
    database, changed = cache.find(entry, command, values_of(entry, command, cache.digests))
    return Collected(entry, database, is_cached=database is not None, changed=changed)
