"""A launch that a fault or an interrupt ends, the first one too, leaves what generators found until then."""

import pytest

from gpuprof.base.interrupts import Stopped
from gpuprof.records.reader import read_recording
from gpuprof.trace.feed import Feed
from gpuprof.trace.generator import TraceGenerator
from tests.support.command import gpuprof, process

STORES = """\
import os, signal
from gpuprof.trace import Column, Option, Table, TraceGenerator

class Stores(TraceGenerator):
    '''Counts the bytes that are stored; sends itself a signal when it has seen so many stores.'''

    kinds = ("store",)
    signal_at = Option(0, "stores of warps before the signal; 0: none is sent")
    tables = (Table("bytes", "stored", (Column("nbytes", "integer", "bytes", "stored"),)),)

    def initialize(self, kernel):
        self.nbytes = self.n_stores = 0

    def event(self, event):
        self.nbytes += event.nbytes * event.n_true
        self.n_stores += event.n_warps
        if 0 < self.signal_at <= self.n_stores:
            self.signal_at = 0
            os.kill(os.getpid(), signal.SIGINT)

    def finish(self):
        self.add_row("bytes", self.nbytes)
        self.find("stores", "warning", f"{self.nbytes} bytes are stored")
"""
FAULT = """\
// LAUNCH: beyond<<<1, 32>>>(x: i32[32], 268435456)
__global__ void beyond(int *x, int far) { x[threadIdx.x] = 1; x[threadIdx.x + far] = 2; }
"""
LONG = """\
// LAUNCH: spin<<<64, 128>>>(x: i32[8192], 100000000)
__global__ void spin(volatile int *x, int n)
{
    for (int i = 0; i < n; i++) x[blockIdx.x * 128 + threadIdx.x] = i;
}
"""


def test_a_fault_in_the_first_launch(tmp_path):
    """Both stores of the 32 threads came, of which the second faults. The page shows the finding, other pages say that
    nothing was measured.
    """
    (tmp_path / "my.py").write_text(STORES)
    (tmp_path / "k.cu").write_text(FAULT)
    code, _, error = gpuprof(tmp_path, "collect", "k.cu", "--trace", "my.py:Stores")
    assert code == 1 and "out of bounds write" in error
    assert error.endswith("the part before can be read: gpuprof report k.gprec\n")
    recording = read_recording(tmp_path / "k.gprec")
    assert [trace.rows for trace in recording.traces.values()] == [[[256]]] and len(recording.findings) == 1
    code, out, _ = gpuprof(tmp_path, "report", "k.gprec", "--page", "findings", "--format", "csv")
    assert code == 0 and out.splitlines()[1].startswith("stores,warning,256 bytes are stored,1,")
    code, _, error = gpuprof(tmp_path, "report", "k.gprec")
    assert code == 4 and "nothing was measured" in error


def test_without_a_generator_a_fault_in_the_first_launch_leaves_no_file(tmp_path):
    (tmp_path / "k.cu").write_text(FAULT)
    assert gpuprof(tmp_path, "collect", "k.cu")[0] == 1
    assert not (tmp_path / "k.gprec").exists()


@pytest.mark.long
def test_an_interrupt_in_the_first_launch(tmp_path):
    (tmp_path / "my.py").write_text(STORES)
    (tmp_path / "k.cu").write_text(LONG)
    code, _, error = process(tmp_path, "collect", "k.cu", "--trace", "my.py:Stores:signal_at=20000", timeout=300)
    assert code == 130 and error.endswith("gpuprof: interrupted\n")
    recording = read_recording(tmp_path / "k.gprec")
    ((nbytes,),) = next(iter(recording.traces.values())).rows
    assert nbytes >= 20_000 * 32 * 4 and nbytes % 128 == 0
    assert [finding["text"] for finding in recording.findings] == [f"{nbytes} bytes are stored"]
    assert recording.marks[-1]["text"] == "interrupted" and not recording.launches[0].end


class Notes(TraceGenerator):
    """Notes that it was finished; an interrupt hits it in the midst of its event, if it says so."""

    def __init__(self, is_hit):
        super().__init__()
        self.is_hit, self.is_finished = is_hit, False

    def event(self, event):
        if self.is_hit:
            raise Stopped

    def finish(self):
        self.is_finished = True


class Executed:
    """The emulator's account of an instruction, as far as `Feed` reads it."""

    at = 0


class OneInstruction:
    """A kernel, as far as `Feed` reads it."""

    launch = 0
    basic_blocks = (None,)

    class code:
        instructions = ()

    class instructions:
        basic_block = 0

    instructions = (instructions,)


def test_a_generator_that_was_hit_in_an_event_has_no_results(monkeypatch):
    """What it holds is half done. The others are finished."""
    generators = [Notes(False), Notes(True), Notes(False)]
    monkeypatch.setattr("gpuprof.trace.feed.numbers_wanted", lambda generator, code: (0,))
    feed = Feed(OneInstruction, generators)
    feed.initialize()
    with pytest.raises(Stopped):
        feed.notify_before(Executed)
    assert [generator for generator, _ in feed.finish()] == [generators[0], generators[2]]
    assert [each.is_finished for each in generators] == [True, False, True]
    assert not feed.is_open and list(feed.finish()) == []
