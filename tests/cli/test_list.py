"""`gpuprof list` and `gpuprof explain`."""

import json
import re

import pytest
from click.testing import CliRunner

from gpuprof.check.finding_kinds import KINDS as FINDING_KINDS
from gpuprof.chips import list_chips, load_chip
from gpuprof.chips.fidelity import published_kernels
from gpuprof.chips.peaks import RESOURCES
from gpuprof.cli import explain, list as list_module
from gpuprof.correlate.metrics import METRICS
from gpuprof.errors import UsageError
from gpuprof.isa.stalls import COLUMNS, NAMES
from gpuprof.report.stall_advice import USUAL_CAUSES
from gpuprof.timing.sampling.triggers import TRIGGERS


def run(command, *arguments):
    result = CliRunner().invoke(command, arguments)
    assert result.exception is None, result.exception
    return result.stdout


def first_words(text: str) -> list[str]:
    return [line.split()[0] for line in text.splitlines()]


def test_stalls_metrics_and_chips():
    assert first_words(run(list_module.command, "stalls")) == ["name", *NAMES]
    assert first_words(run(list_module.command, "metrics")) == ["name", *(metric.name for metric in METRICS)]
    assert first_words(run(list_module.command, "triggers")) == ["name", *(trigger.name for trigger in TRIGGERS)]
    instructions = run(list_module.command, "instructions").splitlines()
    assert instructions[0].split() == ["kind", "name", "status", "refused"]
    assert "warp matrix               mma                                partly   .kind, .block_scale" in instructions
    assert [line.split() for line in instructions if " multimem.st " in line] == [
        ["data", "movement", "multimem.st", "refused", "all"]
    ]
    chips = run(list_module.command, "chips").splitlines()
    assert chips[0].split() == [
        "name",
        "arch",
        "sms",
        "clock_mhz",
        "warp_slots",
        "registers",
        "shared_nbytes",
        "l2_nbytes",
        "dram_gbytes_per_s",
        "kernel_timings",
        "maker",
        "notes",
    ]
    assert chips[2].split()[:6] == ["v100", "sm_70", "80", "1380", "64", "65536"]
    assert sorted(line.split()[0] for line in chips[1:]) == list(list_chips())


@pytest.fixture
def some_chips(monkeypatch):
    """Four chips, of which one was compared: with two timings that count, one that is not trusted, and one for which
    there is no code.
    """

    def row(id: str, compiler: str, trust: str, model_cycles: float | None) -> published_kernels.Row:
        of_card = ("a set", "a family", "a kind", "a card", "v100")
        return published_kernels.Row("1", id, *of_card, compiler, trust, 100.0, model_cycles, "", "", "")

    found = (
        row("first", "clang", "high", 90.0), row("first", "nvcc", "high", 90.0),
        row("second", "clang", "medium", 120.0), row("third", "clang", "low", 300.0),
        row("fourth", "clang", "high", None),
    )  # fmt: skip
    monkeypatch.setattr(published_kernels, "rows", lambda: found)
    monkeypatch.setattr("gpuprof.chips.list_chips", lambda: ("a100", "mi210-like", "rtx5090", "v100"))


CHIPS = """\
name        arch    sms  clock_mhz  warp_slots  registers  shared_nbytes  l2_nbytes  dram_gbytes_per_s  kernel_timings  maker   notes
v100        sm_70    80       1380          64      65536          98304    6291456                867               2  NVIDIA  V100 SXM2, 16 GB
a100        sm_80   108       1410          64      65536         167936   41943040               1776               0  NVIDIA  A100 SXM4, 80 GB
rtx5090     sm_120  170       2407          48      65536         102400  100663296               1753               0  NVIDIA  GeForce RTX 5090, 32 GB
mi210-like  sm_80   104       1700          64     131072          65536    8388608               1350               0  AMD     not an NVIDIA part: an MI210, each wave of 64 lanes expressed as two warps of 32
"""  # noqa: E501


def test_chips_by_generation_with_the_timings_behind_each(some_chips):
    assert run(list_module.command, "chips") == CHIPS


def test_chips_as_json(some_chips):
    document = json.loads(run(list_module.command, "chips", "--format", "json"))
    assert [(chip["name"], chip["kernel_timings"]) for chip in document["chips"]] == [
        ("v100", 2), ("a100", 0), ("rtx5090", 0), ("mi210-like", 0),
    ]  # fmt: skip
    assert document["chips"][2] == {
        "name": "rtx5090",
        "arch": "sm_120",
        "sms": 170,
        "clock_mhz": 2407.0,
        "warp_slots": 48,
        "registers": 65536,
        "shared_nbytes": 102400,
        "l2_nbytes": 100663296,
        "dram_gbytes_per_s": 1753.0,
        "kernel_timings": 0,
        "maker": "NVIDIA",
        "notes": "GeForce RTX 5090, 32 GB",
    }


