"""The way of sample records: FIFOs that overflow, the event buffer that overflows, and the worker that empties it."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gpuprof.chips import load_chip
from gpuprof.errors import UsageError
from gpuprof.timing.batch import Grid
from gpuprof.timing.buffer import EventBuffer, worker_cycles
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate, simulate_batch
from gpuprof.timing.state.machine import power_on
from tests.readable.blame import causes_of
from tests.readable.timing import ledger_of, time_launch
from tests.support.matrices import long_from
from tests.support.timing_support import access, encode, launch, make, piece, run, warp
from tests.timing.test_timing import random_kernel


@pytest.fixture(scope="module")
def chip(tmp_path_factory):
    path = tmp_path_factory.mktemp("chips") / "small.toml"
    path.write_text('inherits = "a100"\nsms = 2\nblock_launch_cycles = 100\n')
    return load_chip(path)


def admitted(arrivals, places, poll_cycles):
    """The buffer, record by record: a list of bool."""
    taken, turn, found = 0, 0, []
    for cycle, _ in arrivals:
        while turn < cycle // poll_cycles:
            taken, turn = 0, turn + 1
        found.append(taken < places)
        taken += taken < places
    return found


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """An L2 so small that records are written back."""
    path = tmp_path_factory.mktemp("chips") / "crowded.toml"
    path.write_text(
        'inherits = "v100"\nsms = 2\nwarp_slots = 8\nl1_mshrs = 16\nl2_nbytes = 16384\nprefetch_lines = 1\nl0i_lines = '
        "2\n"
    )
    return load_chip(path)


@given(
    st.sets(st.tuples(st.integers(0, 60), st.integers(0, 4)), max_size=60),
    st.integers(1, 9),
    st.integers(1, 25),
    st.lists(st.integers(0, 60)),
)
@settings(max_examples=200)
def test_the_buffer_takes_what_comes_first(arrivals, places, poll_cycles, cuts):
    """However the records come to it: in pieces, and in a piece in any order."""
    arrivals = sorted(arrivals)
    buffer, found = EventBuffer(places, poll_cycles), []
    cuts = [0, *sorted(cuts), 61]
    for first, last in pairwise(cuts):
        piece = np.array([each for each in arrivals if first <= each[0] < last], np.int64).reshape(-1, 2)
        mixed = np.random.default_rng(len(piece)).permutation(len(piece))
        there = np.empty(len(piece), np.bool_)
        there[mixed] = buffer.admit(piece[mixed, 0], piece[mixed, 1])
        found += there.tolist()
    assert found == admitted(arrivals, places, poll_cycles)


def one_long_wait(n_warps=1):
    """Each warp waits 1,000 cycles for a sleep: resident from cycle 100 on, to about 1,100."""
    return [make("NANOSLEEP", imm=1000, slot="b"), make("EXIT")], [warp([0]) for _ in range(n_warps)]


def test_a_buffer_that_overflows(chip):
    """Counted by hand. One warp, resident in cycles 100 to 100 + something over 1,000; samples are due at 128, 192,
    256, ... and leave the FIFO 8 cycles later. The buffer holds two records, and is emptied at 0, 300, 600, ...: of
    those that leave at 136, 200, 264 the third is lost, of those at 328, 392, 456, 520, 584 all but two, of 648, 712,
    776, 840 all but two, and so on."""
    code, warps = one_long_wait()
    sampling = Sampling(64, "all", drain_cycles=8, buffer_nbytes=64, poll_cycles=300)
    timing, records = run(chip, code, warps, sampling=sampling)
    due = list(range(128, timing.end_cycle, 64))
    assert timing.samples_due == len(due) > 12
    assert records["cycle"].tolist()[:6] == [128, 192, 320, 384, 640, 704]
    kept = [t for turn in range(9) for t in [t for t in due if (t + 8) // 300 == turn][:2]]
    assert records["cycle"].tolist() == kept
    assert timing.losses.tolist() == [(0, 0, len(due), 0, len(due) - len(kept))]
    assert timing.buffer_full and timing.samples_kept == len(kept)


def test_the_last_place_goes_to_the_sm_of_the_smaller_number(chip):
    """One warp on each of two SMs, the first at cycle 100: in 128 both are sampled, and both records leave in 136.
    There is one place.
    """
    code, warps = one_long_wait(2)
    timing, records = run(
        chip, code, warps, sampling=Sampling(64, "all", drain_cycles=8, buffer_nbytes=32, poll_cycles=1 << 20)
    )
    assert [(int(r["cycle"]), int(r["stall_sm"]) >> 22) for r in records] == [(128, 0)]
    assert timing.losses["dropped_buffer"].tolist() == [timing.losses["due"][0] - 1, timing.losses["due"][1]]


def test_a_fifo_that_overflows(chip):
    """Counted by hand. Two warps on one SM (one block), sampled together at 128, 160, 192, ...; the FIFO has two places
    and drains one record every 40 cycles. 128: both find a place, and leave at 168 and 208. 160: both are taken, both
    records are lost. 192: one is free again: one is kept, and leaves at 248. 224: again one, until 288. 256: one, until
    328. 288: one, until 368. 320: none is free (328, 368). 352: one, until 408."""
    code, warps = one_long_wait(2)
    timing, records = run(
        chip, code, warps, warps_per_block=2, sampling=Sampling(32, "all", fifo_depth=2, drain_cycles=40)
    )
    assert records["cycle"].tolist()[:7] == [128, 128, 192, 224, 256, 288, 352]
    (loss,) = timing.losses.tolist()
    assert (
        loss[2] == timing.samples_due and loss[3] == timing.samples_dropped == loss[2] - len(records) and loss[4] == 0
    )


@pytest.mark.parametrize("stream", ["aux", "lsu"])
@given(st.integers(1, 20), st.integers(1, 90), st.integers(1, 40), st.integers(1, 900), st.sampled_from([8, 32]))
@settings(max_examples=12)
def test_kept_and_dropped_are_due(chip, stream, fifo_depth, drain_cycles, places, poll_cycles, record_nbytes):
    code = [
        make("LDG.32", dst=0, a=1, mods=1 << 6),
        make("FADD", dst=2, a=0, b=0),
        make("NANOSLEEP", imm=300, slot="b"),
        make("EXIT"),
    ]
    warps = [warp([0], [access([40 * k, 40 * k + 5])]) for k in range(12)]
    sampling = Sampling(
        32,
        "all",
        fifo_depth=fifo_depth,
        drain_cycles=drain_cycles,
        stream=stream,
        buffer_nbytes=places * 32,
        poll_cycles=poll_cycles,
    )
    timing, records = run(chip, code, warps, warps_per_block=3, sampling=sampling, record_nbytes=record_nbytes)
    losses = timing.losses
    assert losses["due"].sum() == timing.samples_due == timing.samples_kept + timing.samples_dropped
    assert losses["dropped_fifo"].sum() + losses["dropped_buffer"].sum() == timing.samples_dropped
    assert timing.samples_kept == (0 if records is None else len(records))
    kept = np.bincount(records["stall_sm"] >> 22, minlength=2) if records is not None else np.zeros(2)
    assert kept.tolist() == (losses["due"] - losses["dropped_fifo"] - losses["dropped_buffer"]).tolist()
    assert timing.buffer_full == (timing.samples_dropped > 0)
    if stream == "aux":
        assert timing.cycles == run(chip, code, warps, warps_per_block=3)[0].cycles


def test_losses_are_those_of_the_launch(chip):
    """Two launches at a time, of 2 and 12 warps that wait as long, in FIFOs that lose nothing and a buffer that does:
    each has its own.
    """
    code, warps = one_long_wait(12)
    jobs = [
        Grid(launch(encode(code), blocks=n, threads=32, index=k), iter([piece(warps[:n], 1)]))
        for k, n in ((7, 2), (3, 12))
    ]
    got = []
    sampling = Sampling(64, "all", drain_cycles=1, fifo_depth=64, buffer_nbytes=10 * 32, poll_cycles=128)
    timings = simulate_batch(power_on(chip), jobs, sampling, lambda rows: got.append(rows.copy()), 1 << 40)
    kept = np.concatenate(got)["launch"]
    for timing, index in zip(timings, (7, 3), strict=True):
        assert timing.samples_kept == np.count_nonzero(kept == index) > 0
        assert (
            timing.samples_due
            == timing.losses["due"].sum()
            == timing.samples_kept + timing.losses["dropped_buffer"].sum()
        )
    few, many = (int(timing.losses["dropped_buffer"].sum()) for timing in timings)
    assert many > 2 * few > 0


def test_the_worker_of_a_chip():
    """100 ms of an A100 that runs at 1,410 MHz."""
    assert worker_cycles(load_chip("a100")) == 141_000_000


@pytest.mark.parametrize(
    "setting, says",
    [
        ({"stream": "pcie"}, "aux, lsu"),
        ({"buffer_nbytes": 31}, "for one wide record"),
        ({"buffer_nbytes": 1 << 34}, "to 8 GiB"),
        ({"poll_cycles": -1}, "emptied every -1 cycles: it must be 1 to 2"),
    ],
)
def test_settings_that_no_buffer_has(setting, says):
    with pytest.raises(UsageError, match=says.replace("(", r"\(").replace(")", r"\)")):
        Sampling(64, **setting)


def of_twin(chip, sampling, record_nbytes):
    """A kernel of loads, stores, shared loads and sleeps, on engine and twin: ((ledger, causes, end, counts, samples,
    losses) of each).
    """
    code, warps, per_block = random_kernel(7, 15, 3)
    timing, records = run(chip, code, warps, warps_per_block=per_block, sampling=sampling, record_nbytes=record_nbytes)
    job = launch(encode(code))
    twin = time_launch(
        chip,
        job.module.code,
        job.module.load_base,
        job.function,
        32 * per_block,
        warps,
        samplings=[sampling],
        record_nbytes=record_nbytes,
    )
    counts = (timing.l2_sectors, timing.l2_hits, timing.dram_write_nbytes)
    samples = (
        []
        if records is None
        else [(int(r["cycle"]), int(r["stall_sm"]) >> 22, int(r["warp_slot"]), int(r["pc"])) for r in records]
    )
    way = twin.cells.of[0].way
    lost = way.losses().get(0, [])
    counts_of_twin = (twin.counts["l2_sectors"], twin.counts["l2_hits"], 32 * twin.counts["dram_write_sectors"])
    return (
        (
            ledger_of(timing),
            causes_of(timing),
            timing.end_cycle,
            counts,
            samples,
            [(sm, *rest) for sm, _, *rest in timing.losses.tolist()],
        ),
        (
            dict(twin.ledger),
            twin.blame.rows(),
            twin.end,
            counts_of_twin,
            sorted(sample[:4] for sample in way.samples),
            lost,
        ),
    )


@pytest.mark.parametrize(
    "stream, fifo_depth, drain_cycles, buffer_nbytes, poll_cycles, record_nbytes",
    long_from(
        3,
        [
            ("aux", 3, 5, 320, 100, 32),
            ("aux", 1, 70, 64, 1000, 8),
            ("lsu", 16, 1, 1 << 20, 0, 32),
            ("lsu", 16, 1, 1 << 10, 300, 8),
            ("lsu", 2, 9, 640, 77, 32),
            ("lsu", 40, 1, 4096, 128, 64),
            ("lsu", 1, 33, 4096, 1 << 20, 96),
        ],
    ),
)
def test_the_twin_agrees(crowded, stream, fifo_depth, drain_cycles, buffer_nbytes, poll_cycles, record_nbytes):
    sampling = Sampling(
        *(32, "all"),
        fifo_depth=fifo_depth,
        drain_cycles=drain_cycles,
        stream=stream,
        buffer_nbytes=buffer_nbytes,
        poll_cycles=poll_cycles,
    )
    engine, twin = of_twin(crowded, sampling, record_nbytes)
    assert engine == twin
    assert engine[4] and sum(lost[1] for lost in engine[5]) > 100


@pytest.mark.long
def test_the_twin_agrees_where_a_record_keeps_the_load_store_unit_for_longer(tmp_path):
    """Three cycles and a half, as any access of this chip: the next, also the kernel's, is served after them."""
    path = tmp_path / "slow.toml"
    path.write_text('inherits = "a100"\nsms = 2\nblock_launch_cycles = 100\nlsu_cycles = 3.5\n')
    sampling = Sampling(32, "all", fifo_depth=40, drain_cycles=1, stream="lsu")
    engine, twin = of_twin(load_chip(path), sampling, 32)
    assert engine == twin
    assert engine[2] > of_twin(load_chip(path), replace(sampling, stream="aux"), 32)[0][2]  # the last cycle


