"""Rows into gpuprof/chips/fidelity/silicon.csv, and from there into the tables of docs/fidelity.md."""

import csv
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch

from gpuprof.chips.fidelity import published_kernels
from gpuprof.chips.fidelity.published_kernels import COLUMNS, PATH, RATIOS_ONLY, Row, by, ratios, spread, steps
from gpuprof.timing.state.model_version import MODEL_VERSION
from tests.paths import DOCS
from tests.silicon.balanced import balanced_error
from tests.silicon.cases import all_cases
from tests.silicon.measure import COMPILERS
from tests.silicon.reasons import with_reasons

PAGE = DOCS / "fidelity.md"
# Launches that were run once, when their kernels were done, and to which nothing was fitted after that.
HELD_BACK = ("cub-*-224", "liger-*-4096-*", "flash-h100-fa3-H32D64*B64S512")


def merged(found: Iterable[Row]) -> list[Row]:
    """Those found in place of the stored ones, in the order of the cases; none is kept of other versions of the model,
    or of cases that there are no longer.
    """
    kept = [row for row in published_kernels.rows() if row.model_version == MODEL_VERSION] if PATH.exists() else []
    by_place = {(row.id, row.compiler): row for row in (*kept, *found)}
    places = ((case.id, compiler) for cases in all_cases().values() for case in cases for compiler in COMPILERS)
    return with_reasons([by_place[place] for place in places if place in by_place])


def store(rows: Iterable[Row]) -> None:
    """Writes the rows, and the page."""
    with PATH.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        out.writerows([_cell(cell) for cell in row] for row in rows)
    published_kernels.rows.cache_clear()
    PAGE.write_text(with_tables(PAGE.read_text()))


def _cell(value: object) -> object:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else value


def with_tables(page: str) -> str:
    """The page with its tables as they are to be."""
    rows = published_kernels.rows()
    tables = {
        "cards": errors_by("card", "card", rows),
        "families": errors_by("family", "kernels", rows),
        "spreads": spreads(rows),
        "kernels": every_row(rows),
        "steps": every_step(rows),
        "headline": headline(rows),
    }
    for name, table in tables.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, rest = page.split(begin, 1)
        page = before + begin + table + end + rest.split(end, 1)[1]
    return page


def headline(rows: Sequence[Row]) -> str:
    """All launches of a compiler, and without those that were held back."""
    lines = []
    for compiler, found in by(lambda row: row.compiler, rows).items():
        error = balanced_error(found)
        looked_at = balanced_error([row for row in found if not is_held_back(row.id)])
        if error is not None and looked_at is not None:
            lines.append(
                f"* With {compiler}'s code: {100 * error:.1f} % over {spread(found).rows} launches, "
                f"{100 * looked_at:.1f} % without those held back.\n"
            )
    return "".join(lines)


def is_held_back(id: str) -> bool:
    return any(fnmatch(id, pattern) for pattern in HELD_BACK)


def errors_by(field: str, head: str, rows: Sequence[Row]) -> str:
    """A line for each card or family: its launches, and their mean error with each compiler's code."""
    lines = []
    for name, found in sorted(by(lambda row: getattr(row, field), rows).items()):
        of_each = {compiler: spread(some) for compiler, some in by(lambda row: row.compiler, found).items()}
        cells = [f"{100 * each.mean:.0f} %" if (each := of_each.get(c)) and each.rows else "" for c in COMPILERS]
        if any(cells):
            lines.append((name, str(max(each.rows for each in of_each.values())), *cells))
    heads = (head, "launches", *(f"{compiler}'s code" for compiler in COMPILERS))
    return _table(heads, ("---", "--:", *["--:"] * len(COMPILERS)), lines)


def _table(heads: Sequence[str], rules: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (heads, rules, *rows))


def spreads(rows: Sequence[Row]) -> str:
    """Families, kinds and cards, by compiler."""
    heads = ("", "", "compiler", "launches", "mean error", "median ratio", "90th percentile", "rank correlation")
    lines = []
    for what in ("family", "kind", "card"):
        for (name, compiler), found in by(lambda row, what=what: (getattr(row, what), row.compiler), rows).items():
            all_of = spread(found)
            if name and all_of.rows:
                rank = "" if all_of.rank is None else f"{all_of.rank:.2f}"
                numbers = (f"{100 * all_of.mean:.0f} %", f"{all_of.median_ratio:.2f}", f"{100 * all_of.p90:.0f} %")
                lines.append((what, name, compiler, str(all_of.rows), *numbers, rank))
    return _table(heads, ("---", "---", "---", "--:", "--:", "--:", "--:", "--:"), sorted(lines))


def every_row(rows: Sequence[Row]) -> str:
    """A line for each launch: published cycles, ratio with each compiler, the reason where it is far off."""
    known = ratios(rows)
    lines = []
    for name, found in by(lambda row: row.id, rows).items():
        first = found[0]
        cells = [f"{known[name, compiler]:.2f}" if (name, compiler) in known else "" for compiler in COMPILERS]
        of_group = " (of its group)" if first.trust == RATIOS_ONLY else ""
        reasons = "; ".join(dict.fromkeys(row.reason for row in found if row.reason))
        cycles = f"{first.published_cycles:.4g}"
        lines.append((name, first.card, first.family, cycles, *cells, first.trust + of_group, reasons))
    heads = ("launch", "card", "family", "published cycles", *COMPILERS, "trust", "why it is far off")
    return _table(heads, ("---", "---", "---", "--:", *["--:"] * len(COMPILERS), "---", "---"), lines)


def every_step(rows: Sequence[Row]) -> str:
    lines = [
        (
            step.first,
            step.second,
            step.compiler,
            f"{step.published:.2f}",
            f"{step.model:.2f}",
            f"{100 * step.error:+.0f} %",
        )
        for step in steps(rows)
    ]
    heads = ("from", "to", "compiler", "published, times faster", "model", "difference")
    return _table(heads, ("---", "---", "---", "--:", "--:", "--:"), lines)


def _percent(part: float) -> str:
    return f"{100 * part:+.0f} %"
