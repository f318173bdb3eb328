"""Tests that the comparison of checkouts finds planted differences, and none where only names and wording differ."""

import json
import shutil
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpuprof.assemble.object.elf import write_gpubin
from tests.paths import SAMPLES as SAMPLE_FOLDER
from tests.same import declared
from tests.same.compare import differences
from tests.same.declared import Names
from tests.same.plan import CHIPS, SAMPLES, chips_of, commands_of
from tests.same.programs import program_items
from tests.same.recordings import chunks, recording_items
from tests.same.texts import Item, Side, numbers
from tests.support.gpubin_programs import small_program
from tests.support.recordings import gpuprof, saxpy_program, write_saxpy
from tests.support.report_database import make_database

CHANGED_ROW = "UPDATE ledger SET cycles = cycles + 1 WHERE pc = (SELECT MAX(pc) FROM ledger)"
PAGE = "# saxpy  took 1,234 cycles, 0.7-7.0 % of 12\n"
JSON = {"version": 2, "header": {"tool_version": "0.1.0"}, "kernels": [{"cycles": 7, "advice": "Unroll line 4"}]}


@pytest.fixture(scope="module")
def artefacts(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    write_saxpy(folder / "profile.gprec")
    make_database(folder / "profile.gpudb")
    gpuprof(folder, "report", "profile.gpudb", "--html", "page.html")
    (folder / "program.gpubin").write_bytes(write_gpubin(small_program()))
    (folder / "page-summary.out").write_text(PAGE)
    (folder / "json-summary.out").write_text(json.dumps(JSON))
    (folder / "export-folded.file").write_text("saxpy;saxpy.cu:3 17\n")
    (folder / "codes.json").write_text('{"collect": 0, "page-draws": 1}')
    return folder


@pytest.fixture
def both(artefacts, tmp_path) -> tuple[Path, Path]:
    """Two folders of the same artefacts; a test changes the second one."""
    return artefacts, Path(shutil.copytree(artefacts, tmp_path / "current"))


def compared(both: tuple[Path, Path], renames: dict | None = None, **folders: str) -> list[tuple[str, str]]:
    """Each artefact that differs, and the place in the current checkout."""
    base_side = Side(names=Names(renames))
    current_side = Side(tuple((folder, f"<{name}>") for name, folder in folders.items()))
    found = differences(*both, base_side, current_side)
    return [(each.what, each.current.partition(":")[0]) for each in found]


def replaced(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))


def sql(folder: Path, statement: str) -> None:
    database = sqlite3.connect(folder / "profile.gpudb")
    assert database.execute(statement).rowcount
    database.commit()
    database.close()


def with_chunk(path: Path, wanted: str, change: Callable[[bytes], bytes]) -> None:
    """The recording with the payload of its first chunk of a type changed; checksums are not compared."""
    data, at = path.read_bytes()[:16], 0
    for kind, payload in chunks(path.read_bytes()):
        if kind == wanted and not at:
            payload, at = change(payload), 1
        data += struct.pack("<4sII", kind.encode(), len(payload), 0) + payload
    assert at
    path.write_bytes(data)


def test_the_same_artefacts_are_equal(both):
    assert compared(both) == []


# --- recordings


def test_a_changed_number_in_a_table_of_a_recording_is_found(both):
    with_chunk(both[1] / "profile.gprec", "LEDG", lambda payload: payload[:-1] + b"\1")
    [(what, place)] = compared(both)
    assert what == "profile.gprec" and " LEDG, byte " in place


def test_a_changed_field_of_a_recording_is_found(both):
    with_chunk(both[1] / "profile.gprec", "LEND", lambda payload: payload.replace(b'"cycles":', b'"cycles":1'))
    [(what, place)] = compared(both)
    assert what == "profile.gprec" and place.endswith("LEND.cycles")


def test_a_changed_command_line_of_a_recording_is_not_found(both):
    def other(payload: bytes) -> bytes:
        fields = json.loads(payload)
        assert {"command", "tool_version"} <= fields.keys()
        return json.dumps(fields | {"command": "gpuprof record", "tool_version": "9"}).encode()

    with_chunk(both[1] / "profile.gprec", "META", other)
    assert compared(both) == []


def test_a_format_version_is_not_compared(both):
    path = both[1] / "profile.gprec"
    path.write_bytes(path.read_bytes()[:8] + struct.pack("<I", 99) + path.read_bytes()[12:])
    assert compared(both) == []


def test_a_missing_chunk_is_found(both):
    path = both[1] / "profile.gprec"
    path.write_bytes(path.read_bytes()[: -12 - len(list(chunks(path.read_bytes()))[-1][1])])
    assert [what for what, _ in compared(both)] == ["profile.gprec"]


