"""A check of draws: a limit on `draw_cycles` holds for the launches that have it, and verdicts name the draw."""

from fractions import Fraction

import pytest

from gpuprof.check.baseline import read_baseline, write_baseline
from gpuprof.check.compare import compare
from gpuprof.check.facts import Facts, LaunchFacts, LaunchKey, measure
from gpuprof.check.render import text_report
from gpuprof.check.rules import Rule
from gpuprof.correlate.database import reading
from gpuprof.errors import NotComparable
from tests.support.drawn_database import make_drawn

VERTEX, PIXEL = LaunchKey("placed<<<2, 32>>>", 1), LaunchKey("lit<<<8, 32>>>", 1)
SOME = {"draw_cycles": 9}
LIMIT = Rule("draw_cycles", Fraction(1), None, "draw_cycles=1%")


def facts(vertex: dict[str, int], pixel: dict[str, int]) -> Facts:
    launches = {
        VERTEX: LaunchFacts({"cycles": 100, **vertex}, {}, "a.cu", "draw 3, teapot"),
        PIXEL: LaunchFacts({"cycles": 300, **pixel}, {}, "a.cu", "draw 3, teapot"),
    }
    return Facts("1", {"chip": "t4"}, launches)


def test_a_draw_that_got_slower_is_named():
    old, new = facts({"draw_cycles": 1000}, {}), facts({"draw_cycles": 1050}, {})
    assert list(text_report(compare(old, new, [LIMIT]))) == [
        "regressed  placed<<<2, 32>>> (draw 3, teapot): draw_cycles 1000 -> 1050 (+50, +5.0 %), limit 1%",
        "2 launches compared (draw_cycles=1%): 1 regressed",
    ]
    assert list(text_report(compare(old, old, [LIMIT]))) == ["2 launches compared (draw_cycles=1%): all within limits"]


@pytest.mark.parametrize(
    "pixel_of_old, vertex, why",
    [({}, {}, "no launch has draw_cycles, so"), (SOME, SOME, "lit.*: draw_cycles was not measured")],
)
def test_what_was_not_measured(pixel_of_old, vertex, why):
    with pytest.raises(NotComparable, match=why):
        compare(facts(vertex, pixel_of_old), facts(vertex, {}), [LIMIT])


def test_names_come_from_the_recording_and_are_in_no_baseline(tmp_path):
    path = make_drawn(tmp_path / "d.gpudb")
    with reading(path) as db:
        found = measure(db, path)
    (key,) = found.launches
    assert (found.launches[key].draw, found.launches[key].metrics["draw_cycles"]) == ("draw 0, draw 0", 2000)
    write_baseline(tmp_path / "b.txt", found)
    kept = read_baseline(tmp_path / "b.txt")
    assert kept.launches[key].draw == "" and kept.launches[key].metrics["draw_cycles"] == 2000
