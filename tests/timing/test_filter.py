"""Filters of the sampler: how they are written, and that they select exactly what the unfiltered recording holds."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.errors import UsageError
from gpuprof.isa.encoding import encode
from gpuprof.timing.batch import Grid
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.sampling.filter import (
    ALL,
    NOTHING,
    Chooser,
    Filter,
    Range,
    filter_of_text,
    filter_of_words,
    kernel_pattern,
)
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.machine import power_on
from tests.support.matrices import long_from
from tests.support.timing_support import launch, piece
from tests.timing.test_timing import random_kernel

QUICK = 'inherits = "a100"\nsms = 3\nblock_launch_cycles = 100\n'
DEEP = {"fifo_depth": 4096, "drain_cycles": 1}

WRITTEN = [
    ((), Filter(), ""),
    (("sm=0-3,7",), Filter(sm=(Range(0, 3), Range(7, 7))), "sm=0-3,7"),
    (("block=5",), Filter(block=(Range(5, 5),)), "block=5"),
    (("cycles=2^10-",), Filter(cycles=(Range(1024, (1 << 62) - 1),)), "cycles=1024-"),
    (("launch_cycles=0-99", "warp=1-2"), Filter(warp=(Range(1, 2),), launch_cycles=(Range(0, 99),)),
        "warp=1-2 launch-cycles=0-99"),
    (("kernel=scan<256, f>", "off"), Filter(kernel="scan<256, f>", off=True), "'kernel=scan<256, f>' off"),
    (("stage=pixel, vertex", "draw=5-9,3"), Filter(draw=(Range(3, 3), Range(5, 9)), stage=("vertex", "pixel")),
     "draw=3,5-9 stage=vertex,pixel"),
    (("task=a=b", "stream=3,1", "skip=2", "count=1"), Filter(stream=(Range(1, 1), Range(3, 3)), task="a=b", skip=2,
        count=1),
     "stream=1,3 task=a=b skip=2 count=1"),
]  # fmt: skip


@pytest.mark.parametrize("words, filter, text", WRITTEN, ids=str)
def test_words_and_text(words, filter, text):
    assert filter_of_words(words) == filter
    assert str(filter) == text and filter_of_text(text) == filter


WRONG = [
    ("sms=0", "unknown key 'sms'; write one of sm=0-3,7, block=0-63"),
    ("sm", "write sm=0-3,7"),
    ("stage=vs", "stage=vs: there is no stage 'vs'; stages are vertex, hull, domain, geometry, pixel"),
    ("stage=", "there is no stage ''"),
    ("draw=a", "expected numbers, as in draw=0-3,7"),
    ("off=1", "write off"),
    ("sm=", "expected numbers, as in sm=0-3,7"),
    ("sm=3-1", "sampling filter sm=3-1: 3 comes after 1"),
    ("sm=-1", "expected numbers"),
    ("block=1,2", "block=1,2: expected one range, as in block=0-63"),
    ("warp=1e3", "expected numbers"),
    ("cycles=99999999999999999999", "expected numbers"),
    ("cycles=10^40", "expected numbers"),
    ("kernel=", "it needs a regular expression"),
    ("kernel=(", r"sampling filter kernel=\(: it is not a regular expression"),
    ("count=0", "to sample nothing, write off"),
    ("'sm=1", "No closing quotation"),
    ("skip=1-2", "expected a number, as in skip=1"),
]


@pytest.mark.parametrize("word, message", WRONG)
def test_wrong_words(word, message):
    with pytest.raises(UsageError, match=message):
        filter_of_text(word) if word.startswith("'") else filter_of_words([word])


def test_a_key_is_given_once_and_multiprocessors_exist():
    with pytest.raises(UsageError, match="'sm=2': sm is given twice"):
        filter_of_words(["sm=1", "sm=2"])
    chip = load_chip("a100")
    for fine in ("sm=0-107", "sm=100-", ""):
        filter_of_text(fine).check(chip)
    for wrong in ("sm=108", "sm=0-108", "sm=3,200-"):
        with pytest.raises(UsageError, match="a100 has multiprocessors 0 to 107"):
            filter_of_text(wrong).check(chip)


def test_launches_are_chosen_by_the_host():
    def chosen(text, *launches):
        chooser = Chooser(filter_of_text(text))
        return [index for index, launch in enumerate(launches) if chooser.choose(index, *launch) == chooser.filter]

    scan, sum_ = ("ns::scan<256>", "_ZN2ns4scan"), ("sum", "sum")
    made = [(scan, 0, ""), (sum_, 1, "load"), (scan, 1, "step/load"), (sum_, 2, "step")]
    assert chosen("", *made) == [0, 1, 2, 3]
    assert chosen("launch=1-2", *made) == chosen("task=load", *made) == chosen("stream=1", *made) == [1, 2]
    assert chosen("kernel=^sum$", *made) == chosen("kernel=su", *made) == [1, 3]
    assert chosen("kernel=_ZN", *made) == [0, 2]
    assert chosen("kernel=scan task=^step", *made) == [2]
    assert chosen("skip=1", *made) == [1, 2, 3] and chosen("count=2", *made) == [0, 1]
    assert chosen("kernel=sum skip=1 count=1", *made) == [3]  # of those that the rest lets pass
    assert Chooser(filter_of_text("launch=5")).choose(0, scan, 0, "") == NOTHING


def test_kernel_names_as_nsight_compute_takes_them():
    def finds(name, kernel):
        return Chooser(Filter(kernel=kernel_pattern(name))).choose(0, (kernel,), 0, "") != NOTHING

    assert finds("scan", "scan") and finds("scan", "ns::scan<256, float>") and finds("regex:^sc", "scan")
    assert (
        not finds("scan", "scan2")
        and not finds("scan", "myscan")
        and not finds("regex:^an", "scan")
        and not finds("s.an", "scan")
    )


# ---- what passes the gate
# ----------------------------------------------------------------------------------------------------------


@cache
def chip(folder: Path):
    (folder / "chip.toml").write_text(QUICK)
    return load_chip(folder / "chip.toml")


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """record(filter or one for each launch, mode, ...) -> records and timings of two launches that run at the same
    time.
    """
    folder = tmp_path_factory.mktemp("chips")
    jobs = [(*random_kernel(seed, 72, 4), seed) for seed in (5, 6)]

    def run(filters=(None, None), mode="all", period=64, filter=ALL, **more):
        grids = [
            Grid(
                launch(encode(code), blocks=72 // per, threads=32 * per, index=k),
                iter([piece(warps, per)]),
                filter=filters[k],
            )
            for k, (code, warps, per, _) in enumerate(jobs)
        ]
        records = []
        sampling = Sampling(period, mode, seed=3, filter=filter, **DEEP | more)
        timings = simulate_batch(
            power_on(chip(folder)), grids, sampling, lambda some: records.append(some.copy()), 1 << 40
        )
        return np.concatenate(records) if records else np.zeros(0, "V32"), timings

    return run


def selected(records, timings, filter):
    """What of the unfiltered records a filter wants, told from the records alone."""

    def within(ranges, values):
        values = values.astype(np.int64)
        return (
            np.any([(some.first <= values) & (values <= some.last) for some in ranges], axis=0)
            if ranges
            else np.ones(len(values), bool)
        )

    starts = np.array([timing.start_cycle for timing in timings])
    return records[
        within(filter.sm, records["stall_sm"] >> 22)
        & within(filter.block, records["block"])
        & within(filter.warp, records["warp"])
        & within(filter.cycles, records["cycle"])
        & within(filter.launch_cycles, records["cycle"].astype(np.int64) - starts[records["launch"]])
        & (not filter.off)
    ]


def some_filters():
    random = np.random.default_rng(1)

    def span(most):
        first = int(random.integers(0, most))
        return f"{first}-{int(random.integers(first, most))}"

    singles = [
        "sm=1",
        "sm=0,2",
        "block=3",
        "block=2-9",
        "warp=0",
        "cycles=1000-2500",
        "cycles=2000-",
        "launch-cycles=0-900",
        "off",
    ]
    keys = {"sm": 3, "block": 20, "warp": 4, "cycles": 9000, "launch-cycles": 6000}
    several = [
        " ".join(f"{key}={span(most)}" for key, most in keys.items() if random.random() < 0.5) for _ in range(12)
    ]
    return [*singles, *(text for text in several if text)]


@pytest.mark.parametrize(
    "cell",
    long_from(2, [{"mode": "all", "period": 64}, {"mode": "random", "period": 32},
        {"mode": "round-robin", "period": 32},
        {"mode": "stalled", "period": 32},
     {"mode": "trigger", "period": 0, "trigger": "inst_issued", "every": 5},
     {"mode": "random", "period": 0, "trigger": "l1_miss", "every": 3}]),
    ids=lambda cell: f"{cell['mode']}-{cell.get('trigger', 'cycles')}",
)  # fmt: skip
def test_filters_select_what_the_unfiltered_recording_holds(record, cell):
    everything, timings = record(**cell)
    sizes = []
    for text in some_filters():
        filter = filter_of_text(text)
        wanted = selected(everything, timings, filter)
        found, filtered = record(filter=filter, **cell)
        assert found.tobytes() == wanted.tobytes(), text
        assert [timing.samples_due for timing in filtered] == [int((wanted["launch"] == k).sum()) for k in (0, 1)], text
        assert [timing.cycles for timing in filtered] == [timing.cycles for timing in timings]
        sizes.append(len(wanted) / len(everything))
    assert sum(0 < size < 0.9 for size in sizes) > len(sizes) // 2  # they are no empty words


def test_each_launch_has_registers_of_its_own(record):
    everything, timings = record()
    first = filter_of_text("sm=0 block=0-5")
    found, _ = record(filters=(first, ALL), filter=NOTHING)  # the sampling's own filter is for launches without one
    wanted = everything[np.isin(np.arange(len(everything)), np.flatnonzero(everything["launch"] == 1))]
    assert found[found["launch"] == 1].tobytes() == wanted.tobytes()
    assert (
        found[found["launch"] == 0].tobytes()
        == selected(everything[everything["launch"] == 0], timings, first).tobytes()
    )
    found, _ = record(filters=(NOTHING, NOTHING))
    assert len(found) == 0


def test_what_does_not_pass_takes_no_place_in_the_fifo(record):
    """One warp per sample leaves in 30 cycles of 32, so two places are enough for it; with all warps they are not."""
    fifo = {"period": 32, "fifo_depth": 2, "drain_cycles": 30}
    _, crowded = record(**fifo)
    assert all(timing.samples_dropped > timing.samples_kept for timing in crowded)
    only = filter_of_text("block=1 warp=0")
    found, alone = record(filters=(only, NOTHING), **fifo)
    everything, timings = record(period=32, **DEEP)
    assert alone[0].samples_dropped == 0 and alone[0].samples_kept == len(found) > 10
    assert found.tobytes() == selected(everything[everything["launch"] == 0], timings, only).tobytes()


def test_a_filter_is_part_of_the_sampling():
    assert Sampling(64) == replace(Sampling(64, filter=NOTHING), filter=ALL)
