"""The stored figures are those of this model, and `gpuprof fidelity` and reports say what they amount to."""

import csv
import io
import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from gpuprof.chips import list_chips, load_chip
from gpuprof.chips.fidelity import model_figures, published_kernels, sentence
from gpuprof.chips.fidelity.missing import MISSING
from gpuprof.cli.fidelity import command
from gpuprof.errors import UsageError
from gpuprof.timing.state.model_version import MODEL_VERSION
from tests.microbench.__main__ import all_places, measure, merged
from tests.microbench.figures import BY_NAME
from tests.paths import ROOT
from tests.support.matrices import long_from

AGAIN = "measure them anew: python -m tests.microbench --write"


def run(*arguments: str) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def row(chip: str, figure: str, model: float, published: float | None, kind: str = "given") -> model_figures.Row:
    return model_figures.Row("1", chip, figure, "cycles", model, published, *(("P", kind) if published else ("", "")))


# ---- the stored figures ----


def test_they_are_of_this_version_of_the_model():
    assert {found.model_version for found in model_figures.rows()} == {MODEL_VERSION}, AGAIN


@pytest.mark.long
def test_there_is_every_figure_of_every_chip():
    assert [(found.chip, found.figure) for found in model_figures.rows()] == all_places(), AGAIN


def test_published_values_are_those_of_the_microbenchmarks():
    for found in model_figures.rows():
        assert BY_NAME[found.figure].published.get(found.chip, (None, "")) == (found.published, found.source), AGAIN
        assert BY_NAME[found.figure].kind(found.chip) == found.kind, AGAIN


def test_every_source_is_explained():
    letters = {found.source.split(",")[0] for found in model_figures.rows() if found.published is not None}
    assert letters <= set(model_figures.SOURCES)


@pytest.mark.parametrize("chip", long_from(1, ["a100", "t4"]))
@pytest.mark.parametrize(
    "name",
    [
        "IMAD latency",
        "shared load, 8-way bank conflict",
        "L1 hit latency",
        "blocks of 128 threads, 32 registers, 24576 B",
    ],
)
def test_a_figure_is_what_the_model_gives(chip, name):
    assert measure(chip, name) in model_figures.rows(), AGAIN


@pytest.mark.long
def test_what_is_measured_anew_takes_the_place_of_what_was_stored(monkeypatch):
    first, second = list(BY_NAME)[:2]
    old = [
        model_figures.Row(MODEL_VERSION, chip, name, "u", 1.0, None, "", "")
        for chip in ("a100", "v100")
        for name in (first, second)
    ]
    other = [
        model_figures.Row("0.9", "a100", list(BY_NAME)[2], "u", 1.0, None, "", ""),
        model_figures.Row(MODEL_VERSION, "a100", "no such figure", "u", 1.0, None, "", ""),
    ]
    monkeypatch.setattr(model_figures, "rows", lambda: (*old, *other))
    new = model_figures.Row(MODEL_VERSION, "v100", first, "u", 2.0, None, "", "")
    assert merged([new]) == [old[0], old[1], new, old[3]]


# ---- what they amount to ----


def test_summary_by_hand(monkeypatch):
    found = (
        row("x", "exact", 4, 4),
        row("x", "near", 103, 100, "follows"),
        row("x", "far", 8, 10, "follows"),
        row("x", "nobody knows", 7, None),
        row("y", "only", 1, None),
    )
    monkeypatch.setattr(model_figures, "rows", lambda: found)
    summary = model_figures.summary("x")
    assert (summary.figures, summary.published, summary.exact, summary.near) == (4, 3, 1, 2)
    assert (round(summary.mean, 6), round(summary.median, 6), summary.worst.figure) == (round(0.23 / 3, 6), 0.03, "far")
    assert (summary.follows, summary.follows_near) == (2, 1)
    assert sentence.of_summary(summary) == (
        "within 5 % of what is published: 1 of 2 figures that follow from the model, 1 of 1 that it was given; worst "
        "-20 % (far)"
    )
    assert model_figures.summary("y") == model_figures.Summary("y", 1, 0, 0, 0, 0, 0, 0.0, 0.0, None)
    assert sentence.of_summary(model_figures.summary("y")) == "no published figures of this chip"


def test_the_sentence_of_a_chip(tmp_path):
    of_a100 = sentence.sentence(load_chip("a100"), MODEL_VERSION)
    summary = model_figures.summary("a100")
    assert of_a100.startswith(
        f"within 5 % of what is published: {summary.follows_near} of {summary.follows} figures that follow from the "
        "model, "
    )
    compared = published_kernels.of_chip("a100")
    assert of_a100.endswith(
        f"; cycles of {compared.launches} launches of kernels compared with such cards: "
        f"{100 * compared.error:.0f} % off on average"
    )
    assert sentence.sentence(load_chip("l40s"), MODEL_VERSION).endswith("; kernel cycles not compared with hardware")
    own = tmp_path / "a100.toml"  # the same name, but other numbers
    own.write_text('inherits = "a100"\nsms = 5\n')
    assert (
        sentence.sentence(load_chip(own), MODEL_VERSION)
        == "no published figures of this chip; kernel cycles not compared with hardware"
    )
    assert sentence.sentence(load_chip("a100"), "0.9") == (
        f"figures are those of model {MODEL_VERSION}, not of 0.9; kernel cycles not compared with hardware"
    )


