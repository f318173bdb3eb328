"""A check of draws: a limit on `draw_cycles` holds for the launches that have it, and verdicts name draw and stage."""

from fractions import Fraction

import pytest

from gpuprof.check.baseline import read_baseline, write_baseline
from gpuprof.check.compare import Comparison, compare
from gpuprof.check.entry import Checked, entry_of
from gpuprof.check.facts import Facts, LaunchFacts, measure
from gpuprof.check.renderers.text import file_lines
from gpuprof.check.rules import DEFAULT, Rule, parse_rule
from gpuprof.correlate.database import reading
from gpuprof.correlate.identity.launch_names import LaunchKey, ShaderOf
from gpuprof.errors import FileFormatError, NotComparable
from tests.support.drawn_database import make_drawn

VERTEX, PIXEL = LaunchKey("placed<<<2, 32>>>", 1), LaunchKey("lit<<<8, 32>>>", 1)
SOME = {"draw_cycles": 9}
LIMIT = Rule("draw_cycles", Fraction(1), None, "draw_cycles=1%")


def lines_of(comparison: Comparison) -> list[str]:
    return list(file_lines(entry_of("frame", "frame.gprec", Checked(comparison=comparison))))


def object_of(comparison: Comparison) -> dict:
    return dict(entry_of("frame", "frame.gprec", Checked(comparison=comparison)).json)


def facts(vertex: dict[str, int], pixel: dict[str, int]) -> Facts:
    launches = {
        VERTEX: LaunchFacts({"cycles": 100, **vertex}, {}, "a.cu", ShaderOf(3, "teapot", 1, "vertex")),
        PIXEL: LaunchFacts({"cycles": 300, **pixel}, {}, "a.cu", ShaderOf(3, "teapot", 1, "pixel")),
    }
    return Facts("1", {"chip": "t4"}, launches)


def test_a_draw_that_got_slower_is_named():
    old, new = facts({"draw_cycles": 1000}, {}), facts({"draw_cycles": 1050}, {})
    assert lines_of(compare(old, new, [LIMIT])) == [
        "regressed  placed<<<2, 32>>> (draw 3, teapot, pass 1, vertex): draw_cycles 1000 -> 1050 (+50, +5.0 %), limit "
        "1%",
        "2 launches compared (draw_cycles=1%): 1 regressed",
    ]
    assert lines_of(compare(old, old, [LIMIT])) == ["2 launches compared (draw_cycles=1%): all within limits"]


def frame(*names: str) -> Facts:
    """Draws of one shader each, of the same shape; each name has its own cycles."""
    launches = {
        LaunchKey("lit<<<8, 32>>>", n + 1): LaunchFacts(
            {"cycles": 100 + ord(name)}, {}, "a.cu", ShaderOf(n, name, 0, "pixel")
        )
        for n, name in enumerate(names)
    }
    return Facts("1", {"chip": "t4"}, launches)


def told(old: Facts, new: Facts) -> list[str]:
    return lines_of(compare(old, new, [parse_rule(rule) for rule in DEFAULT]))


def test_a_draw_that_is_gone_or_new_is_named():
    """The others keep their partners, though their ordinals changed."""
    closing = "3 launches compared (cycles=1%|200): "
    assert told(frame("a", "b", "c", "d"), frame("a", "c", "d")) == [
        "missing    lit<<<8, 32>>> #2 (draw 1, b, pass 0, pixel): in the baseline, but not in this profile",
        closing + "1 missing",
    ]
    assert told(frame("a", "c", "d"), frame("a", "b", "c", "d")) == [
        "new        lit<<<8, 32>>> #2 (draw 1, b, pass 0, pixel): not in the baseline; --update adds it",
        closing + "1 new",
    ]


def test_which_draws_are_compared():
    """Those of a name in their order, then what is left over."""
    found = compare(frame("a", "a", "b", "c"), frame("a", "b", "a", "x"), [])
    assert [(pair.old.ordinal, pair.new.ordinal) for pair in (each.pair for each in found.launches)] == [
        (1, 1),
        (3, 2),
        (2, 3),
        (4, 4),
    ]


def test_json_names_the_draw():
    found = object_of(compare(frame("a", "b"), frame("a"), []))
    shader_of = {"draw": 1, "name": "b", "pass": 0, "stage": "pixel"}
    assert found["missing"] == [{"name": "lit<<<8, 32>>>", "ordinal": 2, "shader_of": shader_of}]
    assert found["launches"][0]["shader_of"] == {"draw": 0, "name": "a", "pass": 0, "stage": "pixel"}


@pytest.mark.parametrize(
    "pixel_of_old, vertex, why",
    [({}, {}, "no launch has draw_cycles, so"), (SOME, SOME, "lit.*: draw_cycles was not measured")],
)
def test_what_was_not_measured(pixel_of_old, vertex, why):
    with pytest.raises(NotComparable, match=why):
        compare(facts(vertex, pixel_of_old), facts(vertex, {}), [LIMIT])


def test_a_baseline_has_the_draws_of_the_recording(tmp_path):
    path = make_drawn(tmp_path / "d.gpudb")
    with reading(path) as db:
        found = measure(db, path)
    (key,) = found.launches
    assert found.launches[key].shader_of == ShaderOf(0, "draw 0", 0, "vertex")
    assert found.launches[key].metrics["draw_cycles"] == 2000
    write_baseline(tmp_path / "b.txt", found)
    kept = read_baseline(tmp_path / "b.txt")
    assert kept.launches[key].shader_of == found.launches[key].shader_of
    assert kept.launches[key].metrics["draw_cycles"] == 2000


@pytest.mark.parametrize(
    "row, why",
    [
        ('"draw 0"', r"shader_of is draw 0, not \[draw, name, pass, stage\]"),
        ('[0, "a", "b", "vertex"]', r"not \[draw, name, pass, stage\]"),
        ('[-1, "a", 0, "vertex"]', "its draw is -1, less than zero"),
    ],
)
def test_a_damaged_row(tmp_path, row, why):
    path, baseline = make_drawn(tmp_path / "d.gpudb"), tmp_path / "b.txt"
    with reading(path) as db:
        write_baseline(baseline, measure(db, path))
    text = baseline.read_text()
    baseline.write_text(text.replace('[0, "draw 0", 0, "vertex"]', row))
    with pytest.raises(FileFormatError, match=why):
        read_baseline(baseline)
