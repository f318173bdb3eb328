"""A sweep's plot, drawn by matplotlib."""

import math
from pathlib import Path
from textwrap import wrap

from gpuprof.base.files import replacing
from gpuprof.errors import UsageError
from gpuprof.isa.printing.printable import printable
from gpuprof.sweep.series import Figure, Line, Panel

FORMATS = (".png", ".svg")
PANELS_ABREAST = 3
PANEL_INCHES = (4.8, 3.4)
MARKERS = "osD^vP*X<>"
MOST_LEGEND_ENTRIES = 30
CHARACTERS_PER_INCH = 15  # of small text, at most
# No date, no random ids: the same table gives the same bytes. Text stays text.
REPEATABLE = {"svg.hashsalt": "gpuprof", "svg.fonttype": "none"}
NO_DATE = {".png": {"Software": None}, ".svg": {"Date": None}}


def check_plot(path: Path) -> None:
    """Raises UsageError for a name that says no format, or without matplotlib."""
    if path.suffix not in FORMATS:
        raise UsageError(f"--plot {path}: expected a name that ends in {', '.join(FORMATS)}")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise UsageError("--plot needs matplotlib; install it with: pip install 'gpuprof[plot]'") from None


def write_plot(figure: Figure, path: Path) -> None:
    """Raises GpuprofError when the disk refuses."""
    from matplotlib import rc_context

    with rc_context(REPEATABLE), replacing(path) as partial:
        drawn(figure).savefig(partial, format=path.suffix[1:], dpi=150, metadata=NO_DATE[path.suffix])


def drawn(figure: Figure):
    """The matplotlib.figure.Figure: one row or a grid of panels under one legend."""
    import matplotlib.figure

    n_columns = max(1, min(len(figure.panels), PANELS_ABREAST))
    n_rows = math.ceil(len(figure.panels) / n_columns) or 1
    width, height = PANEL_INCHES
    made = matplotlib.figure.Figure(figsize=(n_columns * width, n_rows * height), layout="constrained")
    labels = list(dict.fromkeys(line.label for panel in figure.panels for line in panel.lines))
    for index, panel in enumerate(figure.panels):
        _draw_panel(made.add_subplot(n_rows, n_columns, index + 1), panel, figure, labels)
    _legend(made, [label for label in labels if label])
    more = [f"{figure.panels_left_out} more kernels are in the table"] if figure.panels_left_out else []
    length = int(width * n_columns * CHARACTERS_PER_INCH)
    below = [line for note in (*more, *figure.notes) for line in wrap(printable(note), length)]
    made.supxlabel("\n".join(below), fontsize="small", parse_math=False)
    return made


def _draw_panel(axes, panel: Panel, figure: Figure, labels: list[str]) -> None:
    for line in panel.lines:
        _draw_line(axes, line, labels.index(line.label))
    axes.set_title(printable(panel.title), fontsize="medium", parse_math=False)
    axes.set_xlabel(printable(figure.x_label))
    axes.set_ylabel(figure.y_label)
    # from 0, so that a difference looks as large as it is
    axes.set_ylim(0, 1.08 * max(max(line.cycles) for line in panel.lines))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.grid(True, alpha=0.3)
    if figure.ticks:
        axes.set_xticks([place for place, _ in figure.ticks], [printable(text) for _, text in figure.ticks])
        axes.set_xlim(-0.5, len(figure.ticks) - 0.5)
    else:
        _number_ticks(axes, panel)


def _number_ticks(axes, panel: Panel) -> None:
    """Ticks at the values that were run; powers of two and the like on a logarithmic axis."""
    places = sorted({place for line in panel.lines for place in line.places})
    if len(places) > 2 and places[0] > 0 and places[-1] / places[0] >= 8:
        axes.set_xscale("log", base=2)
    if len(places) <= 8:
        axes.set_xticks(places, [f"{place:g}" if abs(place) < 1e6 else f"{place:.3g}" for place in places])
        axes.minorticks_off()


def _draw_line(axes, line: Line, number: int) -> None:
    (drawn,) = axes.plot(
        line.places,
        line.cycles,
        marker=MARKERS[number % len(MARKERS)],
        color=f"C{number % 10}",
        label=printable(line.label),
    )
    drawn.set_gid(f"line-{number}")


def _legend(made, labels: list[str]) -> None:
    """One for all panels, to their right."""
    handles = {handle.get_label(): handle for axes in made.axes for handle in axes.get_lines()}
    if len(labels) > 1:
        shown = [handles[printable(label)] for label in labels[:MOST_LEGEND_ENTRIES]]
        more = len(labels) - MOST_LEGEND_ENTRIES
        made.legend(handles=shown, loc="outside right upper", title=f"and {more} more" if more > 0 else None)
