"""The cores that processes and threads of ours share."""

import os

import pytest

from gpuprof.base import processes


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Makes a machine of so many cores, of which a container may use as much as cgroup's file says."""
    quota = tmp_path / "cpu.max"
    monkeypatch.setattr(processes, "QUOTA", quota)

    def of(cores: int, text: str | None = None, threads: int | None = None):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
        if text is not None:
            quota.write_text(text)
        processes.use_threads(threads)

    yield of
    processes.use_threads(None)


@pytest.mark.parametrize(
    ("text", "cores"),
    [(None, 8), ("max 100000\n", 8), ("250000 100000\n", 2), ("50000 100000\n", 1), ("1600000 100000\n", 8), ("?", 8)],
)
def test_a_container_has_a_share_of_the_cores(machine, text, cores):
    machine(8, text)
    assert (processes.cores(), processes.n_threads()) == (cores, cores)


@pytest.mark.parametrize(
    ("jobs", "threads", "work", "shares"),
    [
        (None, None, 20, (8, 1)),
        (None, None, 3, (3, 2)),
        (None, None, 1, (1, 8)),
        (None, 2, 20, (4, 2)),
        (None, 16, 20, (1, 16)),
        (2, None, 20, (2, 4)),
        (3, None, 20, (3, 2)),
        (16, None, 20, (16, 1)),
        (4, 4, 20, (4, 4)),
        (4, 4, 0, (1, 4)),
    ],
)
def test_processes_and_threads_of_each(machine, jobs, threads, work, shares):
    """Together no more than the cores, unless the user names both numbers, or one that is larger."""
    machine(8, threads=threads)
    n = processes.processes(jobs, work)
    assert (n, processes.threads_of_each(n)) == shares
