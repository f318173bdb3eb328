"""gpuprof diff: two hand-made databases, in every format."""

import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from gpuprof.isa.causes import INDEX, KINDS
from tests.support.command import gpuprof, process
from tests.support.drawn_database import make_drawn
from tests.support.report_database import CU, make_database


@pytest.fixture
def databases(made, tmp_path):
    """Copies, which a test may change."""
    return tuple(Path(shutil.copy(path, tmp_path)) for path in made)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two lines are put in before line 14. Of its 18,000 warp-cycles of long_scoreboard in the first instruction, each
    launch then waits 10,000 more for DRAM. Line 9 is another instruction shorter: 200 warp-cycles less.
    """
    folder = tmp_path_factory.mktemp("made")
    before = make_database(folder / "before.gpudb")
    lines = CU.splitlines()
    moved = "\n".join([*lines[:13], "    // put", "    // in", *lines[13:]]) + "\n"
    after = make_database(folder / "after.gpudb", source=moved)
    for path, more in ((before, 0), (after, 10_000)):
        with sqlite3.connect(path) as db:
            db.executemany("INSERT INTO cause_kinds VALUES (?, ?, ?, ?)", ((n, *kind) for n, kind in enumerate(KINDS)))
            db.execute("UPDATE ledger SET cycles = cycles + ? WHERE pc = 0x1150 AND reason = 3", (more,))
            (cycles,) = db.execute(
                "SELECT cycles FROM ledger WHERE launch = 0 AND pc = 0x1150 AND reason = 3"
            ).fetchone()
            for launch in (0, 1):
                # 2,000 of them for the L2; line 13 has the load
                db.execute(
                    "INSERT INTO causes VALUES (?, 0x1150, 3, 0x10F0, ?, 0, 0, 0, ?, 5)", (launch, INDEX["l2"], 2000)
                )
                row = (launch, INDEX["dram"], cycles - 2000)
                db.execute("INSERT INTO causes VALUES (?, 0x1150, 3, 0x10F0, ?, 0, 0, 1, ?, 5)", row)
        db.close()
    with sqlite3.connect(after) as db:
        db.execute("UPDATE instructions SET line = line + 2 WHERE line >= 14 AND source = 0")
        db.execute("UPDATE instructions SET text = 'NOP' WHERE pc = 0x1160")
        db.execute("DELETE FROM ledger WHERE pc = 0x1160 AND reason = 2")
        db.execute("UPDATE launches SET end_cycle = end_cycle + 700, cycles = cycles + 700")
        db.execute("UPDATE functions SET registers = 26")
        db.execute("DELETE FROM findings WHERE kind = 'uncoalesced'")
    db.close()
    return before, after


TEXT = """\
before  before.gpudb, gpuprof 0.1.0, model 1, chip a100
after   after.gpudb, gpuprof 0.1.0, model 1, chip a100

