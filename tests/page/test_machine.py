"""The machine in a browser: its numbers are those of the terminal's pages."""

import sqlite3

import pytest

from gpuprof.chips import load_chip
from gpuprof.correlate.database import reading
from gpuprof.report.queries import read_report
from gpuprof.report.throughput import throughput
from tests.support.report_database import CODE, counters_of, make_database


@pytest.fixture
def database(tmp_path):
    """A whole chip; the kernel multiplies f32, too, and ran on two SMs."""
    chip = load_chip("a100").describe()
    path = make_database(tmp_path / "t.gpudb", chip_words=chip)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE instructions SET precision = 'f32' WHERE opcode = 'IMAD'")
        db.executemany("INSERT INTO activity_of_sms VALUES (0, ?, ?)", [(0, 5000), (7, 3000)])
    db.close()
    return path


def rows(shown, caption: str) -> list[list[str]]:
    table = shown.page.get_by_role("region", name=caption)
    return [[cell.strip() for cell in row.locator("td").all_inner_texts()] for row in table.locator("tbody tr").all()]


def test_shares_of_the_peaks(show, database):
    shown = show(database, hash_="view=machine")
    with reading(database) as db:
        report = read_report(db)
        uses = throughput(report.kernels[0].launches, report.chip).uses
    found = rows(shown, "Shares of the peaks, most used first")
    expected = sorted(uses, key=lambda use: -use.share)
    assert [row[0] for row in found] == [use.resource.label for use in expected]
    assert [row[1] for row in found] == [f"{100 * use.share:.1f}%" for use in expected]
    assert found[0][2] == "nearest to its peak"
    assert shown.errors == []


def test_points_of_the_roofline(show, database):
    """262,144 bytes to and from DRAM, two operations of each thread of a multiply-add, in two launches."""
    shown = show(database, hash_="view=machine&level=dram")
    fused = [index for index, row in enumerate(CODE) if row[2].startswith("IMAD ")]
    operations = 2 * sum(2 * counters_of(index)[2] for index in fused)
    ((kernel, precision, intensity, *_, unit),) = rows(shown, "Points of the roofline")
    assert (kernel, precision, unit) == ("transpose_naive", "FMA f32", "GFLOP/s")
    assert float(intensity) == pytest.approx(operations / 262_144, rel=0.01)
    shown.page.get_by_role("button", name="L2", exact=True).click()
    ((_, _, intensity, *_),) = rows(shown, "Points of the roofline")
    assert float(intensity) == pytest.approx(operations / (2 * 17408 * 32), rel=0.01)
    assert shown.page.locator(".roofline circle").count() == 1


def test_memory_occupancy_waves_and_sms(show, database):
    shown = show(database, hash_="view=machine")
    chart = shown.page.get_by_role("group", name="Memory chart").inner_text()
    for text in ("1,024 global load", "1,024 global store", "5.6% hits", "50.0% hits", "131 KB read", "131 KB written"):
        assert text in chart
    ((shape, *numbers),) = rows(shown, "Blocks that fit an SM, by each resource")
    assert (shape, numbers[:5]) == ("4x4, 32x8", ["8", "8", "32", "10", "164"])
    ((_, *wave, _),) = rows(shown, "Waves of blocks")
    assert wave == ["2", "16", "864", "0.02", "1.9%"]
    assert "2 of 108 SMs had warps" in shown.page.get_by_role("img", name="SMs had warps").get_attribute("aria-label")


def test_atomics_have_a_box_where_there_are_some(show, database):
    shown = show(database, hash_="view=machine")
    chart = shown.page.get_by_role("group", name="Memory chart")
    assert "Atomics" not in chart.inner_text()
    with sqlite3.connect(database) as db:
        db.execute("INSERT INTO launch_metrics SELECT launch, 'l2_atomic_cycles', cycles / 4 FROM launches")
    db.close()
    text = show(database, hash_="view=machine").page.get_by_role("group", name="Memory chart").inner_text()
    assert "Atomics in the L2" in text and "cycles of the slice with the most, 25.0% of the time" in text


def test_what_the_next_step_needs(show, database):
    """256 threads of 40 registers: 6 blocks fit. One of fewer registers makes room for more."""
    with sqlite3.connect(database) as db:
        db.execute("UPDATE functions SET registers = 40")
        db.execute("UPDATE launch_metrics SET value = 6 WHERE metric = 'blocks_per_sm'")
    db.close()
    shown = show(database, hash_="view=machine")
    assert "registers a thread: 32, now 40: 7 blocks an SM, 100.0% of the warp slots" in shown.texts(".machine li")


def test_what_dram_moved_is_known_where_both_directions_are(show, database):
    """As of a card whose profile has one of them."""
    with sqlite3.connect(database) as db:
        db.execute("DELETE FROM launch_metrics WHERE metric = 'dram_write_nbytes'")
    db.close()
    shown = show(database, hash_="view=machine")
    assert shown.page.locator(".memory .at-dram").inner_text().split("\n")[-1] == "not known"
