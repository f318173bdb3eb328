"""Recordings as one: passes add up, other recordings follow each other, and what cannot be one is refused."""

from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.correlate.database import ensure_database
from gpuprof.errors import FileFormatError, NotComparable
from gpuprof.records.command_stream.read import read_stream
from gpuprof.records.index import read_index
from gpuprof.records.merge import merge
from gpuprof.records.passes import Passes, by_cycle, found_period, grouped
from gpuprof.records.reader import read_recording
from gpuprof.records.writer import RecordWriter
from gpuprof.run.replay import replay
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.tables.launch import CAUSES, COUNTERS, LEDGER, LOSSES, STALL_LENGTHS, STALLS
from gpuprof.tables.samples import WIDE
from gpuprof.timing.sampling.configuration import Sampling
from tests.support.recordings import META, launch_fields

SOURCE = """
__global__ void chain(float *x, int n)
{
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int i = 0; i < n; i++) v = v * 1.5f + 0.5f;
    x[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
"""
OTHER = "__global__ void add(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }"
USUAL = Sampling(32, "random", 0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("merge")
    (folder / "chain.cu").write_text(SOURCE)
    (folder / "add.cu").write_text(OTHER)
    return folder


def collected(path: Path, n: int, file: str = "chain.cu", **settings) -> Path:
    """Two launches at the same time, and one after them."""
    settings = Settings(
        **{"chip_name": "t4", "sampling": USUAL, "save_stream": True, "command": f"collect {path.stem}"} | settings
    )
    with chdir(path.parent), RecordWriter(path, settings.record) as recorder:
        gpu = open_device(replace(settings, recorder=recorder))
        mod = gpu.load(file)
        x, y = gpu.device_array(4096, np.float32), gpu.device_array(4096, np.float32)
        left, right = gpu.stream(), gpu.stream()
        for array, stream in ((x, left), (y, right), (x, 0)):
            kernel = mod[file.removesuffix(".cu")][32, 128, stream]
            kernel(array, n) if file == "chain.cu" else kernel(array)
        gpu.synchronize()
        gpu.executor.finish()
    return path


def played(path: Path, original: Path, sampling: Sampling, **settings) -> Path:
    settings = Settings(**{"chip_name": "t4", "sampling": sampling, "save_stream": True, "command": "again"} | settings)
    with RecordWriter(path, settings.record) as recorder:
        replay(read_stream(original), replace(settings, recorder=recorder))
    return path


@pytest.fixture(scope="module")
def passes(folder):
    first = collected(folder / "0.gprec", 40)
    return [first, *(played(folder / f"{seed}.gprec", first, replace(USUAL, seed=seed)) for seed in (1, 2))]


@pytest.fixture(scope="module")
def others(folder):
    return [collected(folder / "more.gprec", 60), collected(folder / "add.gprec", 0, "add.cu")]


def merged(folder: Path, *paths: Path) -> Path:
    merge(paths, folder / "merged.gprec")
    return folder / "merged.gprec"


def totals(path: Path) -> dict[str, dict]:
    """Sums over a database, by kernel and offset in it: whatever the launches' numbers and the load bases are."""
    db = ensure_database(path)
    place = (
        "f.display, i.pc - f.first_pc FROM {} s JOIN instructions i ON i.pc = s.pc JOIN functions f USING (function)"
    )
    queries = {
        "samples": f"SELECT SUM(samples), reason, {place} GROUP BY 2, 3, 4",
        "ledger": f"SELECT SUM(cycles), reason, {place} GROUP BY 2, 3, 4",
        "counters": f"SELECT SUM(inst_executed), 0, {place} GROUP BY 2, 3, 4",
    }
    return {table: {row[1:]: row[0] for row in db.execute(query.format(table))} for table, query in queries.items()}


def summed(*parts: dict) -> dict:
    found: dict = {}
    for part in parts:
        for key, value in part.items():
            found[key] = found.get(key, 0) + value
    return found


def test_passes_add_up(passes, tmp_path):
    whole, parts = read_recording(merged(tmp_path, *passes)), [read_recording(path) for path in passes]
    assert whole.complete and whole.damage is None
    assert whole.meta["sampling"] == parts[0].meta["sampling"] | {"passes": 3, "pass_seeds": "0+0 1+0 2+0"}
    assert whole.meta["command"] == "collect 0; again"
    for number, launch in whole.launches.items():
        each = [part.launches[number] for part in parts]
        for name in ("samples_due", "samples_kept", "samples_dropped"):
            assert launch.end[name] == sum(part.end[name] for part in each) > -1
        assert len(launch.samples) == launch.end["samples_kept"] > 0
        expected = np.concatenate([part.samples for part in each])
        assert launch.samples.tolist() == expected[np.argsort(expected["cycle"], kind="stable")].tolist()
        assert launch.rows[LOSSES]["due"].sum() == launch.end["samples_due"]
        for table in (LEDGER, COUNTERS, STALLS, STALL_LENGTHS, CAUSES):
            assert launch.rows[table].tolist() == each[0].rows[table].tolist()
    first = [totals(path) for path in passes]
    assert totals(whole.path) == first[0] | {"samples": summed(*(part["samples"] for part in first))}


@pytest.mark.parametrize("full", [(False, False), (False, True), (True, False)])
def test_a_buffer_that_was_full_in_any_pass_was_full(full):
    def index(is_full, dropped):
        end = {
            "samples_due": 9,
            "samples_kept": 9 - dropped,
            "samples_dropped": dropped,
            "buffer_full": is_full,
            "counters": {"x": 70},
        }
        return SimpleNamespace(launches={4: SimpleNamespace(end=end)})

    found = Passes(tuple(index(is_full, is_full * 2) for is_full in full)).launch_end(4)
    dropped = 2 * sum(full)
    counted = {"samples_due": 18, "samples_kept": 18 - dropped, "samples_dropped": dropped}
    assert found == counted | {"buffer_full": any(full), "counters": {"x": 70}}


def test_merging_in_steps_is_merging_at_once(passes, tmp_path):
    a, b, c = passes
    at_once = merged(tmp_path, a, b, c).read_bytes()
    merge([a, b], tmp_path / "ab.gprec")
    merge([b, c], tmp_path / "bc.gprec")
    assert merged(tmp_path, tmp_path / "ab.gprec", c).read_bytes() == at_once
    assert merged(tmp_path, a, tmp_path / "bc.gprec").read_bytes() == at_once
    merge([tmp_path / "ab.gprec", c], tmp_path / "ab.gprec")  # into one of them
    assert (tmp_path / "ab.gprec").read_bytes() == at_once


def test_a_merged_recording_is_replayed(passes, tmp_path):
    """Its stream is the first pass's."""
    again = played(tmp_path / "again.gprec", merged(tmp_path, *passes), USUAL, command="collect 0")
    assert again.read_bytes() == passes[0].read_bytes()


def test_other_launches_follow(passes, others, tmp_path):
    """Six launches more, of the module that is there and of another."""
    whole = read_recording(merged(tmp_path, passes[0], *others))
    parts = [read_recording(path) for path in (passes[0], *others)]
    assert list(whole.launches) == list(range(9))
    assert [module.fields["name"] for module in whole.modules.values()] == ["chain.cu", "add.cu"]
    assert [launch.begin["module"] for launch in whole.launches.values()] == [0] * 6 + [1] * 3
    before = 0
    for number, part in enumerate(parts):
        for index, launch in part.launches.items():
            moved = whole.launches[3 * number + index]
            assert moved.end["start_cycle"] == launch.end["start_cycle"] + before
            assert moved.samples["cycle"].tolist() == (launch.samples["cycle"] + np.uint64(before)).tolist()
            assert (moved.samples["launch"] == 3 * number + index).all()
        before += max(launch.end["end_cycle"] for launch in part.launches.values())
    separate = [totals(path) for path in (passes[0], *others)]
    assert totals(whole.path) == {table: summed(*(part[table] for part in separate)) for table in separate[0]}
    assert not whole.has_stream


def test_compact_samples(folder, passes, tmp_path):
    paths = [played(tmp_path / f"{k}.gprec", passes[0], replace(USUAL, seed=k), record="compact") for k in (0, 1)]
    whole = read_recording(merged(tmp_path, *paths))
    for number, launch in whole.launches.items():
        each = [read_recording(path).launches[number].samples for path in paths]
        assert launch.samples.tolist() == np.concatenate(each).tolist()


AUTO = Sampling(auto_period=1, fifo_depth=1, drain_cycles=100)


def test_passes_that_found_other_periods(folder, passes, tmp_path):
    """Samples are thinned to the longest period: what is merged is what passes with that period have recorded. (A FIFO
    of one place that drains in 100 cycles makes a period of 128 of 32; with another drain 256 fit.)"""
    own = [played(folder / f"auto{seed}.gprec", passes[0], replace(AUTO, seed=seed)) for seed in (0, 1)]
    slower = played(folder / "slower.gprec", passes[0], replace(AUTO, seed=1, drain_cycles=200))
    whole = read_recording(merged(tmp_path, own[0], own[1]))
    assert whole.meta["sampling"]["passes"] == 2 and not any(
        launch.begin["sampling"]["period_cycles"] != 128 for launch in whole.launches.values()
    )
    # As if its cell had been the first one's, whose period alone differs.
    indexes = [read_index(path) for path in (own[0], slower)]
    indexes[1].meta["sampling"]["drain_cycles"] = 100
    (run,) = grouped(indexes)
    for number in whole.launches:
        assert [found_period(index.launches[number]) for index in indexes] == [128, 256]
        mine, theirs = (np.concatenate(list(index.read_rows(number, WIDE))) for index in indexes)
        kept = mine[mine["cycle"] % 256 == 0]
        got = np.concatenate(list(run.sampled(number, WIDE)))
        assert 0 < len(kept) < len(mine) and np.sort(got).tolist() == np.sort(np.concatenate([kept, theirs])).tolist()
        end = run.launch_end(number)
        assert end["counters"]["sampling_period_cycles"] == 256 and end["samples_due"] == end["samples_kept"] == len(
            got
        )
        assert (
            run.losses(number)["due"].tolist() == np.bincount(got["stall_sm"] >> 22)[run.losses(number)["sm"]].tolist()
        )
    for index in indexes:
        index.meta["sampling"]["record"] = "compact"
    with pytest.raises(
        NotComparable, match="found 128 cycles and 256 for launch 0, but compact records have no cycle to thin them by"
    ):
        grouped(indexes)


def test_what_cannot_be_one(folder, passes, others, tmp_path):
    def refused(match: str, *paths: Path):
        with pytest.raises(NotComparable, match=match):
            merge(paths, tmp_path / "no.gprec")
        assert not (tmp_path / "no.gprec").exists()

    refused(
        r"0\.gprec and .*0\.gprec: the same launches, sampled with the same seed 0 and phase 0", passes[0], passes[0]
    )
    refused(r"the same seed 1 and phase 0", merged(tmp_path, *passes), passes[1])
    refused(
        r"sampled with period_cycles 32 and 64",
        passes[0],
        played(tmp_path / "64.gprec", passes[0], Sampling(64, "random", 1)),
    )
    refused(r"record wide and compact", passes[0], played(tmp_path / "c.gprec", passes[0], USUAL, record="compact"))
    refused(r"recorded on t4 and v100", passes[0], played(tmp_path / "v.gprec", passes[0], USUAL, chip_name="v100"))
    chip = replace(load_chip("t4"), values=load_chip("t4").values | {"dram_cycles": 900})
    refused(
        r"recorded on t4 and t4, with another dram_cycles",
        passes[0],
        played(tmp_path / "d.gprec", passes[0], USUAL, chip=chip),
    )
    (tmp_path / "chain.cu").write_text(SOURCE + "// another version\n")
    refused(r"chain\.cu differs between them", passes[0], collected(tmp_path / "other.gprec", 40))


def small(path: Path, launches: list[np.ndarray], end: bool = True, **meta) -> Path:
    """A recording without modules' code, of launches with these samples."""
    with RecordWriter(path) as writer:
        writer.meta(META | meta)
        writer.module(0, name="a.cu", load_base=0x1000, code_nbytes=48, image=b"", compiler="", arch="")
        for number, samples in enumerate(launches):
            samples["launch"] = number
            writer.launch_begin(launch_fields(number))
            writer.samples(number, samples)
            writer.launch_end_fields(
                {
                    "launch": number,
                    "start_cycle": 0,
                    "end_cycle": 90,
                    "cycles": 90,
                    "samples_due": len(samples),
                    "samples_kept": len(samples),
                }
                | {"samples_dropped": 0, "buffer_full": False, "counters": {}}
            )
        if not end:
            writer.keep("stopped")
    return path


def seeded(seed: int) -> dict:
    return {"sampling": META["sampling"] | {"seed": seed}}


def test_no_launches_no_samples(tmp_path):
    none, one = small(tmp_path / "a.gprec", []), small(tmp_path / "b.gprec", [np.zeros(0, WIDE.dtype)], **seeded(1))
    again = small(tmp_path / "c.gprec", [], **seeded(2))
    assert read_recording(merged(tmp_path, none, again)).launches == {}
    assert len(read_recording(merged(tmp_path, none, one, again)).launches) == 1


def test_a_stopped_recording_is_not_merged(tmp_path):
    paths = (
        small(tmp_path / "a.gprec", [np.zeros(1, WIDE.dtype)]),
        small(tmp_path / "b.gprec", [np.zeros(1, WIDE.dtype)], end=False),
    )
    with pytest.raises(NotComparable, match=r"b\.gprec: the run was stopped before its end"):
        merge(paths, tmp_path / "c.gprec")
    (tmp_path / "b.gprec").write_bytes(paths[0].read_bytes()[:-5])
    with pytest.raises(FileFormatError, match=r"b\.gprec: at byte"):
        merge(paths, tmp_path / "c.gprec")


def rows_at(cycles, pc: int) -> np.ndarray:
    rows = np.zeros(len(cycles), WIDE.dtype)
    rows["cycle"], rows["pc"] = cycles, pc
    return rows


@pytest.mark.parametrize("seed", range(20))
def test_by_cycle_is_a_stable_sort(seed):
    """Chunks of any length, none among them, with many rows of one cycle, against sorting it all at once."""
    rng = np.random.default_rng(seed)
    streams = [
        rows_at(np.sort(rng.integers(0, rng.integers(1, 30), rng.integers(0, 60))), pc)
        for pc in range(rng.integers(1, 5))
    ]
    cut = [np.array_split(rows, rng.integers(1, 9)) for rows in streams]
    found = list(by_cycle([iter(chunks) for chunks in cut], "a.gprec"))
    whole = np.concatenate(streams)
    assert (
        np.concatenate([rows_at([], 0), *found]).tolist() == whole[np.argsort(whole["cycle"], kind="stable")].tolist()
    )


def test_cycles_that_run_backwards(tmp_path):
    paths = [small(tmp_path / f"{k}.gprec", [rows_at([5, 4 + k], 0)], **seeded(k)) for k in (0, 1)]
    with pytest.raises(FileFormatError, match=r"0\.gprec: the cycles of its samples do not ascend"):
        merge(paths, tmp_path / "c.gprec")
