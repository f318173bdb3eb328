"""Files that decide a compiled function: those that its own file reaches. An edit in any of them counts."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from gpuprof.jit.sources import PACKAGE, sources_of
from tests.house.source_graph import import_graph, reached, read_package
from tests.support.matrices import long_but_every

KEEPING = sorted(
    path.relative_to(PACKAGE).as_posix()
    for path in PACKAGE.rglob("*.py")
    if re.search(r"^@cached", path.read_text(), re.MULTILINE)
)


@pytest.fixture(scope="module")
def modules():
    return read_package(PACKAGE)


@pytest.fixture(scope="module")
def graph(modules):
    return import_graph(modules)


@pytest.mark.parametrize("file", KEEPING)
def test_they_are_those_that_the_import_graph_reaches(modules, graph, file):
    """The oracle reads the syntax tree. Of a room whose file is imported, the room's own docstring comes along here."""
    names = {module.path: name for name, module in modules.items()}
    expected = {modules[name].path for name in reached(graph, names[PACKAGE / file])}
    found = set(sources_of(PACKAGE / file))
    assert expected <= found and {path.name for path in found - expected} <= {"__init__.py"}


def test_the_timing_model_is_made_of_the_numbers_of_other_rooms():
    found = {path.relative_to(PACKAGE).as_posix() for path in sources_of(PACKAGE / "timing/engine.py")}
    assert {"isa/row.py", "chips/model.py", "tables/samples.py", "timing/units/scheduler.py"} < found


# --- an edit


@pytest.fixture
def scratch(tmp_path):
    """A copy of the package, with nothing compiled."""
    shutil.copytree(PACKAGE, tmp_path / "gpuprof", ignore=shutil.ignore_patterns("__pycache__", "include", "shipped"))
    return tmp_path / "gpuprof"


def sources_in(package: Path):
    """The module `sources` of a copy of the package, which then looks at that copy."""
    spec = importlib.util.spec_from_file_location("sources_of_a_copy", package / "jit/sources.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("file", long_but_every(4, KEEPING))
def test_an_edit_of_any_of_them_counts_and_a_new_time_does_not(scratch, file):
    before = sources_in(scratch).digests_of(scratch / file)
    for path in scratch.rglob("*.py"):
        os.utime(path, (0, 0))
    assert sources_in(scratch).digests_of(scratch / file) == before
    for path in sources_in(scratch).sources_of(scratch / file):
        text = path.read_text()
        path.write_text(text + "\nEDITED = 1\n")
        assert sources_in(scratch).digests_of(scratch / file) != before, path
        path.write_text(text)
    assert sources_in(scratch).digests_of(scratch / file) == before


class Edit(NamedTuple):
    """In `file`, `old` becomes `new`. `call`, of a function that `module` keeps, gives `before`, and then `after`."""

    module: str
    call: str
    file: str
    old: str
    new: str
    before: str
    after: str


EDITS = [
    Edit(
        "emulate.trace_log.regroup", "m.sector_starts(np.array([0]), np.array([1 << 56 | 5], np.uint64), 1).tolist()",
        "emulate/trace_log/trace_entries.py", "np.int64(more_sectors) << 8", "np.int64(more_sectors) << 4",
        "[0, 261]", "[0, 21]",
    ),
    Edit(
        "emulate.trace_log.access_counts",
        "m.count(128 * np.arange(32), np.full(1, 2**32 - 1, np.uint32), 8, 1, 0, False, False, np.array([[0, 0]]))[7]",
        "emulate/trace_log/coalesce.py", "return total, ideal", "return total + 100, ideal",
        "32", "132",
    ),
    Edit(
        "emulate.matrices.matrix",
        "(d := np.ones((2, 32)), m.multiply_doubles(d[:1], d[:1], 3 * d, d), d[0, 0].item())[2]",
        "emulate/scalar/fused.py", "return builder.call(function, args)",
        "return builder.fneg(builder.call(function, args))",
        "7.0", "3.0",  # 1 * 1 is added to 3 four times; or added and the sign turned: -4, 3, -4, 3
    ),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.module)
def test_an_edit_in_another_file_shows(scratch, edit):
    """Code that was compiled before is there, and is not used. Without an edit, it is."""
    assert [called(scratch, edit), called(scratch, edit)] == [edit.before] * 2
    kept = list(scratch.rglob("*.code"))
    times = [path.stat().st_mtime_ns for path in kept]
    assert kept and called(scratch, edit) == edit.before
    assert [path.stat().st_mtime_ns for path in kept] == times
    text = (scratch / edit.file).read_text()
    assert text.count(edit.old) == 1
    (scratch / edit.file).write_text(text.replace(edit.old, edit.new))
    assert called(scratch, edit) == edit.after


def called(package: Path, edit: Edit) -> str:
    return printed(package, f"import numpy as np, gpuprof.{edit.module} as m; print({edit.call})")


def printed(package: Path, code: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(package.parent)}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=package.parent, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.long
def test_the_timing_model_is_compiled_again_after_an_edit_of_a_number_in_another_room(scratch):
    ask = "from gpuprof.timing.first_run import is_compiled; print(is_compiled())"
    assert printed(scratch, ask) == "False"
    printed(scratch, "from gpuprof.timing.first_run import compile_now; compile_now()")
    assert printed(scratch, ask) == "True"
    for file, old in (("isa/row.py", "PIPES = ("), ("chips/model.py", "LINE_NBYTES = 128")):
        text = (scratch / file).read_text()
        assert text.count(old) == 1
        (scratch / file).write_text(text.replace(old, f"{old}  # edited\n"))
        assert printed(scratch, ask) == "False"
        (scratch / file).write_text(text)
        assert printed(scratch, ask) == "True"
