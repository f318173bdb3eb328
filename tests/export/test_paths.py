"""Costs by call path: each format is read by a reader of the test's own, and by the tool that it is for where there is
one. All sums are the ledger's.
"""

import gzip
import json
import re
import sqlite3
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gpuprof.base.protobuf.decode import parts, varint
from gpuprof.export.paths.path_costs import Frame, read_costs
from gpuprof.importers.fill_database import write as write_profile
from gpuprof.importers.ncu_rep import read as read_report
from tests.support.command import gpuprof
from tests.support.ncu_report import write_report
from tests.support.report_database import make_database
from tests.support.tools import module, node_module, output, program

KERNEL = "transpose_naive"
TOTAL = 184_720  # warp-cycles of two launches, as the fixture's tables say
BY_REASON = {"selected": 40_192, "wait": 15_552, "long_scoreboard": 60_000, "lg_throttle": 60_000, "drain": 8_976}
INLINED = 11_392  # of these, in the function that is inlined


@pytest.fixture
def exported(tmp_path):
    """A function from an extension to the file that is made of the fixture, with a function that the kernel calls."""
    path = make_database(tmp_path / "t.gpudb")
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO functions VALUES (1, 0, '_Z6helperi', 'helper(int)', 0, 4752, 1, 8, 0, 0, 0)")
        db.execute("UPDATE instructions SET function = 1 WHERE pc = 4096 + 15 * 16")

    def export(extension: str, *flags: str) -> Path:
        assert gpuprof(tmp_path, "export", "t.gpudb", "-o", f"out{extension}", *flags) == (0, "", "")
        return tmp_path / f"out{extension}"

    return export


CALLED = 2 * 3600  # instruction 15: selected 512, long_scoreboard 3,000, wait 88


def test_costs_have_their_frames(tmp_path):
    path = make_database(tmp_path / "t.gpudb", launches=1)
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO functions VALUES (1, 0, '_Z6helperi', 'helper(int)', 0, 4752, 1, 8, 0, 0, 0)")
        db.execute("UPDATE instructions SET function = 1 WHERE pc = 4096 + 15 * 16")
        costs = read_costs(db)
    assert costs.unit == "warp_cycles"
    by_pc = {row.pc: row for row in costs.rows}
    file = "samples/transpose.cu"
    assert by_pc[0x1000].frames == (Frame(KERNEL, file, 6),)
    assert by_pc[0x1000 + 160].frames == (Frame(KERNEL, file, 13), Frame("at", "samples/index.cuh", 4))
    assert by_pc[0x1000 + 240].frames == (Frame(KERNEL, "", 0), Frame("helper(int)", file, 13))
    assert by_pc[0x1000 + 240].by_reason == {"selected": 512, "wait": 88, "long_scoreboard": 3000}
    assert by_pc[0x1000 + 624].frames == (Frame(KERNEL, "", 0),)


# pprof: numbers of fields as proto/profile.proto has them.


def fields(data) -> dict[int, list]:
    found: dict[int, list] = {}
    for number, _, raw in parts(memoryview(data)):
        found.setdefault(number, []).append(raw)
    return found


def packed(raw) -> list[int]:
    numbers, at = [], 0
    while at < len(raw):
        number, at = varint(raw, at)
        numbers.append(number)
    return numbers


