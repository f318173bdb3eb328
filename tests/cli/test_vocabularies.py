"""The same samples in other makers' terms: every reason has one, totals stay, on every page and in every format."""

import csv
import io
import json
import re
from collections import Counter

import pytest
from click.testing import CliRunner

from gpuprof.cli import explain, list as list_module
from gpuprof.cli.report import command
from gpuprof.errors import UsageError
from gpuprof.isa.stalls import INDEX, N_REASONS, NAMES
from gpuprof.isa.vocabularies import VOCABULARIES
from tests.paths import ROOT
from tests.support.matrices import long_from
from tests.support.report_database import CODE, KERNEL, cycles_of, make_database, samples_of

OTHERS = ("cupti", "intel", "amd")

# Every term of the makers' own lists: CUpti_ActivityPCSamplingStallReason, Intel's stall sampling, rocprofiler-sdk's
# pc_sampling.h.
TERMS = {
    "cupti": "NONE INST_FETCH EXEC_DEPENDENCY MEMORY_DEPENDENCY TEXTURE SYNC CONSTANT_MEMORY_DEPENDENCY PIPE_BUSY "
    "MEMORY_THROTTLE NOT_SELECTED "
    "OTHER SLEEPING",
    "intel": "ACTIVE CONTROL PIPESTALL SEND DIST_ACC SBID SYNC INST_FETCH OTHER",
    "amd": "WAVE_ISSUED NO_INSTRUCTION_AVAILABLE ALU_DEPENDENCY WAITCNT INTERNAL_INSTRUCTION BARRIER_WAIT "
    "ARBITER_NOT_WIN ARBITER_WIN_EX_STALL "
    "OTHER_WAIT SLEEP_WAIT",
}


@pytest.fixture
def database(tmp_path):
    return make_database(tmp_path / "t.gpudb")


def run(*arguments, tool=command):
    result = CliRunner().invoke(tool, [str(a) for a in arguments])
    assert result.exception is None, result.output
    return result.stdout


def in_terms(vocabulary, numbers: dict[str, int]) -> dict[str, int]:
    """Numbers by reason as numbers by term, without the code under test: one by one."""
    sums = Counter()
    for reason, number in numbers.items():
        sums[VOCABULARIES[vocabulary].terms[reason]] += number
    return dict(sums)


@pytest.mark.parametrize("name", VOCABULARIES)
def test_every_reason_has_one_term(name):
    vocabulary = VOCABULARIES[name]
    assert tuple(vocabulary.terms) == NAMES
    if name != "ncu":
        assert set(vocabulary.terms.values()) | set(vocabulary.missing) == set(TERMS[name].split())
        assert not set(vocabulary.terms.values()) & set(vocabulary.missing)
    numbers = tuple(10**k for k in range(N_REASONS))  # any sum shows what is in it
    merged = vocabulary.merged(numbers)
    assert len(merged) == N_REASONS and sum(merged) == sum(numbers)
    assert {vocabulary.word(place): merged[place] for place in vocabulary.numbers()} == in_terms(
        name, dict(zip(NAMES, numbers, strict=True))
    )
    assert all(merged[place] == 0 for place in range(N_REASONS) if place not in vocabulary.numbers())
    assert vocabulary.numbers()[0] == INDEX["selected"]


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("page", ["source", "ptx", "isa"])
def test_csv(database, name, page):
    """Term by term what the reasons sum to, line by line, and nothing else is different."""
    own = list(csv.reader(io.StringIO(run(database, "--page", page, "--format", "csv"))))
    other = list(csv.reader(io.StringIO(run(database, "--page", page, "--format", "csv", "--vocabulary", name))))
    assert own[0] == other[0] == ["Kernel Name", KERNEL] and len(own) == len(other)
    columns = [f"stall_{k}" for k in ("selected", "not_selected", "wait", "long_sb", "short_sb", "barrier", "membar",
        "mio", "lg", "tex",
               "math", "dispatch", "imc", "no_inst", "branch_resolving", "drain", "sleep", "gmma", "misc")]  # fmt: skip
    terms = set(VOCABULARIES[name].terms.values())
    for cells, cells_in_terms in zip(own[2:], other[2:], strict=True):
        row, row_in_terms = dict(zip(own[1], cells, strict=True)), dict(zip(other[1], cells_in_terms, strict=True))
        for ending in ("", " (Not Issued)", " (Exact)"):
            reasons = {reason: int(row.pop(column + ending)) for reason, column in zip(NAMES, columns, strict=True)}
            assert {term: int(row_in_terms.pop(term + ending)) for term in terms} == dict.fromkeys(terms, 0) | in_terms(
                name, reasons
            )
        assert row == row_in_terms
    assert set(other[1]) & {"stall_gmma", "stall_wait"} == set()


@pytest.mark.parametrize("name", VOCABULARIES)
def test_json(database, name):
    document = json.loads(run(database, "--page", "isa", "--format", "json", "--vocabulary", name))
    assert document["vocabulary"] == name
    rows = [row for section in document["kernels"][0]["sections"] for row in section["rows"]]
    for index, row in enumerate(rows):
        assert row["cycles"] == {term: 2 * n for term, n in in_terms(name, cycles_of(index)).items() if n}
        assert row["samples_by_reason"] == {term: 2 * n for term, n in in_terms(name, samples_of(index)).items() if n}
        assert (
            sum(row["cycles"].values()) == row["warp_cycles"]
            and sum(row["samples_by_reason"].values()) == row["samples"]
        )
    assert len(rows) == len(CODE)


