"""gpuprof bisect, on a history with three planted regressions and a commit that does not build."""

import json
from pathlib import Path

import pytest

from tests.project.planted_history import CHANGES, git, write_history
from tests.support.command import gpuprof


@pytest.fixture(scope="module")
def history(tmp_path_factory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("history") / "a repository"
    return folder, write_history(folder)


# The number of the commit, the options, and the line to blame.
PLANTED = {
    "a lost __restrict__": (4, ("--kernel-name", "polynomial"), "polynomial.cu:8"),
    "a changed padding": (12, ("--kernel-name", "transpose"), "transpose.cu:12"),
    "an unrolled loop that spills": (16, ("--metric", "local_nbytes", "--entry", "sums"), ""),
}


@pytest.mark.long
@pytest.mark.parametrize("number, options, line", PLANTED.values(), ids=PLANTED)
def test_the_planted_commit_is_found(history, number, options, line):
    folder, commits = history
    code, out, error = gpuprof(folder, "bisect", commits[0], "main", *options)
    assert (code, error) == (0, ""), (out, error)
    lines = out.splitlines()
    assert lines[0] == f"{commits[number][:10]} {CHANGES[number][3]} (2026-01-02, a)"
    assert lines[-2:] == [
        f"before it: {commits[number - 1][:10]} Note {number - 1} (2026-01-02, a)",
        f"{lines[-1].split()[0]} of 20 commits measured",
    ]
    assert int(lines[-1].split()[0]) <= 8  # both ends, log2 of 18, and one that does not build
    assert any(each.strip().startswith(line) for each in lines[1:]) or not line
    assert git(folder, "status", "--porcelain") == ""
    assert len(git(folder, "worktree", "list").splitlines()) == 1


@pytest.mark.long
def test_a_commit_that_does_not_build_may_be_the_one(history):
    folder, commits = history
    options = ("--entry", "transpose", "--metric", "inst_executed=1", "--format", "json")
    code, out, _ = gpuprof(folder, "bisect", commits[6], commits[12], *options)
    assert code == 4, out  # nothing grew: the padding changes no instruction
    code, out, error = gpuprof(folder, "bisect", commits[6], commits[7], "--entry", "transpose")
    assert (code, out) == (4, "")
    assert error == (f"gpuprof: {commits[7]} cannot be measured: transpose.cu does not compile\n")


@pytest.mark.long
def test_json_has_the_commit_and_the_lines(history):
    folder, commits = history
    options = ("--entry", "transpose", "--format", "json")
    code, out, _ = gpuprof(folder, "bisect", commits[10], commits[13], *options)
    found = json.loads(out)
    assert code == 0
    assert (found["version"], found["metric"], found["limit"]) == (1, "cycles", "cycles=1%|200")
    assert (found["commit"], found["before"]) == (commits[12], commits[11])
    assert found["new"] > found["old"]
    assert found["launches"][0]["entry"] == "transpose"
    assert found["launches"][0]["lines"][0]["place"] == "transpose.cu:12"


BAD = {
    "no revision": (("nothing", "main"), 2, "nothing: git knows no such revision here; `git fetch` brings those"),
    "the wrong way round": (("main", "main~3"), 2, "does not come after"),
    "no metric": (("main~1", "main", "--metric", "cycle"), 2, "'cycle' is not a metric; did you mean cycles"),
    "no entry": (("main~1", "main", "--entry", "x"), 2, "--entry 'x': no entry has such a name; there are: polynomial"),
    "no expression": (("main~1", "main", "--kernel-name", "("), 2, "--kernel-name '(': is no regular expression"),
    "no kernel": (("main~1", "main", "--kernel-name", "none", "--entry", "sums"), 4, "no entry has such a kernel"),
}


@pytest.mark.parametrize("words, code, message", BAD.values(), ids=BAD)
def test_what_cannot_be_bisected_is_one_line(history, words, code, message):
    folder, _ = history
    found, out, error = gpuprof(folder, "bisect", *words)
    assert (found, out, error.count("\n")) == (code, "", 1), (out, error)
    assert message in error