def test_a_profile_of_pprof(exported):
    profile = fields(gzip.decompress(exported(".pb.gz").read_bytes()))
    strings = [bytes(raw).decode() for raw in profile[6]]
    types = [strings[fields(raw)[1][0]] for raw in profile[1]]
    assert strings[0] == "" and strings[profile[14][0]] == types[0] == "warp_cycles"
    assert [strings[fields(raw)[2][0]] for raw in profile[1]] == ["cycles"] * 6 + ["count"] * 2
    values = [packed(fields(raw)[2][0]) for raw in profile[2]]
    sums = dict(zip(types, map(sum, zip(*values, strict=True)), strict=True))
    by_reason = {f"warp_cycles_{reason}": n for reason, n in BY_REASON.items()}
    assert sums == {"warp_cycles": TOTAL} | by_reason | {"samples": 1832, "inst_executed": 2 * 40 * 512}
    assert all(value[0] == sum(value[1:6]) for value in values)
    functions = {number[0]: strings[name[0]] for number, name in ((f[1], f[2]) for f in map(fields, profile[5]))}
    stacks = {}
    for location in map(fields, profile[4]):
        lines = [fields(raw) for raw in location[4]]
        stacks[location[1][0]] = [(functions[line[1][0]], line[2][0]) for line in lines]
    own, calls = Counter(), Counter()
    for sample, value in zip(map(fields, profile[2]), values, strict=True):
        frames = [frame for number in packed(sample[1][0]) for frame in stacks[number]]
        own[frames[0][0]] += value[0]
        calls[tuple(name for name, _ in frames)] += value[0]
        assert frames[-1][0] == KERNEL
    assert own == {KERNEL: TOTAL - INLINED - CALLED, "at": INLINED, "helper(int)": CALLED}
    assert calls["at", KERNEL] == INLINED and calls["helper(int)", KERNEL] == CALLED
    (mapping,) = map(fields, profile[3])
    assert (mapping[2][0], mapping[3][0], strings[mapping[5][0]]) == (0x1000, 0x1000 + 640, "transpose.cu")


def test_go_reads_it(exported):
    top = output(program("go"), "tool", "pprof", "-top", exported(".pb.gz"))
    assert "Type: warp_cycles" in top and f"of {TOTAL}cycles total" in top
    rows = {line.split()[-2 if line.endswith("(inline)") else -1]: line.split()[0] for line in top.splitlines()[4:]}
    assert rows == {KERNEL: f"{TOTAL - INLINED - CALLED}cycles", "at": f"{INLINED}cycles", "helper(int)": "7200cycles"}
    top = output("go", "tool", "pprof", "-top", "-sample_index=warp_cycles_drain", exported(".pb.gz"))
    assert f"of {BY_REASON['drain']}cycles total" in top


def test_npms_pprof_format_reads_it(exported):
    folder = node_module("pprof-format")
    script = (
        "const {Profile} = require(process.argv[1]); const fs = require('fs'); const zlib = require('zlib');"
        "const p = Profile.decode(zlib.gunzipSync(fs.readFileSync(process.argv[2])));"
        "console.log(p.sample.reduce((sum, each) => sum + Number(each.value[0]), 0), p.location.length > 0)"
    )
    assert output("node", "-e", script, folder, exported(".pb.gz")) == f"{TOTAL} true\n"


# Speedscope, Firefox Profiler, Hatchet.


def test_a_file_of_speedscope(exported):
    document = json.loads(exported(".speedscope.json").read_text())
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    (profile,) = document["profiles"]
    names = [frame["name"] for frame in document["shared"]["frames"]]
    assert (profile["type"], profile["name"], profile["endValue"]) == ("sampled", KERNEL, TOTAL)
    assert sum(profile["weights"]) == TOTAL
    stacks = Counter()
    for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
        stacks[tuple(names[number] for number in stack)] += weight
    assert stacks[KERNEL, "transpose.cu:14", "lg_throttle"] == 60_000
    assert stacks[KERNEL, "helper(int)", "transpose.cu:13", "long_scoreboard"] == 6000
    assert {"name": "index.cuh:4", "file": "samples/index.cuh", "line": 4} in document["shared"]["frames"]


def test_speedscopes_own_schema(exported):
    folder = node_module("speedscope")
    jsonschema = module("jsonschema", "tools-python")
    (schema,) = folder.glob("dist/release/file-format-schema.json")
    jsonschema.validate(json.loads(exported(".speedscope.json").read_text()), json.loads(schema.read_text()))


