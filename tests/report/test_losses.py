"""Flags of the samples' way, and what the pages say of the samples that were lost on it and of what it cost the
kernel.
"""

import json
import re
import sqlite3

import pytest

from gpuprof.records.reader import read_recording
from gpuprof.tables.launch import LOSSES
from tests.support.command import gpuprof, write_files
from tests.support.report_database import make_database

KERNEL = """\
// LAUNCH: gather<<<40, 64>>>(f32[4096]=random, y: f32[2560], 4096)
__global__ void gather(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += x[(i * 33 + k * 257) % n];
    y[i] = sum;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("losses")
    write_files(folder, {"gather.cu": KERNEL, "small.toml": 'inherits = "a100"\nsms = 2\n'})
    return folder


def collected(folder, *flags):
    code, _, error = gpuprof(
        folder, "collect", "gather.cu", "--chip", "small.toml", "--period", "32", "--mode", "all", *flags
    )
    assert code == 0, error
    return read_recording(folder / "gather.gprec")


def first_lines(folder, *flags):
    code, out, error = gpuprof(folder, "report", "gather.gprec", *flags)
    assert code == 0, error
    return " ".join(line.removeprefix("# ") for line in out.splitlines() if line.startswith("#"))


def test_what_is_lost_and_where(folder):
    recording = collected(folder, "--fifo", "8", "--drain", "3", "--buffer", "1K", "--poll", "2^10")
    assert "--fifo 8 --drain 3 --buffer 1024 --poll 1024" in recording.meta["command"]
    sampling = recording.meta["sampling"]
    assert [sampling[name] for name in ("fifo_depth", "drain_cycles", "buffer_nbytes", "poll_cycles")] == [
        8,
        3,
        1024,
        1024,
    ]
    (launch,) = recording.launches.values()
    fifo, buffer = int(launch.rows[LOSSES]["dropped_fifo"].sum()), int(launch.rows[LOSSES]["dropped_buffer"].sum())
    assert fifo and buffer and fifo + buffer == launch.end["samples_dropped"]
    text = first_lines(folder)
    assert (
        f"dropped {fifo + buffer:,}, buffer full: yes, {fifo:,} by full FIFOs, {buffer:,} by the full event buffer, "
        "most by SM" in text
    )
    assert "cost" not in text
    _, out, _ = gpuprof(folder, "report", "gather.gprec", "--page", "summary", "--format", "json")
    document = json.loads(out)
    lost = {sm: (in_fifo, in_buffer) for sm, in_fifo, in_buffer in document["header"]["losses"]}
    assert lost == {
        int(row["sm"]): (int(row["dropped_fifo"]), int(row["dropped_buffer"])) for row in launch.rows[LOSSES]
    }
    assert any("a larger --buffer" in finding["text"] for finding in document["kernels"][0]["findings"])


def test_what_sampling_cost(folder):
    quiet = collected(folder, "--period", "0").launches[0].end["cycles"]
    end = collected(folder, "--stream", "lsu", "--fifo", "64", "--drain", "1").launches[0].end
    cost = end["counters"]["disturbance_cycles"]
    assert end["cycles"] == quiet + cost and cost > 0
    assert f"sampling cost {cost:,} of {end['cycles']:,} cycles" in first_lines(folder)
    code, _, error = gpuprof(folder, "check", "gather.gprec", "--baseline", "baseline.txt", "--update")
    assert code == 4 and "its cycles include those of the sampler (--stream lsu); collect with --stream aux" in error
    assert not (folder / "baseline.txt").exists()


def test_who_lost_most_comes_first(tmp_path):
    path = make_database(tmp_path / "t.gpudb", dropped=50)
    with sqlite3.connect(path) as db:
        rows = [
            (0, 3, 99, 10, 0),
            (1, 3, 99, 5, 1),
            (0, 7, 99, 2, 28),
            (0, 8, 99, 0, 0),
            (1, 9, 99, 3, 0),
            (1, 1, 99, 1, 0),
        ]
        db.executemany("INSERT INTO sample_losses VALUES (?, ?, ?, ?, ?)", rows)
    _, out, _ = gpuprof(tmp_path, "report", "t.gpudb")
    assert (
        "21 by full FIFOs, 29 by the full event buffer, most by SM 7 (30) and SM 3 (16), 2 more SMs lost some"
        in re.sub("\n# *", " ", out)
    )


@pytest.mark.parametrize(
    "flags, says",
    [
        (["--buffer", "32X"], "'32X' is not a number of bytes, such as 4096, 512K or 32M"),
        (["--buffer", "16"], "sampling buffer of 16 bytes: it must have 32, for one wide record, to 8 GiB"),
        (["--buffer", "9G"], "to 8 GiB"),
        (["--poll", "0"], "must be at least 1"),
        (["--poll", "2^41"], "it must be 1 to 2^40"),
        (["--drain", "2^41"], "it must be 1 to 2^40"),
        (["--drain", "2^64"], "must be at most 2^62"),
        (["--seed", str(1 << 63)], "sampling seed 9223372036854775808: it must be 0 to 2^63 - 1"),
        (["--fifo", "0"], "0 is not in the range 1<=x<=4096"),
        (["--stream", "pcie"], "'pcie' is not one of 'aux', 'lsu'"),
        (["--stream", "lsu", "--sample-blocks"], "--sample-blocks times part of the blocks"),
    ],
)
def test_flags_that_cannot_be(folder, flags, says):
    code, _, error = gpuprof(folder, "collect", "gather.cu", *flags)
    assert code == 2 and says in error


def test_the_header_is_whole_on_a_narrow_page(tmp_path):
    """A part that is wider than a line is broken between its words: nothing of the fidelity or of the losses is left
    out.
    """
    make_database(tmp_path / "t.gpudb", dropped=50)
    headers = []
    for width in (60, 300):
        _, out, _ = gpuprof(tmp_path, "report", "t.gpudb", "--page", "launches", "--width", str(width))
        header = out.partition("\n\n")[0]
        assert all(len(line) <= width for line in header.splitlines()) and "…" not in header
        headers.append(header.replace(",", "").replace("#", "").split())
    assert headers[0] == headers[1]
