"""Waiting lines against exact mean values of the same queue, the fullest place against things that are scattered."""

import numpy as np
import pytest

from gpuprof.predict.launch import queued
from gpuprof.predict.units.dram import fullest


def exact(thinking: float, busy: float, customers: int) -> float:
    """Cycles of a round of the closed queue with one unit: mean value analysis, a customer more at a time."""
    line, service = 0.0, busy / customers
    for number in range(1, customers + 1):
        at_unit = service * (1 + line)
        round_cycles = thinking + at_unit
        line = number * at_unit / round_cycles
    return round_cycles


@pytest.mark.parametrize("customers", [1, 2, 8, 64])
@pytest.mark.parametrize("busy", [10.0, 500.0, 1000.0, 2000.0, 20000.0])
def test_as_the_exact_mean_values(busy, customers):
    found = float(queued(np.array(1000.0), np.array(busy), np.array(customers)))
    assert found == pytest.approx(exact(1000.0, busy, customers), rel=0.08)
    assert found >= max(1000.0, busy)


def test_a_lone_customer_waits_for_nobody():
    assert queued(np.array(700.0), np.array(300.0), np.array(1.0)) == 1000


@pytest.mark.parametrize("mean, places", [(20, 24), (65, 40), (400, 96)])
def test_the_fullest_place(mean, places):
    """500 times, so many things as fill all places with `mean` on average."""
    rng = np.random.default_rng(7)
    largest = [np.bincount(rng.integers(0, places, mean * places)).max() for _ in range(500)]
    assert fullest(np.array([mean]), np.array([places])) == pytest.approx(np.mean(largest), rel=0.04)
