"""`gpuprof predict` of a recording with draws, as people run it."""

import csv
import io
import json
import re
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.correlate.database import reading
from gpuprof.errors import NotComparable
from gpuprof.predict.chip_numbers import joined, numbers_of
from gpuprof.predict.draws.cycles import cycles_of_draws
from gpuprof.predict.draws.draw_bottleneck import DOUBLED, SHADERS, UNITS, bottlenecks, unit_of
from gpuprof.predict.draws.pipeline_units import unit_cycles
from gpuprof.predict.draws.times import draw_times
from gpuprof.predict.launch_counters import AGAIN
from gpuprof.predict.mapping import IDENTITIES
from gpuprof.predict.output.prediction_screen import explained_draw_lines, rows_of, warnings_of
from gpuprof.predict.output.prediction_tables import csv_text
from gpuprof.predict.prediction import joined_predictions, predicted
from gpuprof.predict.recorded import read_recorded
from gpuprof.predict.space.design_points import points_of
from gpuprof.predict.space.explain_draws import ExplainedDraw, OnChip
from gpuprof.predict.space.sensitivity import sensitivities
from gpuprof.predict.validated import DRAWS, far_outside
from gpuprof.report.terminal.styles import Look
from gpuprof.sweep.sweep_parameters import parse_parameter
from tests.paths import ROOT
from tests.support.command import gpuprof

