"""The thread that works ahead: order, errors at their place, a bound, and a prompt end."""

import signal
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import gpuprof
from gpuprof.base.interrupts import Ended, _on_signal
from gpuprof.emulate.trace_log.trace import Order
from gpuprof.run.launching.emulation_thread import ahead
from gpuprof.run.launching.pending import Pieces, Queue
from tests.support.matrices import long_from
from tests.support.timing_support import piece, warp


def emulator_threads() -> int:
    return sum(thread.name == "emulator" for thread in threading.enumerate())


def test_items_in_order():
    assert list(ahead(iter(range(1000)))) == list(range(1000))
    assert emulator_threads() == 0


def test_an_error_comes_after_the_items_before_it():
    def items():
        yield 1
        yield 2
        raise ZeroDivisionError("third")

    seen = []
    with pytest.raises(ZeroDivisionError, match="third"):
        for item in ahead(items()):
            seen.append(item)
    assert seen == [1, 2]
    assert emulator_threads() == 0


def test_it_works_a_bounded_number_of_items_ahead():
    made = []
    results = ahead((made.append(item) or item for item in range(100)), depth=3)
    assert next(results) == 0
    time.sleep(0.2)
    assert len(made) <= 1 + 3 + 1  # taken, queued, waiting to be queued
    results.close()
    assert emulator_threads() == 0


def test_closing_early_does_not_wait_for_the_item_in_work():
    """The second item would take for ever; what the generator has to clean up is cleaned up."""
    cleaned = threading.Event()

    def items():
        yield 1
        try:
            while True:
                pass
        finally:
            cleaned.set()

    results = ahead(items())
    assert next(results) == 1
    results.close()  # without the interrupt it never returns
    assert cleaned.is_set()
    assert emulator_threads() == 0


def test_a_thread_that_is_stopped_at_its_very_end_says_nothing(monkeypatch):
    said = []
    monkeypatch.setattr(threading, "excepthook", lambda arguments: said.append(arguments.exc_value))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for round_ in range(300):
            results = ahead(iter(range(1 + round_ % 3)), depth=8)
            next(results)
            results.close()
    finally:
        sys.setswitchinterval(interval)
    assert said == []


def test_a_thread_that_was_stopped_is_not_used_again(monkeypatch):
    monkeypatch.setattr("gpuprof.run.launching.emulation_thread._idle", idle := [])
    assert list(ahead(iter(range(3)))) == [0, 1, 2]
    (first,) = idle
    results = ahead(iter(range(1000)), depth=1)
    assert next(results) == 0
    assert idle == []
    results.close()
    assert not first.thread.is_alive()
    assert idle == []
    assert list(ahead(iter(range(3)))) == [0, 1, 2]
    assert len(idle) == 1


def test_of_two_at_work_one_thread_is_kept(monkeypatch):
    monkeypatch.setattr("gpuprof.run.launching.emulation_thread._idle", idle := [])
    one, other = ahead(iter(range(3))), ahead(iter(range(3)))
    assert list(zip(one, other, strict=True)) == [(0, 0), (1, 1), (2, 2)]
    assert emulator_threads() == 0
    assert len(idle) == 1


def test_an_idle_thread_holds_on_to_nothing():
    class Item:
        pass

    def items(held):
        yield 1

    held = Item()
    gone = weakref.ref(held)
    assert list(ahead(items(held))) == [1]
    del held
    end = time.monotonic() + 60  # generous, for a busy machine
    while gone() is not None and time.monotonic() < end:
        time.sleep(0.001)
    assert gone() is None


def test_a_signal_while_the_thread_begins_leaves_none_at_work(monkeypatch):
    runs = threading.Event()

    def emulation(orders):
        runs.set()
        for _ in orders:
            yield piece([warp([0])])

    def interrupted(*arguments, **named):
        results = ahead(*arguments, **named)
        assert runs.wait(60)
        signal.raise_signal(signal.SIGINT)
        return results

    monkeypatch.setattr("gpuprof.run.launching.pending.ahead", interrupted)
    handler, pieces = signal.signal(signal.SIGINT, _on_signal), Pieces(emulation, Queue(), n_blocks=2)
    pieces.order(Order())
    try:
        with pytest.raises(Ended) as raised:
            next(pieces)
    finally:
        signal.signal(signal.SIGINT, handler)
    pieces.close()  # while the error's frames are there, as when it is dealt with
    del raised
    assert emulator_threads() == 0


SOURCE = "__global__ void twice(float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] += x[i]; }"


@pytest.mark.parametrize("blocks, n_threads", long_from(1, [(1, 0), (400, 1), (3, 0)]))
def test_launches_of_many_pieces_share_one_thread(tmp_path, monkeypatch, blocks, n_threads):
    monkeypatch.setattr("gpuprof.run.launching.emulation_thread._idle", [])
    started = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: (started.append(thread.name), start(thread))[1])
    (tmp_path / "twice.cu").write_text(SOURCE)
    gpu = gpuprof.Device()
    x = gpu.to_device(np.arange(256 * blocks, dtype=np.float32))
    twice = gpu.load(tmp_path / "twice.cu").twice
    for _ in range(3):
        twice[blocks, 256](x)
    assert started.count("emulator") == n_threads
    assert (x.copy_to_host() == 8 * np.arange(256 * blocks, dtype=np.float32)).all()
    assert emulator_threads() == 0
