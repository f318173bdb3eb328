"""gpuprof fidelity: the model's figures compared with published ones."""

import shutil
import sys
import textwrap

import click

from gpuprof.base.wording import suggestion
from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.formats import format_option
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import OUTPUT, SELECTION, SWITCH, Given, Option
from gpuprof.errors import UsageError

OF_GAP = ("unit", "what", "effect", "name", "since", "off")
HEADING = ("figure", "unit", "model", "published", "difference", "source", "is")

KINDS = (
    (
        "given",
        "calibrated: the published value, or one of the same measurement, is a number of the chip file, which the "
        "model returns",
    ),
    ("follows", "predicted: an outcome of the model that the chip file does not hold"),
)

OWN = (
    Option("--chip", "chip_name", "Show the figures of this chip.",
           metavar="NAME", usual="one line for each chip", group=SELECTION),
    Option("--all", "everything", "Show the figures of all chips.", form=SWITCH, group=SELECTION),
    format_option(csv="with all figures", json="versioned", group=OUTPUT),
)  # fmt: skip


@click.command("fidelity", cls=GroupedCommand, short_help="Compare the model with published measurements.")
@options("fidelity", *OWN)
def command(given: Given):
    """Compare microbenchmarks on the timing model with published measurements of the real chips.

    The figures are stored with gpuprof. Kernels in tests/microbench of its source measured them on this version of the
    model.
    """
    from gpuprof.chips.fidelity import model_figures

    chips = _chosen(given.chip_name, model_figures.chips())
    if given.format_ != "text":
        click.echo({"csv": csv_text, "json": json_text}[given.format_](chips), nl=False)
        return
    click.echo("\n".join(page(chips, tables=bool(given.chip_name) or given.everything)))


def _chosen(chip_name: str | None, there: tuple[str, ...]) -> tuple[str, ...]:
    if chip_name is None:
        return there
    if chip_name.lower() not in there:
        also = "; for a chip file of your own, run `python -m tests.microbench --chip FILE` in a source checkout"
        near = f"{suggestion(chip_name, there)} " if suggestion(chip_name, there) else ""
        raise UsageError(
            f"--chip {chip_name}: no figures of this chip; {near}there are figures of {', '.join(there)}{also}"
        )
    return (chip_name.lower(),)


def page(chips: tuple[str, ...], tables: bool) -> list[str]:
    from gpuprof.chips.fidelity.missing import MISSING
    from gpuprof.chips.fidelity.model_figures import SOURCES, model_version, summary

    lines = [f"model {model_version()}. The figures are those of microbenchmarks; whole kernels follow.", ""]
    for chip in chips if tables else ():
        lines += [chip, *figures(chip), ""]
    heading = ("chip", "figures", "published", "exact", "within 5 %", "follow", "within 5 %", "mean", "median", "worst")
    lines += columns([heading, *(summary_cells(summary(chip)) for chip in chips)], text_columns={0, 9})
    lines += ["", *(wrapped(kind, meaning, 10) for kind, meaning in KINDS)]
    if tables:
        lines += ["", "Sources"]
        lines += [wrapped(f"[{letter}]", text, 10) for letter, text in SOURCES.items()]
    else:
        lines += ["", "`gpuprof fidelity --chip NAME` shows the figures of one chip, --all those of all chips."]
    lines += ["", *kernel_lines(chips, tables), "", "Not modelled, or held against no card"]
    return lines + [wrapped(gap.unit, gap_text(gap), 14) for gap in MISSING]


def gap_text(gap) -> str:
    since = f" (since {gap.since})" if gap.since else ""
    return f"{gap.what}{since} -> {gap.effect}" + (f"; {gap.off}" if gap.off else "")


def figures(chip: str) -> list[str]:
    from gpuprof.chips.fidelity.model_figures import rows_of

    cells = [HEADING]
    for row in rows_of(chip):
        known = row.published is not None
        published = f"{row.published:g}" if known else ""
        cells.append(
            (
                row.figure,
                row.unit,
                f"{row.model:g}",
                published,
                percent(row.difference) if known else "",
                f"[{row.source}]" if known else "",
                row.kind,
            )
        )
    return columns(cells, text_columns={0, 1, 5, 6})


KERNEL_HEADING = ("launch", "card", "kind", "compiler", "published", "model", "ratio", "trust", "")


