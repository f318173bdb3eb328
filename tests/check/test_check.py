"""gpuprof check: the baseline file, the comparison, and the whole output for each verdict."""

import hashlib
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gpuprof.assemble.object.elf import write_gpubin
from gpuprof.base.wording import installed_version
from gpuprof.check.baseline import FORMAT, OLDEST, baseline_lines, read_baseline, write_baseline
from gpuprof.check.causes import AGAINST
from gpuprof.check.compare import compare
from gpuprof.check.facts import Facts, LaunchFacts, LineCost, LineKey
from gpuprof.check.rules import Rule, parse_rule
from gpuprof.correlate.identity.launch_names import LaunchKey
from gpuprof.correlate.metrics import METRICS, OF_LINES
from gpuprof.errors import FileFormatError, UsageError
from gpuprof.isa.encoding import encode, make
from gpuprof.isa.program import Function, Location, Program
from gpuprof.isa.stalls import INDEX, N_REASONS
from gpuprof.records.writer import RecordWriter
from gpuprof.run.observers.launch_rows import ledger_rows
from gpuprof.tables.launch import COUNTERS, LEDGER
from tests.support.recordings import CHIP, META, RIGHT, WRONG, gpuprof, launch_fields, timing

SOURCE = [
    "__global__ void blur(float *x)",
    "{",
    "    float a = x[0];",
    "    __syncthreads();",
    "    x[1] = a;",
    "    __syncthreads();",
    "}",
]


BLUR = (make("LDG.32", dst=1, a=0), make("STG.32", a=0, b=1), make("EXIT"))


def write_blur(
    path: Path,
    cycles=(200,),
    lines=(40, 900, 60),
    executed=(8, 8, 8),
    source=SOURCE,
    first_line=3,
    complete=True,
    shapes=(),
    results=(),
    **changes,
) -> Path:
    """Launches of a kernel whose lines `first_line`, + 2, + 3 are charged `lines` warp-cycles in the first launch,
    twice that in the next; `executed` times. `shapes`: what each launch has otherwise.

    The middle one is code that was inlined from a header: it is charged to the kernel's line that has the call.
    """
    chip, launch_changes = changes.pop("chip", CHIP), changes.pop("launch", {})
    compiler, code = changes.pop("compiler", "clang 22"), changes.pop("code", BLUR)
    path_of_source = changes.pop("path_of_source", "blur.cu")
    places = [Location(path_of_source, first_line + offset, 1, "blur") for offset in (0, 2, 3)]
    places[1] = Location("math.h", 9, 1, "helper", places[1])
    program = Program(
        name="blur.cu",
        code=encode(code),
        functions=(Function("_Z4blurPf", "blur", 0, 3, is_kernel=True, registers=8),),
        variables=(),
        relocations=(),
        ptx="",
        ptx_lines=np.zeros(3, np.uint32),
        locations=tuple(places),
        sources={path_of_source: "\n".join(source) + "\n"},
    )
    ledger = np.zeros((3, N_REASONS), np.uint64)
    ledger[:, INDEX["long_scoreboard"]] = lines
    counters = np.zeros(3, COUNTERS.dtype)
    counters["pc"], counters["inst_executed"] = 16 * np.arange(3), executed
    writer = RecordWriter(path)
    writer.meta(META | changes)
    writer.chip(chip)
    writer.module(
        0,
        name=path_of_source,
        load_base=0,
        code_nbytes=48,
        image=write_gpubin(program),
        compiler=compiler,
        arch="sm_80",
    )
    writer.source(path_of_source, "\n".join(source) + "\n")
    for launch, duration in enumerate(cycles):
        own = shapes[launch] if shapes else {}
        writer.launch_begin(
            launch_fields(launch, kernel="blur", symbol="_Z4blurPf", grid=[8, 8, 1]) | launch_changes | own
        )
        writer.rows(LEDGER, launch, ledger_rows(ledger * np.uint64(launch + 1), 0))
        writer.rows(COUNTERS, launch, counters[COUNTERS.has_amounts(counters)])
        writer.launch_end(launch, timing(cycles=duration, end_cycle=100 + duration, samples_due=0, samples_kept=0))
    for result in results:
        writer.result(result)
    writer.end() if complete else writer.keep("interrupted")
    return path


