"""gpuprof check without a file: verdicts of a project's entries, baselines, revisions, and what cannot be checked."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.project.planted_history import TRANSPOSE, git
from tests.support.command import PROGRAM, gpuprof, write_files

SCALE = """\
// LAUNCH: scale<<<1, 32>>>(x: f32[32]=ones)
// LAUNCH: x == 2
__global__ void scale(float *x)
{
    x[threadIdx.x] *= 2;
}
"""
PROJECT = """\
[[entry]]
file = "scale.cu"
[[entry]]
file = "transpose.cu"
budgets = { transpose = { registers = "<=64", bank_conflicts = 0 } }
"""
SLOW = TRANSPOSE.replace("PAD = 1", "PAD = 0")
FILES = {"gpuprof.toml": PROJECT, "scale.cu": SCALE, "transpose.cu": TRANSPOSE}


@pytest.fixture
def project(tmp_path) -> Path:
    """With baselines."""
    folder = write_files(tmp_path / "a project", FILES)
    assert gpuprof(folder, "check", "--update")[:2] == (
        0,
        "gpuprof-baselines/scale.toml: written\ngpuprof-baselines/transpose.toml: written\n",
    )
    return folder


def status(folder: Path, *words: str) -> tuple[int, dict[str, str], str]:
    """The exit code, each entry's status, and stderr."""
    code, out, error = gpuprof(folder, "check", "--format", "json", *words)
    return code, {entry["name"]: entry["verdict"] for entry in json.loads(out)["entries"]}, error


def test_each_entry_has_a_verdict_and_the_worst_is_the_exit_code(project):
    assert status(project) == (0, {"scale": "passed", "transpose": "passed"}, "")
    write_files(project, {"transpose.cu": SLOW})
    code, found, error = status(project)
    assert (code, found) == (3, {"scale": "passed", "transpose": "regressed"})
    assert error.startswith(
        "gpuprof: 1 of 2 entries failed: transpose: transpose<<<(4, 4), (32, 8)>>>: cycles 3713 -> 4705"
    )
    write_files(project, {"scale.cu": SCALE.replace("*= 2", "*= 3")})
    code, found, error = status(project)
    assert (code, found) == (1, {"scale": "wrong results", "transpose": "regressed"})
    assert error.startswith("gpuprof: 2 of 2 entries failed: scale: x == 2: ")
    assert status(project, "--entry", "tr*")[:2] == (3, {"transpose": "regressed"})


def test_a_run_that_fails_shows_the_compiler_s_words(project):
    write_files(project, {"scale.cu": SCALE.replace("x[threadIdx.x]", "y[threadIdx.x]")})
    code, out, error = gpuprof(project, "check")
    assert code == 1
    assert "error: use of undeclared identifier 'y'" in out
    assert error == "gpuprof: 1 of 2 entries failed: scale: scale.cu does not compile\n"
    code, out, error = gpuprof(project, "check", "--update")
    assert (code, error) == (1, "gpuprof: no baseline of scale was written; the others are\n")
    assert out == "scale: failed: scale.cu does not compile\ngpuprof-baselines/transpose.toml: unchanged\n"


def test_a_budget_holds_without_a_baseline(project):
    (project / "gpuprof-baselines" / "transpose.toml").unlink()
    assert status(project) == (0, {"scale": "passed", "transpose": "new"}, "")
    write_files(project, {"transpose.cu": SLOW})
    code, found, error = status(project)
    assert (code, found) == (3, {"scale": "passed", "transpose": "over budget"})
    assert "transpose<<<(4, 4), (32, 8)>>>: bank_conflicts 15,872 wavefronts, budget <=0" in error
    (project / "gpuprof-baselines" / "scale.toml").unlink()
    write_files(project, {"transpose.cu": TRANSPOSE})
    code, found, error = status(project)
    assert (code, found) == (4, {"scale": "not comparable", "transpose": "new"})
    assert "there is no baseline yet; `gpuprof check --update --entry scale` writes it" in error


def test_a_ratchet_wants_improvements_booked(project):
    write_files(project, {"transpose.cu": SLOW})
    gpuprof(project, "check", "--update")
    write_files(project, {"transpose.cu": TRANSPOSE})
    assert status(project)[:2] == (0, {"scale": "passed", "transpose": "improved"})
    (project / "gpuprof.toml").write_text(f"[defaults]\nratchet = true\n{PROJECT}")
    code, out, _ = gpuprof(project, "check")
    assert code == 3
    assert "gpuprof check --update --entry transpose" in out
    gpuprof(project, "check", "--update", "--entry", "transpose")
    assert status(project) == (0, {"scale": "passed", "transpose": "passed"}, "")


