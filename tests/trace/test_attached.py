"""Generators attached to launches: in Python, by filters, several at once, their exceptions and faults."""

import re

import numpy as np
import pytest

import gpuprof
from gpuprof.errors import GeneratorError, KernelFault, UsageError
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.tables.table import Column, Table
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.tables import Finding, Results

SOURCE = """
__global__ void scale(float *x, int n, float a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}
__global__ void add(int *x, int step) { x[threadIdx.x] += step; }
__global__ void beyond(int *x) { x[threadIdx.x] = 1; x[1 << 28] = 1; }
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Compiled once: the second time it is in the cache."""
    path = tmp_path_factory.mktemp("traces") / "k.cu"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def gpu():
    return open_device(Settings())


class Stores(TraceGenerator):
    """Counts stored bytes by kernel."""

    kinds = ("store",)
    tables = (
        Table(
            "bytes",
            "stored bytes",
            (Column("kernel", "text", "", "name"), Column("nbytes", "integer", "", "")),
        ),
    )

    def initialize(self, kernel):
        self.kernel, self.nbytes = kernel, 0

    def event(self, event):
        self.nbytes += event.nbytes * event.n_true

    def finish(self):
        self.add_row("bytes", self.kernel.name, self.nbytes)


def test_with_a_block(gpu, source):
    """Lanes past the end leave by a branch."""
    mod = gpu.load(source)
    x = gpu.to_device(np.ones(100, np.float32))
    with gpu.trace(Stores()) as stores:
        mod.scale[2, 64](x, 100, 3.0)
    mod.scale[2, 64](x, 100, 2.0)
    assert stores.results == [Results(0, {"bytes": [("scale", 400)]}, [])]
    assert x.copy_to_host().tolist() == [6.0] * 100


def test_attached_in_mid_stream_and_removed(gpu, source):
    """Removing it waits for what is in flight."""
    mod = gpu.load(source)
    x, stream, stores = gpu.to_device(np.zeros(32, np.int32)), gpu.stream(), Stores()
    mod.add[1, 32, stream](x, 1)
    gpu.add_trace_generator(stores)
    mod.add[1, 32, stream](x, 1)
    mod.add[1, 16, stream](x, 1)
    gpu.remove_trace_generator(stores)
    mod.add[1, 32, stream](x, 1)
    gpu.synchronize()
    assert [(found.launch, found.tables["bytes"]) for found in stores.results] == [
        (1, [("add", 128)]),
        (2, [("add", 64)]),
    ]
    assert x.copy_to_host().tolist() == [4] * 16 + [3] * 16


@pytest.mark.parametrize(
    "where, launches",
    [
        ("", [0, 1, 2]),
        ("kernel=^scale", [0, 2]),
        ("launch=1-2", [1, 2]),
        ("skip=1 count=1", [1]),
        ("task=inner", [2]),
    ],
)
def test_filters_of_launches(gpu, source, where, launches):
    mod = gpu.load(source)
    x, y, stores = gpu.to_device(np.zeros(32, np.float32)), gpu.to_device(np.zeros(32, np.int32)), Stores()
    gpu.add_trace_generator(stores, where)
    mod.scale[1, 32](x, 32, 1.0)
    mod.add[1, 32](y, 1)
    with gpu.task("inner"):
        mod.scale[1, 32](x, 32, 1.0)
    assert [found.launch for found in stores.results] == launches


def test_a_filter_of_samples_is_none_of_launches(gpu):
    with pytest.raises(UsageError, match="says more than which launches are watched"):
        gpu.add_trace_generator(Stores(), "sm=3")


def test_twice_and_never_attached(gpu):
    stores = Stores()
    gpu.add_trace_generator(stores)
    with pytest.raises(UsageError, match="attached already"):
        gpu.add_trace_generator(stores)
    gpu.remove_trace_generator(stores)
    with pytest.raises(UsageError, match="not attached"):
        gpu.remove_trace_generator(stores)


def test_several_see_the_same(gpu, source):
    mod = gpu.load(source)
    x = gpu.to_device(np.zeros(32, np.int32))
    with gpu.trace(Stores()) as one, gpu.trace(Stores()) as other:
        mod.add[1, 32](x, 1)
    assert one.results == other.results == [Results(0, {"bytes": [("add", 128)]}, [])]


