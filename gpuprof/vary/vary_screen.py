"""The findings of a search as lines of text: a row a variant, then the best and its command."""

from collections.abc import Iterator

from rich.text import Text

from gpuprof.base.wording import installed_version
from gpuprof.chips.fidelity.sentence import line, sentence
from gpuprof.isa.printing.printable import printable
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import BOLD, DIM, HOT, WARM, Look, flow, remark, shown
from gpuprof.timing.state.model_version import MODEL_VERSION
from gpuprof.vary.found import NOT_RUN, Found, Row
from gpuprof.vary.judged import DIFFERS, FAILED, SAME
from gpuprof.vary.variants import HALVING, ORIGINAL

STYLES = {SAME: "", NOT_RUN: DIM, DIFFERS: WARM, FAILED: HOT}
ESTIMATED = "~"


def lines(found: Found, look: Look) -> Iterator[Text]:
    """Columns that do not fit the terminal are left out, the parameters last. The command is one line, whatever its
    length: it is to be copied."""
    yield from _header(found, look)
    last = max(row.round for row in found.rows)
    columns = [
        Column("variant", lambda row: Text(str(row.variant)), drop=5),
        *(
            Column(varied.title, lambda row, index=index: _value(row, index), left=True)
            for index, varied in enumerate(found.plan.varied)
        ),
        Column("cycles", _cycles),
        Column("speed-up", lambda row: _number(row.speedup, ".2f"), drop=1),
        Column("registers", lambda row: _number(row.registers, "d"), drop=3),
        Column("occupancy", lambda row: _number(row.occupancy, ".0%"), drop=4),
        Column("results", lambda row: _results(row, last), left=True),
    ]
    yield from table(columns, found.rows, look, rest="a wider terminal, or --json")
    yield from _remarks(found, look)
    yield from _closing(found, look)


def _header(found: Found, look: Look) -> Iterator[Text]:
    base = found.plan.base
    facts = [
        ("gpuprof", [installed_version(), f"model {MODEL_VERSION}"]),
        ("file", [base.file.name]),
        ("chip", [found.chip.name]),
        ("fidelity", line(sentence(found.chip, MODEL_VERSION)).split("; ")),
    ]
    for label, parts in facts:
        yield from flow(Text("# " if look.plain else "").append(f"{label:<11}", DIM), list(map(shown, parts)), look)
    yield Text()


def _value(row: Row, index: int) -> Text:
    if row.variant == ORIGINAL:
        return Text("original" if index == 0 else "", DIM)
    return Text(shown(row.values[index]))


def _cycles(row: Row) -> Text:
    return Text("-" if row.cycles is None else f"{'' if row.is_timed else ESTIMATED}{row.cycles:,}")


def _number(value: float | None, form: str) -> Text:
    return Text("-" if value is None else format(value, form))


def _results(row: Row, last_round: int) -> Text:
    text = f": {shown(row.text)}" if row.text else ""
    if row.results == SAME and row.round < last_round:
        text = f", too slow in round {row.round}"
    return Text(f"{row.results}{text}", STYLES[row.results])


def _remarks(found: Found, look: Look) -> Iterator[Text]:
    if any(row.cycles is not None and not row.is_timed for row in found.rows):
        how = f"--search {HALVING}" if found.search == HALVING else "--sample-blocks"
        yield from remark(f"{ESTIMATED} is an estimate: {how} has timed only a part of this one.", look)


def _closing(found: Found, look: Look) -> Iterator[Text]:
    if found.best is None:
        return
    yield Text()
    yield from remark_of(f"best: {_name(found)}", look)
    yield Text(printable(found.best.command, keep="\t"))


def _name(found: Found) -> str:
    best = found.best
    if best.variant == ORIGINAL:
        return "the original; no variant that computes the same is faster"
    values = ", ".join(f"{each.title}={text}" for each, text in zip(found.plan.varied, best.values, strict=True))
    faster = f", {best.speedup:.3f} times as fast as the original" if best.speedup is not None else ""
    return f"{values}: {best.cycles:,} cycles{faster}; this measures it again:"


def remark_of(words: str, look: Look) -> Iterator[Text]:
    for each in remark(words, look):
        each.style = BOLD
        yield each
