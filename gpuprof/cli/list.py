"""gpuprof list: what there is. Each kind of thing is a function that gives a heading and rows, and a row of KINDS."""

import re
import shutil
import sys
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.formats import format_option
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import OUTPUT, SWITCH, Given, Option
from gpuprof.cli.options.table import VOCABULARY
from gpuprof.cli.options.value_types import NearChoice
from gpuprof.errors import UsageError

Table = tuple[tuple[str, ...], list[tuple]]  # column names; rows


def chips() -> Table:
    """The chips that come with gpuprof, older generations first and other makers' last; `kernel_timings`: the launches
    of whole kernels on such cards with which the model's cycles were compared.
    """
    from gpuprof.chips import list_chips, load_chip
    from gpuprof.chips.fidelity.published_kernels import of_chip

    numbers = (
        "arch",
        "sms",
        "clock_mhz",
        "warp_slots",
        "registers",
        "shared_nbytes",
        "l2_nbytes",
        "dram_gbytes_per_s",
    )
    loaded = sorted(map(load_chip, list_chips()), key=lambda chip: (chip.is_foreign, generation(chip.arch), chip.name))
    rows = []
    for chip in loaded:
        likeness = of_chip(chip.name)
        described = (getattr(chip, name) for name in numbers)
        rows.append((chip.name, *described, likeness.launches if likeness else 0, chip.maker, chip.notes))
    return ("name", *numbers, "kernel_timings", "maker", "notes"), rows


def generation(arch: str) -> int:
    """The number in the name of an NVIDIA architecture: 120 of "sm_120"."""
    return int(re.sub(r"\D", "", arch))


def hosts() -> Table:
    """The hosts that come with gpuprof."""
    from gpuprof.hosts import list_hosts, load_host

    heading = ("name", "link", "link_in_gbytes_per_s", "link_out_gbytes_per_s", "launch_ns", "notes")
    loaded = [load_host(name) for name in list_hosts()]
    return heading, [(host.name, *(getattr(host, name) for name in heading[1:])) for host in loaded]


NUMBERS = ("number", "value", "unit", "meaning", "source")


def host_numbers(host) -> Table:
    """Every number of a host, in the order of its file."""
    from gpuprof.hosts.fields import FIELDS

    return NUMBERS, [
        (field.name, host.values[field.name], field.unit, field.meaning, host.sources[field.name]) for field in FIELDS
    ]


def numbers(chip) -> Table:
    """Every number of a chip, in the order of its file."""
    from gpuprof.chips.fields import FIELDS, OPTIONAL_TABLES, TABLES

    rows = [
        (field.name, chip.values[field.name], field.unit, field.meaning, chip.sources[field.name]) for field in FIELDS
    ]
    for table, (entries, field) in TABLES.items():
        named = getattr(chip, table)
        rows += [
            (f"{table}.{entry}", named[entry], field.unit, field.meaning, chip.sources[f"{table}.{entry}"])
            for entry in entries
        ]
    for table, fields in OPTIONAL_TABLES.items():
        named = getattr(chip, table)
        rows += [
            (
                f"{table}.{field.name}",
                named[field.name],
                field.unit,
                field.meaning,
                chip.sources[f"{table}.{field.name}"],
            )
            for field in fields
            if named
        ]
    return NUMBERS, rows


def stalls() -> Table:
    """The stall reasons, in their order of priority."""
    from gpuprof.isa.stalls import REASONS

    return ("name", "column", "text"), [(reason.name, reason.column, reason.text) for reason in REASONS]


def stalls_in(name: str) -> Table:
    """The terms of another maker's vocabulary, and the reasons that each means."""
    from gpuprof.isa.vocabularies import VOCABULARIES

    vocabulary = VOCABULARIES[name]
    terms = [
        (vocabulary.word(number), ", ".join(vocabulary.reasons_of(vocabulary.word(number))))
        for number in vocabulary.numbers()
    ]
    return ("term", "reasons"), [*terms, *((term, f"none: {why}") for term, why in vocabulary.missing.items())]


def triggers() -> Table:
    """The events that start the sampler."""
    from gpuprof.timing.sampling.triggers import TRIGGERS

    return ("name", "text"), [(trigger.name, trigger.text) for trigger in TRIGGERS]


def causes() -> Table:
    """The causes that end a stall."""
    from gpuprof.isa.causes import KINDS

    return ("name", "label", "text"), [tuple(kind) for kind in KINDS]


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
    return (
        shortest(path),
        len(LAUNCH.findall(text)),
        re.split(r"(?<=[.;:])\s", first.strip().rstrip('"'))[0].rstrip(".;:"),
    )


