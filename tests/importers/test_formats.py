"""The table of formats that are read: files, help, docs."""

from importlib import import_module
from pathlib import Path

import pytest

from gpuprof.importers import FORMATS
from tests.paths import DOCS
from tests.support.command import gpuprof


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_its_reader_help_and_docs(tmp_path, name):
    entry = FORMATS[name]
    assert callable(import_module(f"gpuprof.importers.{entry.file}").read)
    _, out, _ = gpuprof(tmp_path, "import", "--help")
    assert f"{name} ({entry.extension}) {entry.text}" in " ".join(out.partition("\nFormats:\n")[2].split())
    assert f"| `{name}` | `{entry.extension}` | {entry.text} |" in (DOCS / "import.md").read_text().splitlines()


def test_the_extension_says_the_format(tmp_path):
    Path(tmp_path, "a.txt").write_text("")
    assert gpuprof(tmp_path, "import", "a.txt") == (
        2,
        "",
        "gpuprof: a.txt: the name ends in no format's extension; give --format, or one of .ncu-rep (ncu-rep), "
        ".csv (ncu-csv), .pcsamp.csv (cupti)\n",
    )
