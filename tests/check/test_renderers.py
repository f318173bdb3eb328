"""Each format of a check: its whole output, what its consumer reads of it, and texts that are made to break it."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from gpuprof.base.wording import installed_version
from gpuprof.check.checkout import Checkout, find_checkout
from gpuprof.check.compare import compare
from gpuprof.check.entry import Checked, entry_of
from gpuprof.check.facts import Facts, LaunchFacts
from gpuprof.check.renderers import RENDERERS
from gpuprof.check.renderers.github import MOST_CHARACTERS, MOST_OF_A_SEVERITY
from gpuprof.check.renderers.markdown import MOST_NBYTES, summary
from gpuprof.check.renderers.rendering import rendered
from gpuprof.check.renderers.text import text_lines
from gpuprof.check.rules import parse_rule
from gpuprof.check.stored_verdict import entry_object, entry_of_object
from gpuprof.check.verdict import KINDS, SEVERITIES, CheckReport, EntryVerdict, Place, Problem
from gpuprof.correlate.identity.launch_names import LaunchKey
from gpuprof.errors import NotComparable
from gpuprof.isa.printing.printable import printable
from gpuprof.report.terminal.styles import Look
from tests.check.consumers import SARIF, read_benchmark, read_command, read_gitlab, read_junit, read_markdown
from tests.check.reports import ENTRIES, FILES, HOSTILE, NASTY, OF_FILE, REGRESSED, REPORT
from tests.support import tools

WHOLE = Path(__file__).parent / "whole"
FILE_OF = {
    "text": "report.txt",
    "json": "report.json",
    "markdown": "report.md",
    "junit": "report.xml",
    "github": "report.github.txt",
    "gitlab": "report.gitlab.json",
    "sarif": "report.sarif",
    "benchmark": "report.benchmark.json",
}


@pytest.fixture
def checkout(tmp_path):
    """A folder with the sources that the reports name."""
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n")
    root = Path(os.path.realpath(tmp_path))
    return Checkout(root, root)


@pytest.mark.parametrize("name", RENDERERS)
def test_every_format_whole(checkout, name):
    text = rendered(REPORT, name, checkout).replace(f'"version": "{installed_version()}"', '"version": "VERSION"')
    assert text == (WHOLE / FILE_OF[name]).read_text()


@pytest.mark.parametrize("name", RENDERERS)
def test_outputs_begin_with_their_marks(checkout, name):
    """By which a file is known to be ours before it is overwritten."""
    assert rendered(REPORT, name, checkout).startswith(RENDERERS[name].mark)
    assert rendered(OF_FILE, name, checkout).startswith(RENDERERS[name].mark)


def test_the_report_has_all_kinds():
    assert {problem.kind for entry in ENTRIES for problem in entry.problems} == set(KINDS)


# Statuses and exit codes.


@pytest.mark.parametrize(
    ("kinds", "status", "code"),
    [
        ((), "passed", 0),
        (("improved", "new"), "improved", 0),
        (("reshaped", "finding"), "finding", 0),
        (("missing", "improved"), "missing", 4),
        (("missing", "regressed"), "regressed", 3),
        (("not comparable", "requirement"), "requirement broken", 3),
        (("regressed", "wrong results"), "wrong results", 1),
        (("ratchet",), "not booked", 3),
    ],
)
def test_the_worst_problem_decides(kinds, status, code):
    entry = EntryVerdict("a", "a.cu", tuple(Problem(kind, "", "") for kind in kinds))
    assert (entry.status, entry.exit_code) == (status, code)
    assert CheckReport((entry, EntryVerdict("b", "b.cu"))).exit_code == code


def test_kinds_are_ordered_by_exit_code_and_severity():
    """A status is that of the worst kind, so a worse code never has a better status."""
    codes = [kind.exit_code for kind in KINDS.values()]
    assert codes == sorted(codes, key=(1, 3, 4, 0).index)
    severities = [SEVERITIES.index(kind.severity) for kind in KINDS.values()]
    assert severities == sorted(severities)
    assert all(kind.fails == (kind.severity == "error") for kind in KINDS.values())
    assert len({kind.rule for kind in KINDS.values()}) == len(KINDS)


@pytest.mark.parametrize("entry", [*ENTRIES, *HOSTILE.entries], ids=range(len(ENTRIES) + 1))
def test_a_stored_verdict_is_the_same_again(entry):
    assert entry_of_object(json.loads(json.dumps(entry_object(entry)))) == entry


@pytest.mark.parametrize("change", [{"problems": [{"kind": "odd"}]}, {"launches": [{}]}, {"more": 1}])
def test_values_of_something_else_are_no_verdict(change):
    with pytest.raises((KeyError, TypeError, ValueError)):
        entry_of_object(entry_object(ENTRIES[0]) | change)


# Text.


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
def test_the_table_fits_a_terminal(width):
    """The names of entries and their statuses stay at any width."""
    lines = [line.plain for line in text_lines(REPORT, Look(width, "", True, False))]
    n_table = lines.index("")
    assert all(cell_len(line) <= max(width, 24) for line in lines[: 1 + len(ENTRIES)])
    assert [line.split()[0] for line in lines[1 : 1 + len(ENTRIES)]] == [entry.name for entry in ENTRIES]
    assert n_table >= 1 + len(ENTRIES)


def test_the_text_of_one_profile_has_no_table(checkout):
    assert (
        rendered(OF_FILE, "text", checkout)
        == """\