def test_a_revision_is_compared_without_baselines(project):
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        git(project, *words)
    write_files(project, {"transpose.cu": SLOW})
    before = git(project, "status", "--porcelain")
    assert status(project, "--against", "HEAD")[:2] == (3, {"scale": "passed", "transpose": "regressed"})
    moved = PROJECT.replace('file = "scale.cu"', 'name = "other"\nfile = "scale.cu"')
    (project / "gpuprof.toml").write_text(moved)
    found = {"other": "new", "transpose": "regressed", "scale": "removed"}
    assert status(project, "--against", "HEAD")[:2] == (3, found)
    (project / "gpuprof.toml").write_text(PROJECT)
    assert git(project, "status", "--porcelain") == before
    assert len(git(project, "worktree", "list").splitlines()) == 1


def test_a_state_without_a_project_file_is_run_by_this_one(project):
    for words in (["init", "-q", "-b", "main"], ["add", "transpose.cu"], ["commit", "-q", "-m", "first"]):
        git(project, *words)
    write_files(project, {"transpose.cu": SLOW})
    assert status(project, "--against", "HEAD")[:2] == (3, {"scale": "new", "transpose": "regressed"})


def test_a_state_that_does_not_build_is_not_comparable(project):
    write_files(project, {"scale.cu": "broken"})
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        git(project, *words)
    write_files(project, {"scale.cu": SCALE})
    code, found, error = status(project, "--against", "HEAD", "--entry", "scale")
    assert (code, found) == (4, {"scale": "not comparable"})
    assert "scale: could not be run at HEAD: " in error


def test_an_update_overwrites_only_baselines(project):
    (project / "notes.txt").write_text("of mine")
    (project / "gpuprof.toml").write_text("[[entry]]\nfile = 'scale.cu'\nbaseline = 'notes.txt'\n")
    code, out, error = gpuprof(project, "check", "--update")
    assert (code, out) == (2, "")
    assert error == (
        f"gpuprof: {project}/notes.txt: is no baseline, and would be overwritten; give another name, or --force to "
        "overwrite it\n"
    )
    assert (project / "notes.txt").read_text() == "of mine"


BAD = {
    "a baseline edited by hand": ({"gpuprof-baselines/scale.toml": "format = 6\ntool = 3\n"}, (), 4,
                                  "scale: gpuprof-baselines/scale.toml: damaged baseline: "),
    "an older baseline": ({"gpuprof-baselines/scale.toml": "format = 1\ntool = \"0.0.1\"\nmodel = \"1.0\"\n"}, (), 4,
                          "scale.toml: has format 1, and was made by gpuprof 0.0.1, model 1.0; "),
    "no git": ({}, ("--against", "HEAD"), 2, "is in no git repository"),
    "options of a file": ({}, ("--fail-on", "cycles=1%"), 2,
                          "--fail-on is for one FILE; a project has the key fail-on"),
    "options of a project": ({}, ("x.gprec", "--jobs", "2"), 2,
                             "--jobs is for projects: leave it out, or leave out FILE"),
    "no entry": ({}, ("--entry", "x*"), 2, "--entry 'x*': no entry has such a name; there are: scale, transpose"),
    "update against": ({}, ("--update", "--against", "HEAD"), 2, "--update writes baselines without comparing"),
    "no such project": ({}, ("--project", "none.toml"), 2, "none.toml: there is no such file"),
    "a launch of no kernel": ({"scale.cu": SCALE.replace("scale<<<", "scala<<<")}, (), 2, "entry 'scale': "),
    "headers in a circle": ({"scale.cu": '#include "scale.cu"\n' + SCALE}, ("--entry", "scale"), 1,
                            "scale.cu does not compile"),
}  # fmt: skip


@pytest.mark.parametrize("files, words, code, message", BAD.values(), ids=BAD)
def test_what_cannot_be_checked_is_one_line(project, files, words, code, message):
    write_files(project, files)
    found, _, error = gpuprof(project, "check", *words)
    assert (found, error.count("\n")) == (code, 1), error
    assert message in error


@pytest.mark.long
def test_ctrl_c_ends_the_runs_and_leaves_nothing(tmp_path):
    spin = "// LAUNCH: spin<<<1, 1>>>(x: i32[1])\n__global__ void spin(int *x) { while (atomicAdd(x, 0) == 0); }\n"
    entries = "".join(f"[[entry]]\nname = 'e{number}'\nfile = 'spin.cu'\n" for number in range(4))
    folder = write_files(tmp_path / "project", {"spin.cu": spin, "gpuprof.toml": entries})
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    with subprocess.Popen(
        [*PROGRAM, "check", "--jobs", "2"],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(scratch)},
        stderr=subprocess.PIPE,
    ) as child:
        deadline = time.monotonic() + 60
        while not list(scratch.glob("*/*/*/run.gprec*")) and not list(scratch.glob("*/*/*/.run*")):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        _, error = child.communicate(timeout=30)
    assert child.returncode == 130
    assert error.decode().splitlines()[-1] == "gpuprof: interrupted"
    assert list(scratch.iterdir()) == []
    assert sorted(path.name for path in folder.iterdir()) == ["gpuprof.toml", "spin.cu"]
