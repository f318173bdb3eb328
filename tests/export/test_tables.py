"""Tables of launches and kernels: whole rows worked out from the fixture's tables, and the tools that read them."""

import csv
from pathlib import Path

import pytest

from gpuprof.correlate.database import reading
from gpuprof.export.tables.ncu_values import METRICS as METRICS_OF_NCU, Measured, report_of
from gpuprof.report.model import ChipFacts
from gpuprof.report.totals import totals
from tests.support.command import gpuprof
from tests.support.report_database import make_database
from tests.support.tools import module


def exported(folder: Path, extension: str, **bend) -> str:
    make_database(folder / "t.gpudb", **bend)
    assert gpuprof(folder, "export", "t.gpudb", "-o", f"t{extension}") == (0, "", "")
    return (folder / f"t{extension}").read_text()


RAW = {  # of the first launch: 5,000 cycles at 1,410 MHz, 16 blocks of 256 threads
    "ID": "0", "Kernel Name": "transpose_naive", "Stream": "0", "Block Size": "(32, 8, 1)", "Grid Size": "(4, 4, 1)",
    "CC": "8.0", "sm__cycles_elapsed.max": "5000", "gpu__time_duration.sum": "3546.099",
    "launch__block_size": "256", "launch__grid_size": "16", "launch__thread_count": "4096",
    "launch__registers_per_thread": "24", "launch__shared_mem_per_block_static": "0",
    "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct": "5.555556", "lts__t_sector_hit_rate.pct": "50.0",
    "dram__bytes.sum": "131072", "dram__bytes.sum.per_second": "36962307030.909",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": "0", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": "0",
    "lts__t_sectors.sum": "17408", "dram__bytes_read.sum": "65536", "smsp__inst_issued.sum": "20096",
    "sm__maximum_warps_per_active_cycle_pct": "100.0",
    "smsp__pcsamp_warps_issue_stalled_lg_throttle": "300", "smsp__pcsamp_warps_issue_stalled_membar": "0",
}  # fmt: skip


def test_nsight_computes_raw_page(tmp_path):
    names, units, first, second = csv.reader(exported(tmp_path, ".raw.csv").splitlines())
    found = dict(zip(names, first, strict=True))
    assert {name: found[name] for name in RAW} == RAW
    assert float(found["sm__warps_active.avg.pct_of_peak_sustained_active"]) == pytest.approx(100 * 92_360 / 8000 / 64)
    assert dict(zip(names, units, strict=True))["gpu__time_duration.sum"] == "ns" and units[:11] == [""] * 11
    assert second[0] == "1" and second[1:] == first[1:]


def test_shares_of_peaks_as_roofline_scripts_read_them(tmp_path):
    """Memory: the largest of its resources; compute: the largest of all others."""
    with reading(make_database(tmp_path / "t.gpudb")) as database:
        kernel = report_of(database).kernels[0]
    shares = {"dram": 0.5, "l2": 0.25, "l1": 0.0625, "shared": 0.125, "issue": 0.75, "tensor_pipe": 0.875}
    chip = ChipFacts("a100")
    measured = Measured(kernel.launches[0], kernel, chip, totals(kernel, chip), {}, shares)
    known = {metric.name: metric.value(measured) for metric in METRICS_OF_NCU if "throughput" in metric.name}
    assert known == {
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": 50.0,
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": 87.5,
        "dram__throughput.avg.pct_of_peak_sustained_elapsed": 50.0,
        "lts__throughput.avg.pct_of_peak_sustained_elapsed": 25.0,
        "l1tex__throughput.avg.pct_of_peak_sustained_elapsed": 12.5,
    }


def test_nsight_computes_details_page(tmp_path):
    rows = list(csv.DictReader(exported(tmp_path, ".details.csv").splitlines()))
    assert list(rows[0])[11:] == [
        "Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name", "Rule Type", "Rule Description",
    ]  # fmt: skip
    values = {
        (row["ID"], row["Section Name"], row["Metric Name"]): (row["Metric Value"], row["Metric Unit"]) for row in rows
    }
    assert values["0", "GPU Speed Of Light Throughput", "Elapsed Cycles"] == ("5000", "cycle")
    assert values["1", "Memory Workload Analysis", "L2 Hit Rate"] == ("50.0", "%")
    rules = [row for row in rows if row["Rule Name"]]
    assert {row["ID"] for row in rules} == {"0"} and {row["Rule Type"] for row in rules} == {"OPT"}
    assert any("transpose.cu:14" in row["Rule Description"] for row in rules)


def test_nsight_computes_source_page(tmp_path):
    text = exported(tmp_path, ".source.csv")
    assert text == gpuprof(tmp_path, "report", "t.gpudb", "--page", "source", "--format", "csv")[1]


METRICS = r"""# TYPE gpuprof_cycles gauge
# HELP gpuprof_cycles duration of the launch; cycles
gpuprof_cycles{chip="a100",launch="0",kernel="a\"b\\x0ac",grid="4,4,1",block="32,8,1"} 5000
gpuprof_cycles{chip="a100",launch="1",kernel="a\"b\\x0ac",grid="4,4,1",block="32,8,1"} 5000
"""


def test_openmetrics(tmp_path):
    text = exported(tmp_path, ".openmetrics", kernel='a"b\nc')
    assert text.startswith(METRICS) and text.endswith("\n# EOF\n")
    assert 'gpuprof_warp_cycles_lg_throttle{chip="a100",launch="1"' in text


def test_prometheus_reads_it(tmp_path):
    parser = module("prometheus_client.openmetrics.parser", "tools-python")
    families = list(parser.text_string_to_metric_families(exported(tmp_path, ".openmetrics", kernel='a"b\nc')))
    values = {family.name: [sample.value for sample in family.samples] for family in families}
    assert values["gpuprof_warp_cycles"] == [92_360, 92_360] and values["gpuprof_cycles"] == [5000, 5000]


MARKDOWN = """\
**gpuprof, model 1, a100**

| kernel | launches | cycles | time | share | stalls |
|---|--:|--:|--:|--:|---|
| transpose\\_naive | 2 | 10,000 | 7.09 us | 100.0% | long_scoreboard 32.5%, lg_throttle 32.5%, selected 21.8% |

| kernel | line | share | source |
|---|---|--:|---|
| transpose\\_naive | transpose.cu:14 | 63.9% | out\\[at\\(x, y \\+ i, n\\)\\] = value; |
| transpose\\_naive | transpose.cu:9 | 13.9% | for \\(int i = 0; i \\< 32; i \\+= 8\\) \\{ |
"""


def test_markdown(tmp_path):
    assert exported(tmp_path, ".md") == MARKDOWN
    (tmp_path / "t.gpudb").unlink()
    assert "| a\\|b\\<script\\> | 2 |" in exported(tmp_path, ".md", kernel="a|b<script>")


@pytest.mark.parametrize("extension", [".raw.csv", ".details.csv", ".source.csv", ".openmetrics", ".md"])
def test_no_launches(tmp_path, extension):
    make_database(tmp_path / "t.gpudb", launches=0)
    code, out, _ = gpuprof(tmp_path, "export", "t.gpudb", "-o", f"t{extension}")
    assert (code, out) == (4, "")
