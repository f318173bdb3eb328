"""Why a draw takes as long as it does on other chips: the ratios, the rule that fits, the times of its blocks."""

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

# Names of ratios in the published method, where they are no identifiers of Python.
SHOWN = {
    "bottleneck_fe": "Bottleneck_FE",
    "bottleneck_be": "Bottleneck_BE",
    "per_draw_logged_cycles": "perDraw_logged_cycles",
    "front_end_waves_per_engine": "front-end waves of a shader engine",
}


class OnChip(NamedTuple):
    """`rule_cycles`: by the rule only. `blocks`: name, cycles on the reference chip, cycles here. `gain`: share of the
    time that doubling the unit saves; for a shader's stage, that of doubling all shaders.
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
    """An explanation for each draw on each chip that can draw all of them."""
    all_chips = joined([numbers_of([recorded.reference]), chips])
    refused = {index for draw in recorded.draws for index in refusals_of_draw(draw, all_chips)}
    indices = [index for index in range(1, len(all_chips)) if index not in refused]
    drawn = cycles_of_draws(recorded.draws, all_chips, True, len(all_chips))
    for draw, cycles in zip(recorded.draws, drawn, strict=True):
        times = draw_times(draw, all_chips)
        yield ExplainedDraw(
            draw.draw,
            draw.name,
            recorded.reference.name,
            rule_text(times.held),
            float(cycles.rule[0]),
            draw.logged_cycles,
            ratio_texts(times.ratios),
            tuple(_on_chip(times, cycles, all_chips.names[index], index) for index in indices),
        )


def rule_text(held: Held) -> str:
    rule, condition = held
    return f"rule {rule.number}, {rule.name} ({condition.text}): {rule.text}"


def ratio_texts(ratios: Ratios) -> tuple[str, ...]:
    return tuple(_ratio_text(name, value) for name, value in ratios._asdict().items())


def _ratio_text(name: str, value: float) -> str:
    """Cycles are printed as integers, ratios with two decimals."""
    is_ratio = name.endswith(("ratio", "engine"))
    return f"{SHOWN.get(name, name)} {value:.2f}" if is_ratio else f"{SHOWN.get(name, name)} {value:,.0f}"


def _on_chip(times: DrawTimes, cycles: DrawCycles, chip: str, index: int) -> OnChip:
    blocks = tuple((name, float(busy[0]), float(busy[index])) for name, busy in times.blocks.items())
    shorter = {name: busy[index : index + 1] for name, busy in cycles.cycles_with_twice.items()}
    [unit] = bottlenecks(shorter)
    own = float(cycles.cycles[index])
    return OnChip(chip, float(cycles.rule[index]), own, unit, 1 - float(shorter[unit_of(unit)][0]) / own, blocks)