def shortest(path: Path) -> str:
    """The path as one would type it here: relative when it is below the working folder."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def instructions() -> Table:
    """The instructions of PTX ISA 9.0, and which of their forms do not run."""
    from gpuprof.assemble.catalogue import entries

    return ("kind", "name", "status", "refused"), [
        (entry.kind, entry.name, entry.status, entry.refused) for entry in entries()
    ]


def traces() -> Table:
    """The trace generators: built in, and of installed packages."""
    from gpuprof.trace.find import all_names, find
    from gpuprof.trace.generator import options_of, text_of

    rows = []
    for name in all_names():
        found = find(name)
        options = [
            {"name": key, "default": option.default, "meaning": option.meaning}
            for key, option in options_of(found).items()
        ]
        rows.append((name, text_of(found), options))
    return ("name", "text", "options"), rows


UNWRAPPED = 1 << 20  # cells: wider than any line


def trace_lines(rows: list[tuple], width: int | None) -> list[str]:
    """A generator's name and text, and below it a line for each option."""
    indent = max(len(name) for name, _, _ in rows) + 2
    wrap = partial(textwrap.wrap, width=width if width and width - indent >= 20 else UNWRAPPED)
    lines = [f"{'name':{indent}}text"]
    for name, text, taken in rows:
        lines += wrap(f"{name:{indent}}{text}", subsequent_indent=" " * indent)
        for option in taken:
            line = f"{option['name']}={option['default']}  {option['meaning']}"
            lines += wrap(line, initial_indent=" " * (indent + 2), subsequent_indent=" " * (indent + 6))
    return lines


PLACES = {"gpuprof.toml": "the file", "[[entry]]": "an entry", "[defaults]": "an entry, and [defaults]"}


def project_keys() -> Table:
    """The keys of a project's file; with --json its JSON schema."""
    from gpuprof.cli.options.project_keys import run_keys
    from gpuprof.project.keys import ENTRY, PROJECT, SHARED, WORDS

    tables = {"gpuprof.toml": PROJECT, "[[entry]]": ENTRY, "[defaults]": (*SHARED, *run_keys())}
    rows = [(key.name, PLACES[place], WORDS[key.form], key.text) for place, keys in tables.items() for key in keys]
    return ("name", "of", "value", "text"), rows


def project_schema() -> dict:
    from gpuprof.cli.options.project_keys import run_keys
    from gpuprof.project.keys import schema

    return schema(run_keys())


def budgets() -> Table:
    """The quantities that a project's budgets can limit."""
    from gpuprof.check.budgets import OF_FINDINGS, QUANTITIES

    return ("name", "unit", "text"), [
        *((each.name, each.unit, each.text) for each in QUANTITIES.values()),
        *OF_FINDINGS,
    ]


def findings() -> Table:
    """The kinds of findings that gpuprof makes."""
    from gpuprof.check.finding_kinds import KINDS, FindingKind

    return FindingKind._fields, list(KINDS)


KINDS: dict[str, Callable[[], Table]] = {
    "chips": chips,
    "hosts": hosts,
    "stalls": stalls,
    "causes": causes,
    "triggers": triggers,
    "metrics": metrics,
    "samples": samples,
    "instructions": instructions,
    "traces": traces,
    "findings": findings,
    "project-keys": project_keys,
    "budgets": budgets,
}
SCHEMAS = {"project-keys": project_schema}  # of kinds whose JSON is a schema

OWN = (
    Option("--verbose", "verbose", "With chips and hosts: show every number with its unit, meaning and source.",
           form=SWITCH, group=OUTPUT),
    Option("--vocabulary", "vocabulary", "With stalls: show another maker's terms.", type=VOCABULARY, group=OUTPUT),
    format_option(json="versioned", group=OUTPUT),
    Option("--json", "as_json", "Short for --format json.", form=SWITCH, group=OUTPUT),
)  # fmt: skip


@click.command("list", cls=GroupedCommand, short_help="List chips, hosts, stalls, causes, triggers, metrics, samples.")
@click.argument("kind", type=NearChoice(tuple(KINDS)), metavar="KIND")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@options("list", *OWN)
def command(kind: str, names: tuple[str, ...], given: Given):
    """List items of one KIND. With --verbose, list every number of each chip or host (NAME, or a
    .toml file).

    \b
    chips         chips for --chip
    hosts         hosts for --host
    stalls        stall reasons; see `gpuprof explain`
    triggers      events that start the sampler; see `gpuprof collect --trigger`
    causes        causes that end a stall; see `gpuprof report --page blame`
    metrics       exact numbers of a launch; see `gpuprof check --fail-on`
    samples       kernels to try
    instructions  PTX ISA 9.0: supported instructions, and refused forms
    traces        trace generators for `gpuprof collect --trace`, and their options
    findings      kinds of findings; see `gpuprof check --require`
    project-keys  keys of gpuprof.toml; --json gives its JSON schema
    budgets       what budgets in gpuprof.toml can limit
    """
    verbose, vocabulary, format_ = given.verbose, given.vocabulary, "json" if given.as_json else given.format_
    if (names or verbose) and kind not in IN_FULL:
        raise UsageError(
            f"--verbose and names belong to `list chips` and `list hosts`; leave them out of `list {kind}`"
        )
    if names or verbose:
        in_full(kind, IN_FULL[kind](names), format_)
        return
    if vocabulary and kind != "stalls":
        raise UsageError(f"--vocabulary belongs to `list stalls`; leave it out of `list {kind}`")
    if format_ == "json" and kind in SCHEMAS:
        import json

        click.echo(json.dumps(SCHEMAS[kind](), indent=1))
        return
    heading, rows = stalls_in(vocabulary) if vocabulary else KINDS[kind]()
    if format_ == "json":
        import json

        click.echo(json.dumps({"version": 1, kind: [dict(zip(heading, row, strict=True)) for row in rows]}, indent=1))
    elif not rows:
        click.echo(f"none: the {kind} are in the source checkout of gpuprof, in {SAMPLES.name}/")
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        lines = trace_lines(rows, width) if kind == "traces" else listed(heading, rows, width)
        click.echo("\n".join(lines))


