"""An entry is collected again when anything changes that its run depends on, and only then."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from gpuprof.chips import __file__ as chips
from gpuprof.hosts import __file__ as hosts
from tests.support.command import gpuprof, write_files

SCALE = """\
// LAUNCH: scale<<<1, 32>>>(x: f32[32]=ones)
#include "factor.h"
__global__ void scale(float *x)
{
    x[threadIdx.x] *= FACTOR;
}
"""
SCRIPT = """\
import sys
import gpuprof
import numpy as np
import helper
x = np.load("x.npy")
gpuprof.Device().load("scale.cu").scale[1, 32](x)
print(helper.NAME, open("note.txt").read() if len(sys.argv) > 1 else "")
"""
PROGRAM = """\
#include <fstream>
#include <iostream>
#include <cstdlib>
int steps();
__global__ void nothing() {}
int main()
{
    std::ifstream file("input.txt"), other("later.txt");
    int n = 0;
    file >> n;
    if (const char *more = std::getenv("MORE"))
        n += std::atoi(more);
    for (int i = 0; i < n + steps(); ++i)
        nothing<<<1, 32>>>();
}
"""
FILES = {
    "scale.cu": SCALE,
    "factor.h": "#define FACTOR 2\n",
    "script.py": SCRIPT,
    "helper.py": "NAME = 'a'\n",
    "app.cu": PROGRAM,
    "steps.cpp": "int steps() { return 1; }\n",
    "input.txt": "1\n",
    "data/a.bin": "a",
    "note.txt": "a note",
}
KERNEL = "file = 'scale.cu'"
PROGRAM_ENTRY = "file = 'app.cu'\nsources = 'steps.cpp'\nenvironment = ['MORE']"


class Change(NamedTuple):
    """`entry`: its keys; `change`: what is done to the folder."""

    entry: str
    change: Callable[[Path], object]


def written(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


def edited(name: str, before: str, after: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text((folder / name).read_text().replace(before, after))


CHANGES = {
    "a source": Change(KERNEL, edited("scale.cu", "x[threadIdx.x] *=", "x[threadIdx.x] +=")),
    "a header": Change(KERNEL, written("factor.h", "#define FACTOR 3\n")),
    "a flag": Change(KERNEL, edited("gpuprof.toml", KERNEL, f"{KERNEL}\nmax-registers = 40")),
    "expected values": Change(f"{KERNEL}\nexpect = 'x=wanted.npy'",
                              lambda folder: np.save(folder / "wanted.npy", np.full(32, 2, np.float64))),
    "a chip's file": Change(f"{KERNEL}\nchip = 'mine.toml'", edited("mine.toml", "notes", "# a comment\nnotes")),
    "a script": Change("file = 'script.py'", edited("script.py", "import sys", "import sys  # a comment")),
    "a script's module": Change("file = 'script.py'", written("helper.py", "NAME = 'bc'\n")),
    "a script's array": Change("file = 'script.py'",
                               lambda folder: np.save(folder / "x.npy", np.zeros(32, np.float32))),
    "a script's argument": Change("file = 'script.py'",
                                  edited("gpuprof.toml", "'script.py'", "'script.py'\narguments = 1")),
    "a program's source": Change(PROGRAM_ENTRY, written("steps.cpp", "int steps() { return 2; }\n")),
    "a program's file": Change(PROGRAM_ENTRY, written("input.txt", "2\n")),
    "a file that was looked for": Change(PROGRAM_ENTRY, written("later.txt", "1\n")),
    "a variable": Change(PROGRAM_ENTRY, lambda folder: os.environ.update(MORE="1")),
    "a host's file": Change(f"{PROGRAM_ENTRY}\nhost = 'my host.toml'",
                            edited("my host.toml", "notes", "# mine\nnotes")),
    "a variable that compilers read": Change(KERNEL, lambda folder: os.environ.update(CPATH=str(folder))),
    "a new file of a pattern": Change(f"{KERNEL}\ninputs = 'data/*.bin'", written("data/b.bin", "")),
    "a file of a pattern": Change(f"{KERNEL}\ninputs = 'data/*.bin'", written("data/a.bin", "b")),
}  # fmt: skip
QUICK = ("a source", "a header", "a flag")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr("gpuprof.project.run_cache.folder", lambda: tmp_path / "kept")
    monkeypatch.setenv("MORE", "0")
    monkeypatch.setenv("CPATH", "")
    (tmp_path / "kept").mkdir()
    project = write_files(tmp_path / "a project", FILES)
    np.save(project / "x.npy", np.ones(32, np.float32))
    np.save(project / "wanted.npy", np.full(32, 2, np.float32))
    shutil.copy(Path(chips).parent / "a100.toml", project / "mine.toml")
    shutil.copy(Path(hosts).parent / "pcie4.toml", project / "my host.toml")
    return project


def is_cached(folder: Path) -> bool:
    code, out, error = gpuprof(folder, "check")
    assert (code, error) in ((0, ""), (3, error), (4, error)), (out, error)
    return "unchanged" in out


CASES = [
    pytest.param(change, id=name, marks=() if name in QUICK else pytest.mark.long) for name, change in CHANGES.items()
]


@pytest.mark.parametrize("change", CASES)
def test_a_change_is_seen(folder, change):
    (folder / "gpuprof.toml").write_text(f"[[entry]]\n{change.entry}\n")
    code, out, error = gpuprof(folder, "check", "--update")
    assert (code, error) == (0, ""), (out, error)
    assert is_cached(folder)
    (folder / "not an input.txt").write_text("x")
    assert is_cached(folder)
    change.change(folder)
    assert not is_cached(folder)
    assert is_cached(folder)


def test_another_gpuprof_is_seen(folder, monkeypatch):
    (folder / "gpuprof.toml").write_text(f"[[entry]]\n{KERNEL}\n")
    gpuprof(folder, "check", "--update")
    assert is_cached(folder)
    monkeypatch.setattr("gpuprof.project.inputs.installed_version", lambda: "0.0.1")
    assert not is_cached(folder)


def test_going_back_runs_nothing_and_another_checkout_neither(folder, tmp_path):
    (folder / "gpuprof.toml").write_text(f"[[entry]]\n{KERNEL}\n")
    gpuprof(folder, "check", "--update")
    written("factor.h", "#define FACTOR 3\n")(folder)
    assert not is_cached(folder)
    written("factor.h", "#define FACTOR 2\n")(folder)
    assert is_cached(folder)
    shutil.copytree(folder, tmp_path / "another checkout")
    assert is_cached(tmp_path / "another checkout")


@pytest.mark.long
def test_what_changes_during_the_run_is_not_kept(folder):
    """A script that rewrites what it has read."""
    (folder / "script.py").write_text(SCRIPT + "open('helper.py', 'a').write('# more\\n')\n")
    (folder / "gpuprof.toml").write_text("[[entry]]\nfile = 'script.py'\n")
    gpuprof(folder, "check", "--update")
    assert not is_cached(folder)
    assert not is_cached(folder)


def test_damaged_entries_of_the_cache_are_none(folder, tmp_path):
    (folder / "gpuprof.toml").write_text(f"[[entry]]\n{KERNEL}\n")
    gpuprof(folder, "check", "--update")
    for text in (b"", b"{", b"[]", b'{"version": 1}', b'{"version": 1, "files": 3, "folders": {}, "values": {}}'):
        for inputs in (tmp_path / "kept").glob("*/*/inputs.json"):
            inputs.write_bytes(text)
        assert not is_cached(folder)
        assert is_cached(folder)
    for database in (tmp_path / "kept").glob("*/*/profile.gpudb"):
        database.write_bytes(b"SQLite format 3\0" + bytes(100))
    code, out, _ = gpuprof(folder, "check")
    assert (code, "failed" in out) == (1, True)
    assert gpuprof(folder, "check", "--fresh")[0] == 0


def test_no_cache_is_only_slower(folder, monkeypatch):
    monkeypatch.setattr("gpuprof.project.run_cache.folder", lambda: None)
    (folder / "gpuprof.toml").write_text(f"[[entry]]\n{KERNEL}\n")
    assert gpuprof(folder, "check", "--update")[0] == 0
    assert not is_cached(folder)
