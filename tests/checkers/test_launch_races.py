"""racecheck: races between commands of several streams. Planted: what two commands do, by what stands between them."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from gpuprof.device import commands as cmd
from gpuprof.device.streams import Stream
from gpuprof.trace.checkers.memcheck import Memcheck
from gpuprof.trace.checkers.racecheck import Racecheck
from gpuprof.trace.finding_report import Findings
from gpuprof.trace.suppressions import parse
from tests.support.planted import Planted, in_short

SOURCE = """\
extern "C" {
__global__ void put(int *x, int *y) { x[threadIdx.x] = threadIdx.x + 1; }
__global__ void other(int *x, int *y) { x[threadIdx.x + 10] = 7 * threadIdx.x; }
__global__ void get(int *x, int *y) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void same(int *x, int *y) { x[threadIdx.x] = 5; }
__global__ void add(int *x, int *y) { atomicAdd(x, threadIdx.x); }
__global__ void add_in_block(int *x, int *y) { atomicAdd_block(x, threadIdx.x); }
__global__ void even(char *x, int *y) { x[2 * threadIdx.x] = 1; }
__global__ void odd(char *x, int *y) { x[2 * threadIdx.x + 1] = 2; }
__global__ void known(int *x, int *y) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void twice(char *x, int *y) { x[4 * threadIdx.x + 2] = 3; }
}
"""
KNOWN = parse("*:kernel:known  reads what it may\n", "f.txt")
WW, WR, RW = "stream_write_write_race", "stream_write_read_race", "stream_read_write_race"


class Rig(NamedTuple):
    """A GPU under the checker, streams (the last one does not block), an event, and arrays x and y of 64 ints."""

    planted: Planted
    streams: list
    event: Any
    x: Any
    y: Any

    def do(self, what: str, stream: int) -> None:
        """A kernel's name, or a copy or fill of part of x."""
        gpu, number, x = self.planted.device, self.streams[stream].number, self.x.address
        copies = {
            "copy_in": cmd.CopyIn(x + 8, bytes(range(100, 116)), number),
            "copy_from": cmd.CopyWithin(self.y.address, x + 4, 32, number),
            "copy_to": cmd.CopyWithin(x, self.y.address + 128, 32, number),
            "copy_to_y": cmd.CopyWithin(self.y.address, self.y.address + 128, 32, number),
            "move": cmd.CopyWithin(x + 8, x, 32, number),
            "fill": cmd.Fill(x + 20, 12, b"\7", number),
            "fill_elsewhere": cmd.Fill(self.y.address + 200, 4, b"\7", number),
        }
        if what in copies:
            gpu.submit(copies[what])
        else:
            self.planted.run(what, 1, 32, self.x, self.y, stream=number)


class Pair(NamedTuple):
    """What two commands do, the kind of their race, and the bytes that they race for."""

    first: str
    second: str
    kind: str = ""
    nbytes: int = 0


PAIRS = [
    Pair("put", "get", WR, 128),
    Pair("get", "put", RW, 128),
    Pair("put", "other", WW, 88),
    Pair("put", "put", WW, 128),  # the values are known where all of a run are alike: `same`
    Pair("put", "copy_from", WR, 32),
    Pair("copy_in", "get", WR, 16),
    Pair("get", "copy_in", RW, 16),
    Pair("get", "copy_to", RW, 32),
    Pair("fill", "copy_in", WW, 4),
    Pair("move", "fill", WW, 12),
    Pair("copy_from", "fill", RW, 12),
    Pair("add_in_block", "add", WW, 4),
    Pair("even", "twice", WW, 16),
    Pair("get", "copy_from", WW, 32),  # both write y
    Pair("fill", "copy_to_y"),
    Pair("same", "same"),
    Pair("add", "add"),
    Pair("even", "odd"),
    Pair("odd", "twice"),
]


class Between(NamedTuple):
    """What stands between two commands on streams `first` and `second` (0: the default one, 3: it does not block)."""

    act: Callable[[Rig], Any]
    is_enough: bool
    first: int = 1
    second: int = 2


def _event(rig: Rig, recorded: int, waiting: int) -> None:
    rig.event.record(rig.streams[recorded])
    rig.event.wait(rig.streams[waiting])


def _event_too_early(rig: Rig) -> None:
    """`found_in` has recorded it in front of the first command."""
    rig.event.wait(rig.streams[2])