def check(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `gpuprof check now.gprec --baseline blur.toml ...`."""
    return gpuprof(folder, "check", "now.gprec", "--baseline", "blur.toml", *arguments)


@pytest.fixture
def folder(tmp_path):
    """A baseline of one launch of 200 cycles; a test writes now.gprec and checks it."""
    write_blur(tmp_path / "now.gprec")
    assert check(tmp_path, "--update") == (0, "blur.toml: baseline of 1 launch written\n", "")
    return tmp_path


# The file.

CODE = hashlib.sha256(b"LDG.32 R1, [R0]\nSTG.32 [R0], R1\nEXIT").hexdigest()[:16]
BASELINE = f"""\
# gpuprof baseline, written by `gpuprof check --update`. Commit it, and read its diff in review.
# The numbers are exact and the same on every machine. Counts of zero are left out. Launches are in their order.
# code: a digest of the kernel's instructions.
# cache: what the caches held: cold (nothing), warm (as after one launch like it), keep (as the launches before left).
# shader_of: draw, its name, pass, stage.
# lines: warp-cycles, file, text (and which of the lines that say the same), and the line's share in other metrics; from
# 1% of any of them on.
format = {FORMAT}
tool = "0.1.0"
model = "1"
chip = "a100"
chip_sha256 = "710f5a019c18a29a"
compiler = "clang 22"

[[launch]]
kernel = "blur<<<(8, 8), 64>>>"
ordinal = 1
module = "blur.cu"
code = "{CODE}"
cache = "keep"
cycles = 200
inst_executed = 24
dram_nbytes = 1536
dram_read_nbytes = 1024
dram_write_nbytes = 512
registers = 12
warp_cycles = 1000
warp_cycles_long_scoreboard = 1000
lines = [
  [40, "blur.cu", "float a = x[0];", {{inst_executed = 8, warp_cycles_long_scoreboard = 40}}],
  [900, "blur.cu", "x[1] = a;", {{inst_executed = 8, warp_cycles_long_scoreboard = 900}}],
  [60, "blur.cu", "__syncthreads();", 2, {{inst_executed = 8, warp_cycles_long_scoreboard = 60}}],
]
"""


def test_baseline_file(folder):
    assert (folder / "blur.toml").read_text() == BASELINE
    assert sorted(path.name for path in folder.iterdir()) == ["blur.toml", "now.gprec"]


def test_cheap_lines_are_left_out(tmp_path):
    """The first has 9 of 1000 warp-cycles and 0 of 1000 instructions; the last 5, but 10 of the instructions."""
    write_blur(tmp_path / "now.gprec", lines=(9, 986, 5), executed=(0, 990, 10))
    check(tmp_path, "--update")
    rows = (tmp_path / "blur.toml").read_text().partition("lines = [\n")[2]
    assert (
        rows
        == """\
  [986, "blur.cu", "x[1] = a;", {inst_executed = 990, warp_cycles_long_scoreboard = 986}],
  [5, "blur.cu", "__syncthreads();", 2, {inst_executed = 10, warp_cycles_long_scoreboard = 5}],
]
"""
    )


def test_update_is_a_fixed_point(folder):
    check(folder, "--update")
    assert (folder / "blur.toml").read_text() == BASELINE


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp"]), max_size=20)
LINES = st.dictionaries(
    st.builds(LineKey, TEXTS, TEXTS, st.integers(1, 3)),
    st.builds(
        lambda warp_cycles, others: LineCost({"warp_cycles": warp_cycles} | others),
        st.integers(10, 2**63),
        st.dictionaries(st.sampled_from([m.name for m in OF_LINES if m.name != "warp_cycles"]), st.integers(1, 2**63)),
    ),
    max_size=4,
)
METRIC_VALUES = st.dictionaries(
    st.sampled_from([m.name for m in METRICS if m.name != "warp_cycles"]), st.integers(1, 2**63), max_size=5
)
LAUNCHES = st.dictionaries(
    st.builds(LaunchKey, TEXTS, st.integers(1, 9)),
    st.builds(
        lambda metrics, lines, module: LaunchFacts(metrics | {"warp_cycles": 1000}, lines, module),
        METRIC_VALUES,
        LINES,
        TEXTS,
    ),
    min_size=1,
    max_size=3,
)
ORIGIN_NAMES = ("model", "chip", "chip_sha256", "compiler", "host")
ORIGINS = st.fixed_dictionaries(dict.fromkeys(ORIGIN_NAMES, TEXTS))


@given(st.builds(Facts, TEXTS, ORIGINS, LAUNCHES))
def test_any_facts_come_back(tmp_path_factory, facts):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    write_baseline(path, facts)
    assert read_baseline(path) == facts
    assert list(read_baseline(path).launches) == list(facts.launches)
    assert path.read_text() == "".join(baseline_lines(facts))


DAMAGED = {
    f"format = {FORMAT}": "damaged baseline: the file has no 'launch'; write a new one with --update",
    "x": "is not a baseline: Expected '=' after a key in a key/value pair (at end of document)",
    BASELINE.replace(
        f"format = {FORMAT}", f"format = {FORMAT + 1}"
    ): f"has format {FORMAT + 1}, and this gpuprof reads up to {FORMAT}: use a newer gpuprof",
    BASELINE.replace(
        "ordinal = 1", "ordinal = 1.5"
    ): "damaged baseline: a launch: ordinal is '1.5', not of type int; write a new one with --update",
    BASELINE.replace("registers", "registres"): (
        "damaged baseline: blur<<<(8, 8), 64>>> has 'registres', which is not a metric of this gpuprof; write a "
        "new one with --update"
    ),
    BASELINE.replace(
        '[40, "blur.cu"', "[40"
    ): "damaged baseline: blur<<<(8, 8), 64>>> has a line [40, 'float a = x[0];', {'inst_executed': 8, "
    "'warp_cycles_lo, not [warp-cycles, file, text]; write a new one with --update",
    BASELINE.replace(
        "{inst_executed", "{cycles"
    ): "damaged baseline: blur<<<(8, 8), 64>>> has 'cycles', which is not a "
    "metric of this gpuprof; write a new one with --update",
    BASELINE.replace(
        "{inst_executed = 8", "{inst_executed = true"
    ): "damaged baseline: a line of blur<<<(8, 8), 64>>>: inst_executed is 'True', not of type int; write a new one "
    "with --update",
    BASELINE.replace('module = "blur.cu"\n', ""): "damaged baseline: blur<<<(8, 8), 64>>> has no 'module'; write a new "
    "one with --update",
    BASELINE
    + BASELINE.partition("\n\n")[2]: "damaged baseline: it holds a launch twice; write a new one with --update",
    "a = " + "[" * 5000: "is not a baseline: ",
}


@pytest.mark.parametrize("text", DAMAGED)
def test_damaged_baseline(tmp_path, text):
    (tmp_path / "b.toml").write_text(text)
    with pytest.raises(FileFormatError) as caught:
        read_baseline(tmp_path / "b.toml")
    assert str(caught.value).startswith(f"{tmp_path / 'b.toml'}: {DAMAGED[text]}")


def test_a_byte_order_mark_in_front(folder):
    """Some editors put one there; --update writes a baseline over it."""
    (folder / "marked.txt").write_bytes(b"\xef\xbb\xbf" + (folder / "blur.toml").read_bytes())
    assert read_baseline(folder / "marked.txt") == read_baseline(folder / "blur.toml")


def test_an_older_baseline_does_not_compare(folder):
    """Metrics that it does not have would read as zero."""
    (folder / "blur.toml").write_text(BASELINE.replace(f"format = {FORMAT}", f"format = {OLDEST - 1}"))
    assert check(folder) == (
        4,
        "",
        f"gpuprof: blur.toml: has format {OLDEST - 1}, and was made by gpuprof 0.1.0, model 1; this is "
        f"{installed_version()}, which reads formats from {OLDEST} on: {AGAINST}\n",
    )


def test_a_baseline_without_digests_of_code_compares(folder):
    """Only the cause of what changed is not known then."""
    (folder / "blur.toml").write_text(BASELINE.replace(f'code = "{CODE}"\n', "").replace("format = 6", "format = 5"))
    assert check(folder) == (0, "1 launch compared (cycles=1%|200): all within limits\n", "")
    write_blur(folder / "now.gprec", cycles=(1000,))
    assert check(folder)[1].splitlines()[0] == (
        "regressed  blur<<<(8, 8), 64>>>: cycles 200 -> 1000 (+800, +400.0 %), limit 1%|200"
    )


# The verdicts.


def test_nothing_changed(folder):
    assert check(folder) == (0, "1 launch compared (cycles=1%|200): all within limits\n", "")


def test_a_change_within_limits(folder):
    """400 is twice 200, and more than 1 %, but not more than 200 cycles: both limits must be exceeded."""
    write_blur(folder / "now.gprec", cycles=(400,))
    assert check(folder) == (0, "1 launch compared (cycles=1%|200): all within limits\n", "")


def test_a_regression_names_its_lines(folder):
    """Three lines were added above the kernel: its own lines are still themselves, at their new numbers. 5 of 4105 are
    not worth a row.
    """
    write_blur(
        folder / "now.gprec", cycles=(1000,), lines=(45, 4900, 160), source=["//", "//", "//", *SOURCE], first_line=6
    )
    assert check(folder) == (
        3,
        """\
