"""Copies of page-locked memory: who waits for them, what their tasks are called, and which bytes they touch."""

from contextlib import closing

import numpy as np
import pytest

from gpuprof.correlate.database import ensure_database
from gpuprof.device import commands as cmd
from gpuprof.records.writer import RecordWriter
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from tests.support.running import Results

KERNEL = "__global__ void add(int *x, int step) { x[threadIdx.x] += step; }\n"


@pytest.fixture
def source(tmp_path):
    (tmp_path / "kernels.cu").write_text(KERNEL)
    return tmp_path / "kernels.cu"


# how the bytes go to the host -> whether the host waits
WAITS = {
    "out": (lambda x, host, stream: cmd.CopyWithin(host.address, x.address, 128, stream, "out"), False),
    "pinned": (lambda x, host, stream: cmd.CopyOut(x.address, 128, stream, is_pinned=True), False),
    "pageable": (lambda x, host, stream: cmd.CopyOut(x.address, 128, stream), True),
}


@pytest.mark.parametrize("how", WAITS)
def test_the_host_waits_for_pageable_copies_only(source, how):
    """The bytes are those after the launch, also where its time is not known yet."""
    copy, is_waited_for = WAITS[how]
    results = Results()
    gpu = open_device(Settings(observer=results))
    module, stream = gpu.load(source), gpu.stream()
    x, host = gpu.to_device(np.arange(32, dtype=np.int32)), gpu.device_array(32, np.int32)
    module.add[1, 32, stream](x, 5)
    data = gpu.submit(copy(x, host, stream.number))
    assert len(results.launches) == is_waited_for
    data = gpu.executor.memory.read(host.address, 128) if data is None else data
    assert np.frombuffer(data, np.int32).tolist() == [*range(5, 37)]


def test_what_the_host_writes_itself_waits_for_nothing(source):
    results = Results()
    gpu = open_device(Settings(observer=results))
    module, stream = gpu.load(source), gpu.stream()
    x = gpu.to_device(np.zeros(32, np.int32))
    module.add[1, 32, stream](x, 5)
    gpu.submit(cmd.HostWrite(x.address, b"\7\0\0\0"))
    module.add[1, 32, stream](x, 1)
    assert results.launches == []
    assert x.copy_to_host().tolist() == [8, *[6] * 31]


TASKS = [
    ("stream 1", "copy to device", "copy to device x", {("x", 1)}),
    ("stream 1", "launch", "add", {("x", 0), ("x", 1)}),
    ("stream 1", "copy to host", "copy to host x", {("x", 0)}),
    ("stream 1", "copy within host", "copy within host host", set()),
    ("stream 1", "copy within device", "copy within device y", {("x", 0), ("y", 1)}),
    ("stream 1", "copy to device", "copy to device x", {("x", 1)}),
    ("default stream", "copy to host", "copy to host y", {("y", 0)}),
]
WASTE = [
    ("copied back and forth", "copy to device x", "copy to host x", 128),
    ("copied in and never read", "copy to device x", None, 128),
]


def test_tasks_of_copies(source, tmp_path):
    """Of memory of the host nothing is said: the host reads and writes it without a word."""
    with RecordWriter(tmp_path / "a.gprec") as recorder:
        gpu = open_device(Settings(recorder=recorder, observe=True))
        module, stream = gpu.load(source), gpu.stream()
        x, y, host = (gpu.device_array(32, np.int32, name=name) for name in ("x", "y", "host"))
        copies = [(x, host, "in"), (host, x, "out"), (host, host, "host"), (y, x, "within"), (x, host, "in")]
        for number, (to, by, direction) in enumerate(copies):
            gpu.submit(cmd.CopyWithin(to.address, by.address, 128, stream.number, direction))
            if not number:
                module.add[1, 32, stream](x, 5)
        y.copy_to_host()
        gpu.executor.finish()
    with closing(ensure_database(tmp_path / "a.gprec")) as database:
        rows = database.execute(
            "SELECT task, r.name, kind, t.name FROM tasks t JOIN task_rows r USING (row) ORDER BY begin_order"
        ).fetchall()
        touched = database.execute(
            "SELECT a.task, p.name, a.is_write FROM accesses_by_task a JOIN parameters p USING (parameter)"
        ).fetchall()
        waste = database.execute(
            "SELECT f.kind, t.name, o.name, f.nbytes FROM task_findings f JOIN tasks t USING (task) "
            "LEFT JOIN tasks o ON o.task = f.other ORDER BY f.kind"
        ).fetchall()
    found = [(*row, {(name, writes) for of, name, writes in touched if of == task}) for task, *row in rows]
    assert found == TASKS
    assert waste == WASTE
