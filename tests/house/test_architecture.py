"""Rooms have one order, imports run one way, and what should start quickly imports nothing heavy. The rules are in
`tests.house.architecture`; `test_architecture_rules` breaks each of them.
"""

import ast
import re
import subprocess
import sys

import pytest

from tests.house.architecture import (
    REST,
    crowded_rooms,
    import_circles,
    imports_of_insides,
    not_one_way,
    rooms_that_import_all,
    taken_second_hand,
    wrong_at_the_top,
    wrong_rooms,
    wrong_sub_rooms,
)
from tests.house.source_graph import read_package
from tests.paths import DOCS, ROOT

PACKAGE = ROOT / "gpuprof"
TOP_FILES = ("__init__.py", "__main__.py", "errors.py")

# Room -> the rooms it may import. Each room imports only rooms above it.
GROUND = "errors base isa chips"
READS_DATABASES = f"{GROUND} tables relate records correlate"
MAY_IMPORT = {
    "errors": "",
    "base": "errors",
    "jit": "errors base",
    "isa": "errors",
    "chips": "errors base isa",
    "hosts": "errors base chips",
    "tables": "errors isa chips",
    "trace": "errors base jit isa tables",
    "cuda": "",
    "compile": "errors base isa cuda",
    "assemble": "errors base isa",
    "device": "errors base isa chips compile",
    "program": "errors base isa chips cuda compile device",
    "emulate": "errors base jit isa chips device",
    "timing": "errors base jit isa chips tables device emulate",
    "graphics": "errors base jit device",
    "relate": "errors base",
    "records": "errors base isa chips tables device timing relate",
    "correlate": f"{GROUND} tables relate records",
    "importers": f"{GROUND} tables compile records correlate",
    "compare": "errors base isa",
    "report": f"{READS_DATABASES} compare",
    "export": f"{READS_DATABASES} compare report",
    "check": f"{READS_DATABASES} compare report",
    "run": f"{GROUND} hosts tables trace jit compile assemble device program emulate timing graphics relate records",
    "interop": f"{GROUND} compile device timing run",
    "debug": "errors base isa trace compile assemble device emulate run records",
    "sweep": f"{GROUND} hosts tables device timing records correlate report check run",
    "vary": f"{GROUND} hosts tables device timing records correlate report check run sweep",
    "whatif": f"{GROUND} tables correlate jit device emulate timing report run",
    "advise": f"{READS_DATABASES} timing report whatif",
    "predict": f"{READS_DATABASES} report timing sweep",
    "project": f"{READS_DATABASES} check run",
    "testing": f"{READS_DATABASES} trace device timing check run interop project",
    "mcp_server": "errors base",
    "cli": f"{GROUND} hosts compile assemble device timing relate records correlate importers report export check "
    "trace run debug sweep vary whatif advise predict project mcp_server",
}
OUTSIDE = {"": "base device report run", "__main__": "base cli"}  # the package itself: what it looks up when asked

# Ground first. REST is all files at the room's root that are not named.
SUB_ROOMS = {
    "compile": ("dialect", "llvm", "layouts", "passes", "variables", REST),
    "assemble": ("ptx", "ir", "abi", "lower", "optimize", "registers", "object", REST),
    "device": (
        "graphics_state",
        REST,
        "launching",
        "array",
        "tasks",
        "texture",
        "kernels",
        "host_arguments",
        "api",
        "results",
        "requests",
    ),
    "emulate": (
        "core",
        "trace_log",
        "scalar",
        "memory",
        "collectives",
        "matrices",
        "textures",
        "bulk",
        "watch",
        "spread",
        REST,
    ),
    "timing": ("sampling", "state", "units", REST),
    "report": (
        "tasks",
        REST,
        "terminal",
        "warp_ends",
        "triage",
        "formats",
        "pages",
        "render",
        "describe",
        "quality",
        "differences",
        "html",
    ),
    "export": (REST, "paths", "timeline", "tables", "graph"),
    "check": (REST, "renderers"),
    "trace": (REST, "generators", "checkers"),
    "debug": ("values", REST, "commands"),
    "predict": (
        "chip_numbers",
        "registers",
        "reuse_profile",
        "launch_counters",
        "opcode_facts",
        "work",
        "units",
        "launch",
        "launch_refusal",
        "bottleneck",
        "draws",
        REST,
        "space",
        "output",
    ),
    "whatif": ("changes", REST),
    "run": (
        "trace_counts",
        "hazards",
        "observers",
        "compile_file",
        "subject",
        "trace_file",
        "run_settings",
        "launching",
        "drawing",
        REST,
    ),
}