regressed  blur<<<(8, 8), 64>>>: cycles 200 -> 1000 (+800, +400.0 %), limit 1%|200, only its data changed
             blur.cu:8  900 -> 4900 warp-cycles (+4000)  x[1] = a;
             blur.cu:9  60 -> 160 warp-cycles (+100)  __syncthreads();
1 launch compared (cycles=1%|200): 1 regressed
""",
        "gpuprof: 1 of 1 launch regressed: blur<<<(8, 8), 64>>>: cycles 200 -> 1000 (+800, +400.0 %), limit 1%|200, "
        "most at blur.cu:8; "
        "if this is intended, run again with --update\n",
    )


def test_an_edited_line(folder):
    """It is the same line, which says something else."""
    write_blur(
        folder / "now.gprec",
        cycles=(1000,),
        lines=(40, 5000, 60),
        source=[*SOURCE[:4], "    x[1] = sqrtf(a);", *SOURCE[5:]],
    )
    code, out, _ = check(folder, "--diff")
    assert code == 3
    assert (
        out
        == """\
blur<<<(8, 8), 64>>>  regressed
  metric                       baseline   now  change
  cycles                            200  1000  +800, +400.0 %
  inst_executed                      24    24  =
  dram_nbytes                      1536  1536  =
  dram_read_nbytes                 1024  1024  =
  dram_write_nbytes                 512   512  =
  registers                          12    12  =
  warp_cycles                      1000  5100  +4100, +410.0 %
  warp_cycles_long_scoreboard      1000  5100  +4100, +410.0 %
  warp-cycles by line  baseline   now  change
  blur.cu:5                 900  5000   +4100  x[1] = sqrtf(a);