class Breaks(TraceGenerator):
    """Raises at a call."""

    kinds = ("store",)
    at = "event"

    def initialize(self, kernel):
        if self.at == "initialize":
            raise ValueError("I cannot")

    def event(self, event):
        if self.at == "event":
            raise ValueError("I cannot")

    def finish(self):
        if self.at == "finish":
            raise ValueError("I cannot")


@pytest.mark.parametrize("call", ["initialize", "event", "finish"])
def test_an_exception_ends_the_run_with_its_traceback(gpu, source, call):
    mod = gpu.load(source)
    x = gpu.to_device(np.zeros(32, np.int32))
    mod.add[1, 32](x, 1)
    breaks = Breaks()
    breaks.at = call
    gpu.add_trace_generator(breaks)
    with pytest.raises(GeneratorError) as error:
        mod.add[1, 32](x, 1)
    assert str(error.value) == "trace generator breaks: ValueError: I cannot"
    first, place, *_, last = error.value.diagnostics.splitlines()
    assert (first, last) == ("Traceback (most recent call last):", "ValueError: I cannot")
    assert place.endswith(f"in {call}")
    gpu.executor.tracers.detach(breaks)
    mod.add[1, 32](x, 5)  # the GPU goes on
    assert x.copy_to_host()[0] >= 6


def test_a_fault_leaves_what_was_found(gpu, source):
    """The store before the one that faults is complete, and of the other the event came, too."""
    mod = gpu.load(source)
    x, stores = gpu.to_device(np.zeros(32, np.int32)), Stores()
    gpu.add_trace_generator(stores)
    with pytest.raises(KernelFault, match="out of bounds"):
        mod.beyond[1, 32](x)
    assert stores.results == [Results(0, {"bytes": [("beyond", 256)]}, [])]


class Kernels(TraceGenerator):
    """Notes what `initialize` gets."""

    def __init__(self):
        super().__init__()
        self.kernels = []

    def initialize(self, kernel):
        self.kernels.append(kernel)


def test_what_initialize_gets(gpu, source):
    mod = gpu.load(source)
    gpu.add_trace_generator(notes := Kernels())
    x = gpu.device_array(100, np.float32, name="x")
    mod.scale[(2, 1), 64](x, 100, 1.5)
    (kernel,) = notes.kernels
    assert (kernel.name, kernel.launch, kernel.grid, kernel.block) == ("scale", 0, (2, 1, 1), (64, 1, 1))
    assert [(each.number, each.allocation) for each in kernel.parameters] == [(x.address, "x"), (100, ""), (1.5, "")]
    assert [(each.name, each.nbytes) for each in kernel.allocations] == [("x", 400)]
    assert kernel.allocation_at(x.address + 399).name == "x" and kernel.allocation_at(x.address + 400) is None
    assert kernel.commands[0].startswith("Allocate(") and kernel.commands[-1].startswith("Launch(")
    at_first = list(kernel.commands)
    mod.scale[(2, 1), 64](x, 100, 1.5)  # what is asked for later is none of the first launch's
    assert list(kernel.commands) == at_first == kernel.commands[:] and len(notes.kernels[1].commands) > len(at_first)
    assert kernel.chip["sms"] == 108
    first = kernel.first_block
    assert first.instructions[0].number == kernel.function.first
    store = next(each for each in kernel.instructions if each.kind == "store" and each.function == "scale")
    assert (store.line, store.space, store.nbytes, store.operation) == (5, "global", 4, "store")
    assert [frame.line for frame in store.frames] == [5]
    assert all(block.index in range(len(kernel.basic_blocks)) for block in kernel.basic_blocks)


class Forgets(TraceGenerator):
    """Has an __init__ of its own."""

    def __init__(self):
        self.count = 0


@pytest.mark.parametrize(
    "generator, message",
    [
        (Kernels, "is no trace generator: give an object of a subclass"),
        (Forgets(), "this trace generator's __init__ does not call super().__init__(**options)"),
    ],
)
def test_what_cannot_be_attached(gpu, generator, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        gpu.add_trace_generator(generator)


class Finds(TraceGenerator):
    """Finds something."""

    def finish(self):
        self.find("thing", "warning", "look here", pc=np.int64(16), count=3)


def test_findings(gpu, source):
    mod = gpu.load(source)
    with gpu.trace(Finds()) as finds:
        mod.add[1, 32](gpu.to_device(np.zeros(32, np.int32)), 1)
    assert finds.results == [Results(0, {}, [Finding("thing", "warning", "look here", pc=16, count=3)])]


def test_names_of_the_interface():
    assert gpuprof.trace.TraceGenerator is TraceGenerator
