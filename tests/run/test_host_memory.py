"""Managed and page-locked memory that launches and the host touch: which pages move, and what that takes."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.correlate.database import ensure_database
from gpuprof.device import commands as cmd
from gpuprof.emulate.watch.footprint import Bytes
from gpuprof.hosts import load_host
from gpuprof.records.writer import RecordWriter
from gpuprof.relate.task_kinds import MAPPED_MEMORY, PAGE_FAULTS
from gpuprof.run.launching.host_memory import HostMemory, LaunchTouches, Moved
from gpuprof.run.launching.operations import Cost, cost_of_host_faults, cost_of_prefetch, costs_of_touches
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.tables.engines import ENGINE_IN, ENGINE_OUT
from tests.support.running import Results

PAGE = 0x1000
NOTHING = Bytes(np.zeros(0, np.int64), np.zeros(0, np.int64))
MANAGED, PINNED = 0x10800, 0x40000  # the first does not begin with a page


def ranges(*pairs: tuple[int, int]) -> Bytes:
    return Bytes(*(np.array(side, np.int64) for side in zip(*pairs, strict=True)))


def memory() -> HostMemory:
    """x: 4 pages and two parts of some; host: 2 pages that are page-locked."""
    made = HostMemory(PAGE)
    made.add(cmd.Allocate(5 * PAGE, "x", memory="managed"), MANAGED)
    made.add(cmd.Allocate(2 * PAGE, "host", memory="pinned"), PINNED)
    made.add(cmd.Allocate(PAGE, "device"), 0x50000)
    return made


def launch(made: HostMemory, reads: Bytes = NOTHING, writes: Bytes = NOTHING) -> LaunchTouches:
    return made.launch_touches(reads, writes)


def host(made: HostMemory, address: int, nbytes: int, group_nbytes: int = 4 * PAGE) -> tuple[Moved, int]:
    return made.host_touches([(address, nbytes)], group_nbytes)


def test_pages_go_to_where_they_are_touched():
    """What nobody has touched has no content to move. Bytes are those of the allocation, not of whole pages."""
    made = memory()
    assert host(made, MANAGED, 3 * PAGE) == (Moved(0, 0, "x"), 0)  # 4 pages: a half, two whole ones, a half
    seen = launch(made, reads=ranges((MANAGED, MANAGED + 4), (0x12FFF, 0x13001), (0x15000, 0x15004)))
    assert seen == LaunchTouches(Moved(4, 0x800 + 2 * PAGE, "x"), 0, 0, "x")
    assert launch(made, writes=ranges((MANAGED, MANAGED + 5 * PAGE))).faults == Moved(2, PAGE, "x")
    assert launch(made, reads=ranges((MANAGED, MANAGED + 5 * PAGE))).faults == Moved(0, 0, "x")
    assert host(made, MANAGED, 5 * PAGE) == (Moved(6, 5 * PAGE, "x"), 2)  # 0x10800-0x14000, 0x14000-0x15800
    assert host(made, MANAGED, 5 * PAGE) == (Moved(0, 0, "x"), 0)


def test_page_locked_memory_stays_with_the_host():
    made = memory()
    seen = launch(
        made, reads=ranges((PINNED + 8, PINNED + 24), (0x50000, 0x50100)), writes=ranges((PINNED, PINNED + 4))
    )
    assert seen == LaunchTouches(Moved(0, 0, "x"), 32, 32, "host")
    parts = ranges((PINNED + 8, PINNED + 12), (PINNED + 24, PINNED + 36), (PINNED + 63, PINNED + 64))
    assert launch(made, reads=parts).read_nbytes == 64


def test_a_launch_may_touch_what_its_parameters_name_and_all_while_some_is_managed():
    made = memory()
    inside, outside = (
        np.array([1, value], np.uint64).tobytes() for value in (PINNED + 2 * PAGE - 1, PINNED + 2 * PAGE)
    )
    assert [made.is_touched_by(params) for params in (inside, outside, b"")] == [True, True, True]
    made.remove(MANAGED)
    assert [made.is_touched_by(params) for params in (inside, outside, b"", b"\0\0\4")] == [True, False, False, False]
    made.remove(PINNED)
    assert not made.is_touched_by(inside)


def test_a_prefetch_moves_what_is_elsewhere():
    made = memory()
    host(made, MANAGED, 2 * PAGE)
    assert made.prefetch(cmd.Prefetch(MANAGED, 5 * PAGE)) == Moved(3, 0x800 + 2 * PAGE, "x")
    assert launch(made, reads=ranges((MANAGED, MANAGED + 5 * PAGE))).faults == Moved(0, 0, "x")
    assert made.prefetch(cmd.Prefetch(MANAGED, PAGE, to_host=True)) == Moved(2, 0x800 + PAGE, "x")
    assert made.prefetch(cmd.Prefetch(PINNED, PAGE)) == Moved()


def test_memory_that_is_mostly_read_is_with_both_until_a_launch_writes_it():
    made = memory()
    made.advise(cmd.Advise(MANAGED, 5 * PAGE, "read mostly"))
    host(made, MANAGED, 5 * PAGE)
    everything = ranges((MANAGED, MANAGED + 5 * PAGE))
    assert launch(made, reads=everything).faults == Moved(6, 5 * PAGE, "x")
    assert host(made, MANAGED, 5 * PAGE) == (Moved(0, 0, "x"), 0)
    assert launch(made, reads=everything).faults.n_pages == 0
    assert launch(made, writes=ranges((0x12000, 0x12004))).faults == Moved(0, 0, "x")
    assert host(made, MANAGED, 5 * PAGE) == (Moved(1, PAGE, "x"), 1)


@pytest.mark.parametrize(
    ("advice", "to_host", "wanted"),
    [
        ("preferred location", True, LaunchTouches(Moved(0, 0, "x"), 32, 32, "x")),
        ("preferred location", False, LaunchTouches(Moved(2, 2 * PAGE, "x"), 0, 0, "x")),
        ("accessed by", False, LaunchTouches(Moved(0, 0, "x"), 32, 32, "x")),
        ("accessed by", True, LaunchTouches(Moved(2, 2 * PAGE, "x"), 0, 0, "x")),
    ],
)
def test_memory_that_is_to_stay_with_the_host_crosses_the_link(advice, to_host, wanted):
    made = memory()
    host(made, MANAGED, 5 * PAGE)
    made.advise(cmd.Advise(MANAGED, 5 * PAGE, advice, to_host=to_host))
    bytes_of = {"reads": ranges((0x12000, 0x12004)), "writes": ranges((0x13000, 0x13008))}
    assert launch(made, **bytes_of) == wanted
    made.advise(cmd.Advise(MANAGED, 5 * PAGE, advice, is_on=False, to_host=to_host))
    assert launch(made, reads=ranges((0x12000, 0x12004))).faults.n_pages == (not wanted.faults.n_pages)


HOST = load_host("pcie4")
HOST = replace(
    HOST,
    values=HOST.values
    | {
        "fault_group_ns": 1000.0, "migrate_gbytes_per_s": 2.0, "copy_latency_ns": 50.0, "link_in_gbytes_per_s": 4.0,
        "link_out_gbytes_per_s": 8.0, "mapped_read_gbytes_per_s": 4.0, "mapped_write_gbytes_per_s": 5.0,
        "page_nbytes": 65536, "host_fault_nbytes": 1 << 20,
    },
)  # fmt: skip
CHIP = load_chip("v100")  # 80 SMs


@pytest.mark.parametrize(
    ("n_pages", "nbytes", "n_blocks", "latency_ns"),
    [
        (64, 0, 1, 64000),  # one block faults on a page after the other
        (64, 0, 8, 8000),
        (64, 0, 1000, 1000),
        (160, 0, 1000, 2000),  # 80 SMs
        (64, 16000, 8, 8000 - 8000 + 1000),  # the driver serves the next group while pages move: all but the first
        (64, 4000, 8, 8000 - 2000),
    ],
)
def test_the_cost_of_faults_by_hand(n_pages, nbytes, n_blocks, latency_ns):
    touches = LaunchTouches(Moved(n_pages, nbytes, "x"), 0, 0, "x")
    wanted = (PAGE_FAULTS, "x", Cost(ENGINE_IN, nbytes, latency_ns, nbytes / 2))
    assert list(costs_of_touches(touches, n_blocks, HOST, CHIP)) == [wanted]


def test_other_costs_by_hand():
    touches = LaunchTouches(Moved(), 400, 1000, "y")
    mapped = (MAPPED_MEMORY, "y", Cost(ENGINE_OUT, 1400, 0, 100 + 200, is_pinned=True))
    assert list(costs_of_touches(touches, 1, HOST, CHIP)) == [mapped]
    moved = Moved(3, 1600, "z")
    assert cost_of_prefetch(moved, False, HOST) == Cost(ENGINE_IN, 1600, 50, 400)
    assert cost_of_prefetch(moved, True, HOST) == Cost(ENGINE_OUT, 1600, 50, 200)
    assert cost_of_host_faults(moved, 2, HOST) == Cost(ENGINE_OUT, 1600, 2000, 800)


KERNEL = """\
__global__ void add(unsigned long long x, unsigned long long y)
{
    ((int *)x)[threadIdx.x + blockIdx.x * 16384] += ((int *)y)[threadIdx.x];
}
"""
OPERATIONS = """
SELECT t.name, t.kind, o.engine, o.is_pinned, o.nbytes, o.end_cycle - o.start_cycle
FROM device_operations o JOIN tasks t USING (task) ORDER BY task
"""
CYCLES = 1.38  # a nanosecond


def test_a_launch_waits_for_what_it_touches(tmp_path):
    """Two blocks touch a page of x each, and read y over the link; then the host takes a page back, which a launch and
    a prefetch bring again. 128 KiB at 2 GB/s take 65,536 ns.
    """
    (tmp_path / "kernels.cu").write_text(KERNEL)
    with RecordWriter(tmp_path / "a.gprec") as recorder:
        gpu = open_device(Settings(host=HOST, has_host=True, chip=CHIP, recorder=recorder))
        module, stream = gpu.load(tmp_path / "kernels.cu"), gpu.stream()
        x = gpu.submit(cmd.Allocate(1 << 18, "x", memory="managed"))
        y = gpu.submit(cmd.Allocate(128, "y", memory="pinned"))
        gpu.submit(cmd.HostTouch(((x.address, 1 << 18),)))
        module.add[2, 32, stream](x.address, y.address)
        gpu.synchronize()
        gpu.submit(cmd.HostTouch(((x.address, 1 << 16),)))
        module.add[1, 32](x.address, y.address)
        gpu.submit(cmd.Prefetch(x.address, 1 << 18))
        gpu.executor.finish()
    with closing(ensure_database(tmp_path / "a.gprec")) as db:
        rows = [tuple(row) for row in db.execute(OPERATIONS)]
        (first,) = db.execute("SELECT MIN(start_cycle) FROM launches").fetchone()
        (brought,) = db.execute("SELECT MAX(end_cycle) FROM device_operations WHERE task < 3").fetchone()
    assert rows == [
        ("page faults x", "page faults", "copy engine in", 0, 1 << 17, round(66536 * CYCLES)),
        ("mapped memory y", "mapped memory", "copy engine in", 1, 128, round(32 * CYCLES)),
        ("page faults x", "page faults", "copy engine out", 0, 1 << 16, round(33768 * CYCLES)),
        ("page faults x", "page faults", "copy engine in", 0, 1 << 16, round(33768 * CYCLES)),
        ("mapped memory y", "mapped memory", "copy engine in", 1, 128, round(32 * CYCLES)),
        ("prefetch x", "prefetch", "copy engine in", 0, 1 << 17, round(32818 * CYCLES)),
    ]
    assert first == brought + CHIP.launch_cycles


def test_earlier_timings_of_a_launch_do_not_wait_for_what_it_touches(tmp_path):
    """Its memory has come by then."""
    (tmp_path / "kernels.cu").write_text(KERNEL)
    results = Results()
    gpu = open_device(Settings(host=HOST, has_host=True, chip=CHIP, observer=results, repeat=3))
    x = gpu.submit(cmd.Allocate(1 << 16, "x", memory="managed"))
    gpu.load(tmp_path / "kernels.cu").add[1, 32](x.address, x.address)
    (result,) = results.launches
    assert len(result.timing.repetitions) == 3


def test_launches_run_together_while_the_host_touches_what_it_has(tmp_path):
    """A touch of pages that the GPU has waits for what is in flight."""
    (tmp_path / "kernels.cu").write_text(KERNEL)
    results = Results()
    gpu = open_device(Settings(host=HOST, has_host=True, chip=CHIP, observer=results))
    module, one, two = gpu.load(tmp_path / "kernels.cu"), gpu.stream(), gpu.stream()
    x, y = (gpu.submit(cmd.Allocate(1 << 16, name, memory="managed")).address for name in "xy")
    module.add[1, 32, one](x, x)
    gpu.submit(cmd.HostTouch(((y, 1 << 16),)))
    module.add[1, 32, two](y, y)
    assert results.launches == []
    gpu.submit(cmd.HostTouch(((x, 1 << 16),)))
    assert len(results.launches) == 2