class InFull(NamedTuple):
    """Something with all of its numbers."""

    name: str
    heading: str
    numbers: Table


def chips_in_full(names: tuple[str, ...]) -> list[InFull]:
    from gpuprof.chips import list_chips, load_chip

    chosen = map(load_chip, names or list_chips())
    return [InFull(chip.name, f"{chip.name}: {chip.notes} ({chip.maker})", numbers(chip)) for chip in chosen]


def hosts_in_full(names: tuple[str, ...]) -> list[InFull]:
    from gpuprof.hosts import list_hosts, load_host

    chosen = map(load_host, names or list_hosts())
    return [InFull(host.name, f"{host.name}: {host.notes}", host_numbers(host)) for host in chosen]


IN_FULL = {"chips": chips_in_full, "hosts": hosts_in_full}


def in_full(kind: str, chosen: list[InFull], format_: str) -> None:
    """Prints all numbers of things of a kind, each with what it is and where it comes from."""
    if format_ == "json":
        import json

        found = [
            {"name": each.name, "numbers": [dict(zip(NUMBERS, row, strict=True)) for row in each.numbers[1]]}
            for each in chosen
        ]
        click.echo(json.dumps({"version": 1, kind: found}, indent=1))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for index, each in enumerate(chosen):
        click.echo("\n".join([*([""] if index else []), each.heading, *number_lines(each.numbers, width)]))


COLUMNS_WIDTH = 110  # cells; on a narrower terminal meaning and source are printed below the number


def number_lines(table: Table, width: int | None) -> list[str]:
    """A line per number in columns; on a narrow terminal the number first, then the rest, indented and wrapped."""
    heading, rows = table
    cells = [
        (name, value, unit, f"{meaning} [{source}]")
        for name, value, unit, meaning, source in rows
        if name not in ("maker", "notes")
    ]
    if width is None or width >= COLUMNS_WIDTH:
        return aligned([(*heading[:3], "meaning [source]"), *cells], width)
    lines = []
    for name, value, unit, text in cells:
        number = f"{value:g}" if isinstance(value, float) else value
        lines += [
            f"{name} = {number} {unit}".rstrip(),
            *textwrap.wrap(text, width, initial_indent="    ", subsequent_indent="    "),
        ]
    return lines


LEAST_WIDTH = 20  # cells of the last column


def listed(heading: tuple[str, ...], rows: list[tuple], width: int | None) -> list[str]:
    """Rows as columns, or, where these leave no room for the last one, each as a paragraph."""
    indent = sum(widths_of(texts_of([heading, *rows]))[:-1]) + 2 * (len(heading) - 1)
    if width is None or indent + LEAST_WIDTH <= width:
        return aligned([heading, *rows], width)
    return [line for texts in texts_of(rows) for line in paragraph(heading, texts, width)]


def paragraph(heading: tuple[str, ...], texts: list[str], width: int) -> list[str]:
    """The first cell, and below it, indented and wrapped, the others that are not empty, each with its heading."""
    named = [f"{name} = {text}" for name, text in zip(heading[1:], texts[1:], strict=True) if text]
    return [texts[0], *textwrap.wrap("; ".join(named), width, initial_indent="    ", subsequent_indent="    ")]


def texts_of(rows: list[tuple]) -> list[list[str]]:
    return [[f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]


def widths_of(texts: list[list[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*texts, strict=True)]


def aligned(rows: list[tuple], width: int | None) -> list[str]:
    """Rows as columns under the first row as heading: numbers to the right, text to the left, the last column wrapped
    to `width`.
    """
    texts = texts_of(rows)
    widths = widths_of(texts)
    right = [isinstance(cell, (int, float)) for cell in rows[-1]]
    indent = sum(widths[:-1]) + 2 * len(widths[:-1])
    lines = []
    for row in texts:
        cells = [cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, right, strict=True)]
        line = "  ".join(cells).rstrip()
        wrap = width is not None and width - indent >= LEAST_WIDTH
        lines += (
            textwrap.wrap(line, width, subsequent_indent=" " * indent, drop_whitespace=True)
            if wrap and len(line) > width
            else [line]
        )
    return lines