def kernel_lines(chips: tuple[str, ...], tables: bool) -> list[str]:
    """Whole kernels that were measured on real cards: by chip, and each of them for `tables`."""
    from gpuprof.chips.fidelity import published_kernels

    rows = [row for row in published_kernels.rows() if row.chip in chips]
    lines = ["Kernels measured on real cards: cycles of the model and published ones"]
    if not rows:
        return [*lines, "none on this chip"]
    known = published_kernels.ratios(rows)
    if tables:
        cells = [KERNEL_HEADING]
        for row in rows:
            runs = row.model_cycles is not None
            numbers = (f"{row.published_cycles:.4g}", f"{row.model_cycles:.4g}" if runs else "")
            ratio = f"{known[row.id, row.compiler]:.2f}" if runs else ""
            cells.append((row.id, row.card, row.kind, row.compiler, *numbers, ratio, row.trust, row.reason))
        lines += columns(cells, text_columns={0, 1, 2, 3, 7, 8})
        lines.append("")
    cells = [("chip", "kind", "compiler", "launches", "mean", "median ratio", "90 % within")]
    for (chip, kind, compiler), found in published_kernels.by(
        lambda row: (row.chip, row.kind, row.compiler), rows
    ).items():
        of_kind = published_kernels.spread(found)
        if of_kind.rows:
            numbers = (f"{100 * of_kind.mean:.0f} %", f"{of_kind.median_ratio:.2f}", f"{100 * of_kind.p90:.0f} %")
            cells.append((chip, kind, compiler, str(of_kind.rows), *numbers))
    lines += columns([cells[0], *sorted(cells[1:])], text_columns={0, 1, 2})
    if tables:
        from gpuprof.chips.fidelity.likeness import KINDS

        lines += ["", *(wrapped(kind.name, f"kernels that {kind.meaning}", 11) for kind in KINDS)]
    return lines


def summary_cells(found) -> tuple[str, ...]:
    if not found.published:
        return (found.chip, str(found.figures), "0", "", "", "", "", "", "", "nothing published")
    numbers = (found.figures, found.published, found.exact, found.near, found.follows, found.follows_near)
    worst = f"{percent(found.worst.difference)}  {found.worst.figure}"
    return (found.chip, *map(str, numbers), f"{100 * found.mean:.1f} %", f"{100 * found.median:.1f} %", worst)


def percent(part: float) -> str:
    return f"{100 * part:+.1f} %"


def columns(rows: list[tuple[str, ...]], text_columns: set[int]) -> list[str]:
    """Rows as columns, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    places = list(enumerate(widths))
    return [
        "  ".join(row[i].ljust(w) if i in text_columns else row[i].rjust(w) for i, w in places).rstrip() for row in rows
    ]


def wrapped(label: str, text: str, indent: int) -> str:
    """Label and text; text is wrapped on a terminal."""
    line = f"{label:<{indent}}{text}"
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return line if width is None or width < indent + 20 else textwrap.fill(line, width, subsequent_indent=" " * indent)


def csv_text(chips: tuple[str, ...]) -> str:
    from gpuprof.chips.fidelity.model_figures import COLUMNS, rows_of
    from gpuprof.report.formats import cell, csv_of

    rows = ([cell(value) for value in (*row, rounded(row.difference))] for chip in chips for row in rows_of(chip))
    return csv_of([(*COLUMNS, "difference"), *rows])


def rounded(part: float | None) -> float | None:
    return None if part is None else round(part, 6)


def json_text(chips: tuple[str, ...]) -> str:
    import json

    from gpuprof.chips.fidelity import published_kernels
    from gpuprof.chips.fidelity.missing import MISSING
    from gpuprof.chips.fidelity.model_figures import SOURCES, model_version, rows_of, summary

    compared = [row for row in published_kernels.rows() if row.chip in chips]
    known = published_kernels.ratios(compared)
    found = {
        "version": 2,
        "model_version": model_version(),
        "kernel_cycles_compared_with_hardware": bool(compared),
        "kernels": [row._asdict() | {"ratio": rounded(known.get((row.id, row.compiler)))} for row in compared],
        "chips": [chip_object(summary(chip), rows_of(chip)) for chip in chips],
        "sources": SOURCES,
        "not_modelled": [{name: getattr(gap, name) for name in OF_GAP} for gap in MISSING],
    }
    return json.dumps(found, indent=1) + "\n"


def chip_object(found, rows) -> dict:
    return {
        "chip": found.chip,
        "published": found.published,
        "exact": found.exact,
        "within_5_percent": found.near,
        "follow": found.follows,
        "follow_within_5_percent": found.follows_near,
        "mean_difference": rounded(found.mean),
        "median_difference": rounded(found.median),
        "worst_difference": rounded(found.worst.difference) if found.worst else None,
        "worst_figure": found.worst.figure if found.worst else None,
        "figures": [
            {name: getattr(row, name) for name in ("figure", "unit", "model", "published", "source", "kind")}
            | {"difference": rounded(row.difference)}
            for row in rows
        ],
    }