@pytest.mark.parametrize("name", OTHERS)
def test_summary_csv(database, name):
    facts = {
        fact: value
        for _, fact, value in csv.reader(
            io.StringIO(run(database, "--page", "summary", "--format", "csv", "--vocabulary", name))
        )
    }
    sums = Counter()
    for index in range(len(CODE)):
        sums.update({reason: 2 * n for reason, n in cycles_of(index).items()})
    found = {
        fact.removeprefix("warp_cycles."): int(value)
        for fact, value in facts.items()
        if fact.startswith("warp_cycles.")
    }
    assert {term: n for term, n in found.items() if n} == in_terms(name, sums)
    assert set(found) == set(VOCABULARIES[name].terms.values())


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("width", long_from(1, [60, None]))
def test_no_page_says_a_reason_of_ours_alone(database, name, width):
    """Only in the words of a finding, and there beside its term."""
    for page in ("summary", "source", "ptx", "isa", "launches"):
        out = run(database, "--page", page, "--vocabulary", name, *(("--width", width) if width else ()))
        assert width is None or all(len(line) <= width for line in out.splitlines())
        head = " ".join(line.lstrip("# ") for line in out.splitlines() if line.startswith("#"))
        assert f"in the terms of {VOCABULARIES[name].title}" in head and "the map is" in head
        for line in out.splitlines():
            if re.match(r"(#|  ) (\d+\.|  )", line) or line.startswith("# note"):
                continue
            assert not set(re.findall(r"[a-z_]+", line)) & {"long_scoreboard", "lg_throttle", "long_sb", "lg"}, line
    out = run(database, "--page", "summary", "--vocabulary", "amd")
    assert (
        "its largest reason is ARBITER_WIN_EX_STALL (lg_throttle) with 51%" in out
        or "are ARBITER_WIN_EX_STALL (lg_throttle)" in out
    )
    why = run(database, "--page", "source", "--vocabulary", "amd")
    assert "ARBITER_WIN_EX_STALL:51,WAITCNT:46" in why


def test_own_words_are_the_default(database):
    for page in ("summary", "source", "launches"):
        for form in ((), ("--format", "csv"), ("--format", "json")):
            assert run(database, "--page", page, *form) == run(database, "--page", page, *form, "--vocabulary", "ncu")


def test_lists(database):
    for name in OTHERS:
        lines = run("stalls", "--vocabulary", name, tool=list_module.command).splitlines()
        assert lines[0].split() == ["term", "reasons"] and {line.split()[0] for line in lines[1:]} == set(
            TERMS[name].split()
        )
        named = [reason for line in lines[1:] for reason in line.split(maxsplit=1)[1].split(", ") if reason in INDEX]
        assert sorted(named) == sorted(NAMES)
    assert lines[-1].split(maxsplit=1) == ["INTERNAL_INSTRUCTION", "none: the model has no such instructions"]
    (first, *_) = json.loads(run("stalls", "--vocabulary", "intel", "--format", "json", tool=list_module.command))[
        "stalls"
    ]
    assert first == {"term": "ACTIVE", "reasons": "selected, not_selected"}
    with pytest.raises(UsageError, match="--vocabulary belongs to `list stalls`; leave it out of `list chips`"):
        CliRunner().invoke(
            list_module.command, ["chips", "--vocabulary", "amd"], standalone_mode=False, catch_exceptions=False
        )


def test_terms_are_explained():
    def told(*arguments):
        return run(*arguments, tool=explain.command)

    assert told("MEMORY_DEPENDENCY") == told("long_scoreboard") == told("memory dependency")
    # a reason of ours goes first
    assert told("sleeping") == told("SLEEPING") == told("sleeping", "--vocabulary", "cupti")
    out = told("SYNC")
    assert out.startswith("SYNC\n\nin cupti    barrier, membar\nin intel    barrier, membar\n") and out.endswith(
        "gpuprof explain barrier, and so on\n"
    )
    assert "in intel    selected, not_selected\n" in told("active") and "in cupti" not in told(
        "SYNC", "--vocabulary", "intel"
    )
    with pytest.raises(UsageError, match="amd has no term 'SYNC'; it has: WAVE_ISSUED, ARBITER_NOT_WIN"):
        CliRunner().invoke(
            explain.command, ["SYNC", "--vocabulary", "amd"], standalone_mode=False, catch_exceptions=False
        )


def test_the_page_of_the_docs():
    text = (ROOT / "docs" / "vocabularies.md").read_text(encoding="utf-8")
    rows = [
        tuple(cell.strip(" `") for cell in line.strip("|").split("|"))
        for line in text.splitlines()
        if line.startswith("| `")
    ]
    assert rows == [(name, *(VOCABULARIES[other].terms[name] for other in OTHERS)) for name in NAMES]
