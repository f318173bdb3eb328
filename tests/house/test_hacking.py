"""The code that docs/hacking.md shows does what the page says."""

import re
import sqlite3

from gpuprof.report.pages.page_kind import Request
from gpuprof.report.queries import read_report
from gpuprof.report.terminal.styles import Look
from tests.paths import DOCS
from tests.support.report_database import make_database


def test_the_page_of_the_recipe(tmp_path):
    (code,) = re.findall(r"```python\n([^`]*\nPAGE = [^`]*)```", (DOCS / "hacking.md").read_text())
    module: dict = {}
    exec(code, module)
    page, request = module["PAGE"], Request("branches")
    with sqlite3.connect(make_database(tmp_path / "t.gpudb")) as db:
        report = read_report(db)
    assert [line.plain for line in page.text(report, Look(None, "", True, True), request)] == [
        "",
        "split  line  instruction",
        "    6    10  @P0 BRA 0x1270",
    ]
    assert list(page.rows(report, request)) == [
        ["Kernel Name", "Address", "Splits"],
        ["transpose_naive", "0x1090", 6],
    ]
    assert page.objects(report.kernels[0], report, request) == {"branches": [{"address": 0x1090, "splits": 6}]}
