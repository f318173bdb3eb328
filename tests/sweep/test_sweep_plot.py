"""The plot of a sweep: which lines it has, and that the file shows them."""

import re
import sys

import pytest

from gpuprof.sweep.series import Figure, Line, Panel, figure_of
from gpuprof.sweep.sweep_parameters import Parameter
from gpuprof.sweep.sweep_plot import drawn, write_plot
from gpuprof.sweep.sweep_table import AFTER, BEFORE, MEASURED, SweepTable, type_of
from gpuprof.tables.table import Column
from tests.support.command import gpuprof
from tests.support.sweeps import kernel_file

L2 = Parameter("chip", "l2_kb", ("20480", "40960"))
KIND = Parameter("define", "KIND", ("float", "double"))


def table_of(parameters: tuple[Parameter, ...], *rows: tuple) -> SweepTable:
    """Rows of (chip, the parameters' values, kernel, cycles); without cycles the run failed."""
    columns = (*BEFORE, *(Column(p.column, type_of(p), p.unit, p.meaning) for p in parameters), *AFTER, *MEASURED)
    facts = [
        {
            "chip": row[0],
            "kernel": row[-2],
            "cycles": row[-1],
            **dict(zip([p.column for p in parameters], row[1:], strict=False)),
        }
        for row in rows
    ]
    return SweepTable(
        columns, tuple(tuple(fact.get(column.name) for column in columns) for fact in facts), parameters, {}
    )


def test_a_line_per_chip_and_other_value():
    table = table_of(
        (KIND, L2),
        ("a100", "float", 20480, "k", 900), ("a100", "float", 40960, "k", 500), ("a100", "double", 20480, "k", 1800),
        ("a100", "double", 40960, None, None),
        ("v100", "float", 40960, "k", 600), ("v100", "float", 20480, "k", 700), ("v100", "float", 20480, "k", 50),
    )  # fmt: skip
    assert figure_of(table) == Figure(
        "l2_kb (KiB)",
        "cycles",
        (),
        (
            Panel(
                "k",
                (
                    Line("a100, KIND=float", (20480.0, 40960.0), (900, 500)),
                    Line("a100, KIND=double", (20480.0,), (1800,)),
                    Line("v100, KIND=float", (20480.0, 40960.0), (750, 600)),
                ),
            ),
        ),
    )


def test_names_on_the_axis():
    by_kind = figure_of(
        table_of((KIND,), ("a100", "float", "k", 5), ("a100", "double", "k", 9), ("a100", "float", "other", 7))
    )
    assert by_kind.x_label == "KIND" and by_kind.ticks == ((0.0, "float"), (1.0, "double"))
    assert by_kind.panels == (
        Panel("k", (Line("a100", (0.0, 1.0), (5, 9)),)),
        Panel("other", (Line("a100", (0.0,), (7,)),)),
    )
    by_chip = figure_of(table_of((), ("v100", "k", 5), ("a100", "k", 9)))
    assert by_chip.x_label == "chip" and by_chip.ticks == ((0.0, "v100"), (1.0, "a100"))
    assert by_chip.panels == (Panel("k", (Line("", (0.0, 1.0), (5, 9)),)),)


def test_what_matplotlib_is_given():
    lines = (Line("a100", (1.0, 2.0, 16.0), (30, 20, 10)), Line("h200", (1.0, 16.0), (25, 5)))
    made = drawn(Figure("sms (SMs)", "cycles", (), (Panel("k<3>", lines), Panel("$other", lines[:1]))))
    axes = made.axes[0]
    assert [axes.get_title(), axes.get_xlabel(), axes.get_ylabel(), axes.get_xscale()] == [
        "k<3>",
        "sms (SMs)",
        "cycles",
        "log",
    ]
    assert [list(map(list, line.get_data())) for line in axes.get_lines()] == [
        [[1, 2, 16], [30, 20, 10]],
        [[1, 16], [25, 5]],
    ]
    assert [text.get_text() for text in made.legends[0].get_texts()] == ["a100", "h200"]
    assert axes.get_ylim()[0] == 0 and axes.get_ylim()[1] > 30
    # a chip has one colour in all panels
    assert made.axes[1].get_lines()[0].get_color() == axes.get_lines()[0].get_color()


def test_no_measurement_at_all(tmp_path):
    write_plot(figure_of(table_of((L2,), ("a100", 20480, None, None))), tmp_path / "empty.svg")
    assert "<svg" in (tmp_path / "empty.svg").read_text()


@pytest.mark.long
def test_the_file(tmp_path):
    """From the command line: text in the SVG is text, every point is there, and the same sweep gives the same bytes."""
    kernel_file(tmp_path)
    for name in ("one.svg", "two.svg", "one.png", "two.png"):
        assert (
            gpuprof(
                tmp_path,
                "sweep",
                "sums.cu",
                "--chips",
                "a100,v100",
                "--param",
                "sms=1,2,3",
                "--jobs",
                "1",
                "--plot",
                name,
            )[0]
            == 0
        )
    svg = (tmp_path / "one.svg").read_text()
    assert {"a100", "v100", "sms (SMs)", "cycles", "sums", "twice", "1", "2", "3"} <= set(
        re.findall(r">([^<>\n]+)</text>", svg)
    )
    assert len(re.findall(r'<g id="line-[01]">', svg)) == 4  # two kernels of two chips
    assert (tmp_path / "two.svg").read_bytes() == svg.encode()
    png = (tmp_path / "one.png").read_bytes()
    assert png.startswith(b"\x89PNG") and (tmp_path / "two.png").read_bytes() == png


@pytest.mark.parametrize(
    "flags, extra, module",
    [(("--plot", "p.svg"), "plot", "matplotlib"), (("--scheduler", "tcp://h:1"), "dask", "distributed")],
)
def test_a_missing_extra_says_what_to_install(tmp_path, monkeypatch, flags, extra, module):
    kernel_file(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    code, _, error = gpuprof(tmp_path, "sweep", "sums.cu", *flags)
    assert code == 2 and f"install it with: pip install 'gpuprof[{extra}]'" in error