regressed  blur<<<(8, 8), 64>>>: cycles 200 -> 1000 (+800, +400.0 %), limit 1%|200, only its data changed
             blur.cu:5  900 -> 5000 warp-cycles (+4100)  x[1] = sqrtf(a);
1 launch compared (cycles=1%|200): 1 regressed
"""
    )


def test_a_line_that_is_another_one(folder):
    """The old line is gone, the new one is not in the baseline."""
    write_blur(
        folder / "now.gprec",
        cycles=(1000,),
        lines=(40, 5000, 60),
        source=[*SOURCE[:4], "    atomicAdd(&total, 1);", *SOURCE[5:]],
    )
    code, out, _ = check(folder, "--diff")
    assert code == 3
    assert (
        """\
  warp-cycles by line  baseline   now  change
  blur.cu:5                   -  5000   +5000  atomicAdd(&total, 1);
  blur.cu                   900     -    -900  x[1] = a;
"""
        in out
    )
    assert "blur.cu:5  under 1% -> 5000 warp-cycles (+5000)  atomicAdd(&total, 1);" in out


def test_the_file_was_renamed(folder):
    """Its lines are the same lines: one that costs what it did is blamed for nothing."""
    write_blur(folder / "now.gprec", cycles=(1000,), lines=(40, 900, 4060), path_of_source="smooth.cu")
    code, out, _ = check(folder)
    assert code == 3
    assert out.splitlines()[1:-1] == ["             smooth.cu:6  60 -> 4060 warp-cycles (+4000)  __syncthreads();"]


def test_an_improvement(folder):
    write_blur(folder / "now.gprec", cycles=(100,), lines=(40, 400, 60))
    assert check(folder, "--fail-on", "cycles=10%") == (
        0,
        """\
improved   blur<<<(8, 8), 64>>>: cycles 200 -> 100 (-100, -50.0 %), limit 10%
1 launch compared (cycles=10%): 1 improved; run with --update to keep the improvement
""",
        "",
    )


SHARED = {"dynamic_shared_nbytes": 128}


def test_a_missing_and_a_new_launch(folder):
    write_blur(folder / "now.gprec", launch=SHARED)
    assert check(folder, "--strict-shape") == (
        4,
        """\
missing    blur<<<(8, 8), 64>>>: in the baseline, but not in this profile
new        blur<<<(8, 8), 64, 128>>>: not in the baseline; --update adds it
0 launches compared (cycles=1%|200): 1 missing, 1 new
""",
        "gpuprof: blur.toml: not in this profile: blur<<<(8, 8), 64>>>; launch the kernel, or remove it from the "
        "baseline with "
        "--update\n",
    )


def test_launches_of_one_name_are_told_apart_by_their_order(folder):
    write_blur(folder / "now.gprec", cycles=(200, 300, 100))
    check(folder, "--update")
    write_blur(folder / "now.gprec", cycles=(200, 900, 100))
    code, out, error = check(folder)
    assert (code, out.splitlines()[0]) == (
        3,
        "regressed  blur<<<(8, 8), 64>>> #2: cycles 300 -> 900 (+600, +200.0 %), limit 1%|200, only its data changed",
    )
    assert error.startswith("gpuprof: 1 of 3 launches regressed: blur<<<(8, 8), 64>>> #2: cycles 300 -> 900")


def test_any_rule_can_fail(folder):
    write_blur(folder / "now.gprec", lines=(41, 900, 60))
    assert check(folder, "--fail-on", "cycles=0", "--fail-on", "warp_cycles_long_scoreboard=0")[:2] == (
        3,
        """\