def test_chips_on_a_narrow_terminal(some_chips):
    heading, rows = list_module.chips()
    assert list_module.listed(heading, rows[:2], 50) == [
        "v100",
        "    arch = sm_70; sms = 80; clock_mhz = 1380;",
        "    warp_slots = 64; registers = 65536;",
        "    shared_nbytes = 98304; l2_nbytes = 6291456;",
        "    dram_gbytes_per_s = 867; kernel_timings = 2;",
        "    maker = NVIDIA; notes = V100 SXM2, 16 GB",
        "a100",
        "    arch = sm_80; sms = 108; clock_mhz = 1410;",
        "    warp_slots = 64; registers = 65536;",
        "    shared_nbytes = 167936; l2_nbytes = 41943040;",
        "    dram_gbytes_per_s = 1776; kernel_timings = 0;",
        "    maker = NVIDIA; notes = A100 SXM4, 80 GB",
    ]
    assert list_module.listed(heading, rows, 1000) == CHIPS.splitlines()


def test_findings():
    lines = run(list_module.command, "findings").splitlines()
    assert lines[0].split() == ["name", "generator", "severity", "text"]
    assert [line.split()[0] for line in lines[1:]] == [kind.name for kind in FINDING_KINDS]
    assert json.loads(run(list_module.command, "findings", "--json"))["findings"][5] == {
        "name": "double_free",
        "generator": "memcheck",
        "severity": "error",
        "text": "The host or a kernel frees a freed allocation.",
    }


def test_findings_are_explained():
    assert run(explain.command, "double_free") == (
        "double_free  (a finding of memcheck: error)\n\n"
        "what it is  The host or a kernel frees a freed allocation.\n"
        "where       gpuprof collect FILE --trace memcheck\n"
    )
    for kind in FINDING_KINDS:
        assert run(explain.command, kind.name).count("what it is") >= 1
    assert run(explain.command, "uncoalesced").count("what it is") == 1  # advice is also a rule of the summary


def test_chips_in_full(tmp_path):
    """Every number with its unit, meaning and source; of a file of one's own, too."""
    lines = run(list_module.command, "chips", "--verbose", "a100").splitlines()
    assert lines[0] == "a100: A100 SXM4, 80 GB (NVIDIA)" and lines[1].split() == [
        "number",
        "value",
        "unit",
        "meaning",
        "[source]",
    ]
    found = [re.split(r"\s{2,}", line) for line in lines[2:]]
    assert ["sms", "108", "SMs", "streaming multiprocessors [mt4g]"] in found
    assert ["latency.fma", "4", "cycles", "result latency [ptxas 13.0 stall counts]"] in found
    assert len(found) == len(load_chip("a100").sources) - 2  # maker and notes stand in the first line
    own = tmp_path / "half.toml"
    own.write_text('inherits = "a100"\nsms = 54\n')
    document = json.loads(run(list_module.command, "chips", str(own), "a100", "--verbose", "--format", "json"))
    assert [chip["name"] for chip in document["chips"]] == ["half", "a100"]
    assert {
        "number": "sms",
        "value": 54,
        "unit": "SMs",
        "meaning": "streaming multiprocessors",
        "source": "half.toml",
    } in document["chips"][0]["numbers"]
    assert run(list_module.command, "chips", "--verbose").count("streaming multiprocessors [") == len(list_chips())


def test_chips_in_full_on_a_narrow_terminal():
    lines = list_module.number_lines(list_module.numbers(load_chip("a100")), 40)
    assert lines[lines.index("l2_nbytes = 41943040 bytes") + 1] == "    L2 size [mt4g]"
    assert (
        max(map(len, lines)) <= 60
        and sum(line.startswith("    ") for line in lines) > len(load_chip("a100").sources) - 3
    )


def test_only_chips_and_hosts_have_numbers():
    with pytest.raises(
        UsageError,
        match=r"^--verbose and names belong to `list chips` and `list hosts`; leave them out of `list stalls`$",
    ):
        list_module.command.main(["stalls", "--verbose"], standalone_mode=False)


def test_json():
    document = json.loads(run(list_module.command, "stalls", "--format", "json"))
    assert document["version"] == 1
    assert document["stalls"][3] == {
        "name": "long_scoreboard",
        "column": "stall_long_sb",
        "text": "Waiting for data from L1TEX: global, local, surface or texture memory.",
    }


def test_samples(tmp_path, monkeypatch):
    folder = tmp_path / "samples"
    folder.mkdir()
    (folder / "b.cu").write_text(
        "// Adds numbers: slowly.\n//\n// LAUNCH: add<<<1, 32>>>(1)\n// LAUNCH: add<<<1, 64>>>(1)\n"
    )
    (folder / "a.py").write_text('"""Runs two kernels. And more."""\n')
    (folder / "note.txt").write_text("not a sample")
    monkeypatch.setattr(list_module, "SAMPLES", folder)
    monkeypatch.chdir(tmp_path)
    assert run(list_module.command, "samples") == (
        "file          launches  text\n"  #
        "samples/a.py         0  Runs two kernels\n"
        "samples/b.cu         2  Adds numbers\n"
    )
    monkeypatch.setattr(list_module, "SAMPLES", tmp_path / "gone" / "samples")
    assert (
        run(list_module.command, "samples") == "none: the samples are in the source checkout of gpuprof, in samples/\n"
    )


