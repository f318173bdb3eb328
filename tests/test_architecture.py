"""Imports run one way, and what should start quickly imports nothing heavy."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running import ROOT

PACKAGE = ROOT / "gpuprof"
ORDER = (
    "compile",
    "assemble",
    "device",
    "emulate",
    "timing",
    "records",
    "stream",
    "correlate",
    "export",
    "report",
    "check",
    "interop",
    "sweep",
    "cli",
)
GROUND_FLOOR = ("errors", "files", "heap", "kept", "parts", "wording", "isa", "chips", "fidelity")
EXCEPTIONS = {("timing", "gpuprof.records.schema")}


def imported_modules(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return [name for name in names if name.startswith("gpuprof.")]


@pytest.mark.parametrize("package", ORDER)
def test_imports_run_one_way(package):
    allowed = {*GROUND_FLOOR, *ORDER[: ORDER.index(package) + 1]}
    if package in ("interop", "sweep", "cli"):
        allowed |= {"session", "settings", "scripted", "build", "replay", "passes"}
    if package in ("sweep", "cli"):
        allowed = (allowed | {"launches", "script"}) - {"interop"}
    wrong = [
        (str(path.relative_to(ROOT)), name)
        for path in (PACKAGE / package).glob("*.py")
        for name in imported_modules(path)
        if name.split(".")[1] not in allowed and (package, name) not in EXCEPTIONS
    ]
    assert wrong == []


def test_the_ground_floor_stands_on_itself():
    for package in ("isa", "chips", "fidelity"):
        for path in (PACKAGE / package).glob("*.py"):
            below = {"chips"} if package == "fidelity" else set()
            assert {name.split(".")[1] for name in imported_modules(path)} <= {package, "errors"} | below, path


@pytest.mark.parametrize(
    "module, forbidden",
    [
        ("gpuprof", {"numpy", "click", "rich", "numba", "llvmlite"}),
        ("gpuprof.cli.main", {"numpy", "rich", "numba", "llvmlite", "sqlite3"}),
        (
            "gpuprof.report.render",
            {"numba", "llvmlite", "gpuprof.emulate", "gpuprof.timing", "gpuprof.compile", "gpuprof.assemble"},
        ),
        (
            "gpuprof.export.folded",
            {"rich", "numba", "llvmlite", "gpuprof.emulate", "gpuprof.timing", "gpuprof.compile", "gpuprof.assemble"},
        ),
        (
            "gpuprof.check.compare",
            {"numba", "llvmlite", "gpuprof.emulate", "gpuprof.timing", "gpuprof.compile", "gpuprof.assemble"},
        ),
        ("gpuprof.timing", {"numba", "llvmlite"}),
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
