"""gpuprof check --output: several formats at once, files of others, and what GitHub's runner gets without a request."""

import json

import pytest

from gpuprof.check.renderers import RENDERERS
from gpuprof.check.renderers.markdown import MOST_NBYTES
from tests.check.consumers import read_command, read_junit
from tests.check.test_check import SOURCE, WRONG_ERROR, check, write_blur
from tests.support.recordings import RIGHT, WRONG

SLOWER = {"cycles": (1000,), "lines": (45, 4900, 160)}
TEXT = """\
regressed  blur<<<(8, 8), 64>>>: cycles 200 -> 1000 (+800, +400.0 %), limit 1%|200, only its data changed
             blur.cu:5  900 -> 4900 warp-cycles (+4000)  x[1] = a;
             blur.cu:6  60 -> 160 warp-cycles (+100)  __syncthreads();
1 launch compared (cycles=1%|200): 1 regressed
"""
ERROR = (
    "gpuprof: 1 of 1 launch regressed: blur<<<(8, 8), 64>>>: cycles 200 -> 1000 (+800, +400.0 %), limit 1%|200, most "
    "at blur.cu:5; if this is intended, run again with --update\n"
)
ANNOTATION = (
    "::error file=blur.cu,line=5,title=now%3A blur<<<(8%2C 8)%2C 64>>> regressed::cycles 200 -> 1000 (+800, +400.0 "
    "%25), limit 1%25|200, only its data changed%0Ablur.cu:5  900 -> 4900 warp-cycles (+4000)  x[1] = a;%0Ablur.cu:6  "
    "60 -> 160 warp-cycles (+100)  __syncthreads();\n"
)
NAMES = {"text": "t.txt", "json": "j.json", "markdown": "m.md", "junit": "u.xml", "github": "h.txt", "gitlab": "l.json",
         "sarif": "s.sarif", "benchmark": "b.json"}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A checkout with a baseline of 200 cycles, and a profile of 1,000."""
    (tmp_path / "blur.cu").write_text("\n".join(SOURCE) + "\n")
    write_blur(tmp_path / "now.gprec")
    assert check(tmp_path, "--update")[0] == 0
    write_blur(tmp_path / "now.gprec", **SLOWER)
    return tmp_path


@pytest.fixture
def runner(folder, monkeypatch):
    """A step of GitHub's runner; its summary is in summary.md."""
    (folder / "summary.md").touch()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    return folder


def outputs(*formats: str) -> list[str]:
    return [word for name in formats for word in ("--output", f"{name}={NAMES[name]}")]


def test_several_at_once(folder):
    """The text is on stdout as ever."""
    assert check(folder, *outputs(*RENDERERS)) == (3, TEXT, ERROR)
    assert (folder / "t.txt").read_text() == TEXT
    assert json.loads((folder / "j.json").read_text())["launches"][0]["cause"] == "data"
    assert "<code>now</code> | **regressed** | 1 |" in (folder / "m.md").read_text()
    assert [case.outcome for case in read_junit((folder / "u.xml").read_text())] == ["failure"]
    assert (folder / "h.txt").read_text() == ANNOTATION
    assert json.loads((folder / "l.json").read_text())[0]["location"] == {"path": "blur.cu", "lines": {"begin": 5}}
    assert json.loads((folder / "s.sarif").read_text())["runs"][0]["results"][0]["ruleId"] == "gpuprof-regressed"
    assert json.loads((folder / "b.json").read_text())[0] == {
        "name": "now: blur<<<(8, 8), 64>>>: cycles", "unit": "cycles", "value": 1000,
    }  # fmt: skip


@pytest.mark.parametrize(
    "flags", [("--format", "github"), ("--output", "github=-"), ("--output", "github=/dev/stdout")]
)
def test_another_format_on_stdout(folder, flags):
    assert check(folder, *flags) == (3, ANNOTATION, ERROR)


def test_the_json_on_stdout_is_that_of_the_file(folder):
    code, out, _ = check(folder, "--format", "json", *outputs("json"))
    assert (code, out) == (3, (folder / "j.json").read_text())