MOST_FILES = 20
CROWDED = {
    "timing/units": "flat: its docstring says why",
    "report/pages": "one file a page, as its table has them",
    "cli": "one file a command, as its table has them",
}
INSIDES = ("numba.core", "llvmlite.binding")
KNOWS_INSIDES = {
    "jit": "the room for that",
    "gpuprof.compile.codegen": "llvmlite.binding is the CUDA compiler's code generator",
}
FACES = ("chips", "compile", "hosts", "timing")


@pytest.fixture(scope="module")
def modules():
    return read_package(PACKAGE)


def test_the_top_level_holds_rooms():
    rooms = [room for room in MAY_IMPORT if room != "errors"]
    assert wrong_at_the_top(PACKAGE, rooms, TOP_FILES) == []


def test_imports_run_one_way(modules):
    assert not_one_way(MAY_IMPORT) == []
    assert wrong_rooms(modules, MAY_IMPORT | OUTSIDE, ()) == []


def test_one_room_knows_emulation_timing_and_records(modules):
    assert rooms_that_import_all(modules, {"emulate", "timing", "records"}) == ["run"]


@pytest.mark.parametrize("room", SUB_ROOMS)
def test_sub_rooms_stand_in_one_order(modules, room):
    assert wrong_sub_rooms(modules, room, SUB_ROOMS[room]) == []


def test_rooms_are_not_crowded():
    assert crowded_rooms(PACKAGE, MOST_FILES, CROWDED) == []
    assert "flat" in ast.get_docstring(ast.parse((PACKAGE / "timing/units/__init__.py").read_text()))


def test_one_room_knows_the_insides_of_numba(modules):
    assert imports_of_insides(modules, INSIDES, KNOWS_INSIDES) == []


def test_names_come_from_where_they_are_defined(modules):
    assert taken_second_hand(modules, FACES) == []


def test_no_imports_in_circles(modules):
    """Not inside functions either, nor only for types."""
    assert import_circles(modules) == []


HEAVY = {"numba", "llvmlite", "gpuprof.emulate", "gpuprof.timing", "gpuprof.compile", "gpuprof.assemble"}


@pytest.mark.parametrize(
    "module, forbidden",
    [
        ("gpuprof", {"numpy", "click", "rich", "numba", "llvmlite"}),
        ("gpuprof.cli.main", {"numpy", "rich", "numba", "llvmlite", "sqlite3"}),
        ("gpuprof.report.pages", HEAVY),
        ("gpuprof.check.compare", HEAVY),
        ("gpuprof.timing", {"numba", "llvmlite"}),
        ("gpuprof.predict.prediction", {"numba", "llvmlite", "gpuprof.emulate", "gpuprof.compile", "gpuprof.run"}),
    ],
)
def test_what_an_import_brings_along(module, forbidden):
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert loaded & forbidden == set()


COMMAND = """\
import sys
from gpuprof.cli.main import main
try:
    main()
except SystemExit as end:
    print(end.code, *sys.modules, file=sys.stderr)
"""


@pytest.mark.long
def test_pyelftools_comes_with_a_file_to_read_and_not_before(tmp_path, monkeypatch):
    """A source file's program is never read back: not the first time, and not when its PTX is in the cache."""
    monkeypatch.setenv("GPUPROF_CACHE", str(tmp_path / "cache"))
    (tmp_path / "k.cu").write_text("// LAUNCH: k<<<1, 32>>>()\n__global__ void k() {}\n")
    expected = [
        ("compile k.cu", False),
        ("collect k.cu", False),
        ("collect k.cu", False),
        ("disasm k.gpubin", True),
        ("correlate k.gprec", True),
        ("collect k.gpubin", True),
    ]
    found = []
    for command, _ in expected:
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, *command.split()], cwd=tmp_path, capture_output=True, text=True, timeout=300
        )
        code, *modules = done.stderr.splitlines()[-1].split()
        assert code == "0", done.stderr
        found.append((command, "elftools" in modules))
    assert found == expected


def test_the_page_draws_these_rooms():
    page = (DOCS / "architecture.md").read_text()
    rows = re.findall(
        r"^\| (`[^|]*) \| [^|]* \| ([^|]*) ?\|$", page.partition("## Rooms")[2].partition("## What")[0], re.M
    )
    rooms = [room.strip("/").removesuffix(".py") for names, _ in rows for room in re.findall(r"`([^`]*)`", names)]
    assert rooms == list(MAY_IMPORT)
    for names, sub_rooms in rows:
        folders = [path for name in re.findall(r"`([^`]*)`", names) for path in (PACKAGE / name).glob("*/__init__.py")]
        assert set(re.findall(r"`([^`]*)`", sub_rooms)) == {path.parent.name for path in folders}, names