regressed  blur<<<(8, 8), 64>>>: warp_cycles_long_scoreboard 1000 -> 1001 (+1, +0.1 %), limit 0, only its data changed
             blur.cu:3  40 -> 41 warp_cycles_long_scoreboard (+1)  float a = x[0];
1 launch compared (cycles=0 warp_cycles_long_scoreboard=0): 1 regressed
""",
    )


NOT_COMPARABLE = "the baseline is not comparable: "


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"model_version": "2"}, f"{NOT_COMPARABLE}model '1' -> '2'; "),
        ({"chip": CHIP | {"sms": 80}}, f"{NOT_COMPARABLE}chip_sha256 '710f5a019c18a29a' -> '1a953f409851243b'; "),
        ({"host": "pcie5"}, f"{NOT_COMPARABLE}host 'none' -> 'pcie5'; "),
        (
            {"host": "pcie5", "model_version": "2", "compiler": "clang 23"},  # the compiler first
            f"{NOT_COMPARABLE}compiler 'clang 22' -> 'clang 23'; model '1' -> '2'; host 'none' -> 'pcie5'; ",
        ),
        (
            {"tool_version": "0.2.0", "model_version": "2", "compiler": "clang 23"},  # gpuprof before all
            "the baseline was made by gpuprof 0.1.0, model 1; this is 0.2.0, model 2: ",
        ),
    ],
)
def test_another_machine(folder, changes, difference):
    write_blur(folder / "now.gprec", **changes)
    assert check(folder) == (4, "", f"gpuprof: {difference}{AGAINST}\n")


def test_another_host(folder):
    """A program's kernels meet each other as its host asks for them."""
    write_blur(folder / "now.gprec", host="pcie4")
    assert check(folder, "--update")[0] == 0
    written = BASELINE.replace('compiler = "clang 22"\n', 'compiler = "clang 22"\nhost = "pcie4"\n')
    assert (folder / "blur.toml").read_text() == written
    assert check(folder)[0] == 0
    write_blur(folder / "now.gprec", host="nvlink-c2c", model_version="2")
    assert check(folder) == (
        4,
        "",
        f"gpuprof: {NOT_COMPARABLE}model '1' -> '2'; host 'pcie4' -> 'nvlink-c2c'; {AGAINST}\n",
    )


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ({"cache": "cold"}, "'cold'"),
        ({"cache": "warm", "repeat": 5}, "'warm, timing 5 of 5'"),
        ({"repeat": 5}, "'keep, timing 5 of 5'"),
    ],
)
def test_another_content_of_caches(folder, way, words):
    """The cause by its name, and how to measure like the baseline; `--update` makes this way the baseline's."""
    write_blur(folder / "now.gprec", cycles=(200, 200), launch=way)
    assert check(folder) == (
        4,
        "",
        f"gpuprof: the baseline is not comparable: cache 'keep' -> {words} (blur<<<(8, 8), 64>>>); collect with the "
        "baseline's --cache and --repeat, or write a new one with --update\n",
    )
    assert check(folder, "--update") == (0, "blur.toml: baseline of 2 launches written\n", "")
    assert f"cache = {words}\n".replace("'", '"') in (folder / "blur.toml").read_text()
    assert check(folder)[0] == 0


@pytest.mark.parametrize("update", [[], ["--update"]])
@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"complete": False}, "now.gprec: the recording is not complete (interrupted); collect again"),
        ({"cycles": ()}, "now.gprec: it has no measurements (0 launches, no warp-cycles); collect again"),
        ({"lines": (0, 0, 0)}, "now.gprec: it has no measurements (1 launch, no warp-cycles); collect again"),
    ],
)
def test_nothing_measured_is_never_a_pass(folder, update, changes, why):
    write_blur(folder / "now.gprec", **changes)
    assert check(folder, *update) == (4, "", f"gpuprof: {why}\n")
    assert (folder / "blur.toml").read_text() == BASELINE


def test_no_baseline(folder):
    (folder / "blur.toml").unlink()
    error = (
        "gpuprof: blur.toml: there is no baseline yet; `gpuprof check ... --baseline blur.toml --update` writes one\n"
    )
    assert check(folder) == (4, "", error)