def test_wrapped_to_a_terminal():
    rows = [("name", "text"), ("a", "one two three four five six")]
    assert list_module.aligned(rows, 26) == ["name  text", "a     one two three four", "      five six"]
    assert list_module.aligned(rows, None) == ["name  text", "a     one two three four five six"]


def test_every_reason_is_explained():
    assert set(USUAL_CAUSES) == set(NAMES)
    for name in NAMES:
        text = run(explain.command, name)
        assert text.startswith(f"{name}  (") and all(len(line) <= 80 for line in text.splitlines())


def test_explain_whole():
    assert run(explain.command, "barrier") == (
        "barrier  (stall_barrier)\n"
        "\n"
        "what it is  Waiting at a barrier for the block's other warps.\n"
        "causes      Some warps of the block have more to do before the barrier than\n"
        "            others.\n"
        "            Large blocks with few of them per multiprocessor, so that no other\n"
        "            block can run meanwhile.\n"
        "what to do  Balance the work between warps before the barrier.\n"
        "in amd      BARRIER_WAIT\n"
        "in cupti    SYNC\n"
        "in intel    SYNC\n"
    )


@pytest.mark.parametrize("number, name", list(enumerate(NAMES)))
def test_every_spelling_finds_the_reason(number, name):
    column = COLUMNS[number]
    for spelling in (
        name,
        column,
        column.removeprefix("stall_"),
        name.upper(),
        f"stall_{name}",
        name.replace("_", "-"),
    ):
        assert explain.find_reason(spelling) == number


@pytest.mark.parametrize(
    "shown, name", [("last_to_arrive", "barrier"), ("L1 hit", "l1"), ("unit's_result", "unit"), ("DRAM", "dram")]
)
def test_causes_are_explained_by_what_the_blame_page_calls_them(shown, name):
    assert run(explain.command, shown).startswith(f"{name}  (a cause: ")


def test_causes_are_listed_and_explained():
    assert "dram" in run(list_module.command, "causes")
    assert run(explain.command, "dram") == (
        "dram  (a cause: DRAM)\n\n"
        "what it is  The load that brings an operand, out of device memory.\n"
        "where       gpuprof report --page blame shows it for every line that stalls\n"
        "\n"
        "DRAM  (throughput, in GB/s)\n\n"
        "what it is  Bytes read from and written to DRAM. The peak is the throughput that\n"
        "            programs were measured to reach; the data rate of the memory's pins\n"
        "            is higher.\n"
        "where       gpuprof report --page summary shows each resource's rate, its peak\n"
        "            and what limits\n"
        "\n"
        "DRAM  (a column of draws)\n\n"
        "what it is  Bytes that this read and wrote there, in percent of what the DRAM\n"
        "            could transfer.\n"
    )
    assert run(explain.command, "barrier").startswith("barrier  (stall_barrier)")  # the reason; both have that name


@pytest.mark.parametrize(
    "word, headings",
    [
        ("l2", ["l2  (a cause: L2 hit)", "L2  (throughput, in GB/s)", "L2  (a column of draws)"]),
        ("fma", [f"FMA {t}  (throughput, in GFLOP/s)" for t in ("f64", "f32", "f16")]),
        ("FMA f32", ["FMA f32  (throughput, in GFLOP/s)"]),
        ("tensor", ["tensor  (throughput, in pipes)"]),
        ("tensor s8", ["tensor s8  (throughput, in GOP/s)"]),
        ("percentage of peak", ["percentage of peak"]),
        ("limits", ["percentage of peak"]),
    ],
)
def test_the_words_of_the_summarys_throughput(word, headings):
    lines = run(explain.command, word).splitlines()
    assert [line for line in lines if line and not line.startswith(("what it is", "where", "limits", " "))] == headings


def test_every_resource_is_explained():
    for resource in RESOURCES:
        assert f"{resource.label}  (throughput, in {resource.unit})" in run(explain.command, resource.name)


@pytest.mark.parametrize(
    "typed, message",
    [
        ("lng_scoreboard", "unknown word 'lng_scoreboard'; did you mean long_scoreboard or short_scoreboard?"),
        ("silent_stor", "unknown word 'silent_stor'; did you mean silent_store?"),
        ("stall_bariers", "unknown word 'stall_bariers'; did you mean barrier?"),
        ("xyzzy", "unknown word 'xyzzy'; see `gpuprof explain --help`"),
    ],
)
def test_unknown_reasons(typed, message):
    result = CliRunner().invoke(explain.command, [typed])
    assert isinstance(result.exception, UsageError) and str(result.exception) == message
