"""A program with streams, copies, events and a graph takes the same time in every run, down to the bytes.

A recording holds no date, no path and nothing of the machine, so that nothing of it is left out of the comparison.
"""

import csv
import os
import shutil

import pytest

from tests.program.test_runs import SOURCES, WHY_NOT, gpuprof

pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)]
NAME = "overlapped.cu"
FOLDERS = ("a", "another folder")
JOBS = (1, 2)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The output of two runs and the bytes of their recordings. The second has another folder, time zone, order of
    Python's sets, and one core.
    """
    made, cores = tmp_path_factory.mktemp("twice"), os.sched_getaffinity(0)
    settings = (
        {"env": os.environ | {"PYTHONHASHSEED": "1", "TZ": "UTC"}},
        {
            "env": os.environ | {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo"},
            "preexec_fn": lambda: os.sched_setaffinity(0, {min(cores)}),
        },
    )
    found = []
    for name, options in zip(FOLDERS, settings, strict=True):
        (made / name).mkdir()
        shutil.copy(SOURCES / NAME, made / name)
        done = gpuprof("collect", NAME, "-o", "o.gprec", folder=made / name, **options)
        assert done.returncode == 0, done.stderr
        found.append((done.stdout, (made / name / "o.gprec").read_bytes()))
    return made / FOLDERS[0], found


def test_two_recordings_are_the_same_bytes(runs):
    _, (first, second) = runs
    assert first == second
    assert "0 6 80 3, " in first[0]  # the results, with the times that the program's own events give


def test_the_recording_has_the_time_of_all_of_it(runs):
    """So that the bytes that agree are those of copies, fills, a graph and two streams."""
    folder, _ = runs
    done = gpuprof("export", "o.gprec", "--format", "nsys-cuda-gpu-trace", "-o", "t.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    with (folder / "t.csv").open() as file:
        names = [row["Name"] for row in csv.DictReader(file)]
    graph = ["[CUDA memcpy Device-to-Device]", "scale", "[CUDA memset]"]
    assert sorted(names) == sorted(
        [*["[CUDA memcpy Host-to-Device]", "scale"] * 2, *graph * 3, *["[CUDA memcpy Device-to-Host]"] * 2]
    )


def test_any_number_of_workers_makes_the_same_table(tmp_path):
    shutil.copy(SOURCES / NAME, tmp_path)
    for jobs in JOBS:
        words = ("--chips", "a100,rtx3090", "--jobs", str(jobs), "-o", f"{jobs}.csv")
        done = gpuprof("sweep", NAME, *words, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    first, second = ((tmp_path / f"{jobs}.csv").read_text() for jobs in JOBS)
    assert first == second and len(first.splitlines()) == 1 + 2 * 5
