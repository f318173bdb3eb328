"""Runs on this machine: in this process, or in processes of a pool."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from gpuprof.base.processes import processes, threads_of_each, use_threads
from gpuprof.base.scratch import remove_left_folders
from gpuprof.sweep.run_sweep import Outcome, Task, run_one
from gpuprof.timing.first_run import compile_once

PATIENCE = 2  # pools whose workers may die before runs are done one by one


def on_this_machine(tasks: Sequence[Task], jobs: int | None) -> Iterator[Outcome]:
    """The outcomes, in the order they are ready. `jobs`: processes at a time, None: as the cores allow. A worker that
    dies (a system out of memory kills) is replaced, its runs are done again; a run that always kills its worker fails,
    and no other.
    """
    n_processes = processes(jobs, len(tasks))
    if n_processes == 1:
        yield from map(run_one, tasks)
        return
    compile_once()
    waiting = {task.number: task for task in tasks}
    for _ in range(PATIENCE):
        try:
            for outcome in _pool(list(waiting.values()), n_processes):
                del waiting[outcome.number]
                yield outcome
        except BrokenProcessPool:
            continue
        break
    for task in waiting.values():
        yield _alone(task)


def _pool(tasks: Sequence[Task], n_processes: int) -> Iterator[Outcome]:
    """Raises BrokenProcessPool when a worker died."""
    context = multiprocessing.get_context("spawn")  # a fork would share what threads of this process hold
    others = set(multiprocessing.active_children())
    threads = threads_of_each(n_processes)
    with ProcessPoolExecutor(n_processes, context, initializer=_begin, initargs=(threads,)) as pool:
        try:
            for future in as_completed([pool.submit(run_one, task) for task in tasks]):
                yield future.result()
        # Ctrl-C, a dead worker, a reader that stops early: no result is used any more
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            workers = set(multiprocessing.active_children()) - others
            for process in workers:
                process.kill()
            for process in workers:
                process.join()
            remove_left_folders()
            raise


def _alone(task: Task) -> Outcome:
    try:
        [outcome] = _pool([task], 1)
        return outcome
    except BrokenProcessPool:
        return Outcome(task.number, (), "its process died each time; was it out of memory?")


def _begin(threads: int) -> None:
    """In a new worker, which computes on so many threads: Ctrl-C is the parent's business, and without a parent there
    is nothing to do.
    """
    use_threads(threads)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    multiprocessing.parent_process().join()
    os._exit(1)
