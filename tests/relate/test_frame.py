"""The example of docs/relations.md, two render targets and three draws: its relations, pages, exports, and what its
orders cost.
"""

import csv
import json
import re
import struct

import pytest

from gpuprof.correlate.database import ensure_database
from gpuprof.errors import NotComparable
from gpuprof.records.command_stream.codec import SavedLaunch
from gpuprof.records.command_stream.read import read_stream
from gpuprof.run.reorder_experiment import FIRST, SECOND, Measured, listed, measure, relaxed, run_stream
from gpuprof.run.replay import chip_of
from gpuprof.run.run_settings import Settings
from tests.paths import DOCS, ROOT
from tests.support.command import gpuprof

RULES = """\
[[virtual]]
name = "frame"
starts = "^saxpy$"

[[virtual]]
name = "targets"
writes = "^render target"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("frame")
    code = re.search(r"```python\n(.*?)```", (DOCS / "relations.md").read_text(), re.S).group(1)
    (folder / "frame.py").write_text(code.replace("samples/saxpy.cu", str(ROOT / "samples" / "saxpy.cu")))
    (folder / "rules.toml").write_text(RULES)
    code, _, error = gpuprof(folder, "collect", "frame.py", "--save-stream", "--rules", "rules.toml")
    assert code == 0, error
    return folder


@pytest.fixture(scope="module")
def database(folder):
    return ensure_database(folder / "frame.gprec")


def test_tasks(database):
    """Number, parent, kind, virtual, name, parts: 0 copies the vertices, 1 is the virtual target, 2 draws."""
    rows = database.execute("SELECT task, parent, kind, is_virtual, name FROM tasks ORDER BY task").fetchall()
    assert rows == [
        (0, None, "copy to device", 0, "copy to device array 1 of float32[4096]"),
        (1, None, "task", 1, "render target 1"),
        (2, None, "task", 0, "draw 1"),
        (3, 2, "launch", 0, "saxpy"),
        (4, None, "task", 0, "draw 2"),
        (5, 4, "launch", 0, "saxpy"),
        (6, None, "task", 0, "draw 3"),
        (7, 6, "launch", 0, "saxpy"),
        (8, 6, "launch", 0, "saxpy"),
        (9, None, "copy to host", 0, "copy to host screen"),
        (10, None, "wait", 0, "wait for everything"),
        *((10 + k, None, "task", 1, f"frame {k}") for k in (1, 2, 3, 4)),
        (15, None, "task", 1, "targets"),
    ]


OBSERVED = [
    ("produces for", 0, 3, "array 1 of float32[4096]"),
    ("produces for", 0, 5, "array 1 of float32[4096]"),
    ("produces for", 3, 7, "render target 1"),
    ("produces for", 5, 8, "render target 2"),
    ("produces for", 7, 8, "screen"),
    ("writes before", 7, 8, "screen"),
    ("produces for", 8, 9, "screen"),
]


def test_observed_relations(database):
    rows = database.execute(
        "SELECT r.kind, source, target, p.name, r.nbytes FROM stored_relations r JOIN parameters p ON via = parameter "
        "WHERE origin = 'observed' ORDER BY source, target, r.kind"
    ).fetchall()
    assert rows == [(*row, 4 * 4096) for row in OBSERVED]


def test_all_relations_of_a_draw(database):
    rows = database.execute(
        "SELECT kind, to_task, origin FROM relations WHERE from_task = 6 ORDER BY kind, to_task"
    ).fetchall()
    assert rows == [
        ("consumes", None, "stated"),
        ("consumes", None, "stated"),
        ("consumes from", 2, "implied"),
        ("consumes from", 4, "implied"),
        ("contains", 7, "stated"),
        ("contains", 8, "stated"),
        ("depends on", 2, "stated"),
        ("depends on", 4, "stated"),
    ]


def test_siblings_and_virtual_parts(database):
    query = "SELECT from_task, to_task FROM relations WHERE kind = ? ORDER BY 1, 2"
    assert database.execute(query, ("contains",)).fetchall() == [
        *((1, 3), (2, 3), (4, 5), (6, 7), (6, 8), (11, 3), (12, 5), (13, 7), (14, 8), (14, 9), (14, 10)),
        *((15, 3), (15, 5)),
    ]
    siblings = set(database.execute(query, ("is sibling of",)).fetchall())
    assert siblings == {(7, 8), (8, 7), (3, 5), (5, 3), *((a, b) for a in (8, 9, 10) for b in (8, 9, 10) if a != b)}


def test_parameters(database):
    rows = database.execute("SELECT name, kind, value, task FROM parameters WHERE kind <> 'buffer'").fetchall()
    assert rows == [("blend", "text", "add", 6)]
    assert database.execute("SELECT COUNT(*) FROM task_findings").fetchone() == (0,)


def test_the_documented_query_finds_all_that_a_task_needs(database):
    query = re.search(r"```sql\n(WITH RECURSIVE.*?)```", (DOCS / "relations.md").read_text(), re.S).group(1)
    found = database.execute(query.replace("after = 4", "after = 8")).fetchall()
    assert [task for task, _ in found] == [0, 3, 5, 7]


def test_the_documented_query_shows_virtual_tasks_alone(database):
    query = re.search(r"```sql\n(SELECT task, name, begin_cycle.*?)```", (DOCS / "relations.md").read_text(), re.S)[1]
    found = {name: (task, parts) for task, name, _, _, _, parts in database.execute(query)}
    frames = {f"frame {k}": (10 + k, 1 + 2 * (k == 4)) for k in (1, 2, 3, 4)}
    assert found == {"render target 1": (1, 1), "targets": (15, 2)} | frames


def test_who_writes_and_reads_a_buffer(folder):
    code, out, _ = gpuprof(folder, "report", "frame.gprec", "--task", "render target 1", "--format", "csv")
    assert (code, out.splitlines()) == (
        0,
        [
            "Table,render target 1 (task 1)",
            "kind,task,name,via,nbytes,origin",
            "contains,3,saxpy,,0,stated",
            "consumes from,0,copy to device array 1 of float32[4096],array 1 of float32[4096],16384,implied",
            "produces for,6,draw 3,render target 1,16384,implied",
            "produces for,13,frame 3,render target 1,16384,implied",
            "Table,render target 1",
            "task,name,is_write,nbytes,first,end,is_exact",
            "3,saxpy,0,16384,0,16384,1",
            "3,saxpy,1,16384,0,16384,1",
            "7,saxpy,0,16384,0,16384,1",
        ],
    )


def test_the_pages(folder):
    _, tasks, _ = gpuprof(folder, "report", "frame.gprec", "--page", "tasks")
    names = [line.split()[-1] for line in tasks.splitlines() if "  saxpy" in line]
    assert names and "    saxpy x 2" not in names
    assert "(render target 1)" in tasks
    _, relations, _ = gpuprof(folder, "report", "frame.gprec", "--page", "relations")
    assert "16384      1  observed  saxpy produces for saxpy, render target 2" in relations
    assert "saxpy (task 3) and saxpy (task 5)" in relations
    _, line, _ = gpuprof(folder, "report", "frame.gprec", "--page", "timeline")
    assert next(row for row in line.splitlines() if row.startswith("draw 2")).count("=") > 0


def test_pages_of_one_launch(folder):
    """Its task, those that it is a part of, and their relations; the draw beside it and the copies are not there."""
    asked = ("--launch", "1", "--format", "csv")
    tasks = gpuprof(folder, "report", "frame.gprec", "--page", "tasks", *asked)[1]
    found = [(int(row["Task"]), row["Name"]) for row in csv.DictReader(tasks.splitlines())]
    assert found == [(4, "draw 2"), (5, "saxpy"), (12, "frame 2"), (15, "targets")]
    bars = gpuprof(folder, "report", "frame.gprec", "--page", "timeline", *asked)[1]
    assert [row["Name"] for row in csv.DictReader(bars.splitlines())] == ["draw 2", "saxpy", "frame 2", "targets"]
    relations = gpuprof(folder, "report", "frame.gprec", "--page", "relations", *asked)[1]
    *rows, pair = relations.splitlines()
    assert pair.rpartition(",")[0] == "3,5,default stream"
    assert rows == [
        "Table,relations",
        "source,kind,target,via,nbytes,count,origin",
        "copy to device array 1 of float32[4096],produces for,saxpy,array 1 of float32[4096],16384,1,observed",
        "draw 2,produces,,render target 2,0,1,stated",
        "saxpy,produces for,saxpy,render target 2,16384,1,observed",
        "draw 3,depends on,draw 2,,0,1,stated",
        "frame 2,contains,saxpy,,0,1,stated",
        "targets,contains,saxpy,,0,1,stated",
        "Table,could run at the same time",
        "source,target,kind,bound_cycles",
    ]


@pytest.mark.parametrize("page", ["tasks", "relations", "timeline"])
def test_pages_say_that_they_show_some(folder, page):
    for asked in ((), ("--kernel", "saxpy")):
        out = gpuprof(folder, "report", "frame.gprec", "--page", page, *asked)[1]
        assert ("of the requested launches" in " ".join(out.replace("\n# ", " ").split())) == bool(asked)


def test_one_choice_at_a_time(folder):
    code, _, error = gpuprof(folder, "report", "frame.gprec", "--task", "draw 1", "--launch", "1")
    assert (code, error) == (
        2,
        "gpuprof: --launch chooses launches, and --task what one task or buffer is related to; give one of them\n",
    )


def test_a_name_that_no_task_has(folder):
    code, _, error = gpuprof(folder, "report", "frame.gprec", "--task", "drawing 1")
    assert (code, error) == (
        2,
        "gpuprof: --task 'drawing 1': no task and no buffer has this name; did you mean draw 1?; give #N for task N\n",
    )


# Exports.


def fields(data: bytes) -> list[tuple[int, object]]:
    """A protocol buffer's message, by protobuf.dev/programming-guides/encoding: (field, number or bytes)."""
    found, at = [], 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            value |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found.append((key >> 3, varint()))
        elif key & 7 == 1:
            found.append((key >> 3, struct.unpack_from("<Q", data, at)[0]))
            at += 8
        else:
            assert key & 7 == 2, key
            length = varint()
            found.append((key >> 3, data[at : at + length]))
            at += length
    return found


