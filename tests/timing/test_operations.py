"""Copies, fills and functions of the host in a batch, by hand. A chain takes cycles 0 to 112, a warm one 110."""

import pytest

from gpuprof.tables.engines import ENGINE_HOST, ENGINE_IN, ENGINE_MEMORY, ENGINE_OUT
from gpuprof.timing.batch import Operation, Transfers
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.machine import power_on
from gpuprof.timing.units.transfer import other_way, transfer_end
from tests.timing.test_grids import chain, chip_of, times


def batch(tmp_path, grids, transfers):
    machine = power_on(chip_of(tmp_path))
    timings = simulate_batch(machine, grids, Sampling(), lambda some: None, 1 << 40, transfers=transfers)
    return times(timings), [(each.start_cycle, each.end_cycle) for each in transfers.operations], machine.cycle


@pytest.mark.parametrize(
    ("transfer", "busy_until", "wanted"),
    [
        (100, 0, 1100),  # nothing goes the other way
        (100, 1000, 1100),
        (100, 1050, 1130),  # in 50 cycles 20 cycles' worth, then 80
        (100, 1250, 1250),  # in 250 cycles all of it
        (100, 5000, 1250),
        (0, 5000, 1000),
    ],
)
def test_the_end_of_a_transfer_whose_link_is_shared(transfer, busy_until, wanted):
    """The second way has 0.4 of its rate: both together 1.4 times what one has."""
    assert transfer_end.py_func(1000, transfer, busy_until, 400) == wanted


def test_only_copy_engines_have_another_way():
    ways = [other_way.py_func(engine) for engine in (ENGINE_IN, ENGINE_OUT, ENGINE_MEMORY, ENGINE_HOST)]
    assert ways == [ENGINE_OUT, ENGINE_IN, -1, -1]


def test_a_copy_between_two_launches(tmp_path):
    """The copy is ready when the first launch has ended, and the second launch_cycles after the copy."""
    transfers = Transfers([Operation(ENGINE_OUT, 0, 10, 500, (0,))])
    grids = [chain(1), chain(1, index=1, after=(-1,), launch_cycles=5000)]
    assert batch(tmp_path, grids, transfers) == (
        [(0, 112), (5622, 5732)],
        [(112, 622)],
        5732,
    )
    assert transfers.engines == [0, 622, 0, 0]


def test_an_engine_takes_what_is_ready_first(tmp_path):
    """Operation 1 is ready in cycle 300, the one requested before it in cycle 700; one at a time."""
    transfers = Transfers([Operation(ENGINE_IN, 700, 0, 1000), Operation(ENGINE_IN, 300, 0, 1000)])
    assert batch(tmp_path, [chain(1)], transfers)[1] == [(1300, 2300), (300, 1300)]


def test_engines_that_are_busy_from_before(tmp_path):
    transfers = Transfers([Operation(ENGINE_IN, 0, 0, 10), Operation(ENGINE_HOST, 0, 0, 10)], [900, 0, 0, 0])
    assert batch(tmp_path, [chain(1)], transfers)[1] == [(900, 910), (0, 10)]


def test_copies_both_ways(tmp_path):
    """The one that begins later has 0.4 of the rate until the other has ended."""
    transfers = Transfers([Operation(ENGINE_IN, 0, 0, 1000), Operation(ENGINE_OUT, 64, 0, 1000)], [0] * 4, 400)
    # 936 cycles at 0.4 are 374; then 626 more.
    assert batch(tmp_path, [chain(1)], transfers)[1] == [(0, 1000), (64, 1626)]


def test_copies_of_copies_outlast_the_launches(tmp_path):
    """Operations wait for operations. The machine's clock is that of its launches."""
    transfers = Transfers(
        [
            Operation(ENGINE_OUT, 0, 0, 400, (0,)),
            Operation(ENGINE_HOST, 0, 5000, 0, (-1,)),
            Operation(ENGINE_IN, 0, 0, 400, (-1, -2)),
        ]
    )
    assert batch(tmp_path, [chain(1)], transfers) == (
        [(0, 112)],
        [(112, 512), (512, 5512), (5512, 5912)],
        112,
    )


def test_a_launch_that_arrives_later(tmp_path):
    """The front end gets the second launch in cycle 2000; nothing else holds it."""
    grids = [chain(1), chain(1, index=1, arrival=2000, launch_cycles=500)]
    assert batch(tmp_path, grids, Transfers())[0] == [(0, 112), (2500, 2610)]
