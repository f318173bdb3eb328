"""Predictions as lines of text."""

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
from rich.text import Text

from gpuprof.errors import NotComparable
from gpuprof.predict.calibrate import Calibrated
from gpuprof.predict.draws.draw_bottleneck import SHADERS, unit_of
from gpuprof.predict.prediction import DrawPrediction, LaunchPrediction, Prediction
from gpuprof.predict.space.explain_draws import ExplainedDraw, OnChip
from gpuprof.predict.space.explain_space import Explained
from gpuprof.predict.space.sensitivity import Sensitivity
from gpuprof.predict.validated import DRAWS, LAUNCHES, far_outside, validated
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import DIM, HOT, Look, flow, shown

MOST_ROWS = 40
MOST_WARNINGS = 6
REST = "a wider terminal, or --format csv"
WITHOUT_COUNTERS = "recorded without `collect --counters blocks`: caches are assumed to hit as on the reference chip"

STOPPED = "the recording was stopped early: the test is its recorded part"


class Row(NamedTuple):
    """One chip at one level. `within_share`: error bound that 90 % of the validated predictions meet, as a share of the
    time. `launch` and `draw`: its number, only in rows of launches and of draws.
    """

    name: str
    chip: str
    microseconds: float
    score: float
    naive: float
    within_share: float
    unit: str
    refused: str = ""
    cost: float = float("nan")
    launch: int | None = None
    draw: int | None = None

    @property
    def within_microseconds(self) -> float:
        return self.microseconds * self.within_share


def rows_of(prediction: Prediction, level: str) -> list[Row]:
    """The rows of a level: test, buffer, draw or launch. Raises NotComparable if the recording has no draw, or no
    launch except those of draws.
    """
    if level == "launch":
        return [row for part in _some(prediction.launches, level) for row in _rows_of_one(prediction, part)]
    if level == "draw":
        return [row for part in _some(prediction.draws, level) for row in _rows_of_one(prediction, part)]
    levels = [prediction.test] if level == "test" else prediction.buffers
    refused = refused_by(prediction)
    return [
        Row(
            part.name,
            name,
            float(part.microseconds[k]),
            float(prediction.score[k]),
            float(prediction.naive_score[k]),
            max(map(_within_share, kinds_of(prediction))),
            part.units[k],
            refused.get(k, ""),
        )
        for part in levels
        for k, name in enumerate(prediction.chips.names)
    ]


def kinds_of(prediction: Prediction) -> list[str]:
    """The kinds of parts in the recording, for which errors are known separately."""
    return [kind for kind, parts in ((LAUNCHES, prediction.launches), (DRAWS, prediction.draws)) if parts]


def _within_share(kind: str) -> float:
    return validated(kind).p90_percent / 100


EXCEPT = {"launch": " except those of draws' shaders", "draw": " (recordings have draws from version 7 on)"}


def _some(parts: Sequence[Any], level: str) -> Sequence[Any]:
    if not parts:
        raise NotComparable(f"the recording has no {level} to predict{EXCEPT[level]}; --level test shows what it has")
    return parts


def refused_by(prediction: Prediction) -> dict[int, str]:
    """The first launch or draw that a chip cannot run, and why, by the chip's index."""
    texts: dict[int, str] = {}
    for name, refused in (
        *((part.kernel, part.refused) for part in prediction.launches),
        *((part.name, part.refused) for part in prediction.draws),
    ):
        for index, text in refused.items():
            texts.setdefault(index, f"{name}: {text}")
    return texts


def _rows_of_one(prediction: Prediction, one: LaunchPrediction | DrawPrediction) -> Iterator[Row]:
    """The rows of one launch or draw on all chips. `score`: speed relative to the reference chip."""
    numbers = {"draw": one.draw} if isinstance(one, DrawPrediction) else {"launch": one.launch}
    name = one.name if isinstance(one, DrawPrediction) else one.kernel
    share = _within_share(DRAWS if isinstance(one, DrawPrediction) else LAUNCHES)
    clock = prediction.chips["clock_mhz"]
    for k, chip in enumerate(prediction.chips.names):
        us = float(one.cycles[k] / clock[k])
        naive = float(one.naive_of_reference / (one.naive_cycles[k] / clock[k]))
        refused = one.refused.get(k, "")
        yield Row(name, chip, us, one.recorded / us, naive, share, one.units[k], refused, **numbers)


def page(prediction: Prediction, rows: Sequence[Row], file: str, level: str, look: Look) -> Iterator[Text]:
    yield from header(prediction, file, look)
    has_costs = not np.isnan([row.cost for row in rows]).all()
    columns = [
        *([Column("#", lambda row: Text(str(row.launch)))] if level == "launch" else []),
        *([Column("#", lambda row: Text(str(row.draw)))] if level == "draw" else []),
        *([Column(level, lambda row: Text(shown(row.name)), left=True)] if level != "test" else []),
        Column("chip", lambda row: Text(shown(row.chip)), left=True),
        Column("us", lambda row: _number(row, row.microseconds, ",.2f")),
        Column("within", lambda row: _number(row, row.within_microseconds, ",.2f"), drop=3),
        Column("score", lambda row: _number(row, row.score, ".2f")),
        Column("naive", lambda row: _number(row, row.naive, ".2f"), drop=2),
        *([Column("cost", lambda row: _number(row, row.cost, ",.6g"))] if has_costs else []),
        Column("limited by", _limit, left=True),
    ]
    yield from table(columns, rows[:MOST_ROWS], look, rest=REST)
    if len(rows) > MOST_ROWS:
        yield Text(f"{'# ' if look.plain else ''}{MOST_ROWS} of {len(rows):,}; --format csv has all")