def test_the_trace_for_perfetto(folder):
    assert gpuprof(folder, "export", "frame.gprec", "-o", "frame.pftrace") == (0, "", "")
    tracks, events, flows = {}, [], {}
    for field, packet in fields((folder / "frame.pftrace").read_bytes()):
        assert field == 1
        told = dict(fields(packet))
        if 60 in told:
            track = dict(fields(told[60]))
            tracks[track[1]] = track.get(2, b"").decode()  # the process has another name
        elif 11 in told and 30 not in (event := dict(fields(told[11]))) and 44 not in event:  # no value of a counter
            events.append((told[8], event[9], tracks[event[11]], event.get(23, b"").decode()))
            for kind, packed in fields(told[11]):
                if kind in (47, 48):
                    for flow in struct.unpack(f"<{len(packed) // 8}Q", packed):
                        flows.setdefault(flow, []).append(event[23].decode())
    begins = [name for _, type_, track, name in events if type_ == 1 and track == "default stream"]
    assert begins == ["copy to device array 1 of float32[4096]", *["saxpy"] * 4, "copy to host screen"]
    assert sum(type_ == 1 for _, type_, *_ in events) == sum(type_ == 2 for _, type_, *_ in events)
    assert {"default stream", "host", "virtual", "tasks"} <= set(tracks.values())
    # A flow for each pair of tasks that need each other: those observed, and the draws' parts that are stated to.
    assert len(flows) == len({row[1:3] for row in OBSERVED} | {(3, 7), (3, 8), (5, 7), (5, 8)})
    assert all(len(flow) == 2 for flow in flows.values())