# Two command buffers of one name: two draws, the second of which is hidden, and one of depths alone that begins a pass.
SCRIPT = f"""\
import numpy as np
import gpuprof
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import LESS, Pipeline
from tests.draws.scene import on_grid, vertices

gpu = gpuprof.Device("rtx3090")
shaders = gpu.load("{ROOT}/tests/draws/plain.cu")
corners = on_grid([(0, 0), (32, 0), (32, 32), (0, 32)], 32, 32, 0.5)
square, indices = vertices(corners, (1, 0.5, 0, 1)), np.uint16([0, 1, 2, 0, 2, 3])
frame, depths = Frame(gpu, 32, 32), Frame(gpu, 32, 32, formats=())
frame.clear()
depths.clear()
with frame.commands("picture"):
    for _ in range(2):
        frame.draw(Pipeline(shaders.placed, shaders.tinted, depth=LESS), square, indices)
with depths.commands("picture"):
    depths.draw(Pipeline(shaders.placed, None, depth=LESS), square, indices)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("draws")
    (made / "frame.py").write_text(SCRIPT)
    code, _, error = gpuprof(made, "collect", "frame.py", "--counters", "blocks", "-o", "f.gprec")
    assert (code, error) == (0, "")
    return made


@pytest.fixture(scope="module")
def recorded(folder):
    with reading(folder / "f.gprec") as db:
        return read_recorded(db)


def rows(folder, *arguments):
    code, out, error = gpuprof(folder, "predict", "f.gprec", "--format", "csv", *arguments)
    assert (code, error) == (0, "")
    return list(csv.DictReader(io.StringIO(out)))


def test_draws_and_command_buffers_are_read(recorded):
    assert [(each.name, each.launches, each.draws) for each in recorded.buffers] == [
        ("picture", (), (0, 1)),
        ("picture", (), (2,)),
    ]
    assert [list(draw.launches) for draw in recorded.draws] == [["vertex", "pixel"], ["vertex"], ["vertex"]]
    assert [len(draw.waves["vertex"].start_cycles) for draw in recorded.draws] == [1, 1, 1]
    assert recorded.draws[0].work["n_indices"] == 6 and recorded.launches == ()


def test_the_reference_chip_takes_what_was_recorded(folder, recorded):
    found = rows(folder, "--chips", "rtx3090", "--level", "draw")
    assert [(row["draw"], row["launch"], row["name"]) for row in found] == [
        ("0", "", "placed and tinted"),
        ("1", "", "placed and tinted"),
        ("2", "", "placed"),
    ]
    cycles = [float(row["microseconds"]) * load_chip("rtx3090").clock_mhz for row in found]
    assert cycles == pytest.approx([draw.logged_cycles for draw in recorded.draws], rel=1e-3)
    assert {row["score"] for row in rows(folder, "--chips", "rtx3090")} == {"1.0"}


def test_a_slower_unit_takes_longer(recorded):
    """A command processor of a tenth of the rate limits all draws; it takes 40 cycles for the first one, and with each
    change of state 20 more.
    """
    chips = points_of([load_chip("rtx3090")], [parse_parameter("chip", "graphics.draw_cycles=40,20000", "--param")])
    times = [draw_times(draw, joined([numbers_of([recorded.reference]), chips])) for draw in recorded.draws]
    changes = [draw.work["state_changes"] for draw in recorded.draws]
    assert [each.blocks["command"].tolist() for each in times] == [
        [40 + 20 * n, 40 + 20 * n, 20_000 + 20 * n] for n in changes
    ]
    assert set(predicted(recorded, chips.part(1, 2)).test.units) == {"command"}


def test_a_bottleneck_is_the_unit_whose_doubled_rate_saves_most(recorded):
    chips = numbers_of([load_chip(name) for name in ("rtx4090", "t4", "v100")])
    found = predicted(recorded, chips)
    drawn = cycles_of_draws(recorded.draws, joined([numbers_of([recorded.reference]), chips]), True, 2)
    for draw, cycles in zip(found.draws, drawn, strict=True):
        for place, unit in enumerate(draw.units, 1):
            least = min(cycles.cycles_with_twice[name][place] for name in UNITS)
            assert cycles.cycles_with_twice[unit_of(unit)][place] == least < cycles.cycles[place]


def test_shaders_are_one_unit():
    """On three chips: fetch saves more than each stage, but less than all; all save most, and pixels most of them;
    shaders save nothing.
    """
    faster = dict.fromkeys(DOUBLED, np.array([10.0, 10.0, 10.0]))
    faster |= {"fetch": np.array([7.0, 9.0, 9.0]), SHADERS: np.array([6.0, 6.0, 10.0])}
    faster |= {"vertex": np.array([8.0, 9.0, 10.0]), "pixel": np.array([8.5, 7.0, 10.0])}
    assert bottlenecks(faster) == ("vertex", "pixel", "fetch")
    assert bottlenecks({"issue": np.array([2.0]), "lsu": np.array([1.0])}) == ("lsu",)  # of launches


def test_a_bottleneck_of_draws_beside_launches(folder, recorded):
    """Command buffers of draws are limited by what limits them without a launch behind them: none launches a grid."""
    (folder / "scale.cu").write_text("__global__ void scale(float* x) { x[threadIdx.x] *= 2.f; }")
    launched = "gpu.load('scale.cu').scale[1, 32](gpu.to_device(np.ones(32, np.float32)))\n"
    (folder / "mixed.py").write_text(SCRIPT + launched)
    code, _, error = gpuprof(folder, "collect", "mixed.py", "--counters", "blocks", "-o", "mixed.gprec")
    assert (code, error) == (0, "")
    with reading(folder / "mixed.gprec") as db:
        mixed = predicted(read_recorded(db), numbers_of([load_chip("t4")]))
    alone = predicted(recorded, numbers_of([load_chip("t4")]))
    assert [buffer.units for buffer in mixed.buffers if buffer.draws] == [buffer.units for buffer in alone.buffers]
    assert [launch.kernel for launch in mixed.launches] == ["scale"]


def test_a_command_that_took_no_time(recorded):
    """On the reference chip; it takes what it takes on another one, and the draw goes on."""
    draw = recorded.draws[0]
    free = replace(draw, busy_cycles=draw.busy_cycles | {"command": 0.0})
    parameters = [
        parse_parameter("chip", f"graphics.{text}", "--param") for text in ("state_cycles=0", "draw_cycles=0,40")
    ]
    chips = points_of([load_chip("rtx3090")], parameters)
    assert unit_cycles(free, chips)["command"].tolist() == [0, 40]
    [found] = cycles_of_draws([free], chips, False, 2)
    assert found.cycles[1] > found.cycles[0] == pytest.approx(free.logged_cycles)


def test_draws_whose_waits_are_unknown_keep_their_places(recorded):
    """A recording that was stopped may lack the task of a draw, which counts as one before any wait."""
    epochs = [replace(draw, epoch=epoch) for draw, epoch in zip(recorded.draws, (1, 0, 1), strict=True)]
    found = cycles_of_draws(epochs, numbers_of([recorded.reference]), False, 1)
    assert [float(each.passed.starts[0]) > 0 for each in found] == [False, False, True]


def test_a_number_that_some_chips_lack_is_warned_of():
    slow = points_of([load_chip("t4")], [parse_parameter("chip", "graphics.draw_cycles=90000", "--param")])
    found = list(far_outside(joined([numbers_of([load_chip("a100")]), slow]), DRAWS))
    assert [text.partition(" is ")[0] for text in found if text.startswith("graphics.")] == [
        "graphics.draw_cycles=90000"
    ]


def test_rates_of_graphics_change_the_score(recorded):
    """Twenty times as slow a command processor limits these draws."""
    slow = points_of([load_chip("rtx3090")], [parse_parameter("chip", "graphics.draw_cycles=20000", "--param")])
    gains = {each.number: float(each.gain[0]) for each in sensitivities(recorded, slow, IDENTITIES)}
    assert gains["graphics.draw_cycles"] < -0.03 < gains["graphics.tiles_per_cycle"]


def test_parts_of_a_space_are_joined(recorded):
    """As a cluster predicts them: the same numbers, units and refusals as in one piece."""
    points = points_of([load_chip(name) for name in ("t4", "a100")], [parse_parameter("chip", "sms=20,40", "--param")])
    whole = predicted(recorded, points)
    parts = joined_predictions([predicted(recorded, points.part(first, first + 2)) for first in (0, 2)])
    for level in ("draw", "buffer", "test"):
        assert csv_text(parts, rows_of(parts, level), None) == csv_text(whole, rows_of(whole, level), None)


def test_progress_is_that_of_draws(recorded, monkeypatch):
    """Three draws for each part of the points."""
    points = points_of([load_chip("t4")], [parse_parameter("chip", "clock_mhz=1000:1699:1", "--param")])
    told, drawn = [], []
    monkeypatch.setattr(
        "gpuprof.predict.draws.cycles.draw_times", lambda *given: drawn.append(given) or draw_times(*given)
    )
    predicted(recorded, points, with_units=False, done=lambda points: told.append((points, len(drawn))))
    assert told == [(511, 3), (700, 6)]


def test_a_chip_that_draws_nothing_is_refused(folder):
    drawing = "a10g, l4, l40s, rtx3090, rtx4070ti-super, rtx4090, rtx5090, rtxpro6000, t4, v100"
    nothing = f"the chip draws nothing; {drawing} do"
    assert [row["refused"] for row in rows(folder, "--chips", "a100,t4", "--level", "draw")] == [nothing, ""] * 3
    assert [row["refused"] for row in rows(folder, "--chips", "a100")] == [f"placed and tinted: {nothing}"]


def test_a_chip_that_is_refused_is_not_warned_of(recorded):
    """The one that draws nothing has 15 SMs, fewer by far than any that draws were predicted for."""
    found = predicted(recorded, numbers_of([load_chip(name) for name in ("ppu15", "t4")]))
    assert (found.chips["sms"].tolist(), np.isnan(found.score).tolist()) == ([15, 40], [True, False])
    assert warnings_of(found) == []


def test_explained(folder):
    """The rule and the ratios that led to it are the reference chip's; of the other chip come the times of blocks."""
    code, out, error = gpuprof(folder, "predict", "f.gprec", "--chips", "t4,a100", "--explain")
    assert (code, error) == (0, "")
    lines = out.splitlines()
    first = next(place for place, line in enumerate(lines) if "(draw 0)" in line)
    assert re.fullmatch(
        r"placed and tinted \(draw 0\) on rtx3090: rule 1, no overlap \(fewer than 2 front-end waves on a shader "
        r"engine\): Bottleneck_FE \+ Bottleneck_BE = [\d,]+ cycles, [\d,]+ recorded",
        lines[first],
    )
    assert re.fullmatch(
        r"  Bottleneck_FE [\d,]+, Bottleneck_BE [\d,]+, vs_latency ([\d,]+), vs_1st_wave_latency \1, "
        r"front_end_shader_time \1, total_draw_ttrace_latency [\d,]+, perDraw_logged_cycles [\d,]+, front-end waves of "
        r"a shader engine 0.14, vs_vs1_ratio 1.00, fe_draw_ratio 0\.\d\d, out_perf_ratio \d\.\d\d, febe_ratio 0\.\d\d",
        lines[first + 1],
    )
    assert re.fullmatch(
        r"  on t4: [\d,]+ cycles by the rule, [\d,]+ predicted; limited by (vertex|pixel); all shaders twice as "
        r"fast save \d+%; cycles of blocks, rtx3090 -> t4: command 40 -> 40, fetch 1 -> 1, .*, pixel [\d,]+ -> [\d,]+, "
        r"slice [\d,]+ -> [\d,]+, dram [\d,]+ -> [\d,]+",
        lines[first + 2],
    )
    assert "(draw 1)" in lines[first + 3]  # the chip that draws nothing is in the table alone