def test_a_diff_is_part_of_the_text(folder):
    _, out, _ = check(folder, "--diff", *outputs("text"))
    assert out == (folder / "t.txt").read_text() and out.startswith("blur<<<(8, 8), 64>>>  regressed\n  metric ")


def test_what_is_not_comparable_is_written_too(folder):
    """stdout has no text, since stderr says it all."""
    (folder / "blur.toml").unlink()
    code, out, error = check(folder, *outputs("text", "json", "junit"))
    message = "blur.toml: there is no baseline yet; `gpuprof check ... --baseline blur.toml --update` writes one"
    assert (code, out, error) == (4, "", f"gpuprof: {message}\n")
    assert (folder / "t.txt").read_text() == f"not comparable  {message}\n"
    values = {"version": 1, "verdict": "not comparable", "message": message, "cause": None}
    assert json.loads((folder / "j.json").read_text()) == values
    assert [(case.name, case.outcome) for case in read_junit((folder / "u.xml").read_text())] == [
        ("blur<<<(8, 8), 64>>>", "passed"),
        ("not comparable", "error"),
    ]


def test_a_cause_is_in_the_json(folder):
    write_blur(folder / "now.gprec", compiler="clang 23", host="pcie5")
    assert json.loads(check(folder, "--format", "json")[1])["cause"] == "compiler"


def test_a_damaged_baseline_is_not_comparable(folder):
    (folder / "blur.toml").write_text("# gpuprof baseline\nx\n")
    code, out, error = check(folder, "--format", "json")
    assert (code, json.loads(out)["verdict"]) == (4, "not comparable")
    assert error == f"gpuprof: {json.loads(out)['message']}\n"


def test_wrong_results_are_written(folder):
    write_blur(folder / "now.gprec", results=(RIGHT, WRONG))
    assert check(folder, "--format", "github") == (
        1,
        "::error file=blur.cu,line=3,title=now%3A wrong results::y == ref.npy: 3 of 64 elements differ, first [5]: got "
        "1.5, expected 2.0; largest error 0.5 absolute, 0.25 relative (rtol 1e-05, atol 0)\n",
        WRONG_ERROR,
    )


# Wrong usage.


SEE = "; see `gpuprof check --help`"
TWICE = "json goes there, too; give each format a file of its own"
REFUSED = {
    "--output json=- --format text": f"--output text=-: {TWICE}",
    "--output json=a.json --output sarif=./a.json": f"--output sarif=a.json: {TWICE}",
    "--output json": "invalid value for '--output': 'json' names no file; give FORMAT=PATH, as in junit=gpuprof.xml, "
    f"or FORMAT=-{SEE}",
    "--output jnit=a.xml": "invalid value for '--output': 'jnit' is not one of 'text', 'json', 'markdown', 'junit', "
    "'github', 'gitlab', 'sarif', 'benchmark'; did you mean junit?",
    "--output junit=": f"invalid value for '--output': the name is empty; give a file name{SEE}",
    "--output junit=none/a.xml": "none/a.xml: there is no folder ",
    "--output junit=blur.cu": "blur.cu: is no junit output of a check, and would be overwritten; give another name, or "
    "--force to overwrite it",
    "--output text=now.gprec --force": "now.gprec: is read by this command; give another name",
    "--output json=blur.toml --force": "blur.toml: is read by this command; give another name",
    "--update --output json=a.json": "--update writes the baseline without comparing; leave out --diff, --fail-on, "
    "--output, --require and --strict-shape",
    "--force": "--force overwrites the baseline or an output; give --update or --output, or leave it out",
}


@pytest.mark.parametrize("flags", REFUSED)
def test_outputs_that_are_refused(folder, flags):
    before = sorted(path.name for path in folder.iterdir())
    code, out, error = check(folder, *flags.split())
    assert (code, out) == (2, "")
    assert error.startswith(f"gpuprof: {REFUSED[flags]}") and error.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_file_of_ours_is_replaced_and_another_with_force(folder):
    (folder / "m.md").write_text("# Notes\n")
    assert check(folder, *outputs("markdown"))[0] == 2
    assert check(folder, *outputs("markdown"), "--force")[0] == 3
    assert check(folder, *outputs("markdown"))[0] == 3
    assert (folder / "m.md").read_text().startswith("<!-- gpuprof check -->\n### gpuprof check: regressed\n")