@pytest.mark.parametrize("chip", list_chips())
def test_the_line_of_a_chip_fits_in_100_columns(chip):
    shown = sentence.line(sentence.sentence(load_chip(chip), MODEL_VERSION))
    assert len(f"# fidelity   {shown}".replace("; ", ", ")) <= 100
    compared = published_kernels.of_chip(chip)
    of_kernels = (
        f"kernels were {100 * compared.error:.0f} % off on average against {compared.launches} timings of real cards"
        if compared
        else "no kernel was compared with timings of a real card"
    )
    if model_figures.summary(chip).published:
        assert shown == of_kernels


def test_the_line_of_other_sentences():
    """Of a figure with brackets, of a chip without figures, of another version of the model, of another wording."""
    figures = "1 of 2 figures that follow from the model, 3 of 4 that it was given; worst -20 % (far (a), b)"
    assert (
        sentence.line(f"within 5 % of what is published: {figures}; kernel cycles not compared with hardware")
        == "no kernel was compared with timings of a real card"
    )
    assert (
        sentence.line("no published figures of this chip; kernel cycles not compared with hardware")
        == "no published figures of this chip; no kernel was compared with timings of a real card"
    )
    assert (
        sentence.line("figures are those of model 2.1, not of 0.9; kernel cycles not compared with hardware")
        == "figures are those of model 2.1, not of 0.9; no kernel was compared with timings of a real card"
    )
    assert sentence.line("50 of 52 figures near; kernels not compared") == "50 of 52 figures near; kernels not compared"


# ---- the command ----


def test_a_line_for_each_chip_and_what_is_missing():
    text = run()
    lines = text.splitlines()
    assert lines[0].startswith(f"model {MODEL_VERSION}. The figures are those of microbenchmarks")
    assert [line.split()[0] for line in lines[3 : 3 + len(list_chips())]] == list(list_chips())
    for gap in MISSING:
        assert any(line.startswith(gap.unit) and gap.what in line for line in lines)


def test_the_figures_of_a_chip():
    lines = run("--chip", "a100").splitlines()
    assert lines[2] == "a100" and lines[3].split() == [
        "figure",
        "unit",
        "model",
        "published",
        "difference",
        "source",
        "is",
    ]
    assert [line.split()[-2:] for line in lines if line.startswith("FFMA latency ")] == [["[P]", "given"]]
    assert [line.split()[-1] for line in lines if line.startswith("blocks of 32 threads, 16 ")] == ["follows"]
    assert "v100" not in [line.strip() for line in lines] and "v100" in run("--all").splitlines()


def test_csv_and_json_have_all_rows():
    rows = list(csv.DictReader(io.StringIO(run("--format", "csv"))))
    assert len(rows) == len(model_figures.rows())
    assert [float(each["model"]) for each in rows] == [found.model for found in model_figures.rows()]
    document = json.loads(run("--chip", "l40s", "--format", "json"))
    assert (document["model_version"], document["kernel_cycles_compared_with_hardware"]) == (MODEL_VERSION, False)
    assert document["kernels"] == []  # of l40s none was found
    (chip,) = document["chips"]
    assert (chip["chip"], len(chip["figures"])) == ("l40s", sum(figure.is_of("l40s") for figure in BY_NAME.values()))
    assert [gap["unit"] for gap in document["not_modelled"]] == [gap.unit for gap in MISSING]


def test_wrong_arguments():
    with pytest.raises(
        UsageError,
        match=r"^--chip my\.toml: no figures of this chip; there are figures of a100, .*for a chip file of your own, "
        r"run `python -m tests\.microbench --chip FILE` in a source checkout$",
    ):
        command.main(["--chip", "my.toml"], standalone_mode=False)


def test_it_starts_without_numba_and_numpy():
    code = (
        "import sys; from gpuprof.cli.fidelity import command; command.main([], standalone_mode=False); "
        "sys.exit(1 if {'numba', 'numpy', 'llvmlite', 'rich'} & set(sys.modules) else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).returncode == 0


def test_the_page_has_the_list_of_what_is_not_modelled():
    page = (ROOT / "docs" / "model.md").read_text()
    for gap in MISSING:
        row = f"| {gap.unit} | {gap.what} | {gap.effect} | {gap.since} | {gap.off} |"
        assert row in page, "write it anew: python -m tests.microbench --page"