def test_json(folder):
    write_blur(folder / "now.gprec", cycles=(1000,), lines=(40, 4900, 60))
    code, out, _ = check(folder, "--format", "json")
    line = {"place": "blur.cu:5", "text": "x[1] = a;", "old": 900, "new": 4900}
    crossing = {"fail_on": "cycles=1%|200", "metric": "cycles", "old": 200, "new": 1000}
    crossing |= {"lines": [{"metric": "warp_cycles"} | line]}
    same = {
        "inst_executed": 24,
        "dram_nbytes": 1536,
        "dram_read_nbytes": 1024,
        "dram_write_nbytes": 512,
        "registers": 12,
    }
    metrics = {"cycles": {"old": 200, "new": 1000}} | {
        name: {"old": value, "new": value} for name, value in same.items()
    }
    metrics |= {name: {"old": 1000, "new": 5000} for name in ("warp_cycles", "warp_cycles_long_scoreboard")}
    assert (code, json.loads(out)) == (
        3,
        {
            "version": 1,
            "verdict": "regressed",
            "fail_on": ["cycles=1%|200"],
            "launches": [
                {
                    "name": "blur<<<(8, 8), 64>>>",
                    "ordinal": 1,
                    "verdict": "regressed",
                    "cause": "data",
                    "shape_changed": None,
                    "regressions": [crossing],
                    "improvements": [],
                    "metrics": metrics,
                    "lines": [line],
                }
            ],
            "missing": [],
            "added": [],
        },
    )


# A changed shape.

RESHAPED = "shape changed from <<<(8, 8), 64>>> to <<<(8, 8), 64, 128>>>"


def test_a_changed_shape_is_compared_and_said(folder):
    write_blur(folder / "now.gprec", launch=SHARED)
    assert check(folder) == (
        0,
        f"""\
reshaped   blur<<<(8, 8), 64, 128>>>: {RESHAPED}
1 launch compared (cycles=1%|200): all within limits, 1 with another shape
""",
        "",
    )


def test_a_changed_shape_that_regresses(folder):
    write_blur(folder / "now.gprec", launch=SHARED, cycles=(1000,), lines=(40, 4900, 60))
    code, out, error = check(folder, "--diff")
    assert (code, out.splitlines()[0]) == (3, f"blur<<<(8, 8), 64, 128>>>  regressed  {RESHAPED}")
    assert (
        out.partition("\n\n")[2]
        == f"""\
reshaped   blur<<<(8, 8), 64, 128>>>: {RESHAPED}
regressed  blur<<<(8, 8), 64, 128>>>: cycles 200 -> 1000 (+800, +400.0 %), limit 1%|200, its launch changed
             blur.cu:5  900 -> 4900 warp-cycles (+4000)  x[1] = a;
1 launch compared (cycles=1%|200): 1 regressed, 1 with another shape
"""
    )
    assert error == (
        "gpuprof: 1 of 1 launch regressed: blur<<<(8, 8), 64, 128>>>: cycles 200 -> 1000 (+800, +400.0 %), limit "
        f"1%|200, most at blur.cu:5, {RESHAPED}; if this is intended, run again with --update\n"
    )


def test_a_changed_shape_as_json(folder):
    write_blur(folder / "now.gprec", launch=SHARED)
    code, out, _ = check(folder, "--format", "json")
    (launch,) = json.loads(out)["launches"]
    assert (code, launch["name"], launch["shape_changed"]) == (
        0,
        "blur<<<(8, 8), 64, 128>>>",
        {"old": "<<<(8, 8), 64>>>", "new": "<<<(8, 8), 64, 128>>>"},
    )


def facts_of(*launches: str) -> Facts:
    """Facts of launches in order: "blur<<<8, 64>>>", or "other.cu:blur<<<8, 64>>>"."""
    facts = Facts("0.1.0", dict.fromkeys(ORIGIN_NAMES, ""))
    for number, launch in enumerate(launches):
        module, _, name = launch.rpartition(":")
        ordinal = sum(key.name == name for key in facts.launches) + 1
        facts.launches[LaunchKey(name, ordinal)] = LaunchFacts({"cycles": 100 + number}, {}, module or "blur.cu")
    return facts


def matched(old: Facts, new: Facts, **options) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """(baseline's launch, launch of now) in the order of now; missing; new."""
    found = compare(old, new, [], **options)
    pairs = [(str(launch.pair.old), str(launch.pair.new)) for launch in found.launches]
    return pairs, [each.title for each in found.missing], [each.title for each in found.added]


A, B, C, D = (f"blur<<<{grid}, 64>>>" for grid in (8, 16, 32, 128))