transpose_naive: 14.0 % slower (10,000 -> 11,400 cycles): line 16 waits 20,000 warp-cycles more for uncoalesced accesses
warp-cycles  before   after  line                     why      ended by        source
    +20,000  14,000  34,000  transpose.cu:16  was 14  long_sb  DRAM, conflict  out[at(x, y + i, n)] = value;
       -400   7,200   6,800  transpose.cu:9           wait                     for (int i = 0; i < 32; i += 8) {
all: 184,720 -> 204,320, +19,600 warp-cycles
reasons  long_scoreboard +20,000, wait -400
number     before  after       change  unit
registers      24     26  +2 (+8.3 %)  registers
gone     advice: Uncoalesced global access in transpose.cu:14: 32,768 sectors for 4,096, 8 times the ideal. Let \
neighbouring threads touch neighbouring addresses, or go through shared memory.
code     40 instructions -> 40: 1 gone, 1 new
  before                                   after
= 38,000  IMAD.WIDE D6, R20, 4, c[0x10]   38,000  IMAD.WIDE D6, R20, 4, c[0x10]
= 80,000  STG.32 [D6], R14               100,000  STG.32 [D6], R14
-  1,424  IADD R30, R6, 8
+                                          1,024  NOP
=  1,424  IADD R31, R6, 8                  1,424  IADD R31, R6, 8
=  1,424  IADD R32, R6, 8                  1,424  IADD R32, R6, 8
"""


def test_text(tmp_path, databases):
    assert gpuprof(tmp_path, "diff", "before.gpudb", "after.gpudb") == (0, TEXT, "")


def cost_in(path, where: str = "1") -> int:
    with sqlite3.connect(path) as db:
        (cost,) = db.execute(f"SELECT SUM(cycles) FROM ledger WHERE {where}").fetchone()
    db.close()
    return cost


def of_json(tmp_path, *arguments: str) -> dict:
    code, out, error = gpuprof(tmp_path, "diff", *arguments, "--format", "json")
    assert (code, error) == (0, "")
    found = json.loads(out)
    assert found["version"] == 1
    return found


def delta(both: dict) -> int:
    return (both["new"] or 0) - (both["old"] or 0)


def test_json_is_exact_to_the_last_warp_cycle(tmp_path, databases):
    found = of_json(tmp_path, "before.gpudb", "after.gpudb")
    whole = cost_in(databases[1]) - cost_in(databases[0])
    assert whole == 19_600
    assert delta(found["cost"]) == whole
    (kernel,) = found["kernels"]
    assert sum(delta(line["cost"]) for line in kernel["lines"]) == whole
    assert sum(delta(part) for line in kernel["lines"] for part in line["parts"]) == whole
    assert sum(delta(reason) for reason in kernel["reasons"]) == whole
    for line in kernel["lines"]:
        assert sum(delta(part) for part in line["parts"]) == delta(line["cost"])
    assert {reason["reason"]: delta(reason) for reason in kernel["reasons"] if delta(reason)} == {
        "long_scoreboard": 20_000,
        "wait": cost_in(databases[1], "reason = 2") - cost_in(databases[0], "reason = 2"),
    }
    assert kernel["cycles"] == {"old": 10_000, "new": 11_400}
    assert sum(delta({side: pair[side]["cycles"] for side in pair}) for pair in kernel["launches"]) == 1400


def test_json_of_a_line(tmp_path, databases):
    (kernel,) = of_json(tmp_path, "before.gpudb", "after.gpudb")["kernels"]
    first = kernel["lines"][0]
    text = "out[at(x, y + i, n)] = value;"
    assert (first["kind"], first["old"], first["new"]) == (
        "same",
        {"path": "samples/transpose.cu", "line": 14, "text": text},
        {"path": "samples/transpose.cu", "line": 16, "text": text},
    )
    flags = {"other_warp": False, "other_launch": False}
    assert first["parts"][0] == flags | {
        "reason": "long_scoreboard", "cause": "dram", "cause_line": "transpose.cu:13", "conflict": True,
        "old": 14_000, "new": 34_000,
    }  # fmt: skip
    assert flags | {
        "reason": "long_scoreboard", "cause": "l2", "cause_line": "transpose.cu:13", "conflict": False,
        "old": 4000, "new": 4000,
    } in first["parts"]  # fmt: skip
    assert kernel["numbers"]["registers"] == {"unit": "registers", "old": 24, "new": 26}
    assert kernel["paired_by"] == "name"
    assert [each["kind"] for each in kernel["findings"]["gone"]] == ["uncoalesced"]
    changed = [pair for pair in kernel["code"]["instructions"] if None in pair.values()]
    assert [(pair["old"] or pair["new"])["text"] for pair in changed] == ["IADD R30, R6, 8", "NOP"]


def test_markdown(tmp_path, databases):
    code, _, error = gpuprof(tmp_path, "diff", "before.gpudb", "after.gpudb", "-o", "out.md")
    assert (code, error) == (0, "")
    text = (tmp_path / "out.md").read_text()
    assert text.startswith(
        "**14.0 % slower \\(10,000 -\\> 11,400 cycles\\), 2 launches of 1 kernel compared: 1 slower**\n"
        "\n"
        "* before: before.gpudb, gpuprof 0.1.0, model 1, chip a100\n"
        "* after: after.gpudb, gpuprof 0.1.0, model 1, chip a100\n"
        "\n"
        "| kernel | cycles before | after | change | most of it |\n"
        "|---|--:|--:|--:|---|\n"
        "| transpose\\_naive | 10,000 | 11,400 | +14.0 % | line 16 waits 20,000 warp-cycles more for uncoalesced "
        "accesses |\n"
        "\n"
        "<details>\n"
    )
    assert (
        "| +20,000 | 14,000 | 34,000 | transpose.cu:16 \\(was 14\\) | long\\_scoreboard | DRAM, conflict | "
        "out\\[at\\(x, y \\+ i, n\\)\\] = value; |\n"
    ) in text
    assert text.count("<details>") == text.count("</details>") == 1


def test_the_same_file_twice(tmp_path, databases):
    for format_ in ("text", "markdown"):
        code, out, error = gpuprof(tmp_path, "diff", "before.gpudb", "before.gpudb", "--format", format_)
        assert (code, error) == (0, "")
        assert "nothing changed: 2 launches of 1 kernel with the same code, cycles and numbers" in out
    found = of_json(tmp_path, "before.gpudb", "before.gpudb")
    assert not found["is_changed"] and not found["kernels"][0]["is_changed"]


def test_other_chips_are_named_first_and_compared(tmp_path, databases):
    _, after = databases
    with sqlite3.connect(after) as db:
        db.execute("UPDATE meta SET value = 'h100' WHERE key = 'chip'")
        db.execute("UPDATE meta SET value = replace(value, '1410', '1980') WHERE key = 'chip_json'")
        db.execute("UPDATE modules SET compiler = 'nvcc 13'")
    db.close()
    code, out, _ = gpuprof(tmp_path, "diff", "before.gpudb", "after.gpudb")
    assert code == 0
    assert out.splitlines()[2:5] == [
        "caution the compiler differs: clang 22 -> nvcc 13",
        "caution the chips differ: a100 -> h100",
        "caution the clocks differ: 1,410 -> 1,980 MHz, all launches take 7.09 us -> 5.76 us",
    ]
    assert "14.0 % slower" in out


def test_launches_of_one_side_and_one_that_did_not_end(tmp_path):
    make_database(tmp_path / "two.gpudb")
    make_database(tmp_path / "three.gpudb", launches=3)
    with sqlite3.connect(tmp_path / "two.gpudb") as db:
        db.execute("UPDATE launches SET complete = 0 WHERE launch = 1")
        db.execute("DELETE FROM ledger WHERE launch = 1")
    db.close()
    code, out, _ = gpuprof(tmp_path, "diff", "two.gpudb", "three.gpudb")
    assert code == 0
    assert out.splitlines()[2:] == [
        "caution two.gpudb: 1 launch did not end, and the comparison leaves them out",
        "",
        "as fast as before (5,000 cycles), 1 launch of 1 kernel compared: 1 as fast, 2 launches new",
        "new     transpose_naive<<<(4, 4), (32, 8)>>> #2, 5,000 cycles",
        "new     transpose_naive<<<(4, 4), (32, 8)>>> #3, 5,000 cycles",
        "",
        "the same transpose_naive",
    ]
    found = of_json(tmp_path, "two.gpudb", "three.gpudb")
    assert delta(found["cost"]) == sum(launch["cost"] for launch in found["added"])


def test_a_recording_that_is_not_complete(tmp_path):
    make_database(tmp_path / "whole.gpudb")
    make_database(tmp_path / "cut.gpudb", complete=False)
    code, out, error = gpuprof(tmp_path, "diff", "whole.gpudb", "cut.gpudb")
    assert (code, out) == (4, "")
    assert error == "gpuprof: cut.gpudb: nothing was measured: no launch of it ended; collect again\n"


def test_samples_where_one_has_no_ledger(tmp_path):
    make_database(tmp_path / "model.gpudb")
    make_database(tmp_path / "card.gpudb", with_ledger=False)
    assert of_json(tmp_path, "model.gpudb", "card.gpudb")["unit"] == "samples"


def test_a_card_has_no_compiler_and_no_model(tmp_path):
    """Its profile differs from a recording in more than can be named, so that only the chip is."""
    make_database(tmp_path / "model.gpudb")
    make_database(tmp_path / "card.gpudb", with_ledger=False)
    with sqlite3.connect(tmp_path / "card.gpudb") as db:
        db.execute("INSERT INTO meta VALUES ('measured_by', 'Nsight Compute 2023.1')")
        db.execute("UPDATE meta SET value = '' WHERE key = 'model_version'")
        db.execute("UPDATE meta SET value = 'Card X' WHERE key = 'chip'")
    db.close()
    code, out, _ = gpuprof(tmp_path, "diff", "model.gpudb", "card.gpudb")
    assert code == 0
    assert out.splitlines()[:4] == [
        "before  model.gpudb, gpuprof 0.1.0, model 1, chip a100",
        "after   card.gpudb, chip Card X",
        "caution the chips differ: a100 -> Card X",
        "caution card.gpudb: measured on a card by Nsight Compute 2023.1, not by gpuprof",
    ]


def test_shaders_of_draws_are_named_with_their_draw(tmp_path):
    for name, more in (("a", 0), ("b", 500)):
        make_drawn(tmp_path / f"{name}.gpudb")
        with sqlite3.connect(tmp_path / f"{name}.gpudb") as db:
            db.execute("UPDATE launches SET cycles = cycles + ?", (more,))
        db.close()
    (kernel,) = of_json(tmp_path, "a.gpudb", "b.gpudb")["kernels"]
    (launch,) = kernel["launches"]
    assert launch["new"]["text"] == "transpose_naive<<<(4, 4), (32, 8)>>> (draw 0, draw 0, pass 0, vertex)"
    assert delta({side: launch[side]["cycles"] for side in launch}) == 500


def test_the_same_code_is_said(tmp_path):
    """Only its data changed, or the launches before it."""
    for name in "ab":
        make_database(tmp_path / f"{name}.gpudb")
    with sqlite3.connect(tmp_path / "b.gpudb") as db:
        db.execute("UPDATE ledger SET cycles = cycles + 1000 WHERE pc = 0x1150 AND reason = 3")
        db.execute("INSERT INTO launch_metrics VALUES (0, 'cache', 'cold')")
    db.close()
    code, out, _ = gpuprof(tmp_path, "diff", "a.gpudb", "b.gpudb")
    assert code == 0
    assert out.splitlines()[2:6] == [
        "caution the caches were filled in another way: keep -> cold (transpose_naive<<<(4, 4), (32, 8)>>>)",
        "",
        "transpose_naive: as fast as before (10,000 cycles): line 14 waits 2,000 warp-cycles more for data from global "
        "or local memory",
        "note     its instructions are the same",
    ]


def test_kernels_of_one_file(tmp_path):
    """Two kernels of one database; the second one has the first's instructions less the last two."""
    make_database(tmp_path / "one.gpudb")
    with sqlite3.connect(tmp_path / "one.gpudb") as db:
        db.execute("INSERT INTO functions VALUES (1, 0, '_Z6padded', 'padded', 1, 0x1260, 2, 24, 0, 0, 0)")
        db.execute("UPDATE functions SET n_instructions = 38 WHERE function = 0")
        db.execute("UPDATE instructions SET function = 1 WHERE pc >= 0x1260")
        db.execute("UPDATE launches SET function = 1, kernel = 'padded' WHERE launch = 1")
        for table in ("ledger", "counters", "samples"):
            db.execute(f"DELETE FROM {table} WHERE launch = 0 AND pc >= 0x1260 OR launch = 1 AND pc < 0x1260")
    db.close()
    command = ("diff", "one.gpudb", "--kernel", "naive", "--with", "padded")
    code, out, error = gpuprof(tmp_path, *command)
    assert (code, error) == (0, "")
    assert "transpose_naive -> padded: as fast as before (5,000 cycles): " in out
    assert "code     38 instructions -> 2: 1 with other operands, 37 gone, 1 new" in out
    found = of_json(tmp_path, *command[1:])
    assert found["kernels"][0]["paired_by"] == "request"
    assert delta(found["cost"]) == cost_in(tmp_path / "one.gpudb", "launch = 1") - cost_in(
        tmp_path / "one.gpudb", "launch = 0"
    )


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        ("before.gpudb", 2, "give a second file to compare before.gpudb with, or two of its kernels, with --kernel A "
         "--with B"),
        ("before.gpudb after.gpudb --with x", 2, "--with names the partner of a kernel: give --kernel, too"),
        ("before.gpudb after.gpudb --kernel nave", 2, "--kernel 'nave' finds no kernel; there are: transpose_naive"),
        ("before.gpudb --kernel naive --with transpose_nive", 2, "--with 'transpose_nive' finds no kernel; did you "
         "mean transpose_naive? there are: transpose_naive"),
        ("before.gpudb after.gpudb --kernel (", 2, "--kernel '(' is not a regular expression: missing ), unterminated "
         "subpattern at position 0"),
        ("before.gpudb after.gpudb --chip h100", 2, "--chip is for files that are collected, and both are profiles; "
         "leave it out"),
        ("before.gpudb after.gpudb -- --steps 3", 2, "what follows -- is for files that are collected, and both are "
         "profiles; leave it out"),
        ("before.gpudb nosuch.gpudb", 2, "nosuch.gpudb: there is no such file"),
        ("before.gpudb notes.txt", 1, "notes.txt: is neither a recording nor a database of gpuprof; expected a file of "
         "`gpuprof collect` or `gpuprof correlate`"),
        ("before.gpudb after.gpudb -o after.gpudb", 2, "after.gpudb: is read by this command; give another name"),
        ("before.gpudb after.gpudb -o notes.csv", 2, "notes.csv: is no text, and would be overwritten; give another "
         "name, or --force to overwrite it"),
        ("before.gpudb after.gpudb --format json --isa", 2, "--isa is for text; leave it out: --format json has every "
         "instruction and column"),
        ("before.gpudb other.gpudb", 4, "no kernel of one is one of the other: before.gpudb has transpose_naive; "
         "other.gpudb has other; name two, with --kernel A --with B"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared(tmp_path, databases, arguments, code, message):
    for name in ("notes.txt", "notes.csv"):
        (tmp_path / name).write_text("a line of text\n")
    make_database(tmp_path / "other.gpudb", kernel="other")
    with sqlite3.connect(tmp_path / "other.gpudb") as db:
        db.execute("UPDATE instructions SET text = 'NOP'")
        db.execute("UPDATE functions SET name = '_Zother'")
    db.close()
    assert gpuprof(tmp_path, "diff", *arguments.split()) == (code, "", f"gpuprof: {message}\n")


HOSTILE = "k\x1b[31m<b>|`*\u202eevil"


@pytest.mark.parametrize("format_", ["text", "markdown", "json", "html"])
def test_hostile_names_are_shown_and_do_nothing(tmp_path, format_):
    source = CU.replace("float value =", "float value = /* \x1b[2J <script>alert(1)</script> ``` | */")
    make_database(tmp_path / "a.gpudb", kernel=HOSTILE, source=source)
    make_database(tmp_path / "b.gpudb", kernel=HOSTILE, source=source)
    with sqlite3.connect(tmp_path / "b.gpudb") as db:
        db.execute("UPDATE ledger SET cycles = cycles + 7")
        db.execute("UPDATE instructions SET text = 'LDG \x1b]0;x\x07 ```' WHERE pc = 0x10F0")
    db.close()
    code, out, error = gpuprof(tmp_path, "diff", "a.gpudb", "b.gpudb", "--format", format_)
    assert (code, error) == (0, "")
    assert not set(out) & set("\x1b\x07\u202e")
    assert format_ in ("text", "json") or "<script>alert" not in out
    if format_ == "markdown":
        assert out.count("```") == 2
        assert "<b>" not in out.replace("\\<b\\>", "")


@pytest.mark.parametrize("width", [20, 40, 60, 100])
def test_no_line_is_wider_than_the_width(tmp_path, databases, width):
    code, out, error = gpuprof(tmp_path, "diff", "before.gpudb", "after.gpudb", "--width", str(width))
    assert (code, error) == (0, "")
    assert max(map(len, out.splitlines())) <= max(width, 20)
    if width >= 40:
        assert "transpose.cu:16" in out


def test_a_reader_that_has_seen_enough(tmp_path, databases):
    command = [sys.executable, "-m", "gpuprof", "diff", "before.gpudb", "after.gpudb", "--isa"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 0


KERNEL = """\
// LAUNCH: k<<<2, 64>>>(f32[128]=random)
__global__ void k(float *x) {
    __shared__ float s[64 * 32];
    s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    x[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
"""


@pytest.mark.long
def test_sources_are_collected(tmp_path):
    """The second version has bank conflicts; the numbers agree with the tables of two recordings."""
    (tmp_path / "a.cu").write_text(KERNEL)
    (tmp_path / "b.cu").write_text(
        "// A second version.\n"
        + KERNEL.replace("s[threadIdx.x]", "s[threadIdx.x * 32]").replace(
            "s[63 - threadIdx.x]", "s[(63 - threadIdx.x) * 32]"
        )
    )
    code, out, _ = process(tmp_path, "diff", "a.cu", "b.cu", "--chip", "h100", "--format", "json")
    assert code == 0
    found = json.loads(out)
    assert (found["old"]["chip"], found["new"]["file"]) == ("h100", "b.cu")
    for name in "ab":
        assert process(tmp_path, "collect", f"{name}.cu", "--chip", "h100")[0] == 0
        assert process(tmp_path, "correlate", f"{name}.gprec", "-o", f"{name}.gpudb")[0] == 0
    costs = [cost_in(tmp_path / f"{name}.gpudb") for name in "ab"]
    assert found["cost"] == {"old": costs[0], "new": costs[1]}
    (kernel,) = found["kernels"]
    parts = [(line["new"]["line"], part) for line in kernel["lines"] for part in line["parts"]]
    assert sum(delta(part) for _, part in parts) == costs[1] - costs[0] > 0
    conflicts = [(line, part) for line, part in parts if part["conflict"] and part["cause"] == "shared"]
    assert {line for line, _ in conflicts} == {7}
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".gprec") == ["a.gprec", "b.gprec"]


@pytest.mark.long
def test_a_source_that_does_not_compile(tmp_path):
    (tmp_path / "a.cu").write_text("// LAUNCH: k<<<1, 1>>>()\n__global__ void k() { nonsense }\n")
    code, out, error = process(tmp_path, "diff", "a.cu", "a.cu")
    assert (code, out) == (1, "")
    assert error.splitlines()[-1] == (
        "gpuprof: a.cu: could not be collected (exit code 1), so there is nothing to compare"
    )