reshaped   scan<<<4, 64>>> #2: shape changed from <<<8, 64>>> to <<<4, 64>>>
regressed  scan<<<4, 64>>>: cycles 200 -> 1000 (+800, +400.0 %), limit 1%|200, its code changed
             src/scan.cu:5  900 -> 4900 warp-cycles (+4000)  y[i] = sum(x, i);
             src/scan.cu:6  under 1% -> 160 warp-cycles (+160)  __syncthreads();
improved   scan<<<4, 64>>> #2: cycles 900 -> 300 (-600, -66.7 %), limit 1%|200
missing    carry<<<1, 64>>>: in the baseline, but not in this profile
new        fill<<<1, 32>>>: not in the baseline; --update adds it
2 launches compared (cycles=1%|200): 1 regressed, 1 improved, 1 missing, 1 new, 1 with another shape
"""
    )


def test_nothing_to_check(checkout):
    report = CheckReport(())
    assert rendered(report, "text", checkout).endswith("\n\n0 entries: nothing to check\n")
    assert report.exit_code == 0
    for name in RENDERERS:
        rendered(report, name, checkout)


# What consumers read.


def test_a_junit_reader_sees_each_launch(checkout):
    cases = read_junit(rendered(REPORT, "junit", checkout))
    assert [(case.suite, case.name, case.outcome) for case in cases] == [
        ("scan", "scan<<<4, 64>>>", "failure"),
        ("scan", "scan<<<4, 64>>> #2", "passed"),
        ("scan", "fill<<<1, 32>>>", "passed"),
        ("scan", "carry<<<1, 64>>>", "failure"),
        ("gemm", "wrong results", "failure"),
        ("frame", "lit<<<8, 32>>> (draw 3, lamp, pass 1, pixel)", "failure"),
        ("limits", "gemm<<<1, 32>>>", "failure"),
        ("limits", "gemm", "failure"),
        ("limits", "requirement", "failure"),
        ("old", "not comparable", "error"),
        ("gone", "failed", "error"),
        ("retired", "removed", "passed"),
        ("clean", "add<<<1, 32>>>", "passed"),
    ]


def test_the_runner_reads_annotations(checkout):
    commands = [read_command(line) for line in rendered(REPORT, "github", checkout).splitlines()]
    found = [
        (
            command.name,
            command.properties.get("file", "") + ":" + command.properties.get("line", ""),
            command.properties["title"],
        )
        for command in commands
        if command
    ]
    assert found == [
        ("error", "src/scan.cuh:7", "scan: scan<<<4, 64>>> regressed"),  # where the inlined code is
        ("error", ":", "scan: carry<<<1, 64>>> missing"),
        ("error", "src/gemm.cu:2", "gemm: wrong results"),
        ("error", ":", "frame: lit<<<8, 32>>> (draw 3, lamp, pass 1, pixel) regressed"),
        ("error", "src/gemm.cu:2", "limits: gemm over budget"),
        ("error", "src/gemm.cu:4", "limits: requirement broken"),
        ("error", "src/gemm.cu:3", "limits: gemm<<<1, 32>>> not booked"),
        ("error", ":", "old: not comparable"),
        ("error", ":", "gone: failed"),
        ("warning", "src/scan.cu:3", "scan: scan<<<4, 64>>> #2 reshaped"),
        ("warning", "src/gemm.cu:4", "limits: gemm<<<1, 32>>> finding"),
        ("notice", "src/scan.cu:5", "scan: scan<<<4, 64>>> #2 improved"),
        ("notice", "src/scan.cu:20", "scan: fill<<<1, 32>>> new"),
        ("notice", ":", "retired: removed"),
    ]
    assert commands[0].data == (
        "cycles 200 -> 1000 (+800, +400.0 %), limit 1%|200, its code changed\n"
        "src/scan.cu:5  900 -> 4900 warp-cycles (+4000)  y[i] = sum(x, i);\n"
        "src/scan.cu:6  under 1% -> 160 warp-cycles (+160)  __syncthreads();"
    )


def test_gitlab_reads_a_code_quality_report(checkout):
    issues = read_gitlab(rendered(REPORT, "gitlab", checkout))
    assert [(issue["check_name"], issue["severity"], issue["location"]["path"]) for issue in issues][:3] == [
        ("gpuprof-reshaped", "minor", "src/scan.cu"),
        ("gpuprof-regressed", "major", "src/scan.cuh"),
        ("gpuprof-missing", "major", "scan.gprec"),  # GitLab needs a path
    ]
    assert len(issues) == 11


def test_sarif_is_of_its_schema(checkout):
    jsonschema = tools.module("jsonschema", "tools-python")
    for report in (REPORT, OF_FILE, HOSTILE, CheckReport(())):
        log = json.loads(rendered(report, "sarif", checkout))
        jsonschema.Draft4Validator(SARIF).validate(log)
        rules = [rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]]
        assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in log["runs"][0]["results"])


def test_a_chart_has_each_launch(checkout):
    results = read_benchmark(rendered(REPORT, "benchmark", checkout))
    assert len({result["name"] for result in results}) == len(results)


def test_markdown_shows_what_it_says(checkout):
    shown = read_markdown(rendered(REPORT, "markdown", checkout))
    assert shown["th"] == ["entry", "status", "launches", "worst problem"]
    assert shown["strong"] == ["regressed", "wrong results", "regressed", "over budget", "not comparable", "failed"]
    assert shown["code"][:3] == ["scan", "scan<<<4, 64>>>", REGRESSED.message]
    assert "".join(shown["summary"][:2]) == ": 1 regressed, 1 missing, 1 reshaped, 1 improved, 1 new: 1 wrong results"
    assert "".join(shown["pre"]).splitlines()[2:5] == rendered(REPORT, "text", checkout).splitlines()[11:14]


def test_fingerprints_do_not_change_with_lines_and_numbers(checkout):
    moved = replace(REGRESSED, message="more", new=2000, places=(Place("src/scan.cu", 99),))
    for name in ("gitlab", "sarif"):
        one, other = (
            rendered(CheckReport((EntryVerdict("scan", "scan.cu", (problem,)),)), name, checkout)
            for problem in (REGRESSED, moved)
        )
        digests = [re.findall(r"\b[0-9a-f]{64}\b", text) for text in (one, other)]
        assert digests[0] == digests[1] != []


# Texts that are made to break a format.


def test_hostile_texts_in_a_terminal(checkout):
    shown = rendered(HOSTILE, "text", checkout)
    assert not {"\x1b", "\u202e"} & set(shown)
    assert len(shown.splitlines()) == 10


def test_hostile_texts_in_xml(checkout):
    (regressed, finding) = read_junit(rendered(HOSTILE, "junit", checkout))
    name = printable(NASTY).replace("\ufffe", "\ufffd")
    assert (regressed.suite, regressed.name, finding.outcome) == (name, name, "passed")
    assert f"</pre></details>{name}" in regressed.text


def test_hostile_texts_in_annotations(checkout):
    """The runner reads two commands, with our texts in them and none of theirs."""
    lines = rendered(HOSTILE, "github", checkout).split("\n")
    assert lines[-1] == "" and len(lines) == 3
    error, warning = map(read_command, lines[:2])
    shown = printable(NASTY)
    assert error == (
        "error",
        {"title": f"{shown}: {shown} regressed"},
        f"{shown}\n{shown}  1 -> 2 cycles (+1)  </pre></details>{shown}",
    )
    assert warning == ("warning", {"file": "src/a,b:c%.cu", "line": "4", "title": f"{shown}: finding"}, shown)


def test_hostile_texts_in_markdown(checkout):
    """All of it is text of a cell or of <pre>, and no element that it names."""
    text = rendered(HOSTILE, "markdown", checkout)
    shown, name = read_markdown(text), printable(NASTY)
    assert set(shown) <= {
        "h3",
        "th",
        "td",
        "tr",
        "thead",
        "tbody",
        "table",
        "code",
        "strong",
        "pre",
        "p",
        "summary",
        "details",
    }
    assert "".join(shown["code"]) == name * 4
    assert f"</pre></details>{name}" in "".join(shown["pre"])
    assert not {"\x1b", "\u202e"} & set(text)


def test_hostile_texts_in_json(checkout):
    entry = json.loads(rendered(HOSTILE, "json", checkout))["entries"][0]
    assert entry["name"] == NASTY
    read_gitlab(rendered(HOSTILE, "gitlab", checkout))
    read_benchmark(rendered(HOSTILE, "benchmark", checkout))


# Limits.


def many(count: int) -> CheckReport:
    problem = replace(REGRESSED, message="m" * 1000)
    return CheckReport(tuple(EntryVerdict(f"entry{n}", "a.cu", (problem,)) for n in range(count)))


def test_annotations_that_a_step_cannot_have_are_counted(checkout):
    kinds = ["regressed"] * 13 + ["finding"] * 11 + ["new"] * 10
    report = CheckReport((EntryVerdict("a", "a.cu", tuple(Problem(kind, "k", "m") for kind in kinds)),))
    *commands, last = rendered(report, "github", checkout).splitlines()
    names = [read_command(line).name for line in commands]
    assert [names.count(severity) for severity in SEVERITIES] == [MOST_OF_A_SEVERITY] * 3
    assert last == "not annotated: 3 errors, 1 warning more; GitHub takes 10 of each kind from a step"


def test_a_message_is_not_longer_than_the_runner_takes(checkout):
    line = REGRESSED.lines[0]
    long = replace(REGRESSED, lines=(replace_text(line, "x" * 3000), replace_text(line, "y" * 3000)))
    report = CheckReport((EntryVerdict("a", "a.cu", (long, replace(REGRESSED, message="z" * 9000))),))
    first, second = (read_command(text) for text in rendered(report, "github", checkout).splitlines())
    assert first.data.endswith("x" * 3000) and len(first.data) < MOST_CHARACTERS
    assert second.data == "z" * MOST_CHARACTERS


def replace_text(line, text: str):
    return line._replace(text=text)


@pytest.mark.parametrize("count", [100, 400, 2000])
def test_a_summary_is_not_larger_than_github_takes(count):
    """The lines are left out first, then rows; what is left out is counted."""
    text = summary(many(count), MOST_NBYTES)
    assert len(text.encode()) <= MOST_NBYTES
    n_rows, n_folded = text.count("\n| <code>entry"), text.count("<details>")
    left_out = [f"{count - n_rows:,} rows"] * (n_rows < count) + [f"the lines of {count - n_folded:,} entries"] * (
        n_folded < count
    )
    said = re.findall(r"Left out, since a summary has at most 1 MiB: (.*)\.\n", text)
    assert said == [" and ".join(left_out)] * bool(left_out)
    assert text.endswith(f"\n{count:,} entries: {count:,} regressed\n")
    assert text.count("<details>") == text.count("</details>")


def test_a_summary_without_room():
    assert summary(REPORT, 100) == ""


# Places in the checkout.


def test_places_of_the_checkout(tmp_path, checkout):
    root = checkout.root
    outside = tmp_path.parent / "outside.cuh"
    outside.write_text("\n")
    for name in (".venv/lib/a.cuh", "env/lib/site-packages/b.cuh"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("\n")
    (root / "link.cu").symlink_to("src/scan.cu")
    expected = {
        "src/scan.cu": "src/scan.cu",
        f"{root}/src/scan.cu": "src/scan.cu",
        "src/../src/./scan.cu": "src/scan.cu",
        "link.cu": "src/scan.cu",
        "src/none.cu": None,
        "src": None,
        str(outside): None,
        "../outside.cuh": None,
        ".venv/lib/a.cuh": None,
        "env/lib/site-packages/b.cuh": None,
        "a\0b": None,
        "x" * 5000: None,
    }
    assert {name: checkout.path(name) for name in expected} == expected
    below = Checkout(root, root / "src")
    assert [below.path(name) for name in ("scan.cu", "src/gemm.cu")] == ["src/scan.cu", "src/gemm.cu"]


def test_the_first_place_in_the_checkout_is_annotated(checkout):
    """Inlined code of a library outside: the line that calls it; a line that is not known is none."""
    places = (Place("/usr/include/cub.cuh", 9), Place("src/scan.cuh", 7), Place("src/scan.cu", 5))
    assert checkout.place(places) == ("src/scan.cuh", 7)
    assert checkout.place(places[:1]) is None
    assert checkout.place((Place("src/scan.cu", 0),)) is None


@pytest.mark.parametrize("marker", ["folder", "file"])  # a worktree has a file .git
def test_the_root_of_the_checkout(tmp_path, marker):
    root = Path(os.path.realpath(tmp_path)) / "repository"
    below = root / "a/b"
    below.mkdir(parents=True)
    (root / ".git").mkdir() if marker == "folder" else (root / ".git").write_text("gitdir: elsewhere\n")
    assert find_checkout({}, below) == Checkout(root, below)
    assert find_checkout({"GITHUB_WORKSPACE": str(root / "a")}, below) == Checkout(root / "a", below)
    assert find_checkout({"GITHUB_WORKSPACE": str(root / "none")}, below) == Checkout(root, below)


# An entry of what a check found.


def test_an_error_is_the_entry():
    entry = entry_of("a", "a.gprec", Checked(error=NotComparable("no baseline", cause="cache")), "update it")
    assert (entry.status, entry.exit_code, entry.cause, entry.update) == ("not comparable", 4, "cache", "update it")
    assert entry.json == {"version": 1, "verdict": "not comparable", "message": "no baseline", "cause": "cache"}


def test_an_entry_has_the_cause_of_its_first_regression():
    key = LaunchKey("k<<<1, 32>>>", 1)
    old, new = (
        Facts("1", {}, {key: LaunchFacts({"cycles": cycles}, {}, code=code)})
        for cycles, code in ((100, "a"), (900, "b"))
    )
    entries = [
        entry_of("a", "a.gprec", Checked(comparison=compare(*facts, [parse_rule("cycles=1%")])))
        for facts in ((old, new), (new, old), (old, old))
    ]
    assert [(entry.status, entry.cause) for entry in entries] == [
        ("regressed", "code"),
        ("improved", ""),
        ("passed", ""),
    ]
