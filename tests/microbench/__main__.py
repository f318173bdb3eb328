"""`python -m tests.microbench [--write]`: measures the model and prints the table of docs/model.md, or puts it there."""

import sys
from pathlib import Path

from tests.microbench.figures import CHIPS, FIGURES, Figure

PAGE = Path(__file__).parents[2] / "docs" / "model.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"


def row(figure: Figure) -> str:
    """A line of the table: for each chip what the model gives, what is published, and by how much they differ."""
    cells = [figure.name, figure.unit]
    for chip in CHIPS:
        model = figure.measure(chip)
        cells.append(f"{model:.4g}")
        cells.append(compared(model, *figure.published[chip]) if chip in figure.published else "")
    return f"| {' | '.join(cells)} |\n"


def compared(model: float, published: float, source: str) -> str:
    difference = round(100 * (model / published - 1))
    return f"{published:g} [{source}]" + (f" {difference:+d} %" if difference else "")


def table() -> str:
    heads = ["figure", "unit", *(head for chip in CHIPS for head in (chip, "published"))]
    rule = ["---", "---", *["--:", "---"] * len(CHIPS)]
    lines = [f"| {' | '.join(heads)} |\n", f"| {' | '.join(rule)} |\n"]
    for figure in FIGURES:
        lines.append(row(figure))
        print(lines[-1], end="", flush=True)
    return "".join(lines)


def published_table(page: str) -> str:
    """The table that a page holds."""
    return page.split(BEGIN, 1)[1].split(END, 1)[0]


if __name__ == "__main__":
    found = table()
    if "--write" in sys.argv[1:]:
        page = PAGE.read_text()
        PAGE.write_text(page.replace(published_table(page), found))