def _read(rig: Rig, stream: int) -> None:
    """The host reads what no kernel touches."""
    rig.planted.device.submit(cmd.CopyOut(rig.y.address + 200, 8, rig.streams[stream].number))


BETWEEN = {
    "nothing": Between(lambda rig: None, False),
    "event": Between(lambda rig: _event(rig, 1, 2), True),
    "event_too_early": Between(_event_too_early, False),
    "event_of_another_stream": Between(lambda rig: _event(rig, 4, 2), False),
    "event_another_stream_waits": Between(lambda rig: _event(rig, 1, 4), False),
    "host_waits_for_all": Between(lambda rig: rig.planted.device.synchronize(), True),
    "host_waits_for_stream": Between(lambda rig: rig.streams[1].synchronize(), True),
    "host_waits_for_another_stream": Between(lambda rig: rig.streams[2].synchronize(), False),
    "host_waits_for_event": Between(lambda rig: (rig.event.record(rig.streams[1]), rig.event.synchronize()), True),
    "host_waits_for_early_event": Between(lambda rig: rig.event.synchronize(), False),
    "host_reads_what_the_stream_has": Between(lambda rig: _read(rig, 1), True),
    "host_reads_on_another_stream": Between(lambda rig: _read(rig, 2), False),
    "one_stream": Between(lambda rig: None, True, 1, 1),
    "default_then_blocking": Between(lambda rig: None, True, 0, 1),
    "blocking_then_default": Between(lambda rig: None, True, 1, 0),
    "non_blocking_then_default": Between(lambda rig: None, False, 3, 0),
    "non_blocking_then_event": Between(lambda rig: _event(rig, 3, 2), True, 3, 2),
    "default_between": Between(lambda rig: rig.do("fill_elsewhere", 0), True),
    "non_blocking_between": Between(lambda rig: _event(rig, 3, 2), False),
}


class Case(NamedTuple):
    name: str
    pair: Pair
    between: Between
    kinds: frozenset[str]


def cases() -> list[Case]:
    """Each pair without an order and with one, and each order between two kernels."""
    found = []
    for pair in PAIRS:
        for name in ("nothing", "event"):
            found.append(_case(pair, name))
    for name in BETWEEN:
        if name not in ("nothing", "event"):
            found += [_case(PAIRS[0], name), _case(PAIRS[1], name)]
    return found


def _case(pair: Pair, name: str) -> Case:
    kinds = frozenset() if BETWEEN[name].is_enough or not pair.kind else frozenset([pair.kind])
    return Case(f"{pair.first}_{pair.second}_{name}", pair, BETWEEN[name], kinds)


def rig_in(folder) -> Rig:
    planted = Planted(folder, SOURCE, Racecheck(), findings=Findings(KNOWN))
    gpu = planted.device
    streams = [Stream(gpu.submit, 0), gpu.stream(), gpu.stream(), gpu.stream(non_blocking=True), gpu.stream()]
    return Rig(planted, streams, gpu.event(), gpu.device_array(64, np.int32), gpu.device_array(64, np.int32))


def found_in(rig: Rig, case: Case) -> list:
    """The findings of a case, as sentences."""
    rig.planted.device.synchronize()
    del rig.planted.notices[:]
    rig.event.record(rig.streams[case.between.first])
    rig.do(case.pair.first, case.between.first)
    case.between.act(rig)
    rig.do(case.pair.second, case.between.second)
    return rig.planted.notices[:]


@pytest.fixture(scope="module")
def rig(tmp_path_factory):
    return rig_in(tmp_path_factory.mktemp("launch_races"))


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_planted(rig, case):
    told = found_in(rig, case)
    assert {sentence.split(":")[0] for sentence in told} == case.kinds
    nbytes = [int(sentence.split("; ")[2].split()[0]) for sentence in told]
    assert nbytes == [case.pair.nbytes] * bool(case.kinds)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.first}_{pair.second}")
def test_the_other_order_leaves_something_else(rig, pair):
    """Both orders are carried out, one command after the other; what is left differs where there is a race. Commands
    whose values are the same, or that add, race no less for that: of these nothing is asked.
    """
    left = []
    for order in ((pair.first, pair.second), (pair.second, pair.first)):
        rig.planted.device.submit(cmd.CopyIn(rig.x.address, bytes(range(256))))
        rig.planted.device.submit(cmd.CopyIn(rig.y.address, bytes(range(256))[::-1]))
        for what in order:
            rig.do(what, 0)
        left.append((rig.x.copy_to_host().tobytes(), rig.y.copy_to_host().tobytes()))
    if not pair.kind:
        assert left[0] == left[1]
    elif pair not in (Pair("put", "put", WW, 128), Pair("add_in_block", "add", WW, 4)):
        assert left[0] != left[1]