def test_whose_block_a_draw_waits_for():
    """Of a draw that has no hull shader."""
    blocks = (("vertex", 90.0, 80.0), ("l2", 10.0, 10.0))
    told = [
        "".join(line.plain for line in explained_draw_lines([ExplainedDraw(
            1, "flat", "t4", "rule", 1.0, 1.0, (), (OnChip("a", 1.0, 1.0, unit, 0.5, blocks),)
        )], Look(None, "", False, True)))
        for unit in ("vertex", "l2", "hull", "tessellate")
    ]  # fmt: skip
    assert [re.search("limited by ([^;]*); (.*) 50%", line).groups() for line in told] == [
        ("vertex", "all shaders twice as fast save"),
        ("l2", "twice as fast it saves"),
        ("hull of draws before it", "all shaders twice as fast save"),
        ("tessellate of draws before it", "twice as fast it saves"),
    ]


def test_json_has_draws(folder):
    code, out, _ = gpuprof(folder, "predict", "f.gprec", "--chips", "t4", "--level", "draw", "--format", "json")
    found = json.loads(out)
    assert (code, found["version"], list(found["validated"])) == (0, 3, ["draws"])
    assert [(row["draw"], row["launch"]) for row in found["rows"]] == [(0, None), (1, None), (2, None)]