def test_a_profile_of_firefox(exported):
    """Every column has as many rows as its table says, and every number leads to a row."""
    profile = json.loads(exported(".firefox.json").read_text())
    (thread,) = profile["threads"]
    for name in ("samples", "markers", "stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols"):
        lengths = {len(column) for column in thread[name].values() if isinstance(column, list)}
        assert lengths == {thread[name]["length"]}, name
    stacks, frames, functions = thread["stackTable"], thread["frameTable"]["func"], thread["funcTable"]["name"]

    def names(stack: int) -> tuple[str, ...]:
        prefix = stacks["prefix"][stack]
        name = thread["stringArray"][functions[frames[stacks["frame"][stack]]]]
        return (*(names(prefix) if prefix is not None else ()), name)

    weights = Counter()
    for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"], strict=True):
        weights[names(stack)] += weight
    assert weights.total() == TOTAL and weights[KERNEL, "at", "index.cuh:4", "wait"] == 3200


def test_hatchets_literal_form(exported):
    (root,) = json.loads(exported(".hatchet.json").read_text())

    def check(node: dict) -> int:
        below = sum(map(check, node.get("children", ())))
        assert node["metrics"]["warp_cycles"] + below == node["metrics"]["warp_cycles (inc)"]
        return node["metrics"]["warp_cycles (inc)"]

    assert (root["frame"], check(root)) == ({"name": KERNEL, "type": "function"}, TOTAL)


def test_hatchet_reads_it(exported):
    hatchet = module("hatchet", "tools-python")
    frame = hatchet.GraphFrame.from_literal(json.loads(exported(".hatchet.json").read_text()))
    assert frame.dataframe["warp_cycles"].sum() == TOTAL
    assert frame.dataframe["warp_cycles (inc)"].max() == TOTAL


# Callgrind.


def test_a_file_of_callgrind(exported):
    """Read as the format's grammar has it: own lines of functions, and calls, whose next line is their cost."""
    own, inclusive, functions = Counter(), Counter(), []
    function, file, call = "", "", None
    known: dict[tuple[str, str], str] = {}

    def named(kind: str, text: str) -> str:
        number, _, name = text.partition(" ")
        return known.setdefault((kind, number), name)

    for line in exported(".callgrind").read_text().splitlines():
        key, _, rest = line.partition("=")
        if line.startswith("summary: ") or line.startswith("totals: "):
            assert list(map(int, line.split()[1:])) == [TOTAL, *BY_REASON.values()]
        elif line.startswith("events: "):
            assert line.split()[1:] == ["warp_cycles", *(f"warp_cycles_{reason}" for reason in BY_REASON)]
        elif key == "fl":
            file = named("file", rest)
        elif key == "fn":
            function = named("function", rest)
            functions.append((file, function))
        elif key == "cfi":
            named("file", rest)
        elif key == "cfn":
            call = named("function", rest)
        elif re.match(r"\d+ ", line):
            place, cost, *by_reason = map(int, line.split())
            assert cost == sum(by_reason)
            if call:
                inclusive[function, call, place] += cost
                call = None
            else:
                own[function, place] += cost
    assert own.total() == TOTAL and own["at", 4] == INLINED and own["helper(int)", 13] == CALLED
    assert inclusive == {(KERNEL, "at", 13): 5696, (KERNEL, "at", 14): 5696, (KERNEL, "helper(int)", 0): CALLED}
    assert ("samples/transpose.cu", KERNEL) in functions and ("samples/index.cuh", "at") in functions


def test_callgrind_annotate_reads_it(exported):
    shown = output(program("callgrind_annotate"), "--show=warp_cycles", exported(".callgrind"))
    assert re.search(r"^184,720 \(100\.0%\)  PROGRAM TOTALS$", shown, re.M)
    assert re.search(r"^ *11,392 \( 6\.17%\)  samples/index\.cuh:at", shown, re.M)


# Pictures.


def boxes(path: Path) -> dict[str, tuple[float, float, str]]:
    """Title -> x, width, colour."""
    found = {}
    for group in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}g"):
        title, rect, *_ = group
        found[title.text] = float(rect.get("x")), float(rect.get("width")), rect.get("fill")
    return found


