"""Factors of paired figures."""

from pathlib import Path

from tests.bench.pair import Pair, _round, pairs_of, table_line


def row(name: str, value: float, unit: str = "s") -> dict:
    return {"name": name, "value": value, "unit": unit}


def test_a_factor_above_one_is_an_improvement_in_any_unit():
    base = [row("cli.warm", 2.0), row("emulate.converged", 100.0, "warp-instructions/s"), row("gone", 1.0)]
    here = [row("cli.warm", 1.0), row("emulate.converged", 150.0, "warp-instructions/s"), row("new", 1.0)]
    assert pairs_of([(base, here)]) == [
        Pair("cli.warm", "s", 2.0, 1.0, 2.0, 1),
        Pair("emulate.converged", "warp-instructions/s", 100.0, 150.0, 1.5, 1),
    ]


def test_the_median_of_the_rounds_is_of_their_factors():
    rounds = [
        ([row("a", 1.0)], [row("a", 2.0)]),
        ([row("a", 8.0)], [row("a", 4.0)]),
        ([row("a", 3.0)], [row("a", 3.0)]),
    ]
    assert pairs_of(rounds) == [Pair("a", "s", 3.0, 3.0, 1.0, 3)]


def test_shares_that_are_zero_or_negative_have_no_factor():
    assert pairs_of([([row("sample.cycles", 0.0, "cycles")], [row("sample.cycles", 0.0, "cycles")])]) == []
    assert pairs_of([([row("blocks.error", -1.0, "%")], [row("blocks.error", 2.0, "%")])]) == []


def test_a_group_that_one_side_lacks_has_no_pairs():
    assert pairs_of([([], [row("a", 1.0)])]) == []


def test_every_second_round_begins_with_this_checkout():
    asked = []

    def rows(folder: Path, group: str, scratch: Path) -> list[dict]:
        asked.append((folder.name, group))
        return [row(folder.name, 1.0)]

    folders = (Path("/base"), Path("/here"))
    for is_reversed in (False, True):
        assert _round("time", folders, Path(), is_reversed, rows) == ([row("base", 1.0)], [row("here", 1.0)])
    assert asked == [("base", "time"), ("here", "time"), ("here", "time"), ("base", "time")]


def test_a_line_of_the_table():
    assert table_line(Pair("time.memory", "warp-instructions/s", 3e6, 3.3e6, 1.1, 3)) == (
        "time.memory                       3,000,000      3,300,000 warp-instructions/s  x1.100"
    )