def test_a_level_that_is_not_there(folder):
    code, _, error = gpuprof(folder, "predict", "f.gprec", "--level", "launch")
    why = "the recording has no launch to predict except those of draws' shaders; --level test shows what it has"
    assert (code, error) == (4, f"gpuprof: {why}\n")


STOPPED = "UPDATE meta SET value = '0' WHERE key = 'complete'"


@pytest.fixture(scope="module")
def database(folder):
    assert gpuprof(folder, "correlate", "f.gprec", "-o", "f.gpudb")[0] == 0
    return folder / "f.gpudb"


def changed(database, name, *statements):
    path = shutil.copy(database, database.with_name(name))
    with closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(statement)
    return path


def test_an_interrupted_recording(folder, database):
    """The last draw did not end: it has launches alone, and nothing of it is predicted."""
    ends = ["draw_units", "draw_work", "draw_traffic", "draw_waves", "draws"]
    changed(database, "cut.gpudb", STOPPED, *(f"DELETE FROM {table} WHERE draw = 2" for table in ends))
    code, out, error = gpuprof(folder, "predict", "cut.gpudb", "--chips", "t4", "--level", "draw", "--format", "json")
    found = json.loads(out)
    assert (code, error, [row["draw"] for row in found["rows"]]) == (0, "", [0, 1])
    assert found["warnings"][0] == "the recording was stopped early: the test is its recorded part"


def untimed(draw: int) -> list[str]:
    """What makes a draw one that ran and has no times."""
    return [
        f"UPDATE draws SET start_cycle = NULL, end_cycle = NULL WHERE draw = {draw}",
        *(f"DELETE FROM {table} WHERE draw = {draw}" for table in ("draw_units", "draw_waves")),
    ]


def test_a_draw_that_nobody_timed(folder, database):
    changed(database, "untimed.gpudb", *untimed(1))
    code, _, error = gpuprof(folder, "predict", "untimed.gpudb", "--chips", "t4")
    why = f"draw 1 (placed and tinted) has no times of its units; {AGAIN}"
    assert (code, error) == (4, f"gpuprof: {why}\n")


A100 = json.dumps(load_chip("a100").describe()).replace("'", "''")