@pytest.mark.parametrize(
    ("old", "new", "pairs", "missing", "added"),
    [
        ([A, B, C], [A, D, C], [(A, A), (B, D), (C, C)], [], []),  # one of three changed
        ([C, A], [B, D], [(C, B), (A, D)], [], []),  # all did: n-th with n-th, whatever the names' order
        ([A, A, A], [A, B, A, A], [(A, A), (f"{A} #2", f"{A} #2"), (f"{A} #3", f"{A} #3")], [], [B]),  # inserted
        ([A, B], [B, C], [(B, B), (A, C)], [], []),  # equal shapes go first: they do equal work
        ([A, A], [A, B], [(A, A), (f"{A} #2", B)], [], []),
        ([A, B], [D], [(A, D)], [B], []),
        ([A], [B, C], [(A, B)], [], [C]),
        ([A], ["other<<<16, 64>>>"], [], [A], ["other<<<16, 64>>>"]),
        ([A, f"b.cu:{B}"], [f"b.cu:{C}", D], [(B, C), (A, D)], [], []),  # kernels of one name, each with its module's
        ([A], [f"b.cu:{B}"], [], [A], [B]),
        ([f"b.cu:{A}"], [A], [(A, A)], [], []),  # the file was renamed
        (["scan<4><<<8, 64>>>"], ["scan<8><<<8, 64>>>"], [], ["scan<4><<<8, 64>>>"], ["scan<8><<<8, 64>>>"]),
        (["scan<4><<<8, 64>>>"], ["scan<4><<<8, 32>>>"], [("scan<4><<<8, 64>>>", "scan<4><<<8, 32>>>")], [], []),
    ],
)
def test_which_launches_are_compared(old, new, pairs, missing, added):
    in_order = sorted(pairs, key=lambda pair: [str(key) for key in facts_of(*new).launches].index(pair[1]))
    assert matched(facts_of(*old), facts_of(*new)) == (in_order, missing, added)


def test_with_strict_shape_another_shape_is_another_launch():
    assert matched(facts_of(A, B), facts_of(A, C), strict_shape=True) == ([(A, A)], [B], [C])


def test_the_baseline_keeps_the_order_of_the_launches(tmp_path):
    write_baseline(tmp_path / "b.toml", facts_of(C, A, B))
    assert matched(read_baseline(tmp_path / "b.toml"), facts_of(D))[0] == [(C, D)]


# Lines to blame.


def test_the_line_with_the_most_growth_of_the_metric_is_blamed(folder):
    """x[1] = a has the most warp-cycles, and more than before; the instructions are float a's. Lines are found where
    the baseline has them, and 300 of __syncthreads are not worth a line.
    """
    write_blur(folder / "now.gprec", lines=(41, 2000, 60), executed=(90008, 1008, 308))
    assert check(folder, "--fail-on", "inst_executed=0", "--fail-on", "warp_cycles=0") == (
        3,
        """\
regressed  blur<<<(8, 8), 64>>>: inst_executed 24 -> 91324 (+91300, +380416.7 %), limit 0, only its data changed
             blur.cu:3  8 -> 90008 inst_executed (+90000)  float a = x[0];
             blur.cu:5  8 -> 1008 inst_executed (+1000)  x[1] = a;
regressed  blur<<<(8, 8), 64>>>: warp_cycles 1000 -> 2101 (+1101, +110.1 %), limit 0, only its data changed
             blur.cu:5  900 -> 2000 warp-cycles (+1100)  x[1] = a;
1 launch compared (inst_executed=0 warp_cycles=0): 1 regressed
""",
        "gpuprof: 1 of 1 launch regressed: blur<<<(8, 8), 64>>>: inst_executed 24 -> 91324 (+91300, +380416.7 %), "
        "limit 0, most at blur.cu:3; if this is intended, run again with --update\n",
    )


def test_no_line_is_blamed_for_what_no_line_has(folder):
    write_blur(folder / "now.gprec", lines=(41, 2000, 60), launch={"registers": 40})
    code, out, _ = check(folder, "--fail-on", "registers=0")
    assert (code, out) == (
        3,
        """\
regressed  blur<<<(8, 8), 64>>>: registers 12 -> 40 (+28, +233.3 %), limit 0, only its data changed
1 launch compared (registers=0): 1 regressed
""",
    )


# Wrong results.

WRONG_ERROR = (
    "gpuprof: now.gprec: results differ: 1 of 2 compared arrays; mend the kernel and collect again, then its cycles "
    "can be compared\n"
)


