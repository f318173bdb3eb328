"""gpuprof list: what there is. Each kind of thing is a function that gives a heading and rows, and a row of KINDS."""

import re
import shutil
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import click

Table = tuple[tuple[str, ...], list[tuple]]  # column names; rows


def chips() -> Table:
    """The chips that come with gpuprof."""
    from gpuprof.chips import list_chips, load_chip

    heading = ("name", "arch", "sms", "clock_mhz", "warp_slots", "registers", "shared_nbytes", "l2_nbytes", "dram_gbytes_per_s")
    loaded = [load_chip(name) for name in list_chips()]
    return heading, [(chip.name, *(getattr(chip, name) for name in heading[1:])) for chip in loaded]


def stalls() -> Table:
    """The stall reasons, in their order of priority."""
    from gpuprof.isa.stalls import REASONS

    return ("name", "column", "text"), [(reason.name, reason.column, reason.text) for reason in REASONS]


def metrics() -> Table:
    """The exact numbers of a launch that `check` can gate on."""
    from gpuprof.correlate.metrics import METRICS

    return ("name", "unit", "text"), [(metric.name, metric.unit, metric.text) for metric in METRICS]


def samples() -> Table:
    """The sample kernels of the source checkout; none when gpuprof was installed without it."""
    paths = sorted(path for path in SAMPLES.glob("*") if path.suffix in (".cu", ".py")) if SAMPLES.is_dir() else []
    return ("file", "launches", "text"), [sample(path) for path in paths]


SAMPLES = Path(__file__).parents[2] / "samples"
LAUNCH = re.compile(r"^\s*(?://|#)\s*LAUNCH:", re.MULTILINE)


def sample(path: Path) -> tuple[str, int, str]:
    """Path, number of LAUNCH lines, and the first sentence of the file's opening comment."""
    text = path.read_text(encoding="utf-8")
    opening = re.match(r"\s*(?:(?://|#)\s*(?P<comment>.+)|\"\"\"(?P<docstring>.+))", text)
    first = (opening["comment"] or opening["docstring"]) if opening else ""
    return shortest(path), len(LAUNCH.findall(text)), re.split(r"(?<=[.;:])\s", first.strip().rstrip('"'))[0].rstrip(".;:")


def shortest(path: Path) -> str:
    """The path as one would type it here: relative when it is below the working folder."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def instructions() -> Table:
    """The instructions of PTX ISA 9.0, and which of their forms do not run."""
    from gpuprof.assemble.catalogue import entries

    return ("kind", "name", "status", "refused"), [(entry.kind, entry.name, entry.status, entry.refused) for entry in entries()]


KINDS: dict[str, Callable[[], Table]] = {
    "chips": chips,
    "stalls": stalls,
    "metrics": metrics,
    "samples": samples,
    "instructions": instructions,
}


@click.command("list", short_help="List chips, stall reasons, metrics, samples or instructions.")
@click.argument("kind", type=click.Choice(tuple(KINDS)))
@click.option("--json", "as_json", is_flag=True, help="JSON, versioned.")
def command(kind, as_json):
    """List what there is of a KIND.

    \b
    chips         machines that --chip takes
    stalls        reasons a warp waits for; see `gpuprof explain`
    metrics       exact numbers of a launch that `gpuprof check` compares
    samples       kernels to try
    instructions  those of PTX ISA 9.0; the forms that stop a program before it starts
    """
    heading, rows = KINDS[kind]()
    if as_json:
        import json

        click.echo(json.dumps({"version": 1, kind: [dict(zip(heading, row, strict=True)) for row in rows]}, indent=1))
    elif not rows:
        click.echo(f"none: no folder {SAMPLES.name}/ beside the package; the {kind} come with the source of gpuprof")
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        click.echo("\n".join(aligned([heading, *rows], width)))


def aligned(rows: list[tuple], width: int | None) -> list[str]:
    """Rows as columns under the first row as heading: numbers to the right, text to the left, the last column wrapped to `width`."""
    texts = [[f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    right = [isinstance(cell, (int, float)) for cell in rows[-1]]
    indent = sum(widths[:-1]) + 2 * len(widths[:-1])
    lines = []
    for row in texts:
        cells = [cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, right, strict=True)]
        line = "  ".join(cells).rstrip()
        wrap = width is not None and width - indent >= 20
        lines += textwrap.wrap(line, width, subsequent_indent=" " * indent, drop_whitespace=True) if wrap and len(line) > width else [line]
    return lines
