"""A draw's time from the block times of its two ends: the first rule that fits the ratios.

Ratios are those of the reference chip; the block times that a rule adds up are those of the requested chip.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpuprof.predict.draws.ratios import Ratios

NO_OVERLAP = 1.1
FRONT_END_BOUND = 0.9
BACK_END_BOUND = 0.8
LEAST_WAVES = 2  # front-end waves of a shader engine


class Ends(NamedTuple):
    """float64 (chips,), cycles: of the slowest block of each end, and until the front end is filled."""

    front_end: np.ndarray
    back_end: np.ndarray
    fill: np.ndarray


class Condition(NamedTuple):
    text: str
    holds: Callable[[Ratios], bool]


class Rule(NamedTuple):
    """`conditions`: one of them is sufficient."""

    number: int
    name: str
    text: str
    conditions: tuple[Condition, ...]
    cycles: Callable[[Ends, Ratios], np.ndarray]


# Conditions overlap (the second of rule 2 holds more often than the first), and are left as they were published.
RULES = (
    Rule(
        1,
        "no overlap",
        "Bottleneck_FE + Bottleneck_BE",
        (
            Condition(
                f"fewer than {LEAST_WAVES} front-end waves on a shader engine",
                lambda r: r.front_end_waves_per_engine < LEAST_WAVES,
            ),
            Condition(f"vs_vs1_ratio < {NO_OVERLAP}", lambda r: r.vs_vs1_ratio < NO_OVERLAP),
            Condition(f"febe_ratio < {NO_OVERLAP}", lambda r: r.febe_ratio < NO_OVERLAP),
        ),
        lambda ends, r: ends.front_end + ends.back_end,
    ),
    Rule(
        2,
        "overlap",
        "max(Bottleneck_FE, Bottleneck_BE + FE_fill_latency)",
        (
            Condition(
                f"vs_vs1_ratio > {NO_OVERLAP} and fe_draw_ratio >= {FRONT_END_BOUND}",
                lambda r: r.vs_vs1_ratio > NO_OVERLAP and r.fe_draw_ratio >= FRONT_END_BOUND,
            ),
            Condition(f"fe_draw_ratio > {FRONT_END_BOUND}", lambda r: r.fe_draw_ratio > FRONT_END_BOUND),
            Condition(
                f"Bottleneck_BE > {BACK_END_BOUND} total_draw_ttrace_latency",
                lambda r: r.bottleneck_be > BACK_END_BOUND * r.total_draw_ttrace_latency,
            ),
        ),
        lambda ends, r: np.maximum(ends.front_end, ends.back_end + ends.fill),
    ),
    Rule(
        3,
        "overlap in part",
        "(Bottleneck_FE + Bottleneck_BE) / out_perf_ratio",
        (Condition("no other rule", lambda r: True),),
        lambda ends, r: (ends.front_end + ends.back_end) / r.out_perf_ratio,
    ),
)


class Held(NamedTuple):
    rule: Rule
    condition: Condition


def rule_of(ratios: Ratios) -> Held:
    """The first rule with a condition that holds."""
    return next(Held(rule, condition) for rule in RULES for condition in rule.conditions if condition.holds(ratios))