@pytest.mark.parametrize("flags", [(), ("--diff",), ("--update",), ("--fail-on", "cycles=10%")])
def test_a_wrong_kernel_has_no_other_verdict(folder, flags):
    """It would be an improvement: it takes half the time."""
    write_blur(folder / "now.gprec", cycles=(100,), results=(RIGHT, WRONG))
    assert check(folder, *flags) == (
        1,
        "wrong      y == ref.npy: 3 of 64 elements differ, first [5]: got 1.5, expected 2.0; largest error 0.5 "
        "absolute, 0.25 relative (rtol 1e-05, atol 0)\n",
        WRONG_ERROR,
    )
    assert (folder / "blur.toml").read_text() == BASELINE


def test_a_wrong_kernel_as_json(folder):
    write_blur(folder / "now.gprec", cycles=(100,), results=(RIGHT, WRONG))
    code, out, error = check(folder, "--format", "json")
    assert (code, error) == (1, WRONG_ERROR)
    results = [RIGHT._asdict(), WRONG._asdict()]
    assert json.loads(out) == {"version": 1, "verdict": "results differ", "results": results}


def test_a_wrong_kernel_whose_recording_was_cut_off(folder):
    write_blur(folder / "now.gprec", results=(WRONG,), complete=False)
    assert check(folder)[0] == 1


def test_right_results_leave_no_trace(folder):
    write_blur(folder / "now.gprec", results=(RIGHT,))
    assert check(folder) == (0, "1 launch compared (cycles=1%|200): all within limits\n", "")
    check(folder, "--update")
    assert (folder / "blur.toml").read_text() == BASELINE


def test_another_checkout_is_the_same_file(folder):
    write_blur(folder / "now.gprec", path_of_source="/home/ci/build/blur.cu")
    assert check(folder) == (0, "1 launch compared (cycles=1%|200): all within limits\n", "")
    check(folder, "--update")
    assert (folder / "blur.toml").read_text() == BASELINE
    write_blur(folder / "now.gprec", path_of_source="C:\\ci\\blur.cu", launch=SHARED)
    assert check(folder)[0] == 0


def test_hostile_text_does_not_reach_the_terminal(tmp_path):
    source = [*SOURCE[:4], "    x[1] = a; // \x1b[31m\u202e", *SOURCE[5:]]
    launch = {"kernel": "blur\x1b]0;title\x07"}
    write_blur(tmp_path / "now.gprec", source=source, launch=launch)
    outputs = [check(tmp_path, "--update")]
    write_blur(tmp_path / "now.gprec", source=source, launch=launch, cycles=(9000,), lines=(40, 9000, 60))
    outputs += [check(tmp_path), check(tmp_path, "--diff")]
    shown = "".join(out + error for _, out, error in outputs) + (tmp_path / "blur.toml").read_text()
    assert "\\x1b[31m\\u202e" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


# The rules.


@pytest.mark.parametrize(
    ("text", "percent", "absolute"),
    [
        ("cycles=1%", 1, None),
        ("cycles=200", None, 200),
        ("cycles=0.5%|200", Fraction(1, 2), 200),
        ("cycles=200|1%", 1, 200),
        (" cycles=0 ", None, 0),
    ],
)
def test_rules(text, percent, absolute):
    assert parse_rule(text) == Rule("cycles", percent, absolute, text.strip())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("cycles", "expected METRIC=LIMIT"),
        ("cycles=", "expected METRIC=LIMIT"),
        ("=1%", "expected METRIC=LIMIT"),
        ("cycles=-1", "'-1' is not a limit"),
        ("cycles=1%%", "'1%%' is not a limit"),
        ("cycles=1%|2%", "'2%' is not a limit"),
        ("cycles=1|2", "'2' is not a limit"),
        ("cycles=1%|", "'' is not a limit"),
        ("ticks=1%", f"'ticks' is not a metric; the metrics are: {', '.join(metric.name for metric in METRICS)}"),
    ],
)
def test_wrong_rules(text, why):
    with pytest.raises(UsageError) as caught:
        parse_rule(text)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "old", "change", "exceeded"),
    [
        ("cycles=1%", 1000, 10, False),
        ("cycles=1%", 1000, 11, True),
        ("cycles=10", 1000, 10, False),
        ("cycles=10", 1000, 11, True),
        ("cycles=1%|100", 1000, 100, False),
        ("cycles=1%|100", 1000, 101, True),
        ("cycles=1%|5", 1000, 10, False),
        ("cycles=5%", 0, 1, True),
        ("cycles=0", 0, 0, False),
        ("cycles=0%", 1000, -500, False),
        ("cycles=0.1%", 3 * 10**18, 3 * 10**15 + 1, True),
    ],
)
def test_what_exceeds_a_rule(rule, old, change, exceeded):
    assert parse_rule(rule).exceeded_by(change, old) is exceeded