def test_both_commands_are_told(rig):
    """Names, lines, threads, streams and bytes; the bytes begin where threads of both have one in common."""
    rig.planted.device.synchronize()
    first = rig.planted.device.executor.n_launches
    (told,) = found_in(rig, _case(Pair("put", "other", WW, 88), "nothing"))
    place = told.split(": ")[2].rsplit(":", 1)[0]
    assert told == (
        f"stream_write_write_race: other: {place}:3: thread (0, 0, 0) of block (0, 0, 0) of launch {first + 1} (other, "
        f"stream 2) writes global memory at {rig.x.address + 40:#x}, which thread (10, 0, 0) of block (0, 0, 0) of "
        f"launch {first} (put, stream 1) wrote; nothing orders the two: if the other one is first, the bytes of launch "
        f"{first} (put, stream 1) stay; 88 bytes in common (the other access: {place}:2)"
    )
    finding = rig.planted.checkers[0].results[-1].findings[-1]
    assert (finding.address, finding.thread, finding.allocation) == (rig.x.address + 40, 0, "array 1 of int32[64]")
    (told,) = found_in(rig, _case(Pair("put", "copy_from", WR, 32), "nothing"))
    assert f"put: {place}:2: a copy within the device (stream 2) reads global memory" in told


def test_memory_that_is_freed_is_somebody_elses(rig):
    gpu = rig.planted.device
    gpu.synchronize()
    del rig.planted.notices[:]
    for stream in (1, 2):
        array = gpu.device_array(64, np.int32)
        rig.planted.run("put", 1, 32, array, rig.y, stream=rig.streams[stream].number)
        array.free()
    assert rig.planted.notices == []


class FreeCase(NamedTuple):
    """Steps: what is done, and on which stream; "event 1 2": stream 2 waits for stream 1."""

    name: str
    steps: tuple[str, ...]
    kinds: frozenset[str]


UAF = frozenset(["stream_use_after_free"])
FREE_CASES = [
    FreeCase("behind_its_use", ("put 1", "free 1"), frozenset()),
    FreeCase("beside_its_use", ("put 1", "free 2"), UAF),
    FreeCase("behind_an_event", ("put 1", "event 1 2", "free 2"), frozenset()),
    FreeCase("behind_the_host", ("put 1", "wait 1", "free 2"), frozenset()),
    FreeCase("before_a_use", ("free 1", "get 1"), UAF),
    FreeCase("before_a_use_elsewhere", ("free 1", "get 2"), UAF),
    FreeCase("before_an_event", ("free 1", "event 1 2", "get 2"), UAF),
    FreeCase("by_the_default_stream", ("put 1", "free 0"), frozenset()),
    FreeCase("beside_one_that_does_not_block", ("put 3", "free 0"), UAF),
    FreeCase("before_a_copy", ("free 1", "copy_from 1"), UAF),
    FreeCase("beside_a_copy", ("copy_in 1", "free 2"), UAF),
    FreeCase("of_another_array", ("free 1", "fill_elsewhere 2"), frozenset()),
    FreeCase("given_back", ("free 1", "give_back 1", "put 2"), frozenset()),
]


def found_around_free(rig: Rig, case: FreeCase) -> list[str]:
    """The findings of a case, of an x of its own, as sentences."""
    gpu = rig.planted.device
    gpu.synchronize()
    del rig.planted.notices[:]
    mine = rig._replace(x=gpu.device_array(64, np.int32))
    for step in case.steps:
        what, stream, *more = step.split()
        number = rig.streams[int(stream)].number
        if what == "free":
            gpu.submit(cmd.FreeLater(mine.x.address, number))
        elif what == "give_back":
            mine.x.free()
            mine = mine._replace(x=gpu.device_array(64, np.int32))
        elif what == "event":
            _event(rig, int(stream), int(more[0]))
        elif what == "wait":
            rig.streams[int(stream)].synchronize()
        else:
            mine.do(what, int(stream))
    mine.x.free()
    return rig.planted.notices[:]


@pytest.mark.parametrize("case", FREE_CASES, ids=lambda case: case.name)
def test_memory_freed_in_the_order_of_streams(rig, case):
    assert {sentence.split(":")[0] for sentence in found_around_free(rig, case)} == case.kinds