# On a runner of GitHub.


def test_a_runner_gets_annotations_and_a_summary(runner):
    assert check(runner) == (3, TEXT + ANNOTATION, ERROR)
    assert (runner / "summary.md").read_text().startswith("<!-- gpuprof check -->\n### gpuprof check: regressed\n")


def test_a_summary_is_appended(runner):
    (runner / "summary.md").write_text("# Before\n")
    check(runner)
    check(runner)
    text = (runner / "summary.md").read_text()
    assert text.startswith("# Before\n<!-- gpuprof check -->\n") and text.count("### gpuprof check: regressed") == 2


@pytest.mark.parametrize("name", ["json", "junit", "sarif"])
def test_annotations_do_not_get_into_another_format(runner, name):
    """The runner reads commands from stderr as well."""
    code, out, error = check(runner, "--format", name)
    assert (code, error) == (3, ANNOTATION + ERROR)
    assert "::error" not in out


def test_annotations_that_are_requested_come_once(runner):
    assert check(runner, "--format", "github") == (3, ANNOTATION, ERROR)


def test_a_check_that_passes_annotates_nothing(runner):
    write_blur(runner / "now.gprec")
    assert check(runner) == (0, "1 launch compared (cycles=1%|200): all within limits\n", "")
    assert "| passed | 1 |  |" in (runner / "summary.md").read_text()


def test_an_improvement_is_a_notice(runner):
    """At the line that saves most."""
    write_blur(runner / "now.gprec", cycles=(100,), lines=(40, 400, 60))
    code, out, _ = check(runner, "--fail-on", "cycles=10%")
    command = read_command(out.splitlines()[-1])
    assert (code, command.name, command.properties["line"]) == (0, "notice", "5")


def test_a_source_outside_of_the_checkout_is_not_annotated(runner):
    (runner / "blur.cu").unlink()
    command = read_command(check(runner)[1].splitlines()[-1])
    assert (command.name, set(command.properties)) == ("error", {"title"})


def test_inlined_code_is_annotated_where_it_is(runner):
    """The middle line's code was inlined from math.h, which is in this checkout."""
    (runner / "math.h").write_text("\n" * 9)
    command = read_command(check(runner)[1].splitlines()[-1])
    assert (command.properties["file"], command.properties["line"]) == ("math.h", "9")
    assert command.data.splitlines()[1].startswith("blur.cu:5  900 -> 4900 ")


def test_a_source_gives_the_runner_no_commands(runner):
    """It finds them in any line that a step prints: `##[` anywhere, `::` where a line begins."""
    source = [*SOURCE[:4], "    x[1] = a; // ##[set-output name=x]1", *SOURCE[5:]]
    for slower in ({}, SLOWER):
        write_blur(runner / "now.gprec", source=source, path_of_source="::add-mask::a.cu", **slower)
        code, out, _ = check(runner, *([] if slower else ["--update"]))
    text, annotation = out.splitlines()[:-1], out.splitlines()[-1]
    assert (
        text[1]
        == "             : :add-mask::a.cu:5  900 -> 4900 warp-cycles (+4000)  x[1] = a; // ## [set-output name=x]1"
    )
    assert [read_command(line) for line in text] == [None] * len(text) and not any("##[" in line for line in text)
    assert (code, read_command(annotation).name) == (3, "error")


def test_a_full_summary(runner):
    (runner / "summary.md").write_text("x" * MOST_NBYTES)
    assert check(runner) == (
        3, TEXT + ANNOTATION, "gpuprof: no room in $GITHUB_STEP_SUMMARY, which may have 1 MiB\n" + ERROR,
    )  # fmt: skip


def test_a_summary_that_cannot_be_written_changes_no_verdict(runner, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(runner / "none/summary.md"))
    assert check(runner) == (
        3,
        TEXT + ANNOTATION,
        "gpuprof: no summary: $GITHUB_STEP_SUMMARY cannot be written: No such file or directory\n" + ERROR,
    )