@pytest.mark.parametrize(
    "statements, why",
    [
        (
            [f"UPDATE meta SET value = '{A100}' WHERE key = 'chip_json'"],
            "the recording has draws, and its chip, a100, draws nothing; ",
        ),
        ([*untimed(2), STOPPED], "draw 2 (placed) has no times of its units; the recording was stopped early"),
        (["DELETE FROM draw_units WHERE unit = 'command'"], "draw 0 (placed and tinted) has no times of its units; "),
        (["DELETE FROM draw_work WHERE amount = 'n_tiles'"], "has no n_tiles of its units' work; "),
        (["DELETE FROM draw_work"], "of its units' work; "),
        (
            ["DELETE FROM draw_traffic"],
            "draw 0 (placed and tinted) has no bytes that its units read and wrote, which recordings have from version "
            f"8 on; {AGAIN}",
        ),
        (["DELETE FROM draw_waves WHERE stage = 'vertex'"], "has no waves of a vertex shader; "),
        (["UPDATE draw_launches SET stage = 'pixel'"], "has no waves of a vertex shader; "),
        (["UPDATE draw_waves SET end_cycle = start_cycle"], "has no time of its first waves; "),
        (
            ["UPDATE draw_units SET first_cycle = last_cycle + 9000000000, last_cycle = last_cycle + 9000000000"],
            "has no",
        ),
    ],
)
def test_a_draw_that_lacks_something(database, statements, why):
    with (
        pytest.raises(NotComparable, match=re.escape(why)),
        reading(changed(database, "lacks.gpudb", *statements)) as db,
    ):
        read_recorded(db)


@pytest.mark.long
def test_calibrated_by_recordings_on_other_chips(folder):
    """Two command buffers and a test of each; a recording of other draws is refused."""
    for name, old, new in (("t4", "rtx3090", "t4"), ("v100", "rtx3090", "v100"), ("half", "range(2)", "range(1)")):
        (folder / f"{name}.py").write_text(SCRIPT.replace(old, new))
        assert gpuprof(folder, "collect", f"{name}.py", "-o", f"{name}.gprec")[0] == 0
    others = ("--calibrate", "t4.gprec", "--calibrate", "v100.gprec")
    code, out, error = gpuprof(folder, "predict", "f.gprec", "--chips", "rtx4090", "--format", "json", *others)
    assert (code, error) == (0, "")
    assert {(row["level"], row["mapping"]): row["pairs"] for row in json.loads(out)["calibration"]} == {
        (level, mapping): pairs
        for level, pairs in (("command buffer", 4), ("test", 2))
        for mapping in ("identity", "fitted", "leave one chip out", "leave one test out")
    }
    code, _, error = gpuprof(folder, "predict", "f.gprec", "--calibrate", "half.gprec")
    assert (code, error) == (4, "gpuprof: half.gprec: has other draws than the recording that is predicted from\n")


@pytest.mark.long
def test_a_kernel_between_draws(tmp_path):
    """It ends the overlap, though no pass begins: what comes behind it waits, there and on other chips."""
    (tmp_path / "halve.cu").write_text('extern "C" __global__ void halve(float *x) { x[threadIdx.x] /= 2; }\n')
    script = SCRIPT.replace(
        "    for _ in range(2):\n", "    for _ in range(3):\n        if _ == 2: halve[1, 32](x)\n"
    ).replace("with frame", 'halve, x = gpu.load("halve.cu").halve, gpu.to_device(np.ones(32, np.float32))\nwith frame')
    (tmp_path / "frame.py").write_text(script)
    code, _, error = gpuprof(tmp_path, "collect", "frame.py", "--counters", "blocks", "-o", "f.gprec")
    assert (code, error) == (0, "")
    with reading(tmp_path / "f.gprec") as db:
        recorded = read_recorded(db)
    assert [each.drains for each in recorded.draws] == [False, False, True, True]
    starts, ends = ([getattr(each, side) for each in recorded.draws] for side in ("start_cycle", "end_cycle"))
    (kernel,) = recorded.launches
    assert ends[1] < kernel.start_cycle < kernel.end_cycle <= starts[2]
    chips = numbers_of([load_chip("rtx3090"), load_chip("v100")])
    passed = [each.passed for each in cycles_of_draws(recorded.draws, chips, False, 10)]
    assert (passed[1].starts < passed[0].ends).all()
    assert (passed[2].starts >= passed[1].ends).all()
