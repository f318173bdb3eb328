"""The ratios and rules of draws, by cases that were computed by hand."""

import numpy as np
import pytest

from gpuprof.predict.draws.patent_rules import Ends, rule_of
from gpuprof.predict.draws.ratios import Ratios, ratios_of
from gpuprof.predict.draws.shader_waves import Trace, Waves, trace_names, trace_of


@pytest.mark.parametrize(
    "stages, names",
    [
        (["vertex"], ["vs"]),
        (["vertex", "pixel"], ["vs", "ps"]),
        (["vertex", "geometry", "pixel"], ["es", "gs", "ps"]),
        (["vertex", "hull", "domain", "pixel"], ["ls", "hs", "vs", "ps"]),
        (["vertex", "hull", "domain", "geometry", "pixel"], ["ls", "hs", "es", "gs", "ps"]),
    ],
)
def test_names_of_stages_in_a_trace(stages, names):
    assert list(trace_names(stages).values()) == names


def waves(*pairs):
    return Waves(*np.array(pairs, np.int64).T)


def test_a_trace_of_two_stages():
    """Two waves of vertices side by side, a third behind them; pixels."""
    found = trace_of({"vertex": waves((100, 150), (100, 170), (160, 210)), "pixel": waves((180, 300), (190, 290))})
    assert found == Trace({}, "vs", 110, 50, 200, 3)


def test_a_trace_of_all_stages():
    """The geometry shader is the last before the assembly, so it stands for vs."""
    stages = {
        "vertex": waves((0, 10)),
        "hull": waves((12, 32)),
        "domain": waves((35, 65), (36, 66)),
        "geometry": waves((70, 110), (75, 130)),
        "pixel": waves((140, 240)),
    }
    assert trace_of(stages) == Trace({"ls": 10, "hs": 20, "es": 30}, "gs", 60, 40, 240, 6)


def test_ratios():
    """Of 14 front-end waves on 7 engines. The front end's shaders take 40 + 160 of 250 cycles."""
    found = ratios_of(
        {"command": 60.0, "fetch": 90.0, "vertex": 120.0},
        {"setup": 30.0, "pixel": 130.0},
        Trace({"ls": 40}, "vs", 160, 80, 250, 14),
        200,
        7,
    )
    assert found == Ratios(
        bottleneck_fe=120.0,
        bottleneck_be=130.0,
        vs_latency=160,
        vs_1st_wave_latency=80,
        front_end_shader_time=200,
        total_draw_ttrace_latency=250,
        per_draw_logged_cycles=200,
        front_end_waves_per_engine=2.0,
        vs_vs1_ratio=2.0,
        fe_draw_ratio=0.8,
        out_perf_ratio=1.0,
        febe_ratio=1.25,
    )


def test_an_end_without_blocks_takes_no_time():
    found = ratios_of({"command": 60.0}, {}, Trace({}, "vs", 50, 50, 50, 1), 120, 1)
    assert (found.bottleneck_be, found.febe_ratio) == (0.0, 0.5)


# Of a draw that overlaps in part: no other rule holds for it.
IN_PART = Ratios(120.0, 130.0, 160, 80, 200, 250, 200, 2.0, 2.0, 0.8, 1.0, 1.25)


@pytest.mark.parametrize(
    "changes, number, condition",
    [
        ({}, 3, "no other rule"),
        ({"front_end_waves_per_engine": 1.99}, 1, "fewer than 2 front-end waves on a shader engine"),
        ({"vs_vs1_ratio": 1.09}, 1, "vs_vs1_ratio < 1.1"),
        ({"vs_vs1_ratio": 1.1}, 3, "no other rule"),
        ({"febe_ratio": 1.09}, 1, "febe_ratio < 1.1"),
        ({"febe_ratio": 1.1}, 3, "no other rule"),
        ({"fe_draw_ratio": 0.89}, 3, "no other rule"),
        ({"fe_draw_ratio": 0.9}, 2, "vs_vs1_ratio > 1.1 and fe_draw_ratio >= 0.9"),
        ({"fe_draw_ratio": 0.9, "vs_vs1_ratio": 1.1}, 3, "no other rule"),
        ({"fe_draw_ratio": 0.91, "vs_vs1_ratio": 1.1}, 2, "fe_draw_ratio > 0.9"),
        ({"bottleneck_be": 200.0}, 3, "no other rule"),
        ({"bottleneck_be": 200.1}, 2, "Bottleneck_BE > 0.8 total_draw_ttrace_latency"),
        ({"bottleneck_be": 300.0, "fe_draw_ratio": 0.95, "febe_ratio": 1.0}, 1, "febe_ratio < 1.1"),
    ],
)
def test_the_first_rule_that_holds(changes, number, condition):
    held = rule_of(IN_PART._replace(**changes))
    assert (held.rule.number, held.condition.text) == (number, condition)


@pytest.mark.parametrize(
    "changes, cycles",
    [
        ({"vs_vs1_ratio": 1.0}, [260.0, 1200.0, 360.0]),  # the sum of both ends
        ({"fe_draw_ratio": 0.95}, [180.0, 1000.0, 350.0]),  # the longer one; the back end behind the fill
        ({"out_perf_ratio": 0.5}, [520.0, 2400.0, 720.0]),  # as far apart as on the reference chip
    ],
)
def test_cycles_by_each_rule(changes, cycles):
    """Of three chips."""
    ends = Ends(np.array([120.0, 1000.0, 60.0]), np.array([140.0, 200.0, 300.0]), np.array([40.0, 10.0, 50.0]))
    ratios = IN_PART._replace(**changes)
    assert rule_of(ratios).rule.cycles(ends, ratios).tolist() == cycles