def test_a_flame_graph(exported):
    found = boxes(exported(".flame.svg"))
    x, width, _ = found[f"{KERNEL} (184,720 warp-cycles, 100.00%)"]
    assert (x, width) == (10.0, 1180.0)
    _, width, fill = found["lg_throttle (60,000 warp-cycles, 32.48%)"]
    assert width == pytest.approx(1180 * 60_000 / TOTAL, abs=0.06) and fill == "#8ea4c8"


def test_a_differential_flame_graph(tmp_path):
    """Line 14 has 10,000 more of lg_throttle than before, line 13 the half of what it had; drain is as it was."""
    for name in ("old", "new"):
        make_database(tmp_path / f"{name}.gpudb", launches=1)
    with sqlite3.connect(tmp_path / "new.gpudb") as db:
        db.execute("UPDATE ledger SET cycles = 40000 WHERE cycles = 30000")
        db.execute("UPDATE ledger SET cycles = 1500 WHERE cycles = 3000")
    command = ("export", "new.gpudb", "--against", "old.gpudb", "-o", "d.difference.svg")
    assert gpuprof(tmp_path, *command) == (0, "", "")
    found = {title: fill for title, (_, _, fill) in boxes(tmp_path / "d.difference.svg").items()}
    assert found["all (100,860 warp-cycles, +8,500)"].startswith("#ff")
    assert found["lg_throttle (40,000 warp-cycles, +10,000)"] == "#ffb2b2"  # a quarter more: half of what is full
    assert found["long_scoreboard (1,500 warp-cycles, -1,500)"] == "#6464ff"
    assert found["drain (4,000 warp-cycles, +0)"] == "#ffffff"


def test_what_needs_another_recording_and_what_does_not(tmp_path):
    make_database(tmp_path / "t.gpudb")
    for arguments, error in (
        (("-o", "a.difference.svg"), "the format flame-difference shows differences: give --against FILE"),
        (("-o", "a.folded", "--against", "t.gpudb"), "the format folded takes no --against"),
    ):
        assert gpuprof(tmp_path, "export", "t.gpudb", *arguments) == (2, "", f"gpuprof: {error}\n")


def test_a_card_has_samples(tmp_path):
    """12 samples of a report made by hand; beside a recording, shares are compared."""
    write_profile(read_report(write_report(tmp_path / "r.ncu-rep"), None), tmp_path / "r.ncu-rep", tmp_path / "r.gpudb")
    make_database(tmp_path / "t.gpudb")
    assert gpuprof(tmp_path, "export", "r.gpudb", "-o", "r.folded") == (0, "", "")
    assert (tmp_path / "r.folded").read_text() == (
        "copy;[unknown];drain 2\ncopy;[unknown];long_scoreboard 6\ncopy;[unknown];selected 1\n"
        "copy;helper;[unknown];selected 3\n"
    )
    assert gpuprof(tmp_path, "export", "r.gpudb", "-o", "r.difference.svg", "--against", "t.gpudb") == (0, "", "")
    assert "copy (100.00% of all, +100.00 points)" in boxes(tmp_path / "r.difference.svg")


HOSTILE = "(1) <b>;&\n=x\x1b"


@pytest.mark.parametrize(
    "extension", [".pb.gz", ".speedscope.json", ".callgrind", ".firefox.json", ".hatchet.json", ".flame.svg"]
)
def test_names_are_text(tmp_path, extension):
    make_database(tmp_path / "t.gpudb", kernel=HOSTILE)
    assert gpuprof(tmp_path, "export", "t.gpudb", "-o", f"t{extension}") == (0, "", "")
    data = (tmp_path / f"t{extension}").read_bytes()
    data = gzip.decompress(data) if extension == ".pb.gz" else data
    assert b"\x1b" not in data or extension == ".pb.gz"  # a length may be 27
    assert b"x\\x1b" in data.replace(b"\\\\", b"\\") and b"\n=x" not in data
    assert extension != ".flame.svg" or b"<b>" not in data
