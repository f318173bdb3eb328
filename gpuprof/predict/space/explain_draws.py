"""Why a draw takes as long as it does on other chips: the ratios, the rule that held, the times of its blocks."""

from collections.abc import Iterator
from typing import NamedTuple

from gpuprof.predict.chip_numbers import Numbers, joined, numbers_of
from gpuprof.predict.draws.cycles import DrawCycles, cycles_of_draws
from gpuprof.predict.draws.draw_bottleneck import bottlenecks, unit_of
from gpuprof.predict.draws.draw_stages import refusals_of_draw
from gpuprof.predict.draws.patent_rules import Held
from gpuprof.predict.draws.ratios import Ratios
from gpuprof.predict.draws.times import DrawTimes, draw_times
from gpuprof.predict.recorded import Recorded

# Names of ratios as the method has them, where they are no words of Python.
SHOWN = {
    "bottleneck_fe": "Bottleneck_FE",
    "bottleneck_be": "Bottleneck_BE",
    "per_draw_logged_cycles": "perDraw_logged_cycles",
    "front_end_waves_per_engine": "front-end waves of a shader engine",
}


class OnChip(NamedTuple):
    """`rule_cycles`: by the rule alone. `blocks`: name, cycles on the reference chip, cycles here. `gain`: share of the
    time that twice the rate of the unit saves, of a shader's stage that of all shaders.
    """

    chip: str
    rule_cycles: float
    cycles: float
    unit: str
    gain: float
    blocks: tuple[tuple[str, float, float], ...]


class ExplainedDraw(NamedTuple):
    draw: int
    name: str
    reference: str
    rule: str
    rule_cycles: float
    logged_cycles: float
    ratios: tuple[str, ...]
    chips: tuple[OnChip, ...]


def explained_draws(recorded: Recorded, chips: Numbers) -> Iterator[ExplainedDraw]:
    """Of each draw, on each chip that can draw all of them."""
    asked = joined([numbers_of([recorded.reference]), chips])
    refused = {place for draw in recorded.draws for place in refusals_of_draw(draw, asked)}
    places = [place for place in range(1, len(asked)) if place not in refused]
    drawn = cycles_of_draws(recorded.draws, asked, True, len(asked))
    for draw, cycles in zip(recorded.draws, drawn, strict=True):
        times = draw_times(draw, asked)
        yield ExplainedDraw(
            draw.draw,
            draw.name,
            recorded.reference.name,
            rule_text(times.held),
            float(cycles.rule[0]),
            draw.logged_cycles,
            ratio_texts(times.ratios),
            tuple(_on_chip(times, cycles, asked.names[place], place) for place in places),
        )


def rule_text(held: Held) -> str:
    rule, condition = held
    return f"rule {rule.number}, {rule.name} ({condition.text}): {rule.text}"


def ratio_texts(ratios: Ratios) -> tuple[str, ...]:
    return tuple(_ratio_text(name, value) for name, value in ratios._asdict().items())


def _ratio_text(name: str, value: float) -> str:
    """Cycles are shown as whole ones, ratios with two places."""
    is_ratio = name.endswith(("ratio", "engine"))
    return f"{SHOWN.get(name, name)} {value:.2f}" if is_ratio else f"{SHOWN.get(name, name)} {value:,.0f}"


def _on_chip(times: DrawTimes, cycles: DrawCycles, chip: str, place: int) -> OnChip:
    blocks = tuple((name, float(each[0]), float(each[place])) for name, each in times.blocks.items())
    shorter = {name: each[place : place + 1] for name, each in cycles.cycles_with_twice.items()}
    [unit] = bottlenecks(shorter)
    own = float(cycles.cycles[place])
    return OnChip(chip, float(cycles.rule[place]), own, unit, 1 - float(shorter[unit_of(unit)][0]) / own, blocks)
