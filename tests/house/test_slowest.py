"""The table of the slowest tests in docs/hacking.md: slowest first, each with its reason."""

import re

from tests import slowest

ROW = re.compile(r"^\| `([^`:]+::\w+)` \| ([\d.]+) \| (.*) \|$", re.MULTILINE)


def test_every_row_has_the_reason_of_its_name():
    rows = ROW.findall(slowest.TABLE.search(slowest.PAGE.read_text())[0])
    assert len(rows) == slowest.MOST
    assert [reason for _, _, reason in rows] == [slowest.reason_of(name) for name, _, _ in rows]
    assert all(reason for _, _, reason in rows)
    seconds = [float(shown) for _, shown, _ in rows]
    assert seconds == sorted(seconds, reverse=True)


def test_variants_are_added_up():
    lines = [
        '["tests/a/test_b.py::test_c[1]", 1.5]',
        '["tests/timing/test_d.py::test_e", 2.0]',
        '["tests/a/test_b.py::test_c[2]", 1.0]',
    ]
    assert list(slowest.table(lines))[2:] == [
        "| `a/test_b.py::test_c` | 2.5 |  |",
        "| `timing/test_d.py::test_e` | 2.0 | compares random launches with the readable twin, in plain Python |",
    ]
