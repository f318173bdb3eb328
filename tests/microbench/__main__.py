"""`python -m tests.microbench [--chip NAME|FILE.toml] [--figure TEXT] [--write | --page]`: measures the model.

Prints a line per figure. With --write the numbers go into gpuprof/chips/fidelity/figures.csv, where `gpuprof fidelity`
and the reports find them, and those of the main chips into the table of docs/model.md. Chips are measured by as many
processes as there are cores.
"""

import argparse
import csv
import os
from concurrent.futures import ProcessPoolExecutor

from gpuprof.chips import list_chips
from gpuprof.chips.fidelity import model_figures
from gpuprof.chips.fidelity.missing import MISSING
from gpuprof.chips.fidelity.model_figures import COLUMNS, FOLLOWS, PATH, Row, rows_of
from gpuprof.timing.state.model_version import MODEL_VERSION
from tests.microbench.figures import BY_NAME, FIGURES
from tests.paths import DOCS

PAGE = DOCS / "model.md"
MAIN_CHIPS = ("v100", "a100", "h200")


def measure(chip: str, name: str) -> Row:
    """One figure of one chip: what the model gives, to four digits, and what is published."""
    figure = BY_NAME[name]
    published, source = figure.published.get(chip, (None, ""))
    return Row(
        MODEL_VERSION,
        chip,
        name,
        figure.unit,
        float(f"{figure.measure(chip):.4g}"),
        published,
        source,
        figure.kind(chip),
    )


def measure_all(chips: list[str], names: list[str]) -> list[Row]:
    """All of them, chip by chip, in the order of the tables. One process has numba compile before the others come to
    load it.
    """
    jobs = [(chip, name) for chip in chips for name in names if BY_NAME[name].is_of(chip)]
    measure(*jobs[0])
    found = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for row in pool.map(measure, *zip(*jobs, strict=True)):
            print(line(row), flush=True)
            found.append(row)
    return found


def line(row: Row) -> str:
    difference = "" if row.difference is None else f"{100 * row.difference:+.1f} %"
    published = "" if row.published is None else f"{row.published:g} [{row.source}] {row.kind}"
    return f"{row.chip:<12}{row.figure:<46}{row.model:>10g} {row.unit:<14}{published:<24}{difference}"


def merged(found: list[Row]) -> list[Row]:
    """Those found in place of the stored ones, in the order of the tables; of other versions of the model, or of
    figures there are no longer, none is kept.
    """
    kept = [row for row in model_figures.rows() if row.model_version == MODEL_VERSION] if PATH.exists() else []
    by_place = {(row.chip, row.figure): row for row in (*kept, *found)}
    return [by_place[place] for place in all_places() if place in by_place]


def all_places() -> list[tuple[str, str]]:
    """(chip, figure) of every row, in the order of the tables."""
    return [(chip, name) for chip in list_chips() for name, figure in BY_NAME.items() if figure.is_of(chip)]


def write_csv(rows: list[Row]) -> None:
    with PATH.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        out.writerows(
            ["" if cell is None else f"{cell:g}" if isinstance(cell, float) else cell for cell in row] for row in rows
        )


def page_table() -> str:
    """The table of docs/model.md, from the stored figures: for each main chip what the model gives, what is published,
    and the difference.
    """
    heads = ["figure", "unit", *(head for chip in MAIN_CHIPS for head in (chip, "published"))]
    rule = ["---", "---", *["--:", "---"] * len(MAIN_CHIPS)]
    by_chip = {chip: {row.figure: row for row in rows_of(chip)} for chip in MAIN_CHIPS}
    lines = [f"| {' | '.join(heads)} |\n", f"| {' | '.join(rule)} |\n"]
    for figure in FIGURES:
        cells = [figure.name, figure.unit]
        for chip in MAIN_CHIPS:
            row = by_chip[chip].get(figure.name)
            cells += [f"{row.model:g}", compared(row)] if row else ["", ""]
        lines.append(f"| {' | '.join(cells)} |\n")
    return "".join(lines)


def compared(row: Row) -> str:
    if row.published is None:
        return ""
    difference = round(100 * row.difference)
    value = f"**{row.published:g}**" if row.kind == FOLLOWS else f"{row.published:g}"
    return f"{value} [{row.source}]" + (f" {difference:+d} %" if difference else "")


def missing_table() -> str:
    return "".join(
        [
            "| where | what | so that | since | how far off |\n",
            "|---|---|---|---|---|\n",
            *(f"| {' | '.join((gap.unit, gap.what, gap.effect, gap.since, gap.off))} |\n" for gap in MISSING),
        ]
    )


def with_tables(page: str) -> str:
    """The page with its tables as they are to be."""
    for name, table in (("figures", page_table()), ("what is not modelled", missing_table())):
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, rest = page.split(begin, 1)
        page = before + begin + table + end + rest.split(end, 1)[1]
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chip", action="append", help="a chip's name or file; may be repeated (default: all)")
    parser.add_argument("--figure", default="", help="only figures whose name has this text in it")
    parser.add_argument("--write", action="store_true", help="store what was measured")
    parser.add_argument("--page", action="store_true", help="measure nothing, write docs/model.md from what is stored")
    asked = parser.parse_args()
    if asked.page:
        PAGE.write_text(with_tables(PAGE.read_text()))
        return
    found = measure_all(asked.chip or list(list_chips()), [name for name in BY_NAME if asked.figure in name])
    if asked.write:
        write_csv(merged(found))
        model_figures.rows.cache_clear()
        PAGE.write_text(with_tables(PAGE.read_text()))


if __name__ == "__main__":
    main()