def test_what_is_freed_and_who_uses_it_are_told(rig):
    told = {}
    for case in FREE_CASES[1], FREE_CASES[4], FREE_CASES[9]:
        (sentence,) = found_around_free(rig, case)
        told[case.name] = re.sub(r"0x[0-9a-f]+", "ADDRESS", re.sub(r"launch \d+", "launch N", sentence))
    place = told["before_a_use"].split(": ")[2].rsplit(":", 1)[0]
    thread = "thread (0, 0, 0) of block (0, 0, 0) of launch N"
    assert told == {
        "beside_its_use": (
            f"stream_use_after_free: put: {place}:2: {thread} (put, stream 1) touches global memory at ADDRESS, which "
            "cudaFreeAsync (stream 2) frees; nothing orders the two; 128 bytes in common"
        ),
        "before_a_use": (
            f"stream_use_after_free: get: {place}:4: {thread} (get, stream 1) touches global memory at ADDRESS, which "
            "cudaFreeAsync (stream 1) frees before it; 128 bytes in common"
        ),
        "before_a_copy": (
            "stream_use_after_free: a copy within the device (stream 1) touches global memory at ADDRESS, which "
            "cudaFreeAsync (stream 1) frees before it; 32 bytes in common"
        ),
    }


@pytest.mark.parametrize("stream, kinds", [(1, [("use_after_free", 32)]), (2, [])])
def test_memcheck_refuses_what_is_freed_before_a_launch(tmp_path, stream, kinds):
    """What nothing orders is racecheck's."""
    planted = Planted(tmp_path, SOURCE, Memcheck())
    gpu = planted.device
    streams = gpu.stream(), gpu.stream()
    x, y = gpu.to_device(np.full(64, 7, np.int32)), gpu.device_array(64, np.int32)
    gpu.submit(cmd.FreeLater(x.address, streams[0].number))
    found = planted.run("get", 1, 32, x, y, stream=streams[stream - 1].number)
    assert in_short(found) == kinds
    assert y.copy_to_host().tolist() == [0 if kinds else 7] * 32 + [0] * 32
    if kinds:
        assert found[0].text == (
            f"thread (0, 0, 0) of block (0, 0, 0) reads 4 bytes of global memory at {x.address:#x}, which "
            "cudaFreeAsync frees before this launch"
        )


DEPENDENT = """\
.version 8.6
.target sm_90
.address_size 64
.visible .entry put(.param .u64 x) { .reg .b64 %p; ld.param.u64 %p, [x]; st.global.u32 [%p + 4], 7; ret; }
.visible .entry get(.param .u64 x)
{
    .reg .b64 %p;
    .reg .b32 %r;
    ld.param.u64 %p, [x];
    {wait}
    ld.global.u32 %r, [%p + 4];
    st.global.u32 [%p + 64], %r;
    ret;
}
"""


@pytest.mark.parametrize("wait, kinds", [("", {WR}), ("griddepcontrol.wait;", set())])
def test_a_dependent_launch_overlaps_the_one_before_it(tmp_path, wait, kinds):
    """Unless code of its module waits."""
    source = DEPENDENT.replace("{wait}", wait)
    planted = Planted(tmp_path, source, Racecheck(), suffix=".ptx", chip="h200")
    x = planted.array(256)
    planted.run("put", 1, 1, x, stream=1)
    found = planted.run("get", 1, 1, x, stream=1, dependent=True)
    assert {finding.kind for finding in found} == kinds


def test_a_dependent_launch_waits_for_what_is_no_launch(tmp_path):
    planted = Planted(tmp_path, DEPENDENT.replace("{wait}", ""), Racecheck(), suffix=".ptx", chip="h200")
    x, event = planted.array(256), planted.device.event()
    planted.device.submit(cmd.Fill(x.address, 256, b"\1", 1))
    assert planted.run("get", 1, 1, x, stream=1, dependent=True) == []
    planted.run("put", 1, 1, x, stream=1)
    event.record(1)
    event.wait(2)
    event.record(2)
    event.wait(1)
    assert planted.run("get", 1, 1, x, stream=1, dependent=True) == []


def test_what_is_known_is_left_out(rig):
    rig.planted.device.synchronize()
    del rig.planted.notices[:]
    rig.do("put", 1)
    rig.do("known", 2)
    assert rig.planted.checkers[0].results[-1].findings == []
    rig.do("fill", 1)
    assert (rig.planted.notices, KNOWN[0].used) == ([], 2)