@pytest.mark.parametrize("stream", ["aux", "lsu"])
@pytest.mark.parametrize("room", [0, 7, 100])
def test_handed_over_in_pieces(crowded, monkeypatch, stream, room):
    """A table that is soon full, so that records are handed over while others are in their FIFOs: the same ones, in the
    same order, are lost and kept.
    """
    code, warps, per_block = random_kernel(5, 60, 3)
    sampling = Sampling(32, "all", fifo_depth=12, drain_cycles=11, stream=stream, buffer_nbytes=960, poll_cycles=500)
    whole, records = run(crowded, code, warps, warps_per_block=per_block, sampling=sampling)
    monkeypatch.setattr("gpuprof.timing.state.machine.SAMPLE_ROOM", room)
    pieces = []
    again = simulate(
        power_on(crowded),
        launch(encode(code), blocks=len(warps) // per_block, threads=32 * per_block),
        iter([piece(warps, per_block)]),
        sampling,
        lambda rows: pieces.append(rows.copy()),
        1 << 40,
    )
    assert len(pieces) > 3 and np.concatenate(pieces).tobytes() == records.tobytes()
    assert again.losses.tolist() == whole.losses.tolist()
    assert whole.losses["dropped_fifo"].sum() and whole.losses["dropped_buffer"].sum()