def _limit(row: Row) -> Text:
    return Text(shown(f"refused: {row.refused}"), HOT) if row.refused else Text(row.unit)


def _number(row: Row, value: float, form: str) -> Text:
    return Text("-" if row.refused or np.isnan(value) else format(value, form))


def header(prediction: Prediction, file: str, look: Look) -> Iterator[Text]:
    facts = [
        ("file", [f"{file}, recorded on {prediction.recorded.reference.name}"]),
        *(("error", _errors(kind)) for kind in kinds_of(prediction)),
        *(("warning", [text]) for text in _few(warnings_of(prediction))),
    ]
    for label, parts in facts:
        yield from flow(Text("# " if look.plain else "").append(f"{label:<11}", DIM), list(map(shown, parts)), look)
    yield Text()


def _errors(kind: str) -> list[str]:
    known = validated(kind)
    return [
        f"{known.mean_percent:g} % on average",
        f"nine of ten within {known.p90_percent:g} %",
        f"{known.predictions:,} {kind} on chips that were simulated, too",
    ]


def warnings_of(prediction: Prediction) -> list[str]:
    """Reasons why errors may exceed the validated ones, or why the test is incomplete, for the chips that are not
    refused.
    """
    counted = (
        *prediction.recorded.launches,
        *(each for draw in prediction.recorded.draws for each in draw.shaders),
    )
    without = sorted(each.launch for each in counted if not each.is_counted)
    missing = [f"{WITHOUT_COUNTERS} (launch {without[0]}{' and others' if without[1:] else ''})"] if without else []
    cut = [] if prediction.recorded.is_complete else [STOPPED]
    chips = prediction.chips.chosen(np.flatnonzero(~np.isnan(prediction.score)))
    return [*cut, *missing, *dict.fromkeys(text for kind in kinds_of(prediction) for text in far_outside(chips, kind))]


def _few(warnings: list[str]) -> list[str]:
    left_out = len(warnings) - MOST_WARNINGS
    more = [f"{left_out:,} more numbers are as far outside; --format json has all"] if left_out > 0 else []
    return warnings[:MOST_WARNINGS] + more


def explained_lines(rows: Sequence[Explained], look: Look) -> Iterator[Text]:
    for row in rows:
        busy = ", ".join(f"{name} {share:.0%}" for name, share in row.busy)
        until = f"from {row.until:.2f} times its rate on {row.then}" if row.then else "up to 16 times its rate"
        numbers = ", ".join(row.numbers[:2]) + (", ..." if len(row.numbers) > 2 else "")
        text = shown(
            f"{row.kernel} (launch {row.launch}) on {row.chip}: limited by {row.unit} ({numbers}), {until}; twice "
            f"as fast it saves {row.gain:.0%}; busy: {busy}"
        )
        lines = [text] if look.width is None else wrap(text, look.width, subsequent_indent="    ")
        yield from map(Text, lines)


def explained_draw_lines(rows: Sequence[ExplainedDraw], look: Look) -> Iterator[Text]:
    """For each draw its ratios and the rule that fits, then the block times of each chip and of the reference chip."""
    for row in rows:
        paragraphs = [
            f"{row.name} (draw {row.draw}) on {row.reference}: {row.rule} = {row.rule_cycles:,.0f} cycles, "
            f"{row.logged_cycles:,.0f} recorded",
            f"  {', '.join(row.ratios)}",
        ]
        for chip in row.chips:
            blocks = ", ".join(f"{name} {on_reference:,.0f} -> {here:,.0f}" for name, on_reference, here in chip.blocks)
            paragraphs.append(
                f"  on {chip.chip}: {chip.rule_cycles:,.0f} cycles by the rule, {chip.cycles:,.0f} predicted; limited "
                f"by {_limiting_block(chip)}; {_twice(chip)} {chip.gain:.0%}; cycles of blocks, {row.reference} -> "
                f"{chip.chip}: {blocks}"
            )
        for text in map(shown, paragraphs):
            lines = [text] if look.width is None else wrap(text, look.width, subsequent_indent="    ")
            yield from map(Text, lines)


def _limiting_block(chip: OnChip) -> str:
    """The block that limits a draw; it may be one that previous draws occupy and that it does not need itself."""
    is_own = chip.unit in {name for name, _, _ in chip.blocks}
    return chip.unit if is_own else f"{chip.unit} of draws before it"


def _twice(chip: OnChip) -> str:
    return "all shaders twice as fast save" if unit_of(chip.unit) == SHADERS else "twice as fast it saves"


def sensitivity_lines(sensitivities: Sequence[Sensitivity], names: Sequence[str], look: Look) -> Iterator[Text]:
    columns = [
        Column("a tenth more", lambda row: Text(row.number), left=True),
        *(
            Column(name, lambda row, k=k: Text(_gain(row.gain[k])), drop=k + 1)
            for k, name in enumerate(names[:MOST_ROWS])
        ),
    ]
    yield from table(columns, sensitivities, look, rest=REST)


def _gain(share: float) -> str:
    return "-" if np.isnan(share) else f"{share:+.1%}"


def calibration_lines(fitted: Calibrated, look: Look) -> Iterator[Text]:
    """The mapping functions' errors, on the chips that they were fitted to and on those that were left out."""
    yield Text()
    columns = [
        Column("level", lambda row: Text(row[0]), left=True),
        Column("mapping", lambda row: Text(row[1]), left=True),
        Column("pairs", lambda row: Text(str(row[2]))),
        Column("error", lambda row: Text(f"{row[3]:.1%}")),
    ]
    yield from table(columns, fitted.table(), look, rest=REST)