def test_relations_as_csv_and_as_a_graph(folder):
    for name in ("frame.relations.csv", "frame.relations.dot"):
        assert gpuprof(folder, "export", "frame.gprec", "-o", name) == (0, "", "")
    with open(folder / "frame.relations.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    observed = [row for row in rows if row["origin"] == "observed"]
    assert [(row["kind"], int(row["from"]), int(row["to"]), row["via_name"]) for row in observed] == OBSERVED
    graph = (folder / "frame.relations.dot").read_text()
    assert graph.startswith("digraph tasks {") and graph.endswith("}\n")
    assert r't3 -> t7 [label="produces for\nrender target 1\n16,384 bytes", style=solid];' in graph


# Orders.


def test_what_an_order_costs(folder):
    """The launches are so short that the events which order their streams cost more than the overlap gains."""
    code, out, error = gpuprof(folder, "relate", "frame.gprec", "--measure", "1")
    assert (code, error) == (0, "")
    first, chain, whole = out.splitlines()
    found = re.fullmatch(
        r"saxpy \(task 3\) and saxpy \(task 5\): at most ([\d,]+) cycles \(default stream\); "
        r"measured: ([\d,]+) cycles lost, the same bytes",
        first,
    )
    bound, lost = (int(text.replace(",", "")) for text in found.groups())
    assert 0 < lost < 2 * bound
    assert chain.endswith("saxpy (task 3) -> saxpy (task 7) -> saxpy (task 8) -> copy to host screen (task 9)")
    assert whole.startswith("as it is: ")


def test_the_second_launch_goes_first_where_that_is_asked(folder):
    commands = list(read_stream(folder / "frame.gprec").commands())
    kept, swapped = relaxed(commands, 0, 1)
    streams = [[saved.stream for saved, _ in each if isinstance(saved, SavedLaunch)] for each in (kept, swapped)]
    assert streams == [[FIRST, SECOND, 0, 0], [SECOND, FIRST, 0, 0]]


def test_a_launch_between_two_keeps_them_apart(folder):
    with pytest.raises(NotComparable, match="a launch is between them and waits for the first"):
        relaxed(list(read_stream(folder / "frame.gprec").commands()), 0, 2)


CHAIN = """\
import numpy as np
import gpuprof

gpu = gpuprof.Device("a100")
saxpy = gpu.load("SAXPY").saxpy
a, b, c = (gpu.to_device(np.arange(256, dtype=np.float32)) for _ in range(3))
saxpy[2, 128](256, 2.0, a, b)
saxpy[2, 128](256, 3.0, b, c)
saxpy[2, 128](256, 1.0, a, b)
c.copy_to_host()
"""


def test_a_proposal_that_changes_results_is_withdrawn(tmp_path):
    """The second launch reads what the first wrote, and the third overwrites it; nobody would propose that."""
    (tmp_path / "chain.py").write_text(CHAIN.replace("SAXPY", str(ROOT / "samples" / "saxpy.cu")))
    assert gpuprof(tmp_path, "collect", "chain.py", "--save-stream")[0] == 0
    code, out, _ = gpuprof(tmp_path, "relate", "chain.gprec")
    assert (code, out.splitlines()[0]) == (0, "no two launches wait for each other without need")
    stream = read_stream(tmp_path / "chain.gprec")
    settings, commands = Settings(chip=chip_of(stream)), listed(stream)
    usual = run_stream(stream, settings, commands)
    for first, second in ((0, 1), (1, 2)):
        assert measure(stream, settings, commands, usual, first, second) == Measured(
            first, second, 0, "the results are others when the second goes first"
        )


def test_recordings_that_follow_each_other_keep_their_tasks(folder, tmp_path):
    (tmp_path / "chain.py").write_text(CHAIN.replace("SAXPY", str(ROOT / "samples" / "saxpy.cu")))
    assert gpuprof(tmp_path, "collect", "chain.py")[0] == 0
    merged = ("merge", str(folder / "frame.gprec"), "chain.gprec", "-o", "both.gprec")
    assert gpuprof(tmp_path, *merged)[0] == 0
    frame, chain, both = (
        ensure_database(path) for path in (folder / "frame.gprec", tmp_path / "chain.gprec", tmp_path / "both.gprec")
    )
    query = "SELECT kind, source, target, via, nbytes, origin FROM stored_relations ORDER BY 2, 3, 1, 4"
    n_tasks, n_parameters = 16, frame.execute("SELECT COUNT(*) FROM parameters").fetchone()[0]
    moved = [
        (kind, source + n_tasks, target + n_tasks, via + n_parameters, nbytes, origin)
        for kind, source, target, via, nbytes, origin in chain.execute(query)
    ]
    assert both.execute(query).fetchall() == [*frame.execute(query), *moved]
    spans = "SELECT name, end_cycle - begin_cycle, own_cycles FROM tasks ORDER BY task"
    assert both.execute(spans).fetchall() == [*frame.execute(spans), *chain.execute(spans)]
    launches = both.execute("SELECT launch FROM tasks WHERE launch IS NOT NULL ORDER BY task").fetchall()
    assert [launch for (launch,) in launches] == list(range(7))


def test_a_recording_without_accesses_says_so(folder):
    assert gpuprof(folder, "collect", "frame.py", "--no-accesses", "-o", "plain.gprec")[0] == 0
    _, out, _ = gpuprof(folder, "report", "plain.gprec", "--page", "relations")
    assert "# which bytes each task reads and writes was not noted: collect without --no-accesses" in out
    _, out, _ = gpuprof(folder, "report", "plain.gprec", "--page", "relations", "--format", "json")
    assert {row["origin"] for row in json.loads(out)["kernels"][0]["relations"]["relations"]} == {"stated"}