def test_a_renamed_key_is_found_unless_it_is_declared(both):
    with_chunk(both[1] / "profile.gprec", "LNCH", lambda payload: payload.replace(b'"registers"', b'"n_registers"'))
    assert [what for what, _ in compared(both)] == ["profile.gprec"]
    assert compared(both, {"key": {"LNCH.registers": "n_registers"}}) == []


# --- databases


def test_a_changed_row_is_found(both):
    sql(both[1], CHANGED_ROW)
    [(what, place)] = compared(both)
    assert what == "profile.gpudb" and place.startswith("table ledger row ")


def test_another_description_is_not_found(both):
    sql(both[1], "UPDATE stall_reasons SET text = 'Another text with 4 numbers.'")
    sql(both[1], "UPDATE meta SET value = 'gpuprof other' WHERE key = 'tool_version'")
    assert compared(both) == []


def test_another_wording_of_a_finding_is_not_found_but_another_number_is(both):
    sql(both[1], "UPDATE findings SET text = replace(text, ' the ', ' its ')")
    assert compared(both) == []
    sql(both[1], "UPDATE findings SET text = text || ' 5'")
    [(what, place)] = compared(both)
    assert (what, place) == ("profile.gpudb", "table findings row 0")


def test_a_renamed_table_and_column_are_found_unless_they_are_declared(both):
    sql(both[1], "ALTER TABLE stall_lengths RENAME TO lengths")
    sql(both[1], "ALTER TABLE lengths RENAME COLUMN least_cycles TO min_cycles")
    assert compared(both) == [("profile.gpudb", "tables")]
    assert compared(both, {"table": {"stall_lengths": "lengths"}}) == [("profile.gpudb", "table lengths columns")]
    renames = {"table": {"stall_lengths": "lengths"}, "column": {"stall_lengths.least_cycles": "min_cycles"}}
    assert compared(both, renames) == []


# --- programs


def changed_program(both: tuple[Path, Path], **changes) -> list[tuple[str, str]]:
    program = small_program()
    for name, value in changes.items():
        object.__setattr__(program, name, value)
    (both[1] / "program.gpubin").write_bytes(write_gpubin(program))
    return compared(both)


def test_other_code_is_found(both):
    code = small_program().code.copy()
    code[0] = code[1]
    assert changed_program(both, code=code) == [("program.gpubin", ".text._Z4scanILi256EEvPfi, byte 0 of 112")]


def test_a_comment_in_the_ptx_is_not_found():
    """Facts that are comments move into a section; lines are counted without them."""

    def program(ptx: str, ptx_lines: list[int]) -> list[Item]:
        program = small_program()
        object.__setattr__(program, "ptx", ptx)
        object.__setattr__(program, "ptx_lines", np.array(ptx_lines, np.uint32))
        return list(program_items(write_gpubin(program), Side()))

    base = program(".version 7.0\nret;\n", [1, 1, 1, 2, 2, 2, 2, 0, 0])
    commented = ".version 7.0\n// gpuprof: a fact\nret;\n// another\n"
    assert program(commented, [1, 1, 1, 3, 3, 3, 3, 0, 0]) == base
    assert program(commented, [1, 1, 1, 1, 3, 3, 3, 0, 0]) != base


def test_other_ptx_is_found(both):
    [(what, place)] = changed_program(both, ptx="// ünï\n.version 7.1\n")
    assert (what, place) == ("program.gpubin", ".gpuprof.ptx line 1")


def test_another_source_position_is_found(both):
    program = small_program()
    locations = (program.locations[1], *program.locations[1:])
    assert [what for what, _ in changed_program(both, locations=locations)] == ["program.gpubin"]


# --- reports and exports


def test_other_words_of_a_page_are_not_found_but_another_number_is(both):
    (both[1] / "page-summary.out").write_text("# saxpy: 1,234 cycles;\n  0.7-7.0 % of 12\n")
    assert compared(both) == []
    (both[1] / "page-summary.out").write_text(PAGE.replace("7.0", "7.1"))
    assert compared(both) == [("page-summary.out", "number 2")]


def test_the_numbers_of_a_text():
    text = "gpuprof 0.1.0: -5 to 1,234 in 0.7-7.0, 1e-05 of f32, (-2.5)"
    assert numbers(text) == ("-5", "1,234", "0.7", "7.0", "1e-05", "32", "-2.5")


def test_json_is_compared_by_its_keys(both):
    other = JSON | {"version": 3, "header": {"tool_version": "1"}, "kernels": [{"cycles": 7, "advice": "Line 4!"}]}
    (both[1] / "json-summary.out").write_text(json.dumps(other, indent=1))
    assert compared(both) == []
    (both[1] / "json-summary.out").write_text(json.dumps(other | {"kernels": [{"cycles": 8, "advice": "Line 4!"}]}))
    assert compared(both) == [("json-summary.out", ".kernels[0].cycles")]


