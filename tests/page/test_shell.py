"""The frame of the page: its data, its address, what it may do."""

import json
import zlib

import numpy as np
import pytest

from gpuprof.report.html.block import PageTable, block_of
from gpuprof.report.html.bundle import bundle, modules
from gpuprof.report.html.describe_block import describe
from gpuprof.tables.table import Column
from tests.paths import DOCS
from tests.support.report_database import make_database


@pytest.fixture
def database(tmp_path):
    return make_database(tmp_path / "t.gpudb")


def test_the_summary_opens_from_a_file_and_asks_for_nothing_else(show, database):
    shown = show(database)
    assert shown.texts("main h2")[0] == "Kernels"
    assert shown.texts("tbody tr:first-child td:last-child") == ["transpose_naive"]
    assert shown.page.title() == "Summary - gpuprof"
    assert shown.errors == []
    assert set(shown.requests) == {shown.path.as_uri()}


def test_columns_are_as_narrow_as_their_values():
    columns = (
        Column("small", "int", "", ""), Column("far", "int", "", ""), Column("rate", "real", "", ""),
        Column("name", "text", "", ""),
        Column("part", "share", "", ""),
    )  # fmt: skip
    values = {
        "small": [0, 255],
        "far": [1 << 40, (1 << 40) + 3],
        "rate": [0.5, None],
        "name": ["a</script>", "a</script>"],
        "part": [0.25, None],
    }
    packed = zlib.decompress(block_of(None, [PageTable("t", "", columns, lambda profile: values)]))
    length = int.from_bytes(packed[:4], "little")
    directory = json.loads(packed[4 : 4 + length])
    assert directory == {
        "version": 1,
        "texts": ["", "a</script>"],
        "tables": [
            {
                "name": "t",
                "rows": 2,
                "columns": [
                    {"name": "small", "type": "int", "coding": "u1", "at": 0},
                    {"name": "far", "type": "int", "coding": "f8", "at": 8},
                    {"name": "rate", "type": "real", "coding": "f8", "at": 24},
                    {"name": "name", "type": "text", "coding": "u1", "at": 40},
                    {"name": "part", "type": "share", "coding": "i4", "at": 48},
                ],
            }
        ],
    }
    assert np.frombuffer(packed, "<f8", 2, 4 + length + 8).tolist() == [2**40, 2**40 + 3]


MODULES = {
    "a": 'import { b as two, c } from "./b.js";\nexport const a = two + c();\n',
    "b": "export const b = 1;\nexport function c() { return b; }\n",
}


def test_modules_become_one_script():
    assert bundle(MODULES, "a") == (
        '"use strict";\n'
        "const module_b = (() => {\nconst b = 1;\nfunction c() { return b; }\nreturn { b, c };\n})();\n"
        "const module_a = (() => {\nconst { b: two, c } = module_b;\nconst a = two + c();\nreturn { a };\n})();"
    )


@pytest.mark.parametrize("text", ['import x from "./b.js";\n', "export default 1;\n", 'const x = import("./b.js");\n'])
def test_other_forms_of_imports_are_refused(text):
    with pytest.raises(AssertionError, match="a form that is not taken"):
        bundle({"a": text}, "a")


def test_imports_in_a_circle_are_refused():
    with pytest.raises(AssertionError, match="a -> b -> a: imports in a circle"):
        bundle({"a": 'import { b } from "./b.js";\n', "b": 'import { a } from "./a.js";\n'}, "a")


def test_every_module_is_in_the_script():
    script = bundle(modules(), "main")
    assert [name for name in modules() if f"const module_{name} = " not in script] == []


def test_docs_are_in_step():
    assert (DOCS / "page.md").read_text() == describe(), "python -m gpuprof.report.html.describe_block > docs/page.md"