def test_a_changed_number_in_the_data_of_the_html_page_is_found(both):
    """The page is made anew from a database with another number; its script and style are not compared."""
    sql(both[1], CHANGED_ROW)
    gpuprof(both[1], "report", "profile.gpudb", "--html", "page.html")
    assert "page.html" in [what for what, _ in compared(both)]


def test_the_script_of_the_html_page_is_not_compared(both):
    replaced(both[1] / "page.html", b"</title>", b" 2</title>")
    assert compared(both) == []


def test_another_line_of_an_export_is_found(both):
    (both[1] / "export-folded.file").write_text("saxpy;saxpy.cu:3 18\n")
    assert compared(both) == [("export-folded.file", "line 1")]


def test_a_difference_shows_both_texts_around_its_place(both):
    for folder, number in zip(both, "78", strict=True):
        (folder / "export-csv.file").write_text(f"{'x' * 300}{number}\n")
    try:
        [found] = differences(*both, Side(), Side())
        assert found.base == f"line 1: '...{'x' * 40}7'" and found.current == f"line 1: '...{'x' * 40}8'"
    finally:
        (both[0] / "export-csv.file").unlink()


def test_the_recording_comes_first(both):
    sql(both[1], CHANGED_ROW)
    with_chunk(both[1] / "profile.gprec", "LEDG", lambda payload: payload[:-1] + b"\1")
    (both[1] / "export-folded.file").write_text("saxpy;saxpy.cu:3 18\n")
    assert [what for what, _ in compared(both)] == ["profile.gprec", "profile.gpudb", "export-folded.file"]


def test_folders_of_the_machine_are_not_compared(both):
    (both[0] / "export-dot.file").write_text("<here>/a.cu 1\n")
    (both[1] / "export-dot.file").write_text("/tmp/somewhere/a.cu 1\n")
    try:
        assert compared(both, here="/tmp/somewhere") == []
        assert compared(both) == [("export-dot.file", "line 1")]
    finally:
        (both[0] / "export-dot.file").unlink()


# --- commands


def test_another_exit_code_and_a_missing_file_are_found(both):
    (both[1] / "codes.json").write_text('{"collect": 0, "page-draws": 0}')
    (both[1] / "page.html").unlink()
    assert compared(both) == [("exit code of page-draws", "0 "), ("page.html", "not there")]


def test_nothing_is_compared_after_a_failure(both):
    (both[1] / "codes.json").write_text('{"collect": 1}')
    (both[1] / "collect.err").write_text("gpuprof: compiling\ngpuprof: no\n")
    (both[1] / "page.html").unlink()
    assert compared(both) == [("exit code of collect", "1 gpuprof")]


def test_a_command_that_must_succeed_and_fails_on_both_sides_is_found(both):
    for folder in both:
        (folder / "codes.json").write_text('{"correlate": 1}')
    try:
        assert compared(both) == [("exit code of correlate", "1 ")]
    finally:
        (both[0] / "codes.json").write_text('{"collect": 0, "page-draws": 1}')


def test_every_sample_is_compared():
    """A header or a kernel file of a script is compared with the script."""
    scripts = {path.parent / path.stem for path in SAMPLE_FOLDER.rglob("*.py")}
    project = SAMPLE_FOLDER / "project"  # whose baselines are compared by `gpuprof check`
    found = (path for path in SAMPLE_FOLDER.rglob("*.*") if path.suffix in (".cu", ".py"))
    files = {path for path in found if not path.is_relative_to(project)}
    own = {path for path in files if path.suffix == ".py" or path.parent / path.stem not in scripts}
    assert {SAMPLE_FOLDER / sample.path for sample in SAMPLES} == own


def test_draws_are_compared_on_chips_that_draw():
    [scene] = [sample for sample in SAMPLES if sample.name == "scene-scene"]
    assert chips_of(scene, CHIPS) == ["v100", "rtx3090", "rtx4090"]
    assert chips_of(SAMPLES[-1], CHIPS) == ["v100", "rtx3090", "h100"]
    assert chips_of(scene, ["a100", "t4"]) == ["t4"]


def test_each_chip_collects_otherwise():
    commands = [commands_of(SAMPLES[-1], chip)["collect"] for chip in CHIPS]
    assert len({tuple(command[4:]) for command in commands}) == len(CHIPS) == 3


def test_declared_names_are_of_known_kinds():
    assert set(declared.RENAMES) == {"chunk", "key", "table", "column", "source", "text"}


def test_images_of_a_recording_are_compared_as_programs(artefacts):
    data = (artefacts / "profile.gprec").read_bytes()
    places = [item.place for item in recording_items(data, Side())]
    assert f"image 0 .text.{saxpy_program().functions[0].name}" in places
